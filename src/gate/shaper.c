/*
 * See shaper.h.
 */
#include "gate/shaper.h"

#include <stdlib.h>
#include <string.h>

#include "base/min_max.h"
#include "base/ns.h"

/* RFC 8289, 4.2 and 4.3; closed gates come on top of the target. */
#define CODEL_TARGET_NS   (5 * TT_NS_PER_MS)
#define CODEL_INTERVAL_NS (100 * TT_NS_PER_MS)

/* The wire is never busy for so long; where it seems so, the clock was set back. */
#define WIRE_AHEAD_MAX_NS (2 * TT_NS_PER_S)

/* What a lane would send next. */
struct choice {
    unsigned lane;
    struct tt_queued *packet;
    size_t payload_bytes;
    int64_t launch_ns;
    int64_t close_ns;
};

/* By how long gates are closed; while lists change, in both. */
static void tune(struct tt_shaper *shaper, const struct tt_gate_list *list,
                 const struct tt_gate_list *other)
{
    for (unsigned lane = 0; lane < 2 * shaper->setup.classes; lane++) {
        int64_t closed_ns = tt_min64(tt_max64(tt_gate_list_longest_closed(list, lane / 2),
                                              tt_gate_list_longest_closed(other, lane / 2)),
                                     TT_NS_PER_S);

        shaper->lanes[lane].codel.target_ns = CODEL_TARGET_NS + closed_ns;
        shaper->lanes[lane].codel.interval_ns = CODEL_INTERVAL_NS + closed_ns;
    }
}

static bool new_lane(struct tt_shaper *shaper, unsigned lane)
{
    size_t bytes = lane % 2 == 1 ? TT_SHAPER_CONTROL_MAX : shaper->setup.queue_bytes;
    /* Records lie beside the packets; the bound itself is on the packets' bytes. */
    size_t capacity = 2 * bytes + 2 * TT_SEGMENT_PACKET_MAX;
    void *memory = calloc(1, capacity);

    if (memory) {
        tt_packet_queue_init(&shaper->lanes[lane].queue, memory, capacity);
    }
    return memory != NULL;
}

struct tt_shaper *tt_shaper_new(const struct tt_shaper_setup *setup,
                                const struct tt_gate_list *list)
{
    struct tt_shaper *shaper = calloc(1, sizeof(*shaper));

    if (!shaper) {
        return NULL;
    }
    shaper->setup = *setup;
    shaper->timeline = (struct tt_gate_timeline){.list = list, .start_ns = INT64_MIN};
    shaper->wire = (struct tt_wire){.rate_bps = setup->rate_bps, .free_ns = -TT_GATE_TIME_MAX};
    for (unsigned lane = 0; lane < 2 * setup->classes; lane++) {
        if (!new_lane(shaper, lane)) {
            tt_shaper_free(shaper);
            return NULL;
        }
    }
    tune(shaper, list, list);
    return shaper;
}

void tt_shaper_free(struct tt_shaper *shaper)
{
    if (shaper) {
        for (unsigned lane = 0; lane < TT_SHAPER_LANES; lane++) {
            free(shaper->lanes[lane].queue.memory);
        }
        free(shaper);
    }
}

int64_t tt_shaper_replace(struct tt_shaper *shaper, const struct tt_gate_list *list,
                          int64_t now_tai_ns)
{
    if (shaper->timeline.start_ns <= now_tai_ns) {
        shaper->timeline.old = shaper->timeline.list;
    }
    shaper->timeline.list = list;
    shaper->timeline.start_ns = tt_gate_start_ns(list, now_tai_ns);
    shaper->changing = true;
    tune(shaper, list, shaper->timeline.old);
    return shaper->timeline.start_ns;
}

void tt_shaper_push(struct tt_shaper *shaper, unsigned class, const uint8_t *packet, size_t bytes,
                    const struct tt_gso *gso, int64_t now_tai_ns)
{
    struct tt_shaper_counters *counters = &shaper->counters[class];
    struct tt_segmenter segmenter;
    enum tt_segment_fault fault = tt_segmenter_init(&segmenter, packet, bytes, gso);
    struct tt_packet_queue *queue;
    struct tt_queued *queued;
    bool control;

    counters->packets++;
    if (fault != TT_SEGMENT_OK) {
        counters->refused[fault]++;
        return;
    }
    control = tt_headers_is_control(&segmenter.headers);
    queue = &shaper->lanes[2 * class + control].queue;
    queued = NULL;
    if (queue->payload_bytes < (control ? TT_SHAPER_CONTROL_MAX : shaper->setup.queue_bytes)) {
        queued = tt_packet_queue_push(queue, bytes);
    }
    if (!queued) {
        counters->dropped_full++;
        return;
    }
    queued->arrival_tai_ns = now_tai_ns;
    queued->segmenter = segmenter;
    memcpy(queued->data, packet, bytes);
    shaper->waiting |= 1U << (2 * class + control);
}

