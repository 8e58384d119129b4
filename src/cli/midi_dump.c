/*
 * See midi_dump.h.
 */
#include "cli/midi_dump.h"

#include <inttypes.h>
#include <stdlib.h>

#include "base/ns.h"
#include "report/json.h"

#define BYTES_SHOWN 32

void tt_midi_dump_warning(struct tt_midi_dump *dump, size_t offset, bool lost, const char *text)
{
    dump->warning_count++;
    dump->lost = dump->lost || lost;
    if (dump->json) {
        json_array_append_new(
            dump->warnings,
            json_pack("{s:I, s:s, s:b}", "offset", (json_int_t)offset, "text", text, "lost", lost));
    } else {
        fprintf(dump->out, "  warning at byte %zu: %s%s\n", offset, text, lost ? " (lost)" : "");
    }
}

static void print_compact(FILE *out, json_t *value)
{
    if (value) {
        json_dumpf(value, out, TT_JSON_LINE);
    } else {
        fputs("null", out);
    }
    json_decref(value);
}

void tt_midi_dump_json_begin(struct tt_midi_dump *dump, json_t *head)
{
    const char *key;
    json_t *value;

    fputs("{\n", dump->out);
    json_object_foreach(head, key, value)
    {
        fprintf(dump->out, "\"%s\": ", key);
        json_dumpf(value, dump->out, TT_JSON_LINE | JSON_ENCODE_ANY);
        fputs(",\n", dump->out);
    }
    json_decref(head);
    fputs("\"events\": [", dump->out);
}

void tt_midi_dump_json_event(struct tt_midi_dump *dump, json_t *event)
{
    fputs(dump->any ? ",\n" : "\n", dump->out);
    dump->any = true;
    print_compact(dump->out, event);
}

void tt_midi_dump_json_end(struct tt_midi_dump *dump)
{
    fputs("],\n\"warnings\": ", dump->out);
    print_compact(dump->out, dump->warnings);
    dump->warnings = NULL;
    fprintf(dump->out, ",\n\"lost\": %s\n}\n", dump->lost ? "true" : "false");
}

json_t *tt_midi_dump_hex(const uint8_t *data, size_t bytes)
{
    static const char digits[] = "0123456789ABCDEF";
    char *text = malloc(2 * bytes + 1);
    json_t *json;

    if (!text) {
        return NULL;
    }
    for (size_t i = 0; i < bytes; i++) {
        text[2 * i] = digits[data[i] >> 4];
        text[2 * i + 1] = digits[data[i] & 15];
    }
    json = json_stringn(text, 2 * bytes);
    free(text);
    return json;
}

static bool is_utf8(const uint8_t *data, size_t bytes)
{
    json_t *string = json_stringn((const char *)data, bytes);

    json_decref(string);
    return string != NULL;
}

void tt_midi_dump_text(FILE *out, const uint8_t *data, size_t bytes)
{
    bool utf8 = is_utf8(data, bytes);

    fputc('"', out);
    for (size_t i = 0; i < bytes; i++) {
        /* C2 80 to C2 9F are control characters too. */
        bool control = data[i] < 0x20 || data[i] == 0x7F ||
                       (data[i] == 0xC2 && i + 1 < bytes && data[i + 1] < 0xA0) ||
                       (i > 0 && data[i - 1] == 0xC2 && data[i] < 0xA0);

        if (control || (data[i] >= 0x80 && !utf8)) {
            fprintf(out, "\\x%02X", data[i]);
        } else if (data[i] == '"' || data[i] == '\\') {
            fprintf(out, "\\%c", data[i]);
        } else {
            fputc(data[i], out);
        }
    }
    fputc('"', out);
}

const char *tt_midi_seconds_format(int64_t ns, char ret_text[TT_MIDI_SECONDS_TEXT])
{
    uint64_t size = ns < 0 ? -(uint64_t)ns : (uint64_t)ns;

    snprintf(ret_text, TT_MIDI_SECONDS_TEXT, "%s%" PRIu64 ".%09" PRIu64, ns < 0 ? "-" : "",
             size / TT_NS_PER_S, size % TT_NS_PER_S);
    return ret_text;
}

void tt_midi_dump_bytes(FILE *out, const uint8_t *data, size_t bytes)
{
    for (size_t i = 0; i < bytes && i < BYTES_SHOWN; i++) {
        fprintf(out, i > 0 ? " %02X" : "%02X", data[i]);
    }
    if (bytes > BYTES_SHOWN) {
        fputs(" ...", out);
    }
}
