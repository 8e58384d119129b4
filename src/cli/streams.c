/*
 * See streams.h.
 */
#include "cli/streams.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "audio/eth.h"
#include "base/ns.h"
#include "cli/cmd.h"
#include "cli/feeder.h"
#include "cli/relay.h"
#include "cli/stream_clock.h"
#include "cli/stream_set.h"
#include "cli/streams_beat.h"
#include "cli/streams_metrics.h"
#include "cli/streams_show.h"
#include "os/clock.h"
#include "os/memory.h"
#include "os/notify.h"
#include "report/json.h"
#include "report/note.h"
#include "report/stream_report.h"

#define LOOK_NS     (100 * TT_NS_PER_MS)
#define REDRAW_NS   (250 * TT_NS_PER_MS)
#define JSON_NS     TT_NS_PER_S
#define METRICS_NS  TT_NS_PER_S
#define LOG_NS      (10 * TT_NS_PER_S)
#define PATIENCE_NS (5 * TT_NS_PER_S) /* for a source or sink that does not answer */

struct streams {
    const struct tt_stream_set *set;
    const char *command;
    const struct tt_stream_options *options;
    FILE *out;       /* for people */
    bool redraw;     /* a terminal: one picture */
    int lines_drawn; /* of it */
    struct tt_stream *streams;
    struct tt_stream_status *statuses;
    size_t count;
    struct tt_stream_group group;
    struct tt_stream_clock clock;
    struct tt_feeder feeder;
    int64_t begin_mono_ns;
    int64_t next_show_ns;
    struct tt_metrics *metrics; /* NULL: nobody wants them */
    int64_t next_metrics_ns;
    unsigned said;     /* notes */
    bool waiting_said; /* of sources that give nothing */
    struct tt_streams_beat beat;
};

static bool is_usage(int error)
{
    return error == -EINVAL || error == -EMSGSIZE;
}

/* What is drawn stays above what is said. */
static void clear_drawing(struct streams *s)
{
    s->lines_drawn = 0;
}

static void say_notes(struct streams *s)
{
    unsigned notes = 0;
    const char *text;

    for (size_t i = 0; i < s->count; i++) {
        notes |= s->statuses[i].notes;
    }
    notes = tt_note_causes(notes) & ~s->said;
    s->said |= notes;
    while ((text = tt_note_next(&notes))) {
        clear_drawing(s);
        tt_cli_say(s->command, "%s", text);
    }
}

static void say_no_clock(const struct streams *s)
{
    const struct tt_stream_job *job = &s->set->jobs[0];
    const char *refusal = tt_stream_clock_refusal(&s->clock);
    char id[TT_STREAM_ID_TEXT];
    char dest[TT_MAC_TEXT];

    tt_cli_say(
        s->command,
        "ALARM: %s%s%s%s of the CRF stream %s to %s on %s: the streams wait for their clock; "
        "look after that stream and its talker, or leave clock out",
        refusal || s->clock.followed.crf.pdus > 0 ? "nothing that can be followed has come in"
                                                  : "no packet has come in",
        refusal ? " (" : "", refusal ? refusal : "", refusal ? ")" : "",
        tt_stream_id_format(job->clock.stream_id, id), tt_mac_format(job->clock.dest, dest),
        job->config.ifname);
}

static void say_clock(struct streams *s)
{
    static const char *const texts[] = {
        [TT_CLOCK_FOUND] = "the media clock is found: its CRF stream is followed",
        [TT_CLOCK_LOST] =
            "ALARM: the media clock's master is gone: the streams run on at the rate that was "
            "found, and their packets carry tu; look after the CRF stream and its talker",
        [TT_CLOCK_BACK] = "the media clock is back: its CRF stream is followed again",
    };
    enum tt_stream_clock_news news = tt_stream_clock_look(&s->clock, tt_cli_now_mono_ns());

    if (news == TT_CLOCK_NEVER) {
        clear_drawing(s);
        say_no_clock(s);
    } else if (news != TT_CLOCK_SAME) {
        clear_drawing(s);
        tt_cli_say(s->command, "%s", texts[news]);
    }
}

