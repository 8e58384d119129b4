/*
 * See rig.h.
 */
#include "rig.h"

#include <linux/if_packet.h>
#include <net/if.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "audio/aaf.h"
#include "audio/eth.h"
#include "audio/talker.h"
#include "base/ns.h"
#include "bench.h"
#include "os/link_packet.h"

#define BUFFER_FRAMES 4800
#define PACKET_BYTES  (TT_ETH_HEADER_BYTES + TT_AAF_HEADER_BYTES + 6 * 2 * 2)
#define FAR_AHEAD     (INT64_MAX / 4)
#define HORIZON_NS    (50 * TT_NS_PER_MS)
#define RIG_HANDFUL   16 /* as the engine's: when each left is known so well */

static void must(int result, const char *what)
{
    if (result < 0) {
        fprintf(stderr, "bench: cannot %s: %s\n", what, strerror(-result));
        exit(3);
    }
}

struct tt_stream_config rig_config(const char *ifname, size_t stream)
{
    struct tt_stream_config config;

    tt_stream_config_init(&config);
    snprintf(config.ifname, sizeof(config.ifname), "%s", ifname);
    memcpy(config.dest, (uint8_t[]){0x91, 0xE0, 0xF0, 0, 0, (uint8_t)stream}, sizeof(config.dest));
    config.stream_id = UINT64_C(0x0200000000010000) + stream;
    config.format = TT_AAF_INT16;
    config.rate_hz = 48000;
    config.channels = 2;
    config.frames_per_pdu = 6;
    config.mtt_ns = 2 * TT_NS_PER_MS;
    config.time_uncertainty_ns = 125 * TT_NS_PER_US;
    config.ptime_tolerance_ns = 100 * TT_NS_PER_US;
    return config;
}

struct tt_link *rig_open(const struct tt_link_packet_setup *setup)
{
    struct tt_link_packet_found found;
    struct tt_link *link = NULL;

    must(tt_link_packet_new(setup, &link, &found), "open the link");
    return link;
}

void rig_talkers_new(struct rig_talkers *talkers, struct tt_clock *clock, size_t n, bool xdp)
{
    struct tt_link_packet_setup link = {.ifname = "va", .send = true, .xdp = xdp};

    *talkers = (struct rig_talkers){.link = rig_open(&link), .n = n};
    must(tt_engine_new(clock, &talkers->engine), "make an engine");
    for (size_t i = 0; i < n; i++) {
        struct tt_stream_config config = rig_config("va", i);
        struct tt_talk_setup setup = {.config = &config,
                                      .link = talkers->link,
                                      .engine = talkers->engine,
                                      .buffer_frames = BUFFER_FRAMES};

        must(tt_talk_new(&setup, &talkers->talks[i]), "make a talker");
        atomic_store(&tt_talk_device(talkers->talks[i])->program_frame, FAR_AHEAD);
        atomic_store(&tt_talk_device(talkers->talks[i])->wake_frames, INT64_MAX);
    }
}

void rig_talkers_free(struct rig_talkers *talkers)
{
    for (size_t i = 0; i < talkers->n; i++) {
        tt_talk_free(talkers->talks[i]);
    }
    tt_engine_free(talkers->engine);
    tt_link_close(talkers->link);
}

struct tt_talk_counters rig_talkers_sum(struct rig_talkers *talkers)
{
    struct tt_talk_counters sum = {0};

    for (size_t i = 0; i < talkers->n; i++) {
        struct tt_talk_counters one;

        tt_talk_counters(talkers->talks[i], &one);
        sum.pdus_sent += one.pdus_sent;
        sum.pdus_late += one.pdus_late;
        sum.pdus_dropped += one.pdus_dropped;
        sum.pdus_refused += one.pdus_refused;
    }
    return sum;
}

