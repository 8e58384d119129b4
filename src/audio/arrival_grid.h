/*
 * How late each PDU of a stream arrives, against the grid of its media: a line through what has
 * arrived so far, media time to arrival.
 *
 * Causal and in constant memory: a PDU is judged by those before it, so the figures are the same
 * live and from a file. The line is audio/media_clock, quiet: a least-squares fit at first, which
 * later forgets what is older than some 40 s, and takes single late arrivals for what they are. It
 * is shown the mean of each millisecond's arrivals. It goes through the middle of the arrivals:
 * lateness is about 0 on average, whatever the path takes.
 * - The first SETTLE of media only place it and are not judged; so after a restart.
 * - Where a PDU comes far off and its stamp is off as far, the talker skipped that media time (it
 *   stood still): the line goes on from there, and that is counted as a move.
 * - Where everything is off to one side, by more than jitter explains, for a second, the talker
 *   has moved though no stamp says so: the line goes on from where they are now. What came in
 *   that second was judged as late. A stall that is made good moves nothing, and bends nothing
 *   once the usual spread is known, a tenth of a second after the start.
 */
#ifndef TT_AUDIO_ARRIVAL_GRID_H
#define TT_AUDIO_ARRIVAL_GRID_H

#include <stdbool.h>
#include <stdint.h>

#include "audio/conduct.h"
#include "audio/media_clock.h"

#define TT_ARRIVAL_GRID_SETTLE_NS INT64_C(100000000)

/* Zeroed is empty. */
struct tt_arrival_grid {
    struct tt_media_clock clock; /* its times are arrivals */
    int64_t event;               /* of the newest PDU; 0 where the grid was placed */
    int64_t base_event;          /* since the line was last shown anything: this event … */
    int64_t base_ns;             /* … was expected at this time, */
    double event_ns;             /* and an event takes so long */
    int64_t block_events;        /* a millisecond */
    int64_t seen;                /* so many PDUs since, */
    int64_t seen_events;         /* whose events (after base_event) and lateness sum up to this */
    int64_t seen_late_ns;
    int64_t settled_event;  /* judged from here on */
    int64_t astray_ns;      /* the first of a run of arrivals that are far off, … */
    int astray;             /* … late (1) or early (-1); 0: there is no run */
    int64_t astray_late_ns; /* by so much, on average of the newest */
    uint64_t moves;         /* though the sequence went on */
    bool placed;
    bool stamped; /* since it was placed: */
    uint32_t stamp;
    int64_t stamp_arrival_ns; /* of the newest PDU with a stamp, … */
    int64_t stamp_event;      /* … which is this event */
};

/* One PDU that is no duplicate. Returns whether its lateness is known. */
bool tt_arrival_grid_step(struct tt_arrival_grid *grid, const struct tt_conduct_pdu *pdu,
                          int64_t *ret_lateness_ns);

/* Whether the line is good enough to say how fast the stream's clock runs. */
bool tt_arrival_grid_knows_drift(const struct tt_arrival_grid *grid);

#endif
