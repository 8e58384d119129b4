/*
 * When frames that `tactus gate shape --log` computed really came out: arrivals on an interface,
 * stamped by the kernel, held against the log's launch times. Frames go in order; one that arrives
 * belongs to the first in the log that is as long and was not due more than a cycle's time before.
 *
 * usage: departed INTERFACE LOG. Listens until SIGTERM, reads the log then, and prints NAME=VALUE
 * lines: logged, arrived, matched, and min_ns, p50_ns, p99_ns, max_ns of arrival - launch.
 */
#include <arpa/inet.h>
#include <inttypes.h>
#include <net/if.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

/* These need the ones above. */
#include <linux/if_ether.h>
#include <linux/if_packet.h>

#include "base/hist.h"
#include "base/ns.h"
#include "os/clock.h"

#define BUFFER_BYTES (64 << 20)
#define LATE_MAX_NS  (5 * TT_NS_PER_MS)

struct log {
    FILE *file;
    char line[256];
    uint64_t logged;
    int64_t launch_tai_ns;
    uint32_t bytes;
};

static int open_socket(const char *ifname)
{
    struct sockaddr_ll address = {.sll_family = AF_PACKET,
                                  .sll_protocol = htons(ETH_P_ALL),
                                  .sll_ifindex = (int)if_nametoindex(ifname)};
    int fd = socket(AF_PACKET, SOCK_RAW, 0);
    int size = BUFFER_BYTES;
    int on = 1;

    if (fd < 0 || setsockopt(fd, SOL_SOCKET, SO_RCVBUFFORCE, &size, sizeof(size)) < 0 ||
        setsockopt(fd, SOL_SOCKET, SO_TIMESTAMPNS, &on, sizeof(on)) < 0 ||
        bind(fd, (struct sockaddr *)&address, sizeof(address)) < 0) {
        return -1;
    }
    return fd;
}

/* The next frame that came in: its length and stamp (UTC). false: there is none. */
static bool take(int fd, uint32_t *ret_bytes, int64_t *ret_utc_ns)
{
    struct sockaddr_ll from;
    uint8_t data[64];
    struct iovec vector = {.iov_base = data, .iov_len = sizeof(data)};
    _Alignas(struct cmsghdr) uint8_t control[CMSG_SPACE(sizeof(struct timespec))];
    struct msghdr message;
    struct timespec stamp = {0};
    ssize_t n;

    do {
        message = (struct msghdr){.msg_name = &from,
                                  .msg_namelen = sizeof(from),
                                  .msg_iov = &vector,
                                  .msg_iovlen = 1,
                                  .msg_control = control,
                                  .msg_controllen = sizeof(control)};
        n = recvmsg(fd, &message, MSG_TRUNC | MSG_DONTWAIT);
        if (n < 0) {
            return false;
        }
    } while (from.sll_pkttype == PACKET_OUTGOING);
    for (struct cmsghdr *c = CMSG_FIRSTHDR(&message); c; c = CMSG_NXTHDR(&message, c)) {
        memcpy(&stamp, CMSG_DATA(c), sizeof(stamp));
    }
    *ret_bytes = (uint32_t)n;
    *ret_utc_ns = stamp.tv_sec * TT_NS_PER_S + stamp.tv_nsec;
    return true;
}

static bool next_launch(struct log *log)
{
    while (fgets(log->line, sizeof(log->line), log->file)) {
        if (sscanf(log->line, "frame %" SCNd64 " %*u %" SCNu32, &log->launch_tai_ns, &log->bytes) ==
            2) {
            log->logged++;
            return true;
        }
    }
    return false;
}

static void compare(int fd, struct log *log, int64_t tai_offset_ns)
{
    static struct tt_hist lateness;
    struct tt_summary s;
    uint64_t arrived = 0;
    uint32_t bytes;
    int64_t utc_ns;
    bool more = next_launch(log);

    tt_hist_init(&lateness);
    while (take(fd, &bytes, &utc_ns)) {
        int64_t tai_ns = utc_ns + tai_offset_ns;

        arrived++;
        while (more && (log->bytes != bytes || tai_ns - log->launch_tai_ns > LATE_MAX_NS)) {
            more = next_launch(log);
        }
        if (more) {
            tt_hist_record(&lateness, tai_ns - log->launch_tai_ns);
            more = next_launch(log);
        }
    }
    while (more) {
        more = next_launch(log);
    }
    tt_hist_summarize(&lateness, &s);
    printf("logged=%" PRIu64 "\narrived=%" PRIu64 "\nmatched=%" PRIu64 "\nmin_ns=%" PRId64
           "\np50_ns=%" PRId64 "\np99_ns=%" PRId64 "\nmax_ns=%" PRId64 "\n",
           log->logged, arrived, lateness.n, s.min, s.p50, s.p99, s.max);
}

int main(int argc, char **argv)
{
    struct log log = {0};
    int tai_offset_s = 0;
    sigset_t end;
    int fd;
    int got;

    if (argc != 3) {
        return 2;
    }
    sigemptyset(&end);
    sigaddset(&end, SIGTERM);
    sigprocmask(SIG_BLOCK, &end, NULL);
    fd = open_socket(argv[1]);
    if (fd < 0) {
        perror(argv[1]);
        return 1;
    }
    puts("ready=1");
    fflush(stdout);
    sigwait(&end, &got);
    log.file = fopen(argv[2], "re");
    if (!log.file) {
        perror(argv[2]);
        return 1;
    }
    tt_clock_tai_offset(&tai_offset_s);
    compare(fd, &log, tai_offset_s * TT_NS_PER_S);
    return fclose(log.file) == 0 ? 0 : 1;
}
