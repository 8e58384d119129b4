/*
 * What Linux's software taprio lets out, version by version, faults included:
 * - before 5.13 it does not segment: a packet of TCP goes out as one or never; counted with one
 *   header only, so that it may overrun its window;
 * - 5.13 to 6.2: every packet is segmented; entries are not joined, one budget for all classes;
 * - from 6.3: entries are joined per class, each class has a budget, only packets that do not fit
 *   are segmented.
 * All count bytes without preamble, FCS and gap where there is no size table, and look at the time
 * of asking and not at when the wire is free. So a frame may end after its gate has closed: an
 * overrun. Source: the kernel's net/sched/sch_taprio.c at 5.12, 6.1 and 6.12.
 */
#ifndef TT_GATE_TAPRIO_H
#define TT_GATE_TAPRIO_H

#include "gate/network.h"

enum tt_gate_keeper {
    TT_KEEPER_WIRE, /* as the standard says */
    TT_KEEPER_LINUX_5_12,
    TT_KEEPER_LINUX_6_1,
    TT_KEEPER_LINUX_6_12,
    TT_KEEPERS
};

const char *tt_gate_keeper_text(enum tt_gate_keeper keeper);
/* Who keeps the port's gates: by its kernel's version where software does, else the wire. */
enum tt_gate_keeper tt_gate_keeper_of(const struct tt_gate_port *port);

/* The list is the caller's. */
struct tt_taprio {
    const struct tt_gate_list *list;
    enum tt_gate_keeper keeper; /* not the wire */
    int64_t rate_bps;
    int64_t extra_bytes; /* by the size table, for each packet */
    int64_t entry_ns;    /* the entry that the budgets are for */
    int64_t budget_bytes[TT_GATE_CLASSES];
    int64_t longest_ns[TT_GATE_CLASSES]; /* run of entries, or entry, that is open */
};

void tt_taprio_init(struct tt_taprio *taprio, const struct tt_gate_port *port,
                    enum tt_gate_keeper keeper);
/* What it counts for a frame, and for so many segments of a flow in one packet. */
int64_t tt_taprio_frame(const struct tt_taprio *taprio, int64_t frame_bytes);
int64_t tt_taprio_bytes(const struct tt_taprio *taprio, const struct tt_flow *flow,
                        uint32_t segments);
/* Whether it would segment such a packet. */
bool tt_taprio_cuts(const struct tt_taprio *taprio, unsigned class, int64_t bytes);
/* Whether such a packet can ever go out. */
bool tt_taprio_ever(const struct tt_taprio *taprio, unsigned class, int64_t bytes);
/* The most by which packets of this kind overrun: all that a window's budget allows, handed over at
 * the last moment. wire_ns: one of them, on the wire. Where what is left of one window's burst
 * reaches into the next, it is more. */
int64_t tt_taprio_overrun_ns(const struct tt_taprio *taprio, unsigned class, int64_t bytes,
                             int64_t wire_ns);
/* Whether it lets a packet out now; with the side effect of the question: what the budget refuses
 * is counted all the same. Times do not go back. */
bool tt_taprio_takes(struct tt_taprio *taprio, unsigned class, int64_t bytes, int64_t now_ns);

#endif
