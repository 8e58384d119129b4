/*
 * Standard output and standard error of a command that must not wait for who reads them.
 *
 * Both become pipes of our own, from which a thread passes on. A display that stands still (Ctrl-S,
 * a pipe that nobody reads) then costs lines, and no time but two seconds at the end: what finds no
 * room in the pipe fails with EAGAIN.
 */
#ifndef TT_CLI_RELAY_H
#define TT_CLI_RELAY_H

#include <stdbool.h>

/* From here to the end of the process. Where it cannot be had, all stays as it was. */
void tt_relay_start(void);
/* Standard error alone, where standard output has samples and its writer waits for nobody. */
void tt_relay_start_errors(void);
/* All of standard output or standard error was passed on, so that there is room for what is shown
 * next. Also where it is not relayed. */
bool tt_relay_has_room(int fd);
/* Waits until all of standard output or standard error was passed on, or has stood still for two
 * seconds. 0; -EAGAIN: it was not passed on; -errno: it was refused. 0 where it is not relayed. */
int tt_relay_settle(int fd);

#endif
