/*
 * The experiment of `tactus midi jitter`: numbered messages through a path, recorded by several
 * methods at once, idle and under load.
 */
#ifndef TT_CLI_MIDI_JITTER_H
#define TT_CLI_MIDI_JITTER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/hist.h"
#include "cli/cmd.h"
#include "midi/probe.h"
#include "os/midi_port.h"
#include "run/record.h"

#define TT_JITTER_METHODS          8
#define TT_JITTER_PRIORITY_OF_LOAD 10 /* SCHED_RR, as in 2021 */

enum tt_jitter_load {
    TT_JITTER_IDLE,
    TT_JITTER_LOADED,
    TT_JITTER_STOPPED, /* no load, but the reader stands still for a second */
    TT_JITTER_LOADS
};

struct tt_jitter_setup {
    const char *command;
    const char *output; /* NULL: a pty, which is the first input too */
    /* "read:PORT": raw MIDI without the kernel's stamps; "ticks:PORT": the sequencer's ticks */
    const char *inputs[TT_JITTER_METHODS];
    unsigned input_count;
    int wire;                  /* of the output, as tt_midi_ports_byte_ns takes it */
    struct tt_probe_plan plan; /* all but byte_ns */
};

struct tt_jitter_method {
    char name[TT_MIDI_PORT_NAME + 32]; /* port and stamps */
    struct tt_probe_result result;
    uint64_t duplicated;
    uint64_t reordered;
    uint64_t foreign;
    struct tt_hist errors;
};

struct tt_jitter {
    enum tt_jitter_load load;
    struct tt_jitter_method *methods; /* owned */
    unsigned method_count;
    size_t sent;
    bool load_realtime; /* the load ran with real-time priority */
};

/* One pass. TT_EXIT_GOOD, or an exit code after saying why; an interrupt is none. */
enum tt_exit tt_jitter_run(const struct tt_jitter_setup *setup, enum tt_jitter_load load,
                           struct tt_jitter *ret_jitter);
void tt_jitter_done(struct tt_jitter *jitter);
/* "idle" … */
const char *tt_jitter_load_name(enum tt_jitter_load load);

#endif
