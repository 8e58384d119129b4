/*
 * Which frame a port sends, and when: as the standard says, or as Linux does. See simulate.h.
 * Source: IEEE 802.1Q-2018, 8.6.8; the kernel's net/sched/sch_taprio.c at 5.12, 6.1 and 6.12.
 */
#include "base/min_max.h"
#include "base/ns.h"
#include "gate/simulate_inside.h"

#define RING_BYTES 16384 /* what a driver takes ahead of the wire */

const char *tt_sim_keeper_text(enum tt_sim_keeper keeper)
{
    static const char *const texts[TT_SIM_KEEPERS] = {
        [TT_SIM_WIRE] = "as the standard says",
        [TT_SIM_LINUX_5_12] = "as Linux before 5.13 does",
        [TT_SIM_LINUX_6_1] = "as Linux 5.13 to 6.2 does",
        [TT_SIM_LINUX_6_12] = "as Linux from 6.3 does",
    };

    return texts[keeper];
}

enum tt_sim_keeper tt_sim_keeper_of(const struct tt_gate_port *port)
{
    if (!port->list || port->bridge || port->mode != TT_GATE_SOFTWARE || port->kernel == 0) {
        return TT_SIM_WIRE;
    }
    return port->kernel < 5013   ? TT_SIM_LINUX_5_12
           : port->kernel < 6003 ? TT_SIM_LINUX_6_1
                                 : TT_SIM_LINUX_6_12;
}

int64_t tt_sim_wire_bytes(const struct tt_flow *flow, uint32_t segments)
{
    return tt_wire_bytes(flow->frame_bytes) * segments;
}

/* Before 6.3 the headers of all but the first segment are forgotten. */
static int64_t kernel_bytes(const struct tt_sim_port *port, const struct tt_flow *flow,
                            uint32_t segments)
{
    int64_t bytes = flow->frame_bytes * segments;

    if (port->keeper == TT_SIM_LINUX_5_12) {
        bytes -= (flow->frame_bytes - flow->payload_bytes) * (segments - 1);
    }
    return bytes;
}

static int64_t bytes_in(const struct tt_sim_port *port, int64_t ns)
{
    int64_t rate_bps = port->wire.rate_bps;

    /* Whole seconds apart, lest it overflow. */
    return ns / TT_NS_PER_S * (rate_bps / 8) + ns % TT_NS_PER_S * (rate_bps / 1000) / 8000000;
}

void tt_sim_port_init(struct tt_sim_port *port, const struct tt_gate_port *of,
                      enum tt_sim_keeper keeper)
{
    *port = (struct tt_sim_port){
        .port = of,
        .timeline = {.list = of->list, .start_ns = INT64_MIN},
        .keeper = keeper,
        .wire = {.rate_bps = tt_gate_rate(of), .free_ns = INT64_MIN / 2},
        .wake_ns = INT64_MAX,
        .entry_ns = INT64_MIN,
    };
    for (unsigned c = 0; c < TT_GATE_CLASSES; c++) {
        port->queues[c] = (struct tt_sim_queue){TT_SIM_NONE, TT_SIM_NONE, 0};
        if (of->cbs[c].set && of->cbs[c].idle_kbps > 0) {
            tt_credit_init(&port->credits[c], tt_gate_rate(of), of->cbs[c].idle_kbps * 1000,
                           INT64_MAX);
        }
        if (keeper == TT_SIM_LINUX_6_12) {
            port->longest_ns[c] = of->list->classes[c].longest_ns;
        } else if (keeper != TT_SIM_WIRE) {
            for (size_t i = 0; i < of->list->segment_count; i++) {
                struct tt_gate_window entry;
                uint32_t mask = tt_gate_list_segment(
                    of->list, of->list->base_tai_ns + of->list->segments[i].start_ns, &entry);

                if (mask >> c & 1) {
                    port->longest_ns[c] =
                        tt_max64(port->longest_ns[c], entry.close_ns - entry.open_ns);
                }
            }
        }
    }
}

