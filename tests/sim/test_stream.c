/*
 * End to end in virtual time: every frame of the source is in the recording, bit for bit, or lies
 * where the packets' own fates say that it cannot be, and is counted there.
 */
#include <stdio.h>
#include <string.h>

#include "base/ns.h"
#include "run/launch.h"
#include "sim.h"
#include "test.h"

static const uint8_t *recorded(const struct sim_result *r, int64_t position)
{
    return r->recording + (size_t)position * r->frame_bytes;
}

static const uint8_t *sent(const struct sim_result *r, int64_t frame)
{
    return r->source + (size_t)frame * r->frame_bytes;
}

static void fail_case(const struct sim_case *c, const char *what, int64_t where)
{
    fail_msg("seed %llu: %s at %lld (of random_faults: in words by test_sim_stream --seed %llu)",
             (unsigned long long)c->seed, what, (long long)where, (unsigned long long)c->seed);
}

/* Silence before, the whole source at one place, silence after. */
static void check_exact(const struct sim_case *c, const struct sim_result *r)
{
    if (r->start == INT64_MIN) {
        fail_case(c, "never placed", 0);
    }
    assert_true(r->start >= 0 && r->start + c->frames <= r->recorded);
    for (int64_t p = 0; p < r->recorded; p++) {
        int64_t f = p - r->start;

        if (f >= 0 && f < c->frames) {
            if (memcmp(recorded(r, p), sent(r, f), r->frame_bytes) != 0) {
                fail_case(c, "a frame differs", f);
            }
        } else {
            for (size_t b = 0; b < r->frame_bytes; b++) {
                if (recorded(r, p)[b] != 0) {
                    fail_case(c, "not silent outside the source", p);
                }
            }
        }
    }
    assert_int_equal(r->listen.stream.frames_lost, 0);
    assert_int_equal(r->listen.stream.frames_late, 0);
    assert_int_equal(r->talk.pdus_dropped, 0);
    assert_int_equal(r->talk.xruns, 0);
    assert_int_equal(r->talk.frames_sent, c->frames);
}

/* The device ran as long as the media time that passed. */
static void check_device_time(const struct sim_case *c, const struct sim_result *r)
{
    int64_t expected = tt_ns_to_frames(r->device_ns, c->rate_hz);

    if (llabs(r->recorded - expected) > (int64_t)c->frames_per_pdu) {
        fail_case(c, "frames recorded are not the media time", r->recorded - expected);
    }
}

static void run_exact(const struct sim_case *c)
{
    struct sim_result r;

    sim_run(c, &r);
    check_exact(c, &r);
    check_device_time(c, &r);
    sim_free(&r);
}

static void every_rate_and_format(void **state)
{
    static const struct {
        enum tt_aaf_format wire;
        enum tt_pcm_format program[4];
        int count;
    } formats[] = {
        {TT_AAF_INT16, {TT_PCM_S16_LE, TT_PCM_S16_BE}, 2},
        {TT_AAF_INT24, {TT_PCM_S24_3LE, TT_PCM_S24_3BE, TT_PCM_S24_LE, TT_PCM_S24_BE}, 4},
        {TT_AAF_INT32, {TT_PCM_S32_LE, TT_PCM_S32_BE}, 2},
        {TT_AAF_FLOAT32, {TT_PCM_FLOAT_LE, TT_PCM_FLOAT_BE}, 2},
    };
    static const unsigned channels[] = {1, 2, 8, 32};
    uint64_t seed = 1;

    (void)state;
    for (size_t r = 0; r < TT_AAF_RATES; r++) {
        for (size_t f = 0; f < TT_COUNT_OF(formats); f++) {
            for (size_t ch = 0; ch < TT_COUNT_OF(channels); ch++) {
                struct sim_case c = sim_default(seed++);
                unsigned frame_bytes = tt_aaf_sample_bytes(formats[f].wire) * channels[ch];

                c.rate_hz = tt_aaf_rates[r];
                c.format = formats[f].wire;
                c.program_format = formats[f].program[seed % (unsigned)formats[f].count];
                c.channels = channels[ch];
                c.frames_per_pdu = c.rate_hz / 8000 + 1;
                if (seed % 2 == 0 || c.frames_per_pdu > (1500 - 24) / frame_bytes) {
                    c.frames_per_pdu = (1500 - 24) / frame_bytes;
                }
                c.mtt_ns = 100 * TT_NS_PER_MS;
                c.buffer_frames = c.rate_hz / 2;
                c.frames = c.rate_hz / 5 + (int64_t)(seed % 7); /* the last PDU is padded */
                c.sparse = seed % 3 == 0;
                c.vlan_id = seed % 5 == 0 ? 2 : -1;
                c.keeps_launch_times = seed % 4 == 0;
                run_exact(&c);
            }
        }
    }
}

