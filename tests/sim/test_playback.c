/*
 * What can go wrong with playback (doc/faults.md), in virtual time: a program that is fed late or
 * feeds in odd sizes, a process that stands still, a link and a kernel that refuse, lose or go
 * away. Each scenario runs with each way of pacing and each answer to an underrun, with seeds.
 *
 * Each frame is its own position, so the packets tell by themselves what went out. The same is
 * asked of every run: nothing twice, nothing old, nothing out of order, on the grid of the media
 * clock, never after its presentation, never more than two in a PDU interval; and what is missing,
 * or is silence, is exactly what the events say.
 */
#include <errno.h>
#include <string.h>

#include "audio/aaf.h"
#include "audio/eth.h"
#include "audio/talker.h"
#include "base/bytes.h"
#include "base/ns.h"
#include "malloc_trap.h"
#include "os/link_loop.h"
#include "run/talk.h"
#include "test.h"

#define RATE        48000
#define PDU_FRAMES  6
#define PDU_NS      125000
#define MTT_NS      (5 * TT_NS_PER_MS)
#define RELEASE_NS  (300 * TT_NS_PER_US)
#define PDUS_MAX    120000
#define EVENTS_MAX  20000
#define SEEDS       5
#define FAULT_AT_NS (300 * TT_NS_PER_MS)
/* The carrier is looked at every 10 ms. */
#define CARRIER_PDUS (11 * TT_NS_PER_MS / PDU_NS)

struct scenario {
    const char *name;
    int64_t duration_ns;    /* of the fault, from FAULT_AT_NS on */
    bool program_stands;    /* it writes nothing */
    bool thread_stands;     /* nor does the engine step */
    bool odd_sizes;         /* the program writes in any sizes */
    int send_error;         /* what the link answers */
    bool refuses_some;      /* … to one call in three */
    bool without_carrier;   /* the kernel takes packets and drops them */
    bool purged;            /* what waits in the kernel vanishes once */
    bool qdisc_gone;        /* … and from then on packets leave when they are sent */
    unsigned missed_of_100; /* launches that the kernel misses */
    int64_t tai_step_ns;
    bool unsynchronised;
    enum tt_device_state end; /* of the device; DRAINED where not said */
};

struct pdu {
    uint8_t sequence;
    bool mr;
    bool tu;
    unsigned start; /* of how many */
    bool lost;      /* taken by the kernel, and dropped */
    bool early;     /* sent at once where a launch time was asked for */
    int64_t departure_mono_ns;
    int64_t presentation_mono_ns;
    int32_t frames[PDU_FRAMES]; /* each a position, from 1; 0: silence */
};

struct rig {
    const struct scenario *scenario;
    uint64_t seed;
    uint64_t random;
    bool kernel_pace;
    bool silence;
    struct tt_clock_script clock;
    struct tt_link *out;
    struct tt_link *in;
    const struct tt_link_ops *loop_ops;
    struct tt_link_ops ops;
    struct tt_talk *talk;
    int64_t start_ns;
    int64_t frames; /* to be played */
    int64_t buffer_frames;
    int64_t written;
    unsigned starts;
    bool purged;
    struct pdu *pdus;
    size_t n;
};

/* Link operations have no context of their own; there is one rig at a time. */
static struct rig *the_rig;