uint32_t tt_sim_whole(const struct tt_sim_port *port, const struct tt_flow *flow)
{
    int64_t segments = flow->payload_bytes > 0 ? flow->gso_bytes / flow->payload_bytes : 0;
    unsigned class = tt_gate_class_of(port->port, flow->priority);

    if (segments <= 1 || port->keeper == TT_SIM_WIRE || port->keeper == TT_SIM_LINUX_6_1) {
        return 1;
    }
    if (port->keeper == TT_SIM_LINUX_6_12 && port->longest_ns[class] != INT64_MAX &&
        kernel_bytes(port, flow, (uint32_t)segments) > bytes_in(port, port->longest_ns[class])) {
        return 1;
    }
    return (uint32_t)segments;
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

        if (!tt_gate_list_window(port->port->list, class, from_ns, &window)) {
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
        tt_gate_list_window(port->port->list, class, now_ns, &window);
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

static void enter(struct tt_sim_port *port, const struct tt_gate_window *entry, uint32_t mask)
{
    if (port->entry_ns == entry->open_ns) {
        return;
    }
    port->entry_ns = entry->open_ns;
    if (port->keeper != TT_SIM_LINUX_6_12) {
        port->budget_bytes[0] = bytes_in(port, entry->close_ns - entry->open_ns);
        return;
    }
    for (unsigned c = 0; c < TT_GATE_CLASSES; c++) {
        int64_t close_ns = close_of(port, c, entry->open_ns);

        if (mask >> c & 1) {
            port->budget_bytes[c] =
                close_ns == INT64_MAX ? INT64_MAX : bytes_in(port, close_ns - entry->open_ns);
        }
    }
}

/* The kernel's test of one class, with its side effect: what is refused by the budget is counted
 * too. Up to 6.2 there is one budget for all. */
static bool linux_takes(struct tt_sim_port *port, unsigned class, const struct tt_sim_heads *heads,
                        const struct tt_gate_window *entry, int64_t now_ns)
{
    bool joined = port->keeper == TT_SIM_LINUX_6_12;
    int64_t bytes = kernel_bytes(port, heads->flow[class], heads->segments[class]);
    int64_t end_ns = now_ns + bytes * 8 * TT_NS_PER_S / port->wire.rate_bps;
    int64_t close_ns = joined ? close_of(port, class, now_ns) : entry->close_ns;
    int64_t *budget_bytes = &port->budget_bytes[joined ? class : 0];

    if (joined ? end_ns >= close_ns : end_ns > close_ns) {
        return false;
    }
    if (*budget_bytes != INT64_MAX) {
        *budget_bytes -= bytes;
    }
    return *budget_bytes >= 0;
}

static struct tt_sim_choice choose_linux(struct tt_sim_port *port, const struct tt_sim_heads *heads,
                                         int64_t now_ns, bool ret_never[TT_GATE_CLASSES])
{
    struct tt_sim_choice choice = {.class = -1};
    int64_t ring_ns = tt_wire_ns(RING_BYTES, port->wire.rate_bps);
    struct tt_gate_window entry;
    uint32_t mask = tt_gate_list_segment(port->port->list, now_ns, &entry);

    choice.again_ns = entry.close_ns;
    if (tt_wire_free_ns(&port->wire) - now_ns > ring_ns) {
        choice.again_ns = tt_wire_free_ns(&port->wire) - ring_ns;
        return choice;
    }
    enter(port, &entry, mask);
    for (int i = 0; i < TT_GATE_CLASSES; i++) {
        unsigned c =
            port->keeper == TT_SIM_LINUX_6_12 ? (unsigned)(TT_GATE_CLASSES - 1 - i) : (unsigned)i;

        if ((port->waiting >> c & 1) == 0) {
            continue;
        }
        ret_never[c] = kernel_bytes(port, heads->flow[c], heads->segments[c]) * 8 * TT_NS_PER_S /
                           port->wire.rate_bps >
                       port->longest_ns[c];
        if ((mask >> c & 1) && linux_takes(port, c, heads, &entry, now_ns)) {
            return (struct tt_sim_choice){(int)c, now_ns, close_of(port, c, now_ns)};
        }
    }
    return choice;
}

struct tt_sim_choice tt_sim_choose(struct tt_sim_port *port, const struct tt_sim_heads *heads,
                                   int64_t now_ns, bool ret_never[TT_GATE_CLASSES])
{
    return port->keeper == TT_SIM_WIRE ? choose_wire(port, heads, now_ns, ret_never)
                                       : choose_linux(port, heads, now_ns, ret_never);
}
