/*
 * The engines as a program meets them, in virtual time: xruns and recovery, drain, pause, delay,
 * devices that never stop, links that refuse, talkers that go away.
 */
#include <errno.h>
#include <string.h>

#include "audio/eth.h"
#include "base/bytes.h"
#include "base/ns.h"
#include "os/link_loop.h"
#include "run/engine.h"
#include "run/listen.h"
#include "run/note.h"
#include "run/send.h"
#include "run/talk.h"
#include "test.h"

#define RATE   48000
#define BUFFER 4800
#define PERIOD 480

struct rig {
    struct tt_clock_script clock;
    struct tt_stream_config config;
    struct tt_link *out;
    struct tt_link *in;
    struct tt_talk *talk;
    struct tt_listen *listen;
    int64_t talk_ns; /* when each steps next */
    int64_t listen_ns;
    int64_t written; /* frames; their samples count from 1 */
    uint64_t departed;
    int64_t last_departure_ns;
    uint32_t first_stamp;
    int64_t speed_mbps;
    int64_t closest_ns; /* two departures apart */
    void (*fate)(void *context, uint64_t index, uint8_t *data, size_t bytes,
                 struct tt_loop_fate *fate); /* NULL: all arrive */
};

static void on_departure(void *context, const uint8_t *data, size_t bytes, int64_t departure_ns)
{
    struct rig *rig = context;

    assert_true(bytes > TT_ETH_HEADER_BYTES + TT_AAF_HEADER_BYTES);
    if (rig->departed == 0) {
        rig->first_stamp = tt_get_be32(data + TT_ETH_HEADER_BYTES + 12);
    }
    if (rig->departed > 0 && departure_ns - rig->last_departure_ns < rig->closest_ns) {
        rig->closest_ns = departure_ns - rig->last_departure_ns;
    }
    rig->departed++;
    rig->last_departure_ns = departure_ns;
}

static void build(struct rig *rig, bool keeps_launch_times, size_t capacity)
{
    struct tt_loop_setup loop = {.clock = &rig->clock,
                                 .mtu_bytes = 1500,
                                 .keeps_launch_times = keeps_launch_times,
                                 .departure = on_departure,
                                 .fate = rig->fate,
                                 .context = rig,
                                 .capacity = capacity};

    tt_clock_script_init(&rig->clock, 50 * TT_NS_PER_S, INT64_C(1790000000) * TT_NS_PER_S);
    rig->closest_ns = INT64_MAX;
    assert_int_equal(tt_link_loop_new(&loop, &rig->out, &rig->in), 0);
    rig->out->speed_mbps = rig->speed_mbps;
    assert_int_equal(tt_talk_new(&(struct tt_talk_setup){.config = &rig->config,
                                                         .link = rig->out,
                                                         .clock = &rig->clock.clock,
                                                         .buffer_frames = BUFFER,
                                                         .release_ns = 300 * TT_NS_PER_US,
                                                         .event_capacity = 100},
                                 &rig->talk),
                     0);
    assert_int_equal(tt_listen_new(&(struct tt_listen_setup){.config = &rig->config,
                                                             .link = rig->in,
                                                             .clock = &rig->clock.clock,
                                                             .buffer_frames = BUFFER,
                                                             .period_frames = PERIOD,
                                                             .event_capacity = 100},
                                   &rig->listen),
                     0);
    rig->talk_ns = rig->listen_ns = rig->clock.mono_ns;
}

static void tear_down(struct rig *rig)
{
    tt_talk_free(rig->talk);
    tt_listen_free(rig->listen);
    tt_link_close(rig->out);
    tt_link_close(rig->in);
}

static int setup(void **state)
{
    struct rig *rig = calloc(1, sizeof *rig);

    rig->config = (struct tt_stream_config){
        .dest = {0x91, 0xE0, 0xF0, 0, 0, 1},
        .stream_id = 77,
        .format = TT_AAF_INT16,
        .rate_hz = RATE,
        .channels = 1,
        .frames_per_pdu = 6,
        .vlan_id = -1,
        .mtt_ns = 2 * TT_NS_PER_MS,
        .time_uncertainty_ns = 125000,
        .ptime_tolerance_ns = 100000,
        .launch_lead_ns = 5 * TT_NS_PER_MS,
    };
    *state = rig;
    return 0;
}

static int teardown(void **state)
{
    tear_down(*state);
    free(*state);
    return 0;
}

static void write_frames(struct rig *rig, int64_t frames)
{
    for (int64_t i = 0; i < frames; i++) {
        int16_t sample = (int16_t)(rig->written + 1);
        struct tt_pcm_area area = {(uint8_t *)&sample, 2};

        tt_talk_write(rig->talk, rig->written, TT_PCM_S16_LE, &area, 1);
        rig->written++;
    }
}

static int state_of_talk(const struct rig *rig)
{
    return atomic_load(&tt_talk_device(rig->talk)->state);
}

static int state_of_listen(const struct rig *rig)
{
    return atomic_load(&tt_listen_device(rig->listen)->state);
}

