/*
 * See midi_jitter.h.
 */
#include "cli/midi_jitter.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/ns.h"
#include "cli/midi_ports.h"
#include "midi/log.h"
#include "os/load.h"
#include "os/wake.h"
#include "run/drive.h"

#define SYSEX_BYTES 64
#define WAIT_MS     50
#define LAST_NS     (2 * TT_NS_PER_S) /* so long the last ones may take */
#define STOP_NS     TT_NS_PER_S       /* so long a reader stands still */

struct method {
    struct tt_midi_parser parser;
    uint8_t sysex[SYSEX_BYTES];
    struct tt_probe probe;
    int64_t *got_ns;
};

struct pass {
    const struct tt_jitter_setup *setup;
    enum tt_jitter_load load;
    struct tt_record record;
    struct tt_drive drive;
    struct tt_midi_port *output;
    char *pty_path;
    struct tt_probe_due *due;
    struct tt_probe_sent *sent;
    int64_t *scratch_ns;
    struct method *methods;
};

const char *tt_jitter_load_name(enum tt_jitter_load load)
{
    static const char *const names[TT_JITTER_LOADS] = {
        [TT_JITTER_IDLE] = "idle",
        [TT_JITTER_LOADED] = "loaded",
        [TT_JITTER_STOPPED] = "stopped",
    };

    return names[load];
}

static enum tt_exit open_output(struct pass *pass)
{
    struct tt_midi_port_setup setup = {.name = pass->setup->output, .output = true};
    int error;

    if (setup.name) {
        return tt_midi_ports_open(pass->setup->command, &setup, &pass->output);
    }
    error = tt_midi_pty_open(&pass->output, &pass->pty_path);
    if (error) {
        tt_cli_say(pass->setup->command, "cannot make a pty: %s", strerror(-error));
    }
    return error ? TT_EXIT_ENVIRONMENT : TT_EXIT_GOOD;
}

/* "read:PORT" and "ticks:PORT" ask for weaker stamps than the port can have. */
static const char *weaker_stamp(const char *name, struct tt_midi_port_setup *setup)
{
    setup->no_kernel_stamps = strncmp(name, "read:", 5) == 0;
    setup->ticks = strncmp(name, "ticks:", 6) == 0;
    return name + (setup->no_kernel_stamps ? 5 : setup->ticks ? 6 : 0);
}

static enum tt_exit add_input(struct pass *pass, const char *name)
{
    struct tt_midi_port_setup setup = {0};
    struct tt_midi_port *port;
    enum tt_exit code;

    setup.name = weaker_stamp(name, &setup);
    code = tt_midi_ports_open(pass->setup->command, &setup, &port);
    if (code != TT_EXIT_GOOD) {
        return code;
    }
    tt_record_add(&pass->record, port, &setup);
    if ((setup.no_kernel_stamps && port->stamp != TT_MIDI_PORT_STAMP_READ) ||
        (setup.ticks && port->stamp != TT_MIDI_PORT_STAMP_TICKS)) {
        tt_cli_say(pass->setup->command,
                   "%s: read: is for raw MIDI and serial ports, ticks: for the sequencer's", name);
        return TT_EXIT_USAGE;
    }
    return TT_EXIT_GOOD;
}

/* The sequencer's ports can be read by several methods at once; of the others each byte goes to one
 * reader. */
static enum tt_exit check_inputs(const struct tt_jitter_setup *setup)
{
    struct tt_midi_port_setup ignored;
    const char *names[TT_JITTER_METHODS];
    unsigned count = 0;

    for (unsigned i = 0; i < setup->input_count; i++) {
        names[count] = weaker_stamp(setup->inputs[i], &ignored);
        count += strncmp(names[count], "seq:", 4) != 0;
    }
    return tt_midi_ports_check_different(setup->command, names, count);
}

static enum tt_exit open_inputs(struct pass *pass)
{
    enum tt_exit code =
        pass->pty_path ? add_input(pass, pass->pty_path) : check_inputs(pass->setup);

    for (unsigned i = 0; i < pass->setup->input_count && code == TT_EXIT_GOOD; i++) {
        code = add_input(pass, pass->setup->inputs[i]);
    }
    return code;
}

static enum tt_exit make_room(struct pass *pass)
{
    struct tt_probe_plan plan = pass->setup->plan;
    size_t count = plan.count;

