/*
 * See shape.h.
 */
#include "run/shape.h"

#include <errno.h>
#include <poll.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/counters.h"
#include "base/min_max.h"
#include "base/ns.h"
#include "os/interfaces.h"
#include "os/memory.h"
#include "os/thread.h"
#include "os/uplink.h"
#include "run/thread.h"

#define NAP_NS     (20 * TT_NS_PER_MS) /* a stop is noticed so soon */
#define PUBLISH_NS (5 * TT_NS_PER_MS)
#define READS_MAX  16 /* packets in a row, before frames are looked after again */
/* Strict: nothing is read when a frame is due so soon; a packet of 64 KB takes as long. */
#define READ_NS  (50 * TT_NS_PER_US)
#define LOG_SIZE (1U << 16)

struct tt_shape {
    struct tt_shape_setup setup;
    struct tt_link *link;
    int tap_fd;
    int uplink_fd;
    struct tt_shaper *shaper;
    struct tt_thread forward; /* the real-time thread */
    struct tt_thread backward;
    atomic_bool quit;
    _Atomic(enum tt_shape_end) end;
    struct tt_timebase timebase;
    struct tt_wake_lateness wake;
    int64_t next_publish_ns;
    int64_t start_mono_ns;
    struct tt_shape_counters work; /* the real-time thread's own */
    struct tt_seqlock lock;
    struct tt_shape_counters published;
    atomic_uint_fast64_t returned;
    atomic_uint_fast64_t return_lost;
    _Atomic(const struct tt_gate_list *) next_list;
    struct tt_hist *lateness;
    struct tt_hist *waits[TT_GATE_CLASSES];
    struct tt_shape_departure *log; /* NULL: not kept */
    atomic_uint log_in;
    atomic_uint log_out;
    uint8_t packet[TT_TAP_PACKET_MAX];
    uint8_t frame[TT_SHAPER_FRAME_MAX];
    uint8_t back[TT_TAP_PACKET_MAX];
};

static int64_t mono_now(const struct tt_shape *shape)
{
    struct tt_clock_reading reading;

    shape->setup.clock->ops->read(shape->setup.clock, &reading);
    return reading.mono_after_ns;
}

static int64_t tai_now(const struct tt_shape *shape)
{
    return tt_timebase_tai(&shape->timebase, mono_now(shape));
}

static void follow_clock(struct tt_shape *shape)
{
    struct tt_clock_reading reading;

    shape->setup.clock->ops->read(shape->setup.clock, &reading);
    shape->work.clock_steps += tt_timebase_follow(&shape->timebase, &reading) != 0;
}

static struct tt_gso gso_of(const struct tt_tap_header *header)
{
    return (struct tt_gso){
        .kind = header->segments == TT_TAP_TCP   ? TT_GSO_TCP
                : header->segments == TT_TAP_UDP ? TT_GSO_UDP
                                                 : TT_GSO_NONE,
        .size = header->segment_bytes,
        .needs_checksum = header->needs_checksum,
        .checksum_start = header->checksum_start,
        .checksum_offset = header->checksum_offset,
    };
}

static void take_packets(struct tt_shape *shape, int most)
{
    for (int i = 0; i < most; i++) {
        struct tt_tap_header header;
        struct tt_headers headers;
        struct tt_gso gso;
        int bytes = tt_tap_read(shape->tap_fd, shape->packet, &header);
        const uint8_t *packet = shape->packet + TT_TAP_HEADER_BYTES;

        if (bytes == -EBADFD) {
            atomic_store(&shape->end, TT_SHAPE_TAP_GONE);
        }
        if (bytes < 0) {
            return;
        }
        if (header.segments == TT_TAP_OTHER) {
            shape->work.unknown++;
            continue;
        }
        gso = gso_of(&header);
        tt_headers_parse(packet, (size_t)bytes, &headers);
        tt_shaper_push(shape->shaper, tt_classify(&shape->setup.classifier, &headers), packet,
                       (size_t)bytes, &gso, tai_now(shape));
    }
}

static void log_departure(struct tt_shape *shape, const struct tt_shaper_frame *frame,
                          int64_t after_ns)
{
    unsigned in = atomic_load_explicit(&shape->log_in, memory_order_relaxed);

    if (in - atomic_load_explicit(&shape->log_out, memory_order_acquire) == LOG_SIZE) {
        shape->work.log_lost++;
        return;
    }
    shape->log[in % LOG_SIZE] = (struct tt_shape_departure){
        .launch_tai_ns = frame->launch_tai_ns,
        .after_tai_ns = after_ns,
        .arrival_tai_ns = frame->launch_tai_ns - frame->wait_ns,
        .bytes = (uint32_t)frame->bytes,
        .class = frame->class,
    };
    atomic_store_explicit(&shape->log_in, in + 1, memory_order_release);
}

