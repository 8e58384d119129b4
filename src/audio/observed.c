/*
 * See observed.h.
 */
#include "audio/observed.h"

#include <stdlib.h>
#include <string.h>

#include "base/bytes.h"
#include "base/min_max.h"
#include "base/ns.h"

#define SEQUENCE_RANGE 256
#define FAR_PDUS       (SEQUENCE_RANGE / 2)
#define STAMP_BYTES    8
#define SET_BACK_NS    TT_NS_PER_MS
#define SILENCE_NS     (2 * TT_NS_PER_S)
#define MARGIN_STEP_NS (100 * TT_NS_PER_MS)
#define CLOCK_SET_MAX  1000
#define FINE_SHIFT     5  /* of margins, 32 ns */
#define DRIFT_SHIFT    13 /* a media clock may be off by 2^-13 (122 ppm) */

static bool window_has(const struct tt_observed *o, uint8_t sequence)
{
    return (o->window[sequence / 64] >> (sequence % 64) & 1) != 0;
}

static void window_set(struct tt_observed *o, uint8_t sequence)
{
    o->window[sequence / 64] |= UINT64_C(1) << (sequence % 64);
}

static void window_clear(struct tt_observed *o, uint8_t sequence)
{
    o->window[sequence / 64] &= ~(UINT64_C(1) << (sequence % 64));
}

/* The media time of `pdus` PDUs; 0 where it is not known. */
static int64_t media_ns(const struct tt_observed *o, int64_t pdus)
{
    return o->period.hz > 0 ? tt_conduct_period_ns(&o->period, pdus) : 0;
}

static bool is_far(const struct tt_observed *o, int64_t gap_ns)
{
    int64_t far_ns = media_ns(o, FAR_PDUS);

    return far_ns > 0 && gap_ns > far_ns;
}

/* A number is ahead, or behind by what remains of the range: whichever is nearer to what the time
 * since the newest allows. */
static int64_t by_arrival(const struct tt_observed *o, uint8_t ahead, int64_t gap_ns)
{
    int64_t forward = ahead > 0 ? ahead : SEQUENCE_RANGE;
    int64_t backward = forward - SEQUENCE_RANGE;

    if (forward < SEQUENCE_RANGE / 2) {
        return forward;
    }
    if (media_ns(o, 1) == 0) {
        return backward;
    }
    return gap_ns > media_ns(o, (forward + backward) / 2) ? forward : backward;
}

static bool media_agrees(const struct tt_observed *o, int64_t elapsed_ns, int64_t pdus)
{
    int64_t off_ns = elapsed_ns - media_ns(o, pdus);
    int64_t tolerance_ns = media_ns(o, 1) / 4 + llabs(elapsed_ns) / (1 << DRIFT_SHIFT);

    return llabs(off_ns) <= tolerance_ns;
}

/* The whole PDUs in a media time, to the nearest. */
static int64_t media_pdus(const struct tt_observed *o, int64_t elapsed_ns)
{
    int64_t interval_ns = media_ns(o, 1);
    int64_t events = tt_ns_to_frames(elapsed_ns + interval_ns / 2, o->period.hz);

    return tt_floor_div(events, o->period.events);
}

static void sequence_restart(struct tt_observed *o, uint8_t sequence)
{
    memset(o->window, 0, sizeof(o->window));
    window_set(o, sequence);
    o->highest = sequence;
    o->span = 1;
}

static void sequence_ahead(struct tt_observed *o, uint8_t sequence, int64_t pdus)
{
    int64_t forget = pdus < SEQUENCE_RANGE ? pdus : SEQUENCE_RANGE;

    for (int64_t i = 1; i <= forget; i++) {
        window_clear(o, (uint8_t)(o->highest + i));
    }
    window_set(o, sequence);
    o->highest = sequence;
    o->lost += (uint64_t)(pdus - 1);
    if ((uint64_t)(pdus - 1) > o->gap_longest) {
        o->gap_longest = (uint64_t)(pdus - 1);
    }
    o->span += (uint64_t)pdus;
}

/* Whether it is one that was not there before. */
static bool sequence_behind(struct tt_observed *o, uint8_t sequence, int64_t pdus)
{
    if (window_has(o, sequence)) {
        o->duplicated++;
        return false;
    }
    window_set(o, sequence);
    o->reordered++;
    if ((uint64_t)pdus < o->span) {
        o->lost--; /* before the very first PDU nothing was missed */
    }
    return true;
}

enum course { GOES_ON, JUMPS, STARTS_ANEW, SET_FORWARD, UNKNOWN };

/* A talker that sets its numbers wrong has stamps that advance with each PDU. */
static enum course resolve_near(struct tt_observed *o, int64_t elapsed_ns, int64_t *pdus)
{
    bool agrees = *pdus > 0 && media_agrees(o, elapsed_ns, o->stamp_pdus + *pdus);

