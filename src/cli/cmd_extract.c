/*
 * `tactus extract`: a stream's audio out of a capture, into a sound file.
 */
#include <argp.h>
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "audio/observer.h"
#include "cli/audio_file.h"
#include "cli/capture.h"
#include "cli/cmd.h"
#include "cli/extract.h"
#include "cli/extract_show.h"
#include "cli/raw.h"
#include "report/plural.h"

#define COMMAND     "tactus extract"
#define STREAMS_MAX 512       /* a histogram of 256 KB each */
#define LARGE_BYTES (1 << 30) /* of a capture whose audio may not fit plain WAV */

enum { OPTION_JSON = 256, OPTION_STREAM_ID, OPTION_RAW };

struct job {
    const char *capture_path;
    const char *output_path;
    bool any_stream; /* no --stream-id */
    uint64_t stream_id;
    bool raw;
    enum tt_pcm_format raw_format;
    bool json;
    struct tt_aaf shape; /* of the stream */
    char *broken;        /* why the capture cannot be read whole; NULL: it can */
};

static const struct argp_option options[] = {
    {"json", OPTION_JSON, NULL, 0, "Say what was found as JSON", 0},
    {"stream-id", OPTION_STREAM_ID, "ID", 0,
     "The stream, such as AA:BB:CC:DD:EE:FF:0001; needed where there are several", 0},
    {"raw", OPTION_RAW, "FORMAT", 0, "Bare samples instead of WAV, such as S24_LE", 0},
    {0},
};

static void parse_raw(struct job *job, const char *argument, struct argp_state *state)
{
    char formats[TT_RAW_FORMATS_TEXT];

    if (tt_pcm_format_parse(argument, &job->raw_format) != 0) {
        argp_error(state, "--raw %s: no such format; there are:%s", argument,
                   tt_raw_formats(formats));
    }
    job->raw = true;
}

static error_t parse_option(int key, char *argument, struct argp_state *state)
{
    struct job *job = state->input;

    switch (key) {
    case OPTION_JSON:
        job->json = true;
        return 0;
    case OPTION_STREAM_ID:
        job->any_stream = false;
        if (tt_stream_id_parse(argument, &job->stream_id) != 0) {
            argp_error(state,
                       "--stream-id %s: give a MAC address and four hex digits, such as "
                       "AA:BB:CC:DD:EE:FF:0001",
                       argument);
        }
        return 0;
    case OPTION_RAW:
        parse_raw(job, argument, state);
        return 0;
    default:
        return tt_cli_arguments(key, argument, state,
                                (const char **const[]){&job->capture_path, &job->output_path}, 2,
                                "a capture and the file to write");
    }
}

static const struct argp parser = {
    .options = options,
    .parser = parse_option,
    .args_doc = "CAPTURE OUT.wav",
    .doc = "Recover the audio of an AAF stream from a capture (pcap, pcapng), bit for bit. The "
           "output begins with the stream's first frame and ends with its last; what is missing is "
           "silence of its exact length, and is listed."
           "\v"
           "Example:\n"
           "  tactus extract recording.pcapng audio.wav --stream-id AA:BB:CC:DD:EE:FF:0001\n\n"
           "Exit: 0 all frames are there, 1 some are missing or do not continue, 2 wrong usage or "
           "no such stream, 3 the output cannot be written, 4 the capture is damaged, or holds no "
           "valid stamps or no whole packets."};

/* Calls `take` for each packet. Remembers why it cannot be read whole. */
static int each_packet(struct job *job, void (*take)(void *context, const struct tt_packet *packet),
                       void *context)
{
    struct tt_capture capture;
    struct tt_packet packet;
    int code = tt_capture_open_file(COMMAND, job->capture_path, &capture);
    int status;

    if (code != TT_EXIT_GOOD) {
        return code;
    }
    while ((status = tt_capture_next(&capture, &packet)) == 1) {
        take(context, &packet);
    }
    if (status < 0 && !job->broken) {
        job->broken = strdup(tt_capture_error(&capture));
    }
    tt_capture_close(&capture);
    return TT_EXIT_GOOD;
}

struct look {
    struct tt_observer observer;
    bool any_stream;
    uint64_t stream_id;
};

static bool has_stream_id(const struct tt_packet *packet, uint64_t stream_id)
{
    struct tt_eth eth;
    struct tt_avtp avtp;

    return tt_eth_parse(packet->frame, packet->bytes, &eth) == 0 &&
           eth.ethertype == TT_ETHERTYPE_AVTP &&
           tt_avtp_parse(packet->frame + eth.header_bytes, packet->bytes - eth.header_bytes,
                         &avtp) == 0 &&
           avtp.stream_id == stream_id;
}

static void take_look(void *context, const struct tt_packet *packet)
{
    struct look *look = context;

    if (look->any_stream || has_stream_id(packet, look->stream_id)) {
        tt_observer_packet(&look->observer, packet->frame, packet->bytes, packet->wire_bytes,
                           packet->arrival_utc_ns);
    }
}

