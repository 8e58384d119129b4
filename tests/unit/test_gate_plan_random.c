/*
 * Random rings and lines, planned and then simulated with what a plan allows for: clocks, launches
 * and latencies off by its margin, talkers that are silent now and then. No frame is late or
 * outside its window, or takes longer than planned. What is refused is over a limit that is stated:
 * plan.h.
 */
#include "test.h"

#include "made_network.h"

#define GIGABIT INT64_C(1000000000)

#define ALWAYS_PER_MILLE 333 /* plan.h: such a ring is never refused */

static uint64_t networks = 60;
static const struct tt_plan_options options = TT_PLAN_OPTIONS_DEFAULT;

struct ring {
    struct made_network *made;
    unsigned bridges;
    bool both_ways;
    bool inside; /* the bridges are the talkers */
    bool line;   /* nothing goes from the last to the first, or back */
};

static unsigned add_ports(struct ring *ring, const char *name, int64_t rate_bps, int64_t delay_ns)
{
    unsigned first = (unsigned)ring->made->network.port_count;

    for (unsigned i = 0; i < ring->bridges; i++)
        ring->made->network.ports[made_port(ring->made, name, rate_bps, true)].delay_ns = delay_ns;
    return first;
}

/* From bridge `from` over so many links, clockwise or not; a port of the other way round has the
 * number of the bridge that it is at. */
static struct tt_flow *add_stream(struct ring *ring, int64_t bytes, unsigned from, unsigned hops,
                                  bool back)
{
    unsigned n = ring->bridges;
    unsigned ways = ring->both_ways ? 2 : 1;
    int path[TT_GATE_HOPS_MAX];
    unsigned length = 0;

    if (!ring->inside)
        path[length++] = (int)((ways + 1) * n + from);
    for (unsigned h = 0; h < hops; h++)
        path[length++] = (int)(back ? n + (from + n * hops - h) % n : (from + h) % n);
    path[length++] = (int)(ways * n + (back ? from + n * hops - hops : from + hops) % n);
    path[length] = -1;
    return made_stream(ring->made, bytes, path);
}

static struct ring draw(uint64_t *seed)
{
    static const int64_t rates[] = {GIGABIT / 10, GIGABIT, GIGABIT, 10 * GIGABIT};
    struct ring ring = {.bridges = 3 + (unsigned)random_below(seed, 8),
                        .both_ways = random_below(seed, 2),
                        .inside = random_below(seed, 3) == 0,
                        .line = random_below(seed, 2)};
    int64_t rate_bps = rates[random_size(seed, TT_COUNT_OF(rates))];
    int64_t delay_ns = 300 + (int64_t)random_below(seed, random_below(seed, 2) ? 3000 : 40000);
    size_t streams = 1 + random_size(seed, rate_bps < GIGABIT ? 20 : 120);
    unsigned hops = 1 + (unsigned)random_below(seed, ring.bridges - 1);
    bool varying = random_below(seed, 4) == 0;

    ring.made = made_network_new(4 * ring.bridges, streams);
    add_ports(&ring, "ring", rate_bps, delay_ns);
    if (ring.both_ways)
        add_ports(&ring, "back", rate_bps, delay_ns);
    add_ports(&ring, "to listener", rate_bps, delay_ns);
    if (!ring.inside)
        add_ports(&ring, "talker", rate_bps, 100);
    for (size_t i = 0; i < streams; i++) {
        unsigned far = random_below(seed, 2) ? hops : 1 + (unsigned)random_below(seed, hops);
        bool back = ring.both_ways && random_below(seed, 2);
        unsigned from =
            (unsigned)(random_below(seed, 2) ? random_below(seed, ring.bridges) : i) % ring.bridges;
        struct tt_flow *flow;

        if (ring.line)
            from = from % (ring.bridges - far) + (back ? far : 0);
        flow = add_stream(&ring, 66 + 12 * (int64_t)random_below(seed, 16), from, far, back);
        flow->deadline_ns = 0;
        if (random_below(seed, 4) == 0)
            flow->interval_samples = 12;
        if (varying && random_below(seed, 4) == 0)
            flow->rate_hz = 44100;
    }
    return ring;
}

