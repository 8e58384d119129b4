/*
 * The simulation and the analytic worst case: what one sees the other never contradicts, and in
 * cases made for it they meet; the 2021 case, as Linux did it and as it does; what random networks
 * do, held by a checker that sees the frames on the wire only.
 */
#include "test.h"

#include <stdio.h>
#include <string.h>

#include "gate/bound.h"
#include "gate/simulate.h"
#include "gate/verify.h"
#include "gate/wire_time.h"

#define MBIT INT64_C(1000000)
#define MS   INT64_C(1000000)

enum { PORTS = 6, FLOWS = 12 };

struct world {
    struct tt_gate_port ports[PORTS];
    struct tt_flow flows[FLOWS];
    struct tt_gate_entry entries[PORTS][4];
    struct tt_network network;
    struct tt_flow_result flow_results[FLOWS];
    struct tt_port_result port_results[PORTS];
    struct tt_sim_result result;
    int64_t flow_bounds[FLOWS];
    int64_t port_bounds[PORTS * TT_GATE_CLASSES];
    uint64_t wrong; /* frames that the checker does not allow */
    int64_t free_ns[PORTS];
};

static void world_init(struct world *w)
{
    *w = (struct world){.network = {w->ports, 0, w->flows, 0}};
    w->result.flows = w->flow_results;
    w->result.ports = w->port_results;
}

static void world_done(struct world *w)
{
    for (size_t i = 0; i < w->network.port_count; i++)
        tt_gate_list_free(w->ports[i].list);
}

static struct tt_gate_port *add_port(struct world *w, int64_t rate_bps)
{
    struct tt_gate_port *port = &w->ports[w->network.port_count++];

    port->rate_bps = rate_bps;
    port->class_count = 8;
    for (unsigned i = 0; i < 8; i++)
        port->class_of_priority[i] = (uint8_t)i;
    return port;
}

static void set_gates(struct world *w, struct tt_gate_port *port, size_t n)
{
    size_t i = (size_t)(port - w->ports);

    port->has_schedule = true;
    port->schedule = (struct tt_gate_schedule){.entries = w->entries[i], .entry_count = n};
    port->list = tt_gate_list_new(&port->schedule);
}

static struct tt_flow *add_flow(struct world *w, enum tt_flow_kind kind, unsigned priority,
                                int64_t frame_bytes, int64_t interval_ns)
{
    struct tt_flow *flow = &w->flows[w->network.flow_count++];

    *flow = (struct tt_flow){
        .kind = kind,
        .priority = priority,
        .frame_bytes = frame_bytes,
        .payload_bytes = frame_bytes - 66,
        .interval_samples = interval_ns,
        .rate_hz = 1000000000,
        .hop_count = 1,
        .hops = {{0, -1}},
    };
    return flow;
}

/* Sees frames on wires, and knows the gates' masks by the ns only. */
static void look(void *context, const struct tt_sim_frame *frame)
{
    struct world *w = context;
    const struct tt_gate_list *list = w->ports[frame->port].list;

    if (frame->start_ns < w->free_ns[frame->port])
        w->wrong++;
    w->free_ns[frame->port] = frame->end_ns;
    for (int64_t t = frame->start_ns; list && t < frame->end_ns; t += 61)
        if ((tt_gate_list_mask(list, t) >> frame->class & 1) == 0)
            w->wrong++;
    if (list && (tt_gate_list_mask(list, frame->end_ns - 1) >> frame->class & 1) == 0)
        w->wrong++;
}

static void run(struct world *w, int64_t duration_ns, bool as_linux)
{
    struct tt_sim_options options = {
        .duration_ns = duration_ns, .as_linux = as_linux, .sent = look, .context = w};
    struct tt_gate_bounds bounds = {w->flow_bounds, w->port_bounds};

    assert_int_equal(tt_simulate(&w->network, &options, &w->result), 0);
    assert_int_equal(tt_gate_bound(&w->network, &bounds), 0);
}

static double mbits(const struct world *w, size_t flow, int64_t duration_ns)
{
    return (double)w->flow_results[flow].payload_bytes * 8e3 / (double)duration_ns;
}