/* Wake-ups that are late by less than half an interval on average, with stalls of up to 20 ms,
 * leave room to catch up at two PDUs an interval; beyond that PDUs must be dropped
 * (hopeless_stalls). */
static void late_wakeups_lose_nothing(void **state)
{
    (void)state;
    for (uint64_t seed = 0; seed < 40; seed++) {
        struct sim_case c = sim_default(seed);

        c.rate_hz = seed % 2 == 0 ? 44100 : 48000;
        c.mtt_ns = 100 * TT_NS_PER_MS;
        c.talk_late_ns = 120 * TT_NS_PER_US;
        c.talk_stall_ns = 20 * TT_NS_PER_MS;
        c.listen_late_ns = 60 * TT_NS_PER_MS;
        c.buffer_frames = 24000;
        c.keeps_launch_times = seed % 3 == 0;
        run_exact(&c);
    }
}

/* What may be missing, worked out from the packets alone: those that were never sent, were lost, or
 * arrived after their presentation. */
static uint8_t *expected_missing(const struct sim_case *c, const struct sim_result *r)
{
    uint8_t *missing = malloc((size_t)c->frames);
    int64_t start_tai_ns;

    memset(missing, 1, (size_t)c->frames);
    /* The first event of the talker is its start. */
    assert_int_equal(r->talk_events[0].kind, TT_EVENT_START);
    start_tai_ns = r->talk_events[0].time_tai_ns;
    for (size_t i = 0; i < r->packet_count; i++) {
        const struct sim_packet *packet = &r->packets[i];
        int64_t lead_ns = TT_NS_PER_MS + (c->keeps_launch_times ? 200 * TT_NS_PER_US : 0);

        for (int64_t f = packet->frame; f >= 0 && f < packet->frame + c->frames_per_pdu; f++) {
            int64_t end_ns = start_tai_ns + lead_ns + 125000 + tt_frames_to_ns(f + 1, c->rate_hz) +
                             c->mtt_ns + c->playout_latency_ns;

            if (f < c->frames && packet->arrival_tai_ns < end_ns) {
                missing[f] = 0;
            }
        }
    }
    return missing;
}

static void check_faults(const struct sim_case *c, const struct sim_result *r)
{
    uint8_t *missing = expected_missing(c, r);
    int64_t booked = 0;

    if (r->start == INT64_MIN) {
        fail_case(c, "never placed", 0);
    }
    for (int64_t p = 0; p < r->recorded; p++) {
        int64_t f = p - r->start;
        bool hole = r->hole[p];

        booked += hole;
        if (f < 0) {
            continue;
        }
        if (f < c->frames && missing[f]) {
            if (!hole) {
                fail_case(c, "a missing frame is not booked", f);
            }
        } else if (f < c->frames) {
            if (hole) {
                fail_case(c, "a frame that came in time is booked as missing", f);
            }
            if (memcmp(recorded(r, p), sent(r, f), r->frame_bytes) != 0) {
                fail_case(c, "a frame differs", f);
            }
        }
    }
    assert_int_equal(r->listen.stream.frames_lost + r->listen.stream.frames_late +
                         r->listen.stream.frames_absent,
                     booked);
    check_device_time(c, r);
    free(missing);
}

/* The first PDU always arrives, so that positions are known. */
static void spare_the_first(const struct sim_case *c, uint64_t index, uint8_t *data, size_t bytes,
                            struct tt_loop_fate *fate)
{
    (void)data;
    (void)bytes;
    if (index == 0) {
        fate->lost = false;
        fate->delay_ns = c->delay_ns;
    }
}

static struct sim_case random_case(uint64_t seed)
{
    struct sim_case c = sim_default(seed);
    uint64_t random = seed;

    c.rate_hz = tt_aaf_rates[random_next(&random) % TT_AAF_RATES];
    c.frames = c.rate_hz / 3;
    c.buffer_frames = c.rate_hz / 2;
    c.mtt_ns = (int64_t)(1 + random_next(&random) % 30) * TT_NS_PER_MS;
    c.playout_latency_ns = (int64_t)(random_next(&random) % 5) * TT_NS_PER_MS;
    c.loss_per_mille = (unsigned)(random_next(&random) % 100);
    c.copies_per_mille = (unsigned)(random_next(&random) % 50);
    c.jitter_ns = (int64_t)(random_next(&random) % 4000) * TT_NS_PER_US;
    c.talk_late_ns = (int64_t)(random_next(&random) % 200) * TT_NS_PER_US;
    c.talk_stall_ns = (int64_t)(random_next(&random) % 60) * TT_NS_PER_MS;
    c.listen_late_ns = (int64_t)(random_next(&random) % 20) * TT_NS_PER_MS;
    c.vlan_id = seed % 2 == 0 ? 2 : -1;
    c.fate = spare_the_first;
    return c;
}