void rig_listeners_new(struct rig_listeners *listeners, size_t n)
{
    struct tt_link_packet_setup link = {
        .ifname = "vb", .receive = true, .receive_buffer_bytes = 64u << 20};

    *listeners = (struct rig_listeners){.link = rig_open(&link), .n = n};
    must(tt_engine_new(tt_clock_system(), &listeners->engine), "make an engine");
    for (size_t i = 0; i < n; i++) {
        struct tt_stream_config config = rig_config("vb", i);
        struct tt_listen_setup setup = {.config = &config,
                                        .link = listeners->link,
                                        .engine = listeners->engine,
                                        .buffer_frames = BUFFER_FRAMES,
                                        .period_frames = BUFFER_FRAMES / 4,
                                        .horizon_ns = HORIZON_NS};

        must(tt_listen_new(&setup, &listeners->listens[i]), "make a listener");
        atomic_store(&tt_listen_device(listeners->listens[i])->endless, true);
        atomic_store(&tt_listen_device(listeners->listens[i])->wake_frames, INT64_MAX);
    }
}

void rig_listeners_free(struct rig_listeners *listeners)
{
    for (size_t i = 0; i < listeners->n; i++) {
        tt_listen_free(listeners->listens[i]);
    }
    tt_engine_free(listeners->engine);
    tt_link_close(listeners->link);
}

struct tt_listen_counters rig_listeners_sum(struct rig_listeners *listeners)
{
    struct tt_listen_counters sum = {0};

    for (size_t i = 0; i < listeners->n; i++) {
        struct tt_listen_counters one;

        tt_listen_counters(listeners->listens[i], &one);
        sum.packets += one.packets;
        sum.stream.frames_lost += one.stream.frames_lost;
        sum.stream.frames_late += one.stream.frames_late;
    }
    return sum;
}

/* The packets of one interval, with their headers as a talker makes them. */
static void make_packets(size_t n, uint8_t packets[][PACKET_BYTES])
{
    static const uint8_t src[6] = {2, 0, 0, 0, 0, 1};

    for (size_t i = 0; i < n; i++) {
        struct tt_stream_config config = rig_config("va", i);
        struct tt_talker talker;
        struct tt_talker_pdu pdu = {.sequence = 0};

        tt_talker_init(&talker, &config, src, 0);
        memset(packets[i], 0, PACKET_BYTES);
        tt_talker_build(&talker, &pdu, packets[i]);
    }
}

static void sleep_until(int64_t mono_ns)
{
    struct timespec t = {.tv_sec = mono_ns / TT_NS_PER_S, .tv_nsec = mono_ns % TT_NS_PER_S};

    clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &t, NULL);
}

struct rig_cost rig_bare_send(size_t n, int intervals, uint64_t *ret_late)
{
    static uint8_t packets[RIG_STREAMS_MAX][PACKET_BYTES];
    static struct mmsghdr messages[RIG_STREAMS_MAX];
    static struct iovec vectors[RIG_STREAMS_MAX];
    int fd = socket(AF_PACKET, SOCK_RAW, 0);
    struct sockaddr_ll address = {.sll_family = AF_PACKET,
                                  .sll_ifindex = (int)if_nametoindex("va")};
    size_t most = ret_late ? RIG_HANDFUL : TT_LINK_BATCH;
    struct rig_cost start;
    int64_t due_ns;

    must(fd < 0 || bind(fd, (struct sockaddr *)&address, sizeof(address)) < 0 ? -1 : 0,
         "open a packet socket");
    make_packets(n, packets);
    for (size_t i = 0; i < n; i++) {
        vectors[i] = (struct iovec){.iov_base = packets[i], .iov_len = PACKET_BYTES};
        messages[i] = (struct mmsghdr){.msg_hdr = {.msg_iov = &vectors[i], .msg_iovlen = 1}};
    }
    due_ns = bench_mono_ns();
    start = (struct rig_cost){.cpu_ns = bench_cpu_ns(), .wall_ns = due_ns};
    for (int k = 0; k < intervals; k++, due_ns += RIG_INTERVAL_NS) {
        if (ret_late) {
            sleep_until(due_ns);
        }
        for (size_t at = 0; at < n;) {
            size_t left = n - at < most ? n - at : most;
            int sent = sendmmsg(fd, messages + at, (unsigned)left, 0);
            size_t taken = sent > 0 ? (size_t)sent : 1;

            at += taken;
            if (ret_late && bench_mono_ns() - due_ns > RIG_INTERVAL_NS) {
                *ret_late += taken;
            }
        }
    }
    start.cpu_ns = bench_cpu_ns() - start.cpu_ns;
    start.wall_ns = bench_mono_ns() - start.wall_ns;
    close(fd);
    return start;
}