/* 100 Mbit/s, class 6 for 500 us, then all others; TCP of 7240 bytes at once. */
static void make_2021(struct world *w, int64_t window_ns, unsigned kernel)
{
    struct tt_gate_port *port;
    struct tt_flow *flow;

    world_init(w);
    port = add_port(w, 100 * MBIT);
    port->kernel = kernel;
    w->entries[0][0] = (struct tt_gate_entry){TT_GATE_SET, 0x40, window_ns};
    w->entries[0][1] = (struct tt_gate_entry){TT_GATE_SET, 0xbf, MS - window_ns};
    set_gates(w, port, 2);
    flow = add_flow(w, TT_FLOW_BULK, 6, 1514, MS);
    flow->gso_bytes = 7240;
}

static void test_2021_unsegmented(void **state)
{
    struct world *w = calloc(1, sizeof(*w));

    (void)state;
    make_2021(w, 500000, 5012);
    run(w, 100 * MS, true);
    assert_int_equal(w->flow_results[0].delivered, 0);
    assert_true(w->port_results[0].never[6]);
    world_done(w);
    free(w);
}

/* 46.336 Mbit/s is the limit (payload of 1448 bytes), 23.168 in 360 us, 11.584 in 125 us. */
static void test_2021_segmented(void **state)
{
    static const struct {
        int64_t window_ns;
        double limit;
    } rows[] = {{500000, 46.336}, {360000, 23.168}, {125000, 11.584}};
    static const unsigned kernels[] = {0, 6001, 6012};

    (void)state;
    for (size_t i = 0; i < TT_COUNT_OF(rows); i++)
        for (size_t k = 0; k < TT_COUNT_OF(kernels); k++) {
            struct world *w = calloc(1, sizeof(*w));

            make_2021(w, rows[i].window_ns, kernels[k]);
            run(w, 1000 * MS, kernels[k] != 0);
            assert_true(mbits(w, 0, 1000 * MS) > 0.997 * rows[i].limit &&
                        mbits(w, 0, 1000 * MS) <= rows[i].limit);
            if (kernels[k] == 0) {
                assert_int_equal(w->port_results[0].overruns, 0);
                assert_int_equal(w->wrong, 0);
            }
            world_done(w);
            free(w);
        }
}

/* Before 5.13 three segments at once are counted with one header: they go into 360 us, and end 9.12
 * us too late. */
static void test_headers_forgotten(void **state)
{
    struct world *w = calloc(1, sizeof(*w));

    (void)state;
    make_2021(w, 360000, 5010);
    w->flows[0].gso_bytes = 3 * 1448;
    run(w, 100 * MS, true);
    assert_int_equal(w->flow_results[0].delivered, 300);
    assert_int_equal(w->port_results[0].overrun_max_ns, 9120);
    world_done(w);
    free(w);
}

/* The class's frame comes 1 ns too late for its window of 125 us: it waits for the next. */
static void test_worst_moment_is_reached(void **state)
{
    struct world *w = calloc(1, sizeof(*w));
    struct tt_gate_port *port;
    struct tt_flow *flow;

    (void)state;
    world_init(w);
    port = add_port(w, 100 * MBIT);
    w->entries[0][0] = (struct tt_gate_entry){TT_GATE_SET, 1 << 3, 125000};
    w->entries[0][1] = (struct tt_gate_entry){TT_GATE_SET, 1 << 0, 875000};
    set_gates(w, port, 2);
    flow = add_flow(w, TT_FLOW_STREAM, 3, 1514, 2 * MS);
    flow->offset_ns = 125000 - 123040 + 1;
    flow->deadline_ns = MS;
    run(w, 100 * MS, false);
    assert_int_equal(w->flow_results[0].delay_max_ns, w->flow_bounds[0]);
    assert_int_equal(w->flow_bounds[0], MS - 1961 + 123040);
    assert_int_equal(w->flow_results[0].late, 50);
    assert_int_equal(w->wrong, 0);
    world_done(w);
    free(w);
}

/* Four at once behind a full frame that has just begun, by priority alone, over two hops. */
static void test_priority_is_reached(void **state)
{
    struct world *w = calloc(1, sizeof(*w));

    (void)state;
    world_init(w);
    add_port(w, 100 * MBIT)->delay_ns = 5000;
    add_port(w, 100 * MBIT)->delay_ns = 5000;
    for (unsigned i = 0; i < 4; i++)
        add_flow(w, TT_FLOW_STREAM, 3, 200, 2 * MS)->offset_ns = 1;
    add_flow(w, TT_FLOW_TIMED, 0, 1514, 2 * MS);
    w->flows[0].hops[1] = (struct tt_hop){1, 0};
    w->flows[0].hop_count = 2;
    /* The last of the four at the first hop. */
    w->flows[1].offset_ns = w->flows[2].offset_ns = w->flows[3].offset_ns = 0;
    w->flows[4].offset_ns = 0;
    run(w, 20 * MS, false);
    assert_int_equal(w->wrong, 0);
    assert_true(w->flow_results[0].delay_max_ns <= w->flow_bounds[0]);
    /* 3 × 17.92 + 17.92 + what blocks (or not: it came last); then alone. */
    assert_int_equal(w->flow_bounds[0], 123040 + 4 * 17920 + 5000 + 17920 + 5000);
    world_done(w);
    free(w);
}

