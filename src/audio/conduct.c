/*
 * See conduct.h.
 */
#include "audio/conduct.h"

#include <stdlib.h>

#include "base/ns.h"

#define PDUS_MAX     INT64_C(30000) /* stamps farther apart are not compared: products stay small */
#define PERIOD_MAX_S 1              /* a PDU that lasts longer is no audio: the same */

struct tt_conduct_scales tt_conduct_scales(int64_t tai_offset_ns)
{
    int64_t half_ns = llabs((int64_t)tt_widen32((uint32_t)tai_offset_ns, 0)) / 2;

    return (struct tt_conduct_scales){
        .tai_offset_ns = tai_offset_ns,
        .near_ns = half_ns < TT_CONDUCT_NEAR_NS ? half_ns : TT_CONDUCT_NEAR_NS,
    };
}

struct tt_conduct_period tt_conduct_period(int64_t events, uint32_t hz)
{
    struct tt_conduct_period period = {.events = events, .hz = hz};

    if (hz > 0 && events <= PERIOD_MAX_S * (int64_t)hz && events * TT_NS_PER_S % hz == 0) {
        period.whole_ns = events * TT_NS_PER_S / hz;
    }
    return period;
}

int64_t tt_conduct_period_ns(const struct tt_conduct_period *period, int64_t pdus)
{
    return period->whole_ns > 0 ? pdus * period->whole_ns
                                : tt_frames_to_ns(pdus * period->events, period->hz);
}

bool tt_conduct_is_periodic(const struct tt_conduct_pdu *pdu)
{
    return pdu->period.hz > 0 && pdu->period.events <= PERIOD_MAX_S * (int64_t)pdu->period.hz;
}

static void margin_record(struct tt_margin *margin, int64_t margin_ns, int64_t near_ns, bool first)
{
    margin->near += llabs(margin_ns) <= near_ns;
    margin->late += margin_ns < 0;
    if (first || margin_ns < margin->least_ns) {
        margin->least_ns = margin_ns;
    }
}

static void record_margins(struct tt_conduct *conduct, const struct tt_conduct_scales *scales,
                           const struct tt_conduct_pdu *pdu)
{
    const int64_t now_ns[TT_SCALES] = {
        [TT_SCALE_TAI] = pdu->arrival_ns + scales->tai_offset_ns,
        [TT_SCALE_UTC] = pdu->arrival_ns,
    };

    for (int scale = 0; scale < TT_SCALES; scale++) {
        int64_t margin_ns = tt_widen32(pdu->stamp, now_ns[scale]) - now_ns[scale];

        margin_record(&conduct->margin[scale], margin_ns, scales->near_ns, conduct->stamped == 0);
    }
    conduct->stamped++;
}

/* A talker whose PDU period is cut to whole ns advances by that and pays back, in one step, what
 * all the cuts since the last such step have left out. */
static void follow_cut(struct tt_conduct *conduct, const struct tt_conduct_pdu *pdu,
                       int64_t elapsed_ns, int64_t pdus)
{
    int64_t hz = pdu->period.hz;
    int64_t period = pdu->period.events * TT_NS_PER_S; /* in ns / hz */
    bool cut_before = conduct->cut_pdus > 0;
    int64_t over_ns;

    if (pdu->period.whole_ns > 0) {
        return;
    }
    over_ns = elapsed_ns - pdus * (period / hz);
    if (llabs(over_ns) >= TT_NS_PER_MS) { /* that is no rounding, and products stay small */
        conduct->repaid_known = false;
        return;
    }
    conduct->owed += period % hz * pdus;
    conduct->cut_pdus += (uint64_t)pdus;
    if (over_ns == 0) {
        return;
    }
    if (conduct->repaid_known && cut_before && conduct->owed >= 2 * hz &&
        llabs(over_ns * hz - conduct->owed) < hz) {
        conduct->repaid++;
        conduct->repaid_ns = over_ns;
        conduct->repaid_pdus = conduct->cut_pdus;
    } else if (conduct->repaid_known) {
        conduct->not_repaid++;
    }
    conduct->repaid_known = true;
    conduct->owed = 0;
    conduct->cut_pdus = 0;
}

