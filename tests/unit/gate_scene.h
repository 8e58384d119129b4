/*
 * A port and what is found wrong with it: a set-up that is right, for a test to change and to
 * judge.
 */
#ifndef TT_TEST_GATE_SCENE_H
#define TT_TEST_GATE_SCENE_H

#include "gate/lint.h"

#define MBIT INT64_C(1000000)

struct scene {
    struct tt_gate_port port;
    struct tt_gate_entry entries[200];
    struct tt_flow flow;
    struct tt_gate_finding items[50];
    struct tt_gate_findings findings;
};

/* tc-taprio(8)'s set-up: 3 classes on 8 queues, 100 Mbit/s, in software. */
void scene_init(struct scene *s);
/* The flow is what passes, besides. */
void scene_init_flow(struct scene *s, enum tt_flow_kind kind, unsigned priority, int64_t bytes);
void scene_flow(struct scene *s, enum tt_flow_kind kind, unsigned priority, int64_t bytes);
void scene_run(struct scene *s);
/* NULL: there is none of that kind. */
const struct tt_gate_finding *scene_find(const struct scene *s, const char *kind);
/* Runs it; kind NULL: nothing worse than a warning may be found. */
void scene_expect(struct scene *s, enum tt_gate_severity severity, const char *kind);

/* Nothing of that kind is found any more. */
void scene_expect_none(struct scene *s, const char *kind);

#endif
