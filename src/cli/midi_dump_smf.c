/*
 * A Standard MIDI File, shown. See midi_dump.h.
 */
#include "cli/midi_dump.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>

#include "base/bytes.h"
#include "midi/tempo.h"
#include "report/json.h"
#include "report/plural.h"

struct show {
    struct tt_midi_dump *dump;
    struct tt_smf *smf;
    struct tt_tempo_map map;
    struct tt_tempo *tempos; /* owned */
    int track;               /* that was begun last */
};

static const char *meta_name(uint8_t type)
{
    static const char *const texts[] = {"sequence number", "text",  "copyright", "track name",
                                        "instrument",      "lyric", "marker",    "cue point",
                                        "program name",    "device"};

    if (type < TT_COUNT_OF(texts)) {
        return texts[type];
    }
    switch (type) {
    case 0x20:
        return "channel prefix";
    case 0x21:
        return "port";
    case TT_SMF_META_END:
        return "end of track";
    case TT_SMF_META_TEMPO:
        return "tempo";
    case TT_SMF_META_OFFSET:
        return "SMPTE offset";
    case TT_SMF_META_TIME:
        return "time signature";
    case TT_SMF_META_KEY:
        return "key signature";
    case 0x7F:
        return "sequencer's own";
    default:
        return "meta event of unknown type";
    }
}

static bool is_text(uint8_t type)
{
    return type >= 1 && type <= 9;
}

static void print_meta(FILE *out, const struct tt_smf_event *event)
{
    uint32_t tempo_us = tt_smf_tempo_of(event);

    fprintf(out, "%s", meta_name(event->type));
    if (is_text(event->type)) {
        fputc(' ', out);
        tt_midi_dump_text(out, event->data, event->bytes);
    } else if (tempo_us > 0) {
        fprintf(out, " %" PRIu32 " us a quarter (%.3f BPM)", tempo_us, 60e6 / tempo_us);
    } else if (event->type == TT_SMF_META_TIME && event->bytes == 4 && event->data[1] < 31) {
        fprintf(out, " %u/%" PRIu32, event->data[0], UINT32_C(1) << event->data[1]);
    } else if (event->type == TT_SMF_META_KEY && event->bytes == 2) {
        fprintf(out, " %d %s, %s", abs((int8_t)event->data[0]),
                (int8_t)event->data[0] < 0 ? "flat" : "sharp", event->data[1] ? "minor" : "major");
    } else if (event->bytes > 0) {
        fputs(": ", out);
        tt_midi_dump_bytes(out, event->data, event->bytes);
    }
}

static void print_event(FILE *out, const struct tt_smf_event *event)
{
    char text[TT_MIDI_MESSAGE_TEXT];

    switch (event->kind) {
    case TT_SMF_MESSAGE:
        tt_midi_message_format(event->data, event->bytes, text);
        fputs(text, out);
        break;
    case TT_SMF_META:
        print_meta(out, event);
        break;
    case TT_SMF_SYSEX:
        fprintf(out, "system exclusive%s%s, %zu %s: ", event->begins ? "" : ", continued",
                event->more ? ", more to come" : "", event->bytes,
                tt_plural(event->bytes, "byte", "bytes"));
        tt_midi_dump_bytes(out, event->data, event->bytes);
        break;
    case TT_SMF_ESCAPE:
        tt_midi_message_format(event->data, event->bytes, text);
        fprintf(out, "escape: %s", text);
        break;
    }
}

static json_t *event_json(const struct show *show, const struct tt_smf_item *item)
{
    static const char *const kinds[] = {"message", "sysex", "escape", "meta"};
    const struct tt_smf_event *event = &item->event;
    char text[TT_MIDI_MESSAGE_TEXT];
    json_t *json =
        json_pack("{s:i, s:I, s:o, s:I, s:s, s:o}", "track", (int)item->track + 1, "tick",
                  (json_int_t)event->tick, "time_ns",
                  tt_tempo_known(&show->map) ? json_integer(tt_tempo_ns(&show->map, event->tick))
                                             : json_null(),
                  "offset", (json_int_t)item->offset, "kind", kinds[event->kind], "bytes",
                  tt_midi_dump_hex(event->data, event->bytes));

    if (event->kind == TT_SMF_META) {
        json_object_set_new(json, "type", json_integer(event->type));
        json_object_set_new(json, "name", json_string(meta_name(event->type)));
    } else if (event->kind == TT_SMF_SYSEX) {
        json_object_set_new(json, "begins", json_boolean(event->begins));
        json_object_set_new(json, "more", json_boolean(event->more));
    } else {
        tt_midi_message_format(event->data, event->bytes, text);
        json_object_set_new(json, "text", json_string(text));
    }
    if (event->kind == TT_SMF_META && is_text(event->type)) {
        /* None where it is no UTF-8: the bytes are there. */
        json_object_set_new(json, "text", json_stringn((const char *)event->data, event->bytes));
    }
    return json;
}

