/*
 * What `tactus gate verify` found: counts by class and place, phases, the picture; as text, JSON,
 * SVG and page.
 */
#ifndef TT_CLI_GATE_VERIFIED_H
#define TT_CLI_GATE_VERIFIED_H

#include "base/hist.h"
#include "cli/gate_options.h"
#include "cli/gate_picture.h"
#include "gate/verify.h"

struct tt_gate_verified_class {
    uint64_t of[TT_PLACES];
    int64_t by_max_ns[TT_PLACES];
    struct tt_hist phase;
};

struct tt_gate_verified {
    const struct tt_gate_port *port;
    struct tt_gate_verifier verifier; /* the caller's to init */
    struct tt_gate_verified_class *classes;
    struct tt_gate_picture picture;
    struct tt_flow flow; /* what a frame in the picture is called */
    struct tt_network network;
    uint64_t frames;
    uint64_t modelled;
    uint64_t wrong;
};

/* It stays where it is until it is done; that too after a failure. 0 or -ENOMEM. */
int tt_gate_verified_init(struct tt_gate_verified *v, const struct tt_gate_port *port);
void tt_gate_verified_done(struct tt_gate_verified *v);
void tt_gate_verified_take(struct tt_gate_verified *v, unsigned class,
                           const struct tt_gate_verdict *verdict);
/* To standard output, and into the files that are wanted. TT_EXIT_GOOD, or the exit code. */
enum tt_exit tt_gate_verified_give(const struct tt_gate_verified *v, const char *command,
                                   const struct tt_gate_options *options);

#endif