static int64_t sent_up_to(const struct rig *rig)
{
    return atomic_load(&tt_talk_device(rig->talk)->engine_frame);
}

static int64_t presented_up_to(const struct rig *rig)
{
    return atomic_load(&tt_listen_device(rig->listen)->engine_frame);
}

/* Both engines step for so long; the recording program takes what there is where `reading`. */
static void run(struct rig *rig, int64_t duration_ns, bool reading)
{
    int64_t end_ns = rig->clock.mono_ns + duration_ns;

    while (rig->clock.mono_ns < end_ns) {
        bool talks = rig->talk_ns <= rig->listen_ns;
        int64_t next_ns = talks ? rig->talk_ns : rig->listen_ns;

        if (next_ns > rig->clock.mono_ns) {
            rig->clock.mono_ns = next_ns < end_ns ? next_ns : end_ns;
        }
        if (next_ns > end_ns) {
            break;
        }
        if (talks) {
            rig->talk_ns = tt_talk_step(rig->talk);
        } else {
            rig->listen_ns = tt_listen_step(rig->listen);
            if (reading) {
                atomic_store(&tt_listen_device(rig->listen)->program_frame, presented_up_to(rig));
            }
        }
    }
}

static int16_t sample_at(struct rig *rig, int64_t position)
{
    int16_t sample;
    int64_t program = atomic_load(&tt_listen_device(rig->listen)->program_frame);

    tt_listen_read(rig->listen, position, TT_PCM_S16_LE,
                   &(struct tt_pcm_area){(uint8_t *)&sample, 2}, 1);
    atomic_store(&tt_listen_device(rig->listen)->program_frame, program);
    return sample;
}

static void an_underrun_is_an_xrun_and_recovers(void **state)
{
    struct rig *rig = *state;
    struct tt_talk_counters counters;
    struct tt_listen_counters heard;
    const struct tt_event *lost;
    int64_t resumed;

    build(rig, false, 1000);
    write_frames(rig, 1000); /* 166 PDUs, and four frames that fill none */
    assert_int_equal(tt_listen_start(rig->listen, false), 0);
    assert_int_equal(tt_talk_start(rig->talk, false), 0);
    run(rig, 15 * TT_NS_PER_MS, true);
    assert_int_equal(state_of_talk(rig), TT_DEVICE_RUNNING);
    run(rig, 15 * TT_NS_PER_MS, true);
    assert_int_equal(state_of_talk(rig), TT_DEVICE_XRUN);
    tt_talk_counters(rig->talk, &counters);
    assert_int_equal(counters.xruns, 1);
    assert_int_equal(counters.pdus_sent, 166);

    write_frames(rig, 200); /* the program has not heard of it yet */
    tt_talk_prepare(rig->talk);
    assert_int_equal(sent_up_to(rig), 1200); /* what was left is dropped, and told */
    lost = &tt_talk_log(rig->talk)->events[tt_talk_log(rig->talk)->n - 1];
    assert_int_equal(lost->kind, TT_EVENT_XRUN);
    assert_int_equal(lost->frame, 166 * 6);
    assert_int_equal(lost->frames, 4 + 200);
    write_frames(rig, 1200);
    assert_int_equal(tt_talk_start(rig->talk, false), 0);
    rig->talk_ns = rig->clock.mono_ns;
    tt_talk_drain(rig->talk);
    run(rig, 20 * TT_NS_PER_MS, true);
    resumed = presented_up_to(rig);
    run(rig, 20 * TT_NS_PER_MS, true);
    assert_int_equal(state_of_talk(rig), TT_DEVICE_DRAINED);
    tt_listen_counters(rig->listen, &heard);
    assert_int_equal(heard.stream.restarts, 1);
    assert_int_equal(heard.stream.resyncs, 1);
    assert_int_equal(heard.stream.pdus_placed, 166 + 200);
    assert_int_equal(heard.stream.frames_lost + heard.stream.frames_late, 0);
    /* Somewhere in the resumed part two neighbours follow each other. */
    assert_int_equal(sample_at(rig, resumed), sample_at(rig, resumed - 1) + 1);
}

static void the_last_pdu_is_padded_and_drained(void **state)
{
    struct rig *rig = *state;
    struct tt_talk_counters counters;

    build(rig, false, 1000);
    write_frames(rig, 1000);
    tt_talk_start(rig->talk, false);
    tt_talk_drain(rig->talk);
    run(rig, 50 * TT_NS_PER_MS, true);
    assert_int_equal(state_of_talk(rig), TT_DEVICE_DRAINED);
    assert_int_equal(sent_up_to(rig), 1000);
    tt_talk_counters(rig->talk, &counters);
    assert_int_equal(counters.pdus_sent, 167);
    assert_int_equal(counters.frames_sent, 1000);
    assert_int_equal(counters.frames_padded, 2);
    assert_int_equal(counters.xruns, 0);
}