    pass->due = calloc(count, sizeof(*pass->due));
    pass->sent = calloc(count, sizeof(*pass->sent));
    pass->scratch_ns = calloc(count, sizeof(*pass->scratch_ns));
    pass->methods = calloc(TT_JITTER_METHODS + 1, sizeof(*pass->methods));
    for (unsigned i = 0; i < pass->record.count && pass->methods; i++) {
        struct method *method = &pass->methods[i];

        method->got_ns = calloc(count, sizeof(*method->got_ns));
        if (!method->got_ns) {
            return TT_EXIT_ENVIRONMENT;
        }
        tt_midi_parser_init(&method->parser, method->sysex, SYSEX_BYTES);
        tt_probe_init(&method->probe, pass->sent, method->got_ns, count);
    }
    if (!pass->due || !pass->sent || !pass->scratch_ns || !pass->methods) {
        return TT_EXIT_ENVIRONMENT;
    }
    plan.byte_ns = pass->setup->output || pass->setup->wire > 0
                       ? tt_midi_ports_byte_ns(pass->output->name, pass->setup->wire)
                       : 0;
    tt_probe_plan(&plan, pass->due);
    return TT_EXIT_GOOD;
}

static void take_frame(struct pass *pass, const struct tt_midi_frame *frame)
{
    struct method *method = &pass->methods[frame->port];
    struct tt_midi_event event;
    size_t used;

    if (frame->type != TT_MIDI_LOG_BYTES) {
        return;
    }
    for (size_t at = 0; tt_midi_parser_step(&method->parser, frame->data + at, frame->length - at,
                                            frame->time_mono_ns, &used, &event);
         at += used) {
        tt_probe_event(&method->probe, &event);
    }
}

static void take_frames(struct pass *pass)
{
    struct tt_midi_frame frames[64];
    size_t n;

    tt_wake_clear(pass->record.ready_fd);
    while ((n = tt_record_take(&pass->record, frames, TT_COUNT_OF(frames))) > 0) {
        for (size_t i = 0; i < n; i++) {
            take_frame(pass, &frames[i]);
        }
    }
}

static bool all_there(const struct pass *pass)
{
    size_t sent = atomic_load_explicit(&pass->drive.ended, memory_order_acquire)
                      ? atomic_load_explicit(&pass->drive.done, memory_order_acquire)
                      : pass->setup->plan.count;

    for (unsigned i = 0; i < pass->record.count; i++) {
        if (pass->methods[i].probe.next < sent) {
            return false;
        }
    }
    return true;
}

/* Whether the reader stands still, which ends in time. *since_ns: 0 before it does. */
static bool stands_still(struct pass *pass, int64_t *since_ns)
{
    if (!atomic_load_explicit(&pass->record.held, memory_order_relaxed)) {
        return false;
    }
    if (*since_ns == 0) {
        *since_ns = tt_midi_port_now_ns();
    } else if (tt_midi_port_now_ns() - *since_ns >= STOP_NS) {
        atomic_store_explicit(&pass->record.held, false, memory_order_relaxed);
    }
    return true;
}

/* Until all have arrived, or the last ones had their time. */
static void wait_for_all(struct pass *pass)
{
    struct pollfd ready = {.fd = pass->record.ready_fd, .events = POLLIN};
    int64_t still_since_ns = 0;
    int64_t end_ns = INT64_MAX;

    while (tt_midi_port_now_ns() < end_ns && !all_there(pass)) {
        if (tt_cli_interrupted()) {
            tt_drive_quit(&pass->drive); /* what is on its way arrives */
        }
        poll(&ready, 1, WAIT_MS);
        take_frames(pass);
        if (stands_still(pass, &still_since_ns)) {
            continue;
        }
        if (end_ns == INT64_MAX && atomic_load_explicit(&pass->drive.ended, memory_order_acquire)) {
            end_ns = tt_midi_port_now_ns() + LAST_NS;
        }
    }
}

static enum tt_exit send_all(struct pass *pass)
{
    int error = tt_record_start(&pass->record);