static void send_frame(struct tt_shape *shape, const struct tt_shaper_frame *frame,
                       int64_t before_ns)
{
    const struct tt_link_packet packet = {
        .data = shape->frame, .bytes = frame->bytes, .time_tai_ns = frame->launch_tai_ns};
    int sent = shape->link->ops->send(shape->link, &packet, 1);
    int64_t after_ns = tai_now(shape);
    int64_t real_ns = shape->setup.lead_ns > 0 ? frame->launch_tai_ns : before_ns;

    if (shape->setup.shaper.strict) {
        tt_shaper_sent(shape->shaper, frame, after_ns);
        real_ns = after_ns;
    }
    if (sent != 1) {
        shape->work.send_refused++;
        if (sent == -ENXIO) {
            atomic_store(&shape->end, TT_SHAPE_INTERFACE_GONE);
        }
        return;
    }
    if (real_ns + frame->end_tai_ns - frame->launch_tai_ns > frame->close_tai_ns) {
        shape->work.classes[frame->class].overruns++;
    }
    tt_hist_record(shape->lateness, after_ns - frame->launch_tai_ns);
    tt_hist_record(shape->waits[frame->class], frame->wait_ns);
    if (shape->log) {
        log_departure(shape, frame, after_ns);
    }
}

/* Sends what is due; returns the TAI time to wake. */
static int64_t release(struct tt_shape *shape)
{
    struct tt_shaper_frame frame;
    int64_t lead_ns = shape->setup.lead_ns;
    int64_t wake_ns;
    int64_t now_ns = tai_now(shape);

    while (tt_shaper_next(shape->shaper, now_ns + lead_ns, shape->frame, &frame, &wake_ns)) {
        send_frame(shape, &frame, now_ns);
        now_ns = tai_now(shape);
        if (atomic_load_explicit(&shape->quit, memory_order_relaxed)) {
            return now_ns;
        }
    }
    return wake_ns == INT64_MAX ? INT64_MAX : wake_ns - lead_ns;
}

static void count_refused_launches(struct tt_shape *shape)
{
    struct tt_link_errors errors = {0};

    while (shape->link->ops->collect_errors(shape->link, &errors) == TT_LINK_BATCH) {
    }
    shape->work.launch_refused += errors.launch_missed + errors.launch_invalid;
}

static void publish(struct tt_shape *shape, int64_t now_mono_ns)
{
    struct timespec cpu;

    if (now_mono_ns < shape->next_publish_ns) {
        return;
    }
    shape->next_publish_ns = now_mono_ns + PUBLISH_NS;
    follow_clock(shape);
    if (shape->setup.lead_ns > 0) {
        count_refused_launches(shape);
    }
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &cpu);
    shape->work.cpu_ns = cpu.tv_sec * TT_NS_PER_S + cpu.tv_nsec;
    shape->work.elapsed_ns = now_mono_ns - shape->start_mono_ns;
    shape->work.now_tai_ns = tt_timebase_tai(&shape->timebase, now_mono_ns);
    for (unsigned c = 0; c < shape->setup.shaper.classes; c++) {
        shape->work.classes[c].shaper = shape->shaper->counters[c];
        shape->work.classes[c].waiting_bytes = tt_shaper_waiting(shape->shaper, c);
    }
    tt_counters_begin(&shape->lock);
    shape->published = shape->work;
    tt_counters_end(&shape->lock);
}

/* Who takes a departure of the new list sees in the counters that there is one. */
static void take_list(struct tt_shape *shape)
{
    const struct tt_gate_list *list = atomic_exchange(&shape->next_list, NULL);

    if (list) {
        shape->work.list_start_tai_ns =
            tt_shaper_replace(shape->shaper, list, tai_now(shape) + shape->setup.lead_ns);
        shape->work.lists++;
        shape->next_publish_ns = 0;
        publish(shape, mono_now(shape));
    }
}

