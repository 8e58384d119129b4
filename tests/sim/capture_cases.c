/*
 * See capture_cases.h. Each case arranges a scene from its seed: a talker's script, what goes
 * wrong, and what must be counted; a counter that is not named must stay 0.
 */
#include "capture_cases.h"

#include "base/attr.h"
#include "base/ns.h"

#define MS          TT_NS_PER_MS
#define US          TT_NS_PER_US
#define INTERVAL_NS INT64_C(125000) /* of class A */
#define UTC_NS      (37 * TT_NS_PER_S)
#define REPEAT_NS   (2 * MS) /* so much later the same may come again */
#define HALE        20       /* so many PDUs at either end are left alone */

static bool chance(struct scene *s, unsigned per_mille)
{
    return scene_below(s, 1000) < per_mille;
}

static int64_t between(struct scene *s, int64_t least, int64_t most)
{
    return least + (int64_t)scene_below(s, (uint64_t)(most - least + 1));
}

static void expect(struct scene *s, size_t counter, size_t value)
{
    scene_expect(s, counter, value, value);
}

static uint64_t frames_of(const struct scene *s, size_t pdus)
{
    return (uint64_t)pdus * s->config.frames_per_pdu;
}

/* Loses PDUs at random. */
static size_t lose_some(struct scene *s, unsigned per_mille)
{
    size_t lost = 0;

    for (size_t i = HALE; i + HALE < s->pdu_count; i++) {
        if (s->pdus[i].kind == SCENE_GOOD && !s->pdus[i].lost && chance(s, per_mille)) {
            s->pdus[i].lost = true;
            lost++;
        }
    }
    scene_tell(s, "%zu PDUs lost at random; ", lost);
    return lost;
}

static void loss(struct scene *s, int64_t pdus)
{
    int64_t first = between(s, 300, 500);

    s->config.mtt_ns = chance(s, 500) ? 2 * MS : 50 * MS;
    s->config.rate_hz = chance(s, 300) ? 44100 : 48000;
    scene_talk(s, 900 + pdus);
    for (int64_t i = first; i < first + pdus; i++) {
        s->pdus[i].lost = true;
    }
    scene_tell(s, "PDUs %d to %d lost; ", (int)first, (int)(first + pdus - 1));
    expect(s, SCENE_COUNTER(frames_lost), frames_of(s, (size_t)pdus));
}

static void duplicates(struct scene *s, int64_t argument)
{
    size_t copies = 0;
    size_t good;

    (void)argument;
    scene_talk(s, 1500);
    good = s->pdu_count;
    for (size_t i = 0; i < good; i++) {
        if (chance(s, 100)) {
            s->pdus[i].copies = (unsigned)between(s, 1, 3);
            copies += s->pdus[i].copies;
        } else if (i > 0 && chance(s, 50)) {
            scene_beside(s, SCENE_REPEAT, i, between(s, 1, 1500) * US);
            copies++;
        }
    }
    scene_tell(s, "%zu PDUs come twice or more, at once or up to 1.5 ms later; ", copies);
    expect(s, SCENE_COUNTER(pdus_duplicate), copies);
}

/* Some PDUs are overtaken by `places` others. */
static void reorder(struct scene *s, int64_t places)
{
    size_t moved = 0;

    scene_talk(s, 1500);
    for (size_t i = HALE; i + HALE < s->pdu_count; i++) {
        if (chance(s, 80)) {
            s->pdus[i].delay_ns += places * INTERVAL_NS + between(s, 5, 60) * US;
            moved++;
            i += (size_t)places;
        }
    }
    scene_tell(s, "%zu PDUs are overtaken by %d; ", moved, (int)places);
    expect(s, SCENE_COUNTER(pdus_reordered), moved);
}

static void stamps_off(struct scene *s, int64_t off_ns)
{
    size_t off = 0;

    scene_talk(s, 1500);
    for (size_t i = HALE; i < s->pdu_count; i++) {
        if (s->pdus[i].tv && chance(s, 100)) {
            s->pdus[i].stamp_ns += chance(s, 500) ? off_ns : -off_ns;
            off++;
        }
    }
    scene_tell(s, "%zu stamps are off by %d us; ", off, (int)(off_ns / US));
    expect(s, SCENE_COUNTER(stamps_off), off_ns > s->config.ptime_tolerance_ns ? off : 0);
}

