/*
 * The analytic worst case and the simulation: what one sees the other never contradicts, also in
 * random networks, and in cases made for it they meet.
 */
#include "test.h"

#include <stdio.h>

#include "gate_world.h"

static uint64_t networks = 400;

/* What was seen is what was said, but for 1 %. */
static void assert_reached(const struct world *w, size_t flow)
{
    int64_t seen_ns = w->flow_results[flow].delay_max_ns;
    int64_t bound_ns = w->flow_bounds[flow];

    if (seen_ns > bound_ns || seen_ns * 100 < bound_ns * 99)
        fail_msg("flow %d: %lld ns seen, the bound is %lld", (int)flow, (long long)seen_ns,
                 (long long)bound_ns);
    assert_int_equal(w->wrong, 0);
}

/* The class's frame comes 1 ns too late for its window of 125 us: it waits for the next. */
static void test_worst_moment_is_reached(void **state)
{
    struct world *w = world_new();
    struct tt_gate_port *port;
    struct tt_flow *flow;

    (void)state;
    port = add_port(w, 100 * MBIT);
    w->entries[0][0] = (struct tt_gate_entry){TT_GATE_SET, 1 << 3, 125000};
    w->entries[0][1] = (struct tt_gate_entry){TT_GATE_SET, 1 << 0, 875000};
    set_gates(w, port, 2);
    flow = add_flow(w, TT_FLOW_STREAM, 3, 1514, 2 * MS);
    flow->offset_ns = 125000 - 123040 + 1;
    flow->deadline_ns = MS;
    world_run(w, 100 * MS, false);
    assert_int_equal(w->flow_results[0].delay_max_ns, w->flow_bounds[0]);
    assert_int_equal(w->flow_bounds[0], MS - 1961 + 123040);
    assert_int_equal(w->flow_results[0].late, 50);
    assert_int_equal(w->wrong, 0);
    world_free(w);
}

/* Four at once, and two of the class above, behind a full frame that has just begun, by priority
 * alone, over two hops. */
static void test_priority_is_reached(void **state)
{
    struct world *w = world_new();
    struct tt_flow *last;

    (void)state;
    add_port(w, 100 * MBIT)->delay_ns = 5000;
    add_port(w, 100 * MBIT)->delay_ns = 5000;
    add_flow(w, TT_FLOW_TIMED, 0, 1514, 2 * MS);
    for (unsigned i = 0; i < 3; i++)
        add_flow(w, TT_FLOW_STREAM, 3, 200, 2 * MS)->offset_ns = 1;
    last = add_flow(w, TT_FLOW_STREAM, 3, 200, 2 * MS);
    last->offset_ns = 1;
    last->hops[last->hop_count++] = (struct tt_hop){1, 0};
    /* The second of it comes while the first four wait. */
    add_flow(w, TT_FLOW_STREAM, 5, 400, 2 * MS)->offset_ns = 1;
    add_flow(w, TT_FLOW_STREAM, 5, 400, 125000)->offset_ns = 1;
    world_run(w, 20 * MS, false);
    assert_int_equal(w->flow_bounds[4], 123040 + 4 * 17920 + 4 * 33920 + 5000 + 17920 + 5000);
    assert_reached(w, 4);
    world_free(w);
}

/* Frames of a class at 10 % that all come at once are as far apart as its slope says; a full frame
 * that begins just before the last may go holds that up, and one before does not. */
static void test_credits_are_reached(void **state)
{
    struct world *w = world_new();
    struct tt_gate_port *port;
    struct tt_flow *full;

    (void)state;
    port = add_port(w, 100 * MBIT);
    port->cbs[3] = (struct tt_gate_cbs){.set = true, .idle_kbps = 10000, .send_kbps = -90000};
    for (unsigned i = 0; i < 5; i++)
        add_flow(w, TT_FLOW_STREAM, 3, 226, 100 * MS);
    world_run(w, 1000 * MS, false);
    /* 250 bytes on the wire: 20 us; 200 us from start to start. */
    assert_int_equal(w->flow_bounds[4], 4 * 200000 + 20000);
    assert_int_equal(w->flow_results[4].delay_max_ns, w->flow_bounds[4]);
    full = add_flow(w, TT_FLOW_TIMED, 0, 1514, 100 * MS);
    full->offset_ns = 100000;
    w->free_ns[0] = 0;
    world_run(w, 1000 * MS, false);
    assert_int_equal(w->flow_results[4].delay_max_ns, 4 * 200000 + 20000);
    full->offset_ns = 799999;
    w->free_ns[0] = 0;
    world_run(w, 1000 * MS, false);
    assert_int_equal(w->flow_bounds[4], 4 * 200000 + 20000 + 123040);
    assert_reached(w, 4);
    world_free(w);
}

