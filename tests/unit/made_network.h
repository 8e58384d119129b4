/*
 * Networks made for tests and benchmarks of the planner: lines, rings and trees of bridges with a
 * talker and a listener at each, and streams between them.
 */
#ifndef TT_TESTS_MADE_NETWORK_H
#define TT_TESTS_MADE_NETWORK_H

#include "gate/network.h"
#include "gate/plan.h"
#include "gate/simulate.h"

/* All on the heap; `network` and `plan` point into it. */
struct made_network {
    struct tt_network network;
    struct tt_plan plan;
    size_t flow_capacity;
    struct tt_gate_entry (*entries)[2];
    struct tt_flow_result *flow_results;
    struct tt_port_result *port_results;
};

struct made_network *made_network_new(size_t ports, size_t flows);
void made_network_free(struct made_network *made);

/* A line of 21 bridges, 20 links between them at 1 Gbit/s loaded to 60 % and more with streams over
 * 5 of them, two talkers and two listeners at each: 100 links, 2000 streams of class A. */
struct made_network *made_line_of_100(void);
/* A ring of so many bridges: streams go round it over `hops` links from everywhere. */
struct made_network *made_ring(unsigned bridges, unsigned hops, unsigned streams);
/* Two levels of bridges, `leaves` below each of the `branches`: all streams come together at the
 * root's one listener. */
struct made_network *made_tree(unsigned branches, unsigned leaves, unsigned streams);

unsigned made_port(struct made_network *made, const char *name, int64_t rate_bps, bool bridge);
/* 6 frames of 48 kHz. ports: the path, ended by -1. */
struct tt_flow *made_stream(struct made_network *made, int64_t frame_bytes, const int *path);

/* Gates as planned, and so long of all that, with full frames of best effort at each port. Returns
 * how many frames were late or have not come. */
uint64_t made_network_run(struct made_network *made, int64_t duration_ns);

#endif
