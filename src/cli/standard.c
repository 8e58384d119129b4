/*
 * See cmd.h: the standard descriptors, from the first line of main() to the end of the process.
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/cmd.h"

#define STANDARD_FDS 3

/* Whoever reads standard output has left: no fault. */
static bool is_reader_gone(void)
{
    struct pollfd out = {.fd = STDOUT_FILENO, .events = POLLOUT};

    return poll(&out, 1, 0) == 1 && (out.revents & (POLLERR | POLLHUP)) != 0;
}

/* At exit, and so also behind what argp prints. */
static void close_stdout(void)
{
    bool failed = ferror(stdout) != 0;
    bool gone = is_reader_gone();
    int error = 0;

    if (fclose(stdout) != 0) {
        failed = true;
        error = errno;
    }
    if (!failed || gone || error == EPIPE) {
        return;
    }
    fprintf(stderr,
            "tactus: standard output could not be written%s%s: what was printed is not "
            "all there\n",
            error ? ": " : "", error ? strerror(error) : "");
    _exit(TT_EXIT_ENVIRONMENT);
}

void tt_cli_standard_init(void)
{
    int fd;

    do {
        fd = open("/dev/null", O_RDWR);
    } while (fd >= 0 && fd < STANDARD_FDS);
    if (fd >= 0) {
        close(fd);
    }
    atexit(close_stdout);
}
