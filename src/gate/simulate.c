/*
 * See simulate.h. Events are in a heap by time, and in the order in which they were made where two
 * have the same.
 */
#include "gate/simulate.h"

#include <errno.h>
#include <stdlib.h>

#include "base/min_max.h"
#include "base/ns.h"
#include "gate/simulate_inside.h"

enum { PACKETS = 1 << 16, QUEUE_MAX = 4096, BULK_AHEAD = 2, BULK_WINDOW = 256 };
enum { ARRIVAL, LAUNCH, WAKE };

struct event {
    int64_t at_ns;
    uint64_t order;
    uint32_t kind;
    uint32_t index; /* packet, flow or port */
};

struct flow_state {
    int64_t launches; /* so far */
    uint32_t in_first_queue;
};

struct run {
    const struct tt_network *network;
    const struct tt_sim_options *options;
    struct tt_sim_result *result;
    struct event *events;
    size_t event_count;
    size_t event_capacity;
    uint64_t order;
    struct tt_sim_packet *packets;
    uint32_t unused;
    struct tt_sim_port *ports;
    struct flow_state *flows;
    int64_t now_ns;
    bool out_of_memory;
};

/* ---- events */

static bool is_before(const struct event *a, const struct event *b)
{
    return a->at_ns != b->at_ns ? a->at_ns < b->at_ns : a->order < b->order;
}

static void push(struct run *run, int64_t at_ns, uint32_t kind, uint32_t index)
{
    struct event event = {at_ns, run->order++, kind, index};
    size_t i;

    if (run->event_count == run->event_capacity) {
        size_t capacity = 2 * run->event_capacity;
        struct event *events = realloc(run->events, capacity * sizeof(*events));

        if (!events) {
            run->out_of_memory = true;
            return;
        }
        run->events = events;
        run->event_capacity = capacity;
    }
    for (i = run->event_count++; i > 0 && is_before(&event, &run->events[(i - 1) / 2]);
         i = (i - 1) / 2) {
        run->events[i] = run->events[(i - 1) / 2];
    }
    run->events[i] = event;
}

static struct event pop(struct run *run)
{
    struct event first = run->events[0];
    struct event last = run->events[--run->event_count];
    size_t i = 0;

    for (;;) {
        size_t child = 2 * i + 1;

        if (child >= run->event_count) {
            break;
        }
        if (child + 1 < run->event_count &&
            is_before(&run->events[child + 1], &run->events[child])) {
            child++;
        }
        if (!is_before(&run->events[child], &last)) {
            break;
        }
        run->events[i] = run->events[child];
        i = child;
    }
    run->events[i] = last;
    return first;
}

static void wake(struct run *run, uint32_t port, int64_t at_ns)
{
    if (at_ns < run->ports[port].wake_ns) {
        run->ports[port].wake_ns = at_ns;
        push(run, at_ns, WAKE, port);
    }
}

/* ---- packets */

static uint32_t packet_new(struct run *run, const struct tt_sim_packet *made)
{
    uint32_t index = run->unused;

    if (index != TT_SIM_NONE) {
        run->unused = run->packets[index].next;
        run->packets[index] = *made;
    }
    return index;
}

static void packet_free(struct run *run, uint32_t index)
{
    run->packets[index].next = run->unused;
    run->unused = index;
}

static void enqueue(struct run *run, uint32_t index)
{
    struct tt_sim_packet *packet = &run->packets[index];
    const struct tt_flow *flow = &run->network->flows[packet->flow];
    uint32_t at = flow->hops[packet->hop].port;
    struct tt_sim_port *port = &run->ports[at];
    unsigned class = tt_gate_class_of(port->port, flow->priority);
    struct tt_sim_queue *queue = &port->queues[class];

    if (queue->count >= QUEUE_MAX) {
        run->result->flows[packet->flow].dropped += packet->segments;
        packet_free(run, index);
        return;
    }
    if (queue->count == 0) {
        tt_sim_credit(port, class, run->now_ns, false);
        queue->first = index;
        port->waiting |= 1u << class;
    } else {
        run->packets[queue->last].next = index;
    }
    packet->next = TT_SIM_NONE;
    packet->queued_ns = run->now_ns;
    queue->last = index;
    queue->count++;
    run->flows[packet->flow].in_first_queue += flow->hops[packet->hop].parent < 0;
    wake(run, at, run->now_ns);
}

