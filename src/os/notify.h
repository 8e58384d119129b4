/*
 * Telling the service manager: READY=1, STATUS=…, WATCHDOG=1, STOPPING=1.
 *
 * The protocol is a datagram to the socket that $NOTIFY_SOCKET names, and that is all there is to
 * it; libsystemd would be a library, with all that it pulls in, for one sendto(). Without the
 * variable nothing is sent and nothing is an error. Source: sd_notify(3).
 */
#ifndef TT_OS_NOTIFY_H
#define TT_OS_NOTIFY_H

#include <stdint.h>

/* `state`: lines such as "READY=1\nSTATUS=2 streams". 1: sent; 0: nobody asked; -errno. Never
 * blocks. */
int tt_notify(const char *state);

/* How often at least the manager wants WATCHDOG=1, in ns; 0: it does not. */
int64_t tt_notify_watchdog_ns(void);

#endif
