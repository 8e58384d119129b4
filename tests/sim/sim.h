/*
 * A whole stream in virtual time: a program that plays, the talker engine, a link with scripted
 * faults, the listener engine, a program that records. Seeded; the same case gives the same run.
 *
 * What should be in the recording is worked out here from the packets' fates alone, without the
 * listener.
 */
#ifndef TT_TESTS_SIM_H
#define TT_TESTS_SIM_H

#include <stdbool.h>
#include <stdint.h>

#include "audio/stream_config.h"
#include "os/link_loop.h"
#include "run/listen.h"
#include "run/talk.h"

struct sim_case {
    uint64_t seed;
    enum tt_aaf_format format;
    enum tt_pcm_format program_format;
    uint32_t rate_hz;
    unsigned channels;
    unsigned frames_per_pdu;
    int64_t frames; /* played */
    int64_t mtt_ns;
    int64_t playout_latency_ns;
    int64_t buffer_frames;
    int64_t period_frames;
    int64_t tai_minus_mono_ns; /* also sets where 2^32 ns boundaries fall */
    bool sparse;
    int vlan_id;
    bool keeps_launch_times;
    int64_t talk_late_ns;   /* the talker's wake-ups: up to so late, at random … */
    int64_t talk_stall_ns;  /* … and now and then so late */
    int64_t listen_late_ns; /* the same for the listener */
    int64_t delay_ns;
    int64_t jitter_ns; /* added to the delay at random: reorders */
    unsigned loss_per_mille;
    unsigned copies_per_mille;
    /* Beyond that (NULL: nothing): decides more of PDU `index`, and may change its bytes. */
    void (*fate)(const struct sim_case *c, uint64_t index, uint8_t *data, size_t bytes,
                 struct tt_loop_fate *fate);
    int64_t tai_step_ns;    /* the clock steps by so much … */
    int64_t tai_step_at_ns; /* … so long after the start */
};

struct sim_packet {
    int64_t frame; /* of the source */
    int64_t departure_tai_ns;
    int64_t arrival_tai_ns; /* INT64_MAX: lost */
};

struct sim_result {
    struct tt_talk_counters talk;
    struct tt_listen_counters listen;
    struct tt_event *events; /* the listener's */
    size_t event_count;
    struct tt_event *talk_events;
    size_t talk_event_count;
    uint8_t *source;    /* frames x frame_bytes, in the wire's format */
    uint8_t *recording; /* recorded x frame_bytes */
    bool *hole;         /* recorded: the listener's events say lost, late or absent here */
    size_t frame_bytes;
    int64_t recorded;
    int64_t device_ns; /* how long the recording device ran */
    int64_t start;     /* position of source frame 0 in the recording; INT64_MIN: never placed */
    struct sim_packet *packets;
    size_t packet_count;
    size_t burst_max; /* most departures within one PDU interval */
    unsigned talk_notes;
};

/* A plain stereo 16-bit case, class A, that a test changes to its liking. */
struct sim_case sim_default(uint64_t seed);
void sim_run(const struct sim_case *c, struct sim_result *ret_result);
void sim_free(struct sim_result *result);

#endif