static void take_extract(void *context, const struct tt_packet *packet)
{
    struct tt_eth eth;

    if (tt_eth_parse(packet->frame, packet->bytes, &eth) == 0) {
        tt_extract_packet(context, &eth, packet);
    }
}

static bool is_candidate(const struct job *job, const struct tt_observed *o)
{
    return o->known && o->avtp.subtype == TT_AVTP_SUBTYPE_AAF &&
           (job->any_stream || o->avtp.stream_id == job->stream_id);
}

static void list_streams(const struct tt_observer *observer)
{
    char id[TT_STREAM_ID_TEXT];
    char src[TT_MAC_TEXT];

    for (size_t i = 0; i < observer->count; i++) {
        const struct tt_observed *o = observer->streams[i];

        if (o->known && o->avtp.subtype == TT_AVTP_SUBTYPE_AAF) {
            fprintf(stderr, "  %s from %s: %s, %u Hz, %u %s, %" PRIu64 " %s\n",
                    tt_stream_id_format(o->avtp.stream_id, id), tt_mac_format(o->eth.src, src),
                    tt_aaf_format_name(o->aaf.format), o->aaf.rate_hz, o->aaf.channels,
                    tt_plural(o->aaf.channels, "channel", "channels"), o->pdus,
                    tt_plural(o->pdus, "PDU", "PDUs"));
        }
    }
    if (observer->beyond > 0) {
        fprintf(stderr, "  and more: %" PRIu64 " %s of streams beyond the first %zu\n",
                observer->beyond, tt_plural(observer->beyond, "packet is", "packets are"),
                observer->capacity);
    }
}

/* Anew, without the choice. */
static int list_all(struct job *job)
{
    struct look look = {.any_stream = true};
    int code;

    if (tt_observer_init(&look.observer, STREAMS_MAX) != 0) {
        tt_cli_say(COMMAND, "out of memory");
        return TT_EXIT_ENVIRONMENT;
    }
    code = each_packet(job, take_look, &look);
    if (code == TT_EXIT_GOOD) {
        list_streams(&look.observer);
        code = TT_EXIT_USAGE;
    }
    tt_observer_done(&look.observer);
    return code;
}

static int choose_stream(struct job *job, const struct tt_observer *observer)
{
    const struct tt_observed *chosen = NULL;
    bool several = false;
    char id[TT_STREAM_ID_TEXT];

    for (size_t i = 0; i < observer->count; i++) {
        const struct tt_observed *o = observer->streams[i];

        if (is_candidate(job, o)) {
            several = several || (chosen && chosen->avtp.stream_id != o->avtp.stream_id);
            chosen = chosen ? chosen : o;
        }
    }
    if (several) {
        tt_cli_say(COMMAND, "%s holds several audio streams; choose one with --stream-id:",
                   job->capture_path);
        list_streams(observer);
        return TT_EXIT_USAGE;
    }
    if (!chosen && job->any_stream) {
        tt_cli_say(COMMAND,
                   "%s holds no AAF audio stream (%" PRIu64 " %s read); `tactus watch` shows "
                   "what is in it",
                   job->capture_path, observer->packets,
                   tt_plural(observer->packets, "packet", "packets"));
        return TT_EXIT_USAGE;
    }
    if (!chosen) {
        tt_cli_say(COMMAND, "%s holds no AAF audio stream %s; it holds:", job->capture_path,
                   tt_stream_id_format(job->stream_id, id));
        return list_all(job);
    }
    job->shape = chosen->aaf;
    return TT_EXIT_GOOD;
}

static int find_stream(struct job *job)
{
    struct look look = {.any_stream = job->any_stream, .stream_id = job->stream_id};
    int code;

    if (tt_observer_init(&look.observer, STREAMS_MAX) != 0) {
        tt_cli_say(COMMAND, "out of memory");
        return TT_EXIT_ENVIRONMENT;
    }
    code = each_packet(job, take_look, &look);
    if (code == TT_EXIT_GOOD) {
        code = choose_stream(job, &look.observer);
    }
    tt_observer_done(&look.observer);
    return code;
}

static int check_output(const struct job *job)
{
    if (strcmp(job->output_path, "-") == 0) {
        tt_cli_say(COMMAND,
                   "- would be standard output, which has the report; give a file to write");
        return TT_EXIT_USAGE;
    }
    if (tt_cli_same_file(job->capture_path, job->output_path)) {
        tt_cli_say(COMMAND, "%s and %s are the same file; give another one to write",
                   job->capture_path, job->output_path);
        return TT_EXIT_USAGE;
    }
    return tt_cli_check_not_stdout(COMMAND, job->output_path);
}