static int64_t frame_ns(const struct tt_shaper *shaper, int64_t start_ns, int64_t wire_bytes)
{
    return tt_wire_end_ns(&shaper->wire, start_ns, wire_bytes) - start_ns;
}

static int64_t wire_bytes_of(const struct tt_segmenter *segmenter, size_t payload_bytes)
{
    return tt_wire_bytes((int64_t)tt_segmenter_frame_bytes(segmenter, payload_bytes));
}

/* Of all frames that are left of a packet, back to back. */
static int64_t wire_bytes_whole(const struct tt_segmenter *segmenter)
{
    struct tt_segmenter rest = *segmenter;
    int64_t wire_bytes = 0;

    while (!rest.done) {
        size_t payload_bytes = tt_segmenter_full(&rest);

        wire_bytes += wire_bytes_of(&rest, payload_bytes);
        tt_segmenter_skip(&rest, payload_bytes);
    }
    return wire_bytes;
}

/* The payload of the longest frame of the packet that may leave at start_ns and is off the wire
 * left_ns later. `whatever`: it may be as short as it wants. */
static bool fit(const struct tt_shaper *shaper, const struct tt_segmenter *segmenter,
                int64_t start_ns, int64_t left_ns, bool whatever, size_t *ret_payload_bytes)
{
    size_t full = tt_segmenter_full(segmenter);
    int64_t wire_bytes = shaper->setup.whole && segmenter->done_bytes == 0
                             ? wire_bytes_whole(segmenter)
                             : wire_bytes_of(segmenter, full);
    size_t least = whatever ? 1 : shaper->setup.cut_bytes;
    int64_t longest;

    if (frame_ns(shaper, start_ns, wire_bytes) <= left_ns) {
        *ret_payload_bytes = full;
        return true;
    }
    if (!segmenter->less || shaper->setup.whole || least == 0) {
        return false;
    }
    longest = tt_wire_longest_frame(tt_max64(0, left_ns), shaper->setup.rate_bps) -
              (int64_t)segmenter->head_bytes;
    if (longest < (int64_t)least || longest >= (int64_t)full) {
        return false;
    }
    *ret_payload_bytes = (size_t)longest;
    return true;
}

/* Which windows a packet is tried on, from a time on: two cycles of the list in force and, where
 * the lists change before the class's controlled delay has passed, the old list's last cycle and
 * two of the new one's. A change further away is none that a packet waits for. */
struct search {
    int64_t skip_from_ns; /* from here on … */
    int64_t skip_to_ns;   /* … to here it is the same as before: it does not fit */
    int64_t until_ns;
};

static struct search search_from(const struct tt_shaper *shaper, unsigned lane, int64_t from_ns)
{
    const struct tt_gate_timeline *timeline = &shaper->timeline;
    int64_t new_ns = tt_max64(from_ns, timeline->start_ns);
    struct search search = {INT64_MAX, INT64_MAX, new_ns + 2 * timeline->list->cycle_ns};

    if (from_ns < timeline->start_ns && timeline->old) {
        search.skip_from_ns = from_ns + 2 * timeline->old->cycle_ns;
        search.skip_to_ns = tt_gate_old_end_ns(timeline) - timeline->old->cycle_ns;
        if (timeline->start_ns - from_ns > shaper->lanes[lane].codel.interval_ns) {
            search.until_ns = tt_min64(search.skip_from_ns, timeline->start_ns - 1);
        }
    }
    return search;
}

/* In the next windows, one after the other; false: never. */
static bool find_window(const struct tt_shaper *shaper, int64_t from_ns, bool whatever,
                        struct choice *choice)
{
    const struct tt_segmenter *segmenter = &choice->packet->segmenter;
    int64_t margin_ns = shaper->setup.strict ? shaper->setup.margin_ns : 0;
    struct search search = search_from(shaper, choice->lane, from_ns);
    int64_t at_ns = from_ns;
    struct tt_gate_window window;