    if (!agrees && *pdus != 1 &&
        (media_agrees(o, elapsed_ns, o->stamp_seen + 1) ||
         (o->stamps_steady && media_agrees(o, elapsed_ns, o->stamp_pdus + 1)))) {
        *pdus = 1;
        return JUMPS;
    }
    if (*pdus > 0) {
        o->stamps_steady = agrees;
    }
    return GOES_ON;
}

/* What the presentation times say of this PDU's number. Where they know better, *pdus, how far it
 * is ahead of the newest, is corrected. */
static enum course resolve_stamped(struct tt_observed *o, const struct tt_conduct_pdu *now,
                                   uint8_t ahead, int64_t *pdus)
{
    int64_t gap_ns = now->arrival_ns - o->stamp_ns;
    int64_t elapsed_ns = tt_widen32(now->stamp - o->stamp, gap_ns);
    int64_t by_stamp;

    if (!is_far(o, gap_ns)) {
        return resolve_near(o, elapsed_ns, pdus);
    }
    if (!o->stamps_steady) {
        return GOES_ON;
    }
    by_stamp = media_pdus(o, elapsed_ns) - o->stamp_pdus;
    by_stamp += (int8_t)(ahead - (uint8_t)by_stamp); /* the nearest that has this number */
    if (media_agrees(o, elapsed_ns, o->stamp_pdus + by_stamp)) {
        *pdus = by_stamp;
        return GOES_ON;
    }
    return ahead != 1 ? STARTS_ANEW : GOES_ON;
}

/* Where the clock that took the arrivals may have been set: whether stamps and sequence go on. */
static bool goes_on(const struct tt_observed *o, const struct tt_conduct_pdu *now, uint8_t ahead)
{
    return ahead > 0 && ahead < FAR_PDUS &&
           media_agrees(o, tt_widen32(now->stamp - o->stamp, 0), o->stamp_pdus + ahead);
}

/* Of arrivals that were set back nothing is to be had. */
static enum course resolve_set_back(const struct tt_observed *o, const struct tt_conduct_pdu *now,
                                    uint8_t ahead, bool stamped)
{
    return (stamped ? goes_on(o, now, ahead) : ahead == 1) ? GOES_ON : UNKNOWN;
}

static bool is_silence(const struct tt_observed *o, int64_t gap_ns)
{
    return gap_ns > SILENCE_NS && is_far(o, gap_ns);
}

static enum course resolve_silence(struct tt_observed *o, const struct tt_conduct_pdu *now,
                                   uint8_t ahead, bool stamped, int64_t *pdus)
{
    int64_t gap_ns = now->arrival_ns - o->highest_ns;
    bool anew;

    if (stamped && goes_on(o, now, ahead)) {
        int64_t set_ns = gap_ns - media_ns(o, ahead);

        *pdus = ahead;
        o->set_forward++;
        if (set_ns > o->set_forward_most_ns) {
            o->set_forward_most_ns = set_ns;
            o->set_forward_at_ns = now->arrival_ns;
        }
        return SET_FORWARD;
    }
    anew = stamped && resolve_stamped(o, now, ahead, pdus) == STARTS_ANEW;
    o->silences++;
    o->silence_longest_ns = tt_max64(o->silence_longest_ns, gap_ns);
    return anew ? STARTS_ANEW : UNKNOWN;
}

/* Fills in `ahead` and `restart`. Returns whether the PDU is no duplicate. */
static bool count_sequence(struct tt_observed *o, struct tt_conduct_pdu *now, bool set_back)
{
    uint8_t sequence = o->avtp.sequence;
    uint8_t ahead = (uint8_t)(sequence - o->highest);
    int64_t gap_ns = now->arrival_ns - o->highest_ns - media_ns(o, o->passed);
    bool stamped = now->stamped && now->period.hz > 0;
    bool comparable = stamped && o->stamped;
    enum course course = GOES_ON;

    if (set_back) {
        now->ahead = ahead;
        course = resolve_set_back(o, now, ahead, comparable);
    } else {
        now->ahead = by_arrival(o, ahead, gap_ns);
        course = is_silence(o, gap_ns) ? resolve_silence(o, now, ahead, comparable, &now->ahead)
                 : comparable          ? resolve_stamped(o, now, ahead, &now->ahead)
                                       : GOES_ON;
    }
    now->restart = now->restart || set_back || (course != GOES_ON && course != JUMPS);
    o->stamp_seen++;
    if (course != GOES_ON && course != SET_FORWARD) {
        o->restarts += course == STARTS_ANEW;
        o->sequence_jumps += course == JUMPS;
        sequence_restart(o, sequence);
    } else if (now->ahead > 0) {
        sequence_ahead(o, sequence, now->ahead);
    } else {
        return sequence_behind(o, sequence, -now->ahead);
    }
    o->highest_ns = now->arrival_ns;
    o->stamp_pdus += now->ahead;
    now->ahead += o->passed;
    o->passed = 0;
    if (stamped) {
        o->stamped = true;
        o->stamp = now->stamp;
        o->stamp_ns = now->arrival_ns;
        o->stamp_pdus = 0;
        o->stamp_seen = 0;
    }
    return true;
}

