/*
 * `tactus gate shape` at work: what it shows, writes and takes while the threads shape.
 */
#include <errno.h>
#include <inttypes.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/min_max.h"
#include "base/ns.h"
#include "cli/cmd.h"
#include "cli/gate_shape.h"
#include "cli/gate_shape_log.h"
#include "cli/relay.h"
#include "os/memory.h"
#include "os/notify.h"
#include "report/json.h"

#define COMMAND TT_GATE_SHAPE_COMMAND
#define FILES   6 /* lists that can be in use at a time, and one to come */
#define TAKE    4096
#define WAIT_US 20000

static volatile sig_atomic_t reread;

static void note_reread(int number)
{
    (void)number;
    reread = 1;
}

void tt_gate_shape_catch_hangup(void)
{
    const struct sigaction action = {.sa_handler = note_reread};

    sigaction(SIGHUP, &action, NULL);
}

/* A schedule that was read while it shaped. */
struct schedule {
    struct tt_gate_file file;
    const struct tt_gate_list *list; /* NULL: free */
};

struct session {
    struct tt_gate_shape *job;
    struct tt_shape *shape;
    struct tt_metrics *metrics; /* NULL: nobody wants them */
    bool screen;                /* standard output is one */
    struct tt_gate_shape_log log;
    struct schedule schedules[FILES];
    uint64_t replaced;                  /* lists that were handed over after the first */
    uint64_t told;                      /* of them those of which was said from when on they hold */
    const struct tt_gate_list *pending; /* is not in the log yet */
    const struct tt_gate_list *coming;  /* has not begun yet */
    uint64_t refused_when_up;           /* frames, when the interface was last seen up */
    struct tt_shape_departure departures[TAKE];
};

static enum tt_exit fail_open(const struct tt_gate_shape *job, int error,
                              const struct tt_shape_fault *fault)
{
    const char *why = strerror(-error);

    if (fault->step == TT_SHAPE_STEP_TAP && fault->tap == TT_TAP_STEP_OPEN) {
        tt_cli_say(COMMAND,
                   "cannot open /dev/net/tun: %s; run it as root, or, in a container, hand that "
                   "device in (--device /dev/net/tun)",
                   why);
    } else if (fault->step == TT_SHAPE_STEP_TAP) {
        tt_cli_say(COMMAND, "cannot make the device %s: %s%s", job->tap, why,
                   error == -EBUSY    ? "; there is an interface of that name, give another one by "
                                        "--tap"
                   : error == -EPERM  ? "; CAP_NET_ADMIN is needed, run it as root"
                   : error == -EINVAL ? "; a name has 1 to 15 characters, none of "
                                        "them a space or /"
                                      : "");
    } else if (fault->step == TT_SHAPE_STEP_CLAIM && error == -EADDRINUSE) {
        tt_cli_say(COMMAND,
                   "another one shapes to %s already, and neither would know of the other's "
                   "frames: one schedule can have several classes (--class)",
                   job->ifname);
    } else if (error == -EMEDIUMTYPE) {
        tt_cli_say(COMMAND, "%s is no Ethernet interface; give one that is by --to", job->ifname);
    } else if (error == -ENODEV) {
        tt_cli_say(COMMAND, "there is no interface %s; `ip link` lists them", job->ifname);
    } else if (error == -EPERM) {
        tt_cli_say(COMMAND, "cannot send on %s: %s; CAP_NET_RAW is needed, run it as root",
                   job->ifname, why);
    } else {
        tt_cli_say(COMMAND, "cannot shape to %s: %s", job->ifname, why);
    }
    return TT_EXIT_ENVIRONMENT;
}

static void read_counters(struct session *session, struct tt_shape_counters *ret_counters)
{
    tt_shape_read(session->shape, ret_counters);
    ret_counters->log_lost += session->log.lost;
}

static void write_list(struct session *session)
{
    struct tt_shape_counters counters;

    read_counters(session, &counters);
    if (session->pending && counters.lists == session->replaced) {
        tt_gate_shape_log_list(&session->log, session->pending, counters.list_start_tai_ns);
        session->pending = NULL;
    }
}

