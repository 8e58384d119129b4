/*
 * A page of figures over HTTP, for a Prometheus to scrape: GET /metrics. The command writes it anew
 * each second; whoever asks gets the last one, so that asking disturbs nothing.
 */
#ifndef TT_CLI_METRICS_H
#define TT_CLI_METRICS_H

#include <stddef.h>
#include <stdio.h>

#include "cli/cmd.h"

struct tt_metrics;

/* `where`: ADDRESS:PORT, [ADDRESS]:PORT or PORT, which is on the loopback. NULL serves nothing:
 * *ret_metrics is NULL then. TT_EXIT_GOOD, or what `command` said on stderr. */
int tt_metrics_start(const char *command, const char *where, struct tt_metrics **ret_metrics);
/* The page that is written from now on; NULL: nobody serves it, or memory is out. */
FILE *tt_metrics_begin(struct tt_metrics *metrics);
/* It is what is served from now on. */
void tt_metrics_end(struct tt_metrics *metrics);
/* NULL will do. */
void tt_metrics_stop(struct tt_metrics *metrics);

#endif
