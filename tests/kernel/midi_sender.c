/*
 * For the MIDI tests of the lab: sends numbered messages to a port, with the times around each
 * sending, and finds them again in a recording.
 *
 * usage: midi_sender send PORT COUNT GAP_US SENT   opens, prints "ready", waits for a line, sends
 *        midi_sender check SENT RECORDING [PORT]   of a raw log (its port, or 0) or a SMF; prints
 *                                                  lost= inside= worst_us= min_us= max_us=
 *        midi_sender even COUNT GAP_US SENT        as if so many were sent, that far apart
 *        midi_sender sent LOG SENT                 as if what a raw log has of port 0 were sent
 *        midi_sender ticks LOG SMF                 holds that each tick is the stamp rounded
 *        midi_sender load SECONDS PRIORITY
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/ns.h"
#include "midi/log.h"
#include "midi/probe.h"
#include "midi/take.h"
#include "midi/tempo.h"
#include "os/clock.h"
#include "os/load.h"
#include "os/midi_port.h"

static int fail(const char *what)
{
    fprintf(stderr, "midi_sender: %s\n", what);
    return 1;
}

static int write_sent(const char *path, const struct tt_probe_sent *sent, size_t count)
{
    FILE *file = fopen(path, "wb");

    return file && fwrite(sent, sizeof(*sent), count, file) == count && fclose(file) == 0 ? 0 : -1;
}

static int write_even(char **argv)
{
    size_t count = strtoul(argv[0], NULL, 10);
    struct tt_probe_sent *sent = calloc(count, sizeof(*sent));

    if (!sent)
        return fail("out of memory");
    for (size_t i = 0; i < count; i++) {
        sent[i].before_ns = (int64_t)i * atoll(argv[1]) * TT_NS_PER_US;
        sent[i].after_ns = sent[i].before_ns;
    }
    if (write_sent(argv[2], sent, count) != 0)
        return fail("cannot write the times");
    free(sent);
    return 0;
}

static int send_one(struct tt_midi_port *port, size_t number, struct tt_probe_sent *sent)
{
    uint8_t message[TT_PROBE_MESSAGE];
    size_t bytes = tt_probe_message(number, false, message);
    int put;

    sent->before_ns = tt_midi_port_now_ns();
    put = port->ops->write(port, message, bytes, 0);
    sent->after_ns = tt_midi_port_now_ns();
    return put == (int)bytes ? 0 : -1;
}

static int send_all(char **argv)
{
    struct tt_midi_port_setup setup = {.name = argv[0], .output = true};
    size_t count = strtoul(argv[1], NULL, 10);
    int64_t gap_ns = atoll(argv[2]) * TT_NS_PER_US;
    struct tt_probe_sent *sent = calloc(count, sizeof(*sent));
    struct tt_clock *clock = tt_clock_system();
    struct tt_midi_port *port;
    char line[16];
    int64_t start_ns;

    if (!sent || tt_midi_port_open(&setup, &port) != 0)
        return fail("cannot open the port");
    puts("ready");
    fflush(stdout);
    (void)!fgets(line, sizeof(line), stdin);
    start_ns = tt_midi_port_now_ns();
    for (size_t i = 0; i < count; i++) {
        if (gap_ns > 0)
            clock->ops->sleep_until(clock, start_ns + (int64_t)i * gap_ns);
        if (send_one(port, i, &sent[i]) != 0)
            return fail("cannot send");
    }
    usleep(100000); /* a recorder that is late still has its source */
    tt_midi_port_close(port);
    if (write_sent(argv[3], sent, count) != 0)
        return fail("cannot write the times");
    free(sent);
    return 0;
}

/* The caller frees it. */
static uint8_t *read_file(const char *path, size_t *ret_bytes)
{
    FILE *file = fopen(path, "rb");
    uint8_t *data;
    long size;

    if (!file || fseek(file, 0, SEEK_END) != 0)
        return NULL;
    size = ftell(file);
    rewind(file);
    data = malloc((size_t)size + 1);
    *ret_bytes = fread(data, 1, (size_t)size, file);
    fclose(file);
    return data;
}

static void hear_log(struct tt_probe *probe, struct tt_midi_log *log, uint8_t port)
{
    uint8_t sysex[64];
    struct tt_midi_parser *parser = malloc(sizeof(*parser));
    enum tt_midi_frame_reason reason;
    struct tt_midi_frame frame;
    enum tt_midi_log_item item;
    size_t offset;

    tt_midi_parser_init(parser, sysex, sizeof(sysex));
    while ((item = tt_midi_log_next(log, &offset, &frame, &reason)) != TT_MIDI_LOG_DONE) {
        struct tt_midi_event event;
        size_t used;

        if (item != TT_MIDI_LOG_FRAME || frame.type != TT_MIDI_LOG_BYTES || frame.port != port)
            continue;
        for (size_t at = 0; tt_midi_parser_step(parser, frame.data + at, frame.length - at,
                                                frame.time_mono_ns, &used, &event);
             at += used)
            tt_probe_event(probe, &event);
    }
    free(parser);
}

static void hear_smf(struct tt_probe *probe, struct tt_smf *smf)
{
    struct tt_tempo *tempos = calloc(tt_tempo_count(smf, -1) + 1, sizeof(*tempos));
    struct tt_tempo_map map;
    struct tt_smf_item item;

    tt_tempo_map_init(&map, smf, -1, tempos);
    while (tt_smf_next(smf, &item)) {
        if (item.kind == TT_SMF_ITEM_EVENT && item.event.kind == TT_SMF_MESSAGE) {
            int64_t ns = tt_tempo_ns(&map, item.event.tick);
            struct tt_midi_event event = {
                .data = item.event.data, .bytes = item.event.bytes, .first_ns = ns, .last_ns = ns};

            tt_probe_event(probe, &event);
        }
    }
    free(tempos);
}

