/*
 * Many streams in one engine, over one link, in virtual time: what a process of many talkers and
 * one of many listeners do. Each sample says its stream and its frame, so that what is in a buffer
 * is checked without a recording.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/bytes.h"
#include "base/ns.h"
#include "malloc_trap.h"
#include "os/link_loop.h"
#include "run/engine.h"
#include "run/listen.h"
#include "run/talk.h"
#include "test.h"

#define STREAMS_MAX 80
#define BUFFER      9600
#define PERIOD      960

struct stream {
    struct tt_stream_config config;
    struct tt_talk *talk;
    struct tt_listen *listen;
    int64_t written;
    int64_t read;
    int64_t heard; /* frames that were the talker's */
    int64_t next;  /* the source frame that comes next, once one was heard */
};

struct many {
    struct tt_clock_script clock;
    struct tt_link *out;
    struct tt_link *in;
    struct tt_engine *talkers;
    struct tt_engine *listeners;
    struct stream streams[STREAMS_MAX];
    size_t n;
    uint64_t random;
    unsigned loss_per_mille;
    uint64_t lost;
    int64_t last_due_ns; /* of what departed */
    unsigned out_of_order;
};

/* Never 0: silence is told from sound. */
static uint16_t sample_of(size_t stream, int64_t frame)
{
    return (uint16_t)(1 + (frame * 7 + (int64_t)stream * 1009) % 65521);
}

static void on_fate(void *context, uint64_t index, uint8_t *data, size_t bytes,
                    struct tt_loop_fate *fate)
{
    struct many *many = context;

    (void)index, (void)data, (void)bytes;
    fate->lost = random_next(&many->random) % 1000 < many->loss_per_mille;
    many->lost += fate->lost;
}

/* Where the stream's departures lie in its interval: sixteen at a time, midway between earlier
 * ones.
 */
static int64_t turn_ns(const struct stream *stream, size_t i)
{
    static const int eighths[STREAMS_MAX / 16] = {0, 4, 2, 6, 1};
    int64_t interval_ns =
        (int64_t)stream->config.frames_per_pdu * TT_NS_PER_S / stream->config.rate_hz;

    return interval_ns * eighths[i / 16] / 8;
}

/* All have one mtt, so that the stamps and the turns tell the due times. */
static void on_departure(void *context, const uint8_t *data, size_t bytes, int64_t departure_tai_ns)
{
    struct many *many = context;
    size_t i = data[14 + 11]; /* the last byte of the stream ID */
    int64_t due_ns = departure_tai_ns +
                     (int32_t)(tt_get_be32(data + 14 + 12) - (uint32_t)departure_tai_ns) +
                     turn_ns(&many->streams[i], i);

    (void)bytes;
    many->out_of_order += due_ns < many->last_due_ns;
    many->last_due_ns = due_ns;
}

static void make_config(struct stream *stream, size_t i, uint32_t rate_hz, unsigned frames_per_pdu)
{
    stream->config = (struct tt_stream_config){
        .dest = {0x91, 0xE0, 0xF0, 0, (uint8_t)(i / 256), (uint8_t)i},
        .stream_id = UINT64_C(0x0200000000010000) + i,
        .format = TT_AAF_INT16,
        .rate_hz = rate_hz,
        .channels = 1,
        .frames_per_pdu = frames_per_pdu,
        .vlan_id = -1,
        .mtt_ns = 2 * TT_NS_PER_MS,
        .time_uncertainty_ns = 125000,
        .ptime_tolerance_ns = 100000,
        .launch_lead_ns = 5 * TT_NS_PER_MS,
    };
}

static void add_stream(struct many *many, uint32_t rate_hz, unsigned frames_per_pdu)
{
    size_t i = many->n++;
    struct stream *stream = &many->streams[i];

    make_config(stream, i, rate_hz, frames_per_pdu);
    assert_int_equal(tt_talk_new(&(struct tt_talk_setup){.config = &stream->config,
                                                         .link = many->out,
                                                         .engine = many->talkers,
                                                         .buffer_frames = BUFFER},
                                 &stream->talk),
                     0);
    assert_int_equal(tt_listen_new(&(struct tt_listen_setup){.config = &stream->config,
                                                             .link = many->in,
                                                             .engine = many->listeners,
                                                             .buffer_frames = BUFFER,
                                                             .period_frames = PERIOD,
                                                             .horizon_ns = 50 * TT_NS_PER_MS,
                                                             .event_capacity = 100},
                                   &stream->listen),
                     0);
    atomic_store(&tt_listen_device(stream->listen)->wake_frames, PERIOD);
}

