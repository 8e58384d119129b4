/*
 * The simulation: the 2021 case, as Linux did it and as it does; and what verify says to what the
 * simulation sends.
 */
#include "test.h"

#include <stdio.h>
#include <string.h>

#include "gate/verify.h"
#include "gate_world.h"

static double mbits(const struct world *w, size_t flow, int64_t duration_ns)
{
    return (double)w->flow_results[flow].payload_bytes * 8e3 / (double)duration_ns;
}

/* 100 Mbit/s, class 6 for 500 us, then all others; TCP of 7240 bytes at once. */
static void make_2021(struct world *w, int64_t window_ns, unsigned kernel)
{
    struct tt_gate_port *port;
    struct tt_flow *flow;

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
    struct world *w = world_new();

    (void)state;
    make_2021(w, 500000, 5012);
    world_run(w, 100 * MS, true);
    assert_int_equal(w->flow_results[0].delivered, 0);
    assert_true(w->port_results[0].never[6]);
    world_free(w);
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
            struct world *w = world_new();

            make_2021(w, rows[i].window_ns, kernels[k]);
            world_run(w, 1000 * MS, kernels[k] != 0);
            assert_true(mbits(w, 0, 1000 * MS) > 0.997 * rows[i].limit &&
                        mbits(w, 0, 1000 * MS) <= rows[i].limit);
            if (kernels[k] == 0) {
                assert_int_equal(w->port_results[0].overruns, 0);
                assert_int_equal(w->wrong, 0);
            }
            world_free(w);
        }
}

/* Before 5.13 three segments at once are counted with one header: they go into 360 us, and end 9.12
 * us too late. */
static void test_headers_forgotten(void **state)
{
    struct world *w = world_new();

    (void)state;
    make_2021(w, 360000, 5010);
    w->flows[0].gso_bytes = 3 * 1448;
    world_run(w, 100 * MS, true);
    assert_int_equal(w->flow_results[0].delivered, 300);
    assert_int_equal(w->port_results[0].overrun_max_ns, 9120);
    world_free(w);
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
        struct world *w = world_new();
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
        world_free(w);
    }
}

/* What no kernel does is not excused: a gate that is closed, one frame more than the budget, the
 * last moment missed; and nothing is where hardware keeps the gates. */
static void test_not_excused(void **state)
{
    struct world *w = world_new();
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
    world_free(w);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_2021_unsegmented),  cmocka_unit_test(test_2021_segmented),
        cmocka_unit_test(test_headers_forgotten), cmocka_unit_test(test_verified),
        cmocka_unit_test(test_not_excused),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