static void an_endless_device_sends_silence(void **state)
{
    struct rig *rig = *state;
    struct tt_talk_counters counters;

    build(rig, false, 10000);
    atomic_store(&tt_talk_device(rig->talk)->endless, true);
    write_frames(rig, 100);
    tt_talk_start(rig->talk, false);
    run(rig, 101 * TT_NS_PER_MS, true);
    assert_int_equal(state_of_talk(rig), TT_DEVICE_RUNNING);
    tt_talk_counters(rig->talk, &counters);
    assert_in_range(counters.pdus_sent, 798, 801);
    assert_int_equal(counters.frames_sent, 100);
    assert_int_equal(counters.frames_padded, counters.pdus_sent * 6 - 100);
}

static void a_pause_goes_on_where_it_was(void **state)
{
    struct rig *rig = *state;
    int64_t before;

    build(rig, false, 10000);
    write_frames(rig, BUFFER);
    tt_talk_start(rig->talk, false);
    run(rig, 20 * TT_NS_PER_MS, true);
    tt_talk_stop(rig->talk);
    before = sent_up_to(rig);
    assert_in_range(before, 6 * 145, 6 * 160);
    run(rig, 500 * TT_NS_PER_MS, true);
    assert_int_equal(sent_up_to(rig), before);
    tt_talk_start(rig->talk, false);
    rig->talk_ns = rig->clock.mono_ns;
    run(rig, 20 * TT_NS_PER_MS, true);
    assert_in_range(sent_up_to(rig) - before, 6 * 145, 6 * 160);
    assert_int_equal(state_of_talk(rig), TT_DEVICE_RUNNING);
}

/* ALSA's delay: what is written is heard so many frames later. */
static void delay_counts_down_to_presentation(void **state)
{
    struct rig *rig = *state;
    int64_t latency = RATE / 1000 * 3 + 6; /* start, uncertainty, transit */
    int64_t delay;

    build(rig, false, 10000);
    write_frames(rig, BUFFER);
    assert_int_equal(tt_talk_delay(rig->talk), BUFFER);
    tt_talk_start(rig->talk, false);
    delay = tt_talk_delay(rig->talk);
    assert_in_range(delay, BUFFER + latency - 3, BUFFER + latency + 3);
    run(rig, 50 * TT_NS_PER_MS, true);
    assert_int_equal(tt_talk_delay(rig->talk), delay - RATE / 20);
}

static void launch_times_wait_for_the_program(void **state)
{
    struct rig *rig = *state;
    struct tt_talk_counters counters;

    build(rig, true, 10000);
    write_frames(rig, PERIOD); /* 10 ms, handed over ahead of time */
    tt_talk_start(rig->talk, false);
    run(rig, 8 * TT_NS_PER_MS, true);
    assert_int_equal(state_of_talk(rig), TT_DEVICE_RUNNING);
    assert_int_equal(sent_up_to(rig), PERIOD);
    write_frames(rig, PERIOD); /* in time, though later than the lead */
    run(rig, 15 * TT_NS_PER_MS, true);
    tt_talk_counters(rig->talk, &counters);
    assert_int_equal(counters.pdus_sent, 160);
    assert_int_equal(counters.pdus_late, 0);
    assert_int_equal(rig->closest_ns, 125000);
    assert_int_equal(state_of_talk(rig), TT_DEVICE_XRUN);
    assert_int_equal(tt_talk_notes(rig->talk) & TT_NOTE_SOFTWARE_PACE, 0);
}

static void what_the_link_refuses_is_counted_and_located(void **state)
{
    struct rig *rig = *state;
    struct tt_talk_counters counters;
    const struct tt_event_log *log;
    int64_t refused = 0;

    build(rig, false, 50); /* nobody receives: 50 fit */
    write_frames(rig, 1200);
    tt_talk_start(rig->talk, false);
    tt_talk_drain(rig->talk);
    for (int i = 0; i < 1000 && state_of_talk(rig) == TT_DEVICE_DRAINING; i++) {
        rig->clock.mono_ns = rig->talk_ns > rig->clock.mono_ns ? rig->talk_ns : rig->clock.mono_ns;
        rig->talk_ns = tt_talk_step(rig->talk);
    }
    tt_talk_stop(rig->talk);
    tt_talk_counters(rig->talk, &counters);
    assert_int_equal(counters.pdus_sent, 50);
    assert_int_equal(counters.pdus_refused, 150);
    log = tt_talk_log(rig->talk);
    for (size_t i = 0; i < log->n; i++) {
        refused += log->events[i].kind == TT_EVENT_REFUSED ? log->events[i].frames : 0;
    }
    assert_int_equal(refused, 150 * 6);
}