/* Until then, or until a packet comes. What a wake-up usually is late is waited out awake. */
static void wait_until(struct tt_shape *shape, int64_t mono_ns)
{
    struct pollfd tap = {.fd = shape->tap_fd, .events = POLLIN};
    int64_t early_ns = shape->forward.realtime ? shape->wake.median_ns : 0;
    int64_t left_ns = mono_ns - early_ns - mono_now(shape);

    if (left_ns > 0) {
        const struct timespec timeout = {.tv_sec = 0, .tv_nsec = (long)tt_min64(left_ns, NAP_NS)};

        if (ppoll(&tap, 1, &timeout, NULL) != 0) {
            return;
        }
        if (left_ns <= NAP_NS) {
            tt_wake_lateness_add(&shape->wake, mono_now(shape) - (mono_ns - early_ns));
        }
    }
    while (mono_now(shape) < mono_ns && mono_ns - mono_now(shape) <= early_ns &&
           !atomic_load_explicit(&shape->quit, memory_order_relaxed)) {
    }
}

static void forward(void *context)
{
    struct tt_shape *shape = context;
    int64_t wake_mono_ns = 0;

    while (!atomic_load_explicit(&shape->quit, memory_order_acquire) &&
           atomic_load_explicit(&shape->end, memory_order_relaxed) == TT_SHAPE_AT_WORK) {
        int64_t wake_ns;

        if (!shape->setup.shaper.strict) {
            take_packets(shape, READS_MAX);
        } else if (wake_mono_ns - mono_now(shape) > READ_NS) {
            take_packets(shape, 1);
        }
        wake_ns = release(shape);
        publish(shape, mono_now(shape));
        take_list(shape);
        wake_mono_ns =
            wake_ns == INT64_MAX ? INT64_MAX : tt_timebase_mono(&shape->timebase, wake_ns);
        wait_until(shape, tt_min64(wake_mono_ns, mono_now(shape) + NAP_NS));
    }
    shape->next_publish_ns = 0;
    publish(shape, mono_now(shape));
}

static void backward(void *context)
{
    struct tt_shape *shape = context;
    struct pollfd uplink = {.fd = shape->uplink_fd, .events = POLLIN};

    while (!atomic_load_explicit(&shape->quit, memory_order_acquire)) {
        int bytes = tt_uplink_read(shape->uplink_fd, shape->back);

        if (bytes >= 0 && tt_tap_write(shape->tap_fd, shape->back, (size_t)bytes) == 0) {
            atomic_fetch_add_explicit(&shape->returned, 1, memory_order_relaxed);
        } else if (bytes >= 0 || bytes == -EMSGSIZE) {
            atomic_fetch_add_explicit(&shape->return_lost, 1, memory_order_relaxed);
        } else if (bytes == -ENXIO) {
            atomic_store(&shape->end, TT_SHAPE_INTERFACE_GONE);
            return;
        } else {
            poll(&uplink, 1, (int)(NAP_NS / TT_NS_PER_MS));
        }
    }
}

static int open_ends(struct tt_shape *shape, struct tt_shape_fault *fault)
{
    const struct tt_shape_setup *setup = &shape->setup;
    const struct tt_link_packet_setup link = {
        .ifname = setup->ifname,
        .send = true,
        .priority = setup->priority,
        .launch_times = setup->lead_ns > 0,
        .bypass = setup->lead_ns == 0,
    };
    struct tt_link_packet_found found;
    int error = tt_link_packet_new(&link, &shape->link, &found);

    *fault = (struct tt_shape_fault){.step = TT_SHAPE_STEP_LINK, .link = found.step};
    if (error < 0) {
        return error;
    }
    shape->link->was_up = found.up;
    fault->step = TT_SHAPE_STEP_UPLINK;
    shape->uplink_fd = tt_uplink_open(setup->ifname);
    if (shape->uplink_fd < 0) {
        return shape->uplink_fd;
    }
    fault->step = TT_SHAPE_STEP_TAP;
    return tt_tap_open(setup->tap, shape->link->mtu_bytes, &shape->tap_fd, &fault->tap);
}

static int get_memory(struct tt_shape *shape)
{
    shape->shaper = tt_shaper_new(&shape->setup.shaper, shape->setup.list);
    shape->lateness = tt_memory_new(1, sizeof(*shape->lateness));
    if (shape->setup.log) {
        shape->log = tt_memory_new(LOG_SIZE, sizeof(*shape->log));
    }
    for (unsigned c = 0; c < shape->setup.shaper.classes; c++) {
        shape->waits[c] = tt_memory_new(1, sizeof(*shape->waits[c]));
        if (!shape->waits[c]) {
            return -ENOMEM;
        }
        tt_hist_init(shape->waits[c]);
    }
    if (!shape->shaper || !shape->lateness || (shape->setup.log && !shape->log)) {
        return -ENOMEM;
    }
    tt_hist_init(shape->lateness);
    return 0;
}