/* A list goes in front of what left by it. */
static void write_log(struct session *session)
{
    size_t n;

    if (!session->log.path) {
        return;
    }
    do {
        n = tt_shape_take(session->shape, session->departures, TAKE);
        write_list(session);
        tt_gate_shape_log_departures(&session->log, session->departures, n);
    } while (n > 0);
}

/* What waits has its class already, so that the map of the start holds. */
static void say_map(const struct tt_gate_shape *job, const struct tt_gate_port *port)
{
    for (unsigned p = 0; p < TT_CLASSIFY_PRIORITIES; p++) {
        if (tt_gate_class_of(port, p) != job->setup.classifier.class_of_priority[p]) {
            tt_cli_say(
                COMMAND,
                "%s has another map now: the gates are taken, and priorities keep their classes",
                job->schedule_path);
            return;
        }
    }
}

static bool is_used(const struct session *session, const struct tt_gate_list *list)
{
    struct tt_shape_counters now;

    tt_shape_read(session->shape, &now);
    return list == now.lists_used[0] || list == now.lists_used[1] || list == session->pending ||
           list == session->coming || list == session->job->windows.list;
}

/* For one more. NULL: all are in use, or may be. */
static struct schedule *find_free(struct session *session)
{
    for (size_t i = 0; i < FILES; i++) {
        struct schedule *one = &session->schedules[i];

        if (one->list && !is_used(session, one->list)) {
            tt_gate_file_done(&one->file);
            one->list = NULL;
        }
        if (!one->list) {
            return one;
        }
    }
    return NULL;
}

/* Whether the list of that port can be handed over; says why not. */
static bool hand_over(const struct session *session, const struct tt_gate_port *port)
{
    const struct tt_gate_shape *job = session->job;

    if (port->class_count != job->setup.shaper.classes) {
        tt_cli_say(COMMAND,
                   "%s has another number of classes (%u) than at the start (%u), which "
                   "priorities are bound to: not taken, begin anew",
                   job->schedule_path, port->class_count, job->setup.shaper.classes);
        return false;
    }
    if (session->pending || !tt_shape_replace(session->shape, port->list)) {
        tt_cli_say(COMMAND, "the schedule before it has not been taken yet: try again");
        return false;
    }
    return true;
}

/* A file that will not do changes nothing. */
static void replace_schedule(struct session *session)
{
    struct schedule *next = find_free(session);
    const struct tt_gate_port *port;

    if (!next) {
        tt_cli_say(COMMAND, "the schedules before it are still in use: try again");
        return;
    }
    if (tt_gate_shape_read(session->job, &next->file, &port) != TT_EXIT_GOOD) {
        return;
    }
    if (!hand_over(session, port)) {
        tt_gate_file_done(&next->file);
        return;
    }
    next->list = port->list;
    session->replaced++;
    session->pending = session->log.path ? port->list : NULL;
    session->coming = port->list;
    say_map(session->job, port);
    tt_gate_shape_say_windows(session->job, port->list);
}

/* A list that has begun is what windows are counted by. */
static void follow_list(struct session *session, const struct tt_shape_counters *now)
{
    if (now->lists == session->replaced && session->told < session->replaced) {
        int64_t left_ns = tt_max64(0, now->list_start_tai_ns - now->now_tai_ns);

        session->told = session->replaced;
        tt_cli_say(COMMAND, "%s is taken: its gates hold from %" PRId64 " ns (TAI) on, in %.3f s",
                   session->job->schedule_path, now->list_start_tai_ns,
                   (double)left_ns / TT_NS_PER_S);
    }
    if (session->coming && now->lists == session->replaced &&
        now->list_start_tai_ns <= now->now_tai_ns) {
        tt_gate_shape_next_list(session->job, session->coming,
                                now->elapsed_ns - (now->now_tai_ns - now->list_start_tai_ns));
        session->coming = NULL;
    }
}