static void compare_stamps(struct tt_conduct *conduct, const struct tt_conduct_pdu *pdu,
                           int64_t pdus)
{
    int64_t gap_ns = pdu->arrival_ns - conduct->stamp_arrival_ns;
    int64_t elapsed_ns = tt_widen32(pdu->stamp - conduct->stamp, gap_ns);
    int64_t media_ns = tt_conduct_period_ns(&pdu->period, pdus);
    int64_t off_ns = elapsed_ns - media_ns;

    conduct->steps++;
    if (llabs(off_ns) > TT_CONDUCT_STEP_NS + media_ns / TT_CONDUCT_STEP_PART) {
        conduct->steps_off++;
        conduct->steps_followed += llabs(elapsed_ns - gap_ns) < llabs(off_ns) / 4;
        if (llabs(off_ns) > llabs(conduct->worst_off_ns)) {
            conduct->worst_off_ns = off_ns;
        }
    }
    follow_cut(conduct, pdu, elapsed_ns, pdus);
}

static void follow_stamp(struct tt_conduct *conduct, const struct tt_conduct_pdu *pdu)
{
    int64_t pdus = conduct->stamp_pdus;

    if (conduct->has_stamp && pdu->sparse) {
        conduct->sparse_misused += pdus % TT_SPARSE_PDUS != 0;
    }
    if (conduct->has_stamp && conduct->comparable && !pdu->tu && tt_conduct_is_periodic(pdu) &&
        pdus <= PDUS_MAX) {
        compare_stamps(conduct, pdu, pdus);
    } else {
        conduct->repaid_known = false;
    }
    conduct->has_stamp = true;
    conduct->comparable = !pdu->tu;
    conduct->stamp = pdu->stamp;
    conduct->stamp_arrival_ns = pdu->arrival_ns;
    conduct->stamp_pdus = 0;
}

static bool stamp_is_missing(struct tt_conduct *conduct, const struct tt_conduct_pdu *pdu)
{
    if (!pdu->owes_stamp || pdu->stamped || pdu->restart || pdu->ahead != 1) {
        conduct->unstamped = 0;
    }
    if (pdu->owes_stamp && !pdu->stamped) {
        conduct->unstamped++;
        return !pdu->sparse || conduct->unstamped % TT_SPARSE_PDUS == 0;
    }
    return false;
}

/* What is behind the newest says nothing of how the talker goes on. */
static void follow_newest(struct tt_conduct *conduct, const struct tt_conduct_pdu *pdu)
{
    if (pdu->restart) {
        conduct->has_stamp = false;
    }
    conduct->stamp_pdus += pdu->ahead;
    if (!pdu->readable) {
        return;
    }
    conduct->stamps_missing += stamp_is_missing(conduct, pdu);
    if (conduct->mr_known && conduct->mr != pdu->mr) {
        conduct->clock_restarts++;
        conduct->comparable = false;
    }
    conduct->mr_known = true;
    conduct->mr = pdu->mr;
    if (pdu->stamped) {
        follow_stamp(conduct, pdu);
    }
}

static void follow_arrival(struct tt_conduct *conduct, const struct tt_conduct_pdu *pdu)
{
    int64_t interval_ns = tt_conduct_period_ns(&pdu->period, 1);

    if (pdu->restart || conduct->run == 0 ||
        pdu->arrival_ns - conduct->last_ns >= interval_ns / 2) {
        conduct->run = 0;
        conduct->run_is_burst = false;
        conduct->run_start_ns = pdu->arrival_ns;
    }
    conduct->last_ns = pdu->arrival_ns;
    conduct->run++;
    if (conduct->run_is_burst) {
        conduct->burst_pdus++;
    } else if (conduct->run >= TT_CONDUCT_BURST &&
               (int64_t)(conduct->run - 1) * interval_ns -
                       (pdu->arrival_ns - conduct->run_start_ns) >
                   TT_CONDUCT_AHEAD_NS) {
        conduct->run_is_burst = true;
        conduct->bursts++;
        conduct->burst_pdus += conduct->run;
    }
    if (conduct->run_is_burst && conduct->run > conduct->burst_longest) {
        conduct->burst_longest = conduct->run;
    }
}

void tt_conduct_step(struct tt_conduct *conduct, const struct tt_conduct_scales *scales,
                     const struct tt_conduct_pdu *pdu)
{
    conduct->uncertain += pdu->tu;
    if (pdu->stamped) {
        record_margins(conduct, scales, pdu);
    }
    if (pdu->restart || pdu->ahead > 0) {
        follow_newest(conduct, pdu);
    }
    if (tt_conduct_is_periodic(pdu)) {
        follow_arrival(conduct, pdu);
    }
}
