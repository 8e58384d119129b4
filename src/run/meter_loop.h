/*
 * One cycle of the meter's loop, as audio programs have had it since 1999: read what MIDI came in,
 * compute a fragment, wait for room in the device, hand it over. Bounded, and in virtual time as
 * well: all that it knows of a machine is behind tt_meter_host, a card and a MIDI port.
 *
 * Without a card the device is the account in meter/fragment: exact time. With one, time is told by
 * the card's frames: the account's clock is that of the card, mapped to the host's anew each cycle,
 * and a card that ran empty is filled with silence and started again.
 */
#ifndef TT_RUN_METER_LOOP_H
#define TT_RUN_METER_LOOP_H

#include <stdbool.h>
#include <stdint.h>

#include "base/attr.h"
#include "meter/fragment.h"
#include "os/midi_port.h"
#include "run/meter_card.h"
#include "run/meter_host.h"
#include "run/meter_ring.h"

struct tt_meter_loop {
    struct tt_meter_host *host;
    struct tt_meter_card *card; /* or NULL */
    struct tt_midi_port *midi;  /* or NULL */
    struct tt_meter_ring *ring;
    struct tt_fragments fragments;
    int64_t period_ns;
    int64_t units;          /* of computation in a cycle */
    int64_t readings_apart; /* cycles from one reading to the next while all is well */
    int64_t since_reading;
    bool lost; /* the last cycle lost time */
    int64_t midi_lost;
    bool (*interrupted)(void); /* asked in each cycle: the plan ends with what is due; or NULL */
    int error;                 /* of card or port; ends the loop */
};

/* The clock starts: the device is full, its first fragment plays from start_ns on, which is now or
 * later. host, card, midi, ring and units are set. */
void tt_meter_loop_start(struct tt_meter_loop *loop, const struct tt_fragment_shape *shape,
                         int64_t start_ns, int64_t plan_ns);
/* False: the plan is over, or an error. */
TT_RT bool tt_meter_loop_cycle(struct tt_meter_loop *loop);

#endif
