/*
 * See say.h.
 */
#include "plugin/say.h"

#include <errno.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "report/note.h"

int tt_plugin_voice_init(struct tt_plugin_voice *voice, const char *name)
{
    voice->said = 0;
    voice->name = strdup(name ? name : "tactus");
    return voice->name ? 0 : -ENOMEM;
}

void tt_plugin_voice_done(struct tt_plugin_voice *voice)
{
    free(voice->name);
    voice->name = NULL;
}

static int first_time(void)
{
    static atomic_flag said = ATOMIC_FLAG_INIT;

    return !atomic_flag_test_and_set(&said);
}

void tt_plugin_say_notes(struct tt_plugin_voice *voice, unsigned notes)
{
    unsigned fresh = notes & ~voice->said;
    const char *text;

    voice->said |= notes;
    if (fresh & TT_NOTE_TAI_UNSET) {
        fresh &= ~(unsigned)TT_NOTE_TAI_UNSET;
        if (first_time()) {
            fprintf(stderr, "%s: %s\n", voice->name, tt_note_text(TT_NOTE_TAI_UNSET));
        }
    }
    if (!getenv("TACTUS_VERBOSE")) {
        return;
    }
    while ((text = tt_note_next(&fresh))) {
        fprintf(stderr, "%s: %s\n", voice->name, text);
    }
}

void tt_plugin_say_line(const struct tt_plugin_voice *voice, const char *line)
{
    if (line[0] != 0) {
        fprintf(stderr, "%s: %s\n", voice->name, line);
    }
}