static uint32_t dequeue(struct run *run, struct tt_sim_port *port, unsigned class)
{
    struct tt_sim_queue *queue = &port->queues[class];
    uint32_t index = queue->first;

    queue->first = run->packets[index].next;
    queue->count--;
    if (queue->count == 0) {
        port->waiting &= ~(1u << class);
    }
    return index;
}

/* ---- what happens */

/* What the flow hands over goes into the queues of its first hops, in as many packets as are made
 * of it. */
static void hand_over(struct run *run, uint32_t index)
{
    const struct tt_flow *flow = &run->network->flows[index];
    int64_t all = flow->kind == TT_FLOW_BULK && flow->gso_bytes > flow->payload_bytes
                      ? flow->gso_bytes / flow->payload_bytes
                      : 1;

    run->flows[index].launches++;
    run->result->flows[index].launched += (uint64_t)all;
    for (uint32_t hop = 0; hop < flow->hop_count; hop++) {
        uint32_t whole;

        if (flow->hops[hop].parent >= 0) {
            continue;
        }
        whole =
            flow->kind == TT_FLOW_BULK ? tt_sim_whole(&run->ports[flow->hops[hop].port], flow) : 1;
        for (int64_t left = all; left > 0; left -= whole) {
            uint32_t packet = packet_new(
                run, &(struct tt_sim_packet){
                         .flow = index, .hop = hop, .segments = whole, .launch_ns = run->now_ns});

            if (packet == TT_SIM_NONE) {
                run->result->flows[index].dropped += whole;
            } else {
                enqueue(run, packet);
            }
        }
    }
}

/* TCP hands over more while its packets get out, and only so much is on its way. */
static void go_on(struct run *run, uint32_t index)
{
    const struct tt_flow_result *result = &run->result->flows[index];

    if (run->network->flows[index].kind == TT_FLOW_BULK &&
        run->flows[index].in_first_queue < BULK_AHEAD &&
        result->launched < result->delivered + result->dropped + BULK_WINDOW) {
        hand_over(run, index);
    }
}

static void launch(struct run *run, uint32_t index)
{
    const struct tt_flow *flow = &run->network->flows[index];
    int64_t next_ns;

    hand_over(run, index);
    if (flow->kind == TT_FLOW_BULK) {
        return;
    }
    next_ns = flow->offset_ns +
              tt_frames_to_ns(run->flows[index].launches * flow->interval_samples, flow->rate_hz);
    if (next_ns < run->options->duration_ns) {
        push(run, next_ns, LAUNCH, index);
    }
}

static void deliver(struct run *run, const struct tt_sim_packet *packet)
{
    const struct tt_flow *flow = &run->network->flows[packet->flow];
    struct tt_flow_result *result = &run->result->flows[packet->flow];
    int64_t delay_ns = run->now_ns - packet->launch_ns;

    result->delivered += packet->segments;
    result->payload_bytes += flow->payload_bytes * packet->segments;
    result->delay_min_ns = tt_min64(result->delay_min_ns, delay_ns);
    result->delay_max_ns = tt_max64(result->delay_max_ns, delay_ns);
    if (flow->deadline_ns > 0) {
        result->late += delay_ns > flow->deadline_ns;
        if (run->result->margin) {
            tt_hist_record(run->result->margin, flow->deadline_ns - delay_ns);
        }
    }
}

