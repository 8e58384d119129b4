/*
 * A setting of `tactus meter compare`: "policy=rr,priority=80,cpu=1,governor=performance,
 * run=COMMAND,tuned".
 */
#ifndef TT_CLI_METER_SETTING_H
#define TT_CLI_METER_SETTING_H

#include <stdbool.h>

#include "cli/meter_job.h"
#include "os/governor.h"

struct tt_meter_setting {
    const char *text; /* as given */
    struct tt_policy policy;
    bool tuned;
    char governor[TT_GOVERNOR_NAME]; /* "": as it is */
    char governor_before[TT_GOVERNOR_NAME];
    const char *run; /* by the shell, before each window; the rest of the text */
};

/* What the text does not name is the job's. 0, or -EINVAL after saying why. */
int tt_meter_setting_parse(const char *text, const struct tt_meter_job *job,
                           struct tt_meter_setting *ret_setting);
/* Before a window; and back after it. TT_EXIT_GOOD, or an exit code after saying why. */
enum tt_exit tt_meter_setting_apply(struct tt_meter_setting *setting, struct tt_meter_job *job);
void tt_meter_setting_undo(struct tt_meter_setting *setting, struct tt_meter_job *job);

#endif