static void stamp_noise(struct scene *s, int64_t most_ns)
{
    scene_talk(s, 3000);
    for (size_t i = 1; i < s->pdu_count; i++) {
        s->pdus[i].stamp_ns += between(s, -most_ns, most_ns);
    }
    scene_tell(s, "every stamp is off by up to %d us; ", (int)(most_ns / US));
}

/* All stamps are so noisy that none confirms another, and PDUs are lost beside. */
static void stamp_chaos(struct scene *s, int64_t most_ns)
{
    size_t lost;

    scene_talk(s, 2000);
    for (size_t i = 100; i < s->pdu_count; i++) {
        s->pdus[i].stamp_ns += (chance(s, 500) ? 1 : -1) * between(s, most_ns / 2, most_ns);
    }
    lost = lose_some(s, 5);
    s->mixed = true;
    scene_tell(s, "stamps are off by up to %d us, at random; ", (int)(most_ns / US));
    /* A gap may cost up to eight PDUs more until the sequence is believed without a stamp. */
    scene_expect(s, SCENE_COUNTER(frames_lost), frames_of(s, lost), frames_of(s, 9 * lost));
    s->gap_settle_pdus = 8;
    expect(s, SCENE_COUNTER(resyncs), 0);
}

/* The 32 bits of the stamps run over. */
static void stamp_wrap(struct scene *s, int64_t argument)
{
    (void)argument;
    s->start_tai_ns -= s->start_tai_ns % (INT64_C(1) << 32);
    s->start_tai_ns -= between(s, 10, 190) * MS;
    s->config.mtt_ns = chance(s, 500) ? 2 * MS : 20 * MS;
    scene_talk(s, 1500);
    scene_tell(s, "2^32 ns are crossed after %d ms; ",
               (int)((INT64_C(1) << 32) - s->start_tai_ns % (INT64_C(1) << 32)) / (int)MS);
    expect(s, SCENE_COUNTER(frames_lost), frames_of(s, lose_some(s, 10)));
}

/* The talker lost its clock for a while: its stamps are uncertain, and wander off by 5 ms. */
static void uncertain(struct scene *s, int64_t argument)
{
    size_t first = (size_t)between(s, 300, 500);
    size_t count = 600;
    size_t uncertain = 0;

    (void)argument;
    scene_talk(s, 2000);
    for (size_t i = first; i < first + count; i++) {
        int64_t far = (int64_t)(i - first < count / 2 ? i - first : first + count - i);

        s->pdus[i].tu = true;
        s->pdus[i].stamp_ns += far * 5 * MS / (int64_t)(count / 2);
    }
    expect(s, SCENE_COUNTER(frames_lost), frames_of(s, lose_some(s, 10)));
    for (size_t i = 0; i < s->pdu_count; i++) {
        uncertain += s->pdus[i].tu && !s->pdus[i].lost;
    }
    scene_tell(s, "tu is set from PDU %zu on for %zu, whose stamps wander off by 5 ms; ", first,
               count);
    s->slack_ns = 200 * US; /* as long as they are near, they are followed */
    expect(s, SCENE_COUNTER(pdus_uncertain), uncertain);
    scene_expect(s, SCENE_COUNTER(stamps_off), count / 16, count);
}

static void media_restart(struct scene *s, int64_t argument)
{
    (void)argument;
    scene_talk(s, between(s, 300, 800));
    s->mr = true;
    scene_talk(s, 800);
    scene_tell(s, "mr toggles, and nothing else changes; ");
    expect(s, SCENE_COUNTER(restarts), 1);
    expect(s, SCENE_COUNTER(resyncs), 1);
}

