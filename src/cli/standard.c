/*
 * See cmd.h: the standard descriptors, from the first line of main() to the end of the process.
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/cmd.h"
#include "cli/relay.h"

#define STANDARD_FDS 3

static bool was_closed; /* standard output, from the beginning */

/* Whoever reads standard output has left: no fault. */
static bool is_reader_gone(void)
{
    struct pollfd out = {.fd = STDOUT_FILENO, .events = POLLOUT};

    return !was_closed && poll(&out, 1, 0) == 1 && (out.revents & (POLLERR | POLLHUP)) != 0;
}

/* At exit, and so also behind what argp prints. False: not all is out; the reason where it is
 * known, else 0. */
static bool close_stdout(int *ret_errno)
{
    bool failed = ferror(stdout) != 0;
    bool gone = is_reader_gone();
    int error = 0;
    int relayed;

    if (fclose(stdout) != 0) {
        failed = true;
        error = errno;
    }
    relayed = tt_relay_settle(STDOUT_FILENO);
    if (relayed != 0) {
        failed = true;
        error = -relayed;
        gone = error == EIO; /* its terminal is closed */
    }
    if (gone || (error == EPIPE && !was_closed)) {
        failed = false;
    }
    *ret_errno = error;
    return !failed;
}

static void end_standard(void)
{
    int error;
    bool good = close_stdout(&error);

    if (!good) {
        fprintf(stderr, "tactus: standard output %s%s%s%s: what was printed is not all there\n",
                was_closed ? "is closed" : "could not be written", error ? " (" : "",
                error ? strerror(error) : "", error ? ")" : "");
    }
    (void)tt_relay_settle(STDERR_FILENO);
    if (!good) {
        _exit(TT_EXIT_ENVIRONMENT);
    }
}

/* As if its reader had left, so that a command goes on to its end. */
static void replace_stdout(void)
{
    int ends[2];

    if (pipe(ends) != 0) {
        return;
    }
    dup2(ends[1], STDOUT_FILENO);
    close(ends[0]);
    close(ends[1]);
    signal(SIGPIPE, SIG_IGN);
}

void tt_cli_standard_init(void)
{
    int fd;

    was_closed = fcntl(STDOUT_FILENO, F_GETFD) < 0;
    do {
        fd = open("/dev/null", O_RDWR);
    } while (fd >= 0 && fd < STANDARD_FDS);
    if (fd >= 0) {
        close(fd);
    }
    if (was_closed) {
        replace_stdout();
    }
    signal(SIGXFSZ, SIG_IGN); /* a file over its limit is an error that is said */
    atexit(end_standard);
}