int tt_shape_new(const struct tt_shape_setup *setup, struct tt_shape **ret_shape,
                 struct tt_shape_fault *ret_fault)
{
    struct tt_shape *shape = tt_memory_new(1, sizeof(*shape));
    int error;

    *ret_fault = (struct tt_shape_fault){.step = TT_SHAPE_STEP_MEMORY};
    if (!shape) {
        return -ENOMEM;
    }
    shape->setup = *setup;
    shape->tap_fd = -1;
    shape->uplink_fd = -1;
    error = get_memory(shape);
    if (error == 0) {
        error = open_ends(shape, ret_fault);
    }
    if (error == 0) {
        ret_fault->step = TT_SHAPE_STEP_THREAD;
        follow_clock(shape);
        shape->start_mono_ns = mono_now(shape);
        error = tt_thread_start(&shape->forward, forward, shape);
    }
    if (error == 0) {
        error = tt_thread_start_plain(&shape->backward, backward, shape);
    }
    if (error < 0) {
        tt_shape_free(shape);
        return error;
    }
    *ret_shape = shape;
    return 0;
}

void tt_shape_stop(struct tt_shape *shape)
{
    atomic_store_explicit(&shape->quit, true, memory_order_release);
    tt_thread_join(&shape->forward);
    tt_thread_join(&shape->backward);
}

void tt_shape_free(struct tt_shape *shape)
{
    if (!shape) {
        return;
    }
    tt_shape_stop(shape);
    if (shape->tap_fd >= 0) {
        close(shape->tap_fd);
    }
    if (shape->uplink_fd >= 0) {
        close(shape->uplink_fd);
    }
    tt_link_close(shape->link);
    tt_shaper_free(shape->shaper);
    for (unsigned c = 0; c < TT_GATE_CLASSES; c++) {
        free(shape->waits[c]);
    }
    free(shape->lateness);
    free(shape->log);
    free(shape);
}

void tt_shape_read(struct tt_shape *shape, struct tt_shape_counters *ret_counters)
{
    tt_counters_read(&shape->lock, &shape->published, sizeof(shape->published), ret_counters);
    ret_counters->returned = atomic_load_explicit(&shape->returned, memory_order_relaxed);
    ret_counters->return_lost = atomic_load_explicit(&shape->return_lost, memory_order_relaxed);
}

bool tt_shape_has_realtime(const struct tt_shape *shape)
{
    return shape->forward.realtime;
}

bool tt_shape_was_up(const struct tt_shape *shape)
{
    return shape->link->was_up;
}

void tt_shape_follow_link(struct tt_shape *shape, struct tt_shape_link *ret_link)
{
    struct tt_link *link = shape->link;
    struct tt_shape_link now = {
        .was_up = link->was_up,
        .is_up = link->ops->is_up(link),
        .had_mtu_bytes = link->mtu_bytes,
        .mtu_bytes = link->mtu_bytes,
    };

    if (tt_interface_mtu(shape->setup.ifname, &now.mtu_bytes) == 0 &&
        now.mtu_bytes != now.had_mtu_bytes) {
        now.error = tt_interface_set_mtu(shape->setup.tap, now.mtu_bytes);
    }
    link->was_up = now.is_up;
    link->mtu_bytes = now.mtu_bytes;
    *ret_link = now;
}

enum tt_shape_end tt_shape_end(struct tt_shape *shape)
{
    return atomic_load(&shape->end);
}

bool tt_shape_replace(struct tt_shape *shape, const struct tt_gate_list *list)
{
    const struct tt_gate_list *none = NULL;

    return atomic_compare_exchange_strong(&shape->next_list, &none, list);
}

size_t tt_shape_take(struct tt_shape *shape, struct tt_shape_departure *ret_departures,
                     size_t capacity)
{
    unsigned out = atomic_load_explicit(&shape->log_out, memory_order_relaxed);
    unsigned in = atomic_load_explicit(&shape->log_in, memory_order_acquire);
    size_t n = 0;

    for (; n < capacity && out != in; n++, out++) {
        ret_departures[n] = shape->log[out % LOG_SIZE];
    }
    atomic_store_explicit(&shape->log_out, out, memory_order_release);
    return n;
}

const struct tt_hist *tt_shape_lateness(const struct tt_shape *shape)
{
    return shape->lateness;
}

const struct tt_hist *tt_shape_wait(const struct tt_shape *shape, unsigned class)
{
    return shape->waits[class];
}