static void a_slow_recorder_is_an_xrun_and_recovers(void **state)
{
    struct rig *rig = *state;
    struct tt_listen_counters counters;

    build(rig, false, 10000);
    tt_listen_start(rig->listen, false);
    rig->talk_ns = INT64_MAX;
    run(rig, 50 * TT_NS_PER_MS, true);
    run(rig, 99 * TT_NS_PER_MS, false);
    assert_int_equal(state_of_listen(rig), TT_DEVICE_RUNNING);
    run(rig, 10 * TT_NS_PER_MS, false);
    assert_int_equal(state_of_listen(rig), TT_DEVICE_XRUN);
    tt_listen_counters(rig->listen, &counters);
    assert_int_equal(counters.xruns, 1);
    tt_listen_prepare(rig->listen);
    assert_int_equal(presented_up_to(rig),
                     atomic_load(&tt_listen_device(rig->listen)->program_frame));
    tt_listen_start(rig->listen, false);
    rig->listen_ns = rig->clock.mono_ns;
    run(rig, 50 * TT_NS_PER_MS, true);
    assert_int_equal(state_of_listen(rig), TT_DEVICE_RUNNING);
}

static void an_endless_recorder_runs_on(void **state)
{
    struct rig *rig = *state;

    build(rig, false, 10000);
    atomic_store(&tt_listen_device(rig->listen)->endless, true);
    tt_listen_start(rig->listen, false);
    rig->talk_ns = INT64_MAX;
    run(rig, 3 * TT_NS_PER_S, false);
    assert_int_equal(state_of_listen(rig), TT_DEVICE_RUNNING);
    assert_in_range(presented_up_to(rig), 3 * RATE - RATE / 100, 3 * RATE);
}

static int receive_of_gone(struct tt_link *link, struct tt_link_packet *packets, int n)
{
    (void)link;
    (void)packets;
    (void)n;
    return -ENXIO;
}

static void a_deleted_interface_ends_a_recording(void **state)
{
    struct rig *rig = *state;
    const struct tt_link_ops *ops;
    struct tt_link_ops gone;

    build(rig, false, 10000);
    ops = rig->in->ops;
    gone = *ops;
    gone.receive = receive_of_gone;
    write_frames(rig, BUFFER);
    tt_listen_start(rig->listen, false);
    tt_talk_start(rig->talk, false);
    run(rig, 20 * TT_NS_PER_MS, true);
    assert_int_equal(state_of_listen(rig), TT_DEVICE_RUNNING);
    rig->in->ops = &gone;
    run(rig, 20 * TT_NS_PER_MS, true);
    assert_int_equal(state_of_listen(rig), TT_DEVICE_GONE);
    assert_true(tt_listen_notes(rig->listen) & TT_NOTE_LINK_GONE);
    rig->in->ops = ops;
}

/* The talker goes away: the device runs on in silence, or stops where the configuration says so. */
static void absence_is_silence_or_an_xrun(void **state)
{
    for (int stops = 0; stops < 2; stops++) {
        struct rig *rig;
        struct tt_listen_counters counters;

        if (stops == 0) {
            rig = *state;
        } else {
            setup((void **)&rig);
        }
        rig->config.on_absence = stops ? TT_ABSENCE_XRUN : TT_ABSENCE_SILENCE;
        build(rig, false, 10000);
        write_frames(rig, 1200);
        tt_listen_start(rig->listen, false);
        tt_talk_start(rig->talk, false);
        tt_talk_drain(rig->talk);
        run(rig, 900 * TT_NS_PER_MS, true);
        tt_listen_counters(rig->listen, &counters);
        assert_true(counters.talker_present);
        run(rig, 400 * TT_NS_PER_MS, true);
        tt_listen_counters(rig->listen, &counters);
        assert_false(counters.talker_present);
        assert_int_equal(counters.stream.frames_lost + counters.stream.frames_late, 0);
        assert_int_equal(state_of_listen(rig), stops ? TT_DEVICE_XRUN : TT_DEVICE_RUNNING);
        if (stops) {
            teardown((void **)&rig);
        }
    }
}

/* Packets of before the start belong to nobody. */
static void what_arrived_before_the_start_is_dropped(void **state)
{
    struct rig *rig = *state;
    struct tt_listen_counters counters;

    build(rig, false, 10000);
    write_frames(rig, 1200);
    tt_talk_start(rig->talk, false);
    rig->listen_ns = INT64_MAX;
    run(rig, 15 * TT_NS_PER_MS, false);
    tt_listen_start(rig->listen, false);
    rig->listen_ns = rig->clock.mono_ns;
    run(rig, 15 * TT_NS_PER_MS, true);
    tt_listen_counters(rig->listen, &counters);
    assert_in_range(counters.stream.pdus, 80, 95);
    assert_int_equal(counters.stream.pdus_late, 0);
}

