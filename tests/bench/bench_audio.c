/*
 * Figures of the audio engine, each beside a reference in the same run, and whether it is what it
 * should be. Runs as root, or where user namespaces are allowed without.
 *
 * Usage: bench_audio [--json] [pack | send | streams | receive | pace]
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "audio/pcm.h"
#include "base/hist.h"
#include "base/ns.h"
#include "bench.h"
#include "netns.h"
#include "os/thread.h"
#include "rig.h"

#define ROUNDS 7

/* ---- pack ---- */

#define PACK_CHANNELS 8
#define PACK_FRAMES   6
#define PACK_PDUS     200000

/* Bytes of samples a second, in Gbyte/s. */
static double pack_rate(bool copy, bool unpack)
{
    static uint8_t program[PACK_CHANNELS * PACK_FRAMES * 3 * 64];
    static uint8_t wire[sizeof(program)];
    size_t pdu_bytes = PACK_CHANNELS * PACK_FRAMES * 3;
    int64_t start_ns = bench_cpu_ns();

    for (int i = 0; i < PACK_PDUS; i++) {
        size_t at = (size_t)(i % 64) * pdu_bytes;
        struct tt_pcm_area areas[PACK_CHANNELS];

        for (unsigned c = 0; c < PACK_CHANNELS; c++) {
            areas[c] = (struct tt_pcm_area){.first = program + at + (size_t)c * 3,
                                            .step_bytes = (size_t)PACK_CHANNELS * 3};
        }
        if (copy) {
            memcpy(wire + at, program + at, pdu_bytes);
        } else if (unpack) {
            tt_pcm_from_wire(TT_PCM_S24_3LE, wire + at, PACK_CHANNELS, PACK_FRAMES, areas);
        } else {
            tt_pcm_to_wire(TT_PCM_S24_3LE, areas, PACK_CHANNELS, PACK_FRAMES, wire + at);
        }
        __asm__ volatile("" ::: "memory");
    }
    return (double)pdu_bytes * PACK_PDUS / (double)(bench_cpu_ns() - start_ns);
}

static bool bench_pack(void)
{
    struct bench_pair rounds[2][ROUNDS];

    for (int i = 0; i < ROUNDS; i++) {
        for (int unpack = 0; unpack < 2; unpack++) {
            rounds[unpack][i].ours = pack_rate(false, unpack);
            rounds[unpack][i].reference = pack_rate(true, unpack);
        }
    }
    bench_print(&(struct bench_row){.name = "packing PDUs of 8 channels, 24 bit, 6 frames",
                                    .unit = "Gbyte/s",
                                    .reference = "memcpy"},
                rounds[0], ROUNDS);
    bench_print(
        &(struct bench_row){.name = "unpacking them", .unit = "Gbyte/s", .reference = "memcpy"},
        rounds[1], ROUNDS);
    return true;
}

/* ---- send ---- */

#define SEND_STREAMS   32
#define SEND_INTERVALS 4000 /* half a second of them */

/* The engine on a scripted clock that is never late: its whole work, and no sleep. */
static double engine_cpu_per_pdu(bool xdp)
{
    struct tt_clock_script clock;
    struct rig_talkers talkers;
    int64_t start_ns;
    uint64_t sent;

    tt_clock_script_init(&clock, TT_NS_PER_S, INT64_C(1790000000) * TT_NS_PER_S);
    rig_talkers_new(&talkers, &clock.clock, SEND_STREAMS, xdp);
    tt_engine_start(talkers.engine, false);
    start_ns = bench_cpu_ns();
    do {
        clock.mono_ns = tt_engine_step(talkers.engine);
        sent = tt_engine_counters(talkers.engine).steps;
    } while (sent < SEND_INTERVALS);
    start_ns = bench_cpu_ns() - start_ns;
    tt_engine_stop(talkers.engine);
    sent = rig_talkers_sum(&talkers).pdus_sent;
    rig_talkers_free(&talkers);
    return (double)start_ns / (double)sent;
}

static bool bench_send(void)
{
    static const char *const names[] = {
        "CPU of a PDU sent, 32 class A stereo streams",
        "CPU of a PDU sent by AF_XDP (pace xdp), 32 class A stereo streams"};
    struct bench_pair rounds[2][ROUNDS];
    bool held = true;

    for (int i = 0; i < ROUNDS; i++) {
        double bare = (double)rig_bare_send(SEND_STREAMS, SEND_INTERVALS, NULL).cpu_ns /
                      ((double)SEND_STREAMS * SEND_INTERVALS);

        for (int xdp = 0; xdp < 2; xdp++) {
            rounds[xdp][i] =
                (struct bench_pair){.ours = engine_cpu_per_pdu(xdp), .reference = bare};
        }
    }
    for (int xdp = 0; xdp < 2; xdp++) {
        held = bench_print(&(struct bench_row){.name = names[xdp],
                                               .unit = "ns",
                                               .reference = "bare sendmmsg loop, the same packets",
                                               .at_most = 1.25},
                           rounds[xdp], ROUNDS) &&
               held;
    }
    return held;
}