/* At a node: to a listener, or into the queues that follow. */
static void arrive(struct run *run, uint32_t index)
{
    struct tt_sim_packet packet = run->packets[index];
    const struct tt_flow *flow = &run->network->flows[packet.flow];
    bool used = false;

    if (tt_hop_is_last(flow, packet.hop)) {
        deliver(run, &packet);
        go_on(run, packet.flow);
    }
    for (uint32_t hop = packet.hop + 1; hop < flow->hop_count; hop++) {
        if (flow->hops[hop].parent != (int)packet.hop) {
            continue;
        }
        for (uint32_t i = 0; i < packet.segments; i++) {
            struct tt_sim_packet onward = {
                .flow = packet.flow, .hop = hop, .segments = 1, .launch_ns = packet.launch_ns};
            uint32_t next = used ? packet_new(run, &onward) : index;

            used = true;
            if (next == TT_SIM_NONE) {
                run->result->flows[packet.flow].dropped++;
            } else {
                run->packets[next] = onward;
                enqueue(run, next);
            }
        }
    }
    if (!used) {
        packet_free(run, index);
    }
}

static void account(struct run *run, uint32_t at, const struct tt_sim_frame *frame,
                    uint32_t segments, int64_t queued_ns)
{
    struct tt_port_result *result = &run->result->ports[at];

    run->result->frames += segments;
    result->frames += segments;
    result->busy_ns +=
        tt_max64(0, tt_min64(frame->end_ns, run->options->duration_ns) - frame->start_ns);
    result->wait_max_ns[frame->class] =
        tt_max64(result->wait_max_ns[frame->class], frame->start_ns - queued_ns);
    if (frame->end_ns > frame->close_ns) {
        result->overruns++;
        result->overrun_max_ns = tt_max64(result->overrun_max_ns, frame->end_ns - frame->close_ns);
    }
    if (run->options->sent) {
        run->options->sent(run->options->context, frame);
    }
}

static void send(struct run *run, uint32_t at, unsigned class, int64_t close_ns)
{
    struct tt_sim_port *port = &run->ports[at];
    uint32_t index = dequeue(run, port, class);
    const struct tt_sim_packet *packet = &run->packets[index];
    uint32_t of = packet->flow;
    bool first_hop = run->network->flows[of].hops[packet->hop].parent < 0;
    int64_t bytes = tt_sim_wire_bytes(&run->network->flows[of], packet->segments);
    struct tt_sim_frame frame = {
        .port = at, .flow = of, .class = class, .handed_ns = run->now_ns, .close_ns = close_ns};

    frame.start_ns = tt_max64(run->now_ns, tt_wire_free_ns(&port->wire));
    tt_wire_send(&port->wire, frame.start_ns, bytes);
    frame.end_ns = tt_wire_free_ns(&port->wire);
    if (port->credits[class].rate_bps > 0) {
        tt_credit_send(&port->credits[class], bytes);
        port->credit_ns[class] = frame.end_ns;
    }
    account(run, at, &frame, packet->segments, packet->queued_ns);
    push(run, frame.end_ns + port->port->delay_ns, ARRIVAL, index);
    if (first_hop) {
        run->flows[of].in_first_queue--;
        go_on(run, of);
    }
}

static void serve(struct run *run, uint32_t at)
{
    struct tt_sim_port *port = &run->ports[at];

    while (port->waiting != 0) {
        struct tt_sim_heads heads = {0};
        struct tt_sim_choice choice;

        for (unsigned c = 0; c < TT_GATE_CLASSES; c++) {
            if (port->waiting >> c & 1) {
                const struct tt_sim_packet *packet = &run->packets[port->queues[c].first];

                heads.flow[c] = &run->network->flows[packet->flow];
                heads.segments[c] = packet->segments;
            }
        }
        choice = tt_sim_choose(port, &heads, run->now_ns, run->result->ports[at].never);
        if (choice.class < 0) {
            if (choice.again_ns != INT64_MAX) {
                wake(run, at, choice.again_ns);
            }
            return;
        }
        send(run, at, (unsigned)choice.class, choice.close_ns);
    }
}

/* ---- the run */