/* Nor do they where one told what the stream is: with that one handed over, all of it is there. */
static void what_came_since_a_packet_that_is_handed_over_is_taken(void **state)
{
    struct rig *rig = *state;
    uint8_t data[1600];
    struct tt_link_packet packet = {.data = data, .bytes = sizeof(data)};
    struct tt_listen_counters counters;
    struct tt_engine *engine;
    int64_t at = -1;

    rig->config.mtt_ns = 20 * TT_NS_PER_MS;
    build(rig, false, 10000);
    assert_int_equal(tt_engine_new(&rig->clock.clock, &engine), 0);
    tt_listen_free(rig->listen);
    assert_int_equal(tt_listen_new(&(struct tt_listen_setup){.config = &rig->config,
                                                             .link = rig->in,
                                                             .clock = &rig->clock.clock,
                                                             .engine = engine,
                                                             .buffer_frames = BUFFER,
                                                             .period_frames = PERIOD},
                                   &rig->listen),
                     0);
    write_frames(rig, 1200);
    tt_talk_start(rig->talk, false);
    rig->listen_ns = INT64_MAX;
    run(rig, 15 * TT_NS_PER_MS, false);
    assert_int_equal(rig->in->ops->receive(rig->in, &packet, 1), 1);
    assert_int_equal(tt_engine_hand(engine, rig->in, &packet), 0);
    memset(data, 0, sizeof(data)); /* it was copied */
    tt_listen_start(rig->listen, false);
    rig->listen_ns = rig->clock.mono_ns;
    tt_talk_drain(rig->talk);
    run(rig, 60 * TT_NS_PER_MS, false);
    tt_listen_counters(rig->listen, &counters);
    assert_int_equal(counters.stream.pdus_placed, 200);
    assert_int_equal(counters.stream.frames_lost + counters.stream.frames_late, 0);
    while (sample_at(rig, ++at) == 0) {
        assert_true(at < presented_up_to(rig));
    }
    for (int i = 0; i < 1200; i++) {
        assert_int_equal(sample_at(rig, at + i), i + 1);
    }
    tt_listen_free(rig->listen);
    rig->listen = NULL;
    tt_engine_free(engine);
}

/* Many small PDUs and a thread that comes late: what arrived in time is not late. */
static void a_long_backlog_is_taken_in_its_own_time(void **state)
{
    struct rig *rig = *state;
    struct tt_listen_counters counters;

    rig->config.frames_per_pdu = 1;
    rig->config.mtt_ns = 10 * TT_NS_PER_MS;
    build(rig, false, 10000);
    write_frames(rig, BUFFER);
    tt_listen_start(rig->listen, false);
    tt_talk_start(rig->talk, false);
    tt_talk_drain(rig->talk);
    run(rig, 5 * TT_NS_PER_MS, true);
    rig->listen_ns += 95 * TT_NS_PER_MS; /* more than 4096 packets */
    run(rig, 200 * TT_NS_PER_MS, true);
    assert_int_equal(state_of_listen(rig), TT_DEVICE_RUNNING);
    tt_listen_counters(rig->listen, &counters);
    assert_int_equal(counters.stream.pdus_placed, BUFFER);
    assert_int_equal(counters.stream.frames_lost + counters.stream.frames_late, 0);
}

/* Stamps in UTC on both ends, and the kernel learns its TAI offset while the stream runs. */
static void utc_stamps(void **state)
{
    struct rig *rig = *state;
    struct tt_listen_counters counters;
    int64_t presentation_ns;

    rig->config.timescale = TT_TIMESCALE_UTC;
    build(rig, false, 10000);
    write_frames(rig, BUFFER);
    tt_listen_start(rig->listen, false);
    tt_talk_start(rig->talk, false);
    presentation_ns =
        tt_talk_log(rig->talk)->events[0].time_tai_ns + TT_NS_PER_MS + 125000 + 2 * TT_NS_PER_MS;
    run(rig, 30 * TT_NS_PER_MS, true);
    assert_int_equal(rig->first_stamp, (uint32_t)(presentation_ns - 37 * TT_NS_PER_S));
    tt_listen_counters(rig->listen, &counters);
    assert_in_range(counters.stream.pdus_placed, 200, 240);
    assert_int_equal(tt_talk_notes(rig->talk) & TT_NOTE_TAI_UNSET, 0);

    rig->clock.tai_offset_s = 0; /* TAI steps back, UTC does not */
    rig->clock.tai_minus_mono_ns -= 37 * TT_NS_PER_S;
    run(rig, 30 * TT_NS_PER_MS, true);
    tt_listen_counters(rig->listen, &counters);
    assert_in_range(counters.stream.pdus_placed, 430, 480);
    assert_in_range(counters.stream.frames_lost + counters.stream.frames_late, 0, RATE / 500);
}

/* An unset TAI offset is noted, but not where nobody needs it. */
static void an_unset_tai_offset_is_noted(void **state)
{
    struct rig *rig = *state;
    struct tt_talk *talk;
    struct tt_talk_setup setup_of_talk;

    build(rig, false, 10);
    assert_int_equal(tt_talk_notes(rig->talk) & TT_NOTE_TAI_UNSET, 0);
    rig->clock.tai_offset_s = 0;
    setup_of_talk = (struct tt_talk_setup){.config = &rig->config,
                                           .link = rig->out,
                                           .clock = &rig->clock.clock,
                                           .buffer_frames = BUFFER};
    assert_int_equal(tt_talk_new(&setup_of_talk, &talk), 0);
    assert_int_not_equal(tt_talk_notes(talk) & TT_NOTE_TAI_UNSET, 0);
    tt_talk_free(talk);
    rig->config.timescale = TT_TIMESCALE_UTC;
    assert_int_equal(tt_talk_new(&setup_of_talk, &talk), 0);
    assert_int_equal(tt_talk_notes(talk) & TT_NOTE_TAI_UNSET, 0);
    tt_talk_free(talk);
}

