/*
 * What the reports of a stream's two ends (report/stream_report) say about frames that differ.
 *
 * A talker's events are at positions of the source (frames since its device started), a listener's
 * at positions of the recording.
 */
#ifndef TT_CLI_EXPLAIN_H
#define TT_CLI_EXPLAIN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "audio/event.h"
#include "audio/match.h"

struct tt_reported {
    struct tt_event event;
    bool talker;
};

/* Owns its events. */
struct tt_reports {
    struct tt_reported *events;
    size_t count;
    size_t capacity;
    uint64_t unkept; /* events that happened but were not kept */
    unsigned files;
};

struct tt_explanation {
    bool explained;                 /* every frame of the range */
    int64_t frames[TT_EVENT_KINDS]; /* of the range, by the kind that explains them */
    unsigned seen;    /* kinds (1 << kind) that lie in the range, those that explain nothing too */
    unsigned shifted; /* kinds that explain a shift */
};

/* Adds the events of a device's report, or of what `tactus extract --json` prints. 0, or a negative
 * errno with *ret_why (static, or in `text`). */
int tt_reports_add(struct tt_reports *reports, const char *path, char *text, size_t text_bytes,
                   const char **ret_why);
void tt_reports_done(struct tt_reports *reports);

/* Late, lost, dropped and refused frames explain exactly themselves; an XRUN explains a shift of
 * the alignment where it happened, silence of a talker one of exactly its length. */
void tt_reports_explain(const struct tt_reports *reports, const struct tt_match_range *range,
                        struct tt_explanation *ret_explanation);

#endif