    pass->drive.port = pass->output;
    pass->drive.due = pass->due;
    pass->drive.sent = pass->sent;
    pass->drive.count = pass->setup->plan.count;
    pass->drive.hold = pass->load == TT_JITTER_STOPPED ? &pass->record.held : NULL;
    pass->drive.hold_at = pass->setup->plan.count * 2 / 3;
    if (!error) {
        error = tt_drive_start(&pass->drive);
    }
    if (!error) {
        wait_for_all(pass);
    }
    tt_drive_stop(&pass->drive);
    tt_record_stop(&pass->record);
    take_frames(pass);
    error = error ? error : pass->drive.error;
    if (error) {
        tt_cli_say(pass->setup->command, "cannot send: %s", strerror(-error));
    }
    return error ? TT_EXIT_ENVIRONMENT : TT_EXIT_GOOD;
}

static void set_name(const struct pass *pass, unsigned i, struct tt_jitter_method *method)
{
    const struct tt_record_port *port = &pass->record.ports[i];
    const char *stamp = port->port ? tt_midi_stamp_name(port->port->stamp) : "gone";

    snprintf(method->name, sizeof(method->name), "%s: %s",
             pass->pty_path && i == 0 ? "pty" : port->name, stamp);
}

/* What was not sent, as after an interrupt, is not lost. */
static enum tt_exit conclude(struct pass *pass, struct tt_jitter *jitter)
{
    size_t sent = atomic_load_explicit(&pass->drive.done, memory_order_acquire);

    jitter->methods = calloc(pass->record.count, sizeof(*jitter->methods));
    if (!jitter->methods) {
        return TT_EXIT_ENVIRONMENT;
    }
    jitter->method_count = pass->record.count;
    jitter->load = pass->load;
    jitter->sent = sent;
    for (unsigned i = 0; i < pass->record.count; i++) {
        struct tt_jitter_method *method = &jitter->methods[i];

        pass->methods[i].probe.count = sent;
        set_name(pass, i, method);
        tt_hist_init(&method->errors);
        tt_probe_finish(&pass->methods[i].probe, pass->scratch_ns, &method->errors,
                        &method->result);
        method->duplicated = pass->methods[i].probe.duplicated;
        method->reordered = pass->methods[i].probe.reordered;
        method->foreign = pass->methods[i].probe.foreign;
    }
    return TT_EXIT_GOOD;
}

static void free_pass(struct pass *pass)
{
    for (unsigned i = 0; pass->methods && i < pass->record.count; i++) {
        free(pass->methods[i].got_ns);
    }
    free(pass->methods);
    free(pass->sent);
    free(pass->scratch_ns);
    free(pass->due);
    tt_record_done(&pass->record);
    tt_midi_port_close(pass->output);
    free(pass->pty_path);
}

static enum tt_exit run_pass(struct pass *pass, struct tt_jitter *jitter)
{
    struct tt_load load = {0};
    enum tt_exit code = open_output(pass);

    if (code == TT_EXIT_GOOD) {
        code = open_inputs(pass);
    }
    if (code == TT_EXIT_GOOD && make_room(pass) != TT_EXIT_GOOD) {
        tt_cli_say(pass->setup->command, "out of memory");
        code = TT_EXIT_ENVIRONMENT;
    }
    if (code == TT_EXIT_GOOD && pass->load == TT_JITTER_LOADED) {
        struct tt_load_setup setup = {.kind = TT_LOAD_SCHEDULER,
                                      .priority = TT_JITTER_PRIORITY_OF_LOAD};
        int error = tt_load_start(&load, &setup);

        if (error) {
            tt_cli_say(pass->setup->command, "cannot start the load: %s", strerror(-error));
            code = TT_EXIT_ENVIRONMENT;
        }
        jitter->load_realtime = load.realtime;
    }
    if (code == TT_EXIT_GOOD) {
        code = send_all(pass);
    }
    tt_load_stop(&load, NULL);
    return code == TT_EXIT_GOOD ? conclude(pass, jitter) : code;
}

enum tt_exit tt_jitter_run(const struct tt_jitter_setup *setup, enum tt_jitter_load load,
                           struct tt_jitter *ret_jitter)
{
    struct pass pass = {.setup = setup, .load = load};
    enum tt_exit code = TT_EXIT_ENVIRONMENT;

    *ret_jitter = (struct tt_jitter){0};
    if (tt_record_init(&pass.record) != 0) {
        tt_cli_say(setup->command, "out of memory");
        return code;
    }
    code = run_pass(&pass, ret_jitter);
    free_pass(&pass);
    return code;
}

void tt_jitter_done(struct tt_jitter *jitter)
{
    free(jitter->methods);
    jitter->methods = NULL;
}
