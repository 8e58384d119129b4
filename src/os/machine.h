/*
 * What machine this is, as far as it bears on time: for the card of a report. Facts only, read when
 * asked; what cannot be read is "" or -1.
 */
#ifndef TT_OS_MACHINE_H
#define TT_OS_MACHINE_H

#include <stdbool.h>
#include <stdint.h>

#define TT_MACHINE_TEXT 128

struct tt_machine {
    char kernel[TT_MACHINE_TEXT];     /* "Linux 6.1.0 x86_64" */
    char preemption[TT_MACHINE_TEXT]; /* how it is built: "#1 SMP PREEMPT_DYNAMIC …" */
    char processor[TT_MACHINE_TEXT];
    int processors;                 /* online */
    char governor[TT_MACHINE_TEXT]; /* of the first processor's frequency */
    char clocksource[TT_MACHINE_TEXT];
    int64_t rt_runtime_us; /* real-time tasks may run so long … */
    int64_t rt_period_us;  /* … in each such period; -1 runtime: without a limit */
    bool rt_known;
    int64_t rtprio_limit;        /* the highest real-time priority that may be asked for */
    int64_t memlock_limit_bytes; /* -1: no limit */
    int tai_offset_s;            /* 0: nobody set it */
};

void tt_machine_read(struct tt_machine *ret_machine);

/* The first line of a file of /proc or /sys without its newline; "" where it cannot be read.
 * Returns ret_text. */
const char *tt_machine_line(const char *path, char ret_text[TT_MACHINE_TEXT]);

#endif
