/*
 * See meter_job.h.
 */
#include "cli/meter_job.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/ns.h"
#include "cli/meter_device.h"
#include "cli/midi_ports.h"
#include "os/memory.h"

#define FRAMES_MIN 16
#define FRAMES_MAX 16384

/* A timer: 1 ms of work, 3 ms of sleep. */
static const struct tt_fragment_shape timer = {.rate_hz = 1000000, .frames = 4000};
#define TIMER_COMPUTE_PERCENT 25

#define CALIBRATION_NS (500 * TT_NS_PER_MS)

void tt_meter_job_init(struct tt_meter_job *job)
{
    *job = (struct tt_meter_job){
        .compute_percent = 80,
        .rate_hz = 48000,
        .policy = {.cpu = -1},
        .file_bytes = INT64_C(64) << 20,
        .trace = true,
        .awake_fd = -1,
    };
}

static bool parse_number(const char **at, long *ret_number)
{
    char *end;

    *ret_number = strtol(*at, &end, 10);
    if (end == *at || **at == '-' || **at == '+') {
        return false;
    }
    *at = end;
    return true;
}

int tt_meter_shape_parse(const char *text, uint32_t rate_hz, struct tt_fragment_shape *ret_shape)
{
    const char *at = text;
    long numbers[2];
    long rate = (long)rate_hz;
    long count;
    long frames;

    if (strcmp(text, "timer") == 0) {
        *ret_shape = timer;
        return 0;
    }
    if (!parse_number(&at, &numbers[0]) || *at++ != 'x' || !parse_number(&at, &numbers[1])) {
        return -EINVAL;
    }
    if (*at == '@') {
        at++;
        if (!parse_number(&at, &rate)) {
            return -EINVAL;
        }
    }
    count = numbers[0] < numbers[1] ? numbers[0] : numbers[1];
    frames = numbers[0] < numbers[1] ? numbers[1] : numbers[0];
    if (*at != 0 || count < 2 || count > TT_FRAGMENT_COUNT_MAX || frames < FRAMES_MIN ||
        frames > FRAMES_MAX || rate < 8000 || rate > 768000) {
        return -EINVAL;
    }
    *ret_shape = (struct tt_fragment_shape){
        .rate_hz = (uint32_t)rate, .frames = frames, .count = (unsigned)count};
    return 0;
}

static enum tt_exit open_midi(struct tt_meter_job *job)
{
    struct tt_midi_port_setup setup = {.name = job->midi};

    return job->midi ? tt_midi_ports_open(TT_METER_COMMAND, &setup, &job->midi_port) : TT_EXIT_GOOD;
}

static void open_trace(struct tt_meter_job *job)
{
    bool osnoise;
    int error;

    if (!job->trace || tt_trace_available(&osnoise) != 0) {
        return;
    }
    error = tt_trace_open(&job->trace_session);
    if (error) {
        tt_cli_say(TT_METER_COMMAND,
                   "tracefs is there, but not to be used (%s): causes go without who ran instead",
                   strerror(-error));
    }
}

static void say_load(const struct tt_meter_job *job, enum tt_load_kind kind, int error)
{
    const char *load = tt_meter_load_text(tt_load_name(kind));
    const char *folder = job->folder ? job->folder : "this folder";

    if (error == -ENOSPC) {
        tt_cli_say(
            TT_METER_COMMAND,
            "%s: too little room in %s; a tenth of what is free is used at most. Give another "
            "folder by --folder, or leave this load out by --load",
            load, folder);
    } else if (error == -ECHILD) {
        tt_cli_say(
            TT_METER_COMMAND,
            "cannot start the load %s: somebody ended a process of it (where memory is short, "
            "the kernel does). Leave it out by --load",
            load);
    } else {
        tt_cli_say(TT_METER_COMMAND,
                   "cannot start the load %s, with its files in %s: %s. Give another folder by "
                   "--folder, or leave it out by --load",
                   load, folder, strerror(-error));
    }
}

static struct tt_load_setup load_setup(const struct tt_meter_job *job, enum tt_load_kind kind)
{
    return (struct tt_load_setup){
        .kind = kind, .folder = job->folder, .file_bytes = job->file_bytes};
}

bool tt_meter_job_all_loads(struct tt_meter_job *job)
{
    bool all = true;

    for (int kind = 0; kind < TT_LOADS; kind++) {
        struct tt_load_setup setup = load_setup(job, (enum tt_load_kind)kind);
        int error = tt_load_check(&setup);

        if (error) {
            say_load(job, setup.kind, error);
            all = false;
        } else {
            job->loads[job->load_count++] = setup.kind;
        }
    }
    return all;
}