static void beside(struct scene *s, int64_t kind)
{
    size_t good;

    scene_talk(s, 1000);
    good = s->pdu_count;
    for (size_t i = 1; i < good; i++) {
        if (chance(s, 700)) {
            scene_beside(s, (enum scene_kind)kind, i, between(s, -60, 60) * US);
        }
    }
    scene_tell(s, "%zu packets that are none of the stream's, in between; ", s->pdu_count - good);
    if (kind == SCENE_OTHER_TALKER) {
        expect(s, SCENE_COUNTER(pdus_other_talker), s->pdu_count - good);
    }
}

static void wrong_format(struct scene *s, int64_t argument)
{
    size_t first = (size_t)between(s, 200, 400);
    size_t count = (size_t)(chance(s, 500) ? between(s, 1, 60) : between(s, 60, 900));

    (void)argument;
    scene_talk(s, 1500);
    for (size_t i = first; i < first + count; i++) {
        s->pdus[i].kind = SCENE_OTHER_FORMAT;
    }
    scene_tell(s, "PDUs %zu to %zu have another rate, depth or number of channels; ", first,
               first + count - 1);
    expect(s, SCENE_COUNTER(pdus_other_format), count);
    expect(s, SCENE_COUNTER(frames_lost), frames_of(s, count));
}

static void truncated(struct scene *s, int64_t argument)
{
    size_t too_short = 0;
    size_t cut = 0;
    size_t all = 0;

    (void)argument;
    scene_talk(s, 1500);
    for (size_t i = HALE; i + HALE < s->pdu_count; i++) {
        if (chance(s, 30)) {
            s->pdus[i].kind = SCENE_TRUNCATED;
            s->pdus[i].bytes = (size_t)scene_below(s, 48);
            too_short += s->pdus[i].bytes >= 12 && s->pdus[i].bytes < 24;
            cut += s->pdus[i].bytes >= 24;
            all++;
        }
    }
    scene_tell(s, "%zu PDUs are cut short; ", all);
    expect(s, SCENE_COUNTER(pdus_refused[TT_AAF_SHORT]), too_short);
    expect(s, SCENE_COUNTER(pdus_refused[TT_AAF_TRUNCATED]), cut);
    expect(s, SCENE_COUNTER(frames_lost), frames_of(s, all));
}

static void oversized(struct scene *s, int64_t argument)
{
    size_t padded = 0;
    size_t refused = 0;

    (void)argument;
    scene_talk(s, 1500);
    for (size_t i = HALE; i + HALE < s->pdu_count; i++) {
        if (chance(s, 30)) {
            s->pdus[i].kind = SCENE_PADDED;
            padded++;
        } else if (chance(s, 30)) {
            s->pdus[i].kind = SCENE_OVERSIZED;
            refused++;
        }
    }
    scene_tell(s, "%zu packets go on behind their PDU, %zu are longer than the MTU; ", padded,
               refused);
    expect(s, SCENE_COUNTER(pdus_refused[TT_AAF_TRUNCATED]), refused);
    expect(s, SCENE_COUNTER(frames_lost), frames_of(s, refused));
}

static int64_t stamps(const struct scene *s, int64_t count)
{
    return s->config.sparse ? count * 8 : count;
}

/* The source waits, and goes on where it was. */
static void pause_of(struct scene *s, int64_t pause_ns)
{
    bool gone = pause_ns >= TT_NS_PER_S;

    scene_talk(s, between(s, 500, 800));
    scene_break(s, pause_ns + between(s, 0, 1000000), 0, s->config.sparse ? 7 : 0);
    scene_talk(s, 800);
    scene_tell(s, "the talker pauses for %d ms; ", (int)(pause_ns / MS));
    expect(s, SCENE_COUNTER(resyncs), 1);
    expect(s, SCENE_COUNTER(absences), gone);
    if (s->config.sparse) {
        scene_expect(s, SCENE_COUNTER(pdus_unplaced), 0, 7);
        scene_expect(s, SCENE_COUNTER(stamps_off), 0, 1);
        /* Until a stamp comes, a pause looks like a loss of as many PDUs, to the next 256. */
        scene_expect(s, SCENE_COUNTER(frames_lost), 0, gone ? 0 : 6000);
        scene_expect(s, SCENE_COUNTER(frames_late), 0, gone ? 0 : 42);
        scene_expect(s, SCENE_COUNTER(pdus_late), 0, gone ? 0 : 7);
    } else {
        expect(s, SCENE_COUNTER(stamps_off), !gone);
    }
}