static bool same_shape(const struct tt_aaf *a, const struct tt_aaf *b)
{
    return a->format == b->format && a->rate_hz == b->rate_hz && a->channels == b->channels &&
           a->bit_depth == b->bit_depth && a->frames == b->frames;
}

static void observe_aaf(struct tt_observed *o, const struct tt_arrival *arrival,
                        struct tt_conduct_pdu *now)
{
    const struct tt_aaf before = o->aaf;
    enum tt_aaf_reason reason = tt_aaf_parse(arrival->pdu, arrival->wire_bytes, &o->aaf);

    if (reason != TT_AAF_OK) {
        o->aaf = before;
        o->refused[reason]++;
        return;
    }
    o->aaf.payload = NULL;
    if (o->known && !same_shape(&before, &o->aaf)) {
        o->frames_changed++;
        o->stamps_steady = false;
        now->restart = true;
    }
    if (!o->known || now->restart) {
        o->period = tt_conduct_period((int64_t)o->aaf.frames, o->aaf.rate_hz);
    }
    o->known = true;
    now->period = o->period;
    now->stamped = o->aaf.tv;
    now->stamp = o->aaf.timestamp;
    now->mr = o->aaf.mr;
    now->tu = o->aaf.tu;
    now->sparse = o->aaf.sp;
    now->owes_stamp = true;
    now->readable = true;
}

/* Of the stamps that were captured. */
static bool is_uneven(const struct tt_crf *crf, size_t captured)
{
    int64_t interval_ns = tt_frames_to_ns(crf->timestamp_interval, crf->base_hz);
    int64_t tolerance_ns = TT_CONDUCT_STEP_NS + interval_ns / TT_CONDUCT_STEP_PART;

    for (size_t i = 1; i < crf->timestamp_count && i < captured; i++) {
        const uint8_t *stamp = crf->timestamps + i * STAMP_BYTES;
        uint64_t step_ns = tt_get_be64(stamp) - tt_get_be64(stamp - STAMP_BYTES);

        /* Unsigned: any two stamps can be on the wire. */
        if (step_ns - (uint64_t)(interval_ns - tolerance_ns) > (uint64_t)(2 * tolerance_ns)) {
            return true;
        }
    }
    return false;
}

static void observe_crf(struct tt_observed *o, const struct tt_arrival *arrival,
                        struct tt_conduct_pdu *now)
{
    struct tt_crf crf;
    enum tt_crf_reason reason = tt_crf_parse(arrival->pdu, arrival->wire_bytes, &crf);
    size_t captured = (arrival->bytes - TT_CRF_HEADER_BYTES) / STAMP_BYTES;

    if (reason != TT_CRF_OK) {
        o->crf_refused[reason]++;
        return;
    }
    now->readable = true;
    now->stamped = crf.timestamp_count > 0 && captured > 0;
    now->stamp = now->stamped ? (uint32_t)tt_get_be64(crf.timestamps) : 0;
    now->mr = crf.mr;
    now->tu = crf.tu;
    o->period =
        tt_conduct_period((int64_t)crf.timestamp_count * crf.timestamp_interval, crf.base_hz);
    now->period = crf.pull == 0 ? o->period : (struct tt_conduct_period){0};
    if (now->period.hz > 0) {
        o->crf_uneven += is_uneven(&crf, captured);
    }
    crf.timestamps = NULL;
    o->crf = crf;
    o->known = true;
}

static bool count_first(struct tt_observed *o, struct tt_conduct_pdu *now)
{
    sequence_restart(o, o->avtp.sequence);
    o->first_ns = now->arrival_ns;
    o->highest_ns = now->arrival_ns;
    o->stamped = now->stamped && now->period.hz > 0;
    o->stamp = now->stamp;
    o->stamp_ns = now->arrival_ns;
    now->restart = true;
    return true;
}

static int64_t margin_of(const struct tt_conduct_scales *scales, enum tt_scale scale,
                         const struct tt_conduct_pdu *now)
{
    int64_t now_ns = now->arrival_ns + (scale == TT_SCALE_TAI ? scales->tai_offset_ns : 0);

    return tt_widen32(now->stamp, now_ns) - now_ns;
}

