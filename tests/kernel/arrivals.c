/*
 * Measures how AVTP packets arrive without taking part: it sleeps while the kernel stamps and keeps
 * them, and reads them when it gets a SIGTERM. For one stream with 8-bit sequence numbers.
 *
 * usage: arrivals INTERFACE. Prints NAME=VALUE lines: packets, gaps (places where the
 * sequence does not go on by one), mean_ns, stdev_ns, min_ns, p50_ns and max_ns of the intervals.
 */
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>

#include "base/hist.h"
#include "os/link_packet.h"

#define BUFFER_BYTES (32u << 20)
#define PACKET_BYTES 128
#define SEQUENCE_AT  16

static void read_all(struct tt_link *link, struct tt_hist *intervals, uint64_t *gaps)
{
    static uint8_t data[TT_LINK_BATCH][PACKET_BYTES];
    struct tt_link_packet packets[TT_LINK_BATCH];
    int64_t last_tai_ns = 0;
    uint8_t next = 0;
    uint64_t count = 0;
    int n;

    do {
        for (int i = 0; i < TT_LINK_BATCH; i++) {
            packets[i] = (struct tt_link_packet){.data = data[i], .bytes = PACKET_BYTES};
        }
        n = link->ops->receive(link, packets, TT_LINK_BATCH);
        for (int i = 0; i < n; i++, count++) {
            if (count > 0) {
                tt_hist_record(intervals, packets[i].time_tai_ns - last_tai_ns);
                *gaps += data[i][SEQUENCE_AT] != next;
            }
            last_tai_ns = packets[i].time_tai_ns;
            next = (uint8_t)(data[i][SEQUENCE_AT] + 1);
        }
    } while (n > 0);
    printf("packets=%" PRIu64 "\n", count);
}

int main(int argc, char **argv)
{
    struct tt_link_packet_setup setup = {.receive = true, .receive_buffer_bytes = BUFFER_BYTES};
    struct tt_link_packet_found found;
    struct tt_link *link;
    static struct tt_hist intervals;
    struct tt_summary s;
    uint64_t gaps = 0;
    sigset_t end;
    int got;

    if (argc != 2) {
        return 2;
    }
    sigemptyset(&end);
    sigaddset(&end, SIGTERM);
    sigprocmask(SIG_BLOCK, &end, NULL);
    setup.ifname = argv[1];
    if (tt_link_packet_new(&setup, &link, &found) < 0) {
        fprintf(stderr, "arrivals: cannot listen on %s\n", argv[1]);
        return 1;
    }
    puts("ready=1");
    fflush(stdout);
    sigwait(&end, &got);
    tt_hist_init(&intervals);
    read_all(link, &intervals, &gaps);
    tt_hist_summarize(&intervals, &s);
    printf("gaps=%" PRIu64 "\nmean_ns=%.0f\nstdev_ns=%.1f\nmin_ns=%" PRId64 "\np50_ns=%" PRId64
           "\nmax_ns=%" PRId64 "\n",
           gaps, s.mean, s.stdev, s.min, s.p50, s.max);
    tt_link_close(link);
    return 0;
}