/* An interface that takes less, or nothing, would be a hole that nobody sees. */
static void follow_link(struct session *session, const struct tt_shape_counters *now)
{
    struct tt_shape_link link;

    tt_shape_follow_link(session->shape, &link);
    if (link.mtu_bytes != link.had_mtu_bytes) {
        tt_cli_say(COMMAND, "%s takes %u bytes now (MTU), %u before; %s: %s%s", link.ifname,
                   link.mtu_bytes, link.had_mtu_bytes, link.tap,
                   link.error < 0 ? "its MTU cannot be set, and longer frames are lost: "
                                  : "its MTU is that, too",
                   link.error < 0 ? strerror(-link.error) : "");
    }
    if (link.mtu_bytes == link.had_mtu_bytes && link.tap_mtu_bytes > link.mtu_bytes) {
        tt_cli_say(COMMAND, "%s had an MTU of %u, and %s takes %u: %s", link.tap,
                   link.tap_mtu_bytes, link.ifname, link.mtu_bytes,
                   link.error < 0 ? strerror(-link.error) : "it is that again");
    }
    if (link.was_up && !link.is_up) {
        tt_cli_say(COMMAND, "%s is down: frames are dropped until it is up again", link.ifname);
    } else if (!link.was_up && link.is_up) {
        tt_cli_say(COMMAND, "%s is up now; %" PRIu64 " frames were dropped meanwhile", link.ifname,
                   now->send_refused - session->refused_when_up);
    }
    if (link.is_up) {
        session->refused_when_up = now->send_refused;
    }
}

static void show_live(struct session *session, const struct tt_shape_counters *now,
                      const struct tt_shape_counters *before)
{
    const struct tt_gate_shape *job = session->job;
    char mode[80];

    if (!tt_relay_has_room(STDOUT_FILENO)) {
        return;
    }
    if (job->json) {
        json_t *json = tt_gate_shape_json(job, now, NULL);

        tt_json_print_line(stdout, json);
        json_decref(json);
        return;
    }
    if (session->screen) {
        fputs("\033[?7l\033[H\033[2J", stdout);
    }
    printf("%s to %s, %s; %.0f s\n", job->tap, job->ifname, tt_gate_shape_mode(job, mode),
           (double)now->elapsed_ns / 1e9);
    tt_gate_shape_table(job, now, before, stdout);
    if (session->screen) {
        fputs("\033[?7h", stdout);
    } else {
        fputc('\n', stdout);
    }
    fflush(stdout);
}

static void watch(struct session *session)
{
    struct tt_shape_counters before = {0};
    int64_t start_ns = tt_cli_now_mono_ns();
    int64_t next_ns = start_ns + TT_NS_PER_S;
    int64_t end_ns =
        session->job->duration_ns > 0 ? start_ns + session->job->duration_ns : INT64_MAX;

    while (!tt_cli_interrupted() && tt_cli_now_mono_ns() < end_ns &&
           tt_shape_end(session->shape) == TT_SHAPE_AT_WORK) {
        usleep(WAIT_US);
        write_log(session);
        if (reread) {
            reread = 0;
            replace_schedule(session);
        }
        if (tt_cli_now_mono_ns() >= next_ns) {
            struct tt_shape_counters now;

            read_counters(session, &now);
            follow_list(session, &now);
            follow_link(session, &now);
            show_live(session, &now, &before);
            tt_gate_shape_metrics(session->job, &now, session->shape, session->metrics);
            before = now;
            next_ns += TT_NS_PER_S;
        }
    }
}

static void show_end(struct session *session)
{
    const struct tt_gate_shape *job = session->job;
    struct tt_shape_counters now;
    char mode[80];

    tt_shape_stop(session->shape);
    write_log(session);
    read_counters(session, &now);
    follow_list(session, &now);
    if (job->json) {
        json_t *json = tt_gate_shape_json(job, &now, session->shape);

        tt_json_print_line(stdout, json);
        json_decref(json);
        return;
    }
    printf("all of it: %s to %s, %s\n", job->tap, job->ifname, tt_gate_shape_mode(job, mode));
    tt_gate_shape_table(job, &now, NULL, stdout);
    tt_gate_shape_print_end(job, &now, session->shape, stdout);
}