/* ---- streams ---- */

#define STREAMS_ROUNDS 3
#define HOLD_NS        (TT_NS_PER_S / 2)
/* A machine that takes the processor away for a millisecond does so to the bare loop's rate too,
 * which is a mean: so many may be late, in the best of some tries. */
#define LATE_PER_MILLE 5
#define TRIES          12
#define TRIES_MAX      30
#define RATE_DRIFT     0.05
#define RATE_STREAMS   64 /* whose packets the bare loop sends in one batch */
#define HOLD_INTERVALS (HOLD_NS / RIG_INTERVAL_NS)
#define RATE_INTERVALS 500
#define RATE_STEPS     40
#define STALL_NS       (RIG_INTERVAL_NS / 5)

struct held {
    uint64_t sent;
    uint64_t late;
    uint64_t missed; /* not sent */
    uint64_t received_lost_frames;
    struct tt_engine_counters receive;
    uint64_t received;
};

static void wait_ns(int64_t ns)
{
    struct timespec t = {.tv_sec = ns / TT_NS_PER_S, .tv_nsec = ns % TT_NS_PER_S};

    nanosleep(&t, NULL);
}

/* n streams for half a second from processor 0; where `listening`, into as many sinks on
 * processor 1. */
static struct held hold(size_t n, bool xdp, bool listening)
{
    struct rig_talkers talkers;
    struct rig_listeners listeners;
    struct tt_talk_counters sum;
    struct held held = {0};

    rig_talkers_new(&talkers, tt_clock_system(), n, xdp);
    tt_engine_set_cpu(talkers.engine, 0);
    if (listening) {
        rig_listeners_new(&listeners, n);
        tt_engine_set_cpu(listeners.engine, 1);
        tt_engine_start(listeners.engine, true);
    }
    tt_engine_start(talkers.engine, true);
    wait_ns(HOLD_NS);
    tt_engine_stop(talkers.engine);
    sum = rig_talkers_sum(&talkers);
    held = (struct held){.sent = sum.pdus_sent,
                         .late = sum.pdus_late,
                         .missed = sum.pdus_dropped + sum.pdus_refused};
    if (listening) {
        struct tt_listen_counters received;

        wait_ns(20 * TT_NS_PER_MS);
        tt_engine_stop(listeners.engine);
        received = rig_listeners_sum(&listeners);
        held.received = received.packets;
        held.received_lost_frames = received.stream.frames_lost + received.stream.frames_late;
        held.receive = tt_engine_counters(listeners.engine);
        rig_listeners_free(&listeners);
    }
    rig_talkers_free(&talkers);
    return held;
}

static bool talkers_hold(size_t n, bool xdp)
{
    uint64_t wanted = (uint64_t)n * HOLD_INTERVALS * 99 / 100;
    struct held held = hold(n, xdp, false);

    return held.sent >= wanted && (held.late + held.missed) * 1000 <= held.sent * LATE_PER_MILLE;
}

static bool packet_socket_holds(size_t n)
{
    return talkers_hold(n, false);
}

static bool xdp_holds(size_t n)
{
    return talkers_hold(n, true);
}

struct bare_rate {
    size_t n;
    double streams;
};

static void measure_bare_rate(void *context)
{
    struct bare_rate *rate = context;
    struct rig_cost cost = rig_bare_send(rate->n, RATE_INTERVALS, NULL);

    rate->streams = (double)rate->n * RATE_INTERVALS * RIG_INTERVAL_NS / (double)cost.wall_ns;
}

struct pinned {
    void (*run)(void *context);
    void *context;
};

static void pin_and_run(void *context)
{
    const struct pinned *pinned = context;

    bench_pin(0);
    pinned->run(pinned->context);
}

/* Runs on processor 0 as the engine's thread does, and with its priority. The caller stays where it
 * may be: on that processor it could not stop an engine that leaves it nothing. */
static void run_pinned(void (*run)(void *context), void *context)
{
    struct pinned pinned = {.run = run, .context = context};
    struct tt_thread thread;

    if (tt_thread_start(&thread, pin_and_run, &pinned) < 0) {
        fprintf(stderr, "bench: cannot start a thread\n");
        exit(3);
    }
    tt_thread_join(&thread);
}

/* Streams whose PDUs the bare loop sends in an interval. */
static double bare_streams(size_t n)
{
    struct bare_rate rate = {.n = n};

    run_pinned(measure_bare_rate, &rate);
    return rate.streams;
}

