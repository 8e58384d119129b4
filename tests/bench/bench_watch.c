/*
 * What `tactus watch` costs on a capture file: the time of the whole program beside that of a bare
 * libpcap loop over the same file, of one stream and of many, and its memory beside that for a
 * tenth of the file.
 *
 * Usage: bench_watch [--json] [PACKETS]
 */
#include <fcntl.h>
#include <pcap/pcap.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "audio/aaf.h"
#include "audio/eth.h"
#include "base/bytes.h"
#include "base/ns.h"
#include "base/random.h"
#include "bench.h"

enum { WHOLE, TENTH, MANY, FILES };

#define ROUNDS      9
#define STREAMS     16
#define PACKETS     1000000
#define CHANNELS    2
#define FRAMES      6
#define INTERVAL_NS 125000
#define JITTER_NS   2000
#define UTC_NS      INT64_C(1796025585000000000)
#define MARGIN_NS   (37 * TT_NS_PER_S + 2 * TT_NS_PER_MS)

/* PDU i of a class A stream whose arrivals jitter. */
static size_t make_frame(uint64_t stream_id, int64_t i, int64_t arrival_ns, uint8_t *frame)
{
    const struct tt_eth eth = {.dest = {0x91, 0xE0, 0xF0, 0, 0xFE, 1},
                               .src = {2, 0, 0, 0, 0, 1},
                               .vlan_id = 2,
                               .pcp = 3,
                               .ethertype = TT_ETHERTYPE_AVTP};
    const struct tt_aaf aaf = {.stream_id = stream_id,
                               .sequence = (uint8_t)i,
                               .tv = true,
                               .timestamp = (uint32_t)(arrival_ns + MARGIN_NS),
                               .format = TT_AAF_INT16,
                               .rate_hz = 48000,
                               .channels = CHANNELS,
                               .bit_depth = 16,
                               .frames = FRAMES};
    size_t at = tt_eth_build(&eth, frame);

    tt_aaf_build_header(&aaf, frame + at);
    at += TT_AAF_HEADER_BYTES;
    memset(frame + at, 0, FRAMES * CHANNELS * 2);
    return at + (size_t)FRAMES * CHANNELS * 2;
}

static bool make_capture(const char *path, int64_t packets, int64_t streams)
{
    static const uint32_t head[] = {0xA1B23C4D, 4 << 16 | 2, 0, 0, 65535, 1};
    FILE *out = fopen(path, "wb");
    uint64_t random = 1;
    uint8_t frame[128];

    if (!out) {
        return false;
    }
    fwrite(head, sizeof(head), 1, out);
    for (int64_t i = 0; i < packets; i++) {
        int64_t due_ns = UTC_NS + i * INTERVAL_NS / streams;
        int64_t arrival_ns = due_ns + (int64_t)(tt_random_next(&random) % JITTER_NS);
        size_t bytes = make_frame((uint64_t)(i % streams), i / streams, due_ns, frame);
        uint32_t record[] = {(uint32_t)(arrival_ns / TT_NS_PER_S),
                             (uint32_t)(arrival_ns % TT_NS_PER_S), (uint32_t)bytes,
                             (uint32_t)bytes};

        fwrite(record, sizeof(record), 1, out);
        fwrite(frame, bytes, 1, out);
    }
    return fclose(out) == 0;
}

/* In ms. */
static double bare_loop(const char *path)
{
    char error[PCAP_ERRBUF_SIZE];
    int64_t start_ns = bench_mono_ns();
    pcap_t *pcap = pcap_open_offline_with_tstamp_precision(path, PCAP_TSTAMP_PRECISION_NANO, error);
    struct pcap_pkthdr *header;
    const u_char *frame;
    uint64_t bytes = 0;

    if (!pcap) {
        fprintf(stderr, "bench_watch: %s\n", error);
        exit(1);
    }
    while (pcap_next_ex(pcap, &header, &frame) == 1) {
        bytes += header->caplen;
    }
    pcap_close(pcap);
    __asm__ volatile("" ::"r"(bytes));
    return (double)(bench_mono_ns() - start_ns) / 1e6;
}

/* In ms, from its start to its end; and its memory in KB. */
static double whole_program(const char *path, double *ret_kilobytes)
{
    int64_t start_ns = bench_mono_ns();
    struct rusage used;
    int status;
    pid_t pid = fork();

    if (pid == 0) {
        int null = open("/dev/null", O_WRONLY | O_CLOEXEC);

        dup2(null, STDOUT_FILENO);
        execl(TACTUS, "tactus", "watch", "--json", path, (char *)NULL);
        _exit(127);
    }
    if (pid < 0 || wait4(pid, &status, 0, &used) != pid || status != 0) {
        fprintf(stderr, "bench_watch: %s watch %s fails\n", TACTUS, path);
        exit(1);
    }
    *ret_kilobytes = (double)used.ru_maxrss;
    return (double)(bench_mono_ns() - start_ns) / 1e6;
}

static void measure(const char *path, struct bench_pair *times, double *ret_kilobytes)
{
    times->reference = bare_loop(path);
    times->ours = whole_program(path, ret_kilobytes);
}

int main(int argc, char **argv)
{
    const struct bench_row time_row = {.name = "a capture, read and judged",
                                       .unit = "ms",
                                       .reference = "a bare libpcap loop",
                                       .at_most = 1.5};
    const struct bench_row many_row = {
        .name = "of 16 streams", .unit = "ms", .reference = "a bare libpcap loop"};
    const struct bench_row memory_row = {.name = "memory for a capture",
                                         .unit = "KB",
                                         .reference = "for a tenth of it",
                                         .at_most = 1.1};
    char paths[FILES][32] = {"/tmp/bench-watch-XXXXXX", "/tmp/bench-watch-XXXXXX",
                             "/tmp/bench-watch-XXXXXX"};
    const int64_t streams[FILES] = {1, 1, STREAMS};
    struct bench_pair times[ROUNDS];
    struct bench_pair many[ROUNDS];
    struct bench_pair memory[ROUNDS];
    double unused;
    int64_t packets = PACKETS;
    bool held;

    for (int i = 1; i < argc; i++) {
        if (strcmp(argv[i], "--json") == 0) {
            bench_use_json();
        } else {
            packets = strtoll(argv[i], NULL, 10);
        }
    }
    for (int i = 0; i < FILES; i++) {
        close(mkstemp(paths[i]));
        if (packets < 10 ||
            !make_capture(paths[i], i == TENTH ? packets / 10 : packets, streams[i])) {
            fprintf(stderr, "bench_watch: a capture of %s packets cannot be made in /tmp\n",
                    argc > 1 ? argv[argc - 1] : "so many");
            return 1;
        }
        bare_loop(paths[i]); /* the file is in memory from here on */
    }
    for (int i = 0; i < ROUNDS; i++) {
        measure(paths[WHOLE], &times[i], &memory[i].ours);
        whole_program(paths[TENTH], &memory[i].reference);
        measure(paths[MANY], &many[i], &unused);
    }
    for (int i = 0; i < FILES; i++) {
        unlink(paths[i]);
    }
    held = bench_print(&time_row, times, ROUNDS);
    bench_print(&many_row, many, ROUNDS);
    return bench_print(&memory_row, memory, ROUNDS) && held ? 0 : 1;
}