    while (tt_gate_window(&shaper->timeline, choice->lane / 2, at_ns, &window)) {
        int64_t start_ns = tt_max64(at_ns, window.open_ns);
        int64_t left_ns = window.close_ns == INT64_MAX ? INT64_MAX : window.close_ns - start_ns;

        if (start_ns > search.until_ns) {
            return false;
        }
        /* Once for the way to the wire; once more for a wake-up that is yet to come. */
        left_ns -= window.close_ns == INT64_MAX ? 0 : margin_ns * (1 + (start_ns > from_ns));

        if (fit(shaper, segmenter, start_ns, left_ns, whatever, &choice->payload_bytes)) {
            choice->launch_ns = start_ns;
            choice->close_ns = window.close_ns;
            return true;
        }
        if (window.close_ns == INT64_MAX) {
            return false;
        }
        at_ns = window.close_ns;
        if (at_ns > search.skip_from_ns) {
            at_ns = tt_max64(at_ns, search.skip_to_ns);
        }
    }
    return false;
}

/* But for gates and wire. */
static int64_t earliest(const struct tt_shaper *shaper, const struct tt_queued *packet,
                        int64_t now_ns)
{
    int64_t arrival_ns = tt_min64(now_ns, packet->arrival_tai_ns);

    if (shaper->setup.strict) {
        return now_ns;
    }
    return shaper->setup.back_ns > 0 ? tt_max64(arrival_ns, now_ns - shaper->setup.back_ns)
                                     : arrival_ns;
}

/* When the lane's first packet would send a frame, and which. false: never. */
static bool plan(const struct tt_shaper *shaper, unsigned lane, int64_t now_ns,
                 struct choice *ret_choice)
{
    struct choice choice = {.lane = lane,
                            .packet = tt_packet_queue_first(&shaper->lanes[lane].queue)};
    int64_t from_ns =
        tt_max64(earliest(shaper, choice.packet, now_ns), tt_wire_free_ns(&shaper->wire));

    if (!find_window(shaper, from_ns, false, &choice) &&
        (!choice.packet->segmenter.less || shaper->setup.whole ||
         !find_window(shaper, from_ns, true, &choice))) {
        return false;
    }
    *ret_choice = choice;
    return true;
}

static void pop(struct tt_shaper *shaper, unsigned lane)
{
    struct tt_packet_queue *queue = &shaper->lanes[lane].queue;

    tt_packet_queue_pop(queue);
    if (queue->count == 0) {
        shaper->waiting &= ~(1U << lane);
    }
}

/* The same; packets in front that never fit are dropped. false: nothing waits there. */
static bool plan_lane(struct tt_shaper *shaper, unsigned lane, int64_t now_ns,
                      struct choice *ret_choice)
{
    while ((shaper->waiting >> lane & 1) != 0) {
        if (plan(shaper, lane, now_ns, ret_choice)) {
            return true;
        }
        if (shaper->setup.whole) {
            return false;
        }
        shaper->counters[lane / 2].dropped_never++;
        pop(shaper, lane);
    }
    return false;
}

/* The frame that leaves first; of several at the same time a control frame, then the highest class.
 */
static bool choose(struct tt_shaper *shaper, int64_t now_ns, struct choice *ret_best)
{
    bool found = false;

    for (unsigned turn = 0; turn < TT_SHAPER_LANES && shaper->waiting != 0; turn++) {
        unsigned class = TT_GATE_CLASSES - 1 - turn % TT_GATE_CLASSES;
        unsigned lane = 2 * class + (turn < TT_GATE_CLASSES);
        struct choice choice;

        if (plan_lane(shaper, lane, now_ns, &choice) &&
            (!found || choice.launch_ns < ret_best->launch_ns)) {
            *ret_best = choice;
            found = true;
        }
    }
    return found;
}

/* Whether controlled delay takes this frame. Control frames and what is not IP are bounded by their
 * queue alone. */
static bool is_lost(struct tt_shaper *shaper, const struct choice *choice)
{
    struct tt_shaper_lane *lane = &shaper->lanes[choice->lane];
    const struct tt_segmenter *segmenter = &choice->packet->segmenter;
    size_t left = segmenter->payload_bytes - segmenter->done_bytes;

    return !shaper->setup.whole && choice->lane % 2 == 0 && segmenter->headers.l3_bytes > 0 &&
           tt_codel_leave(&lane->codel, choice->launch_ns,
                          choice->launch_ns - choice->packet->arrival_tai_ns,
                          lane->queue.count == 1 && left <= tt_segmenter_full(segmenter));
}

