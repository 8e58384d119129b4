/*
 * A message to a person, and the error that it explains.
 */
#ifndef TT_CLI_SAY_H
#define TT_CLI_SAY_H

#include "audio/stream_config.h"
#include "base/attr.h"

/* Writes the message; returns `error`. */
int tt_say(int error, struct tt_message *message, const char *format, ...) TT_PRINTF(3, 4);

#endif
