/*
 * See media_grid.h.
 */
#include "audio/media_grid.h"

/* A followed clock is quiet: what streams are stamped by must not jitter as what it is told by. */
#define BANDWIDTH_MHZ 100

void tt_media_grid_init(struct tt_media_grid *grid)
{
    *grid = (struct tt_media_grid){.pull_by = 1, .pull_over = 1};
    tt_media_clock_init(&grid->clock, (uint32_t)TT_NS_PER_S, 0, 0);
    tt_media_clock_quieten(&grid->clock, BANDWIDTH_MHZ);
}

static struct tt_media_rate pulled(const struct tt_media_grid *grid, struct tt_media_rate rate)
{
    rate.ticks_hz *= grid->pull_by;
    rate.frame_ticks *= grid->pull_over;
    return rate;
}

int64_t tt_media_grid_time(const struct tt_media_grid *grid, struct tt_media_rate rate,
                           int64_t frame)
{
    return tt_media_clock_time(&grid->clock, tt_media_rate_ns(pulled(grid, rate), frame));
}

int64_t tt_media_grid_frame(const struct tt_media_grid *grid, struct tt_media_rate rate,
                            int64_t tai_ns)
{
    struct tt_media_rate true_rate = pulled(grid, rate);
    int64_t media_ns = tt_media_clock_frame(&grid->clock, tai_ns);
    int64_t frame =
        tt_floor_div(tt_ns_to_frames(media_ns, true_rate.ticks_hz), true_rate.frame_ticks);

    while (tt_media_grid_time(grid, rate, frame) >= tai_ns) {
        frame--;
    }
    while (tt_media_grid_time(grid, rate, frame) < tai_ns) {
        frame++;
    }
    return frame;
}