static int check(int argc, char **argv)
{
    size_t sent_bytes = 0;
    size_t bytes = 0;
    struct tt_probe_sent *sent = (struct tt_probe_sent *)read_file(argv[0], &sent_bytes);
    uint8_t *data = read_file(argv[1], &bytes);
    size_t count = sent_bytes / sizeof(*sent);
    int64_t *got_ns = calloc(count + 1, sizeof(*got_ns));
    int64_t *scratch_ns = calloc(count + 1, sizeof(*scratch_ns));
    struct tt_hist *errors = calloc(1, sizeof(*errors));
    struct tt_probe_result result;
    struct tt_probe probe;
    struct tt_midi_log log;
    struct tt_smf smf;

    if (!sent || !data || !got_ns || !scratch_ns || !errors)
        return fail("cannot read");
    tt_probe_init(&probe, sent, got_ns, count);
    if (tt_midi_log_open(&log, data, bytes) == TT_MIDI_LOG_OK)
        hear_log(&probe, &log, argc > 2 ? (uint8_t)atoi(argv[2]) : 0);
    else if (tt_smf_open(&smf, data, bytes) == TT_SMF_FINE)
        hear_smf(&probe, &smf);
    else
        return fail("neither a log nor a Standard MIDI File");
    tt_probe_finish(&probe, scratch_ns, errors, &result);
    printf("lost=%" PRIu64 " twice=%" PRIu64 " inside=%" PRIu64 " worst_us=%" PRId64
           " min_us=%" PRId64 " max_us=%" PRId64 "\n",
           result.lost, probe.duplicated, result.inside,
           errors->n > 1 ? result.worst_interval_ns / 1000 : -1, errors->min / 1000,
           errors->max / 1000);
    free(sent);
    free(data);
    free(got_ns);
    free(scratch_ns);
    free(errors);
    return 0;
}

static int write_heard(char **argv)
{
    struct tt_probe_sent *sent = calloc(TT_PROBE_NUMBERS, sizeof(*sent));
    int64_t *got_ns = calloc(TT_PROBE_NUMBERS, sizeof(*got_ns));
    size_t bytes = 0;
    uint8_t *data = read_file(argv[0], &bytes);
    struct tt_probe probe;
    struct tt_midi_log log;

    if (!sent || !got_ns || !data || tt_midi_log_open(&log, data, bytes) != TT_MIDI_LOG_OK)
        return fail("cannot read the log");
    tt_probe_init(&probe, sent, got_ns, TT_PROBE_NUMBERS);
    hear_log(&probe, &log, 0);
    for (size_t i = 0; i < probe.next; i++)
        sent[i] = (struct tt_probe_sent){.before_ns = got_ns[i], .after_ns = got_ns[i]};
    if (write_sent(argv[1], sent, probe.next) != 0)
        return fail("cannot write the times");
    free(sent);
    free(got_ns);
    free(data);
    return 0;
}

/* Each event of the log's port 0 against the file's second track, by a rounding of its own. */
static int ticks(char **argv)
{
    size_t log_bytes = 0;
    size_t smf_bytes = 0;
    uint8_t *log_data = read_file(argv[0], &log_bytes);
    uint8_t *smf_data = read_file(argv[1], &smf_bytes);
    enum tt_midi_frame_reason reason;
    struct tt_midi_frame frame;
    struct tt_smf_item item;
    struct tt_midi_log log;
    struct tt_smf smf;
    unsigned compared = 0;
    size_t offset;

    if (!log_data || !smf_data || tt_midi_log_open(&log, log_data, log_bytes) != TT_MIDI_LOG_OK ||
        tt_smf_open(&smf, smf_data, smf_bytes) != TT_SMF_FINE)
        return fail("cannot read");
    while (tt_smf_next(&smf, &item)) {
        int64_t off_ns;

        if (item.kind != TT_SMF_ITEM_EVENT || item.event.kind != TT_SMF_MESSAGE)
            continue;
        do {
            if (tt_midi_log_next(&log, &offset, &frame, &reason) != TT_MIDI_LOG_FRAME)
                return fail("the log ends before the file");
        } while (frame.type != TT_MIDI_LOG_BYTES);
        off_ns = (int64_t)item.event.tick * 20000 - (frame.time_mono_ns - log.header.mono_ns);
        if (off_ns > 10000 || off_ns <= -10000)
            return fail("a tick that is not the stamp rounded");
        compared++;
    }
    printf("%u\n", compared);
    return compared > 0 ? 0 : 1;
}

static int load_for(char **argv)
{
    struct tt_load_setup setup = {.kind = TT_LOAD_SCHEDULER, .priority = atoi(argv[1])};
    struct tt_load load;

    if (tt_load_start(&load, &setup) != 0)
        return fail("cannot start the load");
    sleep((unsigned)atoi(argv[0]));
    tt_load_stop(&load, NULL);
    return load.realtime ? 0 : 1;
}

int main(int argc, char **argv)
{
    if (argc == 6 && strcmp(argv[1], "send") == 0)
        return send_all(argv + 2);
    if (argc >= 4 && strcmp(argv[1], "check") == 0)
        return check(argc - 2, argv + 2);
    if (argc == 5 && strcmp(argv[1], "even") == 0)
        return write_even(argv + 2);
    if (argc == 4 && strcmp(argv[1], "sent") == 0)
        return write_heard(argv + 2);
    if (argc == 4 && strcmp(argv[1], "ticks") == 0)
        return ticks(argv + 2);
    if (argc == 4 && strcmp(argv[1], "load") == 0)
        return load_for(argv + 2);
    return fail("see the usage at the top of its source");
}