/* Another program plays: a new sequence and a new time. `says`: it toggles mr. */
static void restart(struct scene *s, int64_t says)
{
    int64_t pause_ns = between(s, 0, 300 * MS);

    scene_talk(s, between(s, 500, 800));
    scene_break(s, pause_ns, 0, stamps(s, says ? 1 : 8) - says);
    s->sequence = (uint8_t)scene_below(s, 256);
    s->mr = says;
    scene_talk(s, 800);
    scene_tell(s, "the talker starts anew after %d us, sequence %u; ", (int)(pause_ns / US),
               s->sequence);
    s->mixed = true; /* how it looks from outside depends on where sequence and time fall */
    scene_expect(s, SCENE_COUNTER(resyncs), says ? 1 : 0, 1);
    expect(s, SCENE_COUNTER(restarts), (size_t)says);
}

/* The talker's clock jumps, and its stamps can still be met. */
static void jump(struct scene *s, int64_t jump_ns)
{
    s->config.mtt_ns = jump_ns < 0 ? 10 * MS : 2 * MS;
    scene_talk(s, between(s, 500, 800));
    scene_break(s, 0, jump_ns, stamps(s, 8));
    scene_talk(s, 1000);
    scene_tell(s, "the talker's clock jumps by %d us; ", (int)(jump_ns / US));
    expect(s, SCENE_COUNTER(stamps_off), 8);
    expect(s, SCENE_COUNTER(resyncs), 1);
    expect(s, SCENE_COUNTER(frames_lost),
           jump_ns > 0 ? (size_t)(jump_ns * s->config.rate_hz / TT_NS_PER_S) : 0);
}

/* It jumps to where its stamps make no sense; and back again, later. PDUs are lost all the while.
 */
static void far_jump(struct scene *s, int64_t jump_ns)
{
    scene_talk(s, between(s, 500, 800));
    s->stamp_ns = jump_ns;
    scene_break(s, 0, 0, stamps(s, 9));
    scene_talk(s, 1000);
    s->stamp_ns = 0;
    scene_break(s, 0, 0, stamps(s, 9));
    scene_talk(s, 1000);
    scene_tell(s, "the talker's clock jumps by %d ms, and later back; ", (int)(jump_ns / MS));
    s->mixed = true;
    lose_some(s, 10);
    scene_expect(s, SCENE_COUNTER(stamps_off), 16, 40);
    expect(s, SCENE_COUNTER(resyncs), 2);
}

static void drift(struct scene *s, int64_t ppm)
{
    s->drift_ppm = ppm;
    s->config.frames_per_pdu = 48;
    scene_talk(s, 600000);
    scene_tell(s, "the talker's media clock is %d ppm fast for ten minutes; ", (int)ppm);
}

static void bursts(struct scene *s, int64_t pdus)
{
    s->config.playout_latency_ns = 15 * MS;
    scene_talk(s, 3000);
    for (size_t i = 0; i < s->pdu_count; i++) {
        size_t last = i - i % (size_t)pdus + (size_t)pdus - 1;

        if (last < s->pdu_count) {
            s->pdus[i].departure_ns = s->pdus[last].departure_ns + (int64_t)(i % (size_t)pdus) * US;
        }
    }
    scene_tell(s, "%d PDUs at once, every %d us; ", (int)pdus, (int)(pdus * INTERVAL_NS / US));
}

/* `key`: the listener is told so. */
static void utc(struct scene *s, int64_t key)
{
    s->stamp_ns = -UTC_NS;
    s->config.timescale = key ? TT_TIMESCALE_UTC : TT_TIMESCALE_TAI;
    s->unplaced = !key;
    scene_talk(s, 1000);
    scene_tell(s, "stamps are in UTC; ");
    if (!key) {
        expect(s, SCENE_COUNTER(pdus_early), 1000);
        expect(s, SCENE_COUNTER(pdus_other_timescale), 1000);
    }
}