static enum tt_exit verdict(struct session *session)
{
    struct tt_shape_counters now;
    uint64_t never = 0;

    tt_shape_read(session->shape, &now);
    for (unsigned c = 0; c < session->job->setup.shaper.classes; c++) {
        never += now.classes[c].shaper.dropped_never;
    }
    if (tt_shape_end(session->shape) != TT_SHAPE_AT_WORK) {
        tt_cli_say(COMMAND, "%s is gone: somebody deleted or moved it",
                   tt_shape_end(session->shape) == TT_SHAPE_TAP_GONE ? session->job->tap
                                                                     : session->job->ifname);
        return TT_EXIT_ENVIRONMENT;
    }
    if (never > 0) {
        tt_cli_say(COMMAND,
                   "%" PRIu64
                   " packets were dropped, because no window of their class is long enough "
                   "for them%s",
                   never, session->job->setup.shaper.strict ? " and the margin" : "");
        return TT_EXIT_NEGATIVE;
    }
    return TT_EXIT_GOOD;
}

static void say_start(const struct session *session)
{
    const struct tt_gate_shape *job = session->job;
    char mode[80];

    tt_cli_say(COMMAND, "%s is there, and leads to %s: %s, wire %" PRId64 " bit/s", job->tap,
               job->ifname, tt_gate_shape_mode(job, mode), job->setup.shaper.rate_bps);
    if (!tt_shape_was_up(session->shape)) {
        tt_cli_say(COMMAND, "%s is down: nothing leaves until it is up (`ip link set %s up`)",
                   job->ifname, job->ifname);
    }
    if (!job->realtime) {
        tt_cli_say(COMMAND, "no real-time priority here: frames leave later, by ms under load; run "
                            "it as root or raise RLIMIT_RTPRIO");
    }
    tt_notify("READY=1");
}

static enum tt_exit shape_run(struct session *session)
{
    struct tt_gate_shape *job = session->job;
    struct tt_shape_fault fault;
    enum tt_exit code;
    int error;

    if (job->log_path && !tt_gate_shape_log_open(&session->log, job->log_path)) {
        return TT_EXIT_ENVIRONMENT;
    }
    signal(SIGPIPE, SIG_IGN); /* who watches may leave: frames go on */
    error = tt_shape_new(&job->setup, &session->shape, &fault);
    if (error < 0) {
        return fail_open(job, error, &fault);
    }
    if (job->log_path) {
        tt_gate_shape_log_begin(&session->log, job->setup.shaper.rate_bps);
        tt_gate_shape_log_list(&session->log, job->setup.list, INT64_MIN);
    }
    tt_memory_lock();
    job->realtime = tt_shape_has_realtime(session->shape);
    say_start(session);
    watch(session);
    show_end(session);
    code = verdict(session);
    tt_shape_free(session->shape);
    for (size_t i = 0; i < FILES; i++) {
        if (session->schedules[i].list) {
            tt_gate_file_done(&session->schedules[i].file);
        }
    }
    return code;
}

enum tt_exit tt_gate_shape_run(struct tt_gate_shape *job)
{
    struct session *session = calloc(1, sizeof(*session));
    enum tt_exit code = TT_EXIT_ENVIRONMENT;

    if (!session) {
        tt_cli_say(COMMAND, "out of memory");
        return code;
    }
    session->job = job;
    session->screen = isatty(STDOUT_FILENO);
    tt_relay_start();
    code = (enum tt_exit)tt_metrics_start(COMMAND, job->metrics, &session->metrics);
    if (code == TT_EXIT_GOOD) {
        code = shape_run(session);
    }
    tt_metrics_stop(session->metrics);
    if (!tt_gate_shape_log_close(&session->log)) {
        code = TT_EXIT_ENVIRONMENT;
    }
    free(session);
    return code;
}
