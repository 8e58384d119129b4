/*
 * A machine in virtual time for the meter's loop: it wakes threads a little late, as machines do,
 * and does to the loop what a script says. Its counters are those that a kernel keeps of a thread;
 * what was done to it can be read nowhere else.
 */
#ifndef TT_TESTS_SIM_MADE_MACHINE_H
#define TT_TESTS_SIM_MADE_MACHINE_H

#include <stdbool.h>
#include <stdint.h>

#include "meter/cause.h"
#include "meter/cell.h"
#include "run/meter_host.h"
#include "run/meter_loop.h"

#define MADE_HAPPENINGS 512

struct made_happening {
    enum tt_cause kind;
    int64_t at_ns;
    int64_t length_ns; /* of TT_CAUSE_SLOWER: for so long the processor is slower by a factor of 2
                          to 5 */
};

struct made_machine {
    struct tt_meter_host host;
    uint64_t random;
    int64_t now_ns;
    int64_t wake_ns;                                   /* a wake-up is late by so much on average */
    int64_t jitter_ns;                                 /* and by up to so much more or less */
    struct made_happening happenings[MADE_HAPPENINGS]; /* by time */
    unsigned count;
    unsigned next;
    int64_t slower_until_ns;
    int64_t slower_factor;
    struct tt_reading counters;
    int64_t steal_ns;
    int64_t irq_ns;
    bool steal_counted;  /* else the kernel believes that it is the thread's CPU time */
    int64_t ordinary_ns; /* that threads without priority could have, since the last reading */
};

void made_machine_init(struct made_machine *machine, uint64_t seed);
void made_machine_add(struct made_machine *machine, enum tt_cause kind, int64_t at_ns,
                      int64_t length_ns);

/* A loop on it, taken together into a cell. */
struct made_run {
    struct made_machine machine;
    struct tt_meter_loop loop;
    struct tt_meter_ring ring;
    struct tt_cell *cell;
    struct tt_incident worst; /* the one that lost most */
    unsigned incidents;
};

/* Heap, freed by made_run_done. The computation takes `share_percent` of a fragment. */
void made_run_init(struct made_run *run, const struct tt_fragment_shape *shape, uint64_t seed,
                   unsigned share_percent, int64_t plan_ns, int64_t window_ns);
void made_run_go(struct made_run *run);
void made_run_done(struct made_run *run);

#endif