static void absence(struct scene *s, int64_t reaction)
{
    int64_t pause_ns = between(s, 1200, 3000) * MS;

    s->config.on_absence = (enum tt_on_absence)reaction;
    scene_talk(s, between(s, 500, 800));
    scene_break(s, pause_ns, 0, s->config.sparse ? 7 : 0);
    scene_talk(s, 800);
    scene_tell(s, "nothing comes for %d ms; ", (int)(pause_ns / MS));
    s->xruns = reaction == TT_ABSENCE_XRUN;
    scene_expect(s, SCENE_COUNTER(pdus_unplaced), 0, s->config.sparse ? 7 : 0);
    expect(s, SCENE_COUNTER(absences), 1);
    expect(s, SCENE_COUNTER(resyncs), 1);
}

static void late(struct scene *s, int64_t beyond_ns)
{
    /* Without a stamp no more than 127 PDUs may be overtaken. */
    s->config.playout_latency_ns = between(s, 3, s->config.sparse ? 7 : 20) * MS;
    scene_talk(s, 1500);
    for (size_t i = 1; i < s->pdu_count; i++) {
        s->pdus[i].delay_ns +=
            between(s, 0, s->config.mtt_ns + s->config.playout_latency_ns + beyond_ns - 100 * US);
    }
    scene_tell(s, "PDUs come up to %d us after their presentation time; ",
               (int)((s->config.playout_latency_ns + beyond_ns) / US));
    s->mixed = true;
    if (beyond_ns <= 0) {
        expect(s, SCENE_COUNTER(frames_lost), 0);
        expect(s, SCENE_COUNTER(frames_late), 0);
        expect(s, SCENE_COUNTER(pdus_late), 0);
        expect(s, SCENE_COUNTER(pdus_duplicate), 0);
    }
}

static void faded(struct scene *s, int64_t argument)
{
    (void)argument;
    s->config.on_loss = TT_LOSS_FADE;
    scene_talk(s, 1500);
    expect(s, SCENE_COUNTER(frames_lost), frames_of(s, lose_some(s, 50)));
}

/* Ten minutes of loss and reordering: nothing grows. */
static void endurance(struct scene *s, int64_t per_mille)
{
    s->config.frames_per_pdu = 48;
    s->config.playout_latency_ns = 5 * MS;
    s->drift_ppm = between(s, -100, 100);
    scene_talk(s, 600000);
    for (size_t i = HALE; i < s->pdu_count; i++) {
        s->pdus[i].delay_ns += between(s, 0, 5 * MS);
    }
    expect(s, SCENE_COUNTER(frames_lost), frames_of(s, lose_some(s, (unsigned)per_mille)));
    scene_tell(s, "and all are late by up to 5 ms, for ten minutes; ");
    scene_expect(s, SCENE_COUNTER(pdus_reordered), 100000, 600000);
}

/* ---- random mixtures */

/* PDUs within which a stream has found its place, whatever befalls it meanwhile. */
static int64_t settling(const struct scene *s)
{
    return s->config.sparse ? 200 : 60;
}

/* Something that begins a new stretch of the talker's media clock. */
static void random_break(struct scene *s)
{
    int64_t reach_ns = s->config.mtt_ns + s->config.playout_latency_ns;
    int64_t pause_ns = between(s, 0, chance(s, 100) ? 1500 * MS : 200 * MS);

    switch (scene_below(s, 5)) {
    case 0:
        scene_break(s, pause_ns, 0, settling(s));
        scene_tell(s, "a pause of %d us; ", (int)(pause_ns / US));
        break;
    case 1:
        scene_break(s, pause_ns, 0, settling(s));
        s->sequence = (uint8_t)scene_below(s, 256);
        s->mr = chance(s, 500) ? !s->mr : s->mr;
        scene_tell(s, "a restart after %d us; ", (int)(pause_ns / US));
        break;
    case 2:
        if (s->stamp_ns == 0) { /* ahead: always in reach */
            scene_break(s, 0, between(s, 1, 9) * MS, settling(s));
            scene_tell(s, "a jump ahead; ");
        }
        break;
    case 3:
        if (s->stamp_ns == 0 && s->jump_ns > 0 && reach_ns > 8 * MS) {
            scene_break(s, 0, -MS, settling(s));
            scene_tell(s, "a jump back; ");
        }
        break;
    default:
        s->jumped_far = true;
        s->stamp_ns = s->stamp_ns != 0 ? 0 : chance(s, 500) ? UTC_NS : -UTC_NS;
        scene_break(s, 0, 0, settling(s));
        scene_tell(s, "a jump out of reach, or back from there; ");
        break;
    }
}

