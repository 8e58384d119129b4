/*
 * What `talk` and `listen` tell a service manager: that they are ready, and that all of it moves.
 */
#ifndef TT_CLI_STREAMS_BEAT_H
#define TT_CLI_STREAMS_BEAT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "cli/feeder.h"
#include "cli/stream.h"

struct tt_streams_beat {
    bool ready; /* the manager knows */
    int64_t next_ns;
    int64_t *frames; /* of each stream's engine, when we last looked; the caller's */
    uint_least64_t rounds;
};

void tt_streams_beat(struct tt_streams_beat *beat, const struct tt_stream_status *statuses,
                     size_t count, struct tt_feeder *feeder);

#endif
