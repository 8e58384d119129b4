/*
 * Who ran instead: the kernel's record of a processor's switches and interrupts, as tracefs prints
 * it, summed up over a stretch of time.
 *
 * Lines that are of no use are passed over; nothing in the text can do harm. What was going on when
 * the record begins is not known until the first switch.
 * Source: Documentation/trace/ftrace.rst; the formats of sched_switch, irq_handler_entry,
 * softirq_entry; osnoise-tracer.rst (irq_noise, softirq_noise, thread_noise).
 */
#ifndef TT_METER_SWITCHES_H
#define TT_METER_SWITCHES_H

#include <stdint.h>

#include "meter/cause.h"

struct tt_switches {
    int64_t other_ns;                   /* threads but `own`, and the idle one, had the processor */
    int64_t irq_ns;                     /* interrupts and softirqs did */
    int64_t lines;                      /* that counted */
    char culprit[TT_CAUSE_CULPRIT_LEN]; /* who had most of it: a thread or an interrupt; "" none */
};

/* `text` is terminated. `own_tid`: the thread whose time it was. */
void tt_switches_find(const char *text, int64_t own_tid, int64_t from_mono_ns,
                      int64_t until_mono_ns, struct tt_switches *ret_switches);

#endif