/* A shaped class below one that comes twice in the time: both count once, at the end. */
static void test_credits_below_others(void **state)
{
    struct world *w = world_new();
    struct tt_gate_port *port;

    (void)state;
    port = add_port(w, 100 * MBIT);
    port->cbs[2] = (struct tt_gate_cbs){.set = true, .idle_kbps = 20000, .send_kbps = -80000};
    for (unsigned i = 0; i < 3; i++)
        add_flow(w, TT_FLOW_STREAM, 2, 226, 100 * MS);
    add_flow(w, TT_FLOW_STREAM, 5, 1226, 100 * MS)->offset_ns = 199998;
    add_flow(w, TT_FLOW_STREAM, 6, 1226, 100 * MS)->offset_ns = 199999;
    add_flow(w, TT_FLOW_TIMED, 0, 1514, 100 * MS)->offset_ns = 199997;
    world_run(w, 1000 * MS, false);
    assert_int_equal(w->flow_bounds[2], 2 * 100000 + 20000 + 123040 + 2 * 100000);
    assert_reached(w, 2);
    world_free(w);
}

/* A class that has waited behind its gate comes with all that it has on the one below. */
static void test_held_back_is_reached(void **state)
{
    struct world *w = world_new();
    struct tt_gate_port *port;

    (void)state;
    port = add_port(w, 100 * MBIT);
    w->entries[0][0] = (struct tt_gate_entry){TT_GATE_SET, 0x01, 900000};
    w->entries[0][1] = (struct tt_gate_entry){TT_GATE_SET, 0x21, 600000};
    set_gates(w, port, 2);
    add_flow(w, TT_FLOW_STREAM, 5, 426, 300000)->offset_ns = 600001;
    add_flow(w, TT_FLOW_STREAM, 0, 1514, 15 * MS)->offset_ns = 900000;
    world_run(w, 600 * MS, false);
    assert_true(w->flow_results[1].delay_max_ns > 123040 + 3 * 36000);
    assert_true(w->flow_results[1].delay_max_ns <= w->flow_bounds[1]);
    assert_int_equal(w->wrong, 0);
    world_free(w);
}

/* Many small frames, several in one period of others, and shapers: what is held back comes at once.
 */
static void draw_dense(struct world *w, uint64_t *seed)
{
    size_t ports = 1 + random_size(seed, 3);

    for (size_t p = 0; p < ports; p++) {
        struct tt_gate_port *port = add_port(w, 100 * MBIT);

        port->delay_ns = (int64_t)random_below(seed, 3000);
        for (unsigned c = 0; c < 8; c++)
            port->cbs[c] = (struct tt_gate_cbs){
                .set = random_below(seed, 3) == 0,
                .idle_kbps = 10000 + (int64_t)random_below(seed, 30000),
            };
        if (random_below(seed, 2) == 0)
            continue;
        for (size_t i = 0; i < 3; i++)
            w->entries[p][i] = (struct tt_gate_entry){
                TT_GATE_SET, (uint32_t)random_below(seed, 256) | 0x07u << (2 * i),
                20000 + (int64_t)random_below(seed, 400000)};
        set_gates(w, port, 3);
    }
    for (size_t i = 0, n = 2 + random_size(seed, 8); i < n; i++) {
        bool often = random_below(seed, 3) > 0;
        struct tt_flow *flow = add_flow(w, TT_FLOW_STREAM, (unsigned)random_below(seed, 8),
                                        often ? 60 + (int64_t)random_below(seed, 150) : 1514,
                                        often ? 125000 + 1000 * (int64_t)random_below(seed, 500)
                                              : 4 * MS + 1000 * (int64_t)random_below(seed, 4000));

        flow->offset_ns = (int64_t)random_below(seed, MS);
        for (unsigned h = 1; h < ports; h++)
            flow->hops[flow->hop_count++] = (struct tt_hop){h, (int)h - 1};
    }
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
    for (uint64_t n = 0; n < networks; n++) {
        struct world *w = world_new();
        uint64_t seed = n;

        if (n % 2)
            draw_dense(w, &seed);
        else
            draw(w, &seed);
        world_run(w, 200 * MS, false);
        if (w->wrong > 0)
            fail_msg("network %d: %d frames where none may be", (int)n, (int)w->wrong);
        for (size_t i = 0; i < w->network.flow_count; i++) {
            if (w->flow_results[i].delay_max_ns > w->flow_bounds[i])
                fail_msg("network %d, flow %d: %lld ns, above the bound of %lld", (int)n, (int)i,
                         (long long)w->flow_results[i].delay_max_ns, (long long)w->flow_bounds[i]);
            bounded += w->flow_bounds[i] != TT_GATE_UNBOUNDED;
        }
        world_free(w);
    }
    assert_true(bounded > 2 * networks);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_worst_moment_is_reached), cmocka_unit_test(test_priority_is_reached),
        cmocka_unit_test(test_credits_are_reached),     cmocka_unit_test(test_credits_below_others),
        cmocka_unit_test(test_held_back_is_reached),    cmocka_unit_test(test_random_networks),
    };

    if (argc > 1)
        networks = (uint64_t)atoll(argv[1]);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