static void launch_times_are_drained_when_they_are_past(void **state)
{
    struct rig *rig = *state;
    int64_t start_ns;

    build(rig, true, 1000);
    write_frames(rig, 96); /* 2 ms */
    tt_talk_start(rig->talk, false);
    start_ns = rig->clock.mono_ns;
    tt_talk_drain(rig->talk);
    while (state_of_talk(rig) == TT_DEVICE_DRAINING) {
        rig->clock.mono_ns = rig->talk_ns > rig->clock.mono_ns ? rig->talk_ns : rig->clock.mono_ns;
        assert_true(rig->clock.mono_ns - start_ns < 20 * TT_NS_PER_MS);
        rig->talk_ns = tt_talk_step(rig->talk);
    }
    assert_int_equal(rig->departed, 16);
    assert_true(rig->clock.mono_ns + rig->clock.tai_minus_mono_ns >= rig->last_departure_ns);
}

/* 592 us on a wire of 1 Mbit/s: what is presented before it has crossed is not sent. */
static void the_time_on_the_wire_counts(void **state)
{
    struct rig *rig = *state;
    struct tt_talk_counters counters;

    rig->speed_mbps = 1;
    build(rig, false, 1000);
    write_frames(rig, 600);
    tt_talk_start(rig->talk, false);
    run(rig, TT_NS_PER_MS + 130 * TT_NS_PER_US, true);
    rig->clock.mono_ns += 1600 * TT_NS_PER_US;
    tt_talk_step(rig->talk);
    tt_talk_counters(rig->talk, &counters);
    assert_int_equal(counters.pdus_dropped, 1);
}

static uint64_t five_once(struct tt_link *link)
{
    static unsigned calls;

    (void)link;
    calls++;
    return calls == 1 ? 7 : calls == 2 ? 5 : 0; /* the first, before the start, is not counted */
}

static void what_the_socket_lost_is_counted(void **state)
{
    struct rig *rig = *state;
    struct tt_listen_counters counters;
    struct tt_link_ops ops;
    const struct tt_link_ops *before;

    build(rig, false, 1000);
    before = rig->in->ops;
    ops = *before;
    ops.receive_drops = five_once;
    rig->in->ops = &ops;
    tt_listen_start(rig->listen, false);
    rig->talk_ns = INT64_MAX;
    run(rig, 20 * TT_NS_PER_MS, true);
    tt_listen_counters(rig->listen, &counters);
    assert_int_equal(counters.receive_drops, 5);
    tt_listen_stop(rig->listen);
    rig->in->ops = before;
}

/* The link goes away: what was not sent is not counted as sent. */
static void frames_refused_are_not_frames_sent(void **state)
{
    struct rig *rig = *state;
    struct tt_talk_counters counters;

    build(rig, false, 20);
    write_frames(rig, 600);
    rig->listen_ns = INT64_MAX;
    tt_talk_start(rig->talk, false);
    tt_talk_drain(rig->talk);
    run(rig, 50 * TT_NS_PER_MS, false);
    tt_talk_counters(rig->talk, &counters);
    assert_int_equal(counters.pdus_sent, 20);
    assert_int_equal(counters.pdus_refused, 80);
    assert_int_equal(counters.frames_sent, 120);
}

static int down_for; /* calls */

static int send_when_up(struct tt_link *link, const struct tt_link_packet *packets, int n)
{
    (void)link;
    (void)packets;
    return down_for-- > 0 ? -ENETDOWN : n;
}

/* A cable pulled for a moment says nothing of launch times: the kernel keeps them afterwards. */
static void a_link_down_does_not_end_kernel_pacing(void **state)
{
    struct rig *rig = *state;
    struct tt_talk_counters counters;
    struct tt_link_ops ops;
    const struct tt_link_ops *before;

    build(rig, true, 1000);
    before = rig->out->ops;
    ops = *before;
    ops.send = send_when_up;
    rig->out->ops = &ops;
    down_for = 40;
    write_frames(rig, BUFFER);
    rig->listen_ns = INT64_MAX;
    tt_talk_start(rig->talk, false);
    run(rig, 90 * TT_NS_PER_MS, false);
    tt_talk_counters(rig->talk, &counters);
    assert_in_range(counters.pdus_refused, 100, 200);
    assert_true(rig->out->keeps_launch_times);
    assert_int_equal(tt_talk_notes(rig->talk) & (TT_NOTE_LINK_DOWN | TT_NOTE_LAUNCH_REFUSED),
                     TT_NOTE_LINK_DOWN);
    rig->out->ops = before;
}

static int refuse_second(struct tt_link *link, const struct tt_link_packet *packets, int n)
{
    (void)link;
    (void)packets;
    (void)n;
    return down_for++ == 0 ? 1 : down_for == 2 ? n : -ENOBUFS;
}

