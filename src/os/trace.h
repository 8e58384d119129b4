/*
 * The kernel's own record of who ran on a processor and which interrupts came: an instance of
 * tracefs for ourselves, small, overwriting, on the monotonic clock; read around a loss only.
 *
 * Nothing of the machine's other tracing is touched. The instance is removed in the end; one that a
 * killed process left is removed by the next.
 * Source: Documentation/trace/ftrace.rst, events.rst; osnoise-tracer.rst.
 */
#ifndef TT_OS_TRACE_H
#define TT_OS_TRACE_H

#include <stdbool.h>
#include <stddef.h>

#define TT_TRACE_PATH 160

struct tt_trace_session {
    char folder[TT_TRACE_PATH]; /* of the instance; "": none */
    bool osnoise;               /* its events are on */
    bool workload;              /* osnoise had a load of its own before, and gets it back */
};

/* Whether tracefs can be used by this process, and has the osnoise tracer. 0, -ENOENT: it is not
 * mounted, or why not. */
int tt_trace_available(bool *ret_osnoise);
/* Switches and interrupts are recorded from now on. 0 or -errno. */
int tt_trace_open(struct tt_trace_session *session);
/* What the processor's record holds now, as text, the newest `size` - 1 bytes of it; then it is
 * empty and goes on. The length, or -errno. */
int tt_trace_take(struct tt_trace_session *session, int cpu, char *ret_text, size_t size);
/* Nothing where none is open. */
void tt_trace_close(struct tt_trace_session *session);

#endif
