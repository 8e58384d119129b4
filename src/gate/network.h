/*
 * What a plan is about: ports that send (a host's interface, a bridge's), with whatever shapes
 * them, and flows that pass through them. Plain data; whoever makes it owns all that it points to.
 */
#ifndef TT_GATE_NETWORK_H
#define TT_GATE_NETWORK_H

#include "gate/driver.h"
#include "gate/list.h"

#define TT_GATE_NAME       64
#define TT_GATE_PRIORITIES 16
#define TT_GATE_HOPS_MAX   64

enum tt_gate_clock {
    TT_GATE_CLOCK_TAI,
    TT_GATE_CLOCK_REALTIME,
    TT_GATE_CLOCK_MONOTONIC,
    TT_GATE_CLOCK_BOOTTIME,
    TT_GATE_CLOCK_UNKNOWN,
};

enum tt_gate_mode {
    TT_GATE_SOFTWARE, /* the kernel's taprio opens and closes */
    TT_GATE_ASSIST,   /* it gives launch times to etf or the hardware */
    TT_GATE_OFFLOAD,  /* the hardware does it, as the standard says */
};

/* A credit-based shaper on a class, as tc has it. */
struct tt_gate_cbs {
    bool set;
    bool offload;
    int64_t idle_kbps;
    int64_t send_kbps;
    int64_t hi_bytes;
    int64_t lo_bytes;
};

/* A launch-time queue. */
struct tt_gate_etf {
    bool set;
    bool offload;
    bool other_clock; /* than CLOCK_TAI */
    int64_t delta_ns;
};

struct tt_gate_port {
    char name[TT_GATE_NAME];
    int64_t rate_bps; /* 0: unknown */
    int64_t delay_ns; /* from a frame's end to its being at the next node's queue */
    enum tt_gate_driver driver;
    char driver_unknown[TT_DRIVER_NAME]; /* its name, where its limits are not known */
    unsigned kernel;                     /* 6.12: 6012; 0: unknown, or no Linux */
    enum tt_gate_mode mode;
    bool bridge;
    unsigned tx_queues;   /* 0: unknown */
    unsigned class_count; /* 0: no map, all in class 0 */
    uint8_t class_of_priority[TT_GATE_PRIORITIES];
    uint16_t queue_count[TT_GATE_CLASSES];
    uint16_t queue_offset[TT_GATE_CLASSES];
    int64_t max_sdu_bytes[TT_GATE_CLASSES]; /* 0: none */
    bool clock_given;
    enum tt_gate_clock clock; /* of the base time */
    bool below_taprio;
    bool size_table;
    int64_t txtime_delay_ns;
    struct tt_gate_cbs cbs[TT_GATE_CLASSES];
    struct tt_gate_etf etf[TT_GATE_CLASSES];
    bool has_schedule;
    struct tt_gate_schedule schedule;
    struct tt_gate_list *list;      /* of the schedule; NULL: all gates are open */
    struct tt_gate_schedule before; /* what runs until the schedule's base time */
    struct tt_gate_list *old;       /* of that; NULL: the schedule has always run */
};

enum tt_flow_kind {
    TT_FLOW_STREAM, /* a talker: launched at its offset, every interval */
    TT_FLOW_BULK,   /* TCP: as much as gets out */
    TT_FLOW_TIMED,  /* single frames now and then, at any time: PTP, control */
};

struct tt_hop {
    unsigned port;
    int parent; /* the hop before it, a smaller number; -1: the talker's own port */
};

struct tt_flow {
    char name[TT_GATE_NAME];
    enum tt_flow_kind kind;
    unsigned priority;
    int64_t frame_bytes;      /* the longest; tag included, FCS not */
    int64_t payload_bytes;    /* of such a frame, for goodput */
    int64_t gso_bytes;        /* bulk: payload handed over at once; at most payload_bytes: none */
    int64_t interval_samples; /* it comes every interval_samples / rate_hz seconds */
    uint32_t rate_hz;
    int64_t offset_ns;   /* launch, in the cycle */
    int64_t deadline_ns; /* from launch until it is at the listener; 0: none */
    unsigned hop_count;
    struct tt_hop hops[TT_GATE_HOPS_MAX];
};

struct tt_network {
    struct tt_gate_port *ports;
    size_t port_count;
    struct tt_flow *flows;
    size_t flow_count;
};

static inline unsigned tt_gate_class_of(const struct tt_gate_port *port, unsigned priority)
{
    return port->class_count == 0 ? 0 : port->class_of_priority[priority % TT_GATE_PRIORITIES];
}

/* What the kernel counts with where it does not know the speed. */
static inline int64_t tt_gate_rate(const struct tt_gate_port *port)
{
    return port->rate_bps > 0 ? port->rate_bps : INT64_C(10000000);
}

/* Whether a listener is behind the hop. */
static inline bool tt_hop_is_last(const struct tt_flow *flow, unsigned hop)
{
    for (unsigned i = hop + 1; i < flow->hop_count; i++) {
        if (flow->hops[i].parent == (int)hop) {
            return false;
        }
    }
    return true;
}

#endif