/* One packet that is refused does not take the rest of its batch with it. */
static void one_refusal_is_one(void **state)
{
    struct tt_link_ops ops = {.send = refuse_second};
    struct tt_link link = {.ops = &ops};
    struct tt_link_packet packets[5] = {{.bytes = 1}};
    bool refused[5];

    (void)state;
    down_for = 0; /* takes the first, tried the second, then takes the other three */
    assert_int_equal(tt_send_batch(&link, packets, 5, refused), 0);
    assert_false(refused[0]);
    assert_true(refused[1]);
    assert_false(refused[2] || refused[3] || refused[4]);
}

/* A lead that is shorter than what the qdisc needs is raised: nothing is late for that. */
static void a_short_lead_is_raised(void **state)
{
    struct rig *rig = *state;
    struct tt_talk_counters counters;

    rig->config.launch_lead_ns = 100 * TT_NS_PER_US; /* the rig's qdisc releases 300 us ahead */
    build(rig, true, 1000);
    write_frames(rig, BUFFER);
    tt_talk_start(rig->talk, false);
    run(rig, 50 * TT_NS_PER_MS, true);
    tt_talk_counters(rig->talk, &counters);
    assert_true(counters.pdus_sent > 380);
    assert_int_equal(counters.pdus_late + counters.pdus_dropped, 0);
    assert_int_equal(rig->closest_ns, 125000);
}

static int refuse_all(struct tt_link *link, const struct tt_link_packet *packets, int n)
{
    (void)link;
    (void)packets;
    (void)n;
    return -ENOBUFS;
}

static unsigned collected;

/* The kernel reports the first of the packets that it had taken. */
static int report_one(struct tt_link *link, struct tt_link_errors *errors)
{
    (void)link;
    errors->located = 0;
    if (collected++ == 0) {
        errors->launch_missed++;
        return 1;
    }
    return 0;
}

/* Software keeps the time of what follows; of what the kernel took before, it may still report. */
static void after_a_fallback_the_last_reports_are_read(void **state)
{
    struct rig *rig = *state;
    struct tt_talk_counters counters;
    static struct tt_link_ops ops; /* the teardown may still need it */
    const struct tt_link_ops *before;

    build(rig, true, 1000);
    before = rig->out->ops;
    ops = *before;
    rig->out->ops = &ops;
    write_frames(rig, BUFFER);
    rig->listen_ns = INT64_MAX;
    tt_talk_start(rig->talk, false);
    run(rig, 10 * TT_NS_PER_MS, false);
    ops.send = refuse_all;
    while (!(tt_talk_notes(rig->talk) & TT_NOTE_LAUNCH_REFUSED)) {
        run(rig, TT_NS_PER_MS / 10, false);
    }
    ops = *before;
    ops.collect_errors = report_one;
    collected = 0;
    run(rig, 10 * TT_NS_PER_MS, false);
    assert_true(collected > 0);
    tt_talk_counters(rig->talk, &counters);
    assert_int_equal(counters.launch_missed, 1);
    collected = 1;
    run(rig, 10 * TT_NS_PER_MS, false);
    assert_int_equal(collected, 1); /* there is nothing to come any more */
    rig->out->ops = before;
}

/* The last packets are on their way while TAI steps: the drain ends when they leave. */
static void a_drain_ends_on_time_when_tai_steps(void **state)
{
    struct rig *rig = *state;
    int64_t stepped_ns;

    build(rig, true, 1000);
    write_frames(rig, 96); /* 2 ms */
    rig->listen_ns = INT64_MAX;
    tt_talk_start(rig->talk, false);
    tt_talk_drain(rig->talk);
    while (sent_up_to(rig) < 96) {
        run(rig, TT_NS_PER_MS / 10, false);
    }
    assert_int_equal(state_of_talk(rig), TT_DEVICE_DRAINING);
    rig->clock.tai_minus_mono_ns -= 37 * TT_NS_PER_S;
    stepped_ns = rig->clock.mono_ns;
    while (state_of_talk(rig) == TT_DEVICE_DRAINING) {
        run(rig, TT_NS_PER_MS / 10, false);
        assert_true(rig->clock.mono_ns - stepped_ns < 20 * TT_NS_PER_MS);
    }
}

/* What is complete before the start ends where it ends, whoever steps when. */
static void a_drain_before_the_start_holds(void **state)
{
    struct rig *rig = *state;
    struct tt_talk_counters counters;

    build(rig, false, 1000);
    atomic_store(&tt_talk_device(rig->talk)->endless, true);
    write_frames(rig, 8);
    tt_talk_drain(rig->talk);
    tt_talk_start(rig->talk, false);
    run(rig, 50 * TT_NS_PER_MS, false);
    assert_int_equal(state_of_talk(rig), TT_DEVICE_DRAINED);
    tt_talk_counters(rig->talk, &counters);
    assert_int_equal(counters.pdus_sent, 2);
    assert_int_equal(counters.xruns, 0);
    tt_talk_prepare(rig->talk); /* once */
    write_frames(rig, 8);
    tt_talk_start(rig->talk, false);
    run(rig, 50 * TT_NS_PER_MS, false);
    assert_int_equal(state_of_talk(rig), TT_DEVICE_RUNNING);
}

