/*
 * See gate_live.h; and tt_gate_open_live of gate_options.h.
 */
#include "cli/gate_live.h"

#include <errno.h>
#include <linux/pkt_sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <time.h>

#include "cli/gate_options.h"
#include "cli/gate_value.h"
#include "os/interfaces.h"

#define QDISCS_MAX   256
#define FLAG_ASSIST  1
#define FLAG_OFFLOAD 2

/* ---- from the kernel */

static void set_map(const struct tt_qdisc *qdisc, struct tt_gate_port *port)
{
    port->class_count = qdisc->classes;
    for (unsigned i = 0; i < TT_GATE_PRIORITIES; i++) {
        port->class_of_priority[i] = qdisc->class_of_priority[i];
        port->queue_count[i] = qdisc->queue_count[i];
        port->queue_offset[i] = qdisc->queue_offset[i];
    }
}

static void set_etf(const struct tt_qdisc *qdisc, struct tt_gate_port *port)
{
    unsigned queue = TC_H_MIN(qdisc->parent);

    for (unsigned c = 0; c < port->class_count; c++) {
        if (queue > port->queue_offset[c] &&
            queue <= port->queue_offset[c] + port->queue_count[c]) {
            port->etf[c] = (struct tt_gate_etf){.set = true,
                                                .offload = qdisc->offload,
                                                .other_clock = qdisc->clockid != CLOCK_TAI,
                                                .delta_ns = qdisc->delta_ns};
        }
    }
}

static int set_gates(const struct tt_qdisc_gates *gates, struct tt_gate_file *file)
{
    struct tt_gate_port *port = &file->network.ports[0];
    struct tt_gate_entry *entries = calloc(gates->entry_count + 1, sizeof(*entries));

    if (!entries) {
        return -ENOMEM;
    }
    for (size_t i = 0; i < gates->entry_count; i++) {
        entries[i] = (struct tt_gate_entry){.command = gates->entries[i].command <= TT_GATE_RELEASE
                                                           ? gates->entries[i].command
                                                           : TT_GATE_SET,
                                            .mask = gates->entries[i].mask,
                                            .interval_ns = gates->entries[i].interval_ns};
    }
    file->entries[0] = entries;
    port->has_schedule = true;
    port->mode = gates->flags & FLAG_OFFLOAD  ? TT_GATE_OFFLOAD
                 : gates->flags & FLAG_ASSIST ? TT_GATE_ASSIST
                                              : TT_GATE_SOFTWARE;
    port->clock_given = gates->has_clock;
    port->clock = !gates->has_clock || gates->clockid == CLOCK_TAI ? TT_GATE_CLOCK_TAI
                                                                   : TT_GATE_CLOCK_REALTIME;
    port->txtime_delay_ns = gates->txtime_delay_ns;
    port->size_table = gates->size_table;
    port->schedule = (struct tt_gate_schedule){.base_tai_ns = gates->base_ns,
                                               .cycle_ns = gates->cycle_ns,
                                               .extension_ns = gates->extension_ns,
                                               .entries = entries,
                                               .entry_count = gates->entry_count};
    return 0;
}

static int read_live(const char *ifname, struct tt_gate_file *file)
{
    struct tt_gate_port *port = &file->network.ports[0];
    struct tt_qdisc *qdiscs = calloc(QDISCS_MAX, sizeof(*qdiscs));
    struct tt_qdisc_gates gates;
    size_t n = 0;
    int error = qdiscs ? tt_qdisc_list(ifname, qdiscs, QDISCS_MAX, &n) : -ENOMEM;

    for (size_t i = 0; i < n; i++) {
        if (qdiscs[i].parent == TC_H_ROOT) {
            set_map(&qdiscs[i], port);
        }
    }
    for (size_t i = 0; i < n; i++) {
        if (strcmp(qdiscs[i].kind, "etf") == 0) {
            set_etf(&qdiscs[i], port);
        }
    }
    free(qdiscs);
    error = error ? error : tt_qdisc_gates_read(ifname, &gates);
    if (error == -ENOENT) {
        return 0; /* no gates */
    }
    if (error == 0) {
        error = set_gates(&gates, file);
        free(gates.entries);
    }
    return error;
}

/* What the options leave open. */
static void set_facts(const char *ifname, const struct tt_gate_file_options *options,
                      struct tt_gate_port *port)
{
    struct tt_interface_facts facts = {0};
    struct utsname system;

    tt_interface_ask(ifname, &facts);
    snprintf(port->name, sizeof(port->name), "%s", ifname);
    port->rate_bps = options->rate_bps ? options->rate_bps : facts.speed_bps;
    port->tx_queues = options->tx_queues ? options->tx_queues : facts.tx_queues;
    if (options->driver || options->driver_unknown[0]) {
        port->driver = options->driver;
        memcpy(port->driver_unknown, options->driver_unknown, sizeof(port->driver_unknown));
    } else {
        tt_gate_driver_set(&port->driver, port->driver_unknown, facts.driver);
    }
    port->kernel = options->kernel;
    if (port->kernel == 0 && uname(&system) == 0) {
        tt_gate_kernel_parse(system.release, &port->kernel);
    }
}

