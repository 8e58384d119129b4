/*
 * See notify.h.
 */
#include "os/notify.h"

#include <errno.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "base/ns.h"

int tt_notify(const char *state)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    const char *path = getenv("NOTIFY_SOCKET");
    size_t bytes = path ? strlen(path) : 0;
    int error = 0;
    int fd;

    if (bytes == 0) {
        return 0;
    }
    if ((path[0] != '/' && path[0] != '@') || bytes >= sizeof(address.sun_path)) {
        return -EINVAL;
    }
    memcpy(address.sun_path, path, bytes);
    if (path[0] == '@') {
        address.sun_path[0] = 0; /* an abstract name */
    }
    fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    if (fd < 0) {
        return -errno;
    }
    if (sendto(fd, state, strlen(state), MSG_NOSIGNAL | MSG_DONTWAIT, (struct sockaddr *)&address,
               (socklen_t)(offsetof(struct sockaddr_un, sun_path) + bytes)) < 0) {
        error = -errno;
    }
    close(fd);
    return error < 0 ? error : 1;
}

int64_t tt_notify_watchdog_ns(void)
{
    const char *usec = getenv("WATCHDOG_USEC");
    const char *pid = getenv("WATCHDOG_PID");
    long long us = usec ? strtoll(usec, NULL, 10) : 0;

    if (us <= 0 || us > INT64_MAX / TT_NS_PER_US || (pid && strtoll(pid, NULL, 10) != getpid())) {
        return 0;
    }
    return us * TT_NS_PER_US;
}