static void build(struct many *many, uint64_t seed)
{
    struct tt_loop_setup loop = {.clock = &many->clock,
                                 .mtu_bytes = 1500,
                                 .fate = on_fate,
                                 .departure = on_departure,
                                 .context = many,
                                 .capacity = 4096};

    memset(many, 0, sizeof *many);
    many->random = seed;
    tt_clock_script_init(&many->clock, 50 * TT_NS_PER_S, INT64_C(1790000000) * TT_NS_PER_S);
    assert_int_equal(tt_link_loop_new(&loop, &many->out, &many->in), 0);
    assert_int_equal(tt_engine_new(&many->clock.clock, &many->talkers), 0);
    assert_int_equal(tt_engine_new(&many->clock.clock, &many->listeners), 0);
}

static void tear_down(struct many *many)
{
    for (size_t i = 0; i < many->n; i++) {
        tt_talk_free(many->streams[i].talk);
        tt_listen_free(many->streams[i].listen);
    }
    tt_engine_free(many->talkers);
    tt_engine_free(many->listeners);
    tt_link_close(many->out);
    tt_link_close(many->in);
}

static void feed(struct many *many, size_t i)
{
    struct stream *stream = &many->streams[i];
    int64_t end = atomic_load(&tt_talk_device(stream->talk)->engine_frame) + BUFFER;
    static uint16_t samples[BUFFER];
    struct tt_pcm_area area = {.first = (uint8_t *)samples, .step_bytes = 2};

    for (int64_t f = stream->written; f < end; f++) {
        tt_put_be16((uint8_t *)&samples[f - stream->written], sample_of(i, f));
    }
    tt_talk_write(stream->talk, stream->written, TT_PCM_S16_BE, &area,
                  (size_t)(end - stream->written));
    stream->written = end;
}

/* What was heard is the source, one frame after the other; what is missing is silence as long. */
static void drain(struct many *many, size_t i)
{
    struct stream *stream = &many->streams[i];
    int64_t end = atomic_load(&tt_listen_device(stream->listen)->engine_frame);
    static uint16_t samples[BUFFER];
    struct tt_pcm_area area = {.first = (uint8_t *)samples, .step_bytes = 2};

    assert_true(end - stream->read <= BUFFER);
    tt_listen_read(stream->listen, stream->read, TT_PCM_S16_BE, &area,
                   (size_t)(end - stream->read));
    for (int64_t f = 0; f < end - stream->read; f++) {
        uint16_t sample = tt_get_be16((uint8_t *)&samples[f]);

        if (sample == 0) {
            stream->next += stream->heard > 0;
            continue;
        }
        if (stream->heard == 0) {
            while (sample_of(i, stream->next) != sample) {
                assert_true(stream->next++ < BUFFER);
            }
        }
        assert_int_equal(sample, sample_of(i, stream->next));
        stream->next++;
        stream->heard++;
    }
    stream->read = end;
}

/* Every wake-up comes up to late_ns late. */
static void run(struct many *many, int64_t for_ns, int64_t late_ns)
{
    int64_t end_ns = many->clock.mono_ns + for_ns;
    int64_t program_ns = many->clock.mono_ns;
    int64_t talk_ns = many->clock.mono_ns;
    int64_t listen_ns = many->clock.mono_ns;

    while (many->clock.mono_ns < end_ns) {
        int64_t next_ns = program_ns < talk_ns ? program_ns : talk_ns;

        next_ns = listen_ns < next_ns ? listen_ns : next_ns;
        many->clock.mono_ns = next_ns > many->clock.mono_ns ? next_ns : many->clock.mono_ns;
        if (next_ns == program_ns) {
            for (size_t i = 0; i < many->n; i++) {
                feed(many, i);
                drain(many, i);
            }
            program_ns += 5 * TT_NS_PER_MS;
        } else if (next_ns == talk_ns) {
            tt_trap_arm();
            talk_ns = tt_engine_step(many->talkers);
            tt_trap_disarm();
            talk_ns += late_ns > 0 ? (int64_t)random_below(&many->random, (uint64_t)late_ns) : 0;
        } else {
            tt_trap_arm();
            listen_ns = tt_engine_step(many->listeners);
            tt_trap_disarm();
        }
    }
}