enum tt_exit tt_gate_open_live(const char *command, const char *ifname,
                               const struct tt_gate_file_options *options,
                               struct tt_gate_file *ret_file)
{
    struct tt_gate_file file;
    struct tt_message message;
    char names[256];
    int error = tt_gate_file_single(&file);

    if (error != 0) {
        tt_cli_say(command, "out of memory");
        return TT_EXIT_ENVIRONMENT;
    }
    error = read_live(ifname, &file);
    if (error == 0) {
        set_facts(ifname, options, &file.network.ports[0]);
        tt_gate_file_usual_traffic(&file);
        error = tt_gate_file_compile(&file, &message);
    }
    if (error == 0) {
        *ret_file = file;
        return TT_EXIT_GOOD;
    }
    tt_gate_file_done(&file);
    if (error == -ENODEV) {
        tt_interface_names(names, sizeof(names));
        tt_cli_say(command, "%s is neither a file nor an interface; there are: %s", ifname, names);
        return TT_EXIT_USAGE;
    }
    tt_cli_say(command, "cannot read the qdiscs of %s: %s", ifname,
               error == -EINVAL ? message.text : strerror(-error));
    return TT_EXIT_ENVIRONMENT;
}

/* ---- to the kernel */

static void add_children(const struct tt_gate_port *port, struct tt_qdisc_setup *setup)
{
    for (unsigned c = 0; c < TT_GATE_CLASSES; c++) {
        struct tt_qdisc_child child = {.queue = port->queue_offset[c]};

        if (port->etf[c].set) {
            child.etf = true;
            child.clockid = port->etf[c].other_clock ? CLOCK_REALTIME : CLOCK_TAI;
            child.delta_ns = (int32_t)port->etf[c].delta_ns;
            child.offload = port->etf[c].offload;
        } else if (port->cbs[c].set) {
            child.offload = port->cbs[c].offload;
            child.idle_kbps = (int32_t)port->cbs[c].idle_kbps;
            child.send_kbps = (int32_t)port->cbs[c].send_kbps;
            child.hi_bytes = (int32_t)port->cbs[c].hi_bytes;
            child.lo_bytes = (int32_t)port->cbs[c].lo_bytes;
        } else {
            continue;
        }
        setup->children[setup->child_count++] = child;
    }
}

int tt_gate_setup_make(const struct tt_gate_port *port, struct tt_qdisc_setup *ret_setup)
{
    const struct tt_gate_schedule *s = &port->schedule;
    struct tt_qdisc_setup setup = {.taprio = port->has_schedule};

    setup.map.classes = port->class_count;
    for (unsigned i = 0; i < TT_GATE_PRIORITIES; i++) {
        setup.map.class_of_priority[i] = port->class_of_priority[i];
        setup.map.queue_count[i] = port->queue_count[i];
        setup.map.queue_offset[i] = port->queue_offset[i];
    }
    if (port->txtime_delay_ns > UINT32_MAX) {
        return -ERANGE;
    }
    setup.gates = (struct tt_qdisc_gates){
        .has_clock = port->clock_given,
        .clockid = port->clock != TT_GATE_CLOCK_TAI ? CLOCK_REALTIME : CLOCK_TAI,
        .flags = port->mode == TT_GATE_OFFLOAD  ? FLAG_OFFLOAD
                 : port->mode == TT_GATE_ASSIST ? FLAG_ASSIST
                                                : 0,
        .txtime_delay_ns = (uint32_t)port->txtime_delay_ns,
        .base_ns = s->base_tai_ns,
        .cycle_ns = s->cycle_ns,
        .extension_ns = s->extension_ns,
        .size_table = port->size_table,
        .entries = calloc(s->entry_count + 1, sizeof(*setup.gates.entries)),
    };
    if (!setup.gates.entries) {
        return -ENOMEM;
    }
    for (size_t i = 0; i < s->entry_count; i++) {
        if (s->entries[i].interval_ns > UINT32_MAX) {
            free(setup.gates.entries);
            return -ERANGE;
        }
        setup.gates.entries[setup.gates.entry_count++] =
            (struct tt_qdisc_entry){.command = (uint8_t)s->entries[i].command,
                                    .mask = s->entries[i].mask,
                                    .interval_ns = (uint32_t)s->entries[i].interval_ns};
    }
    add_children(port, &setup);
    *ret_setup = setup;
    return 0;
}

const char *tt_gate_difference(const struct tt_qdisc_setup *set, const struct tt_qdisc_gates *got)
{
    const struct tt_qdisc_gates *want = &set->gates;
    int64_t sum_ns = 0;

    if (got->entry_count != want->entry_count) {
        return "the number of entries";
    }
    for (size_t i = 0; i < want->entry_count; i++) {
        sum_ns += want->entries[i].interval_ns;
        if (want->entries[i].mask != got->entries[i].mask ||
            want->entries[i].interval_ns != got->entries[i].interval_ns ||
            want->entries[i].command != got->entries[i].command) {
            return "an entry";
        }
    }
    if (got->cycle_ns != (want->cycle_ns ? want->cycle_ns : sum_ns)) {
        return "the cycle time";
    }
    return want->base_ns != got->base_ns             ? "the base time"
           : want->extension_ns != got->extension_ns ? "the cycle time extension"
           : want->flags != got->flags               ? "the flags"
                                                     : NULL;
}
