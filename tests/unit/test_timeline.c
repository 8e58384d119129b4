/*
 * The timeline against a slow model that keeps every frame's fate by itself.
 */
#include "test.h"

#include <errno.h>
#include <string.h>

#include "audio/timeline.h"

#define RING   400
#define BUFFER 100
#define END    20000

enum fate { NEVER, PLACED, BOOKED };

struct model {
    uint8_t value[END]; /* 0: silence */
    enum fate fate[END];
    int64_t device;
};

static uint8_t value_of(int64_t frame, uint64_t salt)
{
    return (uint8_t)(1 + ((uint64_t)frame * 7 + salt) % 255);
}

static struct tt_event events[END];

static void too_small(void **state)
{
    struct tt_timeline timeline;
    uint8_t ring[10];
    struct tt_hole hole;
    struct tt_timeline_memory memory = {ring, 10, &hole, 1};

    (void)state;
    assert_int_equal(tt_timeline_init(&timeline, &memory, 1, 10, NULL), -EINVAL);
    assert_int_equal(tt_timeline_init(&timeline, &memory, 1, 9, NULL), 0);
    memory.hole_capacity = 0;
    assert_int_equal(tt_timeline_init(&timeline, &memory, 1, 9, NULL), -EINVAL);
}

/* Places, skips, repeats, comes late, at random; the reader sees what the model says. */
static void random_runs(void **state)
{
    static uint8_t ring[RING];
    static struct tt_hole holes[RING];
    static struct model model;

    (void)state;
    for (uint64_t seed = 0; seed < 300; seed++) {
        uint64_t random = seed;
        struct tt_event_log log = {.events = events, .capacity = END};
        struct tt_timeline timeline;
        /* A small hole capacity must cost nothing but repairs. */
        size_t capacity = seed % 3 == 0 ? 2 : RING;
        int64_t booked = 0;
        int64_t filled = 0;

        memset(&model, 0, sizeof model);
        assert_int_equal(tt_timeline_init(&timeline,
                                          &(struct tt_timeline_memory){ring, RING, holes, capacity},
                                          1, BUFFER, &log),
                         0);
        tt_timeline_start(&timeline, 0);
        while (model.device < END - 1000) {
            if (random_below(&random, 3) == 0) {
                int64_t to = model.device + (int64_t)random_below(&random, 90);

                tt_timeline_advance(&timeline, to, 0);
                for (int64_t f = model.device; f < to; f++) {
                    int64_t run;

                    assert_int_equal(*tt_timeline_frames(&timeline, f, to, &run),
                                     model.fate[f] == PLACED ? model.value[f] : 0);
                }
                model.device = to;
            } else {
                uint8_t payload[20];
                int64_t frames = 1 + (int64_t)random_below(&random, sizeof payload);
                int64_t frame = filled + (int64_t)random_below(&random, 120) - 60;
                enum tt_placed placed;
                bool early = frame + frames > model.device + RING - BUFFER;

                if (frame < 0) {
                    continue;
                }
                for (int64_t i = 0; i < frames; i++) {
                    payload[i] = value_of(frame + i, seed);
                }
                placed = tt_timeline_place(&timeline, frame, frames, payload, TT_EVENT_LOST, 0);
                assert_int_equal(placed == TT_PLACED_EARLY, early);
                if (early) {
                    continue;
                }
                for (int64_t f = frame; f < frame + frames; f++) {
                    int64_t run;
                    uint8_t there = *tt_timeline_frames(&timeline, f, f + 1, &run);

                    if (f < model.device || model.fate[f] != NEVER) {
                        continue;
                    }
                    /* Only with too few holes to keep may a repair come to nothing. */
                    if (capacity > 2 || f >= filled) {
                        assert_int_equal(there, value_of(f, seed));
                    }
                    if (there != 0) {
                        model.fate[f] = PLACED;
                        model.value[f] = there;
                    }
                }
                filled = frame + frames > filled ? frame + frames : filled;
            }
        }
        tt_timeline_close(&timeline, TT_EVENT_ABSENT, 0);
        for (size_t i = 0; i < log.n; i++) {
            booked += events[i].frames;
            for (int64_t f = events[i].frame; f < events[i].frame + events[i].frames; f++) {
                assert_true(model.fate[f] == NEVER);
                model.fate[f] = BOOKED; /* once only */
            }
        }
        assert_int_equal(booked, timeline.silent[TT_EVENT_LOST] + timeline.silent[TT_EVENT_LATE] +
                                     timeline.silent[TT_EVENT_ABSENT]);
        for (int64_t f = 0; f < model.device; f++) {
            assert_true(model.fate[f] != NEVER);
        }
    }
}

