/*
 * Plans of lines, rings and trees: the simulation finds no frame late or outside its window, and
 * what cannot be done is refused, with the first stream that is too many.
 */
#include "test.h"

#include "made_network.h"

static const struct tt_plan_options options = TT_PLAN_OPTIONS_DEFAULT;

static int64_t load_per_mille(const struct made_network *made, unsigned port)
{
    return made->plan.windows[port].width_ns * 1000 / made->plan.cycle_ns;
}

static void check_plan(struct made_network *made)
{
    int64_t longest_ns = 0;

    assert_int_equal(tt_plan(&made->network, &options, &made->plan), TT_PLAN_OK);
    assert_int_equal(made_network_run(made, 20000000), 0);
    for (size_t i = 0; i < made->network.flow_count; i++) {
        if (made->flow_results[i].delay_max_ns > made->plan.delays_ns[i])
            fail_msg("%s takes %lld ns, planned were %lld", made->network.flows[i].name,
                     (long long)made->flow_results[i].delay_max_ns,
                     (long long)made->plan.delays_ns[i]);
        if (made->plan.delays_ns[i] > longest_ns)
            longest_ns = made->plan.delays_ns[i];
    }
    print_message("cycle %lld ns, longest %lld ns\n", (long long)made->plan.cycle_ns,
                  (long long)longest_ns);
}

static void test_line(void **state)
{
    struct made_network *made = made_line_of_100();
    unsigned loaded = 0;

    (void)state;
    assert_int_equal(made->network.port_count, 100);
    assert_int_equal(made->network.flow_count, 2000);
    check_plan(made);
    for (unsigned p = 0; p < made->network.port_count; p++)
        loaded += load_per_mille(made, p) >= 600;
    assert_true(loaded >= 20);
    made_network_free(made);
}

static void test_ring(void **state)
{
    struct made_network *made = made_ring(10, 5, 160);

    (void)state;
    check_plan(made);
    made_network_free(made);
}

/* One stream from each bridge, over so many of them: ports that wait for each other. */
static void test_light_rings(void **state)
{
    static const unsigned shapes[][2] = {{5, 2}, {6, 2}, {6, 3}, {7, 3}, {8, 2}, {10, 5}};

    (void)state;
    for (size_t i = 0; i < TT_COUNT_OF(shapes); i++) {
        struct made_network *made = made_ring(shapes[i][0], shapes[i][1], shapes[i][0]);

        for (size_t p = 0; p < made->network.port_count; p++)
            made->network.ports[p].delay_ns = 2000;
        check_plan(made);
        made_network_free(made);
    }
}

/* Between three bridges at 70 % the windows cannot be one behind the other all the way round. */
static void test_full_ring(void **state)
{
    struct made_network *made = made_ring(3, 2, 120);

    (void)state;
    assert_int_equal(tt_plan(&made->network, &options, &made->plan), TT_PLAN_SPREAD);
    assert_true(made->plan.flow > 60);
    made->network.flow_count = made->plan.flow;
    check_plan(made);
    made_network_free(made);
}

static void test_tree(void **state)
{
    struct made_network *made = made_tree(5, 4, 100);

    (void)state;
    check_plan(made);
    /* 100 Mbit/s holds one full frame beside the streams only in a longer cycle. */
    assert_int_equal(made->plan.cycle_ns, 250000);
    made_network_free(made);
}

/* Streams of 44.1 kHz, 136,054.4 ns between their frames, among those of 48: a third of them on a
 * tree, on a ring that is not full, and on a line with links that are loaded to 60 %. */
static void test_varying(void **state)
{
    struct made_network *networks[] = {made_tree(5, 4, 100), made_ring(10, 5, 60),
                                       made_line_of_100()};

    (void)state;
    for (size_t n = 0; n < TT_COUNT_OF(networks); n++) {
        struct made_network *made = networks[n];

        if (n == 2)
            made->network.flow_count = 1000;
        for (size_t i = 0; i < made->network.flow_count; i += 3)
            made->network.flows[i].rate_hz = 44100;
        check_plan(made);
        made_network_free(made);
    }
}

/* 75 % of 1 Gbit/s holds 114 stereo streams of 24 bits, class A; the 115th is one too many. */
static void test_first_too_many(void **state)
{
    struct made_network *made = made_network_new(1, 200);

    (void)state;
    made_port(made, "talker", 1000000000, false);
    for (int i = 0; i < 114; i++)
        made_stream(made, 78, (int[]){0, -1});
    assert_int_equal(tt_plan(&made->network, &options, &made->plan), TT_PLAN_OK);
    for (int i = 0; i < 30; i++)
        made_stream(made, 78, (int[]){0, -1});
    assert_int_equal(tt_plan(&made->network, &options, &made->plan), TT_PLAN_LOAD);
    assert_int_equal(made->plan.flow, 114);
    assert_int_equal(made->plan.port, 0);
    made_network_free(made);
}

static void test_refusals(void **state)
{
    struct made_network *made = made_network_new(3, 10);
    struct tt_plan_options other = options;

    (void)state;
    made_port(made, "talker", 1000000000, false);
    made_port(made, "bridge", 1000000000, true);
    assert_int_equal(tt_plan(&made->network, &options, &made->plan), TT_PLAN_NO_STREAM);
    /* Twice 816 ns on the wire and 1.5 us on the way, and the window's margin. */
    made_stream(made, 78, (int[]){0, 1, -1})->deadline_ns = 5132;
    assert_int_equal(tt_plan(&made->network, &options, &made->plan), TT_PLAN_OK);
    made->network.flows[0].deadline_ns = 5131;
    assert_int_equal(tt_plan(&made->network, &options, &made->plan), TT_PLAN_DEADLINE);
    assert_int_equal(made->plan.figure, 5132);
    made->network.flows[0].deadline_ns = 2000000;
    made_stream(made, 78, (int[]){0, -1})->rate_hz = 44100;
    made->network.flows[1].interval_samples = 1; /* 22.7 us: longer than an eighth of 125 */
    assert_int_equal(tt_plan(&made->network, &options, &made->plan), TT_PLAN_OK);
    made->network.flows[1].rate_hz = 192000;
    assert_int_equal(tt_plan(&made->network, &options, &made->plan), TT_PLAN_INTERVAL);
    assert_int_equal(made->plan.flow, 1);
    made->network.flows[1].rate_hz = 48000;
    made->network.flows[1].interval_samples = 6;
    /* At 100 Mbit/s a full frame does not fit into what 125 us leave. */
    made->network.ports[0].rate_bps = 100000000;
    other.cycle_max_ns = 125000;
    assert_int_equal(tt_plan(&made->network, &other, &made->plan), TT_PLAN_BEST_EFFORT);
    made_network_free(made);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_line),           cmocka_unit_test(test_ring),
        cmocka_unit_test(test_light_rings),    cmocka_unit_test(test_full_ring),
        cmocka_unit_test(test_tree),           cmocka_unit_test(test_varying),
        cmocka_unit_test(test_first_too_many), cmocka_unit_test(test_refusals),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
