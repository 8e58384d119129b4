/*
 * See capture.h.
 */
#include "cli/capture.h"

#include <errno.h>
#include <inttypes.h>
#include <net/if.h>
#include <poll.h>
#include <stdio.h>
#include <stdio_ext.h>
#include <string.h>
#include <sys/stat.h>

#include "base/ns.h"
#include "cli/records.h"
#include "report/parts.h"
#include "report/plural.h"

/* AVTP, gPTP, MSRP and MVRP. After `vlan` a BPF filter looks behind a tag. */
#define PROTOCOLS         "(ether proto 0x22f0 or 0x88f7 or 0x22ea or 0x88f5)"
#define FILTER            PROTOCOLS " or (vlan and " PROTOCOLS ")"
#define FILE_BUFFER_BYTES (256 << 10)
#define BUFFER_BYTES      (64 << 20)          /* a stall of a second at 50 MB/s */
#define BATCH_MS          50                  /* the kernel hands packets over at least so often */
#define SECONDS_MAX       INT64_C(4000000000) /* the year 2096: a stamp beyond this is no time */

void tt_capture_close(struct tt_capture *capture)
{
    if (capture->pcap) {
        pcap_close(capture->pcap);
        capture->pcap = NULL;
    }
    tt_records_free(capture->records);
    capture->records = NULL;
}

static enum tt_exit check_ethernet(const char *command, const char *source, pcap_t *pcap)
{
    int type = pcap_datalink(pcap);
    const char *name = pcap_datalink_val_to_name(type);

    if (type == DLT_EN10MB) {
        return TT_EXIT_GOOD;
    }
    tt_cli_say(command,
               "%s has link type %s (%d), not Ethernet: AVTP cannot be read from it; capture on "
               "the Ethernet interface itself (not on \"any\")",
               source, name ? name : "unknown", type);
    return TT_EXIT_USAGE;
}

/* With a large buffer, and without a lock for each of libpcap's small reads: one thread reads. */
static pcap_t *open_offline(const char *path, char *error)
{
    FILE *file = fopen(path, "rbe");
    pcap_t *pcap;

    if (!file) {
        snprintf(error, PCAP_ERRBUF_SIZE, "%s: %s", path, strerror(errno));
        return NULL;
    }
    setvbuf(file, NULL, _IOFBF, FILE_BUFFER_BYTES);
    __fsetlocking(file, FSETLOCKING_BYCALLER);
    pcap = pcap_fopen_offline_with_tstamp_precision(file, PCAP_TSTAMP_PRECISION_NANO, error);
    if (!pcap) {
        fclose(file);
    }
    return pcap;
}

/* NULL: libpcap reads it all. */
static struct tt_records *open_records(pcap_t *pcap)
{
    int fd = fileno(pcap_file(pcap));
    struct stat status;

    return fstat(fd, &status) == 0 && S_ISREG(status.st_mode)
               ? tt_records_new(fd, (size_t)pcap_snapshot(pcap), ftello(pcap_file(pcap)))
               : NULL;
}

enum tt_exit tt_capture_open_file(const char *command, const char *path,
                                  struct tt_capture *ret_capture)
{
    char error[PCAP_ERRBUF_SIZE] = "";
    struct tt_capture capture;
    struct stat status;
    enum tt_exit code;
    pcap_t *pcap;

    if (stat(path, &status) == 0 && S_ISDIR(status.st_mode)) {
        tt_cli_say(command, "%s is a directory; give a capture file (pcap or pcapng)", path);
        return TT_EXIT_USAGE;
    }
    if (stat(path, &status) == 0 && S_ISREG(status.st_mode) && status.st_size == 0) {
        tt_cli_say(command, "%s is empty (0 bytes): the capture wrote nothing, not even a header",
                   path);
        return TT_EXIT_USAGE;
    }
    pcap = open_offline(path, error);
    if (!pcap) {
        tt_cli_say(command, "cannot read %s as a capture (pcap or pcapng): %s", path, error);
        return TT_EXIT_USAGE;
    }
    capture = (struct tt_capture){.pcap = pcap, .records = open_records(pcap)};
    code =
        tt_records_is_alone(capture.records) ? TT_EXIT_GOOD : check_ethernet(command, path, pcap);
    if (code != TT_EXIT_GOOD) {
        tt_capture_close(&capture);
        return code;
    }
    *ret_capture = capture;
    return TT_EXIT_GOOD;
}

static const char *live_remedy(int status)
{
    switch (status) {
    case PCAP_ERROR_PERM_DENIED:
    case PCAP_ERROR_PROMISC_PERM_DENIED:
        return "capturing needs CAP_NET_RAW: run as root, or capture with a tool that may and "
               "watch the file";
    case PCAP_ERROR_IFACE_NOT_UP:
        return "bring it up (ip link set dev NAME up)";
    case PCAP_ERROR_NO_SUCH_DEVICE:
        return "`ip link` lists the interfaces there are";
    default:
        return "see what the kernel says in `dmesg`";
    }
}

