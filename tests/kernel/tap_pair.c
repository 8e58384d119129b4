/*
 * Two TAPs of eight queues each, in the namespaces talker and listener, that are a wire: what goes
 * into one comes out of the other. Both say that they run at 100 Mbit/s.
 *
 * usage: tap_pair. Prints "ready"; runs until it is killed.
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/ethtool.h>
#include <linux/if_tun.h>
#include <linux/sockios.h>
#include <net/if.h>
#include <poll.h>
#include <sched.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

enum { QUEUES = 8, MBITS = 100, FRAME_BYTES = 65600 };

static void fail(const char *what)
{
    perror(what);
    exit(1);
}

static void set_speed(const char *name)
{
    int fd = socket(AF_INET, SOCK_DGRAM, 0);
    struct ethtool_cmd command = {.cmd = ETHTOOL_SSET, .duplex = DUPLEX_FULL};
    struct ifreq request = {0};

    strncpy(request.ifr_name, name, sizeof(request.ifr_name) - 1);
    request.ifr_data = (void *)&command;
    ethtool_cmd_speed_set(&command, MBITS);
    if (fd < 0 || ioctl(fd, SIOCETHTOOL, &request) != 0)
        fail("the speed of the TAP");
    close(fd);
}

static void open_tap(const char *space, const char *name, struct pollfd *queues)
{
    char path[64];
    int fd;

    snprintf(path, sizeof(path), "/run/netns/%s", space);
    fd = open(path, O_RDONLY);
    if (fd < 0 || setns(fd, CLONE_NEWNET) != 0)
        fail(path);
    close(fd);
    for (int i = 0; i < QUEUES; i++) {
        struct ifreq request = {.ifr_flags = IFF_TAP | IFF_NO_PI | IFF_MULTI_QUEUE};

        strncpy(request.ifr_name, name, sizeof(request.ifr_name) - 1);
        queues[i].fd = open("/dev/net/tun", O_RDWR | O_NONBLOCK);
        queues[i].events = POLLIN;
        if (queues[i].fd < 0 || ioctl(queues[i].fd, TUNSETIFF, &request) != 0)
            fail("/dev/net/tun");
    }
    set_speed(name);
}

int main(void)
{
    static uint8_t frame[FRAME_BYTES];
    struct pollfd queues[2 * QUEUES];

    open_tap("talker", "talker0", queues);
    open_tap("listener", "listener0", queues + QUEUES);
    puts("ready");
    fflush(stdout);
    for (;;) {
        if (poll(queues, 2 * QUEUES, -1) < 0)
            fail("poll");
        for (int i = 0; i < 2 * QUEUES; i++) {
            ssize_t n = queues[i].revents ? read(queues[i].fd, frame, sizeof(frame)) : 0;

            if (n > 0 && write(queues[i < QUEUES ? QUEUES : 0].fd, frame, (size_t)n) < 0 &&
                errno != EAGAIN && errno != EIO)
                fail("write");
        }
    }
}