/* Frames of a class at 10 % that all come at once are as far apart as its slope says. */
static void test_credits_hold(void **state)
{
    struct world *w = calloc(1, sizeof(*w));
    struct tt_gate_port *port;

    (void)state;
    world_init(w);
    port = add_port(w, 100 * MBIT);
    port->cbs[3] = (struct tt_gate_cbs){.set = true, .idle_kbps = 10000, .send_kbps = -90000};
    for (unsigned i = 0; i < 5; i++)
        add_flow(w, TT_FLOW_STREAM, 3, 226, 100 * MS);
    run(w, 1000 * MS, false);
    /* 250 bytes on the wire: 20 us; 200 us from start to start. */
    assert_int_equal(w->flow_results[4].delay_max_ns, 4 * 200000 + 20000);
    assert_true(w->flow_results[4].delay_max_ns <= w->flow_bounds[4]);
    world_done(w);
    free(w);
}

struct held {
    struct tt_gate_verifier verifier;
    uint64_t of[TT_PLACES];
    int64_t by_max_ns;
    bool skewed; /* other times than the simulation's */
};

/* What the simulation puts on the wire, by the stamps that a sender's machine would give. */
static void hold(void *context, const struct tt_sim_frame *frame)
{
    struct held *h = context;
    struct tt_gate_verdict verdict;

    tt_gate_verify(&h->verifier, frame->class, frame->handed_ns, 1514, &verdict);
    h->of[verdict.place]++;
    h->by_max_ns = verdict.by_ns > h->by_max_ns ? verdict.by_ns : h->by_max_ns;
    h->skewed = h->skewed || verdict.start_ns != frame->start_ns || verdict.end_ns != frame->end_ns;
}

/* Verify explains every overrun of the kernel that it models, and finds none in the standard's.
 * With four frames a window, the last of which is handed over late. */
static void test_verified(void **state)
{
    static const unsigned kernels[] = {0, 5013, 6001, 6003, 6012};

    (void)state;
    for (size_t k = 0; k < TT_COUNT_OF(kernels); k++) {
        struct world *w = calloc(1, sizeof(*w));
        struct held held = {0};
        struct tt_sim_options options = {
            .duration_ns = 1000 * MS, .as_linux = kernels[k] != 0, .sent = hold, .context = &held};

        make_2021(w, 500000, kernels[k]);
        for (unsigned i = 0; i < 4; i++) {
            struct tt_flow *flow = add_flow(w, TT_FLOW_TIMED, 6, 1514, 3 * MS);

            flow->offset_ns = 378800 - (int64_t)i * 777;
        }
        w->network.flow_count--;
        w->flows[0] = w->flows[4];
        tt_gate_verifier_init(&held.verifier, w->ports, true, 0);
        assert_int_equal(tt_simulate(&w->network, &options, &w->result), 0);
        assert_int_equal(held.of[TT_PLACE_OVERRUN] + held.of[TT_PLACE_OUTSIDE], 0);
        assert_false(held.skewed);
        assert_int_equal(held.by_max_ns, w->port_results[0].overrun_max_ns);
        if (kernels[k] == 0) {
            assert_int_equal(held.of[TT_PLACE_INSIDE], w->result.frames);
            assert_int_equal(w->port_results[0].overrun_bound_ns, 0);
        } else {
            /* 4 × 123.04 us from 121.12 us before the end on. */
            assert_int_equal(w->port_results[0].overrun_bound_ns, 371040);
            assert_int_equal(held.by_max_ns, 378800 + 4 * 123040 - 3 * 777 - 500000);
            assert_int_equal(held.of[TT_PLACE_INSIDE], 334);
            assert_int_equal(held.of[TT_PLACE_BUSY], 3 * 334);
        }
        world_done(w);
        free(w);
    }
}

/* What no kernel does is not excused: a gate that is closed, one frame more than the budget, the
 * last moment missed; and nothing is where hardware keeps the gates. */