/* Per mille of the fullest link. */
static int64_t load_of(const struct made_network *made)
{
    int64_t most = 0;

    for (unsigned p = 0; p < made->network.port_count; p++) {
        int64_t bytes_per_s = 0;

        for (size_t i = 0; i < made->network.flow_count; i++) {
            const struct tt_flow *flow = &made->network.flows[i];

            for (unsigned h = 0; h < flow->hop_count; h++)
                if (flow->hops[h].port == p)
                    bytes_per_s += (flow->frame_bytes + 24) *
                                   (flow->rate_hz == 44100 ? 48000 : flow->rate_hz) /
                                   flow->interval_samples;
        }
        if (bytes_per_s * 8000 / made->network.ports[p].rate_bps > most)
            most = bytes_per_s * 8000 / made->network.ports[p].rate_bps;
    }
    return most;
}

/* As planned, but for the first time, with all off by up to the margin and some talkers silent. */
static void disturb(struct made_network *made, uint64_t *seed)
{
    int64_t half_ns = options.margin_ns / 2;

    for (unsigned p = 0; p < made->network.port_count; p++) {
        made->plan.windows[p].open_ns += (int64_t)random_below(seed, (uint64_t)half_ns);
        made->network.ports[p].delay_ns +=
            (int64_t)random_below(seed, (uint64_t)half_ns / TT_GATE_HOPS_MAX);
    }
    for (size_t i = 0; i < made->network.flow_count; i++) {
        struct tt_flow *flow = &made->network.flows[i];

        flow->offset_ns += (int64_t)random_below(seed, (uint64_t)half_ns);
        if (random_below(seed, 4) == 0)
            flow->interval_samples *= 2 + (int64_t)random_below(seed, 4);
    }
}

static void check_run(struct made_network *made, uint64_t n, int64_t more_ns)
{
    uint64_t wrong = made_network_run(made, 5000000);

    if (wrong != 0)
        fail_msg("ring %d: %d frames are late, lost or outside", (int)n, (int)wrong);
    for (size_t i = 0; i < made->network.flow_count; i++)
        if (made->flow_results[i].delay_max_ns > made->plan.delays_ns[i] + more_ns)
            fail_msg("ring %d, %s: %lld ns, planned were %lld", (int)n, made->network.flows[i].name,
                     (long long)made->flow_results[i].delay_max_ns,
                     (long long)made->plan.delays_ns[i]);
}

static void test_rings(void **state)
{
    unsigned planned = 0;
    unsigned spread = 0;
    unsigned refused = 0;

    (void)state;
    for (uint64_t n = 0; n < networks; n++) {
        uint64_t seed = n;
        struct ring ring = draw(&seed);
        int64_t load = load_of(ring.made);
        enum tt_plan_fault fault = tt_plan(&ring.made->network, &options, &ring.made->plan);

        if (fault == TT_PLAN_OK) {
            planned++;
            check_run(ring.made, n, 0);
            disturb(ring.made, &seed);
            check_run(ring.made, n, options.margin_ns);
        } else if (fault == TT_PLAN_SPREAD) {
            spread++;
            if (load <= ALWAYS_PER_MILLE)
                fail_msg("ring %d: refused at a load of %d per mille", (int)n, (int)load);
        } else if (fault == TT_PLAN_LOAD && load > 10 * TT_PLAN_RESERVE_PERCENT) {
            refused++;
        } else {
            fail_msg("ring %d: fault %d at a load of %d per mille", (int)n, (int)fault, (int)load);
        }
        made_network_free(ring.made);
    }
    assert_true(planned > networks / 2);
    print_message("%u planned, %u too full for the method, %u for any\n", planned, spread, refused);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_rings)};

    if (argc > 1)
        networks = (uint64_t)atoll(argv[1]);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
