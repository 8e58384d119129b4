/*
 * Which frame a port sends, and when: as the standard says, or as Linux does. See simulate.h.
 * Source: IEEE 802.1Q-2018, 8.6.8; taprio.h.
 */
#include "base/min_max.h"
#include "base/ns.h"
#include "gate/simulate_inside.h"

#define RING_BYTES 16384 /* what a driver takes ahead of the wire */

int64_t tt_sim_wire_bytes(const struct tt_flow *flow, uint32_t segments)
{
    return tt_wire_bytes(flow->frame_bytes) * segments;
}

void tt_sim_port_init(struct tt_sim_port *port, const struct tt_gate_port *of,
                      enum tt_gate_keeper keeper)
{
    *port = (struct tt_sim_port){
        .port = of,
        .timeline = {.list = of->list, .start_ns = INT64_MIN},
        .keeper = keeper,
        .wire = {.rate_bps = tt_gate_rate(of), .free_ns = INT64_MIN / 2},
        .wake_ns = INT64_MAX,
    };
    tt_taprio_init(&port->taprio, of, keeper);
    if (of->list && of->old) {
        port->timeline.old = of->old;
        port->timeline.start_ns = tt_gate_start_ns(of->list, 0);
    }
    for (unsigned c = 0; c < TT_GATE_CLASSES; c++) {
        port->queues[c] = (struct tt_sim_queue){TT_SIM_NONE, TT_SIM_NONE, 0};
        if (of->cbs[c].set && of->cbs[c].idle_kbps > 0) {
            tt_credit_init(&port->credits[c], tt_gate_rate(of), of->cbs[c].idle_kbps * 1000,
                           INT64_MAX);
        }
    }
}

uint32_t tt_sim_whole(const struct tt_sim_port *port, const struct tt_flow *flow)
{
    int64_t segments = flow->payload_bytes > 0 ? flow->gso_bytes / flow->payload_bytes : 0;
    unsigned class = tt_gate_class_of(port->port, flow->priority);

    return segments > 1 && port->keeper != TT_KEEPER_WIRE &&
                   !tt_taprio_cuts(&port->taprio, class,
                                   tt_taprio_bytes(&port->taprio, flow, (uint32_t)segments))
               ? (uint32_t)segments
               : 1;
}

/* How long the class's gate is open between two times. */
static int64_t open_between(const struct tt_sim_port *port, unsigned class, int64_t from_ns,
                            int64_t to_ns)
{
    int64_t sum_ns = 0;

    if (!port->port->list) {
        return to_ns - from_ns;
    }
    while (from_ns < to_ns) {
        struct tt_gate_window window;

        if (!tt_gate_window(&port->timeline, class, from_ns, &window)) {
            break;
        }
        sum_ns += tt_max64(0, tt_min64(to_ns, window.close_ns) - tt_max64(from_ns, window.open_ns));
        from_ns = window.close_ns;
    }
    return sum_ns;
}

void tt_sim_credit(struct tt_sim_port *port, unsigned class, int64_t now_ns, bool waiting)
{
    struct tt_credit *credit = &port->credits[class];

    if (credit->rate_bps > 0 && now_ns >= port->credit_ns[class]) {
        tt_credit_wait(credit, open_between(port, class, port->credit_ns[class], now_ns), waiting);
        port->credit_ns[class] = now_ns;
    }
}

/* When the credit of the class lets its head go, gates left aside. */
static int64_t credit_due(struct tt_sim_port *port, unsigned class, int64_t now_ns)
{
    if (port->credits[class].rate_bps == 0) {
        return now_ns;
    }
    tt_sim_credit(port, class, now_ns, true);
    return tt_max64(now_ns, port->credit_ns[class]) + tt_credit_due_ns(&port->credits[class]);
}

static int64_t close_of(const struct tt_sim_port *port, unsigned class, int64_t now_ns)
{
    struct tt_gate_window window = {0, INT64_MAX};

    if (port->port->list) {
        tt_gate_window(&port->timeline, class, now_ns, &window);
    }
    return window.close_ns;
}

static struct tt_sim_choice choose_wire(struct tt_sim_port *port, const struct tt_sim_heads *heads,
                                        int64_t now_ns, bool ret_never[TT_GATE_CLASSES])
{
    struct tt_sim_choice choice = {.class = -1, .again_ns = INT64_MAX};
    int64_t free_ns = tt_wire_free_ns(&port->wire);

    if (free_ns > now_ns) {
        choice.again_ns = free_ns;
        return choice;
    }
    for (int c = TT_GATE_CLASSES - 1; c >= 0; c--) {
        int64_t at_ns;

        if ((port->waiting >> c & 1) == 0) {
            continue;
        }
        at_ns = credit_due(port, (unsigned)c, now_ns);
        if (port->port->list &&
            tt_gate_launch(&port->timeline, (unsigned)c, &port->wire, at_ns,
                           tt_sim_wire_bytes(heads->flow[c], heads->segments[c]), &at_ns) != 0) {
            ret_never[c] = true;
            continue;
        }
        if (at_ns <= now_ns) {
            return (struct tt_sim_choice){c, now_ns, close_of(port, (unsigned)c, now_ns)};
        }
        choice.again_ns = tt_min64(choice.again_ns, at_ns);
    }
    return choice;
}

static struct tt_sim_choice choose_linux(struct tt_sim_port *port, const struct tt_sim_heads *heads,
                                         int64_t now_ns, bool ret_never[TT_GATE_CLASSES])
{
    struct tt_sim_choice choice = {.class = -1};
    int64_t ring_ns = tt_wire_ns(RING_BYTES, port->wire.rate_bps);
    struct tt_taprio *taprio = &port->taprio;
    struct tt_gate_window entry;

    tt_gate_list_segment(taprio->list, now_ns, &entry);
    choice.again_ns = entry.close_ns;
    if (tt_wire_free_ns(&port->wire) - now_ns > ring_ns) {
        choice.again_ns = tt_wire_free_ns(&port->wire) - ring_ns;
        return choice;
    }
    for (int i = 0; i < TT_GATE_CLASSES; i++) {
        unsigned c = port->keeper == TT_KEEPER_LINUX_6_12 ? (unsigned)(TT_GATE_CLASSES - 1 - i)
                                                          : (unsigned)i;

        int64_t bytes;

        if ((port->waiting >> c & 1) == 0) {
            continue;
        }
        bytes = tt_taprio_bytes(taprio, heads->flow[c], heads->segments[c]);
        ret_never[c] = !tt_taprio_ever(taprio, c, bytes);
        if (tt_taprio_takes(taprio, c, bytes, now_ns)) {
            return (struct tt_sim_choice){(int)c, now_ns, close_of(port, c, now_ns)};
        }
    }
    return choice;
}

struct tt_sim_choice tt_sim_choose(struct tt_sim_port *port, const struct tt_sim_heads *heads,
                                   int64_t now_ns, bool ret_never[TT_GATE_CLASSES])
{
    return port->keeper == TT_KEEPER_WIRE || now_ns < port->timeline.start_ns
               ? choose_wire(port, heads, now_ns, ret_never)
               : choose_linux(port, heads, now_ns, ret_never);
}