/* What the flow may do at most to the ports that it passes. */
static void bound_overruns(struct run *run, const struct tt_flow *flow)
{
    for (uint32_t h = 0; h < flow->hop_count; h++) {
        const struct tt_sim_port *port = &run->ports[flow->hops[h].port];
        struct tt_port_result *result = &run->result->ports[flow->hops[h].port];
        uint32_t segments = flow->hops[h].parent < 0 ? tt_sim_whole(port, flow) : 1;

        if (port->keeper != TT_KEEPER_WIRE) {
            result->overrun_bound_ns =
                tt_max64(result->overrun_bound_ns,
                         tt_taprio_overrun_ns(
                             &port->taprio, tt_gate_class_of(port->port, flow->priority),
                             tt_taprio_bytes(&port->taprio, flow, segments),
                             tt_wire_ns(tt_sim_wire_bytes(flow, segments), port->wire.rate_bps)));
        }
    }
}

static void start(struct run *run)
{
    for (uint32_t i = 0; i < PACKETS; i++) {
        run->packets[i].next = i + 1 < PACKETS ? i + 1 : TT_SIM_NONE;
    }
    for (size_t i = 0; i < run->network->port_count; i++) {
        const struct tt_gate_port *port = &run->network->ports[i];

        run->result->ports[i] = (struct tt_port_result){0};
        tt_sim_port_init(&run->ports[i], port,
                         run->options->as_linux ? tt_gate_keeper_of(port) : TT_KEEPER_WIRE);
    }
    for (uint32_t i = 0; i < run->network->flow_count; i++) {
        const struct tt_flow *flow = &run->network->flows[i];

        run->result->flows[i] =
            (struct tt_flow_result){.delay_min_ns = INT64_MAX, .delay_max_ns = INT64_MIN};
        bound_overruns(run, flow);
        for (int n = 0; flow->hop_count > 0 && n < (flow->kind == TT_FLOW_BULK ? BULK_AHEAD : 1);
             n++) {
            push(run, flow->offset_ns, LAUNCH, i);
        }
    }
}

static void count_waiting(struct run *run)
{
    for (size_t i = 0; i < run->network->port_count; i++) {
        for (unsigned c = 0; c < TT_GATE_CLASSES; c++) {
            for (uint32_t at = run->ports[i].queues[c].first;
                 run->ports[i].queues[c].count > 0 && at != TT_SIM_NONE;
                 at = run->packets[at].next) {
                run->result->flows[run->packets[at].flow].waiting += run->packets[at].segments;
            }
        }
    }
}

static void live(struct run *run)
{
    start(run);
    while (run->event_count > 0 && !run->out_of_memory) {
        struct event event = pop(run);

        if (event.at_ns >= run->options->duration_ns) {
            break;
        }
        run->now_ns = event.at_ns;
        if (event.kind == ARRIVAL) {
            arrive(run, event.index);
        } else if (event.kind == LAUNCH) {
            launch(run, event.index);
        } else if (event.at_ns == run->ports[event.index].wake_ns) {
            run->ports[event.index].wake_ns = INT64_MAX;
            serve(run, event.index);
        }
    }
    count_waiting(run);
}

int tt_simulate(const struct tt_network *network, const struct tt_sim_options *options,
                struct tt_sim_result *ret_result)
{
    struct run run = {
        .network = network, .options = options, .result = ret_result, .event_capacity = 1024};

    ret_result->frames = 0;
    run.events = malloc(run.event_capacity * sizeof(*run.events));
    run.packets = malloc(PACKETS * sizeof(*run.packets));
    run.ports = calloc(network->port_count + 1, sizeof(*run.ports));
    run.flows = calloc(network->flow_count + 1, sizeof(*run.flows));
    if (!run.events || !run.packets || !run.ports || !run.flows) {
        run.out_of_memory = true;
    } else {
        live(&run);
    }
    free(run.events);
    free(run.packets);
    free(run.ports);
    free(run.flows);
    return run.out_of_memory ? -ENOMEM : 0;
}
