/*
 * What happened to one stream, as JSON. In a file, with the events: for tests and for people who
 * want to know where frames went after the program is gone.
 *
 * {"role", "stream_id", "interface", "format", "rate_hz", "channels", "frames_per_pdu",
 *  "counters": every field of the engine's counters by its name (a listener's `stream` fields stand
 *              among the others; its pdus_refused is an object of named reasons),
 *  "lateness_ns": a summary, "events": [{"kind", "frame", "frames", "time_tai_ns"}],
 * "events_unkept", "notes": [lines of text]} What the configuration does not fix is null, and so
 * are the figures of a summary of nothing.
 *
 * Invariant: a reader of `path` never sees half a file (written beside it, then renamed).
 */
#ifndef TT_REPORT_STREAM_REPORT_H
#define TT_REPORT_STREAM_REPORT_H

#include <jansson.h>

#include "audio/event.h"
#include "audio/stream_config.h"
#include "base/hist.h"
#include "run/listen.h"
#include "run/talk.h"

/* Without the events. `lateness` may be NULL (not known yet). A new reference, or NULL when memory
 * is out. */
json_t *tt_stream_json_talk(const struct tt_stream_config *config,
                            const struct tt_talk_counters *counters, const struct tt_hist *lateness,
                            unsigned notes);
json_t *tt_stream_json_listen(const struct tt_stream_config *config,
                              const struct tt_listen_counters *counters,
                              const struct tt_hist *lateness, unsigned notes);

/* `lateness` and `log` may be NULL (nothing recorded); `notes` are enum tt_note bits. 0 or -errno;
 * after a failure `path` is as it was. */
int tt_stream_report_talk(const char *path, const struct tt_stream_config *config,
                          const struct tt_talk_counters *counters, const struct tt_hist *lateness,
                          const struct tt_event_log *log, unsigned notes);
int tt_stream_report_listen(const char *path, const struct tt_stream_config *config,
                            const struct tt_listen_counters *counters,
                            const struct tt_hist *lateness, const struct tt_event_log *log,
                            unsigned notes);

#endif