static bool is_settled(const struct scene *s, const struct scene_pdu *pdu)
{
    const struct scene_segment *segment = &s->segments[pdu->segment];

    return pdu->segment > 0 ? pdu->frame >= segment->first_frame + segment->settle_frames
                            : pdu->frame >= HALE * (int64_t)s->config.frames_per_pdu;
}

/* What befalls PDU i of a good stream. */
static void random_fault(struct scene *s, size_t i, unsigned per_mille, int64_t jitter_ns)
{
    struct scene_pdu *pdu = &s->pdus[i];

    pdu->delay_ns += between(s, 0, jitter_ns);
    if (!is_settled(s, pdu) || !chance(s, per_mille)) {
        return;
    }
    switch (scene_below(s, 9)) {
    case 0:
        pdu->kind = SCENE_OTHER_FORMAT;
        break;
    case 1:
        pdu->kind = SCENE_TRUNCATED;
        pdu->bytes = (size_t)scene_below(s, 40);
        break;
    case 2:
        pdu->kind = chance(s, 500) ? SCENE_PADDED : SCENE_OVERSIZED;
        break;
    case 3:
        pdu->copies = (unsigned)between(s, 1, 3);
        break;
    case 4:
        pdu->stamp_ns += between(s, -1000, 1000) * US;
        break;
    case 5:
        pdu->tu = true;
        pdu->stamp_ns += between(s, -300, 300) * US;
        break;
    case 6:
        scene_beside(s, (enum scene_kind)between(s, SCENE_REPEAT, SCENE_FOREIGN_SUBTYPE), i,
                     between(s, 0, REPEAT_NS));
        break;
    default:
        for (int64_t n = chance(s, 50) ? between(s, 100, 700) : between(s, 1, 12); n > 0; n--) {
            if (i < s->pdu_count && s->pdus[i].segment == pdu->segment) {
                s->pdus[i++].lost = true;
            }
        }
        break;
    }
}

static void mixture(struct scene *s, int64_t argument)
{
    static const unsigned frames[] = {6, 6, 12, 48};
    int64_t breaks = between(s, 0, 4);
    int64_t reach_ns;
    int64_t jitter_ns;
    unsigned per_mille = (unsigned)between(s, 0, 60);
    size_t good;

    (void)argument;
    s->mixed = true;
    s->config.sparse = chance(s, 250);
    s->config.mtt_ns = between(s, 2, 20) * MS;
    s->config.playout_latency_ns = chance(s, 500) ? 0 : between(s, 1, 10) * MS;
    s->config.frames_per_pdu = frames[scene_below(s, 4)];
    s->config.rate_hz = chance(s, 250) ? 44100 : 48000;
    s->config.on_loss = chance(s, 250) ? TT_LOSS_FADE : TT_LOSS_SILENCE;
    s->drift_ppm = between(s, -200, 200);
    s->slack_ns = 300 * US;
    reach_ns = s->config.mtt_ns + s->config.playout_latency_ns;
    jitter_ns =
        chance(s, 300) ? 0 : between(s, 0, (reach_ns < 8 * MS ? reach_ns : 8 * MS) / US) * US;
    s->tail_frames = jitter_ns * s->config.rate_hz / TT_NS_PER_S + 10 * s->config.frames_per_pdu;
    s->place_tolerance_frames = 50; /* the rate is found while the faults go on */
    scene_tell(s, "%u in 1000 faulty, delayed by up to %d us; ", per_mille, (int)(jitter_ns / US));
    s->segments[0].settle_frames = s->config.sparse ? settling(s) * s->config.frames_per_pdu : 0;
    scene_talk(s, between(s, 400, 900));
    for (int64_t i = 0; i < breaks; i++) {
        random_break(s);
        scene_talk(s, between(s, 400, 900));
    }
    good = s->pdu_count;
    if (s->jumped_far) {
        /* Behind a long gap it is placed by its arrival, as late as that may be. */
        s->place_tolerance_frames += (jitter_ns + REPEAT_NS) * s->config.rate_hz / TT_NS_PER_S;
    }
    for (size_t i = 1; i < good; i++) {
        random_fault(s, i, per_mille, jitter_ns);
    }
}

