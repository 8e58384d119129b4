/*
 * What an observer saw, for Prometheus.
 */
#ifndef TT_CLI_WATCH_METRICS_H
#define TT_CLI_WATCH_METRICS_H

#include "cli/metrics.h"
#include "cli/watch_show.h"

/* `metrics` may be NULL. */
void tt_watch_metrics(const struct tt_watch_view *view, struct tt_metrics *metrics);

#endif
