/*
 * See wake.h.
 */
#include "os/wake.h"

#include <errno.h>
#include <sys/eventfd.h>
#include <unistd.h>

int tt_wake_open(void)
{
    int fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);

    return fd < 0 ? -errno : fd;
}

void tt_wake_kick(int fd)
{
    /* A counter that is full is readable already. */
    (void)!eventfd_write(fd, 1);
}

void tt_wake_clear(int fd)
{
    eventfd_t count;

    (void)!eventfd_read(fd, &count);
}

void tt_wake_close(int fd)
{
    if (fd >= 0) {
        close(fd);
    }
}
