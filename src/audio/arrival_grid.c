/*
 * See arrival_grid.h.
 */
#include "audio/arrival_grid.h"

#include <stdlib.h>

#include "base/ns.h"

#define BANDWIDTH_MHZ 10
#define BLOCK_NS      TT_NS_PER_MS
#define DRIFT_S       1.0
#define PDUS_MAX      30000 /* after a gap of more, nothing is known of the grid */
#define FAR_SPREADS   16
#define FAR_NS        TT_NS_PER_MS
#define NEAR_NS       (FAR_NS / 16)        /* what was far is back */
#define SPREAD_S      0.1                  /* from then on the spread is known */
#define EARLY_FAR_NS  (100 * TT_NS_PER_MS) /* before: no burst, no drift */
#define ASTRAY_MEAN   64
#define MOVED_NS      TT_NS_PER_S
#define ASTRAY_NS     3.6e12 /* an hour off the grid is another time, at once */

/* From here on the line is straight, until it is shown more. */
static void rebase(struct tt_arrival_grid *grid, int64_t event)
{
    grid->base_event = event;
    grid->base_ns = tt_media_clock_time(&grid->clock, event);
    grid->event_ns = 1e9 / (double)grid->clock.rate_hz * (1 + grid->clock.drift);
    grid->seen = 0;
    grid->seen_events = 0;
    grid->seen_late_ns = 0;
}

static void note_stamp(struct tt_arrival_grid *grid, const struct tt_conduct_pdu *pdu)
{
    if (pdu->stamped) {
        grid->stamped = true;
        grid->stamp = pdu->stamp;
        grid->stamp_arrival_ns = pdu->arrival_ns;
        grid->stamp_event = grid->event;
    }
}

static void place(struct tt_arrival_grid *grid, const struct tt_conduct_pdu *pdu)
{
    grid->event = 0;
    grid->stamped = false;
    note_stamp(grid, pdu);
    grid->settled_event = tt_ns_to_frames(TT_ARRIVAL_GRID_SETTLE_NS, pdu->period.hz);
    grid->block_events = tt_ns_to_frames(BLOCK_NS, pdu->period.hz);
    grid->astray = 0;
    if (grid->placed && grid->clock.rate_hz == pdu->period.hz) {
        tt_media_clock_anchor(&grid->clock, 0, pdu->arrival_ns);
    } else {
        tt_media_clock_init(&grid->clock, pdu->period.hz, 0, pdu->arrival_ns);
        tt_media_clock_quieten(&grid->clock, BANDWIDTH_MHZ);
    }
    grid->placed = true;
    rebase(grid, 0);
}

static double since_base_ns(const struct tt_arrival_grid *grid, int64_t event)
{
    return (double)(event - grid->base_event) * grid->event_ns;
}

/* Stamps of a capture may claim any time. */
static bool is_astray(const struct tt_arrival_grid *grid, int64_t event, int64_t arrival_ns)
{
    double late_ns = (double)arrival_ns - (double)grid->base_ns - since_base_ns(grid, event);

    return late_ns > ASTRAY_NS || late_ns < -ASTRAY_NS;
}

static int64_t expect(const struct tt_arrival_grid *grid, int64_t event)
{
    double since_ns = since_base_ns(grid, event);

    return grid->base_ns + (int64_t)(since_ns < 0 ? since_ns - 0.5 : since_ns + 0.5);
}

/* The mean of what was seen is one observation. */
static void follow(struct tt_arrival_grid *grid, int64_t event, int64_t late_ns)
{
    grid->seen++;
    grid->seen_events += event - grid->base_event;
    grid->seen_late_ns += late_ns;
    if (event - grid->base_event >= grid->block_events) {
        int64_t middle = grid->base_event + grid->seen_events / grid->seen;

        tt_media_clock_follow(&grid->clock, middle,
                              expect(grid, middle) + grid->seen_late_ns / grid->seen);
        rebase(grid, event);
    }
}

