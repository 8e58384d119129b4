/*
 * See midi_convert.h.
 */
#include "cli/midi_convert.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/min_max.h"
#include "base/ns.h"
#include "cli/midi_file.h"
#include "midi/take.h"

#define SYSEX_BYTES (1 << 20) /* a longer message is written in pieces */

/* A port's way through all files: running status and unfinished messages go on. */
struct track {
    struct tt_midi_take take;
    uint8_t *sysex;
    struct tt_midi_parser ahead; /* in search of a silence */
    uint8_t ahead_sysex[TT_MIDI_SYSEX_MINIMUM];
};

struct job {
    const struct tt_midi_convert *convert;
    struct track *tracks[TT_MIDI_LOG_PORTS]; /* NULL: no such port */
    unsigned files;
    uint64_t events;

    FILE *file;
    struct tt_smf_track smf;
    int error;
};

/* The frames of one file. */
struct range {
    size_t from;
    size_t to;
    int64_t start_mono_ns;
    int64_t end_mono_ns;
};

static void put(struct job *job, const void *data, size_t n)
{
    if (!job->error && job->convert->stoppable && tt_cli_interrupted()) {
        job->error = -EINTR;
    }
    if (!job->error && n > 0 && fwrite(data, 1, n, job->file) != n) {
        job->error = errno ? -errno : -EIO;
    }
}

static void put_event(struct job *job, const struct tt_smf_event *event)
{
    uint8_t head[TT_SMF_HEAD_BYTES];
    size_t n;
    int status;

    do {
        status = tt_smf_event_write(&job->smf, event, head, &n);
        if (status < 0) {
            job->error = status;
            return;
        }
        put(job, head, n);
    } while (status == 1 && !job->error);
    put(job, event->data, event->bytes);
}

static void put_text(struct job *job, uint8_t type, const char *text)
{
    put_event(job, &(struct tt_smf_event){.kind = TT_SMF_META,
                                          .type = type,
                                          .tick = job->smf.tick,
                                          .data = (const uint8_t *)text,
                                          .bytes = strlen(text)});
}

static long begin_track(struct job *job)
{
    static const uint8_t room[TT_SMF_CHUNK_BYTES];
    long at = ftell(job->file);

    job->smf = (struct tt_smf_track){0};
    put(job, room, sizeof(room));
    return at;
}

static void end_track(struct job *job, long at, uint64_t tick)
{
    struct tt_smf_event end = {.kind = TT_SMF_META, .type = TT_SMF_META_END, .tick = job->smf.tick};
    uint8_t head[TT_SMF_CHUNK_BYTES];

    end.tick = tick > job->smf.tick ? tick : job->smf.tick;
    put_event(job, &end);
    if (!job->error) {
        job->error = tt_smf_chunk_write(job->smf.bytes, head);
    }
    if (!job->error && fseek(job->file, at, SEEK_SET) != 0) {
        job->error = -errno;
    }
    put(job, head, sizeof(head));
    if (!job->error && fseek(job->file, 0, SEEK_END) != 0) {
        job->error = -errno;
    }
}

static uint64_t end_tick(const struct range *range)
{
    return range->end_mono_ns > range->start_mono_ns
               ? tt_smf_tick_of(range->end_mono_ns - range->start_mono_ns)
               : 0;
}

/* When it was, in UTC, by the anchor in the header. */
static void put_first_track(struct job *job, const struct range *range)
{
    const struct tt_midi_log_header *header = &job->convert->log->header;
    int64_t utc_ns = header->clock.utc_ns + range->start_mono_ns - header->mono_ns;
    time_t seconds = (time_t)tt_floor_div(utc_ns, TT_NS_PER_S);
    static const uint8_t tempo[] = {0x07, 0xA1, 0x20}; /* 500000 us a quarter */
    long at = begin_track(job);
    struct tm broken;
    char text[128];
    size_t n;

    put_event(job, &(struct tt_smf_event){
                       .kind = TT_SMF_META, .type = TT_SMF_META_TEMPO, .data = tempo, .bytes = 3});
    n = strftime(text, sizeof(text), "recorded from %FT%T", gmtime_r(&seconds, &broken));
    snprintf(text + n, sizeof(text) - n,
             ".%09" PRId64 "Z; a tick is 20 us; CLOCK_MONOTONIC at the start: %" PRId64 " ns",
             utc_ns - (int64_t)seconds * TT_NS_PER_S, range->start_mono_ns);
    put_text(job, TT_SMF_META_TEXT, text);
    end_track(job, at, end_tick(range));
}

