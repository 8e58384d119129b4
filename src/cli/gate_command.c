/*
 * See gate_command.h.
 */
#include "cli/gate_command.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

static void write_root(const struct tt_gate_port *port, const char *ifname, FILE *out)
{
    fprintf(out, "tc qdisc replace dev %s parent root handle 100: ", ifname);
    if (port->size_table) {
        /* Preamble, FCS and gap are not counted otherwise. */
        fprintf(out, "stab overhead 24 ");
    }
    fprintf(out, "%s num_tc %u map", port->has_schedule ? "taprio" : "mqprio", port->class_count);
    for (int i = 0; i < TT_GATE_PRIORITIES; i++) {
        fprintf(out, " %u", port->class_of_priority[i]);
    }
    fprintf(out, " queues");
    for (unsigned c = 0; c < port->class_count; c++) {
        fprintf(out, " %u@%u", port->queue_count[c], port->queue_offset[c]);
    }
}

static void write_schedule(const struct tt_gate_port *port, FILE *out)
{
    static const char commands[] = "SHR";
    const struct tt_gate_schedule *s = &port->schedule;

    fprintf(out, " base-time %" PRId64, s->base_tai_ns);
    if (s->cycle_ns > 0) {
        fprintf(out, " cycle-time %" PRId64, s->cycle_ns);
    }
    if (s->extension_ns > 0) {
        fprintf(out, " cycle-time-extension %" PRId64, s->extension_ns);
    }
    for (size_t i = 0; i < s->entry_count; i++) {
        fprintf(out, " sched-entry %c %02" PRIx32 " %" PRId64, commands[s->entries[i].command],
                s->entries[i].mask, s->entries[i].interval_ns);
    }
    fprintf(out, port->mode == TT_GATE_OFFLOAD  ? " flags 0x2"
                 : port->mode == TT_GATE_ASSIST ? " flags 0x1 clockid CLOCK_TAI"
                                                : " clockid CLOCK_TAI");
    if (port->txtime_delay_ns > 0) {
        fprintf(out, " txtime-delay %" PRId64, port->txtime_delay_ns);
    }
}

/* One command below the root, for each class that has a qdisc of its own. */
static void write_children(const struct tt_gate_port *port, const char *ifname, FILE *out)
{
    for (unsigned c = 0; c < port->class_count; c++) {
        const struct tt_gate_etf *etf = &port->etf[c];
        const struct tt_gate_cbs *cbs = &port->cbs[c];

        if (etf->set || cbs->set) {
            fprintf(out, "\ntc qdisc replace dev %s parent 100:%x ", ifname,
                    port->queue_offset[c] + 1);
        }
        if (etf->set) {
            fprintf(out, "etf clockid %s delta %" PRId64 "%s",
                    etf->other_clock ? "CLOCK_REALTIME" : "CLOCK_TAI", etf->delta_ns,
                    etf->offload ? " offload" : "");
        } else if (cbs->set) {
            fprintf(out,
                    "cbs idleslope %" PRId64 " sendslope %" PRId64 " hicredit %" PRId64
                    " locredit %" PRId64 " offload %d",
                    cbs->idle_kbps, cbs->send_kbps, cbs->hi_bytes, cbs->lo_bytes, cbs->offload);
        }
    }
}

char *tt_gate_command(const struct tt_gate_port *port, const char *ifname)
{
    char *text = NULL;
    size_t bytes;
    FILE *out = open_memstream(&text, &bytes);

    if (!out) {
        return NULL;
    }
    write_root(port, ifname, out);
    if (port->has_schedule) {
        write_schedule(port, out);
    } else {
        fprintf(out, " hw 0");
    }
    write_children(port, ifname, out);
    if (fclose(out) != 0) {
        free(text);
        return NULL;
    }
    return text;
}
