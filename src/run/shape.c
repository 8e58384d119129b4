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

#include "base/counters.h"
#include "base/min_max.h"
#include "base/ns.h"
#include "os/memory.h"
#include "os/thread.h"
#include "os/uplink.h"
#include "run/shape_ends.h"
#include "run/thread.h"

#define NAP_NS     (20 * TT_NS_PER_MS) /* a stop is noticed so soon */
#define PUBLISH_NS (5 * TT_NS_PER_MS)
#define LOG_SIZE   (1U << 16)

/* Never busy for longer without a rest: the kernel takes 50 ms in a second from a real-time thread
 * that is, and what it does for the interface on this processor (ksoftirqd) would wait for that. */
#define BUSY_NS (1500 * TT_NS_PER_US)
#define REST_NS (100 * TT_NS_PER_US)

/* What is read and sent in turn: a queue is kept in order here, in the TAP it is not. */
#define SENDS_MAX 16
static const struct reads {
    int packets;
    int bytes;
} reads_computed = {128, 1 << 20}, reads_strict = {64, 1 << 15};
/* Strict: what those reads take. So soon before a frame is due nothing is read, … */
#define READ_NS (50 * TT_NS_PER_US)
/* … unless frames have followed each other so closely for so long. */
#define READ_AT_LEAST_NS (100 * TT_NS_PER_US)

