/*
 * Text of the run room's notes: what fell back or was found, what it costs, what to do about it.
 */
#ifndef TT_REPORT_NOTE_H
#define TT_REPORT_NOTE_H

#include "run/note.h"

/* One plain line without a newline; NULL where `note` is no bit of enum tt_note. */
const char *tt_note_text(enum tt_note note);

/* Takes the lowest bit out of *notes and returns its text; NULL when none is left:
 * while ((text = tt_note_next(&notes))) … */
const char *tt_note_next(unsigned *notes);

/* One note for one cause: without those that another one among them says better. */
unsigned tt_note_causes(unsigned notes);

#endif