static void placing_anew(void **state)
{
    uint8_t ring[RING];
    struct tt_hole holes[RING];
    struct tt_timeline timeline;
    uint8_t payload[50];
    int64_t run;

    (void)state;
    memset(payload, 9, sizeof payload);
    assert_int_equal(tt_timeline_init(&timeline,
                                      &(struct tt_timeline_memory){ring, RING, holes, RING}, 1,
                                      BUFFER, NULL),
                     0);
    tt_timeline_start(&timeline, 1000);
    tt_timeline_place(&timeline, 1010, 50, payload, TT_EVENT_LOST, 0);
    tt_timeline_place(&timeline, 1080, 50, payload, TT_EVENT_LOST, 0);
    assert_int_equal(timeline.hole_count, 2);
    tt_timeline_truncate(&timeline, 1070);
    assert_int_equal(timeline.filled, 1070);
    assert_int_equal(timeline.hole_count, 2);
    assert_int_equal(holes[1].end, 1070);
    tt_timeline_truncate(&timeline, 1005);
    assert_int_equal(timeline.filled, 1005);
    assert_int_equal(timeline.hole_count, 1);
    memset(payload, 7, sizeof payload);
    assert_int_equal(tt_timeline_place(&timeline, 1020, 50, payload, TT_EVENT_ABSENT, 0),
                     TT_PLACED);
    tt_timeline_advance(&timeline, 1070, 0);
    assert_int_equal(timeline.silent[TT_EVENT_LOST], 5);
    assert_int_equal(timeline.silent[TT_EVENT_ABSENT], 15);
    assert_int_equal(*tt_timeline_frames(&timeline, 1019, 1070, &run), 0);
    assert_int_equal(*tt_timeline_frames(&timeline, 1020, 1070, &run), 7);
    assert_int_equal(tt_timeline_place(&timeline, 1020, 50, payload, TT_EVENT_LOST, 0),
                     TT_PLACED_LATE);
}

/* Moves what stands at the end, with a hole in it, there and back. */
static void shifting(void **state)
{
    uint8_t ring[RING];
    struct tt_hole holes[RING];
    struct tt_timeline timeline;
    uint8_t payload[20];
    int64_t run;

    (void)state;
    memset(payload, 5, sizeof payload);
    assert_int_equal(tt_timeline_init(&timeline,
                                      &(struct tt_timeline_memory){ring, RING, holes, RING}, 1,
                                      BUFFER, NULL),
                     0);
    tt_timeline_start(&timeline, 380); /* the ring wraps in what follows */
    tt_timeline_place(&timeline, 380, 10, payload, TT_EVENT_LOST, 0);
    memset(payload, 8, sizeof payload);
    tt_timeline_place(&timeline, 390, 20, payload, TT_EVENT_LOST, 0);
    tt_timeline_place(&timeline, 415, 5, payload, TT_EVENT_LOST, 0);
    tt_timeline_shift(&timeline, 390, 100, 0);
    assert_int_equal(timeline.filled, 520);
    for (int64_t f = 380; f < 520; f++) {
        unsigned expected = f < 390 ? 5 : f < 490 || (f >= 510 && f < 515) ? 0 : 8;

        assert_int_equal(*tt_timeline_frames(&timeline, f, 520, &run), expected);
    }
    tt_timeline_shift(&timeline, 490, -100, 0);
    assert_int_equal(timeline.filled, 420);
    for (int64_t f = 380; f < 420; f++) {
        assert_int_equal(*tt_timeline_frames(&timeline, f, 420, &run), f < 390               ? 5
                                                                       : f >= 410 && f < 415 ? 0
                                                                                             : 8);
    }
    tt_timeline_advance(&timeline, 420, 0);
    assert_int_equal(timeline.silent[TT_EVENT_LOST], 5);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(too_small),
        cmocka_unit_test(random_runs),
        cmocka_unit_test(placing_anew),
        cmocka_unit_test(shifting),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