static void start(struct many *many)
{
    for (size_t i = 0; i < many->n; i++) {
        feed(many, i);
    }
    assert_int_equal(tt_engine_start(many->listeners, false), 0);
    assert_int_equal(tt_engine_start(many->talkers, false), 0);
}

static void stop(struct many *many)
{
    tt_engine_stop(many->talkers);
    many->clock.mono_ns += 10 * TT_NS_PER_MS;
    tt_engine_stop(many->listeners);
}

/* `n` streams; so many wake-ups in an interval are due, and each is one call. */
static void share(int n, unsigned turns)
{
    static struct many many;
    struct tt_engine_counters talkers;
    struct tt_engine_counters listeners;
    uint64_t received = 0;

    build(&many, 1);
    for (int i = 0; i < n; i++) {
        add_stream(&many, 48000, 6);
    }
    start(&many);
    run(&many, TT_NS_PER_S, 7 * TT_NS_PER_US);
    stop(&many);
    talkers = tt_engine_counters(many.talkers);
    listeners = tt_engine_counters(many.listeners);
    for (size_t i = 0; i < many.n; i++) {
        struct tt_listen_counters counters;

        tt_listen_counters(many.streams[i].listen, &counters);
        received += counters.packets;
        assert_true(counters.stream.pdus >= 7980 && counters.stream.pdus <= 8000);
        assert_int_equal(counters.stream.frames_lost + counters.stream.frames_late, 0);
        assert_true(many.streams[i].heard > 40000);
    }
    assert_in_range(talkers.steps, turns * 7900, turns * 8100);
    assert_in_range(talkers.send_calls, talkers.steps - turns * 10, talkers.steps);
    assert_int_equal(many.out_of_order, 0);
    assert_true(listeners.receive_calls * (n < 32 ? (unsigned)n / 2 : 32) < received);
    assert_int_equal(listeners.packets_other, 0);
    tear_down(&many);
}

static void share_wake_ups_and_calls(void **state)
{
    (void)state;
    share(16, 1);
    share(70, 5);
}

static void keep_their_own_grids(void **state)
{
    static struct many many;
    struct tt_engine_counters talkers;

    (void)state;
    build(&many, 2);
    for (int i = 0; i < 10; i++) {
        add_stream(&many, 48000, 6);
        add_stream(&many, 44100, 6);
        add_stream(&many, 96000, 12);
    }
    start(&many);
    run(&many, 2 * TT_NS_PER_S, 0);
    stop(&many);
    talkers = tt_engine_counters(many.talkers);
    assert_int_equal(many.out_of_order, 0);
    /* Two turns; in each 48 and 96 kHz share theirs (8000 a second), 44.1 kHz has its own (7350),
     * and now and then they meet. */
    assert_true(talkers.steps > 2 * 2 * 15250 && talkers.steps <= 2 * 2 * 15350);
    for (size_t i = 0; i < many.n; i++) {
        struct tt_talk_counters counters;
        struct tt_summary lateness;

        tt_talk_counters(many.streams[i].talk, &counters);
        tt_hist_summarize(tt_talk_lateness(many.streams[i].talk), &lateness);
        assert_int_equal(lateness.max, 0);
        assert_int_equal(counters.pdus_sent, lateness.n);
        assert_true(many.streams[i].heard > many.streams[i].config.rate_hz * 19 / 10);
    }
    tear_down(&many);
}

