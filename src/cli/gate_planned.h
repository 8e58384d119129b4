/*
 * Whether the gates and launch offsets of a file are still those that the planner makes of its
 * streams; then the planner's worst cases hold, which count on the offsets.
 */
#ifndef TT_CLI_GATE_PLANNED_H
#define TT_CLI_GATE_PLANNED_H

#include "cli/gate_file.h"
#include "gate/bound.h"

enum tt_gate_planned {
    TT_GATE_NOT_PLANNED,
    TT_GATE_PLANNED,
    TT_GATE_CHANGED /* since it was planned */
};

/* Planned: the bounds of streams, and of classes of streams alone, become the plan's; else they are
 * left alone. */
enum tt_gate_planned tt_gate_planned(const struct tt_gate_file *file,
                                     struct tt_gate_bounds *bounds);

#endif
