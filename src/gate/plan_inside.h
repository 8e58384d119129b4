/*
 * What the planner's parts share: one attempt with so many streams. See plan.h.
 */
#ifndef TT_GATE_PLAN_INSIDE_H
#define TT_GATE_PLAN_INSIDE_H

#include <limits.h>

#include "base/ns.h"
#include "gate/plan.h"

/* A stream's frames at one of its hops: in a cycle, `frames` of them, an interval apart. */
struct tt_plan_visit {
    unsigned flow;
    unsigned port;
    int parent;    /* visit, or -1 */
    size_t talker; /* the visit at the talker's own port */
    int64_t wire_ns;
    size_t first; /* its frames in run.arrivals and .ends */
};

/* A frame at the port that is worked on. */
struct tt_plan_item {
    int64_t phase_ns; /* of its arrival, packed */
    int64_t wire_ns;
    int64_t late_ns;  /* it may come later by so much … */
    int64_t early_ns; /* … or earlier */
    unsigned from;    /* port, or TT_PLAN_TALKER */
    bool varies;      /* it may not come at all */
    bool any_time;    /* … and, at its talker, when it likes */
    size_t frame;
    /* Of it and all behind it: */
    int64_t before_ns; /* on the wire, in front */
    int64_t lead_ns;   /* the most that one comes later than those in front take */
    int64_t first_ns;  /* the earliest */
};

#define TT_PLAN_TALKER UINT_MAX

struct tt_plan_run {
    struct tt_network *network;
    const struct tt_plan_options *options;
    struct tt_plan *plan;
    size_t streams; /* so many of the streams take part */
    struct tt_plan_visit *visits;
    size_t visit_count;
    size_t *of_port; /* visits by port: from port_first[p] to port_first[p + 1] */
    size_t *port_first;
    int64_t *other_ns;    /* by port: the longest frame beside the streams */
    unsigned *order;      /* of ports: feeders first, as far as there are no rings */
    bool ring;            /* there are, or lines of more than TT_GATE_HOPS_MAX */
    int64_t *arrivals_ns; /* at the latest, and so much earlier … */
    int64_t *early_ns;
    /* At the latest too, but with those from one wire one behind the other: which of them is the
     * last is open, that there is one only is not. Of all that come from some time on, packed
     * times say the most. */
    int64_t *packed_ns;
    int64_t *ends_ns; /* … and off the wire */
    int64_t *spreads_ns;
    int64_t *closes_ns;         /* of the window that it goes in */
    struct tt_plan_item *items; /* of the port that is worked on, and of those: */
    bool any_time;              /* some come when they like */
};

#define TT_PLAN_MEASURED_NS 125000 /* IEEE 802.1Q-2018, 34.6.1: class A */
#define TT_PLAN_SHORTEST_NS (TT_PLAN_MEASURED_NS / 8)

static inline bool tt_plan_varies(const struct tt_flow *flow)
{
    return flow->interval_samples * TT_NS_PER_S % flow->rate_hz != 0;
}

/* The interval or, where that varies, the class measurement interval. 0: it is too short. */
static inline int64_t tt_plan_interval_ns(const struct tt_flow *flow)
{
    int64_t interval_ns = flow->interval_samples * TT_NS_PER_S / flow->rate_hz;
    int64_t measured_ns = TT_PLAN_SHORTEST_NS;

    if (!tt_plan_varies(flow)) {
        return interval_ns;
    }
    while (2 * measured_ns <= interval_ns) {
        measured_ns *= 2;
    }
    return measured_ns <= interval_ns ? measured_ns : 0;
}

/* The stream is launched at that time, and each interval before and after it. */
static inline void tt_plan_launch_at(struct tt_flow *flow, int64_t at_ns)
{
    int64_t interval_ns = tt_plan_interval_ns(flow);

    flow->offset_ns = at_ns - tt_floor_div(at_ns, interval_ns) * interval_ns;
}

static inline int64_t tt_plan_phase(const struct tt_plan_run *run, int64_t ns)
{
    return ns - tt_floor_div(ns, run->plan->cycle_ns) * run->plan->cycle_ns;
}

static inline int64_t tt_plan_frames(const struct tt_plan_run *run,
                                     const struct tt_plan_visit *visit)
{
    return run->plan->cycle_ns / tt_plan_interval_ns(&run->network->flows[visit->flow]);
}

static inline enum tt_plan_fault tt_plan_refuse(struct tt_plan_run *run, enum tt_plan_fault fault,
                                                unsigned port, int64_t figure)
{
    run->plan->fault = fault;
    run->plan->port = port;
    run->plan->figure = figure;
    return fault;
}

/* plan_place.c: by what comes from which port, and then by phase. */
void tt_plan_sort(struct tt_plan_item *items, size_t n, bool by_port);
/* Places the port's window and says when each frame is off the wire. false: frames of
 * the next cycle might be in front. */
bool tt_plan_place(struct tt_plan_run *run, unsigned port);
/* plan_slots.c: windows at fixed phases, each frame waiting for its port's next. false: no phases
 * were found. */
bool tt_plan_slots(struct tt_plan_run *run);
/* plan_times.c: sets offsets, windows and the frames' times; judges the delays. */
enum tt_plan_fault tt_plan_times(struct tt_plan_run *run);

#endif
