/*
 * What streams at work did, for Prometheus: every counter of their JSON, and their lateness.
 */
#ifndef TT_CLI_STREAMS_METRICS_H
#define TT_CLI_STREAMS_METRICS_H

#include "cli/metrics.h"
#include "cli/streams_show.h"

/* `metrics` may be NULL. */
void tt_streams_metrics(const struct tt_streams_view *view, struct tt_metrics *metrics);

#endif
