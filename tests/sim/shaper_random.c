/*
 * Random packets through the shaper in virtual time, woken late at random: every frame is taken
 * apart, and its departure goes into a log for departures.py.
 *
 * usage: shaper_random ARRIVALS LOG [SEED]. A case has some thousand arrivals, lists, a mode and a
 * rate of its own, drawn from its seed, which a failure names.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../unit/made_packet.h"
#include "../unit/test.h"
#include "base/min_max.h"
#include "gate/shaper.h"

enum { CLASSES = 3, ENTRIES = 6, CASE_ARRIVALS = 2000, LISTS = 4 };
/* TCP sequence numbers: the packet's number, and 17 bits for the byte in it. */
enum { OFFSET_BITS = 17 };

struct run {
    uint64_t seed;
    FILE *log;
    struct tt_shaper *shaper;
    struct tt_shaper_setup setup;
    struct tt_gate_list *lists[LISTS];
    int list_count;
    int64_t now_ns;
    int64_t late_ns; /* wake-ups are late by up to so much */
    uint32_t number; /* of the next packet */
    int64_t end_before_ns;
    uint32_t next[TT_GATE_CLASSES]; /* sequence number behind the last frame, of each class */
    uint64_t taken_bytes;           /* of TCP's payload */
    uint64_t given_bytes;
    uint64_t frames;
};

static uint8_t packet[MADE_MAX];
static uint8_t frame[TT_SHAPER_FRAME_MAX];

static void give_up(const struct run *run, const char *what)
{
    fprintf(stderr, "shaper_random: seed %" PRIu64 ", frame %" PRIu64 ": %s\n", run->seed,
            run->frames, what);
    exit(1);
}

static struct tt_gate_list *draw_list(uint64_t *seed, int64_t base_ns)
{
    struct tt_gate_entry entries[ENTRIES];
    struct tt_gate_schedule schedule = {
        .base_tai_ns = base_ns, .entries = entries, .entry_count = 1 + random_size(seed, ENTRIES)};
    int64_t sum_ns = 0;

    for (size_t i = 0; i < schedule.entry_count; i++) {
        entries[i] = (struct tt_gate_entry){
            .mask = (uint32_t)random_below(seed, 1 << CLASSES),
            .interval_ns = 1 + (int64_t)random_below(seed, random_below(seed, 2) ? 20000 : 400000)};
        sum_ns += entries[i].interval_ns;
    }
    if (random_below(seed, 4) == 0)
        schedule.cycle_ns = sum_ns + (int64_t)random_below(seed, 100000);
    if (random_below(seed, 2))
        schedule.extension_ns = (int64_t)random_below(seed, 400000);
    return tt_gate_list_new(&schedule);
}

static void log_list(const struct run *run, const struct tt_gate_list *list, int64_t start_ns)
{
    fprintf(run->log, "list %" PRId64 " %" PRId64 " %" PRId64 " ", list->base_tai_ns,
            list->cycle_ns, list->extension_ns);
    if (start_ns == INT64_MIN)
        fputs("-\n", run->log);
    else
        fprintf(run->log, "%" PRId64 "\n", start_ns);
    for (size_t i = 0; i < list->segment_count; i++)
        fprintf(run->log, "entry 0x%x %" PRId64 "\n", list->segments[i].mask,
                (i + 1 < list->segment_count ? list->segments[i + 1].start_ns : list->cycle_ns) -
                    list->segments[i].start_ns);
}

