/*
 * `talk` and `listen` at work: all streams from start to end, with what is shown meanwhile, signals
 * and the service manager.
 */
#ifndef TT_CLI_STREAMS_H
#define TT_CLI_STREAMS_H

#include "cli/stream_options.h"

/* `command` is "tactus talk" or "tactus listen". Returns the exit code. */
int tt_streams_run(const char *command, const struct tt_stream_options *options);

#endif
