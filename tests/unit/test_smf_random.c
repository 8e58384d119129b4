/*
 * Random lists of events, written as a Standard MIDI File and read back: identical, and without a
 * warning. So many lists as the argument says; 100,000 where there is none.
 */
#include "test.h"

#include <string.h>

#include "midi/smf.h"

enum { TRACKS_MAX = 3, EVENTS_MAX = 24, DATA_MAX = 300, FILE_MAX = 1 << 17 };

static unsigned long lists = 100000;

struct made {
    struct tt_smf_event events[EVENTS_MAX];
    uint8_t data[EVENTS_MAX][DATA_MAX];
    unsigned count;
};

struct file {
    uint8_t bytes[FILE_MAX];
    size_t n;
};

static void fill(uint64_t *seed, uint8_t *data, size_t n, unsigned limit)
{
    for (size_t i = 0; i < n; i++)
        data[i] = (uint8_t)random_below(seed, limit);
}

static void draw_message(uint64_t *seed, struct tt_smf_event *event, uint8_t *data)
{
    event->kind = TT_SMF_MESSAGE;
    data[0] = (uint8_t)(0x80 + random_below(seed, 0x70));
    event->bytes = tt_midi_message_bytes(data[0]);
    fill(seed, data + 1, event->bytes - 1, 0x80);
}

/* A piece; `open`: of one that goes on. */
static void draw_sysex(uint64_t *seed, struct tt_smf_event *event, uint8_t *data, bool *open)
{
    event->kind = TT_SMF_SYSEX;
    event->begins = !*open;
    event->more = random_below(seed, 3) == 0;
    event->bytes = 1 + random_size(seed, random_below(seed, 10) == 0 ? DATA_MAX : 20);
    fill(seed, data, event->bytes, 0x80);
    if (!event->more)
        data[event->bytes - 1] = TT_MIDI_SYSEX_END;
    *open = event->more;
}

/* Of an open SysEx, what is between its pieces is real time, or meta. */
static void draw_escape(uint64_t *seed, struct tt_smf_event *event, uint8_t *data, bool open)
{
    event->kind = TT_SMF_ESCAPE;
    event->bytes = 1 + random_size(seed, 5);
    fill(seed, data, event->bytes, 256);
    for (size_t i = 0; open && i < event->bytes; i++)
        data[i] |= TT_MIDI_REALTIME;
}

static void draw_meta(uint64_t *seed, struct tt_smf_event *event, uint8_t *data)
{
    static const uint8_t types[] = {1, 2, 3, 4, 5, 6, 7, 0x7F, 0x10, 0x60};

    event->kind = TT_SMF_META;
    event->type = types[random_size(seed, sizeof(types))];
    event->bytes = 1 + random_size(seed, random_below(seed, 10) == 0 ? DATA_MAX : 8);
    fill(seed, data, event->bytes, 256);
}

static uint64_t draw_gap(uint64_t *seed)
{
    static const uint64_t edges[] = {0,        0x7F,     0x80,       0x3FFF,     0x4000,
                                     0x1FFFFF, 0x200000, 0x0FFFFFFF, 0x10000000, 0x50000000};

    return random_below(seed, 4) == 0 ? edges[random_size(seed, TT_COUNT_OF(edges))]
                                      : random_below(seed, 5000);
}

static void draw_track(uint64_t *seed, struct made *made)
{
    uint64_t tick = 0;
    bool open = false;

    made->count = (unsigned)random_below(seed, EVENTS_MAX);
    for (unsigned i = 0; i < made->count; i++) {
        struct tt_smf_event *event = &made->events[i];
        uint8_t *data = made->data[i];
        uint64_t kind = random_below(seed, 8);

        tick += draw_gap(seed);
        *event = (struct tt_smf_event){.tick = tick, .data = data};
        if (kind < 4 && !open)
            draw_message(seed, event, data);
        else if (kind < 6)
            draw_sysex(seed, event, data, &open);
        else if (kind == 6)
            draw_escape(seed, event, data, open);
        else
            draw_meta(seed, event, data);
    }
    if (open)
        made->events[made->count++] = (struct tt_smf_event){
            .kind = TT_SMF_SYSEX, .tick = tick, .data = (const uint8_t *)"\xF7", .bytes = 1};
}

