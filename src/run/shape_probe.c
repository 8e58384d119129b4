/*
 * See shape_probe.h.
 */
#include "run/shape_probe.h"

#include <stdlib.h>
#include <string.h>

#include "base/min_max.h"
#include "base/ns.h"
#include "os/link_packet.h"
#include "os/thread.h"
#include "run/thread.h"

#define GAP_NS          (400 * TT_NS_PER_US)
#define FRAME_BYTES     1514
#define MARGIN_LEAST_NS (2 * TT_NS_PER_US)

struct work {
    struct tt_clock *clock;
    struct tt_link *link;
    struct tt_wake_lateness wake;
    struct tt_shape_probe *probe;
    uint8_t frame[FRAME_BYTES];
};

static int64_t mono_now(struct tt_clock *clock)
{
    struct tt_clock_reading reading;

    clock->ops->read(clock, &reading);
    return reading.mono_after_ns;
}

/* As the shaper waits: asleep, and awake for what a wake-up usually is late. Returns the time. */
static int64_t wait_until(struct work *work, int64_t mono_ns)
{
    int64_t asleep_ns = mono_ns - work->wake.median_ns;
    int64_t now_ns;

    work->clock->ops->sleep_until(work->clock, asleep_ns);
    tt_wake_lateness_add(&work->wake, mono_now(work->clock) - asleep_ns);
    while ((now_ns = mono_now(work->clock)) < mono_ns) {
    }
    return now_ns;
}

static void run(void *context)
{
    struct work *work = context;
    const struct tt_link_packet packet = {.data = work->frame, .bytes = FRAME_BYTES};
    int64_t next_ns = mono_now(work->clock);

    for (int i = 0; i < TT_SHAPE_PROBES; i++) {
        int64_t awake_ns;

        next_ns = tt_max64(next_ns, mono_now(work->clock)) + GAP_NS;
        awake_ns = wait_until(work, next_ns);
        work->probe->late_ns[i] = awake_ns - next_ns;
        if (work->link && work->link->ops->send(work->link, &packet, 1) == 1) {
            work->probe->hand_ns[work->probe->hand_count++] = mono_now(work->clock) - awake_ns;
        }
    }
}

static int compare(const void *a, const void *b)
{
    int64_t x = *(const int64_t *)a;
    int64_t y = *(const int64_t *)b;

    return (x > y) - (x < y);
}

static int64_t margin(const struct tt_shape_probe *probe)
{
    int64_t sorted[TT_SHAPE_PROBES];
    size_t n = probe->hand_count;

    if (n == 0) {
        return MARGIN_LEAST_NS;
    }
    memcpy(sorted, probe->hand_ns, n * sizeof(sorted[0]));
    qsort(sorted, n, sizeof(sorted[0]), compare);
    return tt_max64(MARGIN_LEAST_NS, (sorted[n * 99 / 100] / TT_NS_PER_US + 1) * TT_NS_PER_US);
}

int tt_shape_probe(struct tt_clock *clock, const char *ifname, struct tt_shape_probe *ret_probe)
{
    struct work work = {
        .clock = clock,
        .probe = ret_probe,
        .frame = {0x01, 0x80, 0xC2, 0, 0, 0x0E, 0, 0, 0, 0, 0, 0, 0x88, 0xB5},
    };
    struct tt_thread thread = {0};
    struct tt_link_packet_found found;
    const struct tt_link_packet_setup link = {.ifname = ifname, .send = true, .bypass = true};
    int error = 0;

    *ret_probe = (struct tt_shape_probe){0};
    if (ifname) {
        error = tt_link_packet_new(&link, &work.link, &found);
    }
    if (error == 0 && work.link) {
        memcpy(work.frame + 6, work.link->mac, 6);
    }
    if (error == 0) {
        error = tt_thread_start(&thread, run, &work);
    }
    if (error == 0) {
        ret_probe->realtime = thread.realtime;
        tt_thread_join(&thread);
        ret_probe->margin_ns = margin(ret_probe);
    }
    tt_link_close(work.link);
    return error;
}