struct bare_hold {
    size_t n;
    uint64_t late;
};

static void measure_bare_hold(void *context)
{
    struct bare_hold *hold = context;

    rig_bare_send(hold->n, HOLD_INTERVALS, &hold->late);
}

static bool bare_holds(size_t n)
{
    struct bare_hold hold = {.n = n};

    run_pinned(measure_bare_hold, &hold);
    return hold.late * 1000 <= (uint64_t)n * HOLD_INTERVALS * LATE_PER_MILLE;
}

/* Tries until one holds, at most TRIES of those whose bare rate was the same before and after: the
 * machine's speed changes in seconds, and a rate that did not last says nothing. */
static bool some_try_holds(bool (*holds)(size_t n), int step, struct bench_pair *ret_pair)
{
    for (int i = 0, steady = 0; i < TRIES_MAX && steady < TRIES; i++) {
        double before = bare_streams(RATE_STREAMS);
        size_t n = (size_t)(before * step / RATE_STEPS);
        bool held = n > 0 && n < RIG_STREAMS_MAX && holds(n);
        double after = bare_streams(RATE_STREAMS);

        if (after > before * (1 - RATE_DRIFT) && after < before * (1 + RATE_DRIFT)) {
            steady++;
            if (held) {
                *ret_pair =
                    (struct bench_pair){.ours = (double)n, .reference = (before + after) / 2};
                return true;
            }
        }
    }
    return false;
}

/* The most streams that were held, beside what the bare loop's rate would have carried around it.
 * By bisection, in steps of RATE_STEPS of that. */
static struct bench_pair most_held(bool (*holds)(size_t n))
{
    struct bench_pair most = {.reference = 1};
    int low = 0;
    int high = 2 * RATE_STEPS;

    while (high - low > 1) {
        int middle = (low + high) / 2;

        if (some_try_holds(holds, middle, &most)) {
            low = middle;
        } else {
            high = middle;
        }
    }
    return most;
}

/* What is left of the processor to a thread with priority that does nothing but look at the clock.
 */
static void measure_stalls(void *context)
{
    struct tt_hist *stalls = context;
    int64_t start_ns = bench_mono_ns();

    for (int64_t last_ns = start_ns; last_ns < start_ns + HOLD_NS;) {
        int64_t now_ns = bench_mono_ns();

        if (now_ns - last_ns > STALL_NS) {
            tt_hist_record(stalls, now_ns - last_ns);
        }
        last_ns = now_ns;
    }
}

static void print_stalls(void)
{
    static struct tt_hist stalls;

    tt_hist_init(&stalls);
    run_pinned(measure_stalls, &stalls);
    fprintf(stderr,
            "a thread that only looks at the clock was stalled for over %d us %llu times in %d "
            "intervals, for %lld us at the most\n",
            (int)(STALL_NS / TT_NS_PER_US), (unsigned long long)stalls.n, (int)HOLD_INTERVALS,
            (long long)(stalls.max / TT_NS_PER_US));
}

static bool bench_streams(void)
{
    struct bench_pair engine[STREAMS_ROUNDS];
    struct bench_pair xdp[STREAMS_ROUNDS];
    struct bench_pair bare[STREAMS_ROUNDS];

    print_stalls();
    for (int i = 0; i < STREAMS_ROUNDS; i++) {
        engine[i] = most_held(packet_socket_holds);
        xdp[i] = most_held(xdp_holds);
        bare[i] = most_held(bare_holds);
    }
    /* What the machine takes away costs either that; the rate, a mean, shows nothing of it. */
    bench_print(&(struct bench_row){.name =
                                        "class A stereo streams held by a bare loop that sleeps "
                                        "until each interval and sends all at once",
                                    .unit = "streams",
                                    .reference = "what its rate would carry"},
                bare, STREAMS_ROUNDS);
    bench_print(&(struct bench_row){.name =
                                        "class A stereo streams held on one core, each PDU in its "
                                        "interval, by a packet socket",
                                    .unit = "streams",
                                    .reference = "what the bare loop's rate would carry"},
                engine, STREAMS_ROUNDS);
    return bench_print(
        &(struct bench_row){.name = "class A stereo streams held on one core, each PDU in its "
                                    "interval, by AF_XDP (pace xdp)",
                            .unit = "streams",
                            .reference = "what the bare loop's rate would carry",
                            .at_least = 0.8},
        xdp, STREAMS_ROUNDS);
}

/* ---- receive ---- */

