/*
 * Any bytes as a Standard MIDI File: the reader ends, stays within the file, and what it gives is
 * what the writer takes and the reader gives again; the tempo map goes forward.
 */
#include "fuzz.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "midi/smf.h"
#include "midi/tempo.h"

enum { KIND_FIRST = TT_SMF_FAULTS, REASONS = KIND_FIRST + 4 };

static struct fuzz_reason reasons[REASONS] = {
    [KIND_FIRST + TT_SMF_MESSAGE] = {"a message", 0},
    [KIND_FIRST + TT_SMF_SYSEX] = {"system exclusive", 0},
    [KIND_FIRST + TT_SMF_ESCAPE] = {"an escape", 0},
    [KIND_FIRST + TT_SMF_META] = {"a meta event", 0},
};

const struct fuzz_reason *fuzz_reasons(size_t *ret_count)
{
    for (unsigned i = 0; i < TT_SMF_FAULTS; i++)
        reasons[i].name = tt_smf_fault_text((enum tt_smf_fault)i);
    *ret_count = REASONS;
    return reasons;
}

static void hold(bool invariant)
{
    if (!invariant)
        abort();
}

/* Written as the only event of a file, and read. */
static void check_again(const struct tt_smf_event *event)
{
    struct tt_smf_event first = *event;
    struct tt_smf_track track = {0};
    size_t head_bytes;
    size_t n = TT_SMF_HEADER_BYTES + TT_SMF_CHUNK_BYTES;
    uint8_t *file = (uint8_t *)malloc(n + TT_SMF_HEAD_BYTES + event->bytes);
    struct tt_smf smf;
    struct tt_smf_item item;

    hold(file != NULL);
    first.tick = event->tick % (TT_SMF_DELTA_MAX + UINT64_C(1));
    if (first.kind == TT_SMF_SYSEX)
        first.begins = true;
    if (tt_smf_event_write(&track, &first, file + n, &head_bytes) != 0) {
        hold(event->kind == TT_SMF_META
                 ? event->type >= 0x80
                 : event->kind == TT_SMF_MESSAGE && event->data[0] >= TT_MIDI_SYSTEM);
        free(file);
        return;
    }
    if (event->bytes > 0)
        memcpy(file + n + head_bytes, event->data, event->bytes);
    tt_smf_header_write(1, 1, 96, file);
    hold(tt_smf_chunk_write(track.bytes, file + TT_SMF_HEADER_BYTES) == 0);
    hold(track.bytes == head_bytes + event->bytes);
    hold(tt_smf_open(&smf, file, n + (size_t)track.bytes) == TT_SMF_FINE);
    while (tt_smf_next(&smf, &item) && item.kind == TT_SMF_ITEM_FAULT)
        ;
    hold(item.kind == TT_SMF_ITEM_EVENT && item.event.kind == first.kind);
    hold(item.event.tick == first.tick && item.event.bytes == first.bytes);
    hold(item.event.type == first.type && item.event.more == first.more);
    hold(first.bytes == 0 || memcmp(item.event.data, first.data, first.bytes) == 0);
    free(file);
}

static void check_event(const struct tt_smf *smf, const struct tt_smf_event *event)
{
    bool inside = event->data >= smf->data && event->data + event->bytes <= smf->data + smf->bytes;

    hold(event->kind == TT_SMF_MESSAGE ? event->bytes >= 1 && event->bytes <= 3 : inside);
    reasons[KIND_FIRST + event->kind].reached++;
    check_again(event);
}

static void check_tempo(struct tt_smf *smf)
{
    size_t count = tt_tempo_count(smf, -1);
    struct tt_tempo *tempos = (struct tt_tempo *)calloc(count + 1, sizeof(*tempos));
    struct tt_tempo_map map;
    int64_t last_ns = 0;

    hold(tempos != NULL);
    tt_tempo_map_init(&map, smf, -1, tempos);
    for (size_t i = 0; tt_tempo_known(&map) && i < map.count; i++) {
        int64_t ns = tt_tempo_ns(&map, tempos[i].tick);

        hold(ns >= last_ns && tt_tempo_ns(&map, tempos[i].tick + 100) >= ns);
        last_ns = ns;
    }
    free(tempos);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct tt_smf smf;
    struct tt_smf_item item;
    enum tt_smf_fault fault = tt_smf_open(&smf, data, size);
    size_t items = 0;
    bool any = false;

    if (fault != TT_SMF_FINE) {
        reasons[fault].reached++;
        return 0;
    }
    while (tt_smf_next(&smf, &item)) {
        hold(++items <= 8 * size && item.offset <= size);
        if (item.kind == TT_SMF_ITEM_EVENT) {
            check_event(&smf, &item.event);
        } else {
            reasons[item.fault].reached++;
            any = true;
        }
    }
    reasons[TT_SMF_FINE].reached += !any;
    check_tempo(&smf);
    return 0;
}