static enum tt_exit check_loads(const struct tt_meter_job *job)
{
    for (size_t i = 0; i < job->load_count; i++) {
        struct tt_load_setup setup = load_setup(job, job->loads[i]);
        int error = tt_load_check(&setup);

        if (error) {
            say_load(job, setup.kind, error);
            return TT_EXIT_ENVIRONMENT;
        }
    }
    return TT_EXIT_GOOD;
}

static enum tt_exit say_failure(const struct tt_meter_job *job, const struct tt_meter_setup *setup,
                                int error, const char *what)
{
    char shape[TT_DURATION_TEXT];

    if (strcmp(what, TT_METER_WHAT_LOAD) == 0) {
        say_load(job, setup->load.kind, error);
        return TT_EXIT_ENVIRONMENT;
    }
    if (setup->card) {
        return tt_meter_device_say(error);
    }
    tt_cli_say(TT_METER_COMMAND, "%s under %s: cannot %s: %s",
               tt_meter_shape_text(&setup->shape, shape),
               tt_meter_load_text(tt_load_name(setup->load.kind)), what, strerror(-error));
    return TT_EXIT_ENVIRONMENT;
}

void tt_meter_job_close(struct tt_meter_job *job)
{
    tt_meter_job_untune(job);
    tt_trace_close(&job->trace_session);
    tt_midi_port_close(job->midi_port);
    free(job->ring.entries);
    job->ring.entries = NULL;
    job->midi_port = NULL;
}

void tt_meter_job_tune(struct tt_meter_job *job)
{
    unsigned last = tt_machine_processors() - 1;

    job->awake_fd = tt_machine_awake();
    if (job->awake_fd < 0 && !job->awake_refused) {
        job->awake_refused = true;
        tt_cli_say(TT_METER_COMMAND,
                   "cannot keep the processors out of idle states (/dev/cpu_dma_latency: %s)",
                   strerror(-job->awake_fd));
    }
    if (job->policy.kind != TT_POLICY_DEADLINE && job->policy.cpu < 0) {
        job->policy.cpu = (int)last;
    }
}

void tt_meter_job_untune(struct tt_meter_job *job)
{
    if (job->awake_fd >= 0) {
        close(job->awake_fd);
        job->awake_fd = -1;
    }
}

static int64_t compute_ns(const struct tt_meter_job *job, const struct tt_fragment_shape *shape)
{
    unsigned percent = shape->count > 0 ? job->compute_percent : TIMER_COMPUTE_PERCENT;

    return tt_fragment_shape_period_ns(shape) * percent / 100;
}

/* A deadline thread gets what it computes and half of what is left. */
static void set_deadline(struct tt_meter_setup *setup)
{
    int64_t period_ns = tt_fragment_shape_period_ns(&setup->shape);

    setup->policy.period_ns = period_ns;
    setup->policy.runtime_ns = setup->compute_ns + (period_ns - setup->compute_ns) / 2;
}

void tt_meter_job_free(struct tt_meter_result *result)
{
    free(result->cell);
    free(result->midi);
    free(result->round_trip);
    *result = (struct tt_meter_result){0};
}

static bool make_room(const struct tt_meter_job *job, struct tt_meter_result *result)
{
    result->cell = calloc(1, sizeof(*result->cell));
    result->midi = job->midi ? calloc(1, sizeof(*result->midi)) : NULL;
    result->round_trip = job->round_trip ? calloc(1, sizeof(*result->round_trip)) : NULL;
    if (!result->cell || (job->midi && !result->midi) || (job->round_trip && !result->round_trip)) {
        tt_meter_job_free(result);
        return false;
    }
    if (result->midi) {
        tt_hist_init(result->midi);
    }
    if (result->round_trip) {
        tt_hist_init(result->round_trip);
    }
    return true;
}

/* By the loop itself, for its computations take longer than trials by themselves: its thread, its
 * priority, its wake-ups, and a machine with nothing else to do. */
static enum tt_exit calibrate(struct tt_meter_job *job)
{
    static const struct tt_fragment_shape shape = {.rate_hz = 48000, .frames = 64, .count = 3};
    struct tt_meter_setup setup = {
        .shape = shape,
        .plan_ns = CALIBRATION_NS,
        .compute_ns = tt_fragment_shape_period_ns(&shape) / 2,
        .policy = job->policy,
        .load = load_setup(job, TT_LOAD_IDLE),
        .machine = &job->machine,
        .ring = &job->ring,
        .interrupted = tt_cli_interrupted,
    };
    struct tt_meter_result result = {0};
    const char *what = "";
    int error;