static enum tt_exit live_fail(const char *command, const char *ifname, pcap_t *pcap, int status)
{
    const char *text = pcap_statustostr(status);
    const char *detail = pcap_geterr(pcap);
    bool more = *detail && strcmp(detail, text) != 0;

    tt_cli_say(command, "cannot capture on %s: %s%s%s; %s", ifname, text, more ? ": " : "",
               more ? detail : "", live_remedy(status));
    return TT_EXIT_ENVIRONMENT;
}

static int activate(const struct tt_capture_live *live, struct tt_capture *capture)
{
    pcap_t *pcap = capture->pcap;
    int status;

    pcap_set_snaplen(pcap, live->snap_bytes);
    pcap_set_promisc(pcap, live->promiscuous);
    pcap_set_timeout(pcap, BATCH_MS);
    pcap_set_buffer_size(pcap, BUFFER_BYTES);
    capture->coarse = pcap_set_tstamp_precision(pcap, PCAP_TSTAMP_PRECISION_NANO) != 0;
    capture->hardware =
        live->hardware && pcap_set_tstamp_type(pcap, PCAP_TSTAMP_ADAPTER_UNSYNCED) == 0;
    status = pcap_activate(pcap);
    if (status == PCAP_WARNING_TSTAMP_TYPE_NOTSUP) {
        capture->hardware = false;
    }
    return status;
}

static enum tt_exit live_start(const char *command, const struct tt_capture_live *live,
                               struct tt_capture *capture)
{
    char error[PCAP_ERRBUF_SIZE] = "";
    struct bpf_program program;
    pcap_t *pcap;
    enum tt_exit code;
    int status = activate(live, capture);

    if (status < 0 && live->hardware) { /* that takes CAP_NET_ADMIN, and a driver that obeys */
        struct tt_capture_live by_kernel = *live;

        by_kernel.hardware = false;
        pcap_close(capture->pcap);
        capture->pcap = pcap_create(live->ifname, error);
        status = capture->pcap ? activate(&by_kernel, capture) : PCAP_ERROR;
    }
    pcap = capture->pcap;
    if (!pcap) {
        tt_cli_say(command, "cannot capture on %s: %s", live->ifname, error);
        return TT_EXIT_ENVIRONMENT;
    }
    if (status < 0) {
        return live_fail(command, live->ifname, pcap, status);
    }
    code = check_ethernet(command, live->ifname, pcap);
    if (code != TT_EXIT_GOOD) {
        return code;
    }
    if (pcap_setdirection(pcap, live->sent ? PCAP_D_OUT : PCAP_D_IN) != 0 ||
        pcap_setnonblock(pcap, 1, error) != 0 ||
        pcap_compile(pcap, &program, live->everything ? "" : FILTER, 1, PCAP_NETMASK_UNKNOWN) !=
            0) {
        return live_fail(command, live->ifname, pcap, PCAP_ERROR);
    }
    status = pcap_setfilter(pcap, &program);
    pcap_freecode(&program);
    return status == 0 ? TT_EXIT_GOOD : live_fail(command, live->ifname, pcap, PCAP_ERROR);
}

bool tt_capture_can_stamp(const char *ifname)
{
    char error[PCAP_ERRBUF_SIZE] = "";
    pcap_t *pcap = pcap_create(ifname, error);
    int *types = NULL;
    bool can = false;
    int n = pcap ? pcap_list_tstamp_types(pcap, &types) : 0;

    for (int i = 0; i < n; i++) {
        can = can || types[i] == PCAP_TSTAMP_ADAPTER_UNSYNCED;
    }
    if (n > 0) {
        pcap_free_tstamp_types(types);
    }
    if (pcap) {
        pcap_close(pcap);
    }
    return can;
}

enum tt_exit tt_capture_open_live(const char *command, const struct tt_capture_live *live,
                                  struct tt_capture *ret_capture)
{
    char error[PCAP_ERRBUF_SIZE] = "";
    struct tt_capture capture = {.pcap = pcap_create(live->ifname, error)};
    enum tt_exit code;

    if (!capture.pcap) {
        tt_cli_say(command, "cannot capture on %s: %s", live->ifname, error);
        return TT_EXIT_ENVIRONMENT;
    }
    code = live_start(command, live, &capture);
    if (code != TT_EXIT_GOOD) {
        tt_capture_close(&capture);
        return code;
    }
    *ret_capture = capture;
    return TT_EXIT_GOOD;
}

/* Whether it is a time; counted where it is none. */
static bool read_stamp(struct tt_capture *capture, const struct pcap_pkthdr *header,
                       int64_t *ret_arrival_ns)
{
    int64_t seconds = header->ts.tv_sec;
    int64_t fraction = header->ts.tv_usec; /* ns, unless coarse */

    fraction *= capture->coarse ? TT_NS_PER_US : 1;
    if (fraction < 0 || fraction >= TT_NS_PER_S) {
        capture->bad_fractions++;
        return false;
    }
    if (seconds < 0 || seconds > SECONDS_MAX) {
        capture->bad_seconds++;
        return false;
    }
    *ret_arrival_ns = seconds * TT_NS_PER_S + fraction;
    return true;
}