static void check_random(const struct sim_case *c, const struct sim_result *r)
{
    check_faults(c, r);
    if (r->burst_max > 2) {
        fail_case(c, "more than two PDUs in one interval", (int64_t)r->burst_max);
    }
}

static void random_faults(void **state)
{
    (void)state;
    for (uint64_t seed = 0; seed < 1000; seed += SEED_STEP) {
        struct sim_case c = random_case(seed);
        struct sim_result r;

        sim_run(&c, &r);
        check_random(&c, &r);
        sim_free(&r);
    }
}

static void show_events(const char *whose, const struct tt_event *events, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        printf("%s: %s at %lld, frames: %lld, TAI %lld ns\n", whose,
               tt_event_kind_name(events[i].kind), (long long)events[i].frame,
               (long long)events[i].frames, (long long)events[i].time_tai_ns);
    }
}

/* One of random_faults, in words. */
static int replay(uint64_t seed)
{
    struct sim_case c = random_case(seed);
    struct sim_result r;

    printf(
        "%u Hz, mtt %lld us, playout latency %lld us, in 1000 lost %u and copied %u, jitter %lld "
        "us, talker late by %lld us and now and then %lld, listener by %lld\n",
        c.rate_hz, (long long)c.mtt_ns / 1000, (long long)c.playout_latency_ns / 1000,
        c.loss_per_mille, c.copies_per_mille, (long long)c.jitter_ns / 1000,
        (long long)c.talk_late_ns / 1000, (long long)c.talk_stall_ns / 1000,
        (long long)c.listen_late_ns / 1000);
    sim_run(&c, &r);
    show_events("talker", r.talk_events, r.talk_event_count);
    show_events("listener", r.events, r.event_count);
    printf("frames recorded: %lld, the source begins at %lld\n", (long long)r.recorded,
           (long long)r.start);
    fflush(stdout);
    check_random(&c, &r);
    puts("all as it should be");
    sim_free(&r);
    return 0;
}

static int64_t lost_first;
static int64_t lost_count;

static void lose_a_run(const struct sim_case *c, uint64_t index, uint8_t *data, size_t bytes,
                       struct tt_loop_fate *fate)
{
    (void)c;
    (void)data;
    (void)bytes;
    fate->lost = (int64_t)index >= lost_first && (int64_t)index < lost_first + lost_count;
}

/* Eight bits of sequence cannot tell 256 lost PDUs from none: the stamp does. */
static void long_losses(void **state)
{
    static const int64_t counts[] = {1, 2, 127, 128, 129, 254, 255, 256, 257, 511, 512, 513, 1000};

    (void)state;
    for (size_t i = 0; i < TT_COUNT_OF(counts); i++) {
        for (int variant = 0; variant < 16; variant++) {
            struct sim_case c = sim_default(100 + i);
            struct sim_result r;

            c.sparse = variant >= 4;
            c.rate_hz = variant % 4 < 2 ? 48000 : 44100;
            c.mtt_ns = variant % 2 == 0 ? 2 * TT_NS_PER_MS : 50 * TT_NS_PER_MS;
            c.fate = lose_a_run;
            lost_first = 1000 + variant / 4 * 3; /* with and without a stamp */
            lost_count = counts[i];
            sim_run(&c, &r);
            check_faults(&c, &r);
            assert_int_equal(r.listen.stream.frames_lost, counts[i] * 6);
            assert_int_equal(r.listen.stream.resyncs, 0);
            assert_int_equal(r.listen.stream.stamps_off, 0);
            sim_free(&r);
        }
    }
}

/* Runs are the same again: nothing depends on anything but the seed. */
static void repeats(void **state)
{
    struct sim_case c = sim_default(7);
    struct sim_result a;
    struct sim_result b;

    (void)state;
    c.loss_per_mille = 50;
    c.jitter_ns = 2 * TT_NS_PER_MS;
    c.talk_stall_ns = 50 * TT_NS_PER_MS;
    sim_run(&c, &a);
    sim_run(&c, &b);
    assert_int_equal(a.recorded, b.recorded);
    assert_memory_equal(a.recording, b.recording, (size_t)a.recorded * a.frame_bytes);
    assert_memory_equal(&a.listen, &b.listen, sizeof a.listen);
    sim_free(&a);
    sim_free(&b);
}

