/*
 * An eventfd: a thread wakes a program that polls.
 */
#ifndef TT_OS_WAKE_H
#define TT_OS_WAKE_H

#include "base/attr.h"

/* A non-blocking, close-on-exec descriptor, readable after a kick; or -errno. */
int tt_wake_open(void);
TT_RT void tt_wake_kick(int fd);
void tt_wake_clear(int fd);
void tt_wake_close(int fd);

#endif