static void put_taken(struct job *job, struct tt_midi_take *take)
{
    struct tt_smf_event event;
    int64_t mono_ns;

    while (!job->error && tt_midi_take_next(take, &event, &mono_ns)) {
        put_event(job, &event);
        job->events += event.kind != TT_SMF_META;
    }
}

static void put_port(struct job *job, unsigned port, const struct range *range)
{
    const struct tt_midi_port_survey *survey = &job->convert->survey->ports[port];
    struct tt_midi_take *take = &job->tracks[port]->take;
    struct tt_midi_log *log = job->convert->log;
    enum tt_midi_frame_reason reason;
    struct tt_midi_frame frame;
    long at = begin_track(job);
    char text[64];
    size_t offset;

    snprintf(text, sizeof(text), "port %u", port);
    put_text(job, TT_SMF_META_NAME, survey->name[0] ? survey->name : text);
    snprintf(text, sizeof(text), "stamps: %s",
             survey->stamp_known ? tt_midi_stamp_name(survey->stamp) : "unknown");
    put_text(job, TT_SMF_META_TEXT, text);
    tt_midi_take_start(take, range->start_mono_ns);
    log->at = range->from;
    while (log->at < range->to && !job->error) {
        if (tt_midi_log_next(log, &offset, &frame, &reason) == TT_MIDI_LOG_FRAME &&
            frame.port == port &&
            tt_midi_survey_judge(job->convert->survey, log, offset, &frame) == TT_MIDI_FRAME_OK) {
            tt_midi_take_frame(take, &frame);
            put_taken(job, take);
        }
    }
    if (range->to == log->bytes) {
        tt_midi_take_finish(take);
        put_taken(job, take);
    }
    end_track(job, at, end_tick(range));
}

static void put_file(struct job *job, const struct range *range)
{
    uint8_t header[TT_SMF_HEADER_BYTES];

    tt_smf_header_write(1, 1 + job->convert->survey->port_count, TT_SMF_PPQ, header);
    put(job, header, sizeof(header));
    put_first_track(job, range);
    for (unsigned port = 0; port < TT_MIDI_LOG_PORTS; port++) {
        if (job->tracks[port]) {
            put_port(job, port, range);
        }
    }
}

/* Of a file, from 1; of OUT.mid, split, OUT-01.mid. The caller frees it; NULL: no memory. */
static char *numbered_path(const char *path, bool split, unsigned number)
{
    const char *slash = strrchr(path, '/');
    const char *dot = strrchr(slash ? slash : path, '.');
    int stem = dot ? (int)(dot - path) : (int)strlen(path);
    char *made = NULL;

    if (!split) {
        return strdup(path);
    }
    return asprintf(&made, "%.*s-%02u%s", stem, path, number, dot ? dot : "") < 0 ? NULL : made;
}

static char *path_of(const struct job *job)
{
    return numbered_path(job->convert->path, job->convert->split_ns > 0, job->files + 1);
}

/* Never over a file that is there. 0 or -errno. */
static int give_name(const char *temporary, const char *path)
{
    if (renameat2(AT_FDCWD, temporary, AT_FDCWD, path, RENAME_NOREPLACE) == 0) {
        return 0;
    }
    if (errno != EINVAL && errno != ENOSYS) {
        return -errno;
    }
    /* A file system without that. */
    if (link(temporary, path) != 0) {
        return -errno;
    }
    unlink(temporary);
    return 0;
}