static void finish_packet(struct tt_shaper *shaper, const struct choice *choice)
{
    if (choice->packet->segmenter.done) {
        shaper->counters[choice->lane / 2].segmented += choice->packet->segmenter.index > 1;
        pop(shaper, choice->lane);
    }
}

static void send_frame(struct tt_shaper *shaper, const struct choice *choice, bool mark,
                       uint8_t *frame, struct tt_shaper_frame *ret_frame)
{
    struct tt_shaper_counters *counters = &shaper->counters[choice->lane / 2];
    struct tt_segmenter *segmenter = &choice->packet->segmenter;
    int64_t wait_ns = choice->launch_ns - choice->packet->arrival_tai_ns;
    int64_t wire_bytes = wire_bytes_of(segmenter, choice->payload_bytes);

    counters->wire_ns += frame_ns(shaper, choice->launch_ns, wire_bytes);
    counters->cut += choice->payload_bytes < tt_segmenter_full(segmenter);
    counters->marked += mark;
    counters->payload_bytes += choice->payload_bytes;
    counters->frames++;
    counters->wait_last_ns = wait_ns;
    counters->wait_max_ns = tt_max64(counters->wait_max_ns, wait_ns);
    tt_wire_send(&shaper->wire, choice->launch_ns, wire_bytes);
    *ret_frame = (struct tt_shaper_frame){
        .class = choice->lane / 2,
        .payload_bytes = choice->payload_bytes,
        .bytes =
            tt_segmenter_next(segmenter, choice->packet->data, choice->payload_bytes, mark, frame),
        .launch_tai_ns = choice->launch_ns,
        .end_tai_ns = tt_wire_free_ns(&shaper->wire),
        .close_tai_ns = choice->close_ns,
        .wait_ns = wait_ns,
    };
    counters->bytes += ret_frame->bytes;
    finish_packet(shaper, choice);
}

bool tt_shaper_next(struct tt_shaper *shaper, int64_t now_tai_ns, uint8_t *frame,
                    struct tt_shaper_frame *ret_frame, int64_t *ret_wake_tai_ns)
{
    struct choice choice = {0};

    if (shaper->wire.free_ns > now_tai_ns + WIRE_AHEAD_MAX_NS) {
        shaper->wire.free_ns = now_tai_ns;
    }
    if (shaper->changing && now_tai_ns >= shaper->timeline.start_ns) {
        shaper->changing = false;
        tune(shaper, shaper->timeline.list, shaper->timeline.list);
    }
    while (choose(shaper, now_tai_ns, &choice)) {
        struct tt_segmenter *segmenter = &choice.packet->segmenter;
        bool lost;

        if (choice.launch_ns > now_tai_ns) {
            *ret_wake_tai_ns = choice.launch_ns;
            return false;
        }
        lost = is_lost(shaper, &choice);
        if (!lost || tt_segmenter_can_mark(segmenter)) {
            send_frame(shaper, &choice, lost, frame, ret_frame);
            return true;
        }
        shaper->counters[choice.lane / 2].dropped_delay++;
        tt_segmenter_skip(segmenter, choice.payload_bytes);
        finish_packet(shaper, &choice);
    }
    *ret_wake_tai_ns = INT64_MAX;
    return false;
}

void tt_shaper_sent(struct tt_shaper *shaper, const struct tt_shaper_frame *frame,
                    int64_t after_tai_ns)
{
    int64_t end_ns = after_tai_ns + frame->end_tai_ns - frame->launch_tai_ns;

    if (end_ns > tt_wire_free_ns(&shaper->wire)) {
        shaper->wire.free_ns = end_ns;
        shaper->wire.rest = 0;
    }
}

void tt_shaper_refused(struct tt_shaper *shaper, const struct tt_shaper_frame *frame)
{
    struct tt_shaper_counters *counters = &shaper->counters[frame->class];

    counters->frames--;
    counters->bytes -= frame->bytes;
    counters->payload_bytes -= frame->payload_bytes;
    counters->wire_ns -= frame->end_tai_ns - frame->launch_tai_ns;
    counters->dropped_refused++;
}

size_t tt_shaper_waiting(const struct tt_shaper *shaper, unsigned class)
{
    return shaper->lanes[2 * class].queue.payload_bytes +
           shaper->lanes[2 * class + 1].queue.payload_bytes;
}
