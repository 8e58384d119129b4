/*
 * `tactus midi record`: what arrives at MIDI ports, into a raw log and a Standard MIDI File.
 */
#include <argp.h>
#include <errno.h>
#include <inttypes.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/ns.h"
#include "cli/cmd.h"
#include "cli/cmd_midi.h"
#include "cli/midi_convert.h"
#include "cli/midi_file.h"
#include "cli/midi_live.h"
#include "cli/midi_log_file.h"
#include "cli/midi_ports.h"
#include "cli/midi_recorded.h"
#include "cli/relay.h"
#include "os/wake.h"
#include "run/record.h"

#define COMMAND "tactus midi record"
#define WAIT_MS 100

enum {
    OPTION_SPLIT = 256,
    OPTION_DURATION,
    OPTION_WEAKEST,
    OPTION_NO_KERNEL_STAMPS,
    OPTION_BAUD,
    OPTION_BUFFER,
    OPTION_LIVE,
    OPTION_JSON,
};

struct job {
    const char *names[TT_RECORD_PORTS + 1];          /* ports, then the output */
    enum tt_midi_port_stamp stamps[TT_RECORD_PORTS]; /* when they were opened */
    uint64_t left_out[TT_RECORD_PORTS];              /* bytes from before the start */
    unsigned name_count;
    const char *output_path;
    char *log_path;
    int64_t split_ns;
    int64_t duration_ns; /* 0: until interrupted */
    bool any_weakest;    /* --weakest was given: */
    enum tt_midi_port_stamp weakest;
    bool live; /* each event is shown */
    bool json;
    struct tt_midi_port_setup setup; /* of all ports, but for their names */

    struct tt_record record;
    struct tt_midi_log_file file;
    struct tt_midi_live *shown; /* NULL: nothing is */
    int64_t start_mono_ns;
};

static const struct argp_option options[] = {
    {"split", OPTION_SPLIT, "TIME", 0,
     "A new file after so long a silence, such as 5s: OUT-01.mid, OUT-02.mid ...", 0},
    {"duration", OPTION_DURATION, "TIME", 0, "End after TIME, such as 10s or 2min", 0},
    {"weakest", OPTION_WEAKEST, "STAMP", 0,
     "The weakest stamps that will do: kernel, sequencer or read. Without it: the best that such a "
     "port can have",
     0},
    {"no-kernel-stamps", OPTION_NO_KERNEL_STAMPS, NULL, 0,
     "Take raw MIDI as a kernel gives it that has no stamps, for comparison", 0},
    {"baud", OPTION_BAUD, "RATE", 0, "Of serial ports; 31250 without it", 0},
    {"buffer", OPTION_BUFFER, "BYTES", 0, "Of raw MIDI in the kernel; 1048576 without it", 0},
    {"live", OPTION_LIVE, NULL, 0, "Show each event, even where nobody sits at a terminal", 0},
    {"json", OPTION_JSON, NULL, 0, "At the end one JSON object instead of a table", 0},
    {0},
};

static void parse_name(struct job *job, char *argument, struct argp_state *state)
{
    if (job->name_count == TT_COUNT_OF(job->names)) {
        argp_error(state, "%d ports at most", TT_RECORD_PORTS);
    }
    job->names[job->name_count++] = argument;
}