static void test_not_excused(void **state)
{
    struct world *w = calloc(1, sizeof(*w));
    struct tt_gate_verifier v;
    struct tt_gate_verdict verdict;

    (void)state;
    make_2021(w, 500000, 6001);
    tt_gate_verifier_init(&v, w->ports, true, 0);
    tt_gate_verify(&v, 6, 500000, 60, &verdict);
    assert_int_equal(verdict.place, TT_PLACE_OUTSIDE);
    assert_int_equal(verdict.by_ns, 1);
    tt_gate_verify(&v, 6, MS + 378881, 1514, &verdict);
    assert_int_equal(verdict.place, TT_PLACE_OVERRUN);
    for (int i = 0; i < 4; i++) {
        tt_gate_verify(&v, 6, 2 * MS + 378880, 1514, &verdict);
        assert_int_equal(verdict.place, i == 0 ? TT_PLACE_UNCOUNTED : TT_PLACE_BUSY);
    }
    tt_gate_verify(&v, 6, 2 * MS + 378880, 1514, &verdict);
    assert_int_equal(verdict.place, TT_PLACE_OVERRUN);
    w->ports[0].mode = TT_GATE_OFFLOAD;
    tt_gate_verifier_init(&v, w->ports, false, 0);
    tt_gate_verify(&v, 6, 378880, 1514, &verdict);
    assert_int_equal(verdict.place, TT_PLACE_OVERRUN);
    assert_int_equal(verdict.by_ns, 1920);
    tt_gate_verifier_init(&v, w->ports, false, 1920);
    tt_gate_verify(&v, 6, 378880, 1514, &verdict);
    assert_int_equal(verdict.place, TT_PLACE_INSIDE);
    world_done(w);
    free(w);
}

static void draw(struct world *w, uint64_t *seed)
{
    static const int64_t rates[] = {100 * MBIT, 1000 * MBIT};
    size_t ports = 1 + random_size(seed, 3);

    for (size_t p = 0; p < ports; p++) {
        struct tt_gate_port *port = add_port(w, rates[random_size(seed, 2)]);

        port->delay_ns = (int64_t)random_below(seed, 3000);
        if (random_below(seed, 3) == 0)
            continue;
        for (size_t i = 0; i < 3; i++)
            w->entries[p][i] = (struct tt_gate_entry){
                TT_GATE_SET, (uint32_t)random_below(seed, 256) | 1u << (2 * i),
                130000 + (int64_t)random_below(seed, 200000)};
        set_gates(w, port, 3);
    }
    for (size_t i = 0, n = 1 + random_size(seed, 6); i < n; i++) {
        struct tt_flow *flow = add_flow(w, TT_FLOW_STREAM, (unsigned)random_below(seed, 8),
                                        60 + (int64_t)random_below(seed, 1458),
                                        2 * MS + 1000 * (int64_t)random_below(seed, 2000));

        flow->offset_ns = (int64_t)random_below(seed, MS);
        for (unsigned h = 1; h < ports; h++)
            flow->hops[flow->hop_count++] = (struct tt_hop){h, (int)h - 1};
    }
}

/* Bound at least what is observed, no frame outside its window, no two on one wire. */
static void test_random_networks(void **state)
{
    unsigned bounded = 0;

    (void)state;
    for (uint64_t n = 0; n < 300; n++) {
        struct world *w = calloc(1, sizeof(*w));
        uint64_t seed = n;

        world_init(w);
        draw(w, &seed);
        run(w, 200 * MS, false);
        if (w->wrong > 0)
            fail_msg("network %d: %d frames where none may be", (int)n, (int)w->wrong);
        for (size_t i = 0; i < w->network.flow_count; i++) {
            if (w->flow_results[i].delay_max_ns > w->flow_bounds[i])
                fail_msg("network %d, flow %d: %lld ns, above the bound of %lld", (int)n, (int)i,
                         (long long)w->flow_results[i].delay_max_ns, (long long)w->flow_bounds[i]);
            bounded += w->flow_bounds[i] != TT_GATE_UNBOUNDED;
        }
        world_done(w);
        free(w);
    }
    assert_true(bounded > 500);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_2021_unsegmented),
        cmocka_unit_test(test_2021_segmented),
        cmocka_unit_test(test_headers_forgotten),
        cmocka_unit_test(test_worst_moment_is_reached),
        cmocka_unit_test(test_priority_is_reached),
        cmocka_unit_test(test_credits_hold),
        cmocka_unit_test(test_verified),
        cmocka_unit_test(test_not_excused),
        cmocka_unit_test(test_random_networks),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