/* In the folder of `path`, and short: whoever gives the longest name that there can be has it. The
 * caller frees it; NULL: no memory. */
static char *temporary_path(const char *path)
{
    const char *slash = strrchr(path, '/');
    char *made = NULL;

    return asprintf(&made, "%.*s.tactus-%ld.tmp", slash ? (int)(slash - path) + 1 : 0, path,
                    (long)getpid()) < 0
               ? NULL
               : made;
}

static void write_file(struct job *job, const char *path, const struct range *range)
{
    char *temporary = temporary_path(path);

    if (!temporary) {
        job->error = -ENOMEM;
        return;
    }
    job->file = fopen(temporary, "we");
    if (!job->file) {
        job->error = -errno;
        free(temporary);
        return;
    }
    put_file(job, range);
    if (!job->error && (fflush(job->file) != 0 || fsync(fileno(job->file)) != 0)) {
        job->error = -errno;
    }
    if (fclose(job->file) != 0 && !job->error) {
        job->error = -errno;
    }
    if (!job->error) {
        job->error = give_name(temporary, path);
    }
    if (job->error) {
        unlink(temporary);
    }
    free(temporary);
}

static enum tt_exit say_error(const char *command, const char *path, int error)
{
    switch (-error) {
    case EEXIST:
        tt_cli_say(command, "%s is there already; a recording is never written over", path);
        break;
    case ENOENT:
        tt_cli_say(command, "cannot write %s: the folder is not there; make it first", path);
        break;
    case EINTR:
        tt_cli_say(command, "interrupted; %s was not written", path);
        return TT_EXIT_INCONCLUSIVE;
    case EFBIG:
        tt_cli_say(command,
                   "cannot write %s: a track of a Standard MIDI File holds 4 GB at most; --split "
                   "makes several",
                   path);
        break;
    default:
        tt_cli_say(command, "cannot write %s: %s", path, strerror(-error));
    }
    return tt_midi_file_exit(error);
}

static enum tt_exit convert_range(struct job *job, const struct range *range)
{
    char *path = path_of(job);
    enum tt_exit code = TT_EXIT_GOOD;

    if (!path) {
        tt_cli_say(job->convert->command, "out of memory");
        return TT_EXIT_ENVIRONMENT;
    }
    write_file(job, path, range);
    if (job->error) {
        code = say_error(job->convert->command, path, job->error);
    }
    free(path);
    job->files += job->error == 0;
    return code;
}

/* As if it were written: only its name is looked at. */
static enum tt_exit check_name(struct job *job, const struct range *range)
{
    char *path = path_of(job);
    struct stat status;
    enum tt_exit code = TT_EXIT_GOOD;

    (void)range;
    if (path && lstat(path, &status) == 0) {
        code = say_error(job->convert->command, path, -EEXIST);
    }
    free(path);
    job->files++;
    return code;
}

static void begin_search(struct job *job)
{
    for (unsigned port = 0; port < TT_MIDI_LOG_PORTS; port++) {
        struct track *track = job->tracks[port];

        if (track) {
            tt_midi_parser_init(&track->ahead, track->ahead_sysex, sizeof(track->ahead_sysex));
        }
    }
}

static void search(struct track *track, const struct tt_midi_frame *frame)
{
    struct tt_midi_event event;
    size_t used = 0;

    for (size_t at = 0; track && at < frame->length; at += used) {
        tt_midi_parser_step(&track->ahead, frame->data + at, frame->length - at,
                            frame->time_mono_ns, &used, &event);
    }
}

static bool any_unfinished(const struct job *job)
{
    for (unsigned port = 0; port < TT_MIDI_LOG_PORTS; port++) {
        if (job->tracks[port] && job->tracks[port]->ahead.state != TT_MIDI_IDLE) {
            return true;
        }
    }
    return false;
}

/* The next file's frames: up to a silence that is long enough, and in no message: that belongs
 * where its first byte is. `range->to` is where it begins. False: there are no more bytes. */
