/*
 * See meter_soak.h. Memory does not grow, and output is bounded: so many losses a second are told
 * one by one, the others are counted.
 */
#include "cli/meter_soak.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/min_max.h"
#include "base/ns.h"
#include "cli/meter_page.h"
#include "cli/meter_row.h"
#include "cli/meter_show.h"
#include "cli/relay.h"
#include "report/json.h"
#include "report/meter_json.h"
#include "report/plural.h"

#define HOUR_NS       (3600 * TT_NS_PER_S)
#define TOLD_A_SECOND 10
#define SHORT_LINES   10 /* of a soak that is shorter than two hours */
#define WALL_TEXT     40

struct soak {
    const struct tt_meter_job *job;
    int64_t every_ns;
    int64_t next_line_ns; /* 0: not known yet */
    int log_fd;           /* or below 0 */
    int log_error;
    bool json;
    int64_t second; /* the one in which `told` were */
    unsigned told;
    uint64_t untold;
};

/* The time of day at which the monotonic clock stood there. */
static const char *wall_text(int64_t mono_ns, char ret_text[WALL_TEXT])
{
    struct timespec now;
    struct tm day;
    int64_t wall_ns;
    time_t seconds;
    size_t n;

    clock_gettime(CLOCK_REALTIME, &now);
    wall_ns = now.tv_sec * TT_NS_PER_S + now.tv_nsec - (tt_cli_now_mono_ns() - mono_ns);
    seconds = (time_t)tt_floor_div(wall_ns, TT_NS_PER_S);
    localtime_r(&seconds, &day);
    n = strftime(ret_text, WALL_TEXT, "%F %T", &day);
    snprintf(ret_text + n, WALL_TEXT - n, ".%03d",
             (int)((wall_ns - seconds * TT_NS_PER_S) / TT_NS_PER_MS));
    return ret_text;
}

/* Once, and at once: who watches for hours can still make room. */
static void note_log_error(struct soak *soak, int error)
{
    if (soak->log_error == 0) {
        tt_cli_say(TT_METER_COMMAND, "the log lacks lines from here on, and goes on: %s",
                   strerror(error));
    }
    soak->log_error = error;
}

/* A line that finds no room leaves nothing. 0 or an errno. */
static int write_line(int fd, const char *text, size_t length)
{
    ssize_t n = write(fd, text, length);

    if (n < 0) {
        return errno;
    }
    if ((size_t)n < length) {
        return ftruncate(fd, lseek(fd, 0, SEEK_END) - n) == 0 ? ENOSPC : errno;
    }
    return 0;
}

static int sync_lines(int fd)
{
    return fdatasync(fd) == 0 || errno == EINVAL ? 0 : errno; /* EINVAL: a device, a pipe */
}

static void write_log(struct soak *soak, const json_t *line)
{
    char *text;
    int error;

    if (soak->log_fd < 0) {
        return;
    }
    text = json_dumps(line, TT_JSON_LINE);
    if (text) {
        size_t length = strlen(text);

        text[length] = '\n'; /* in the place of the terminator */
        error = write_line(soak->log_fd, text, length + 1);
        /* Whoever interrupted waits for the disk once, at the end. */
        error = error || tt_cli_interrupted() ? error : sync_lines(soak->log_fd);
        free(text);
    } else {
        error = ENOMEM;
    }
    if (error) {
        note_log_error(soak, error);
    }
}

/* Takes the line. */
static void tell(struct soak *soak, json_t *line, const char *wall, const char *text)
{
    json_object_set_new(line, "time", json_string(wall));
    write_log(soak, line);
    if (soak->json) {
        tt_json_print_line(stdout, line);
    } else {
        printf("%s  %s\n", wall, text);
        fflush(stdout);
    }
    json_decref(line);
}

/* Too many to be told one by one. */
static bool too_many(struct soak *soak)
{
    int64_t second = tt_cli_now_mono_ns() / TT_NS_PER_S;

    if (second != soak->second) {
        soak->second = second;
        soak->told = 0;
    }
    if (++soak->told > TOLD_A_SECOND) {
        soak->untold++;
        return true;
    }
    return false;
}

static void on_incident(void *context, const struct tt_cell *cell)
{
    struct soak *soak = context;
    const struct tt_incident *incident = &cell->incident;
    char text[TT_METER_TEXT];
    char wall[WALL_TEXT];

    if (incident->late + incident->skipped + incident->empty == 0 || too_many(soak)) {
        return;
    }
    tell(soak, tt_meter_incident_json(incident), wall_text(incident->start_ns, wall),
         tt_meter_incident_text(incident, text));
}

static void tell_state(struct soak *soak, const struct tt_cell *cell)
{
    const struct tt_fragment_counters *c = &cell->so_far;
    int64_t now_ns = tt_cli_now_mono_ns();
    int64_t begin_ns = cell->windows.start_ns; /* 0: it came to nothing */
    int64_t elapsed_ns = begin_ns > 0 ? tt_max64(0, now_ns - begin_ns) : 0;
    char text[TT_METER_TEXT];
    char time[TT_DURATION_TEXT];
    char wall[WALL_TEXT];

    snprintf(text, sizeof(text),
             "after %s: expected %" PRIu64 " = on time %" PRIu64 " + late %" PRIu64
             " + skipped %" PRIu64 "; empty %" PRIu64 " %s in %" PRIu64 " %s; %" PRIu64
             " %s not told",
             tt_duration_text(elapsed_ns, time), c->expected, c->on_time, c->late, c->skipped,
             c->empty, tt_plural(c->empty, "time", "times"), cell->bursts,
             tt_plural(cell->bursts, "burst", "bursts"), soak->untold,
             tt_plural(soak->untold, "loss", "losses"));
    tell(soak,
         json_pack("{s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:I}", "elapsed_ns", (json_int_t)elapsed_ns,
                   "expected", (json_int_t)c->expected, "on_time", (json_int_t)c->on_time, "late",
                   (json_int_t)c->late, "skipped", (json_int_t)c->skipped, "empty",
                   (json_int_t)c->empty, "bursts", (json_int_t)cell->bursts, "untold",
                   (json_int_t)soak->untold),
         wall_text(now_ns, wall), text);
}

