/*
 * Every event of a Standard MIDI File or a raw log, as text lines or as one JSON object, with
 * warnings at the offsets of their bytes.
 *
 * JSON: {"source", "kind": "smf" or "log", … of the file, "events": [one a line], "warnings":
 * [{"offset", "text", "lost"}], "lost"}. It is written as it is read: a file may be larger than
 * memory.
 */
#ifndef TT_CLI_MIDI_DUMP_H
#define TT_CLI_MIDI_DUMP_H

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "cli/midi_file.h"

struct tt_midi_dump {
    const char *source;
    bool json;
    FILE *out;
    json_t *warnings; /* of JSON; text has them between the events */
    uint64_t warning_count;
    bool lost; /* something of the file, or of the recording */
    bool any;  /* a JSON event is out */
};

/* 0, or a negative errno; the output's errors are the stream's. */
int tt_midi_dump_smf(struct tt_midi_dump *dump, struct tt_smf *smf);
int tt_midi_dump_log(struct tt_midi_dump *dump, struct tt_midi_log *log);

/* ---- for those two */

void tt_midi_dump_warning(struct tt_midi_dump *dump, size_t offset, bool lost, const char *text);
/* `head`: of the file, without "events"; takes it over. */
void tt_midi_dump_json_begin(struct tt_midi_dump *dump, json_t *head);
/* Takes `event` over. */
void tt_midi_dump_json_event(struct tt_midi_dump *dump, json_t *event);
void tt_midi_dump_json_end(struct tt_midi_dump *dump);
/* Upper-case hex digits; NULL: no memory. */
json_t *tt_midi_dump_hex(const uint8_t *data, size_t bytes);
/* What a person may see of a text: no control characters; what is no UTF-8 as \xNN. */
void tt_midi_dump_text(FILE *out, const uint8_t *data, size_t bytes);
#define TT_MIDI_SECONDS_TEXT 32
/* "12.000034567", "-0.500000000". Returns ret_text. */
const char *tt_midi_seconds_format(int64_t ns, char ret_text[TT_MIDI_SECONDS_TEXT]);
void tt_midi_dump_bytes(FILE *out, const uint8_t *data, size_t bytes);

#endif
