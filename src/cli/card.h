/*
 * A stream whose end is a sound card: a bridge (run/bridge) is its program, and resamples between
 * the card's clock and the stream's.
 *
 * Threads: as struct tt_stream.
 */
#ifndef TT_CLI_CARD_H
#define TT_CLI_CARD_H

#include <stdbool.h>

#include "audio/stream_config.h"

struct tt_stream;

/* "alsa:DEVICE" */
bool tt_cli_card_is(const char *name);

/* Opens the card; what the stream leaves open of format, rate and channels is the card's. 0 or
 * -errno with *ret_message, which says what the card lacks. */
int tt_cli_card_open(struct tt_stream *stream, struct tt_message *ret_message);
/* Whether there is such a card at all, before the stream's shape is known. As tt_cli_card_open. */
int tt_cli_card_check(const struct tt_stream *stream, struct tt_message *ret_message);
/* Once the stream's engine is there. 0 or -errno with *ret_message. */
int tt_cli_card_join(struct tt_stream *stream, struct tt_message *ret_message);
void tt_cli_card_stop(struct tt_stream *stream);
/* Starts the card once the stream runs, and looks how it is. 0, or -errno: it is gone. */
int tt_cli_card_look(struct tt_stream *stream);
void tt_cli_card_close(struct tt_stream *stream);

#endif