static int check_raw(const struct job *job)
{
    char names[200] = "";

    if (!job->raw || tt_pcm_wire_format(job->raw_format) == job->shape.format) {
        return TT_EXIT_GOOD;
    }
    for (int i = 0; i < TT_PCM_FORMATS; i++) {
        size_t at = strlen(names);

        if (tt_pcm_wire_format((enum tt_pcm_format)i) == job->shape.format) {
            snprintf(names + at, sizeof(names) - at, " %s",
                     tt_pcm_format_name((enum tt_pcm_format)i));
        }
    }
    tt_cli_say(COMMAND,
               "--raw %s: the stream is %s and samples are never converted to another width; these "
               "would do:%s",
               tt_pcm_format_name(job->raw_format), tt_aaf_format_name(job->shape.format), names);
    return TT_EXIT_USAGE;
}

/* Nothing could be recovered: why. */
static int fail_nothing(const struct job *job, const struct tt_extract *extract)
{
    if (extract->cut_pdus > 0) {
        tt_cli_say(COMMAND,
                   "%s was captured with a snap length: %" PRIu64 " %s no audio; capture whole "
                   "packets (tcpdump -s 0)",
                   job->capture_path, extract->cut_pdus,
                   tt_plural(extract->cut_pdus, "PDU has", "PDUs have"));
    } else if (extract->state == TT_EXTRACT_WAITING) {
        tt_cli_say(COMMAND, "no PDU of the stream has a valid presentation time: where its frames "
                            "belong cannot be told");
    } else {
        tt_cli_say(COMMAND, "no frame of the stream could be placed");
    }
    return TT_EXIT_INCONCLUSIVE;
}

static int conclude(const struct job *job, const struct tt_extract *extract)
{
    const struct tt_extract_view view = {
        .source = job->capture_path,
        .output = job->output_path,
        .shape = &job->shape,
        .error = job->broken,
        .extract = extract,
    };

    if (extract->state == TT_EXTRACT_FAILED) {
        tt_cli_say(COMMAND, "cannot write to %s: %s", job->output_path, strerror(-extract->error));
        return TT_EXIT_ENVIRONMENT;
    }
    if (!extract->any) {
        return fail_nothing(job, extract);
    }
    if (job->json) {
        if (tt_extract_print_json(&view, stdout) != 0) {
            tt_cli_say(COMMAND, "cannot write the figures");
        }
    } else {
        tt_extract_print(&view, stdout);
    }
    if (extract->state == TT_EXTRACT_PAUSE) {
        tt_cli_say(COMMAND, "the stream pauses for more than an hour: the output ends there");
        return TT_EXIT_INCONCLUSIVE;
    }
    if (job->broken) {
        tt_cli_say(COMMAND, "%s cannot be read whole: %s; the output holds what could",
                   job->capture_path, job->broken);
        return TT_EXIT_INCONCLUSIVE;
    }
    return tt_extract_missing_frames(extract) > 0 || extract->listener->counters.resyncs > 0
               ? TT_EXIT_NEGATIVE
               : TT_EXIT_GOOD;
}

static int run_extract(struct job *job, struct tt_audio_file *file)
{
    struct tt_extract *extract = malloc(sizeof(*extract));
    int code;

    if (!extract || tt_extract_init(extract, &job->shape, file) != 0) {
        tt_cli_say(COMMAND, "out of memory");
        free(extract);
        return TT_EXIT_ENVIRONMENT;
    }
    code = each_packet(job, take_extract, extract);
    if (code == TT_EXIT_GOOD) {
        tt_extract_finish(extract);
        code = conclude(job, extract);
    }
    tt_extract_done(extract);
    free(extract);
    return code;
}

static int extract_run(struct job *job)
{
    struct tt_audio_file file;
    struct stat status;
    int code = check_output(job);
    int error;

    if (code == TT_EXIT_GOOD) {
        code = find_stream(job);
    }
    if (code == TT_EXIT_GOOD) {
        code = check_raw(job);
    }
    if (code != TT_EXIT_GOOD) {
        return code;
    }
    struct tt_audio_file_setup setup = {
        .path = job->output_path,
        .format = job->raw ? job->raw_format : tt_audio_file_wav_format(job->shape.format),
        .raw = job->raw,
        .large = stat(job->capture_path, &status) == 0 && status.st_size > LARGE_BYTES,
        .rate_hz = job->shape.rate_hz,
        .channels = job->shape.channels,
    };
    if (tt_audio_file_init(&setup, &file) != 0) {
        tt_cli_say(COMMAND, "out of memory");
        return TT_EXIT_ENVIRONMENT;
    }
    code = run_extract(job, &file);
    error = tt_audio_file_close(&file);
    if (error) {
        tt_cli_say(COMMAND, "cannot finish %s: %s", job->output_path, strerror(-error));
        return TT_EXIT_ENVIRONMENT;
    }
    return code;
}

int tt_cmd_extract(int argc, char **argv)
{
    struct job job = {.any_stream = true};
    int code;

    if (argp_parse(&parser, argc, argv, 0, NULL, &job) != 0) {
        return TT_EXIT_USAGE;
    }
    code = extract_run(&job);
    free(job.broken);
    return code;
}
