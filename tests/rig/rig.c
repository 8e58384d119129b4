/*
 * The fault rig: packets of one interface go out of another, with faults by a script (rules.h).
 *
 * usage: rig [--script FILE] [--log FILE] IN OUT
 *        rig [--script FILE] [--log FILE] --replay CAPTURE [--restamp] OUT
 *
 * Passes on AVTP, in one direction and with its tags. --replay sends what a capture holds, at its
 * own times; with --restamp the presentation times of AAF move as the packets do. Standard output
 * is JSON Lines: {"ready": true}, and at SIGINT, SIGTERM or the capture's end the totals; --log has
 * a line for each packet that a rule was applied to. What it passes on at once leaves when it
 * wakes, at the latest POLL_NS after it came; delays are counted from its arrival. Exit codes as
 * those of tactus.
 */
#include <errno.h>
#include <getopt.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "audio/avtp.h"
#include "audio/eth.h"
#include "base/bytes.h"
#include "base/ns.h"
#include "cli/capture.h"
#include "cli/cmd.h"
#include "field.h"
#include "journal.h"
#include "os/clock.h"
#include "os/link_packet.h"
#include "queue.h"
#include "rules.h"

#define POLL_NS         (500 * TT_NS_PER_US)
#define FRAME_BYTES     2048
#define QUEUE_PACKETS   32768
#define RECEIVE_BYTES   (8 * 1024 * 1024)
#define SCRIPT_BYTES    (64 * 1024)
#define REPLAY_START_NS (50 * TT_NS_PER_MS)
#define PRIORITY        60 /* SCHED_FIFO, below the engines' */

struct rig {
    const char *script_path;
    const char *log_path;
    const char *replay_path;
    bool restamps;

    struct rig_rules rules;
    struct rig_queue queue;
    struct tt_link *in; /* NULL: a replay */
    struct tt_link *out;
    struct tt_capture capture;
    FILE *log;

    int64_t tai_minus_mono_ns;
    int64_t shift_ns; /* replay: from the capture's times to ours */
    bool is_started;
    bool is_through; /* the capture's end */
    bool has_next;   /* replay: this one is to be sent */
    struct tt_packet next;
    struct rig_totals totals;

    uint8_t frames[RIG_PACKETS_MAX][FRAME_BYTES]; /* of one step */
    struct rig_packet packets[RIG_PACKETS_MAX];
    uint8_t received[TT_LINK_BATCH][FRAME_BYTES];
};

static const char usage[] =
    "usage: rig [--script FILE] [--log FILE] IN OUT\n"
    "       rig [--script FILE] [--log FILE] --replay CAPTURE [--restamp] OUT\n";

static int read_script(struct rig *rig)
{
    static char text[SCRIPT_BYTES];
    struct rig_error error;
    FILE *file;
    size_t bytes;

    if (!rig->script_path) {
        return TT_EXIT_GOOD;
    }
    file = fopen(rig->script_path, "r");
    if (!file) {
        tt_cli_say("rig", "cannot read %s: %s", rig->script_path, strerror(errno));
        return TT_EXIT_USAGE;
    }
    bytes = fread(text, 1, sizeof text - 1, file);
    fclose(file);
    if (bytes == sizeof text - 1 || strlen(text) < bytes) {
        tt_cli_say("rig", "%s is no script: a text of up to %d bytes is", rig->script_path,
                   SCRIPT_BYTES - 2);
        return TT_EXIT_USAGE;
    }
    if (rig_rules_parse(text, &rig->rules, &error) < 0) {
        tt_cli_say("rig", "%s, line %u: %s", rig->script_path, error.line, error.text);
        return TT_EXIT_USAGE;
    }
    return TT_EXIT_GOOD;
}

static int open_link(const char *ifname, bool sends, struct tt_link **ret_link)
{
    struct tt_link_packet_setup setup = {
        .ifname = ifname,
        .priority = 3,
        .send = sends,
        .receive = !sends,
        .receive_buffer_bytes = RECEIVE_BYTES,
    };
    struct tt_link_packet_found found;
    int error = tt_link_packet_new(&setup, ret_link, &found);

    if (error < 0) {
        tt_cli_say("rig", "cannot %s %s: %s", sends ? "send to" : "receive from", ifname,
                   strerror(-error));
        return TT_EXIT_ENVIRONMENT;
    }
    return TT_EXIT_GOOD;
}

static int open_log(struct rig *rig)
{
    rig->log = rig->log_path ? fopen(rig->log_path, "w") : NULL;
    if (rig->log_path && !rig->log) {
        tt_cli_say("rig", "cannot write %s: %s", rig->log_path, strerror(errno));
        return TT_EXIT_USAGE;
    }
    return TT_EXIT_GOOD;
}