static bool is_far(const struct tt_arrival_grid *grid, int64_t late_ns)
{
    int64_t usual_ns = FAR_SPREADS * (int64_t)grid->clock.spread_ns;

    if (grid->clock.followed_s < SPREAD_S) {
        return llabs(late_ns) > EARLY_FAR_NS;
    }
    return llabs(late_ns) > usual_ns + (grid->astray != 0 ? NEAR_NS : FAR_NS);
}

/* The line keeps its slope: a talker that stood still has the clock that it had. */
static void move(struct tt_arrival_grid *grid, int64_t by_ns)
{
    grid->clock.tai_ns += by_ns;
    grid->base_ns += by_ns;
    grid->astray = 0;
    grid->moves++;
}

/* Whether the stream has moved for good. */
static bool has_moved(struct tt_arrival_grid *grid, int64_t arrival_ns, int64_t late_ns)
{
    int side = late_ns > 0 ? 1 : -1;

    if (!is_far(grid, late_ns)) {
        grid->astray = 0;
        return false;
    }
    if (grid->astray != side) {
        grid->astray = side;
        grid->astray_ns = arrival_ns;
        grid->astray_late_ns = late_ns;
    }
    grid->astray_late_ns += (late_ns - grid->astray_late_ns) / ASTRAY_MEAN;
    return arrival_ns - grid->astray_ns > MOVED_NS;
}

/* By how much the stamps are ahead of the media since the last one that was seen. */
static int64_t skipped(const struct tt_arrival_grid *grid, const struct tt_conduct_pdu *pdu,
                       int64_t event)
{
    int64_t elapsed_ns =
        tt_widen32(pdu->stamp - grid->stamp, pdu->arrival_ns - grid->stamp_arrival_ns);

    return elapsed_ns - tt_frames_to_ns(event - grid->stamp_event, grid->clock.rate_hz);
}

/* Where stamps and arrival agree that media time was skipped, the line goes on from there. */
static int64_t skip(struct tt_arrival_grid *grid, const struct tt_conduct_pdu *pdu, int64_t event,
                    int64_t late_ns)
{
    int64_t skipped_ns;

    if (!pdu->stamped || !grid->stamped || llabs(late_ns) < FAR_NS) {
        return late_ns;
    }
    skipped_ns = skipped(grid, pdu, event);
    if (llabs(skipped_ns) < FAR_NS || llabs(late_ns - skipped_ns) > llabs(late_ns) / 2) {
        return late_ns;
    }
    move(grid, skipped_ns);
    return late_ns - skipped_ns;
}

bool tt_arrival_grid_step(struct tt_arrival_grid *grid, const struct tt_conduct_pdu *pdu,
                          int64_t *ret_lateness_ns)
{
    int64_t event = grid->event + pdu->ahead * pdu->period.events;
    int64_t late_ns;

    if (!grid->placed || pdu->restart || pdu->ahead > PDUS_MAX ||
        grid->clock.rate_hz != pdu->period.hz || is_astray(grid, event, pdu->arrival_ns)) {
        place(grid, pdu);
        return false;
    }
    late_ns = pdu->arrival_ns - expect(grid, event);
    if (pdu->ahead > 0) {
        grid->event = event;
        late_ns = skip(grid, pdu, event, late_ns);
        note_stamp(grid, pdu);
        if (has_moved(grid, pdu->arrival_ns, late_ns)) {
            late_ns -= grid->astray_late_ns;
            move(grid, grid->astray_late_ns);
        }
        if (grid->astray == 0) {
            follow(grid, event, late_ns);
        }
    }
    *ret_lateness_ns = late_ns;
    return event >= grid->settled_event;
}

bool tt_arrival_grid_knows_drift(const struct tt_arrival_grid *grid)
{
    return grid->placed && grid->clock.followed_s >= DRIFT_S;
}