/* In the scale that the first stamp is nearer in. */
static void record_margin(struct tt_observed *o, const struct tt_conduct_scales *scales,
                          const struct tt_conduct_pdu *now)
{
    int64_t margin_ns;

    if (o->margin.n == 0) {
        o->margin_scale = llabs(margin_of(scales, TT_SCALE_UTC, now)) <
                                  llabs(margin_of(scales, TT_SCALE_TAI, now))
                              ? TT_SCALE_UTC
                              : TT_SCALE_TAI;
    }
    margin_ns = margin_of(scales, o->margin_scale, now);
    if (o->margin.n == 0) {
        tt_hist_set_origin(&o->margin, margin_ns, FINE_SHIFT);
    }
    tt_hist_record(&o->margin, margin_ns);
}

/* Of an older setting of the arrivals' clock. One that is set all the time is not worth the work.
 */
static void forget_margins(struct tt_observed *o)
{
    if (o->clock_set++ >= CLOCK_SET_MAX) {
        return;
    }
    tt_hist_init(&o->margin);
    o->conduct.stamped = 0;
    memset(o->conduct.margin, 0, sizeof(o->conduct.margin));
}

static void record_fresh(struct tt_observed *o, const struct tt_conduct_scales *scales,
                         const struct tt_conduct_pdu *now)
{
    tt_conduct_step(&o->conduct, scales, now);
    if (now->stamped && o->avtp.subtype == TT_AVTP_SUBTYPE_AAF) {
        record_margin(o, scales, now);
    }
    o->late_known = tt_conduct_is_periodic(now) && tt_arrival_grid_step(&o->grid, now, &o->late_ns);
    if (o->late_known) {
        tt_hist_record(&o->lateness, o->late_ns);
        tt_history_record(&o->lateness_history, now->arrival_ns, o->late_ns);
    }
}

/* Whether it was by so much that nothing of the time before holds. */
static bool count_set_back(struct tt_observed *o, int64_t arrival_ns)
{
    uint64_t back_ns = (uint64_t)o->last_ns - (uint64_t)arrival_ns;

    if (o->pdus == 0 || arrival_ns >= o->last_ns) {
        return false;
    }
    o->set_back++;
    if (back_ns > (uint64_t)o->set_back_most_ns) {
        o->set_back_most_ns = back_ns > INT64_MAX ? INT64_MAX : (int64_t)back_ns;
    }
    return back_ns > SET_BACK_NS;
}

static void record_interval(struct tt_observed *o, int64_t arrival_ns)
{
    o->interval_ns = arrival_ns - o->last_ns;
    tt_hist_record(&o->interval, o->interval_ns);
    tt_history_record(&o->interval_history, arrival_ns, o->interval_ns);
}

void tt_observed_pdu(struct tt_observed *o, const struct tt_conduct_scales *scales,
                     const struct tt_arrival *arrival)
{
    struct tt_conduct_pdu now = {.arrival_ns = arrival->arrival_ns};
    bool set_back = count_set_back(o, arrival->arrival_ns);
    uint64_t set_forward = o->set_forward;
    bool fresh;

    if (o->crf.pull == 0) {     /* other rates are no whole number of Hz */
        now.period = o->period; /* of one that cannot be read: the stream's */
    }
    o->late_known = false;
    if (o->avtp.subtype == TT_AVTP_SUBTYPE_AAF) {
        observe_aaf(o, arrival, &now);
    } else if (o->avtp.subtype == TT_AVTP_SUBTYPE_CRF) {
        observe_crf(o, arrival, &now);
    }
    o->interval_known = o->pdus > 0 && !set_back && o->passed == 0;
    if (o->pdus == 0) {
        fresh = count_first(o, &now);
    } else {
        fresh = count_sequence(o, &now, set_back);
    }
    if (o->set_forward > set_forward ||
        (set_back && o->last_ns - arrival->arrival_ns >= MARGIN_STEP_NS)) {
        forget_margins(o);
    }
    o->interval_known = o->interval_known && o->set_forward == set_forward;
    if (o->interval_known) {
        record_interval(o, arrival->arrival_ns);
    }
    if (fresh) {
        record_fresh(o, scales, &now);
    }
    o->pdus++;
    o->last_ns = arrival->arrival_ns;
}

void tt_observed_untimed(struct tt_observed *o, uint8_t sequence)
{
    uint8_t ahead = (uint8_t)(sequence - o->highest);

    o->untimed++;
    if (ahead > 0 && ahead < SEQUENCE_RANGE / 2) {
        sequence_ahead(o, sequence, ahead);
        o->stamp_pdus += ahead;
        o->passed += ahead;
    } else {
        sequence_behind(o, sequence, (uint8_t)(o->highest - sequence));
    }
}