static int open_all(struct rig *rig, char **interfaces)
{
    int code = read_script(rig);

    if (code == TT_EXIT_GOOD) {
        code = open_log(rig);
    }
    if (code == TT_EXIT_GOOD) {
        code = rig->replay_path ? (int)tt_capture_open_file("rig", rig->replay_path, &rig->capture)
                                : open_link(interfaces[0], false, &rig->in);
    }
    if (code == TT_EXIT_GOOD) {
        code = open_link(interfaces[rig->replay_path ? 0 : 1], true, &rig->out);
    }
    if (code == TT_EXIT_GOOD && rig_queue_init(&rig->queue, QUEUE_PACKETS, FRAME_BYTES) < 0) {
        tt_cli_say("rig", "not enough memory");
        code = TT_EXIT_ENVIRONMENT;
    }
    return code;
}

static void close_all(struct rig *rig)
{
    rig_queue_done(&rig->queue);
    tt_link_close(rig->in);
    tt_link_close(rig->out);
    tt_capture_close(&rig->capture);
    if (rig->log && fclose(rig->log) != 0) {
        tt_cli_say("rig", "cannot write %s: %s", rig->log_path, strerror(errno));
    }
}

static int64_t now_tai(struct rig *rig)
{
    struct tt_clock_reading reading;

    tt_clock_system()->ops->read(tt_clock_system(), &reading);
    rig->tai_minus_mono_ns = reading.tai_ns - reading.mono_after_ns;
    return reading.tai_ns;
}

static void note_ends(struct rig *rig, const struct rig_packet *packet, uint64_t index,
                      int64_t arrival_ns)
{
    struct rig_seen seen;

    if (packet->is_copy || packet->is_dropped || !rig_seen_read(packet, index, arrival_ns, &seen) ||
        !seen.is_stamped) {
        return;
    }
    if (!rig->totals.first.is_stamped) {
        rig->totals.first = seen;
    }
    rig->totals.last = seen;
}

/* One packet, in packets[0], through the rules and into the queue. */
static void handle(struct rig *rig, int64_t arrival_ns)
{
    uint64_t index = rig->totals.packets++;
    size_t count = rig_step(&rig->rules, index, arrival_ns, rig->packets);

    rig_queue_arrive(&rig->queue, index, arrival_ns);
    for (size_t i = 0; i < count; i++) {
        note_ends(rig, &rig->packets[i], index, arrival_ns);
        if (rig->packets[i].is_dropped) {
            rig->totals.dropped++;
        } else {
            rig_queue_put(&rig->queue, &rig->packets[i], index, arrival_ns);
        }
    }
    if (rig->log) {
        rig_journal_packet(rig->log, &rig->rules, index, arrival_ns, rig->packets, count);
    }
}

static void copy_frame(struct rig *rig, const uint8_t *frame, size_t bytes)
{
    struct rig_packet *packet = &rig->packets[0];

    packet->bytes = bytes < packet->capacity ? bytes : packet->capacity;
    memcpy(packet->frame, frame, packet->bytes);
}

/* The kernel took the tag off. */
static void put_tag_back(struct rig *rig, const struct tt_link_packet *received)
{
    struct rig_packet *packet = &rig->packets[0];
    struct tt_eth eth;
    size_t rest;

    if (received->vlan_id < 0 || packet->bytes + TT_ETH_TAG_BYTES > packet->capacity ||
        tt_eth_parse(packet->frame, packet->bytes, &eth) < 0) {
        return;
    }
    rest = packet->bytes - eth.header_bytes;
    memmove(packet->frame + eth.header_bytes + TT_ETH_TAG_BYTES, packet->frame + eth.header_bytes,
            rest);
    eth.vlan_id = received->vlan_id;
    eth.pcp = received->pcp;
    packet->bytes = tt_eth_build(&eth, packet->frame) + rest;
}

static void receive(struct rig *rig)
{
    struct tt_link_packet batch[TT_LINK_BATCH];
    int n = TT_LINK_BATCH;

    while (n == TT_LINK_BATCH) {
        for (int i = 0; i < TT_LINK_BATCH; i++) {
            batch[i].data = rig->received[i];
            batch[i].bytes = sizeof rig->received[i];
        }
        n = rig->in->ops->receive(rig->in, batch, TT_LINK_BATCH);
        for (int i = 0; i < n; i++) {
            copy_frame(rig, batch[i].data, batch[i].bytes);
            put_tag_back(rig, &batch[i]);
            handle(rig, batch[i].time_tai_ns);
        }
    }
    rig->totals.receive_drops += rig->in->ops->receive_drops(rig->in);
}

static void restamp(struct rig *rig)
{
    struct rig_packet *packet = &rig->packets[0];
    struct tt_eth eth;
    uint8_t *stamp;

    if (tt_eth_parse(packet->frame, packet->bytes, &eth) < 0 ||
        packet->bytes < eth.header_bytes + RIG_FIELD_STAMP_BYTE + 4 ||
        packet->frame[eth.header_bytes] != TT_AVTP_SUBTYPE_AAF) {
        return;
    }
    stamp = packet->frame + eth.header_bytes + RIG_FIELD_STAMP_BYTE;
    tt_put_be32(stamp, tt_get_be32(stamp) + (uint32_t)rig->shift_ns);
}

