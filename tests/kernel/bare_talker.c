/*
 * The least program that sends with launch times, as the measure of what this kernel can do: AAF
 * packets of class A at equal distances, by SO_TXTIME, a batch at a time. What etf drops is counted
 * from the error queue.
 *
 * usage: bare_talker INTERFACE PRIORITY COUNT BATCH LEAD_NS PHASE_NS; LEAD_NS from the hand-over of
 * a batch to its first launch, PHASE_NS the first launch modulo the kernel's tick of 4 ms. Prints
 * the number of packets that were refused.
 */
#include <arpa/inet.h>
#include <linux/errqueue.h>
#include <linux/if_packet.h>
#include <linux/net_tstamp.h>
#include <net/if.h>
#include <sched.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>

#define BATCH_MAX   256
#define INTERVAL_NS 125000
#define TICK_NS     4000000
#define SECOND_NS   1000000000

/* Two channels of 16 bits, 48 kHz, 6 frames, silent. */
static const uint8_t packet[62] = {0x91, 0xE0, 0xF0, 0,    0xFE, 2, 2, 0,    0, 0,  0, 1,
                                   0x22, 0xF0, 2,    0x81, 0,    0, 2, 0,    0, 0,  0, 1,
                                   0,    2,    0,    0,    0,    0, 4, 0x50, 2, 16, 0, 24};

static struct {
    uint8_t data[sizeof(packet)];
    struct iovec vector;
    _Alignas(struct cmsghdr) char control[CMSG_SPACE(sizeof(int64_t))];
} slots[BATCH_MAX];
static struct mmsghdr messages[BATCH_MAX];

static int64_t tai_ns(void)
{
    struct timespec t;

    clock_gettime(CLOCK_TAI, &t);
    return t.tv_sec * INT64_C(1000000000) + t.tv_nsec;
}

static void sleep_until(int64_t ns)
{
    struct timespec t = {.tv_sec = ns / SECOND_NS, .tv_nsec = ns % SECOND_NS};

    clock_nanosleep(CLOCK_TAI, TIMER_ABSTIME, &t, NULL);
}

static int open_socket(const char *ifname, int priority)
{
    struct sock_txtime txtime = {.clockid = CLOCK_TAI, .flags = SOF_TXTIME_REPORT_ERRORS};
    struct sockaddr_ll address = {.sll_family = AF_PACKET,
                                  .sll_ifindex = (int)if_nametoindex(ifname)};
    struct sched_param fifo = {.sched_priority = 50};
    int buffer_bytes = 4 << 20;
    int fd = socket(AF_PACKET, SOCK_RAW, 0);

    sched_setscheduler(0, SCHED_FIFO, &fifo);
    setsockopt(fd, SOL_SOCKET, SO_SNDBUFFORCE, &buffer_bytes, sizeof(buffer_bytes));
    if (setsockopt(fd, SOL_SOCKET, SO_PRIORITY, &priority, sizeof(priority)) < 0 ||
        setsockopt(fd, SOL_SOCKET, SO_TXTIME, &txtime, sizeof(txtime)) < 0 ||
        bind(fd, (struct sockaddr *)&address, sizeof(address)) < 0) {
        perror("bare_talker");
        exit(1);
    }
    return fd;
}

static void set_slot(int i, uint8_t sequence, int64_t launch_ns)
{
    struct msghdr *message = &messages[i].msg_hdr;
    struct cmsghdr *c = (struct cmsghdr *)slots[i].control;

    memcpy(slots[i].data, packet, sizeof(packet));
    slots[i].data[16] = sequence;
    slots[i].vector = (struct iovec){.iov_base = slots[i].data, .iov_len = sizeof(packet)};
    *c = (struct cmsghdr){
        .cmsg_len = CMSG_LEN(sizeof(launch_ns)), .cmsg_level = SOL_SOCKET, .cmsg_type = SCM_TXTIME};
    memcpy(CMSG_DATA(c), &launch_ns, sizeof(launch_ns));
    *message = (struct msghdr){.msg_iov = &slots[i].vector,
                               .msg_iovlen = 1,
                               .msg_control = c,
                               .msg_controllen = sizeof(slots[i].control)};
}

static int count_refused(int fd)
{
    char control[512];
    struct msghdr message = {.msg_control = control, .msg_controllen = sizeof(control)};
    int refused = 0;

    while (recvmsg(fd, &message, MSG_ERRQUEUE | MSG_DONTWAIT) >= 0) {
        refused++;
        message.msg_controllen = sizeof(control);
    }
    return refused;
}

int main(int argc, char **argv)
{
    int fd = argc == 7 ? open_socket(argv[1], atoi(argv[2])) : -1;
    int count = fd >= 0 ? atoi(argv[3]) : 0;
    int batch = fd >= 0 ? atoi(argv[4]) : 0;
    int64_t lead_ns = fd >= 0 ? atoll(argv[5]) : 0;
    int64_t phase_ns = fd >= 0 ? atoll(argv[6]) : 0;
    int64_t first_ns = (tai_ns() / TICK_NS + 7) * TICK_NS + phase_ns;
    int refused = 0;

    if (batch < 1 || batch > BATCH_MAX) {
        return 2;
    }
    for (int sent = 0; sent < count; sent += batch) {
        for (int i = 0; i < batch; i++) {
            set_slot(i, (uint8_t)(sent + i), first_ns + (int64_t)(sent + i) * INTERVAL_NS);
        }
        sleep_until(first_ns + (int64_t)sent * INTERVAL_NS - lead_ns);
        sendmmsg(fd, messages, (unsigned)batch, 0);
        refused += count_refused(fd);
    }
    sleep_until(first_ns + (int64_t)count * INTERVAL_NS + SECOND_NS / 10);
    printf("%d\n", refused + count_refused(fd));
    return 0;
}
