/*
 * See midi_piece.h.
 */
#include "cli/midi_piece.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "midi/tempo.h"
#include "os/memory.h"

#define TRACKS_TEXT 128

/* A file as it is read. */
struct reading {
    const char *command;
    const char *path;
    int track; /* -1: all */
    struct tt_midi_piece *piece;
};

static int compare(const void *a, const void *b)
{
    const struct tt_player_event *x = a;
    const struct tt_player_event *y = b;

    if (x->due_ns != y->due_ns) {
        return x->due_ns < y->due_ns ? -1 : 1;
    }
    return x->order < y->order ? -1 : x->order > y->order;
}

static bool can_be_played(const struct tt_smf_item *item)
{
    return item->kind == TT_SMF_ITEM_EVENT && item->event.kind != TT_SMF_META &&
           item->event.bytes > 0;
}

static bool plays(const struct reading *reading, const struct tt_smf_item *item)
{
    return can_be_played(item) && (reading->track < 0 || item->track == (unsigned)reading->track);
}

static void set_event(struct tt_player_event *event, const struct tt_smf_event *from,
                      const struct tt_tempo_map *map)
{
    *event = (struct tt_player_event){
        .due_ns = tt_tempo_ns(map, from->tick),
        .data = from->data,
        .bytes = from->bytes,
        .starts_sysex = from->kind == TT_SMF_SYSEX && from->begins,
    };
    if (from->kind == TT_SMF_MESSAGE) {
        memcpy(event->message, from->data, from->bytes);
    }
}

static size_t count_events(const struct reading *reading)
{
    struct tt_midi_piece *piece = reading->piece;
    struct tt_smf_item item;
    size_t count = 0;

    tt_smf_rewind(&piece->file.smf);
    while (tt_smf_next(&piece->file.smf, &item)) {
        count += plays(reading, &item);
        piece->lost =
            piece->lost || (item.kind == TT_SMF_ITEM_FAULT && tt_smf_fault_loses(item.fault));
    }
    return count;
}

static enum tt_exit read_events(const struct reading *reading)
{
    struct tt_midi_piece *piece = reading->piece;
    struct tt_smf *smf = &piece->file.smf;
    struct tt_tempo *tempos = calloc(tt_tempo_count(smf, reading->track) + 1, sizeof(*tempos));
    size_t count = count_events(reading);
    struct tt_tempo_map map;
    struct tt_smf_item item;

    piece->events = tt_memory_new(count + 1, sizeof(*piece->events));
    if (!tempos || !piece->events) {
        tt_cli_say(reading->command, "out of memory");
        free(tempos);
        return TT_EXIT_ENVIRONMENT;
    }
    tt_tempo_map_init(&map, smf, smf->format == 2 ? reading->track : -1, tempos);
    tt_smf_rewind(smf);
    while (tt_tempo_known(&map) && tt_smf_next(smf, &item)) {
        if (plays(reading, &item)) {
            set_event(&piece->events[piece->count], &item.event, &map);
            piece->events[piece->count].order = piece->count;
            piece->count++;
        }
    }
    free(tempos);
    qsort(piece->events, piece->count, sizeof(*piece->events), compare);
    /* Short messages are kept in the event itself, whose place is known now. */
    for (size_t i = 0; i < piece->count; i++) {
        if (piece->events[i].message[0] != 0) {
            piece->events[i].data = piece->events[i].message;
        }
    }
    return TT_EXIT_GOOD;
}

static enum tt_exit check_file(const struct reading *reading)
{
    const struct tt_smf *smf = &reading->piece->file.smf;

    if (reading->piece->file.is_log) {
        tt_cli_say(reading->command,
                   "%s is a raw log; `tactus midi convert` makes a Standard MIDI File of it",
                   reading->path);
        return TT_EXIT_USAGE;
    }
    if (smf->format == 2 && reading->track < 0) {
        tt_cli_say(reading->command,
                   "%s is of format 2: its tracks are pieces of their own, which are never "
                   "played at once; name one with --track",
                   reading->path);
        return TT_EXIT_USAGE;
    }
    if (smf->division.ppq == 0 && smf->division.ticks == 0) {
        tt_cli_say(reading->command,
                   "%s has a division of 0: the times of its events cannot be told", reading->path);
        return TT_EXIT_USAGE;
    }
    return TT_EXIT_GOOD;
}

/* "2, 3, 7": those that hold something to be played, as far as there is room; "" : none. */
static const char *list_tracks(struct tt_smf *smf, char text[TRACKS_TEXT])
{
    struct tt_smf_item item;
    unsigned last = 0; /* from 1 */
    size_t at = 0;

    text[0] = '\0';
    tt_smf_rewind(smf);
    while (tt_smf_next(smf, &item)) {
        if (can_be_played(&item) && item.track + 1 != last && at + 16 < TRACKS_TEXT) {
            last = item.track + 1;
            at += (size_t)snprintf(text + at, TRACKS_TEXT - at, at > 0 ? ", %u" : "%u", last);
        }
    }
    return text;
}

static enum tt_exit check_events(const struct reading *reading)
{
    struct tt_smf *smf = &reading->piece->file.smf;
    char text[TRACKS_TEXT];

    if (reading->track >= 0 && (unsigned)reading->track >= smf->tracks) {
        tt_cli_say(reading->command, "%s has no track %d: it has %u", reading->path,
                   reading->track + 1, smf->tracks);
        return TT_EXIT_USAGE;
    }
    if (reading->piece->count > 0) {
        return TT_EXIT_GOOD;
    }
    if (*list_tracks(smf, text) == '\0') {
        tt_cli_say(reading->command, "%s holds no events that can be played", reading->path);
        return TT_EXIT_GOOD;
    }
    tt_cli_say(reading->command,
               "track %d of %s holds no events that can be played; those that do: %s "
               "(`tactus midi dump` shows them)",
               reading->track + 1, reading->path, text);
    return TT_EXIT_USAGE;
}

enum tt_exit tt_midi_piece_open(const char *command, const char *path, int track,
                                struct tt_midi_piece *ret_piece)
{
    struct reading reading = {command, path, track, ret_piece};
    enum tt_exit code;

    *ret_piece = (struct tt_midi_piece){0};
    code = tt_midi_file_open(command, path, &ret_piece->file);
    if (code == TT_EXIT_GOOD) {
        code = check_file(&reading);
    }
    if (code == TT_EXIT_GOOD) {
        code = read_events(&reading);
    }
    return code == TT_EXIT_GOOD ? check_events(&reading) : code;
}

void tt_midi_piece_close(struct tt_midi_piece *piece)
{
    free(piece->events);
    tt_midi_file_close(&piece->file);
}