static bool next_range(struct job *job, struct range *range)
{
    const struct tt_midi_convert *convert = job->convert;
    struct tt_midi_log *log = convert->log;
    enum tt_midi_frame_reason reason;
    struct tt_midi_frame frame;
    enum tt_midi_log_item item;
    bool any = false;
    size_t offset;

    range->from = range->to;
    log->at = range->from;
    while ((item = tt_midi_log_next(log, &offset, &frame, &reason)) != TT_MIDI_LOG_DONE) {
        if (item != TT_MIDI_LOG_FRAME || frame.type != TT_MIDI_LOG_BYTES ||
            tt_midi_survey_judge(convert->survey, log, offset, &frame) != TT_MIDI_FRAME_OK) {
            continue;
        }
        if (any && frame.time_mono_ns - range->end_mono_ns >= convert->split_ns &&
            !any_unfinished(job)) {
            range->to = offset;
            return true;
        }
        search(job->tracks[frame.port], &frame);
        if (!any) {
            range->start_mono_ns = frame.time_mono_ns;
            range->end_mono_ns = frame.time_mono_ns;
        }
        range->end_mono_ns = tt_max64(range->end_mono_ns, frame.time_mono_ns);
        any = true;
    }
    range->to = log->bytes;
    return any;
}

static enum tt_exit each_range(struct job *job,
                               enum tt_exit (*take)(struct job *job, const struct range *range))
{
    const struct tt_midi_convert *convert = job->convert;
    struct range range = {.start_mono_ns = tt_max64(0, convert->log->header.mono_ns),
                          .end_mono_ns = convert->survey->last_mono_ns,
                          .to = convert->log->bytes};
    enum tt_exit code = TT_EXIT_GOOD;

    job->files = 0;
    tt_midi_log_rewind(convert->log);
    range.from = convert->log->at;
    if (convert->split_ns == 0) {
        return take(job, &range);
    }
    range.to = range.from;
    begin_search(job);
    while (code == TT_EXIT_GOOD && next_range(job, &range)) {
        code = take(job, &range);
    }
    return code;
}

static bool make_tracks(struct job *job)
{
    for (unsigned port = 0; port < TT_MIDI_LOG_PORTS; port++) {
        struct track *track;

        if (!job->convert->survey->ports[port].seen) {
            continue;
        }
        track = calloc(1, sizeof(*track));
        job->tracks[port] = track;
        if (track) {
            track->sysex = malloc(SYSEX_BYTES);
        }
        if (!track || !track->sysex) {
            return false;
        }
        tt_midi_take_init(&track->take, (uint8_t)port, track->sysex, SYSEX_BYTES);
    }
    return true;
}

enum tt_exit tt_midi_convert_try(const char *command, const char *path, bool split)
{
    enum tt_exit code = tt_midi_file_check_output(command, path);
    char *first;
    int fd;

    if (code != TT_EXIT_GOOD) {
        return code;
    }
    first = numbered_path(path, split, 1);
    if (!first) {
        tt_cli_say(command, "out of memory");
        return TT_EXIT_ENVIRONMENT;
    }
    fd = open(first, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    if (fd < 0) {
        code = say_error(command, first, -errno);
    } else {
        unlink(first);
        close(fd);
    }
    free(first);
    return code;
}

enum tt_exit tt_midi_convert_run(const struct tt_midi_convert *convert,
                                 struct tt_midi_converted *ret_converted)
{
    struct job job = {.convert = convert};
    enum tt_exit code = TT_EXIT_ENVIRONMENT;

    if (make_tracks(&job)) {
        code = each_range(&job, check_name);
        if (code == TT_EXIT_GOOD) {
            code = each_range(&job, convert_range);
        }
    } else {
        tt_cli_say(convert->command, "out of memory");
    }
    for (unsigned port = 0; port < TT_MIDI_LOG_PORTS; port++) {
        if (job.tracks[port]) {
            free(job.tracks[port]->sysex);
            free(job.tracks[port]);
        }
    }
    *ret_converted = (struct tt_midi_converted){job.files, job.events};
    return code;
}