static void take_frame(struct run *run, const struct tt_shaper_frame *f)
{
    struct taken_frame taken;
    uint32_t *next = &run->next[f->class];

    run->frames++;
    fprintf(run->log, "frame %" PRId64 " %u %zu\n", f->launch_tai_ns, f->class, f->bytes);
    if (f->launch_tai_ns > run->now_ns || (run->setup.strict && f->launch_tai_ns != run->now_ns))
        give_up(run, "it is not due");
    if (run->setup.back_ns > 0 && f->launch_tai_ns < run->now_ns - run->setup.back_ns)
        give_up(run, "too long ago");
    if (run->setup.strict && f->close_tai_ns != INT64_MAX &&
        f->end_tai_ns > f->close_tai_ns - run->setup.margin_ns)
        give_up(run, "in the margin");
    if (f->bytes < 60 && frame[12] == 8 && frame[13] == 6)
        return;
    taken = take_apart(frame, f->bytes);
    if (!taken.good)
        give_up(run, "its headers or checksums are wrong");
    if (taken.udp)
        return;
    for (size_t i = 0; i < taken.payload_bytes; i++)
        if (frame[taken.payload + i] != made_byte(taken.sequence + (uint32_t)i))
            give_up(run, "its payload is not the packet's");
    if (taken.sequence < *next)
        give_up(run, "out of order, or a byte twice");
    *next = taken.sequence + (uint32_t)taken.payload_bytes;
    run->taken_bytes += taken.payload_bytes;
}

/* All that is due; returns when to wake. */
static int64_t serve(struct run *run)
{
    struct tt_shaper_frame f;
    int64_t wake_ns;

    while (tt_shaper_next(run->shaper, run->now_ns, frame, &f, &wake_ns)) {
        take_frame(run, &f);
        if (run->setup.strict) {
            int64_t after_ns = run->now_ns + (int64_t)random_below(&run->seed, 3000);

            tt_shaper_sent(run->shaper, &f, after_ns);
            run->now_ns = after_ns;
        }
    }
    if (wake_ns <= run->now_ns)
        give_up(run, "a wake time that is past");
    return wake_ns;
}

static void push_one(struct run *run)
{
    struct made_packet made = {.ipv6 = random_below(&run->seed, 2),
                               .udp = random_below(&run->seed, 4) == 0,
                               .tagged = random_below(&run->seed, 2),
                               .flags = 16,
                               .options = 12,
                               .traffic_class = (uint8_t)random_below(&run->seed, 4),
                               .sequence = run->number++ << OFFSET_BITS};
    struct tt_gso gso;
    unsigned class = (unsigned)random_below(&run->seed, CLASSES);
    bool large = random_below(&run->seed, 4) == 0;
    size_t bytes;

    if (random_below(&run->seed, 20) == 0) {
        memset(packet, 0, 42);
        packet[12] = 8;
        packet[13] = 6;
        tt_shaper_push(run->shaper, class, packet, 42, &(struct tt_gso){0}, run->now_ns);
        return;
    }
    made.payload_bytes = random_size(&run->seed, large ? 20000 : 1449);
    bytes = make_packet(&made, packet, &gso);
    if (made.payload_bytes > 1448) {
        gso.kind = made.udp ? TT_GSO_UDP : TT_GSO_TCP;
        gso.size = (uint16_t)(200 + random_below(&run->seed, 1249));
    }
    run->given_bytes += made.udp ? 0 : made.payload_bytes;
    tt_shaper_push(run->shaper, class, packet, bytes, &gso, run->now_ns);
}

static uint64_t count_dropped(const struct tt_shaper *shaper)
{
    uint64_t n = 0;

    for (unsigned c = 0; c < CLASSES; c++)
        n += shaper->counters[c].dropped_full + shaper->counters[c].dropped_delay +
             shaper->counters[c].dropped_never;
    return n;
}

static void replace_list(struct run *run)
{
    static const uint64_t ahead_ns[] = {3000000, 3000000, 300000000, INT64_C(3000000000000000)};
    struct tt_gate_list *list = draw_list(
        &run->seed, run->now_ns - 1000000 +
                        (int64_t)random_below(&run->seed, ahead_ns[random_below(&run->seed, 4)]));

    run->lists[run->list_count++] = list;
    log_list(run, list, tt_shaper_replace(run->shaper, list, run->now_ns));
}