/* Sources that give nothing, once. */
static void say_waiting(struct streams *s)
{
    if (s->waiting_said || s->options->role != TT_ROLE_TALKER ||
        tt_cli_now_mono_ns() - s->begin_mono_ns < PATIENCE_NS) {
        return;
    }
    s->waiting_said = true;
    for (size_t i = 0; i < s->count; i++) {
        if (s->statuses[i].state == TT_STREAM_FILLING && s->statuses[i].frames == 0) {
            clear_drawing(s);
            tt_cli_say(s->command, "%s gives nothing: its stream waits for the first samples",
                       s->set->jobs[i].end);
        }
    }
}

static struct tt_streams_view view_of(const struct streams *s, bool final)
{
    return (struct tt_streams_view){.streams = s->streams,
                                    .statuses = s->statuses,
                                    .count = s->count,
                                    .clock = &s->clock,
                                    .elapsed_ns = tt_cli_now_mono_ns() - s->begin_mono_ns,
                                    .final = final};
}

static void print_json(const struct streams *s, bool final)
{
    struct tt_streams_view view = view_of(s, final);
    json_t *json = tt_streams_json(&view);

    if (!json || (tt_json_print_line(stdout, json) != 0 && errno != EPIPE)) {
        tt_cli_say(s->command, "cannot write the figures: %s", strerror(json ? errno : ENOMEM));
    }
    json_decref(json);
}

static void draw(struct streams *s)
{
    struct tt_streams_view view = view_of(s, false);

    if (s->redraw && s->lines_drawn > 0) {
        fprintf(s->out, "\033[%dA\033[J", s->lines_drawn);
    }
    fputs(s->redraw ? "\033[?7l" : "", s->out);
    s->lines_drawn = tt_streams_print_lines(&view, s->out);
    fputs(s->redraw ? "\033[?7h" : "", s->out);
    fflush(s->out);
}

/* What is new, and, where something is shown, the peaks since the last time. */
static void look(struct streams *s, bool shown)
{
    for (size_t i = 0; i < s->count; i++) {
        int before = s->statuses[i].error;

        tt_stream_status_read(&s->streams[i], shown, &s->statuses[i]);
        if (s->statuses[i].error < 0 && before == 0) {
            clear_drawing(s);
            tt_cli_say(s->command, "%s", s->statuses[i].message.text);
        }
    }
    say_clock(s);
    say_waiting(s);
    say_notes(s);
}

static void publish(struct streams *s, int64_t now_ns)
{
    struct tt_streams_view view = view_of(s, false);

    if (s->metrics && now_ns >= s->next_metrics_ns) {
        tt_streams_metrics(&view, s->metrics);
        s->next_metrics_ns = now_ns + METRICS_NS;
    }
}

static void show(struct streams *s)
{
    int64_t now_ns = tt_cli_now_mono_ns();
    int64_t interval_ns = s->options->json ? JSON_NS : s->redraw ? REDRAW_NS : LOG_NS;
    bool due = now_ns >= s->next_show_ns && tt_relay_has_room(fileno(s->out));

    look(s, due);
    publish(s, now_ns);
    if (!due) {
        return;
    }
    s->next_show_ns += interval_ns;
    if (s->next_show_ns <= now_ns) {
        s->next_show_ns = now_ns + interval_ns;
    }
    if (s->options->json) {
        print_json(s, false);
    } else {
        draw(s);
    }
}

static void work(struct streams *s)
{
    struct tt_clock *clock = tt_clock_system();

    s->next_show_ns = s->begin_mono_ns + (s->redraw ? 0 : s->options->json ? JSON_NS : LOG_NS);
    while (!tt_cli_interrupted() && !atomic_load(&s->feeder.done)) {
        clock->ops->sleep_until(clock, tt_cli_now_mono_ns() + LOOK_NS);
        show(s);
        tt_streams_beat(&s->beat, s->statuses, s->count, &s->feeder);
    }
    tt_notify("STOPPING=1");
}

