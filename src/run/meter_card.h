/*
 * The meter's loop on a sound card: room in its buffer, its clock, what happens when it runs empty,
 * and, with a second card that captures, the way round: a mark in what is played is looked for in
 * what is captured.
 *
 * Invariant: an account kept by a card has the card's frames for its clock. While a card stands
 * still that clock runs on with the host's, so that the time is in the account.
 */
#ifndef TT_RUN_METER_CARD_H
#define TT_RUN_METER_CARD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/attr.h"
#include "meter/cell.h"
#include "meter/fragment.h"
#include "os/card.h"
#include "run/meter_host.h"

struct tt_meter_card {
    struct tt_card *playback;
    struct tt_card *capture; /* or NULL */
    uint8_t *fragment;       /* a fragment of silence, with room for a mark: the caller's */
    uint8_t *captured;       /* room for a fragment */
    size_t mark_bytes;       /* of a frame, set to TT_METER_MARK */
    int64_t frame_zero_ns;   /* on the account's clock, when the card's frame 0 played */
    int64_t offset_ns;       /* account's clock - host's */
    int64_t mark_ns; /* on the host's clock: when the mark was handed over; 0: none is out */
    int64_t next_mark_ns;
    uint64_t marks_lost;
    uint64_t capture_overruns;
};

#define TT_METER_MARK 0x40

/* Fills the card with silence and starts it; *ret_start_ns: the host's time. 0 or -errno. */
int tt_meter_card_start(struct tt_meter_card *card, struct tt_meter_host *host,
                        int64_t *ret_start_ns);
/* Waits for room, hands a fragment over, keeps the account. The times in `cycle` become the
 * account's. *ret_round_trip_ns is set where a mark came back. 0 or -errno. */
TT_RT int tt_meter_card_cycle(struct tt_meter_card *card, struct tt_meter_host *host,
                              struct tt_fragments *fragments, struct tt_cycle *cycle,
                              int64_t *ret_round_trip_ns);

#endif
