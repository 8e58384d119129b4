/*
 * What audio/finding found, for people and for programs: one plain line each, and a JSON object.
 */
#ifndef TT_REPORT_FINDING_TEXT_H
#define TT_REPORT_FINDING_TEXT_H

#include <jansson.h>
#include <stddef.h>

#include "audio/finding.h"

#define TT_FINDING_TEXT 400

/* "stamps_utc", …: the same for ever, for programs. */
const char *tt_finding_code(enum tt_finding_kind kind);
/* "note", "warning", "fault" */
const char *tt_severity_name(enum tt_severity severity);

/* What, how much, what it costs or what to do; without a newline. Returns ret_text. */
const char *tt_finding_text(const struct tt_finding *finding, char ret_text[TT_FINDING_TEXT]);

/* {"code", "severity", "text", "figures": {"count": n, …}, "reason"}: the figures that the finding
 * shows; the reason of a refusal, otherwise null. A new reference, or NULL when memory is out. */
json_t *tt_finding_json(const struct tt_finding *finding);

#endif