/* Of format 2 each track has its own tempos. */
static int read_tempos(struct show *show, int track)
{
    struct tt_smf smf = *show->smf; /* the reader at hand stays where it is */
    size_t count = tt_tempo_count(&smf, track);
    struct tt_tempo *tempos = calloc(count + 1, sizeof(*tempos));

    if (!tempos) {
        return -ENOMEM;
    }
    free(show->tempos);
    show->tempos = tempos;
    tt_tempo_map_init(&show->map, &smf, track, tempos);
    return 0;
}

static int begin_track(struct show *show, const struct tt_smf_item *item)
{
    if ((int)item->track == show->track) {
        return 0;
    }
    show->track = (int)item->track;
    if (!show->dump->json) {
        fprintf(show->dump->out, "track %u\n%12s %18s %9s  event\n", item->track + 1, "tick",
                "time, s", "offset");
    }
    return show->smf->format == 2 ? read_tempos(show, show->track) : 0;
}

static int show_item(struct show *show, const struct tt_smf_item *item)
{
    FILE *out = show->dump->out;
    int error = 0;

    if (item->kind == TT_SMF_ITEM_FAULT) {
        tt_midi_dump_warning(show->dump, item->offset, tt_smf_fault_loses(item->fault),
                             tt_smf_fault_text(item->fault));
        return 0;
    }
    error = begin_track(show, item);
    if (show->dump->json) {
        tt_midi_dump_json_event(show->dump, event_json(show, item));
        return error;
    }
    fprintf(out, "%12" PRIu64 " ", item->event.tick);
    if (tt_tempo_known(&show->map)) {
        int64_t ns = tt_tempo_ns(&show->map, item->event.tick);

        fprintf(out, "%8" PRId64 ".%09" PRId64, ns / 1000000000, ns % 1000000000);
    } else {
        fprintf(out, "%18s", "-");
    }
    fprintf(out, " %9zu  ", item->offset);
    print_event(out, &item->event);
    fputc('\n', out);
    return error;
}

static void begin(const struct show *show)
{
    const struct tt_smf *smf = show->smf;
    const struct tt_smf_division *division = &smf->division;

    if (show->dump->json) {
        tt_midi_dump_json_begin(
            show->dump, json_pack("{s:o, s:s, s:i, s:i, s:i, s:i, s:i}", "source",
                                  tt_json_name(show->dump->source), "kind", "smf", "format",
                                  (int)smf->format, "tracks", (int)smf->tracks_announced,
                                  "ticks_per_quarter", (int)division->ppq, "frames_per_second",
                                  (int)division->fps, "ticks_per_frame", (int)division->ticks));
        return;
    }
    fprintf(show->dump->out, "%s: Standard MIDI File, format %u, %u %s, ", show->dump->source,
            smf->format, smf->tracks_announced,
            tt_plural(smf->tracks_announced, "track", "tracks"));
    if (division->ppq > 0) {
        fprintf(show->dump->out, "%u ticks a quarter\n", division->ppq);
    } else {
        fprintf(show->dump->out, "%s frames a second (SMPTE) of %u ticks\n",
                division->fps == 29   ? "29.97"
                : division->fps == 24 ? "24"
                : division->fps == 25 ? "25"
                : division->fps == 30 ? "30"
                                      : "an unusual number of",
                division->ticks);
    }
}

int tt_midi_dump_smf(struct tt_midi_dump *dump, struct tt_smf *smf)
{
    struct show show = {.dump = dump, .smf = smf, .track = -1};
    struct tt_smf_item item;
    int error = read_tempos(&show, smf->format == 2 ? 0 : -1);

    begin(&show);
    tt_smf_rewind(smf);
    while (!error && !ferror(dump->out) && tt_smf_next(smf, &item)) {
        error = show_item(&show, &item);
    }
    if (dump->json) {
        tt_midi_dump_json_end(dump);
    }
    free(show.tempos);
    return error;
}