/* What the lines that follow are about: they may be all that is left. */
static void tell_start(struct soak *soak)
{
    const struct tt_meter_job *job = soak->job;
    int64_t now_ns = tt_cli_now_mono_ns();
    char text[TT_METER_TEXT];
    char shape[TT_DURATION_TEXT];
    char time[TT_DURATION_TEXT];
    char policy[TT_METER_POLICY_TEXT];
    char wall[WALL_TEXT];
    const char *buffer = tt_meter_shape_text(&job->shapes[0], shape);
    const char *load = tt_load_name(job->loads[0]);

    snprintf(text, sizeof(text), "%s under %s for %s", buffer, tt_meter_load_text(load),
             tt_duration_text(job->cell_ns, time));
    tell(soak,
         json_pack("{s:s, s:I, s:s, s:s?, s:s, s:i, s:I}", "buffer", buffer, "rate_hz",
                   (json_int_t)job->shapes[0].rate_hz, "load", load, "device", job->device,
                   "policy", tt_meter_show_policy(job, policy), "compute_percent",
                   (int)job->compute_percent, "plan_ns", (json_int_t)job->cell_ns),
         wall_text(now_ns, wall), text);
}

static void on_tick(void *context, const struct tt_cell *cell)
{
    struct soak *soak = context;
    int64_t now_ns = tt_cli_now_mono_ns();

    if (soak->next_line_ns == 0) {
        soak->next_line_ns = cell->windows.start_ns + soak->every_ns;
    }
    if (now_ns >= soak->next_line_ns) {
        soak->next_line_ns += soak->every_ns;
        tell_state(soak, cell);
    }
}

static void end_log(struct soak *soak)
{
    int error = soak->log_fd >= 0 ? sync_lines(soak->log_fd) : 0;

    if (error) {
        note_log_error(soak, error);
    }
}

static enum tt_exit conclude(struct soak *soak, const struct tt_meter_row *row)
{
    json_t *line = tt_meter_row_json(row);

    tell_state(soak, row->results[0].cell);
    json_object_set_new(line, "final", json_true());
    write_log(soak, line);
    if (soak->json) {
        tt_json_print_line(stdout, line);
    } else {
        tt_meter_show_text(soak->job, row, 1);
    }
    json_decref(line);
    end_log(soak);
    if (soak->log_error) {
        tt_cli_say(TT_METER_COMMAND, "the log is not whole: %s", strerror(soak->log_error));
        return TT_EXIT_ENVIRONMENT;
    }
    return tt_meter_row_judge(soak->job, row);
}

/* At its end; a line that a power cut left in part is ended first. TT_EXIT_GOOD, or after saying
 * why.
 */
static enum tt_exit open_log(struct soak *soak, const char *path)
{
    char last = '\n';

    soak->log_fd = open(path, O_RDWR | O_CREAT | O_APPEND | O_CLOEXEC, 0666);
    if (soak->log_fd < 0) {
        tt_cli_say(TT_METER_COMMAND, "cannot write %s: %s", path, strerror(errno));
        return TT_EXIT_ENVIRONMENT;
    }
    if (lseek(soak->log_fd, -1, SEEK_END) >= 0 && read(soak->log_fd, &last, 1) == 1 &&
        last != '\n' && write(soak->log_fd, "\n", 1) != 1) {
        note_log_error(soak, errno);
    }
    signal(SIGPIPE, SIG_IGN); /* who watches may leave: the log goes on */
    return TT_EXIT_GOOD;
}

enum tt_exit tt_meter_soak(struct tt_meter_job *job, int64_t for_ns, const char *log,
                           const char *html)
{
    struct soak soak = {.job = job,
                        .every_ns =
                            for_ns >= 2 * HOUR_NS ? HOUR_NS : tt_max64(1, for_ns / SHORT_LINES),
                        .log_fd = -1,
                        .json = job->json};
    struct tt_meter_row row = {0};
    enum tt_exit code;

    if (log) {
        code = open_log(&soak, log);
        if (code != TT_EXIT_GOOD) {
            return code;
        }
    }
    tt_relay_start(); /* a display that stands still must not stop the log */
    job->cell_ns = for_ns;
    job->load_count = 1;
    job->quiet = true;
    job->incident = on_incident;
    job->tick = on_tick;
    job->context = &soak;
    if (!job->json) {
        tt_meter_show_setup(job);
    }
    tell_start(&soak);
    code = tt_meter_row_run(job, &job->shapes[0], &row, NULL);
    if (code == TT_EXIT_GOOD && row.count > 0) {
        enum tt_exit page = html ? tt_meter_page_write(job, &row, 1, html) : TT_EXIT_GOOD;

        code = conclude(&soak, &row);
        code = page != TT_EXIT_GOOD ? page : code;
    }
    tt_meter_row_free(&row);
    if (soak.log_fd >= 0) {
        close(soak.log_fd);
    }
    return code;
}