static void miss_the_last(void *context, uint64_t index, uint8_t *data, size_t bytes,
                          struct tt_loop_fate *fate)
{
    (void)context;
    (void)data;
    (void)bytes;
    fate->launch_missed = index == 166;
}

/* What is counted of a PDU that the kernel dropped is taken back, its padding too. */
static void a_padded_pdu_that_was_missed_is_taken_back(void **state)
{
    struct rig *rig = *state;
    struct tt_talk_counters counters;
    const struct tt_event_log *log;

    rig->fate = miss_the_last;
    build(rig, true, 1000);
    write_frames(rig, 1000); /* 166 PDUs, and one of four frames */
    rig->listen_ns = INT64_MAX;
    tt_talk_start(rig->talk, false);
    tt_talk_drain(rig->talk);
    run(rig, 50 * TT_NS_PER_MS, false);
    tt_talk_counters(rig->talk, &counters);
    assert_int_equal(counters.pdus_sent, 166);
    assert_int_equal(counters.pdus_refused, 1);
    assert_int_equal(counters.frames_sent, 996);
    assert_int_equal(counters.frames_padded, 0);
    log = tt_talk_log(rig->talk);
    assert_int_equal(log->events[log->n - 1].kind, TT_EVENT_REFUSED);
    assert_int_equal(log->events[log->n - 1].frame, 996);
    assert_int_equal(log->events[log->n - 1].frames, 4);
}

/* Silence while the program does not write: the device runs, and what comes later is heard later.
 */
static void an_underrun_may_be_silence(void **state)
{
    struct rig *rig = *state;
    struct tt_talk_counters counters;
    const struct tt_event_log *log;

    rig->config.on_underrun = TT_UNDERRUN_SILENCE;
    build(rig, false, 10000);
    write_frames(rig, 1000);
    tt_listen_start(rig->listen, false);
    tt_talk_start(rig->talk, false);
    for (int i = 0; i < 5; i++) {
        run(rig, 30 * TT_NS_PER_MS, true);
        assert_int_equal(state_of_talk(rig), TT_DEVICE_RUNNING);
        assert_int_equal(sent_up_to(rig), 1000);
        /* What is written now goes into the next PDU, which is heard after its transit. */
        assert_in_range(tt_talk_delay(rig->talk), RATE / 500, RATE / 500 + 6);
    }
    write_frames(rig, 1200);
    run(rig, 30 * TT_NS_PER_MS, true);
    tt_talk_counters(rig->talk, &counters);
    assert_int_equal(counters.underruns, 2); /* until it wrote, and after that */
    assert_int_equal(counters.xruns, 0);
    assert_int_equal(sent_up_to(rig), 2200);
    tt_talk_stop(rig->talk);
    log = tt_talk_log(rig->talk); /* the start, and silence at two places */
    assert_int_equal(log->n, 3);
    assert_int_equal(log->events[1].kind, TT_EVENT_SILENCE);
    assert_int_equal(log->events[1].frame, 1000);
    assert_int_equal(log->events[2].frame, 2200);
    assert_int_equal(log->events[1].frames + log->events[2].frames, counters.frames_inserted);
    assert_int_equal(tt_talk_start(rig->talk, false), 0);
    rig->talk_ns = rig->clock.mono_ns;
    run(rig, 30 * TT_NS_PER_MS, true);
    tt_talk_counters(rig->talk, &counters);
    assert_int_equal(counters.underruns, 3); /* of a new start */
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(an_underrun_is_an_xrun_and_recovers),
        TEST(the_last_pdu_is_padded_and_drained),
        TEST(an_endless_device_sends_silence),
        TEST(a_pause_goes_on_where_it_was),
        TEST(delay_counts_down_to_presentation),
        TEST(launch_times_wait_for_the_program),
        TEST(what_the_link_refuses_is_counted_and_located),
        TEST(a_slow_recorder_is_an_xrun_and_recovers),
        TEST(an_endless_recorder_runs_on),
        TEST(absence_is_silence_or_an_xrun),
        TEST(a_deleted_interface_ends_a_recording),
        TEST(what_arrived_before_the_start_is_dropped),
        TEST(what_came_since_a_packet_that_is_handed_over_is_taken),
        TEST(a_long_backlog_is_taken_in_its_own_time),
        TEST(utc_stamps),
        TEST(an_unset_tai_offset_is_noted),
        TEST(launch_times_are_drained_when_they_are_past),
        TEST(the_time_on_the_wire_counts),
        TEST(what_the_socket_lost_is_counted),
        TEST(frames_refused_are_not_frames_sent),
        TEST(a_link_down_does_not_end_kernel_pacing),
        cmocka_unit_test(one_refusal_is_one),
        TEST(a_short_lead_is_raised),
        TEST(after_a_fallback_the_last_reports_are_read),
        TEST(a_drain_ends_on_time_when_tai_steps),
        TEST(a_drain_before_the_start_holds),
        TEST(a_padded_pdu_that_was_missed_is_taken_back),
        TEST(an_underrun_may_be_silence),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