struct tt_shape {
    struct tt_shape_setup setup;
    struct tt_shape_ends ends;
    struct tt_shaper *shaper;
    struct tt_thread forward; /* the real-time thread */
    struct tt_thread backward;
    atomic_bool quit;
    _Atomic(enum tt_shape_end) end;
    struct tt_timebase timebase;
    struct tt_wake_lateness wake;
    int64_t read_mono_ns;   /* the TAP, last */
    int64_t rested_mono_ns; /* was asleep, last */
    int64_t next_publish_ns;
    int64_t start_mono_ns;
    struct tt_shape_counters work; /* the real-time thread's own */
    struct tt_seqlock lock;
    struct tt_shape_counters published;
    atomic_uint_fast64_t returned;
    atomic_uint_fast64_t return_lost;
    atomic_uint_fast64_t tap_dropped;
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
    return shape->setup.clock->ops->mono_ns(shape->setup.clock);
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

static void take_packets(struct tt_shape *shape)
{
    struct reads most = shape->setup.shaper.strict ? reads_strict : reads_computed;

    for (; most.packets > 0 && most.bytes > 0; most.packets--) {
        struct tt_tap_header header;
        struct tt_headers headers;
        struct tt_gso gso;
        int bytes = tt_tap_read(shape->ends.tap_fd, shape->packet, &header);
        const uint8_t *packet = shape->packet + TT_TAP_HEADER_BYTES;

        if (bytes == -EBADFD) {
            atomic_store(&shape->end, TT_SHAPE_TAP_GONE);
        }
        if (bytes < 0) {
            return;
        }
        most.bytes -= bytes;
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
    int sent = shape->ends.link->ops->send(shape->ends.link, &packet, 1);
    int64_t after_ns = tai_now(shape);
    int64_t real_ns = shape->setup.lead_ns > 0 ? frame->launch_tai_ns : before_ns;

    if (shape->setup.shaper.strict) {
        tt_shaper_sent(shape->shaper, frame, after_ns);
        real_ns = after_ns;
    }
    if (sent != 1) {
        shape->work.send_refused++;
        tt_shaper_refused(shape->shaper, frame);
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

/* Sends what is due, up to SENDS_MAX frames; returns their number, and the TAI time to go on. */
static int release(struct tt_shape *shape, int64_t *ret_wake_ns)
{
    struct tt_shaper_frame frame;
    int64_t lead_ns = shape->setup.lead_ns;
    int64_t now_ns = tai_now(shape);

    for (int sent = 0; sent < SENDS_MAX; sent++) {
        int64_t wake_ns;

        if (!tt_shaper_next(shape->shaper, now_ns + lead_ns, shape->frame, &frame, &wake_ns)) {
            *ret_wake_ns = wake_ns == INT64_MAX ? INT64_MAX : wake_ns - lead_ns;
            return sent;
        }
        send_frame(shape, &frame, now_ns);
        now_ns = tai_now(shape);
    }
    *ret_wake_ns = now_ns;
    return SENDS_MAX;
}

static void count_refused_launches(struct tt_shape *shape)
{
    struct tt_link_errors errors = {0};

    while (shape->ends.link->ops->collect_errors(shape->ends.link, &errors) == TT_LINK_BATCH) {
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
        shape->work.lists_used[0] = shape->shaper->timeline.list;
        shape->work.lists_used[1] = shape->shaper->timeline.old;
        shape->next_publish_ns = 0;
        publish(shape, mono_now(shape));
    }
}

/* It may have been asleep since. */
static void note_rest(struct tt_shape *shape, int64_t since_mono_ns)
{
    int64_t now_ns = mono_now(shape);

    if (now_ns - since_mono_ns >= REST_NS) {
        shape->rested_mono_ns = now_ns;
    }
}

static void rest(struct tt_shape *shape)
{
    int64_t now_ns = mono_now(shape);

    if (now_ns - shape->rested_mono_ns > BUSY_NS) {
        shape->setup.clock->ops->sleep_until(shape->setup.clock, now_ns + REST_NS);
        note_rest(shape, now_ns);
    }
}

/* Until then, or until a packet comes. What a wake-up usually is late is waited out awake. */
static void wait_until(struct tt_shape *shape, int64_t mono_ns)
{
    struct pollfd tap = {.fd = shape->ends.tap_fd, .events = POLLIN};
    int64_t early_ns = shape->forward.realtime ? shape->wake.median_ns : 0;
    int64_t left_ns = mono_ns - early_ns - mono_now(shape);

    if (left_ns > 0) {
        const struct timespec timeout = {.tv_sec = 0, .tv_nsec = (long)tt_min64(left_ns, NAP_NS)};

        bool came = ppoll(&tap, 1, &timeout, NULL) != 0;

        note_rest(shape, mono_ns - early_ns - left_ns);
        if (came) {
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

/* `sent` frames just now; the next one is due at wake_mono_ns. */
static bool is_time_to_read(const struct tt_shape *shape, int sent, int64_t wake_mono_ns)
{
    int64_t now_ns = mono_now(shape);

    return !shape->setup.shaper.strict || wake_mono_ns - now_ns > READ_NS ||
           (sent > 0 && now_ns - shape->read_mono_ns > READ_AT_LEAST_NS);
}

static void forward(void *context)
{
    struct tt_shape *shape = context;
    int64_t wake_mono_ns = 0;
    int sent = 0;

    while (!atomic_load_explicit(&shape->quit, memory_order_acquire) &&
           atomic_load_explicit(&shape->end, memory_order_relaxed) == TT_SHAPE_AT_WORK) {
        int64_t wake_ns;

        if (is_time_to_read(shape, sent, wake_mono_ns)) {
            take_packets(shape);
            shape->read_mono_ns = mono_now(shape);
        }
        sent = release(shape, &wake_ns);
        publish(shape, mono_now(shape));
        take_list(shape);
        wake_mono_ns =
            wake_ns == INT64_MAX ? INT64_MAX : tt_timebase_mono(&shape->timebase, wake_ns);
        wait_until(shape, tt_min64(wake_mono_ns, mono_now(shape) + NAP_NS));
        rest(shape);
    }
    shape->next_publish_ns = 0;
    publish(shape, mono_now(shape));
}

static void backward(void *context)
{
    struct tt_shape *shape = context;
    struct pollfd uplink = {.fd = shape->ends.uplink_fd, .events = POLLIN};

    while (!atomic_load_explicit(&shape->quit, memory_order_acquire)) {
        int bytes = tt_uplink_read(shape->ends.uplink_fd, shape->back);

        if (bytes >= 0 && tt_tap_write(shape->ends.tap_fd, shape->back, (size_t)bytes) == 0) {
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
    shape->ends = (struct tt_shape_ends){.claim_fd = -1, .tap_fd = -1, .uplink_fd = -1};
    error = get_memory(shape);
    if (error == 0) {
        error = tt_shape_ends_open(&shape->setup, &shape->ends, ret_fault);
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

/* What the kernel had no room for, on either way. */
static void count_dropped(struct tt_shape *shape)
{
    atomic_store_explicit(&shape->tap_dropped, tt_shape_ends_tap_dropped(&shape->ends),
                          memory_order_relaxed);
    atomic_fetch_add_explicit(&shape->return_lost, tt_uplink_dropped(shape->ends.uplink_fd),
                              memory_order_relaxed);
}

void tt_shape_stop(struct tt_shape *shape)
{
    atomic_store_explicit(&shape->quit, true, memory_order_release);
    tt_thread_join(&shape->forward);
    tt_thread_join(&shape->backward);
    count_dropped(shape);
}

void tt_shape_free(struct tt_shape *shape)
{
    if (!shape) {
        return;
    }
    tt_shape_stop(shape);
    tt_shape_ends_close(&shape->ends);
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
    ret_counters->tap_dropped = atomic_load_explicit(&shape->tap_dropped, memory_order_relaxed);
    ret_counters->return_lost = atomic_load_explicit(&shape->return_lost, memory_order_relaxed);
}

bool tt_shape_has_realtime(const struct tt_shape *shape)
{
    return shape->forward.realtime;
}

bool tt_shape_was_up(const struct tt_shape *shape)
{
    return shape->ends.link->was_up;
}

void tt_shape_follow_link(struct tt_shape *shape, struct tt_shape_link *ret_link)
{
    tt_shape_ends_follow(&shape->ends, ret_link);
    count_dropped(shape);
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