static int write_report(const struct tt_stream *stream, const struct tt_stream_status *status)
{
    const struct tt_hist *lateness = tt_stream_engine_lateness(&stream->engine);
    const struct tt_event_log *log = tt_stream_engine_log(&stream->engine);

    return stream->role == TT_ROLE_TALKER
               ? tt_stream_report_talk(stream->job->report, &status->config, &status->talk,
                                       lateness, log, status->notes)
               : tt_stream_report_listen(stream->job->report, &status->config, &status->listen,
                                         lateness, log, status->notes);
}

static int conclude(struct streams *s)
{
    struct tt_streams_view view = view_of(s, true);
    int code;

    look(s, true);
    (void)tt_relay_settle(fileno(s->out)); /* what was shown leaves room for the end */
    if (s->redraw && s->lines_drawn > 0) {
        fprintf(s->out, "\033[%dA\033[J", s->lines_drawn);
    }
    if (s->options->json) {
        print_json(s, true);
    } else {
        tt_streams_print_summary(&view, s->out);
    }
    code = s->clock.followed.crf.holdovers > 0 || (s->clock.in && !s->clock.found)
               ? TT_EXIT_NEGATIVE
               : TT_EXIT_GOOD;
    for (size_t i = 0; i < s->count; i++) {
        const struct tt_stream *stream = &s->streams[i];
        int error = stream->job->report ? write_report(stream, &s->statuses[i]) : 0;

        if (s->statuses[i].remark.text[0] != 0) {
            tt_cli_say(s->command, "%s", s->statuses[i].remark.text);
        }
        if (error < 0) {
            tt_cli_say(s->command, "cannot write %s: %s", stream->job->report, strerror(-error));
        }
        if (error < 0 || (s->statuses[i].error < 0 && s->statuses[i].error != TT_SOURCE_END)) {
            code = TT_EXIT_ENVIRONMENT;
        } else if (s->statuses[i].error == TT_SOURCE_END && code != TT_EXIT_ENVIRONMENT) {
            code = TT_EXIT_USAGE; /* a source that holds nothing */
        } else if (code == TT_EXIT_GOOD && tt_stream_status_is_negative(stream, &s->statuses[i])) {
            code = TT_EXIT_NEGATIVE;
        }
    }
    return code;
}

/* The feeder still uses everything, so nothing can be put away. */
static void leave_it(const struct streams *s)
{
    tt_cli_say(s->command, "a source or sink has not answered for 5 s (a disk, a network mount?): "
                           "leaving without it; a file may lack its end");
    fflush(NULL);
    (void)tt_relay_settle(STDOUT_FILENO);
    (void)tt_relay_settle(STDERR_FILENO);
    _exit(TT_EXIT_ENVIRONMENT);
}

static int run_feeder(struct streams *s)
{
    int error;

    if (tt_memory_lock() < 0) {
        tt_cli_say(s->command,
                   "memory cannot be locked: under pressure parts of it may have to come from the "
                   "disk first; run as root, or raise RLIMIT_MEMLOCK");
    }
    s->feeder.streams = s->streams;
    s->feeder.count = s->count;
    s->feeder.group = &s->group;
    error = tt_feeder_start(&s->feeder);
    if (error < 0) {
        tt_cli_say(s->command, "no thread can be started: %s", strerror(-error));
        return TT_EXIT_ENVIRONMENT;
    }
    work(s);
    if (!tt_feeder_stop(&s->feeder, PATIENCE_NS)) {
        leave_it(s);
    }
    return conclude(s);
}

static int open_streams(struct streams *s)
{
    struct tt_message message;

    for (size_t i = 0; i < s->count; i++) {
        struct tt_stream *stream = &s->streams[i];
        int error;

        *stream = (struct tt_stream){.job = &s->set->jobs[i],
                                     .role = s->options->role,
                                     .cpu = s->options->cpu,
                                     .group = &s->group,
                                     .duration_ns = s->options->duration_ns,
                                     .begin_mono_ns = s->begin_mono_ns};
        error = tt_stream_open(stream, &message);
        if (error < 0) {
            tt_stream_set_say(s->set, i, stream->part, message.text);
            s->count = i + 1;
            return is_usage(error) ? TT_EXIT_USAGE : TT_EXIT_ENVIRONMENT;
        }
        tt_stream_conversion(stream, &message);
        if (message.text[0] != 0) {
            tt_cli_say(s->command, "%s", message.text);
        }
        if (stream->source && stream->source->remark.text[0] != 0) {
            tt_cli_say(s->command, "%s", stream->source->remark.text);
        }
        tt_stream_publish(stream);
    }
    return TT_EXIT_GOOD;
}