    if (!make_room(job, &result)) {
        tt_cli_say(TT_METER_COMMAND, "out of memory");
        return TT_EXIT_ENVIRONMENT;
    }
    set_deadline(&setup);
    error = tt_meter_run(&setup, &result, &what);
    if (error == 0 && result.cell->compute.n > 0) {
        tt_meter_machine_correct(&job->machine, setup.compute_ns,
                                 tt_hist_percentile(&result.cell->compute, 500));
    }
    tt_meter_job_free(&result);
    return error ? say_failure(job, &setup, error, what) : TT_EXIT_GOOD;
}

enum tt_exit tt_meter_job_open(struct tt_meter_job *job)
{
    enum tt_exit code = check_loads(job);
    struct tt_meter_entry *entries;

    if (code != TT_EXIT_GOOD) {
        return code;
    }
    entries = tt_memory_new(TT_METER_RING_ENTRIES, sizeof(*entries));
    if (!entries) {
        tt_cli_say(TT_METER_COMMAND, "out of memory");
        return TT_EXIT_ENVIRONMENT;
    }
    tt_meter_ring_init(&job->ring, entries);
    tt_meter_machine_init(&job->machine);
    code = open_midi(job);
    if (code == TT_EXIT_GOOD) {
        open_trace(job);
        /* As audio programs do; what is refused is in the machine's card. */
        tt_memory_lock();
        code = calibrate(job);
    }
    return code;
}

static void say_progress(const struct tt_meter_job *job, const struct tt_meter_setup *setup)
{
    char shape[TT_DURATION_TEXT];
    char time[TT_DURATION_TEXT];

    if (!job->quiet && isatty(STDERR_FILENO)) {
        fprintf(stderr, "\r\033[K%s, %s, %s ...", tt_meter_shape_text(&setup->shape, shape),
                tt_meter_load_text(tt_load_name(setup->load.kind)),
                tt_duration_text(setup->plan_ns, time));
    }
}

static void end_progress(const struct tt_meter_job *job)
{
    if (!job->quiet && isatty(STDERR_FILENO)) {
        fprintf(stderr, "\r\033[K");
    }
}

enum tt_exit tt_meter_job_run(struct tt_meter_job *job, const struct tt_fragment_shape *shape,
                              enum tt_load_kind load, struct tt_meter_result *ret_result)
{
    struct tt_meter_setup setup = {
        .shape = *shape,
        .plan_ns = job->cell_ns,
        .policy = job->policy,
        .load = load_setup(job, load),
        .machine = &job->machine,
        .ring = &job->ring,
        .midi = shape->count > 0 ? job->midi_port : NULL,
        .trace = job->trace_session.folder[0] ? &job->trace_session : NULL,
        .interrupted = tt_cli_interrupted,
        .incident = job->incident,
        .tick = job->tick,
        .context = job->context,
    };
    const char *what = "";
    enum tt_exit code = TT_EXIT_GOOD;
    int error;

    *ret_result = (struct tt_meter_result){0};
    if (!make_room(job, ret_result)) {
        tt_cli_say(TT_METER_COMMAND, "out of memory");
        return TT_EXIT_ENVIRONMENT;
    }
    if (job->device && shape->count > 0) {
        code = tt_meter_device_open(job->device, job->round_trip, shape, &job->card);
        setup.card = &job->card;
    }
    if (code == TT_EXIT_GOOD) {
        if (setup.card) {
            tt_meter_device_shape(&job->card, &setup.shape);
        }
        setup.compute_ns = compute_ns(job, &setup.shape);
        set_deadline(&setup);
        say_progress(job, &setup);
        error = tt_meter_run(&setup, ret_result, &what);
        end_progress(job);
        code = error ? say_failure(job, &setup, error, what) : TT_EXIT_GOOD;
    }
    tt_meter_device_close(&job->card);
    if (code != TT_EXIT_GOOD) {
        tt_meter_job_free(ret_result);
    }
    return code;
}

enum tt_exit tt_meter_job_check_time(const struct tt_meter_job *job, const char *command,
                                     const char *option, int64_t plan_ns)
{
    char plan[TT_DURATION_TEXT];
    char shape[TT_DURATION_TEXT];
    char buffer[TT_DURATION_TEXT];

    for (size_t i = 0; i < job->shape_count; i++) {
        if (plan_ns < tt_meter_buffer_ns(&job->shapes[i])) {
            tt_cli_say(command, "%s %s is shorter than %s (%s), and shows nothing: give more",
                       option, tt_duration_text(plan_ns, plan),
                       tt_meter_shape_text(&job->shapes[i], shape),
                       tt_duration_text(tt_meter_buffer_ns(&job->shapes[i]), buffer));
            return TT_EXIT_USAGE;
        }
    }
    return TT_EXIT_GOOD;
}
