/*
 * What a guest says in somebody's process: next to nothing. That the TAI offset is unset, once per
 * process; at the end, in one line, what was lost, which the program cannot know; everything else
 * that fell back only where TACTUS_VERBOSE is set.
 */
#ifndef TT_PLUGIN_SAY_H
#define TT_PLUGIN_SAY_H

struct tt_plugin_voice {
    char *name;    /* of the device */
    unsigned said; /* enum tt_note */
};

/* 0 or -ENOMEM. `name` NULL: the device has none. */
int tt_plugin_voice_init(struct tt_plugin_voice *voice, const char *name);
void tt_plugin_voice_done(struct tt_plugin_voice *voice);

/* Says what of `notes` (enum tt_note) was not said yet, on stderr. */
void tt_plugin_say_notes(struct tt_plugin_voice *voice, unsigned notes);

/* Says `line` on stderr, where it is not empty. */
void tt_plugin_say_line(const struct tt_plugin_voice *voice, const char *line);

#endif