static bool bench_receive(void)
{
    struct bench_pair rounds[STREAMS_ROUNDS];
    double carried = bare_streams(RATE_STREAMS);
    size_t n = (size_t)(carried * 0.8 < 128 ? carried * 0.8 : 128);
    uint64_t lost = 0;
    uint64_t received = 0;

    for (int i = 0; i < STREAMS_ROUNDS; i++) {
        struct held held = hold(n, false, true);

        lost += held.sent - held.received;
        received += held.received;
        /* A sleep each step, and a look at the TAI offset with each batch that is not empty. */
        rounds[i].ours = (double)(held.receive.steps + held.receive.receive_calls) * 32;
        rounds[i].reference = (double)held.received;
    }
    printf("%zu streams into as many sinks on the other core: %llu PDUs received, %llu lost\n", n,
           (unsigned long long)received, (unsigned long long)lost);
    return bench_print(&(struct bench_row){.name = "system calls of the receiver, times 32",
                                           .unit = "a second",
                                           .reference = "PDUs received",
                                           .at_most = 1},
                       rounds, STREAMS_ROUNDS) &&
           lost == 0;
}

/* ---- pace ---- */

#define PACE_NS (2 * TT_NS_PER_S)

struct bare_loop {
    struct tt_hist lateness;
};

/* What any real-time program in software can have: wake at the time, look at the clock. */
static void bare_loop(void *context)
{
    struct bare_loop *loop = context;
    int64_t start_ns = bench_mono_ns();

    for (int64_t due_ns = start_ns; due_ns < start_ns + PACE_NS; due_ns += RIG_INTERVAL_NS) {
        struct timespec t = {.tv_sec = due_ns / TT_NS_PER_S, .tv_nsec = due_ns % TT_NS_PER_S};

        clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &t, NULL);
        tt_hist_record(&loop->lateness, bench_mono_ns() - due_ns);
    }
}

static double run_bare_loop(struct tt_hist *all)
{
    static struct bare_loop loop;

    tt_hist_init(&loop.lateness);
    run_pinned(bare_loop, &loop);
    tt_hist_merge(all, &loop.lateness);
    return (double)tt_hist_percentile(&loop.lateness, 500);
}

static double run_paced(struct tt_hist *all)
{
    struct rig_talkers talkers;
    double p50;

    rig_talkers_new(&talkers, tt_clock_system(), 1, false);
    tt_engine_set_cpu(talkers.engine, 0);
    tt_engine_start(talkers.engine, true);
    wait_ns(PACE_NS);
    tt_engine_stop(talkers.engine);
    tt_hist_merge(all, tt_talk_lateness(talkers.talks[0]));
    p50 = (double)tt_hist_percentile(tt_talk_lateness(talkers.talks[0]), 500);
    rig_talkers_free(&talkers);
    return p50;
}

static void print_lateness(const char *name, const struct tt_hist *hist)
{
    struct tt_summary s;

    tt_hist_summarize(hist, &s);
    printf("  %-40s p50 %lld, p99 %lld, p99.9 %lld, max %lld ns of %llu\n", name, (long long)s.p50,
           (long long)s.p99, (long long)s.p999, (long long)s.max, (unsigned long long)s.n);
}

static bool bench_pace(void)
{
    static struct tt_hist ours;
    static struct tt_hist bare;
    struct bench_pair rounds[ROUNDS];
    bool held;

    tt_hist_init(&ours);
    tt_hist_init(&bare);
    for (int i = 0; i < ROUNDS; i++) {
        rounds[i].reference = run_bare_loop(&bare);
        rounds[i].ours = run_paced(&ours);
    }
    held = bench_print(&(struct bench_row){.name = "lateness of departures in software, p50",
                                           .unit = "ns",
                                           .reference = "wake-up of a bare clock_nanosleep loop",
                                           .at_most = 1.2},
                       rounds, ROUNDS);
    print_lateness("tactus, departure - due", &ours);
    print_lateness("bare loop, wake-up - due", &bare);
    return held;
}

int main(int argc, char **argv)
{
    static const struct {
        const char *name;
        bool (*run)(void);
    } parts[] = {{"pack", bench_pack},
                 {"send", bench_send},
                 {"streams", bench_streams},
                 {"receive", bench_receive},
                 {"pace", bench_pace}};
    const char *only = NULL;
    bool held = true;
    bool known = false;

    for (int i = 1; i < argc; i++) {
        if (strcmp(argv[i], "--json") == 0) {
            bench_use_json();
        } else {
            only = argv[i];
        }
    }
    if (!netns_enter(false)) {
        return 3;
    }
    for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]); i++) {
        if (!only || strcmp(only, parts[i].name) == 0) {
            known = true;
            held = parts[i].run() && held;
        }
    }
    if (!known) {
        fprintf(stderr,
                "bench audio has no part \"%s\"; give one of: pack send streams receive pace\n",
                only);
        return 2;
    }
    return held ? 0 : 1;
}