static error_t parse_option(int key, char *argument, struct argp_state *state)
{
    struct job *job = state->input;

    switch (key) {
    case OPTION_SPLIT:
        job->split_ns = tt_cli_time_option("split", argument, state);
        return 0;
    case OPTION_DURATION:
        job->duration_ns = tt_cli_duration_option(argument, state);
        return 0;
    case OPTION_WEAKEST:
        job->any_weakest = true;
        if (tt_midi_stamp_parse(argument, &job->weakest) != 0) {
            argp_error(state, "--weakest %s: give kernel, sequencer or read", argument);
        }
        return 0;
    case OPTION_NO_KERNEL_STAMPS:
        job->setup.no_kernel_stamps = true;
        return 0;
    case OPTION_BAUD:
        job->setup.baud = (int)tt_cli_number_option("baud", argument, state, 50, 4000000);
        return 0;
    case OPTION_BUFFER:
        job->setup.buffer_bytes =
            (size_t)tt_cli_number_option("buffer", argument, state, 32, 1048576);
        return 0;
    case OPTION_LIVE:
        job->live = true;
        return 0;
    case OPTION_JSON:
        job->json = true;
        return 0;
    case ARGP_KEY_ARG:
        parse_name(job, argument, state);
        return 0;
    case ARGP_KEY_END:
        if (job->name_count < 2) {
            argp_error(state, "give a port, or several, and the file to write");
        }
        job->output_path = job->names[--job->name_count];
        if (job->json && job->live) {
            argp_error(state, "--live is text: not together with --json");
        }
        return 0;
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

static const struct argp parser = {
    .options = options,
    .parser = parse_option,
    .args_doc = "PORT... OUT.mid",
    .doc =
        "Record MIDI ports, each into a track of its own, with the time at which each byte was "
        "received. All is written into the raw log OUT.mid.raw first, which is readable whatever "
        "happens, and is made into OUT.mid at the end."
        "\v"
        "Ports: hw:CARD,DEVICE (raw MIDI), seq:CLIENT:PORT (sequencer), or the path of a serial "
        "port; `tactus midi list` shows them. A port that is unplugged goes on when it is back.\n\n"
        "Example:\n"
        "  tactus midi record hw:1,0 take.mid\n\n"
        "Exit: 0 all that arrived is recorded, 1 bytes were lost (markers say where), 2 wrong "
        "usage, "
        "3 a port, a stamp or room on the disk is missing."};

static enum tt_exit check_stamp(const struct job *job, const char *name,
                                const struct tt_midi_port *port)
{
    enum tt_midi_port_stamp weakest =
        job->any_weakest ? job->weakest : tt_midi_ports_best_stamp(name);

    if (port->stamp <= weakest) {
        return TT_EXIT_GOOD;
    }
    tt_cli_say(COMMAND,
               "%s gives weaker stamps than asked for: %s, not %s; --weakest read takes them", name,
               tt_midi_stamp_name(port->stamp), tt_midi_stamp_name(weakest));
    return TT_EXIT_ENVIRONMENT;
}

static enum tt_exit open_ports(struct job *job)
{
    for (unsigned i = 0; i < job->name_count; i++) {
        struct tt_midi_port_setup setup = job->setup;
        struct tt_midi_port *port;
        enum tt_exit code;

        setup.name = job->names[i];
        code = tt_midi_ports_open(COMMAND, &setup, &port);
        if (code != TT_EXIT_GOOD) {
            return code;
        }
        tt_record_add(&job->record, port, &setup);
        job->stamps[i] = port->stamp;
        job->left_out[i] = tt_midi_ports_drop_waiting(COMMAND, setup.name, port);
        code = check_stamp(job, setup.name, port);
        if (code != TT_EXIT_GOOD) {
            return code;
        }
    }
    return TT_EXIT_GOOD;
}

static enum tt_exit open_log(struct job *job)
{
    int error;

    if (asprintf(&job->log_path, "%s.raw", job->output_path) < 0) {
        job->log_path = NULL;
        tt_cli_say(COMMAND, "out of memory");
        return TT_EXIT_ENVIRONMENT;
    }
    error = tt_midi_log_file_open(&job->file, job->log_path);
    if (error == -EEXIST) {
        tt_cli_say(COMMAND,
                   "%s is there already, from an earlier recording; `tactus midi convert` makes a "
                   "Standard MIDI File of it",
                   job->log_path);
        return TT_EXIT_USAGE;
    }
    if (error) {
        tt_cli_say(COMMAND, "cannot write %s: %s", job->log_path, strerror(-error));
        return tt_midi_file_exit(error);
    }
    return TT_EXIT_GOOD;
}

/* All that is there goes into the log. 0 or -errno. */
static int drain(struct job *job)
{
    struct tt_midi_frame frames[TT_MIDI_LOG_BATCH];
    size_t n;

    tt_wake_clear(job->record.ready_fd);
    while ((n = tt_record_take(&job->record, frames, TT_MIDI_LOG_BATCH)) > 0) {
        int error = tt_midi_log_file_append(&job->file, frames, n);

        if (error) {
            return error;
        }
        for (size_t i = 0; i < n && job->shown; i++) {
            tt_midi_live_frame(job->shown, &frames[i]);
        }
    }
    if (job->shown) {
        tt_midi_live_flush(job->shown);
    }
    return 0;
}

static bool time_is_up(const struct job *job)
{
    return job->duration_ns > 0 && tt_midi_port_now_ns() - job->start_mono_ns >= job->duration_ns;
}

/* 0 or -errno of the log. */
static int record_all(struct job *job)
{
    struct pollfd ready = {.fd = job->record.ready_fd, .events = POLLIN};
    int error = 0;

    while (!error && !tt_cli_interrupted() && !time_is_up(job)) {
        poll(&ready, 1, WAIT_MS);
        error = drain(job);
        if (!error) {
            error = tt_midi_log_file_tend(&job->file, tt_midi_port_now_ns());
        }
    }
    tt_record_stop(&job->record);
    if (!error) {
        tt_record_step(&job->record, tt_midi_port_now_ns()); /* what came in the meantime */
        error = drain(job);
    }
    return error;
}

static void say_log_error(const struct job *job, int error)
{
    tt_cli_say(COMMAND,
               "cannot write %s any more: %s. The recording ended there; %" PRIu64
               " bytes are confirmed to be on the disk",
               job->log_path, strerror(-error), job->file.confirmed_bytes);
}

static enum tt_exit make_smf(const struct job *job, struct tt_midi_survey *survey,
                             struct tt_midi_converted *ret_converted)
{
    struct tt_midi_file file;
    struct tt_midi_convert setup = {.command = COMMAND,
                                    .log = &file.log,
                                    .survey = survey,
                                    .path = job->output_path,
                                    .split_ns = job->split_ns};
    enum tt_exit code = tt_midi_file_open(COMMAND, job->log_path, &file);

    if (code != TT_EXIT_GOOD) {
        return code;
    }
    tt_midi_survey_log(&file.log, survey);
    code = tt_midi_convert_run(&setup, ret_converted);
    if (code != TT_EXIT_GOOD) {
        tt_cli_say(COMMAND, "the recording is in %s; `tactus midi convert` makes a file of it",
                   job->log_path);
    }
    tt_midi_file_close(&file);
    return code;
}

static enum tt_exit finish(const struct job *job, int log_error)
{
    struct tt_midi_survey *survey = malloc(sizeof(*survey));
    struct tt_midi_recorded recorded = {.output_path = job->output_path,
                                        .log_path = job->log_path,
                                        .split = job->split_ns > 0,
                                        .names = job->names,
                                        .name_count = job->name_count,
                                        .left_out = job->left_out,
                                        .survey = survey};
    enum tt_exit code;

    if (!survey) {
        tt_cli_say(COMMAND, "out of memory; the recording is in %s", job->log_path);
        return TT_EXIT_ENVIRONMENT;
    }
    code = make_smf(job, survey, &recorded.converted);
    (void)tt_relay_settle(STDOUT_FILENO); /* what was shown leaves room for the end */
    if (code == TT_EXIT_GOOD) {
        if (job->json) {
            tt_midi_recorded_show_json(&recorded);
        } else {
            tt_midi_recorded_show(&recorded);
        }
        code = survey->losses > 0 ? TT_EXIT_NEGATIVE : TT_EXIT_GOOD;
    }
    free(survey);
    return log_error ? TT_EXIT_ENVIRONMENT : code;
}

static enum tt_exit run(struct job *job)
{
    int error = tt_record_start(&job->record);
    int closed;

    if (error) {
        tt_cli_say(COMMAND, "cannot start the reader: %s", strerror(-error));
        return TT_EXIT_ENVIRONMENT;
    }
    if (!job->record.thread.realtime) {
        tt_cli_say(COMMAND,
                   "real-time priority is refused (ulimit -r): stamps of the kind `%s` may "
                   "be late under load",
                   tt_midi_stamp_name(TT_MIDI_STAMP_READ));
    }
    for (unsigned i = 0; i < job->name_count; i++) {
        tt_cli_say(COMMAND, "port %u is %s, stamps: %s", i, job->names[i],
                   tt_midi_stamp_name(job->stamps[i]));
    }
    tt_cli_say(COMMAND, "recording into %s", job->log_path);
    if (job->live) {
        job->shown = tt_midi_live_new(stdout, job->start_mono_ns);
    }
    error = record_all(job);
    closed = tt_midi_log_file_close(&job->file);
    error = error ? error : closed;
    if (error) {
        say_log_error(job, error);
    }
    return finish(job, error);
}

int tt_cmd_midi_record(int argc, char **argv)
{
    struct job job = {0};
    enum tt_exit code;

    if (argp_parse(&parser, argc, argv, 0, NULL, &job) != 0) {
        return TT_EXIT_USAGE;
    }
    if (tt_record_init(&job.record) != 0) {
        tt_cli_say(COMMAND, "out of memory");
        return TT_EXIT_ENVIRONMENT;
    }
    job.live = job.live || (!job.json && isatty(STDOUT_FILENO));
    tt_relay_start();
    tt_cli_catch_interrupt();
    signal(SIGPIPE, SIG_IGN); /* who watches may leave: the recording goes on */
    job.start_mono_ns = tt_midi_port_now_ns();
    code = tt_midi_convert_try(COMMAND, job.output_path, job.split_ns > 0);
    if (code == TT_EXIT_GOOD) {
        code = tt_midi_ports_check_different(COMMAND, job.names, job.name_count);
    }
    if (code == TT_EXIT_GOOD) {
        code = open_ports(&job);
    }
    if (code == TT_EXIT_GOOD) {
        code = open_log(&job);
    }
    if (code == TT_EXIT_GOOD) {
        code = run(&job);
    }
    tt_record_done(&job.record);
    tt_midi_live_free(job.shown);
    free(job.log_path);
    return code;
}