static void begin(struct run *run)
{
    static const int64_t rates[] = {10000000, 100000000, 1000000000};
    uint64_t *seed = &run->seed;

    run->setup = (struct tt_shaper_setup){
        .strict = random_below(seed, 2),
        .classes = CLASSES,
        .rate_bps = rates[random_below(seed, 3)] + (int64_t)random_below(seed, 1000),
        .margin_ns = (int64_t)random_below(seed, 10000),
        .queue_bytes = TT_SEGMENT_PACKET_MAX + random_size(seed, 1000000),
        .cut_bytes = random_below(seed, 2) ? 0 : 1 + random_size(seed, 1000),
    };
    if (!run->setup.strict && random_below(seed, 2))
        run->setup.back_ns = 1 + (int64_t)random_below(seed, 400000);
    run->now_ns = INT64_C(1800000000000000000) + (int64_t)random_below(seed, 1000000000);
    run->late_ns = 1 + (int64_t)random_below(seed, random_below(seed, 2) ? 3000 : 300000);
    run->lists[run->list_count++] =
        draw_list(seed, run->now_ns - (int64_t)random_below(seed, 1000000));
    run->shaper = tt_shaper_new(&run->setup, run->lists[0]);
    fprintf(run->log, "rate %" PRId64 "\n", run->setup.rate_bps);
    log_list(run, run->lists[0], INT64_MIN);
}

static uint64_t run_case(uint64_t seed, uint64_t arrivals, FILE *log)
{
    struct run run = {.seed = seed, .log = log};
    int64_t gap_ns;
    int64_t arrival_ns;
    int64_t until_ns;
    int64_t wake_ns = INT64_MAX;

    begin(&run);
    /* From hardly any load to more than there is room for. */
    gap_ns =
        1 + 3000 * 8000000000 / run.setup.rate_bps * (int64_t)(1 + random_below(&run.seed, 20)) / 5;
    arrival_ns = run.now_ns + gap_ns;
    for (uint64_t n = 0; n < arrivals;) {
        run.now_ns = tt_max64(run.now_ns, tt_min64(arrival_ns, wake_ns)) +
                     (int64_t)random_below(&run.seed, (uint64_t)run.late_ns);
        for (; arrival_ns <= run.now_ns && n < arrivals; n++) {
            push_one(&run);
            arrival_ns += 1 + (int64_t)random_below(&run.seed, (uint64_t)(2 * gap_ns));
        }
        wake_ns = serve(&run);
        if (run.list_count < LISTS && run.shaper->timeline.start_ns < run.now_ns &&
            random_below(&run.seed, arrivals / LISTS + 1) == 0) {
            replace_list(&run);
            wake_ns = serve(&run);
        }
    }
    until_ns = run.now_ns + 400 * TT_GATE_CYCLE_MAX;
    while (run.shaper->waiting != 0 && wake_ns < until_ns) {
        run.now_ns = tt_max64(run.now_ns, wake_ns) + 1;
        wake_ns = serve(&run);
    }
    if (run.shaper->waiting != 0)
        give_up(&run, "something waits for ever");
    if (count_dropped(run.shaper) == 0 && run.taken_bytes != run.given_bytes)
        give_up(&run, "bytes were lost and not counted");
    tt_shaper_free(run.shaper);
    for (int i = 0; i < run.list_count; i++)
        tt_gate_list_free(run.lists[i]);
    return run.frames;
}

int main(int argc, char **argv)
{
    uint64_t arrivals = argc > 1 ? strtoull(argv[1], NULL, 10) : 0;
    FILE *log = argc > 2 ? fopen(argv[2], "w") : NULL;
    uint64_t first = argc > 3 ? strtoull(argv[3], NULL, 10) : 1;
    uint64_t frames = 0;

    if (arrivals == 0 || !log) {
        fputs("usage: shaper_random ARRIVALS LOG [SEED]\n", stderr);
        return 2;
    }
    for (uint64_t done = 0; done < arrivals; done += CASE_ARRIVALS)
        frames += run_case(first + done / CASE_ARRIVALS, CASE_ARRIVALS, log);
    if (fclose(log) != 0) {
        perror(argv[2]);
        return 1;
    }
    printf("%" PRIu64 " arrivals, %" PRIu64 " frames\n", arrivals, frames);
    return 0;
}
