/*
 * A link in memory, for tests: what is sent arrives after a scripted delay, or not, or twice, or
 * out of order. Time comes from a scripted clock. Seeded: the same script gives the same run.
 */
#ifndef TT_OS_LINK_LOOP_H
#define TT_OS_LINK_LOOP_H

#include <stdint.h>

#include "os/clock.h"
#include "os/link.h"

/* What happens to one packet. */
struct tt_loop_fate {
    bool lost;
    bool launch_kept;   /* comes so: the link keeps its launch time */
    bool launch_missed; /* then: lost, and reported at once */
    unsigned
        copies; /* beyond the first, arriving with it; as many as the capacity leaves room for */
    int64_t delay_ns; /* from departure to arrival; later packets may overtake */
};

struct tt_loop_setup {
    struct tt_clock_script *clock;
    unsigned mtu_bytes;
    bool keeps_launch_times; /* departure at the launch time; false: at once */
    /* Decides each packet's fate; `index` counts from 0, over both ends. May change the packet.
     * NULL: the fate it comes with. */
    void (*fate)(void *context, uint64_t index, uint8_t *data, size_t bytes,
                 struct tt_loop_fate *fate); /* comes with: not lost, no copies, delay 10 µs */
    void *context;
    /* Sees each packet that departs, unchanged and when it is sent (NULL: nobody). */
    void (*departure)(void *context, const uint8_t *data, size_t bytes, int64_t departure_tai_ns);
    size_t capacity; /* packets in flight to one end, >= 1; send returns -ENOBUFS for what does not
                        fit */
};

/* Two ends that share one medium: what is sent on one is received on the other. Heap; 0 or -ENOMEM.
 */
int tt_link_loop_new(const struct tt_loop_setup *setup, struct tt_link **ret_a,
                     struct tt_link **ret_b);

#endif
