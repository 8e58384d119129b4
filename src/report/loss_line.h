/*
 * What was lost, as one line for people: what the program that played or recorded cannot know.
 */
#ifndef TT_REPORT_LOSS_LINE_H
#define TT_REPORT_LOSS_LINE_H

#include "audio/stream_config.h"
#include "run/listen.h"
#include "run/talk.h"

struct tt_loss_line {
    char text[512]; /* without a newline; "" where nothing was lost */
};

/* `notes`: enum tt_note; that the link was down is a loss that no counter shows. */
void tt_loss_line_talk(const struct tt_talk_counters *counters, unsigned notes,
                       struct tt_loss_line *ret_line);

/* `config` is the listener's: its format stands beside what came in another. */
void tt_loss_line_listen(const struct tt_stream_config *config,
                         const struct tt_listen_counters *counters, struct tt_loss_line *ret_line);

#endif