static void append(struct file *file, const uint8_t *data, size_t n)
{
    assert_true(file->n + n <= FILE_MAX);
    if (n > 0)
        memcpy(file->bytes + file->n, data, n);
    file->n += n;
}

static void append_event(struct file *file, struct tt_smf_track *track,
                         const struct tt_smf_event *event)
{
    uint8_t head[TT_SMF_HEAD_BYTES];
    size_t n;
    int status;

    do {
        status = tt_smf_event_write(track, event, head, &n);
        assert_in_range(status, 0, 1);
        append(file, head, n);
    } while (status == 1);
    append(file, event->data, event->bytes);
}

static void write_track(struct file *file, const struct made *made)
{
    struct tt_smf_event end = {.kind = TT_SMF_META, .type = TT_SMF_META_END};
    struct tt_smf_track track = {0};
    size_t at = file->n;

    file->n += TT_SMF_CHUNK_BYTES;
    for (unsigned i = 0; i < made->count; i++)
        append_event(file, &track, &made->events[i]);
    end.tick = track.tick;
    append_event(file, &track, &end);
    assert_int_equal(track.bytes, file->n - at - TT_SMF_CHUNK_BYTES);
    assert_int_equal(tt_smf_chunk_write(track.bytes, file->bytes + at), 0);
}

static bool is_filler(const struct tt_smf_event *event)
{
    return event->kind == TT_SMF_META && event->type == TT_SMF_META_TEXT && event->bytes == 0;
}

static void check_event(struct tt_smf *smf, const struct tt_smf_event *event)
{
    struct tt_smf_item item;

    do {
        assert_true(tt_smf_next(smf, &item));
        assert_int_equal(item.kind, TT_SMF_ITEM_EVENT);
    } while (is_filler(&item.event));
    assert_int_equal(item.event.kind, event->kind);
    assert_int_equal(item.event.type, event->type);
    assert_int_equal(item.event.begins, event->begins);
    assert_int_equal(item.event.more, event->more);
    assert_true(item.event.tick == event->tick);
    assert_int_equal(item.event.bytes, event->bytes);
    if (event->bytes > 0)
        assert_memory_equal(item.event.data, event->data, event->bytes);
}

static void test_lists(void **state)
{
    struct made *made = (struct made *)malloc(TRACKS_MAX * sizeof(*made));
    struct file *file = (struct file *)malloc(sizeof(*file));

    (void)state;
    assert_true(made && file);
    for (unsigned long list = 0; list < lists; list++) {
        uint64_t seed = list;
        unsigned tracks = 1 + (unsigned)random_below(&seed, TRACKS_MAX);
        struct tt_smf smf;
        struct tt_smf_item item;

        tt_smf_header_write(1, tracks, TT_SMF_PPQ, file->bytes);
        file->n = TT_SMF_HEADER_BYTES;
        for (unsigned t = 0; t < tracks; t++) {
            draw_track(&seed, &made[t]);
            write_track(file, &made[t]);
        }
        assert_int_equal(tt_smf_open(&smf, file->bytes, file->n), TT_SMF_FINE);
        for (unsigned t = 0; t < tracks; t++) {
            uint64_t last = 0;

            for (unsigned i = 0; i < made[t].count; i++) {
                check_event(&smf, &made[t].events[i]);
                last = made[t].events[i].tick;
            }
            check_event(&smf, &(struct tt_smf_event){
                                  .kind = TT_SMF_META, .type = TT_SMF_META_END, .tick = last});
        }
        assert_false(tt_smf_next(&smf, &item));
    }
    print_message("%lu lists written and read back identical\n", lists);
    free(made);
    free(file);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_lists)};

    if (argc > 1)
        lists = strtoul(argv[1], NULL, 10);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
