/*
 * A network in virtual time: talkers launch, TCP sends what gets out (256 frames on their way at
 * most), hosts and bridges queue, gates and credits hold, wires are busy. Frame by frame, without a
 * random number: the same plan gives the same run.
 *
 * Ports are true to the standard (strict priority, highest class first; a frame starts only where
 * it ends before its gate closes, from the time at which the wire is free), or do what Linux's
 * software taprio of some version does (taprio.h). Up to 6.2 that asks the first queue first. A
 * list that replaces another one does so at its base time, as timeline.h has it, in both. Uses the
 * heap (tt_simulate only).
 */
#ifndef TT_GATE_SIMULATE_H
#define TT_GATE_SIMULATE_H

#include "base/hist.h"
#include "gate/taprio.h"

/* A frame that is put on a wire, or a packet that goes out as one. */
struct tt_sim_frame {
    unsigned port;
    unsigned flow;
    unsigned class;
    int64_t handed_ns; /* to the driver; before start_ns where the wire was busy */
    int64_t start_ns;
    int64_t end_ns;
    int64_t close_ns; /* of the gate; INT64_MAX: it does not close */
};

struct tt_sim_options {
    int64_t duration_ns;
    bool as_linux; /* ports of hosts as tt_gate_keeper_of says; else all as the standard says */
    void (*sent)(void *context, const struct tt_sim_frame *frame); /* NULL: nobody looks */
    void *context;
};

struct tt_flow_result {
    uint64_t launched;
    uint64_t delivered; /* frames at a listener */
    uint64_t dropped;   /* a queue was full */
    uint64_t waiting;   /* at the end */
    uint64_t late;      /* after the deadline */
    int64_t payload_bytes;
    int64_t delay_min_ns; /* from launch to the listener; of none delivered INT64_MAX … */
    int64_t delay_max_ns; /* … and INT64_MIN */
};

struct tt_port_result {
    uint64_t frames;
    uint64_t overruns; /* frames that were on the wire when their gate closed */
    int64_t overrun_max_ns;
    int64_t overrun_bound_ns; /* tt_taprio_overrun_ns of what passes; true to the standard: 0 */
    int64_t busy_ns;
    int64_t wait_max_ns[TT_GATE_CLASSES]; /* from queue to wire */
    bool never[TT_GATE_CLASSES];          /* what stands first in the queue can never go out */
};

struct tt_sim_result {
    uint64_t frames; /* put on a wire */
    struct tt_flow_result *flows;
    struct tt_port_result *ports;
    struct tt_hist *margin; /* deadline - delay of all streams' frames; the caller's, or NULL */
};

/* ret_result->flows and ->ports are the caller's, one for each of the network's. The lists of the
 * ports are there. 0 or -ENOMEM. */
int tt_simulate(const struct tt_network *network, const struct tt_sim_options *options,
                struct tt_sim_result *ret_result);

#endif