#define CHECK(condition)                                                                           \
    do {                                                                                           \
        if (!(condition)) {                                                                        \
            print_error("seed %llu, %s, on_underrun %s: %s\n", (unsigned long long)rig->seed,      \
                        rig->kernel_pace ? "kernel" : "software",                                  \
                        rig->silence ? "silence" : "xrun", #condition);                            \
            fail();                                                                                \
        }                                                                                          \
    } while (0)

static bool faulty(const struct rig *rig)
{
    int64_t since_ns = rig->clock.mono_ns - rig->start_ns - FAULT_AT_NS;

    return since_ns >= 0 && since_ns < rig->scenario->duration_ns;
}

static int64_t to_mono(const struct rig *rig, int64_t tai_ns)
{
    return tai_ns - rig->clock.tai_minus_mono_ns;
}

static void on_departure(void *context, const uint8_t *data, size_t bytes, int64_t departure_ns)
{
    struct rig *rig = context;
    struct pdu *pdu = &rig->pdus[rig->n];
    const uint8_t *aaf = data + TT_ETH_HEADER_BYTES;

    CHECK(rig->n < PDUS_MAX);
    CHECK(bytes == TT_ETH_HEADER_BYTES + TT_AAF_HEADER_BYTES + PDU_FRAMES * 4);
    pdu->sequence = aaf[2];
    pdu->mr = aaf[1] & 0x08;
    pdu->tu = aaf[3] & 0x01;
    pdu->start = rig->starts;
    pdu->departure_mono_ns = to_mono(rig, departure_ns);
    pdu->presentation_mono_ns =
        pdu->departure_mono_ns + (int32_t)(tt_get_be32(aaf + 12) - (uint32_t)departure_ns);
    pdu->lost = rig->scenario->without_carrier && faulty(rig);
    pdu->early = rig->purged && rig->scenario->qdisc_gone && rig->kernel_pace &&
                 !(tt_talk_notes(rig->talk) & TT_NOTE_LAUNCH_REFUSED);
    for (int i = 0; i < PDU_FRAMES; i++) {
        pdu->frames[i] = (int32_t)tt_get_be32(aaf + TT_AAF_HEADER_BYTES + 4 * i);
    }
    rig->n++;
}

static void on_packet(void *context, uint64_t index, uint8_t *data, size_t bytes,
                      struct tt_loop_fate *fate)
{
    struct rig *rig = context;

    (void)index;
    (void)data;
    (void)bytes;
    fate->lost = true; /* nobody listens */
    fate->launch_missed = fate->launch_kept && faulty(rig) &&
                          random_below(&rig->random, 100) < rig->scenario->missed_of_100;
    rig->pdus[rig->n - 1].lost |= fate->launch_missed;
}

static int scripted_send(struct tt_link *link, const struct tt_link_packet *packets, int n)
{
    struct rig *rig = the_rig;

    if (rig->scenario->send_error < 0 && faulty(rig) &&
        (!rig->scenario->refuses_some || random_below(&rig->random, 3) == 0)) {
        return rig->scenario->send_error;
    }
    return rig->loop_ops->send(link, packets, n);
}

/* What an etf holds: it lets go of a packet RELEASE_NS before its launch. */
static int scripted_waiting(struct tt_link *link)
{
    struct rig *rig = the_rig;
    int waiting = 0;

    for (size_t i = rig->n; link->keeps_launch_times && i-- > 0 && i + 1000 > rig->n;) {
        waiting +=
            !rig->pdus[i].lost && rig->pdus[i].departure_mono_ns - RELEASE_NS > rig->clock.mono_ns;
    }
    return waiting;
}

static bool scripted_is_up(struct tt_link *link)
{
    (void)link;
    return !(the_rig->scenario->without_carrier && faulty(the_rig));
}

static void purge(struct rig *rig)
{
    for (size_t i = 0; i < rig->n; i++) {
        rig->pdus[i].lost |= rig->pdus[i].departure_mono_ns - RELEASE_NS > rig->clock.mono_ns;
    }
    rig->out->keeps_launch_times = !rig->scenario->qdisc_gone;
    rig->purged = true;
}

static void build(struct rig *rig)
{
    struct tt_stream_config config = {
        .dest = {0x91, 0xE0, 0xF0, 0, 0, 1},
        .stream_id = 7,
        .format = TT_AAF_INT32,
        .rate_hz = RATE,
        .channels = 1,
        .frames_per_pdu = PDU_FRAMES,
        .vlan_id = -1,
        .mtt_ns = MTT_NS,
        .time_uncertainty_ns = PDU_NS,
        .launch_lead_ns = 5 * TT_NS_PER_MS,
        .on_underrun = rig->silence ? TT_UNDERRUN_SILENCE : TT_UNDERRUN_XRUN,
    };
    struct tt_loop_setup loop = {.clock = &rig->clock,
                                 .mtu_bytes = 1500,
                                 .keeps_launch_times = rig->kernel_pace,
                                 .departure = on_departure,
                                 .fate = on_packet,
                                 .context = rig,
                                 .capacity = 1};

    tt_clock_script_init(&rig->clock, 50 * TT_NS_PER_S,
                         INT64_C(1790000000) * TT_NS_PER_S + (int64_t)rig->seed * TT_NS_PER_S);
    assert_int_equal(tt_link_loop_new(&loop, &rig->out, &rig->in), 0);
    rig->loop_ops = rig->out->ops;
    rig->ops = *rig->loop_ops;
    rig->ops.send = scripted_send;
    rig->ops.waiting = scripted_waiting;
    rig->ops.is_up = scripted_is_up;
    rig->out->ops = &rig->ops;
    assert_int_equal(tt_talk_new(&(struct tt_talk_setup){.config = &config,
                                                         .link = rig->out,
                                                         .clock = &rig->clock.clock,
                                                         .buffer_frames = rig->buffer_frames,
                                                         .release_ns = RELEASE_NS,
                                                         .event_capacity = EVENTS_MAX},
                                 &rig->talk),
                     0);
    the_rig = rig;
}

static struct tt_device *device(const struct rig *rig)
{
    return tt_talk_device(rig->talk);
}

static int state_of(const struct rig *rig)
{
    return atomic_load(&device(rig)->state);
}

static void write_frames(struct rig *rig, int64_t frames)
{
    for (int64_t i = 0; i < frames; i++) {
        int32_t sample = (int32_t)(rig->written + 1);
        struct tt_pcm_area area = {(uint8_t *)&sample, 4};

        tt_talk_write(rig->talk, rig->written++, TT_PCM_S32_LE, &area, 1);
    }
}

/* A program as aplay is: writes as much as it can, starts the device, prepares it after an xrun and
 * goes on with what it has not written. Returns when it looks again. */
static int64_t play(struct rig *rig)
{
    int64_t room;
    int64_t left = rig->frames - rig->written;

    if (rig->scenario->program_stands && faulty(rig)) {
        return rig->start_ns + FAULT_AT_NS + rig->scenario->duration_ns;
    }
    if (state_of(rig) == TT_DEVICE_XRUN) {
        tt_talk_prepare(rig->talk);
    }
    room = rig->buffer_frames - (rig->written - atomic_load(&device(rig)->engine_frame));
    CHECK(room >= 0);
    room = room < left ? room : left;
    if (rig->scenario->odd_sizes && room > 0) {
        room = 1 + (int64_t)random_below(&rig->random, (uint64_t)room);
    }
    write_frames(rig, room);
    if (state_of(rig) == TT_DEVICE_STOPPED) {
        CHECK(tt_talk_start(rig->talk, false) == 0);
        rig->starts++;
    }
    if (rig->written == rig->frames) {
        tt_talk_drain(rig->talk);
    }
    return rig->clock.mono_ns + TT_NS_PER_MS + (int64_t)random_below(&rig->random, TT_NS_PER_MS);
}

static int64_t step(struct rig *rig)
{
    int64_t next_ns;

    tt_trap_arm();
    next_ns = tt_talk_step(rig->talk);
    tt_trap_disarm();
    return next_ns + (int64_t)random_below(&rig->random, 100 * TT_NS_PER_US);
}

static bool has_ended(const struct rig *rig)
{
    return state_of(rig) == TT_DEVICE_DRAINED || state_of(rig) == TT_DEVICE_GONE;
}

static void run(struct rig *rig)
{
    int64_t program_ns = rig->clock.mono_ns;
    int64_t talk_ns = program_ns;
    bool stepped = rig->scenario->tai_step_ns == 0;

    rig->start_ns = program_ns;
    while (!has_ended(rig)) {
        bool programs = program_ns <= talk_ns;
        int64_t next_ns = programs ? program_ns : talk_ns;

        CHECK(rig->clock.mono_ns - rig->start_ns < 20 * TT_NS_PER_S);
        rig->clock.mono_ns = next_ns > rig->clock.mono_ns ? next_ns : rig->clock.mono_ns;
        rig->clock.unsynchronised = rig->scenario->unsynchronised && faulty(rig);
        if (faulty(rig) && rig->scenario->thread_stands) { /* the whole process does */
            rig->clock.mono_ns = rig->start_ns + FAULT_AT_NS + rig->scenario->duration_ns;
        }
        if (faulty(rig) && !rig->purged &&
            (rig->scenario->purged || rig->scenario->without_carrier)) {
            purge(rig);
        }
        if (faulty(rig) && !stepped) {
            stepped = true;
            rig->clock.tai_minus_mono_ns += rig->scenario->tai_step_ns;
        }
        if (programs) {
            unsigned starts = rig->starts;

            program_ns = play(rig);
            talk_ns = rig->starts > starts ? rig->clock.mono_ns : talk_ns;
        } else {
            talk_ns = step(rig);
        }
    }
    tt_talk_stop(rig->talk);
}

/* What the events say of each frame: it was lost there; and how much silence is in front of it. */
struct told {
    bool *lost;
    int64_t *silence;
    int64_t silence_all;
    unsigned starts;
    unsigned clock_steps;
};

static struct told read_events(const struct rig *rig)
{
    const struct tt_event_log *log = tt_talk_log(rig->talk);
    struct told told = {.lost = calloc((size_t)rig->frames + 1, sizeof(bool)),
                        .silence = calloc((size_t)rig->frames + 1, sizeof(int64_t))};

    CHECK(log->unkept == 0);
    for (size_t i = 0; i < log->n; i++) {
        const struct tt_event *e = &log->events[i];

        told.starts += e->kind == TT_EVENT_START;
        told.clock_steps += e->kind == TT_EVENT_CLOCK;
        CHECK(e->frame >= 0 && e->frame <= rig->frames);
        if (e->kind == TT_EVENT_SILENCE) {
            told.silence[e->frame] += e->frames;
            told.silence_all += e->frames;
        }
        for (int64_t f = e->frame;
             f < e->frame + e->frames && (e->kind == TT_EVENT_XRUN || e->kind == TT_EVENT_DROPPED ||
                                          e->kind == TT_EVENT_REFUSED);
             f++) {
            CHECK(f < rig->frames);
            CHECK(!told.lost[f]); /* told once */
            told.lost[f] = true;
        }
    }
    return told;
}

/* What vanished from the kernel just before its launch cannot be told from what was sent, nor what
 * was sent just after the carrier went; and what was told as lost may have been sent, but at once
 * instead of at its time, or just after the carrier came back. */
static void reconcile(struct rig *rig, const struct told *told)
{
    unsigned unseen = 0;

    for (size_t i = 0; i < rig->n; i++) {
        struct pdu *pdu = &rig->pdus[i];
        bool told_lost = pdu->frames[0] == 0 || told->lost[pdu->frames[0] - 1];

        unseen += pdu->lost && !told_lost;
        pdu->lost = (pdu->lost || pdu->early || rig->scenario->without_carrier) && told_lost;
    }
    CHECK(unseen <= (rig->scenario->without_carrier ? CARRIER_PDUS : rig->purged ? 6 : 0));
}

/* Every frame once and in order, or told as lost; silence only where it is told. */
static void check_content(const struct rig *rig, const struct told *told)
{
    int64_t next = 0;
    int64_t silent = 0; /* in front of `next`, on the wire */

    for (size_t i = 0; i < rig->n; i++) {
        for (int f = 0; f < PDU_FRAMES && !rig->pdus[i].lost; f++) {
            int64_t position = rig->pdus[i].frames[f] - 1;
            int64_t told_silence = 0;

            if (position < 0) {
                silent++;
                continue;
            }
            CHECK(position >= next && !told->lost[position]);
            for (; next <= position; next++) {
                CHECK(next == position || told->lost[next]);
                told_silence += told->silence[next];
            }
            CHECK(silent <= told_silence);
            silent = 0;
        }
    }
    for (; next < rig->written && rig->scenario->end != TT_DEVICE_GONE; next++) {
        CHECK(told->lost[next]);
    }
    CHECK(silent < PDU_FRAMES || silent <= told->silence[next]); /* the last PDU is padded */
}

/* On the grid, in time, never more than the burst allows. */
static void check_pace(const struct rig *rig)
{
    unsigned restarts = rig->starts - 1 + (rig->scenario->tai_step_ns != 0);
    unsigned toggles = 0;

    for (size_t i = 0; i < rig->n; i++) {
        const struct pdu *pdu = &rig->pdus[i];
        const struct pdu *before = i > 0 ? pdu - 1 : pdu;
        int64_t left_ns = pdu->presentation_mono_ns - pdu->departure_mono_ns;
        int64_t step_ns = pdu->presentation_mono_ns - before->presentation_mono_ns;

        CHECK(left_ns > 0);
        if (!pdu->early) {
            CHECK(left_ns <= MTT_NS);
            CHECK(i < TT_TALKER_BURST || pdu[-TT_TALKER_BURST].early ||
                  pdu->departure_mono_ns - pdu[-TT_TALKER_BURST].departure_mono_ns >= PDU_NS);
        }
        if (rig->kernel_pace && rig->silence && rig->scenario->program_stands) {
            CHECK(left_ns == MTT_NS); /* nothing holds silence up */
        }
        CHECK(pdu->mr != before->mr || pdu->start == before->start);
        if (pdu->mr != before->mr) {
            toggles++;
        } else {
            CHECK(step_ns >= 0 && step_ns % PDU_NS == 0);
            CHECK((uint8_t)(step_ns / PDU_NS) == (uint8_t)(pdu->sequence - before->sequence));
        }
    }
    /* Restarts between two PDUs are one. */
    CHECK(toggles <= restarts && (toggles > 0) == (restarts > 0));
}

static void check_counters(const struct rig *rig, const struct told *told)
{
    struct tt_talk_counters c;
    uint64_t sent = 0;
    uint64_t silent = 0;

    tt_talk_counters(rig->talk, &c);
    for (size_t i = 0; i < rig->n; i++) {
        for (int f = 0; f < PDU_FRAMES && !rig->pdus[i].lost; f++) {
            silent += rig->pdus[i].frames[f] == 0;
        }
        sent += !rig->pdus[i].lost;
    }
    CHECK(c.pdus_sent == sent);
    CHECK(c.frames_padded == silent);
    CHECK(c.frames_sent == sent * PDU_FRAMES - silent);
    CHECK(c.frames_inserted == (uint64_t)told->silence_all);
    CHECK(c.xruns + 1 == rig->starts);
    CHECK(told->starts == rig->starts);
    CHECK(told->clock_steps == c.clock_steps && c.clock_steps == (rig->scenario->tai_step_ns != 0));
    CHECK(rig->silence ? c.xruns == 0 : c.underruns == 0);
    CHECK((c.underruns > 0) == (c.frames_inserted > 0));
    if (c.pdus_dropped + c.pdus_refused == 0 && rig->silence) {
        CHECK(silent >= c.frames_inserted && silent < c.frames_inserted + PDU_FRAMES);
    }
}

/* The fault took place, and was noticed as what it is. */
static void check_scenario(const struct rig *rig)
{
    const struct scenario *s = rig->scenario;
    unsigned notes = tt_talk_notes(rig->talk);
    struct tt_talk_counters c;
    int64_t buffered_ns = rig->buffer_frames * TT_NS_PER_S / RATE;
    unsigned uncertain = 0;

    tt_talk_counters(rig->talk, &c);
    for (size_t i = 0; i < rig->n; i++) {
        uncertain += rig->pdus[i].tu;
    }
    if (s->program_stands && s->duration_ns > buffered_ns + 10 * TT_NS_PER_MS) {
        CHECK(c.xruns + c.underruns >= 1);
        CHECK(!rig->silence ||
              c.frames_inserted >= (uint64_t)(s->duration_ns - buffered_ns - 10 * TT_NS_PER_MS) *
                                       RATE / TT_NS_PER_S);
    }
    if (s->thread_stands && s->duration_ns > MTT_NS + 10 * TT_NS_PER_MS) {
        CHECK(c.pdus_dropped > 0 || c.xruns > 0);
    }
    CHECK(s->send_error == 0 || c.pdus_refused > 0);
    CHECK(!!(notes & TT_NOTE_LINK_DOWN) == (s->send_error == -ENETDOWN || s->without_carrier));
    CHECK(!!(notes & TT_NOTE_LINK_GONE) == (s->end == TT_DEVICE_GONE));
    CHECK(!!(notes & TT_NOTE_UNSYNCHRONISED) == s->unsynchronised);
    CHECK((uncertain > 0) == s->unsynchronised && uncertain < rig->n);
    if (rig->kernel_pace && s->missed_of_100 > 0) {
        CHECK(c.launch_missed > 0 && c.launch_missed == c.pdus_refused);
        CHECK(notes & TT_NOTE_LAUNCH_LOST);
    }
    if (rig->kernel_pace && (s->purged || s->without_carrier)) {
        CHECK(c.launch_unkept > 0 && c.launch_unkept <= c.pdus_refused);
        CHECK(!s->purged || notes & TT_NOTE_LAUNCH_UNKEPT);
        CHECK(!!(notes & TT_NOTE_LAUNCH_REFUSED) == s->qdisc_gone);
    }
}

static void scenario_with(const struct scenario *scenario, uint64_t seed, bool kernel_pace,
                          bool silence)
{
    static const int64_t buffers[] = {240, 960, 4800};
    struct rig *rig = calloc(1, sizeof *rig);
    struct told told;

    *rig = (struct rig){.scenario = scenario,
                        .seed = seed,
                        .random = seed,
                        .kernel_pace = kernel_pace,
                        .silence = silence,
                        .pdus = calloc(PDUS_MAX, sizeof(struct pdu))};
    rig->buffer_frames = buffers[random_below(&rig->random, 3)];
    rig->frames = RATE * 6 / 10 + (int64_t)random_below(&rig->random, 1000);
    if (!scenario->program_stands && !scenario->thread_stands) {
        rig->frames += tt_ns_to_frames(scenario->duration_ns, RATE);
    }
    build(rig);
    run(rig);
    CHECK(state_of(rig) == (scenario->end ? (int)scenario->end : TT_DEVICE_DRAINED));
    told = read_events(rig);
    reconcile(rig, &told);
    check_content(rig, &told);
    check_pace(rig);
    check_counters(rig, &told);
    check_scenario(rig);
    tt_talk_free(rig->talk);
    rig->out->ops = rig->loop_ops;
    tt_link_close(rig->out);
    tt_link_close(rig->in);
    free(told.lost);
    free(told.silence);
    free(rig->pdus);
    free(rig);
}

static void run_scenario(void **state)
{
    for (uint64_t seed = 1; seed <= SEEDS; seed++) {
        for (int mode = 0; mode < 4; mode++) {
            scenario_with(*state, seed, mode & 1, mode & 2);
        }
    }
}

#define MS TT_NS_PER_MS

static struct scenario scenarios[] = {
    {.name = "stall-10ms", .program_stands = true, .duration_ns = 10 * MS},
    {.name = "stall-100ms", .program_stands = true, .duration_ns = 100 * MS},
    {.name = "stall-1s", .program_stands = true, .duration_ns = 1000 * MS},
    {.name = "stall-5s", .program_stands = true, .duration_ns = 5000 * MS},
    {.name = "odd-sizes", .odd_sizes = true},
    {.name = "late-thread-10ms", .thread_stands = true, .duration_ns = 10 * MS},
    {.name = "late-thread-100ms", .thread_stands = true, .duration_ns = 100 * MS},
    {.name = "late-thread-1s", .thread_stands = true, .duration_ns = 1000 * MS},
    {.name = "late-thread-5s", .thread_stands = true, .duration_ns = 5000 * MS},
    {.name = "link-down-up", .send_error = -ENETDOWN, .duration_ns = 200 * MS},
    {.name = "cable-pulled", .without_carrier = true, .duration_ns = 1200 * MS},
    {.name = "interface-deleted",
     .send_error = -ENXIO,
     .duration_ns = 5000 * MS,
     .end = TT_DEVICE_GONE},
    {.name = "enobufs", .send_error = -ENOBUFS, .refuses_some = true, .duration_ns = 200 * MS},
    {.name = "launch-missed", .missed_of_100 = 20, .duration_ns = 200 * MS},
    {.name = "qdisc-purged", .purged = true, .duration_ns = 100 * MS},
    {.name = "qdisc-deleted", .purged = true, .qdisc_gone = true, .duration_ns = 100 * MS},
    {.name = "tai-step", .tai_step_ns = 37 * TT_NS_PER_S, .duration_ns = 100 * MS},
    {.name = "clock-unsynchronised", .unsynchronised = true, .duration_ns = 1500 * MS},
};

int main(void)
{
    struct CMUnitTest tests[TT_COUNT_OF(scenarios)];

    for (size_t i = 0; i < TT_COUNT_OF(scenarios); i++) {
        tests[i] = (struct CMUnitTest){
            .name = scenarios[i].name, .test_func = run_scenario, .initial_state = &scenarios[i]};
    }
    return cmocka_run_group_tests(tests, NULL, NULL);
}
