/*
 * See list.h.
 */
#include "gate/list.h"

#include <stdlib.h>

#include "base/min_max.h"
#include "base/ns.h"

const char *tt_gate_fault_text(enum tt_gate_fault fault)
{
    static const char *const texts[TT_GATE_FAULTS] = {
        [TT_GATE_OK] = "good",
        [TT_GATE_NO_ENTRY] = "there is no entry",
        [TT_GATE_TOO_MANY_ENTRIES] = "there are more than 4096 entries",
        [TT_GATE_INTERVAL] = "an interval is shorter than 1 ns or longer than 18 minutes",
        [TT_GATE_CYCLE] = "the cycle is negative or longer than 18 minutes",
        [TT_GATE_EXTENSION] = "the cycle time extension is negative or longer than 18 minutes",
        [TT_GATE_BASE] = "the base time is more than 73 years from 1970",
    };

    return texts[fault];
}

int64_t tt_gate_sum_ns(const struct tt_gate_schedule *schedule)
{
    int64_t sum_ns = 0;

    for (size_t i = 0; i < schedule->entry_count; i++) {
        sum_ns += schedule->entries[i].interval_ns;
    }
    return sum_ns;
}

int64_t tt_gate_cycle_ns(const struct tt_gate_schedule *schedule)
{
    return schedule->cycle_ns > 0 ? schedule->cycle_ns : tt_gate_sum_ns(schedule);
}

enum tt_gate_fault tt_gate_check(const struct tt_gate_schedule *schedule)
{
    if (schedule->entry_count == 0) {
        return TT_GATE_NO_ENTRY;
    }
    if (schedule->entry_count > TT_GATE_ENTRIES_MAX) {
        return TT_GATE_TOO_MANY_ENTRIES;
    }
    for (size_t i = 0; i < schedule->entry_count; i++) {
        int64_t interval_ns = schedule->entries[i].interval_ns;

        if (interval_ns < 1 || interval_ns > TT_GATE_CYCLE_MAX) {
            return TT_GATE_INTERVAL;
        }
    }
    if (schedule->cycle_ns < 0 || tt_gate_cycle_ns(schedule) > TT_GATE_CYCLE_MAX) {
        return TT_GATE_CYCLE;
    }
    if (schedule->extension_ns < 0 || schedule->extension_ns > TT_GATE_CYCLE_MAX) {
        return TT_GATE_EXTENSION;
    }
    if (schedule->base_tai_ns < -TT_GATE_TIME_MAX || schedule->base_tai_ns > TT_GATE_TIME_MAX) {
        return TT_GATE_BASE;
    }
    return TT_GATE_OK;
}

/* Whether preemptable classes are held when the cycle begins: as they were when it ended. */
static bool held_at_start(const struct tt_gate_schedule *schedule)
{
    bool held = false;

    for (size_t i = 0; i < schedule->entry_count; i++) {
        if (schedule->entries[i].command != TT_GATE_SET) {
            held = schedule->entries[i].command == TT_GATE_HOLD;
        }
    }
    return held;
}

static void make_segments(const struct tt_gate_schedule *schedule, struct tt_gate_list *list)
{
    bool held = held_at_start(schedule);
    int64_t at_ns = 0;

    for (size_t i = 0; i < schedule->entry_count && at_ns < list->cycle_ns; i++) {
        const struct tt_gate_entry *entry = &schedule->entries[i];

        if (entry->command != TT_GATE_SET) {
            held = entry->command == TT_GATE_HOLD;
        }
        list->segments[list->segment_count++] = (struct tt_gate_segment){
            .start_ns = at_ns,
            .mask = held ? entry->mask & ~schedule->preemptable : entry->mask,
        };
        at_ns += entry->interval_ns;
    }
}

static int64_t segment_end(const struct tt_gate_list *list, size_t i)
{
    return i + 1 < list->segment_count ? list->segments[i + 1].start_ns : list->cycle_ns;
}

/* Runs of segments in which the class's gate is open, within the cycle. */
static size_t make_runs(const struct tt_gate_list *list, unsigned class,
                        struct tt_gate_window *ret_windows)
{
    size_t n = 0;
    bool was_open = false;

    for (size_t i = 0; i < list->segment_count; i++) {
        bool open = (list->segments[i].mask >> class & 1) != 0;

        if (open && was_open) {
            ret_windows[n - 1].close_ns = segment_end(list, i);
        } else if (open) {
            ret_windows[n++] =
                (struct tt_gate_window){list->segments[i].start_ns, segment_end(list, i)};
        }
        was_open = open;
    }
    return n;
}

static void make_class(const struct tt_gate_list *list, unsigned class,
                       struct tt_gate_window *windows, struct tt_gate_class *ret_class)
{
    size_t n = make_runs(list, class, windows);

