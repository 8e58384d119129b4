/*
 * See timeline.h. A change of lists has three parts: the old list, its last entry while that is
 * extended (often empty), the new list.
 */
#include "gate/timeline.h"

#include <errno.h>

#include "base/min_max.h"
#include "base/ns.h"

enum { PART_OLD, PART_EXTENDED, PART_NEW, PARTS };

int64_t tt_gate_start_ns(const struct tt_gate_list *list, int64_t now_tai_ns)
{
    int64_t behind_ns = now_tai_ns - list->base_tai_ns;

    if (behind_ns <= 0) {
        return list->base_tai_ns;
    }
    return list->base_tai_ns + (behind_ns + list->cycle_ns - 1) / list->cycle_ns * list->cycle_ns;
}

/* At its first cycle's end from which only the extension is left. */
int64_t tt_gate_old_end_ns(const struct tt_gate_timeline *timeline)
{
    const struct tt_gate_list *old = timeline->old;
    int64_t since_ns;

    if (!old || old->extension_ns == 0) {
        return timeline->start_ns;
    }
    since_ns = timeline->start_ns - old->extension_ns - old->base_tai_ns;
    return tt_min64(timeline->start_ns,
                    old->base_tai_ns - tt_floor_div(-since_ns, old->cycle_ns) * old->cycle_ns);
}

static int64_t part_end(const struct tt_gate_timeline *timeline, int part)
{
    return part == PART_OLD        ? tt_gate_old_end_ns(timeline)
           : part == PART_EXTENDED ? timeline->start_ns
                                   : INT64_MAX;
}

static uint32_t last_mask(const struct tt_gate_list *list)
{
    return list->segments[list->segment_count - 1].mask;
}

uint32_t tt_gate_mask(const struct tt_gate_timeline *timeline, int64_t tai_ns)
{
    if (tai_ns >= timeline->start_ns) {
        return tt_gate_list_mask(timeline->list, tai_ns);
    }
    if (!timeline->old) {
        return UINT32_MAX;
    }
    return tai_ns < tt_gate_old_end_ns(timeline) ? tt_gate_list_mask(timeline->old, tai_ns)
                                                 : last_mask(timeline->old);
}

/* As tt_gate_window, of one part by itself. */
static bool part_window(const struct tt_gate_timeline *timeline, int part, unsigned class,
                        int64_t tai_ns, struct tt_gate_window *ret_window)
{
    const struct tt_gate_list *list = part == PART_NEW ? timeline->list : timeline->old;
    int64_t begin_ns = part == PART_OLD ? INT64_MIN : part_end(timeline, part - 1);
    int64_t end_ns = part_end(timeline, part);
    struct tt_gate_window window = {INT64_MIN, INT64_MAX};

    if (list && part == PART_EXTENDED && (last_mask(list) >> class & 1) == 0) {
        return false;
    }
    if (list && part != PART_EXTENDED && !tt_gate_list_window(list, class, tai_ns, &window)) {
        return false;
    }
    ret_window->open_ns = tt_max64(window.open_ns, begin_ns);
    ret_window->close_ns = tt_min64(window.close_ns, end_ns);
    return ret_window->open_ns < ret_window->close_ns;
}

bool tt_gate_window(const struct tt_gate_timeline *timeline, unsigned class, int64_t tai_ns,
                    struct tt_gate_window *ret_window)
{
    bool found = false;
    struct tt_gate_window joined = {0};

    for (int part = PART_OLD; part < PARTS; part++) {
        struct tt_gate_window window;

        if (part_end(timeline, part) <= tai_ns) {
            continue;
        }
        if (!part_window(timeline, part, class, tai_ns, &window)) {
            if (found) {
                break;
            }
        } else if (!found) {
            joined = window;
            found = true;
        } else if (window.open_ns == joined.close_ns) {
            joined.close_ns = window.close_ns;
        } else {
            break;
        }
        tai_ns = tt_max64(tai_ns, part_end(timeline, part));
    }
    if (found) {
        *ret_window = joined;
    }
    return found;
}

/* Old cycles in which it cannot fit are skipped at once: the first time from which it might. */
static int64_t skip_old(const struct tt_gate_timeline *timeline, unsigned class, int64_t tai_ns,
                        int64_t need_ns)
{
    int64_t longest_ns = timeline->old ? timeline->old->classes[class].longest_ns : INT64_MAX;

    if (need_ns <= longest_ns) {
        return tai_ns;
    }
    return tt_max64(tai_ns, tt_gate_old_end_ns(timeline) - longest_ns);
}

int tt_gate_next(const struct tt_gate_timeline *timeline, unsigned class, int64_t tai_ns,
                 int64_t need_ns, int64_t *ret_tai_ns)
{
    struct tt_gate_window window;
    int64_t at_ns = tai_ns;

    if (at_ns < timeline->start_ns) {
        at_ns = skip_old(timeline, class, at_ns, need_ns);
    }
    while (at_ns < timeline->start_ns || need_ns <= timeline->list->classes[class].longest_ns) {
        if (!tt_gate_window(timeline, class, at_ns, &window)) {
            return -ENOENT;
        }
        at_ns = tt_max64(at_ns, window.open_ns);
        if (window.close_ns == INT64_MAX || need_ns <= window.close_ns - at_ns) {
            *ret_tai_ns = at_ns;
            return 0;
        }
        at_ns = window.close_ns;
    }
    return -ENOENT;
}

int tt_gate_launch(const struct tt_gate_timeline *timeline, unsigned class,
                   const struct tt_wire *wire, int64_t tai_ns, int64_t wire_bytes,
                   int64_t *ret_tai_ns)
{
    int64_t at_ns = tt_max64(tai_ns, tt_wire_free_ns(wire));
    int64_t launch_ns;
    /* Right behind another frame it may need 1 ns less. */
    int64_t need_ns = tt_wire_end_ns(wire, at_ns, wire_bytes) - at_ns;
    int error = tt_gate_next(timeline, class, at_ns, need_ns, &launch_ns);

    if (error == 0 && launch_ns != at_ns) {
        error = tt_gate_next(timeline, class, launch_ns, tt_wire_ns(wire_bytes, wire->rate_bps),
                             &launch_ns);
    }
    if (error == 0) {
        *ret_tai_ns = launch_ns;
    }
    return error;
}
