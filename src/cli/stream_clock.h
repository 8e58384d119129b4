/*
 * The media clock of a command's talkers where it is not TAI alone: a CRF stream that they follow,
 * and one that tells it to others.
 *
 * Threads: _look and what is shown belong to the command.
 */
#ifndef TT_CLI_STREAM_CLOCK_H
#define TT_CLI_STREAM_CLOCK_H

#include <jansson.h>
#include <stdbool.h>
#include <stdio.h>

#include "cli/stream_job.h"
#include "run/attach.h"
#include "run/clock_in.h"
#include "run/clock_out.h"
#include "run/engine.h"

enum tt_stream_clock_news {
    TT_CLOCK_SAME,
    TT_CLOCK_FOUND,
    TT_CLOCK_LOST,  /* the alarm */
    TT_CLOCK_NEVER, /* the alarm, of one that has not been found at all */
    TT_CLOCK_BACK,
};

struct tt_stream_clock {
    uint64_t in_id;
    struct tt_attachment in_attachment;
    struct tt_clock_in *in; /* NULL: TAI */
    struct tt_attachment out_attachment;
    struct tt_clock_out *out; /* NULL: it is not told */
    bool found;
    bool alarm;            /* its master is gone, or does not come */
    int64_t first_look_ns; /* 0: not yet */
    struct tt_clock_in_counters followed;
    struct tt_clock_out_counters told;
};

/* Opens what the job asks for and hands it to the engine; the interface and the tag are the job's.
 * 0, or -errno with *ret_message. _close in any case, once the engine is done. */
int tt_stream_clock_open(struct tt_stream_clock *clock, const struct tt_stream_job *job,
                         struct tt_engine *engine, struct tt_message *ret_message);
void tt_stream_clock_close(struct tt_stream_clock *clock);

/* Reads the counters; what is new since the last time. `now_ns` is of any clock that goes on. */
enum tt_stream_clock_news tt_stream_clock_look(struct tt_stream_clock *clock, int64_t now_ns);

/* Why what came of the followed stream cannot be followed, the most frequent reason; NULL: nothing
 * such came. */
const char *tt_stream_clock_refusal(const struct tt_stream_clock *clock);

/* A line each of what is followed and told. Returns how many. */
int tt_stream_clock_print(const struct tt_stream_clock *clock, FILE *out);
/* A new reference; null where the clock is TAI and is not told. */
json_t *tt_stream_clock_json(const struct tt_stream_clock *clock);

#endif