/* One for all, so any of the jobs knows of it. */
static int open_clock(struct streams *s)
{
    struct tt_message message;
    int error = tt_stream_clock_open(&s->clock, s->set->jobs, s->group.engine, &message);

    s->said |= TT_NOTE_MASTER_LOST; /* say_clock does */
    if (error < 0) {
        tt_cli_say(s->command, "%s", message.text);
        s->count = 0;
        return is_usage(error) ? TT_EXIT_USAGE : TT_EXIT_ENVIRONMENT;
    }
    return TT_EXIT_GOOD;
}

static int run_jobs(struct streams *s)
{
    int code;

    s->streams = calloc(s->count, sizeof(*s->streams));
    s->statuses = calloc(s->count, sizeof(*s->statuses));
    s->beat.frames = calloc(s->count, sizeof(*s->beat.frames));
    if (!s->streams || !s->statuses || !s->beat.frames ||
        tt_stream_group_init(&s->group, (unsigned)s->count, s->options->cpu) < 0) {
        tt_cli_say(s->command, "out of memory");
        s->count = 0;
        code = TT_EXIT_ENVIRONMENT;
    } else {
        code = open_clock(s);
        code = code == TT_EXIT_GOOD ? open_streams(s) : code;
        if (code == TT_EXIT_GOOD) {
            code = run_feeder(s);
        }
    }
    for (size_t i = 0; i < s->count; i++) {
        tt_stream_close(&s->streams[i]);
    }
    tt_stream_group_done(&s->group);
    tt_stream_clock_close(&s->clock);
    free(s->streams);
    free(s->statuses);
    free(s->beat.frames);
    return code;
}

static int run(const struct tt_stream_set *set)
{
    const struct tt_stream_options *options = set->options;
    bool audio_out = options->role == TT_ROLE_LISTENER && tt_stream_set_pipes(set) > 0;
    struct streams s = {
        .set = set,
        .command = set->command,
        .options = options,
        .out = audio_out ? stderr : stdout,
        .count = set->count,
        .begin_mono_ns = tt_cli_now_mono_ns(),
    };
    int code = tt_stream_set_check(set);

    if (code != TT_EXIT_GOOD) {
        return code;
    }
    code = tt_metrics_start(set->command, options->metrics, &s.metrics);
    if (code != TT_EXIT_GOOD) {
        return code;
    }
    s.redraw = !options->json && isatty(fileno(s.out)) == 1;
    if (audio_out) {
        tt_relay_start_errors();
    } else {
        tt_relay_start();
    }
    tt_cli_catch_interrupt();
    signal(SIGPIPE, SIG_IGN);
    code = run_jobs(&s);
    tt_metrics_stop(s.metrics);
    return code;
}

int tt_streams_run(const char *command, const struct tt_stream_options *options)
{
    struct tt_stream_set set = {
        .command = command, .options = options, .jobs = &options->job, .count = 1};
    struct tt_stream_file_fault fault;
    struct tt_stream_file file;
    int error;
    int code;

    if (!options->streams_path) {
        return run(&set);
    }
    error = tt_stream_file_read(options->streams_path, options->role, &options->job, &file, &fault);
    if (error < 0 && fault.line > 0) {
        tt_cli_say(command, "%s:%d:%d: %s", options->streams_path, fault.line, fault.column,
                   fault.message.text);
    } else if (error < 0) {
        tt_cli_say(command, "%s cannot be read: %s", options->streams_path, fault.message.text);
    }
    if (error < 0) {
        return error == -ENOMEM ? TT_EXIT_ENVIRONMENT : TT_EXIT_USAGE;
    }
    set.file = &file;
    set.jobs = file.jobs;
    set.count = file.count;
    code = run(&set);
    tt_stream_file_done(&file);
    return code;
}