static bool read_next(struct rig *rig)
{
    int found = tt_capture_next(&rig->capture, &rig->next);

    if (found < 0) {
        tt_cli_say("rig", "%s: %s", rig->replay_path, tt_capture_error(&rig->capture));
    }
    rig->has_next = found > 0;
    rig->is_through = !rig->has_next;
    return rig->has_next;
}

/* What of the capture is due by now. */
static void replay(struct rig *rig, int64_t now_ns)
{
    if (!rig->is_started) {
        rig->is_started = true;
        if (read_next(rig)) {
            rig->shift_ns = now_ns + REPLAY_START_NS - rig->next.arrival_utc_ns;
        }
    }
    while (rig->has_next && rig->next.arrival_utc_ns + rig->shift_ns <= now_ns) {
        copy_frame(rig, rig->next.frame, rig->next.bytes);
        if (rig->restamps) {
            restamp(rig);
        }
        handle(rig, rig->next.arrival_utc_ns + rig->shift_ns);
        read_next(rig);
    }
}

static void send_due(struct rig *rig, int64_t now_ns)
{
    struct tt_link_packet batch[TT_LINK_BATCH];
    int n = TT_LINK_BATCH;

    while (n == TT_LINK_BATCH) {
        const struct rig_entry *entry;
        int sent;

        for (n = 0; n < TT_LINK_BATCH && (entry = rig_queue_take(&rig->queue, now_ns)); n++) {
            batch[n] = (struct tt_link_packet){.data = entry->frame, .bytes = entry->bytes};
        }
        for (int done = 0; done < n; done += sent) {
            sent = rig->out->ops->send(rig->out, batch + done, n - done);
            if (sent <= 0) {
                rig->totals.refused++;
                sent = 1;
            } else {
                rig->totals.sent += (uint64_t)sent;
            }
        }
    }
}

static void wait_for_more(struct rig *rig, int64_t now_ns)
{
    int64_t next_ns = rig_queue_next_ns(&rig->queue);
    int64_t wake_ns = next_ns < now_ns + POLL_NS ? next_ns : now_ns + POLL_NS;

    tt_clock_system()->ops->sleep_until(tt_clock_system(), wake_ns - rig->tai_minus_mono_ns);
}

static void run(struct rig *rig)
{
    puts("{\"ready\": true}");
    fflush(stdout);
    while (!tt_cli_interrupted() && !(rig->is_through && rig->queue.count == 0)) {
        int64_t now_ns = now_tai(rig);

        if (rig->in) {
            receive(rig);
        } else {
            replay(rig, now_ns);
        }
        now_ns = now_tai(rig);
        send_due(rig, now_ns);
        wait_for_more(rig, now_ns);
    }
    rig->totals.overflowed = rig->queue.overflowed;
    rig_journal_end(stdout, &rig->rules, &rig->totals);
}

/* The number of interfaces is right, or the exit code says not. */
static int read_options(struct rig *rig, int argc, char **argv)
{
    static const struct option options[] = {
        {"script", required_argument, NULL, 's'},
        {"log", required_argument, NULL, 'l'},
        {"replay", required_argument, NULL, 'r'},
        {"restamp", no_argument, NULL, 'm'},
        {NULL, 0, NULL, 0},
    };
    int option;

    while ((option = getopt_long(argc, argv, "", options, NULL)) != -1) {
        if (option == 's') {
            rig->script_path = optarg;
        } else if (option == 'l') {
            rig->log_path = optarg;
        } else if (option == 'r') {
            rig->replay_path = optarg;
        } else if (option == 'm') {
            rig->restamps = true;
        } else {
            fputs(usage, stderr);
            return TT_EXIT_USAGE;
        }
    }
    if (argc - optind != (rig->replay_path ? 1 : 2) || (rig->restamps && !rig->replay_path)) {
        fputs(usage, stderr);
        return TT_EXIT_USAGE;
    }
    return TT_EXIT_GOOD;
}

int main(int argc, char **argv)
{
    static struct rig rig;
    struct sched_param priority = {.sched_priority = PRIORITY};
    int code = read_options(&rig, argc, argv);

    if (code != TT_EXIT_GOOD) {
        return code;
    }
    for (size_t i = 0; i < RIG_PACKETS_MAX; i++) {
        rig.packets[i] = (struct rig_packet){.frame = rig.frames[i], .capacity = FRAME_BYTES};
    }
    tt_cli_catch_interrupt();
    code = open_all(&rig, argv + optind);
    if (code == TT_EXIT_GOOD) {
        /* Where it is refused the packets leave later, which is counted where it matters. */
        sched_setscheduler(0, SCHED_FIFO, &priority);
        run(&rig);
    }
    close_all(&rig);
    return code;
}