/* A program that is late by more than it can make good: PDUs are dropped, counted, located. */
static void hopeless_stalls(void **state)
{
    (void)state;
    for (uint64_t seed = 0; seed < 50; seed++) {
        struct sim_case c = sim_default(seed);
        struct sim_result r;

        c.mtt_ns = 2 * TT_NS_PER_MS;
        c.talk_stall_ns = 100 * TT_NS_PER_MS;
        c.buffer_frames = 24000;
        c.fate = spare_the_first;
        sim_run(&c, &r);
        check_faults(&c, &r);
        assert_true(r.burst_max <= 2);
        assert_int_equal(r.talk.pdus_sent + r.talk.pdus_dropped, (c.frames + 5) / 6);
        sim_free(&r);
    }
}

/* TAI steps while the stream runs: rate and order stay, mr toggles, the recording goes on. */
static void tai_steps(void **state)
{
    static const int64_t steps_ns[] = {37 * TT_NS_PER_S, -37 * TT_NS_PER_S, 5 * TT_NS_PER_MS,
                                       -5 * TT_NS_PER_MS};

    (void)state;
    for (size_t i = 0; i < TT_COUNT_OF(steps_ns); i++) {
        struct sim_case c = sim_default(40 + i);
        struct sim_result r;
        int64_t equal = 0;

        c.tai_step_ns = steps_ns[i];
        c.tai_step_at_ns = 200 * TT_NS_PER_MS;
        sim_run(&c, &r);
        assert_int_equal(r.talk.clock_steps, 1);
        assert_int_equal(r.listen.clock_steps, 1);
        assert_int_equal(r.listen.stream.restarts, 1);
        assert_int_equal(r.talk.pdus_sent, (c.frames + 5) / 6);
        for (int64_t f = 0; f < c.frames; f++) {
            equal += memcmp(recorded(&r, r.start + f), sent(&r, f), r.frame_bytes) == 0;
        }
        /* Around the step both ends see it at different moments: up to a few ms may be missing. */
        assert_true(equal >= c.frames - c.rate_hz / 50);
        check_device_time(&c, &r);
        sim_free(&r);
    }
}

/* Of the kernel's launch times all from the 1000th on are missed, or one in a hundred. */
static void miss_all(const struct sim_case *c, uint64_t index, uint8_t *data, size_t bytes,
                     struct tt_loop_fate *fate)
{
    spare_the_first(c, index, data, bytes, fate);
    fate->launch_missed = fate->launch_kept && index >= 1000;
}

static void miss_some(const struct sim_case *c, uint64_t index, uint8_t *data, size_t bytes,
                      struct tt_loop_fate *fate)
{
    spare_the_first(c, index, data, bytes, fate);
    fate->launch_missed = fate->launch_kept && index % 100 == 50;
}

/* A qdisc that drops everything is noticed within 200 PDUs; from there software keeps the times and
 * nothing is lost. */
static void refused_launches_fall_back(void **state)
{
    struct sim_case c = sim_default(60);
    struct sim_result r;

    (void)state;
    c.keeps_launch_times = true;
    c.fate = miss_all;
    sim_run(&c, &r);
    check_faults(&c, &r);
    assert_true(r.talk_notes & TT_NOTE_LAUNCH_REFUSED);
    assert_in_range(r.talk.launch_missed, TT_LAUNCH_TRIAL / 2, 200);
    assert_int_equal(r.talk.pdus_refused, r.talk.launch_missed);
    assert_int_equal(r.listen.stream.frames_lost, r.talk.launch_missed * c.frames_per_pdu);
    assert_int_equal(r.talk.pdus_sent + r.talk.pdus_refused, (c.frames + 5) / 6);
    assert_true(r.burst_max <= 2);
    sim_free(&r);
}

static void single_refusals_do_not(void **state)
{
    struct sim_case c = sim_default(61);
    struct sim_result r;

    (void)state;
    c.keeps_launch_times = true;
    c.fate = miss_some;
    sim_run(&c, &r);
    check_faults(&c, &r);
    assert_false(r.talk_notes & TT_NOTE_LAUNCH_REFUSED);
    assert_true(r.talk_notes & TT_NOTE_LAUNCH_LOST);
    assert_int_equal(r.talk.launch_missed, (c.frames + 5) / 6 / 100);
    assert_int_equal(r.listen.stream.frames_lost, r.talk.launch_missed * c.frames_per_pdu);
    sim_free(&r);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_rate_and_format),
        cmocka_unit_test(late_wakeups_lose_nothing),
        cmocka_unit_test(random_faults),
        cmocka_unit_test(long_losses),
        cmocka_unit_test(repeats),
        cmocka_unit_test(hopeless_stalls),
        cmocka_unit_test(tai_steps),
        cmocka_unit_test(refused_launches_fall_back),
        cmocka_unit_test(single_refusals_do_not),
    };

    if (argc == 3 && strcmp(argv[1], "--seed") == 0) {
        return replay(strtoull(argv[2], NULL, 10));
    }
    return cmocka_run_group_tests(tests, NULL, NULL);
}
