/*
 * What the measurements of streams share: class A stereo streams over a veth pair in a namespace of
 * their own, by our engine and by the barest loop that does the same.
 */
#ifndef TT_TESTS_BENCH_RIG_H
#define TT_TESTS_BENCH_RIG_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "audio/stream_config.h"
#include "os/clock.h"
#include "os/link_packet.h"
#include "run/engine.h"
#include "run/listen.h"
#include "run/talk.h"

#define RIG_STREAMS_MAX 256
#define RIG_INTERVAL_NS 125000

struct rig_talkers {
    struct tt_link *link;
    struct tt_engine *engine;
    struct tt_talk *talks[RIG_STREAMS_MAX];
    size_t n;
};

struct rig_listeners {
    struct tt_link *link;
    struct tt_engine *engine;
    struct tt_listen *listens[RIG_STREAMS_MAX];
    size_t n;
};

struct tt_stream_config rig_config(const char *ifname, size_t stream);

/* All of these end the program with a message where something fails. */
struct tt_link *rig_open(const struct tt_link_packet_setup *setup);
/* n talkers whose programs have always written enough; by a packet socket or by AF_XDP. */
void rig_talkers_new(struct rig_talkers *talkers, struct tt_clock *clock, size_t n, bool xdp);
void rig_talkers_free(struct rig_talkers *talkers);
struct tt_talk_counters rig_talkers_sum(struct rig_talkers *talkers);
/* n listeners whose programs never read and do not mind. */
void rig_listeners_new(struct rig_listeners *listeners, size_t n);
void rig_listeners_free(struct rig_listeners *listeners);
struct tt_listen_counters rig_listeners_sum(struct rig_listeners *listeners);

/* What a loop took, without opening and closing its socket: closing waits for a grace period of the
 * kernel's, which is no cost of sending. */
struct rig_cost {
    int64_t cpu_ns;
    int64_t wall_ns;
};

/* The barest sender: what n talkers send in `intervals` intervals, in batches of one interval each
 * (at most 64). One after the other without a pause; where ret_late is given each at its time, in
 * handfuls as the engine's, and the PDUs are counted that left an interval later and more. */
struct rig_cost rig_bare_send(size_t n, int intervals, uint64_t *ret_late);

#endif