#define PLAIN(name, arrange, argument, seeds)                                                      \
    {                                                                                              \
        name, arrange, argument, seeds, false                                                      \
    }
#define BOTH(name, arrange, argument, seeds)                                                       \
    {name, arrange, argument, seeds, false},                                                       \
    {                                                                                              \
        name "-sparse", arrange, argument, seeds, true                                             \
    }

const struct capture_case capture_cases[] = {
    BOTH("loss-1", loss, 1, 20),
    BOTH("loss-10", loss, 10, 20),
    BOTH("loss-255", loss, 255, 20),
    BOTH("loss-256", loss, 256, 20),
    BOTH("loss-257", loss, 257, 20),
    BOTH("loss-512", loss, 512, 20),
    BOTH("loss-1000", loss, 1000, 20),
    BOTH("duplicates", duplicates, 0, 20),
    BOTH("reorder-adjacent", reorder, 1, 20),
    BOTH("reorder-5", reorder, 5, 20),
    BOTH("stamp-off-20us", stamps_off, 20 * US, 20),
    BOTH("stamp-off-150us", stamps_off, 150 * US, 20),
    BOTH("stamp-off-1ms", stamps_off, MS, 20),
    PLAIN("stamp-noise-50us", stamp_noise, 50 * US, 20),
    BOTH("stamp-chaos-5ms", stamp_chaos, 5 * MS, 20),
    BOTH("stamp-wrap", stamp_wrap, 0, 20),
    BOTH("tu-set", uncertain, 0, 20),
    PLAIN("mr-set", media_restart, 0, 20),
    BOTH("second-stream", beside, SCENE_OTHER_STREAM, 20),
    BOTH("second-talker", beside, SCENE_OTHER_TALKER, 20),
    BOTH("foreign-subtypes", beside, SCENE_FOREIGN_SUBTYPE, 20),
    BOTH("wrong-format", wrong_format, 0, 40),
    BOTH("truncated", truncated, 0, 20),
    BOTH("oversized", oversized, 0, 20),
    BOTH("pause-0.1s", pause_of, 100 * MS, 20),
    BOTH("pause-1s", pause_of, 1000 * MS, 20),
    BOTH("pause-10s", pause_of, 10000 * MS, 10),
    BOTH("restart", restart, 0, 40),
    BOTH("restart-mr", restart, 1, 40),
    BOTH("jump+3ms", jump, 3 * MS, 20),
    BOTH("jump-3ms", jump, -3 * MS, 20),
    BOTH("jump+37s", far_jump, UTC_NS, 20),
    BOTH("jump-37s", far_jump, -UTC_NS, 20),
    BOTH("jump-3ms-past", far_jump, -3 * MS, 20),
    PLAIN("drift+200ppm", drift, 200, 1),
    PLAIN("drift-200ppm", drift, -200, 1),
    BOTH("bursts", bursts, 100, 20),
    PLAIN("utc", utc, 0, 10),
    BOTH("utc-key", utc, 1, 10),
    BOTH("absence-silence", absence, TT_ABSENCE_SILENCE, 10),
    PLAIN("absence-xrun", absence, TT_ABSENCE_XRUN, 10),
    BOTH("late-within-playout-latency", late, 0, 20),
    BOTH("late-beyond-playout-latency", late, 5 * MS, 20),
    BOTH("fade", faded, 0, 20),
    PLAIN("endurance", endurance, 10, 1),
    PLAIN("mixture", mixture, 0, 1000),
};

const size_t capture_case_count = TT_COUNT_OF(capture_cases);
