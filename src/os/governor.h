/*
 * The governor of the processors' frequency, for an experiment: it has to be put back.
 *
 * Source: Documentation/admin-guide/pm/cpufreq.rst.
 */
#ifndef TT_OS_GOVERNOR_H
#define TT_OS_GOVERNOR_H

#define TT_GOVERNOR_NAME 32

/* Of all processors. *ret_before: that of the first; may be where `name` is. 0 or -errno: -ENOENT
 * nobody scales the frequency. */
int tt_governor_set(const char *name, char ret_before[TT_GOVERNOR_NAME]);

#endif