    *ret_class = (struct tt_gate_class){.windows = windows};
    for (size_t i = 0; i < n; i++) {
        ret_class->open_ns += windows[i].close_ns - windows[i].open_ns;
    }
    if (ret_class->open_ns == list->cycle_ns) {
        ret_class->always = true;
        ret_class->longest_ns = INT64_MAX;
        n = 0;
    } else if (n > 1 && windows[0].open_ns == 0 && windows[n - 1].close_ns == list->cycle_ns) {
        windows[n - 1].close_ns += windows[0].close_ns;
        ret_class->windows++;
        n--;
    }
    ret_class->window_count = n;
    for (size_t i = 0; i < n; i++) {
        const struct tt_gate_window *window = &ret_class->windows[i];

        ret_class->longest_ns = tt_max64(ret_class->longest_ns, window->close_ns - window->open_ns);
    }
}

struct tt_gate_list *tt_gate_list_new(const struct tt_gate_schedule *schedule)
{
    struct tt_gate_list *list = calloc(1, sizeof(*list));
    size_t per_class = schedule->entry_count / 2 + 1;

    if (!list) {
        return NULL;
    }
    list->base_tai_ns = schedule->base_tai_ns;
    list->cycle_ns = tt_gate_cycle_ns(schedule);
    list->extension_ns = schedule->extension_ns;
    list->segments = calloc(schedule->entry_count, sizeof(*list->segments));
    list->windows = calloc(per_class * TT_GATE_CLASSES, sizeof(*list->windows));
    if (!list->segments || !list->windows) {
        tt_gate_list_free(list);
        return NULL;
    }
    make_segments(schedule, list);
    for (unsigned class = 0; class < TT_GATE_CLASSES; class ++) {
        make_class(list, class, list->windows + per_class * class, &list->classes[class]);
    }
    return list;
}

void tt_gate_list_free(struct tt_gate_list *list)
{
    if (list) {
        free(list->segments);
        free(list->windows);
        free(list);
    }
}

static int64_t phase_of(const struct tt_gate_list *list, int64_t tai_ns)
{
    int64_t since_ns = tai_ns - list->base_tai_ns;

    return since_ns - tt_floor_div(since_ns, list->cycle_ns) * list->cycle_ns;
}

uint32_t tt_gate_list_segment(const struct tt_gate_list *list, int64_t tai_ns,
                              struct tt_gate_window *ret_segment)
{
    int64_t phase_ns = phase_of(list, tai_ns);
    size_t low = 0;
    size_t high = list->segment_count;

    while (high - low > 1) {
        size_t middle = low + (high - low) / 2;

        if (list->segments[middle].start_ns <= phase_ns) {
            low = middle;
        } else {
            high = middle;
        }
    }
    ret_segment->open_ns = tai_ns - phase_ns + list->segments[low].start_ns;
    ret_segment->close_ns = tai_ns - phase_ns + segment_end(list, low);
    return list->segments[low].mask;
}

uint32_t tt_gate_list_mask(const struct tt_gate_list *list, int64_t tai_ns)
{
    struct tt_gate_window segment;

    return tt_gate_list_segment(list, tai_ns, &segment);
}

/* How many of the windows close at or before the phase. */
static size_t count_closed(const struct tt_gate_class *class, int64_t phase_ns)
{
    size_t low = 0;
    size_t high = class->window_count;

    while (low < high) {
        size_t middle = low + (high - low) / 2;

        if (class->windows[middle].close_ns <= phase_ns) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low;
}

bool tt_gate_list_window(const struct tt_gate_list *list, unsigned class, int64_t tai_ns,
                         struct tt_gate_window *ret_window)
{
    const struct tt_gate_class *of = &list->classes[class];
    int64_t phase_ns = phase_of(list, tai_ns);
    int64_t start_ns = tai_ns - phase_ns;
    size_t i;

    if (of->always) {
        *ret_window = (struct tt_gate_window){INT64_MIN, INT64_MAX};
        return true;
    }
    if (of->window_count == 0) {
        return false;
    }
    i = count_closed(of, phase_ns);
    /* The last one may reach into this cycle from the one before. */
    if (of->windows[of->window_count - 1].close_ns - list->cycle_ns > phase_ns) {
        i = of->window_count - 1;
        start_ns -= list->cycle_ns;
    } else if (i == of->window_count) {
        i = 0;
        start_ns += list->cycle_ns;
    }
    ret_window->open_ns = start_ns + of->windows[i].open_ns;
    ret_window->close_ns = start_ns + of->windows[i].close_ns;
    return true;
}

int64_t tt_gate_list_longest_closed(const struct tt_gate_list *list, unsigned class)
{
    const struct tt_gate_class *of = &list->classes[class];
    int64_t longest_ns = of->always ? 0 : INT64_MAX;

    for (size_t i = 0; i < of->window_count; i++) {
        int64_t next_ns = i + 1 < of->window_count ? of->windows[i + 1].open_ns
                                                   : of->windows[0].open_ns + list->cycle_ns;
        int64_t closed_ns = next_ns - of->windows[i].close_ns;

        longest_ns = i == 0 ? closed_ns : tt_max64(longest_ns, closed_ns);
    }
    return longest_ns;
}
