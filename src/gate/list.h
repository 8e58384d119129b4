/*
 * A gate control list: which traffic classes may send, entry after entry, for ever. And what it
 * comes to: for each class the windows in which its gate is open, joined where entries follow each
 * other and where the cycle begins anew.
 *
 * A cycle time longer than the entries lengthens the last one; a shorter one cuts off what is
 * behind it, which is never reached (not even in an extended cycle, where the standard would). Hold
 * keeps preemptable classes from sending until Release, so their gates count as closed; fragments
 * of preempted frames are not modelled, a frame goes out whole.
 *
 * tt_gate_list_new and _free use the heap; nothing else here does.
 * Source: IEEE 802.1Q-2018, 8.6.8.4 and 8.6.9.
 */
#ifndef TT_GATE_LIST_H
#define TT_GATE_LIST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/attr.h"

#define TT_GATE_CLASSES     16
#define TT_GATE_ENTRIES_MAX 4096
#define TT_GATE_CYCLE_MAX   (INT64_C(1) << 40) /* ns */
#define TT_GATE_TIME_MAX    (INT64_C(1) << 61) /* ns: base and every time that is asked about */

enum tt_gate_command { TT_GATE_SET, TT_GATE_HOLD, TT_GATE_RELEASE };

struct tt_gate_entry {
    enum tt_gate_command command;
    uint32_t mask; /* bit c: the gate of traffic class c is open */
    int64_t interval_ns;
};

struct tt_gate_schedule {
    int64_t base_tai_ns;
    int64_t cycle_ns; /* 0: the sum of the intervals */
    int64_t extension_ns;
    uint32_t preemptable; /* bit c: class c is preemptable */
    const struct tt_gate_entry *entries;
    size_t entry_count;
};

enum tt_gate_fault {
    TT_GATE_OK,
    TT_GATE_NO_ENTRY,
    TT_GATE_TOO_MANY_ENTRIES,
    TT_GATE_INTERVAL,  /* below 1 ns or above TT_GATE_CYCLE_MAX */
    TT_GATE_CYCLE,     /* below 0 or above TT_GATE_CYCLE_MAX, as given or as the sum */
    TT_GATE_EXTENSION, /* below 0 or above TT_GATE_CYCLE_MAX */
    TT_GATE_BASE,      /* beyond TT_GATE_TIME_MAX */
    TT_GATE_FAULTS
};

/* "there is no entry", … */
const char *tt_gate_fault_text(enum tt_gate_fault fault);
enum tt_gate_fault tt_gate_check(const struct tt_gate_schedule *schedule);
/* The cycle, given or summed; of a schedule that is checked. */
int64_t tt_gate_cycle_ns(const struct tt_gate_schedule *schedule);
int64_t tt_gate_sum_ns(const struct tt_gate_schedule *schedule);

/* From open_ns on, and close_ns is no longer in it. */
struct tt_gate_window {
    int64_t open_ns;
    int64_t close_ns;
};

struct tt_gate_class {
    const struct tt_gate_window
        *windows; /* phases in the cycle; the last may close after its end */
    size_t window_count;
    bool always;
    int64_t open_ns;    /* in a cycle */
    int64_t longest_ns; /* window; INT64_MAX: always open */
};

/* What holds from start_ns, a phase of the cycle, to the next segment. */
struct tt_gate_segment {
    int64_t start_ns;
    uint32_t mask;
};

struct tt_gate_list {
    int64_t base_tai_ns;
    int64_t cycle_ns;
    int64_t extension_ns;
    size_t segment_count;
    struct tt_gate_segment *segments;
    struct tt_gate_window *windows;
    struct tt_gate_class classes[TT_GATE_CLASSES];
};

/* Of a schedule that tt_gate_check finds good; it may go away afterwards. NULL: no memory. */
struct tt_gate_list *tt_gate_list_new(const struct tt_gate_schedule *schedule);
void tt_gate_list_free(struct tt_gate_list *list);

/* The segment that a time is in, as if the list had run for ever; its mask. */
TT_RT uint32_t tt_gate_list_segment(const struct tt_gate_list *list, int64_t tai_ns,
                                    struct tt_gate_window *ret_segment);
/* Which gates are open at a time. */
TT_RT uint32_t tt_gate_list_mask(const struct tt_gate_list *list, int64_t tai_ns);
/* The first window of the class that closes after tai_ns; it may have opened before. Open for
 * ever: INT64_MIN and INT64_MAX. false: never open. */
TT_RT bool tt_gate_list_window(const struct tt_gate_list *list, unsigned class, int64_t tai_ns,
                               struct tt_gate_window *ret_window);
/* The longest time in a row in which the class's gate is closed; INT64_MAX: it never opens. */
int64_t tt_gate_list_longest_closed(const struct tt_gate_list *list, unsigned class);

#endif
