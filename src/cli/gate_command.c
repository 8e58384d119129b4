/*
 * See gate_command.h.
 */
#include "cli/gate_command.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

static void write_taprio(const struct tt_gate_port *port, const char *ifname, FILE *out)
{
    static const char commands[] = "SHR";
    const struct tt_gate_schedule *s = &port->schedule;

    fprintf(out, "tc qdisc replace dev %s parent root handle 100: ", ifname);
    if (port->size_table) {
        /* Preamble, FCS and gap are not counted otherwise. */
        fprintf(out, "stab overhead 24 ");
    }
    fprintf(out, "taprio num_tc %u map", port->class_count);
    for (int i = 0; i < TT_GATE_PRIORITIES; i++) {
        fprintf(out, " %u", port->class_of_priority[i]);
    }
    fprintf(out, " queues");
    for (unsigned c = 0; c < port->class_count; c++) {
        fprintf(out, " %u@%u", port->queue_count[c], port->queue_offset[c]);
    }
    fprintf(out, " base-time %" PRId64, s->base_tai_ns);
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

char *tt_gate_command(const struct tt_gate_port *port, const char *ifname)
{
    char *text = NULL;
    size_t bytes;
    FILE *out = open_memstream(&text, &bytes);

    if (!out) {
        return NULL;
    }
    write_taprio(port, ifname, out);
    if (fclose(out) != 0) {
        free(text);
        return NULL;
    }
    return text;
}
