/*
 * Two TAPs of eight queues each, in the namespaces talker and listener, that are a wire: what goes
 * into one comes out of the other. Both say that they run at 100 Mbit/s.
 *
 * usage: tap_pair [--by-flow]. Prints "ready"; runs until it is killed.
 * Frames of priority 6 go to queue 1, all others to queue 0. With --by-flow the kernel chooses,
 * which for a TAP goes by flows; taprio then finds frames in other classes' queues.
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/bpf.h>
#include <linux/ethtool.h>
#include <linux/if_tun.h>
#include <linux/sockios.h>
#include <net/if.h>
#include <poll.h>
#include <sched.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
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

/* The queue by the priority. */
static void set_steering(int tap)
{
    const struct bpf_insn program[] = {
        {.code = BPF_LDX | BPF_MEM | BPF_W,
         .dst_reg = BPF_REG_1,
         .src_reg = BPF_REG_1,
         .off = offsetof(struct __sk_buff, priority)},
        {.code = BPF_ALU64 | BPF_MOV | BPF_K, .dst_reg = BPF_REG_0, .imm = 1},
        {.code = BPF_JMP | BPF_JEQ | BPF_K, .dst_reg = BPF_REG_1, .imm = 6, .off = 1},
        {.code = BPF_ALU64 | BPF_MOV | BPF_K, .dst_reg = BPF_REG_0, .imm = 0},
        {.code = BPF_JMP | BPF_EXIT},
    };
    union bpf_attr attr = {0};
    int fd;

    attr.prog_type = BPF_PROG_TYPE_SOCKET_FILTER;
    attr.insns = (uintptr_t)program;
    attr.insn_cnt = sizeof(program) / sizeof(program[0]);
    attr.license = (uintptr_t) "";
    fd = (int)syscall(SYS_bpf, BPF_PROG_LOAD, &attr, sizeof(attr));
    if (fd < 0 || ioctl(tap, TUNSETSTEERINGEBPF, &fd) != 0)
        fail("the queues of the TAP");
    close(fd);
}

static void open_tap(const char *space, const char *name, struct pollfd *queues, int by_flow)
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
    if (!by_flow)
        set_steering(queues[0].fd);
}

int main(int argc, char **argv)
{
    int by_flow = argc > 1 && strcmp(argv[1], "--by-flow") == 0;
    static uint8_t frame[FRAME_BYTES];
    struct pollfd queues[2 * QUEUES];

    open_tap("talker", "talker0", queues, by_flow);
    open_tap("listener", "listener0", queues + QUEUES, by_flow);
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
