/*
 * Who releases packets at their launch times: the kernel, or the engine. A pure decision over the
 * qdiscs of an interface.
 *
 * The kernel keeps the launch times (SO_TXTIME, CLOCK_TAI) of a priority when every queue that its
 * packets may take ends in an etf qdisc that goes by them: etf as root, or as the child of each
 * queue of the priority's traffic class (mqprio, taprio) or of all queues (mq). A cbs may lie in
 * between. taprio passes packets that carry a launch time on to the queue's qdisc, with
 * txtime-assist too, and so is never enough by itself. Source: tc-etf(8), tc-mqprio(8),
 * tc-taprio(8).
 */
#ifndef TT_RUN_PACE_H
#define TT_RUN_PACE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "os/qdisc.h"

enum tt_pace_verdict {
    TT_PACE_KEPT,
    TT_PACE_NO_ETF,
    TT_PACE_OTHER_QUEUE, /* etf is there, but not where this priority goes */
    TT_PACE_SOME_QUEUES, /* on some of the queues of the priority's class only */
    TT_PACE_CLOCK,       /* etf goes by another clock than CLOCK_TAI */
    TT_PACE_DEADLINE,    /* etf in deadline mode takes launch times for deadlines */
    TT_PACE_DELTA,       /* etf with delta 0 finds every packet late and drops it */
    TT_PACES
};

struct tt_pace_found {
    enum tt_pace_verdict pace;
    const struct tt_qdisc *etf;  /* kept: of those in force that with the largest delta; CLOCK,
                                  * DEADLINE,  DELTA: the one at fault; else NULL */
    const struct tt_qdisc *root; /* NULL: none */
    int64_t delta_ns;            /* kept: a packet must be in the qdisc so long before its launch */
    bool offload;        /* kept: the hardware releases packets; false: a timer of the kernel */
    bool etf_in_the_way; /* packets without a launch time do not pass: an etf drops them */
};

/* The result points into `qdiscs`. */
void tt_pace_find(const struct tt_qdisc *qdiscs, size_t n, int priority,
                  struct tt_pace_found *ret_found);

/* One line without a full stop. */
const char *tt_pace_text(enum tt_pace_verdict pace);

#endif