static int next_by_libpcap(struct tt_capture *capture, struct tt_packet *ret_packet)
{
    struct pcap_pkthdr *header;
    const u_char *frame;
    int status;

    do {
        status = pcap_next_ex(capture->pcap, &header, &frame);
        if (status == PCAP_ERROR_BREAK) {
            return 0;
        }
        if (status != 1) {
            return status < 0 ? -1 : 0;
        }
        ret_packet->untimed = !read_stamp(capture, header, &ret_packet->arrival_utc_ns);
    } while (ret_packet->untimed && !capture->untimed_too);
    ret_packet->frame = frame;
    ret_packet->bytes = header->caplen;
    /* A file can claim anything. */
    ret_packet->wire_bytes = header->len < header->caplen ? header->caplen : header->len;
    return 1;
}

/* What is no usual record. */
static int hand_over(struct tt_capture *capture, off_t offset, struct tt_packet *ret_packet)
{
    FILE *file = pcap_file(capture->pcap);
    int status;

    fseeko(file, offset, SEEK_SET);
    status = next_by_libpcap(capture, ret_packet);
    if (status != 1 || tt_records_resume(capture->records, ftello(file)) != 0) {
        tt_records_free(capture->records);
        capture->records = NULL;
    }
    return status;
}

static int next_packet(struct tt_capture *capture, struct tt_packet *ret_packet)
{
    struct tt_record record;
    off_t offset;
    int status;

    if (!capture->records) {
        return next_by_libpcap(capture, ret_packet);
    }
    status = tt_records_next(capture->records, &record, &offset);
    if (status < 0) {
        return tt_records_error(capture->records) ? -1 : 0;
    }
    if (status == 0) {
        return hand_over(capture, offset, ret_packet);
    }
    ret_packet->untimed = false;
    ret_packet->frame = record.frame;
    ret_packet->bytes = record.bytes;
    ret_packet->wire_bytes = record.wire_bytes < record.bytes ? record.bytes : record.wire_bytes;
    ret_packet->arrival_utc_ns = record.arrival_utc_ns;
    return 1;
}

static void tell_left_out(struct tt_capture *capture, uint64_t count, const char *why)
{
    if (count > 0) {
        tt_parts_add(capture->error, sizeof(capture->error), "%" PRIu64 " %s left out: %s", count,
                     tt_plural(count, "packet is", "packets are"), why);
    }
}

static void tell_others(struct tt_capture *capture)
{
    struct tt_records_left_out others = tt_records_left_out(capture->records);
    const char *name = pcap_datalink_val_to_name(others.link);
    char why[80];

    snprintf(why, sizeof(why), "not Ethernet, but link type %s (%d), which this capture has too",
             name ? name : "unknown", others.link);
    tell_left_out(capture, others.packets, why);
}

/* What is wrong with a file that has no more packets. */
static void tell_all(struct tt_capture *capture, int status)
{
    bool alone = tt_records_is_alone(capture->records);

    capture->error[0] = 0;
    if (status < 0) {
        tt_parts_add(capture->error, sizeof(capture->error), "%s",
                     alone ? tt_records_error(capture->records) : pcap_geterr(capture->pcap));
    }
    if (alone) {
        tell_others(capture);
    }
    tell_left_out(capture, capture->bad_fractions,
                  "no arrival time, for its fraction is a second or more");
    tell_left_out(capture, capture->bad_seconds, "no arrival time, but one beyond the year 2096");
}

int tt_capture_next(struct tt_capture *capture, struct tt_packet *ret_packet)
{
    int status = next_packet(capture, ret_packet);

    if (status == 1 && ret_packet->untimed) {
        ret_packet->arrival_utc_ns = capture->latest_utc_ns;
    } else if (status == 1) {
        capture->latest_utc_ns = ret_packet->arrival_utc_ns;
    }
    if (status == 1 || (status == 0 && !pcap_file(capture->pcap))) {
        return status;
    }
    tell_all(capture, status);
    return capture->error[0] ? -1 : status;
}

const char *tt_capture_error(const struct tt_capture *capture)
{
    return capture->error;
}

void tt_capture_wait(struct tt_capture *capture, int wait_ms)
{
    struct pollfd wait = {.fd = pcap_get_selectable_fd(capture->pcap), .events = POLLIN};

    poll(&wait, 1, wait_ms);
}

void tt_capture_list_interfaces(char *ret_text, size_t bytes)
{
    struct if_nameindex *names = if_nameindex();
    size_t at = 0;

    snprintf(ret_text, bytes, "none");
    for (size_t i = 0; names && names[i].if_index != 0 && at < bytes; i++) {
        at += (size_t)snprintf(ret_text + at, bytes - at, "%s%s", at > 0 ? ", " : "",
                               names[i].if_name);
    }
    if (names) {
        if_freenameindex(names);
    }
}