static void lose_only_their_own(void **state)
{
    (void)state;
    for (uint64_t seed = 10; seed < 20; seed++) {
        static struct many many;
        uint64_t frames = 0;

        build(&many, seed);
        many.loss_per_mille = 10;
        for (int i = 0; i < 12; i++) {
            add_stream(&many, i % 3 == 0 ? 44100 : 48000, 6);
        }
        start(&many);
        run(&many, TT_NS_PER_S, 60 * TT_NS_PER_US);
        stop(&many);
        for (size_t i = 0; i < many.n; i++) {
            struct tt_listen_counters counters;

            tt_listen_counters(many.streams[i].listen, &counters);
            frames += counters.stream.frames_lost;
        }
        /* A PDU that was lost first or last is not known to have been sent. */
        assert_in_range(frames, (many.lost - many.n * 5) * 6, many.lost * 6);
        tear_down(&many);
    }
}

static void step_together(void **state)
{
    static struct many many;
    struct tt_engine_counters talkers;

    (void)state;
    build(&many, 5);
    for (int i = 0; i < 12; i++) {
        add_stream(&many, 48000, 6);
    }
    start(&many);
    run(&many, TT_NS_PER_S / 2, 60 * TT_NS_PER_US);
    many.clock.tai_minus_mono_ns -= 37 * TT_NS_PER_S;
    many.last_due_ns = INT64_MIN;
    run(&many, TT_NS_PER_S / 2, 60 * TT_NS_PER_US);
    stop(&many);
    talkers = tt_engine_counters(many.talkers);
    assert_true(talkers.steps <= 8100);
    assert_int_equal(many.out_of_order, 0);
    for (size_t i = 0; i < many.n; i++) {
        struct tt_talk_counters talk;
        struct tt_listen_counters listen;

        tt_talk_counters(many.streams[i].talk, &talk);
        tt_listen_counters(many.streams[i].listen, &listen);
        assert_int_equal(talk.clock_steps, 1);
        assert_int_equal(listen.clock_steps, 1);
        assert_true(talk.pdus_sent > 7980);
        /* All but what was on its way, with the stamps of before. */
        assert_true(many.streams[i].heard > 47000);
    }
    tear_down(&many);
}

static void go_and_come(void **state)
{
    static struct many many;
    struct stream *gone;
    struct tt_listen_counters counters;
    struct tt_engine_counters listeners;

    (void)state;
    build(&many, 3);
    for (int i = 0; i < 40; i++) {
        add_stream(&many, 48000, 6);
    }
    start(&many);
    run(&many, TT_NS_PER_S / 10, 0);
    stop(&many);
    gone = &many.streams[7];
    tt_listen_free(gone->listen);
    gone->listen = NULL;
    assert_int_equal(tt_engine_start(many.listeners, false), 0);
    assert_int_equal(tt_engine_start(many.talkers, false), 0);
    for (int64_t end_ns = many.clock.mono_ns + 20 * TT_NS_PER_MS; many.clock.mono_ns < end_ns;) {
        many.clock.mono_ns = tt_engine_step(many.talkers);
        tt_engine_step(many.listeners);
    }
    stop(&many);
    listeners = tt_engine_counters(many.listeners);
    assert_true(listeners.packets_other > 100);
    for (size_t i = 0; i < many.n; i++) {
        if (many.streams[i].listen) {
            tt_listen_counters(many.streams[i].listen, &counters);
            assert_true(counters.packets > 900);
        }
    }
    tear_down(&many);
}

static void refuse_a_stream_twice(void **state)
{
    static struct many many;
    struct tt_listen *second = NULL;

    (void)state;
    build(&many, 4);
    add_stream(&many, 48000, 6);
    assert_int_equal(tt_listen_new(&(struct tt_listen_setup){.config = &many.streams[0].config,
                                                             .link = many.in,
                                                             .engine = many.listeners,
                                                             .buffer_frames = BUFFER,
                                                             .period_frames = PERIOD},
                                   &second),
                     -EEXIST);
    assert_null(second);
    start(&many);
    run(&many, TT_NS_PER_S / 10, 0);
    stop(&many);
    assert_true(many.streams[0].heard > 3000);
    tear_down(&many);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(share_wake_ups_and_calls),
        cmocka_unit_test(keep_their_own_grids),
        cmocka_unit_test(lose_only_their_own),
        cmocka_unit_test(step_together),
        cmocka_unit_test(go_and_come),
        cmocka_unit_test(refuse_a_stream_twice),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
