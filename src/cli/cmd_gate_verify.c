/*
 * `tactus gate verify`: what really left, held against a schedule.
 */
#include <argp.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "audio/config_value.h"
#include "base/bytes.h"
#include "base/min_max.h"
#include "base/ns.h"
#include "cli/capture.h"
#include "cli/cmd.h"
#include "cli/cmd_gate.h"
#include "cli/gate_options.h"
#include "cli/gate_picture.h"
#include "gate/lint.h"
#include "gate/wire_time.h"
#include "os/clock.h"
#include "report/json.h"
#include "report/table.h"

#define COMMAND    "tactus gate verify"
#define FILE_TAI_S 37 /* TAI - UTC since 2017 */
#define VLAN_TYPE  0x8100
#define SNAP_BYTES 128
#define WAIT_MS    100

enum {
    OPTION_DURATION = 300,
    OPTION_JSON,
    OPTION_TAI,
    OPTION_UNTAGGED,
    OPTION_DELAY,
    OPTION_TOLERANCE,
    OPTION_PICTURE
};

struct job {
    struct tt_gate_options options; /* the schedule */
    const char *source;
    int64_t duration_ns;
    int64_t tai_offset_s;
    int64_t untagged; /* their priority */
    int64_t delay_ns; /* from a frame's start to its stamp */
    int64_t tolerance_ns;
    const char *picture;
};

struct class_result {
    uint64_t frames;
    uint64_t outside;  /* started while the gate was closed */
    uint64_t overruns; /* began in time and ended too late */
    int64_t outside_max_ns;
    int64_t overrun_max_ns;
    struct tt_hist phase;
};

struct verdict {
    const struct tt_gate_port *port;
    struct class_result *classes; /* TT_GATE_CLASSES */
    struct tt_gate_picture picture;
    uint64_t frames;
    uint64_t wrong;
};

static const struct argp_option options[] = {
    {"json", OPTION_JSON, NULL, 0, "One JSON object instead of text", 0},
    {"tai-offset", OPTION_TAI, "SECONDS", 0, "TAI - UTC of the capture file's clock (37)", 0},
    {"duration", OPTION_DURATION, "TIME", 0, "How long to listen at an interface (10s)", 0},
    {"untagged", OPTION_UNTAGGED, "N", 0, "The priority of frames without a VLAN tag (0)", 0},
    {"delay", OPTION_DELAY, "TIME", 0,
     "From a frame's start on the wire to its stamp, which is taken off (0)", 0},
    {"tolerance", OPTION_TOLERANCE, "TIME", 0, "How far outside its window counts as inside (0)",
     0},
    {"picture", OPTION_PICTURE, "FILE", 0, "Draw the frames over one cycle, as SVG", 0},
    {0},
};
static const struct argp_child children[] = {{&tt_gate_tc_argp, 0, NULL, 1}, {0}};

static int64_t option_time(const char *argument, struct argp_state *state)
{
    int64_t ns = 0;
    const char *fault = tt_value_time(argument, &ns);

    if (fault) {
        argp_error(state, "'%s' %s", argument, fault);
    }
    return ns;
}

static error_t parse_option(int key, char *argument, struct argp_state *state)
{
    struct job *job = state->input;

    switch (key) {
    case ARGP_KEY_INIT:
        state->child_inputs[0] = &job->options;
        return 0;
    case OPTION_JSON:
        job->options.json = true;
        return 0;
    case OPTION_DURATION:
        job->duration_ns = tt_cli_duration_option(argument, state);
        return 0;
    case OPTION_UNTAGGED:
        if (tt_value_number(argument, &job->untagged) || job->untagged >= TT_GATE_PRIORITIES) {
            argp_error(state, "--untagged %s: a priority is 0 to 15", argument);
        }
        return 0;
    case OPTION_TAI:
        if (tt_value_number(argument, &job->tai_offset_s) || job->tai_offset_s > 1000) {
            argp_error(state, "--tai-offset %s: give a number of seconds", argument);
        }
        return 0;
    case OPTION_DELAY:
        job->delay_ns = option_time(argument, state);
        return 0;
    case OPTION_TOLERANCE:
        job->tolerance_ns = option_time(argument, state);
        return 0;
    case OPTION_PICTURE:
        job->picture = argument;
        return 0;
    default:
        return tt_cli_arguments(key, argument, state,
                                (const char **const[]){&job->options.path, &job->source}, 2,
                                "a schedule, and a capture file or an interface");
    }
}

static const struct argp parser = {
    .options = options,
    .parser = parse_option,
    .children = children,
    .args_doc = "SCHEDULE CAPTURE|INTERFACE",
    .doc =
        "Hold frames against a schedule by their stamps: the phase of each in the cycle, and which "
        "were outside their window. SCHEDULE is a file or an interface that has one."
        "\v"
        "The priority is the VLAN tag's. A capture file's times are taken as UTC; at an interface, "
        "stamps are those of this machine, of what it sends as it leaves the qdisc.\n\n"
        "Examples:\n"
        "  tactus gate verify schedule.json wire.pcapng\n"
        "  tactus gate verify eth0 eth0 --duration 5s --picture phase.svg\n\n"
        "Exit: 0 every frame in its window; 1 not so; 2 wrong usage; 3 not readable; 4 no frame."};

static unsigned priority_of(const struct job *job, const struct tt_packet *packet)
{
    return packet->bytes >= 16 && tt_get_be16(packet->frame + 12) == VLAN_TYPE
               ? tt_get_be16(packet->frame + 14) >> 13
               : (unsigned)job->untagged;
}

/* How far outside the nearest window a time is. */
static int64_t outside_by(const struct tt_gate_list *list, unsigned class, int64_t tai_ns)
{
    struct tt_gate_window next;
    struct tt_gate_window before;

    if (!tt_gate_list_window(list, class, tai_ns, &next)) {
        return list->cycle_ns;
    }
    if (next.open_ns <= tai_ns) {
        return 0;
    }
    tt_gate_list_window(list, class, next.open_ns - list->cycle_ns, &before);
    while (before.close_ns <= tai_ns) {
        struct tt_gate_window later;

        tt_gate_list_window(list, class, before.close_ns, &later);
        if (later.open_ns > tai_ns) {
            break;
        }
        before = later;
    }
    return tt_min64(next.open_ns - tai_ns, tai_ns - before.close_ns + 1);
}

static void draw(struct verdict *v, unsigned class, int64_t phase_ns, int64_t wire_ns, bool late)
{
    struct tt_sim_frame frame = {.class = class,
                                 .start_ns = v->picture.from_ns + phase_ns,
                                 .end_ns = v->picture.from_ns + phase_ns + wire_ns,
                                 .close_ns = late ? v->picture.from_ns : INT64_MAX};

    tt_gate_picture_take(&v->picture, &frame);
}

static void judge(const struct job *job, struct verdict *v, const struct tt_packet *packet)
{
    const struct tt_gate_list *list = v->port->list;
    unsigned class = tt_gate_class_of(v->port, priority_of(job, packet));
    int64_t at_ns = packet->arrival_utc_ns + job->tai_offset_s * TT_NS_PER_S - job->delay_ns;
    int64_t wire_ns =
        tt_wire_ns(tt_wire_bytes(tt_min64((int64_t)packet->wire_bytes, TT_WIRE_BYTES_MAX / 2)),
                   tt_gate_rate(v->port));
    int64_t since_ns = at_ns - list->base_tai_ns;
    int64_t phase_ns = since_ns - tt_floor_div(since_ns, list->cycle_ns) * list->cycle_ns;
    struct class_result *r = &v->classes[class];
    int64_t outside_ns = outside_by(list, class, at_ns);
    struct tt_gate_window window;

    r->frames++;
    v->frames++;
    tt_hist_record(&r->phase, phase_ns);
    if (outside_ns > job->tolerance_ns) {
        r->outside++;
        v->wrong++;
        r->outside_max_ns = tt_max64(r->outside_max_ns, outside_ns);
    } else if (tt_gate_list_window(list, class, at_ns, &window) && window.close_ns != INT64_MAX &&
               at_ns + wire_ns - job->tolerance_ns > window.close_ns &&
               window.open_ns - job->tolerance_ns <= at_ns) {
        r->overruns++;
        v->wrong++;
        r->overrun_max_ns = tt_max64(r->overrun_max_ns, at_ns + wire_ns - window.close_ns);
        outside_ns = 1;
    } else {
        outside_ns = 0;
    }
    draw(v, class, phase_ns, wire_ns, outside_ns > 0);
}

/* 0, or -1: the capture broke. */
static int take_all(const struct job *job, struct tt_capture *capture, bool live, struct verdict *v)
{
    int64_t end_ns = tt_cli_now_mono_ns() + job->duration_ns;
    struct tt_packet packet;
    int status;

    for (;;) {
        while ((status = tt_capture_next(capture, &packet)) == 1 && !tt_cli_interrupted() &&
               (!live || tt_cli_now_mono_ns() < end_ns)) {
            judge(job, v, &packet);
        }
        if (status < 0 || !live || tt_cli_interrupted() || tt_cli_now_mono_ns() >= end_ns) {
            return status < 0 ? -1 : 0;
        }
        tt_capture_wait(capture, WAIT_MS);
    }
}

static void print(const struct verdict *v)
{
    static const struct tt_column columns[] = {
        {"class", TT_ALIGN_RIGHT},       {"frames", TT_ALIGN_RIGHT},   {"outside", TT_ALIGN_RIGHT},
        {"by", TT_ALIGN_RIGHT},          {"overruns", TT_ALIGN_RIGHT}, {"by", TT_ALIGN_RIGHT},
        {"first phase", TT_ALIGN_RIGHT}, {"median", TT_ALIGN_RIGHT},   {"last", TT_ALIGN_RIGHT},
    };
    struct tt_table table;

    tt_table_init(&table, columns, TT_COUNT_OF(columns));
    for (unsigned c = 0; c < TT_GATE_CLASSES; c++) {
        const struct class_result *r = &v->classes[c];

        if (r->frames > 0) {
            tt_table_cell(&table, "%u", c);
            tt_table_cell_number(&table, (int64_t)r->frames);
            tt_table_cell_number(&table, (int64_t)r->outside);
            tt_table_cell(&table, "%s", r->outside ? tt_gate_us(r->outside_max_ns).text : "-");
            tt_table_cell_number(&table, (int64_t)r->overruns);
            tt_table_cell(&table, "%s", r->overruns ? tt_gate_us(r->overrun_max_ns).text : "-");
            tt_table_cell(&table, "%s", tt_gate_us(r->phase.min).text);
            tt_table_cell(&table, "%s", tt_gate_us(tt_hist_percentile(&r->phase, 500)).text);
            tt_table_cell(&table, "%s", tt_gate_us(r->phase.max).text);
        }
    }
    tt_table_print(&table, stdout);
    tt_table_done(&table);
    printf("\n%" PRIu64 " of %" PRIu64 " frames were in their windows.\n", v->frames - v->wrong,
           v->frames);
}

static void print_json(const struct verdict *v)
{
    json_t *classes = json_array();
    json_t *all;

    for (unsigned c = 0; c < TT_GATE_CLASSES; c++) {
        const struct class_result *r = &v->classes[c];

        if (r->frames > 0) {
            json_array_append_new(
                classes,
                json_pack("{s:i, s:o, s:o, s:I, s:o, s:I, s:o}", "class", (int)c, "frames",
                          tt_json_u64(r->frames), "outside", tt_json_u64(r->outside),
                          "outside_max_ns", (json_int_t)r->outside_max_ns, "overruns",
                          tt_json_u64(r->overruns), "overrun_max_ns", (json_int_t)r->overrun_max_ns,
                          "phase", tt_json_summary(&r->phase)));
        }
    }
    all = json_pack("{s:o, s:o, s:o}", "frames", tt_json_u64(v->frames), "wrong",
                    tt_json_u64(v->wrong), "classes", classes);
    tt_json_print_line(stdout, all);
    json_decref(all);
}

static int write_picture(const struct job *job, const struct verdict *v)
{
    FILE *out = job->picture ? fopen(job->picture, "we") : NULL;

    if (out) {
        tt_gate_picture_write(&v->picture, out);
    }
    if (job->picture && (!out || ferror(out) | fclose(out))) {
        tt_cli_say(COMMAND, "cannot write %s: %s", job->picture, strerror(errno));
        return TT_EXIT_ENVIRONMENT;
    }
    return TT_EXIT_GOOD;
}

static int conclude(const struct job *job, const struct verdict *v, const char *broken)
{
    int code;

    if (job->options.json) {
        print_json(v);
    } else {
        print(v);
    }
    code = write_picture(job, v);
    if (broken) {
        tt_cli_say(COMMAND, "%s breaks off: %s; the figures are of what was read", job->source,
                   broken);
        return TT_EXIT_INCONCLUSIVE;
    }
    return code != TT_EXIT_GOOD ? code
           : v->frames == 0     ? TT_EXIT_INCONCLUSIVE
           : v->wrong > 0       ? TT_EXIT_NEGATIVE
                                : TT_EXIT_GOOD;
}

static int open_capture(struct job *job, bool live, struct tt_capture *capture)
{
    struct tt_capture_live options_live = {
        .ifname = job->source, .snap_bytes = SNAP_BYTES, .everything = true};
    int offset_s = 0;

    if (!live) {
        return tt_capture_open_file(COMMAND, job->source, capture);
    }
    tt_cli_catch_interrupt();
    /* The kernel's taprio counts with the same offset, set or not. */
    tt_clock_tai_offset(&offset_s);
    job->tai_offset_s = offset_s;
    return tt_capture_open_live(COMMAND, &options_live, capture);
}

static int verify(struct job *job, const struct tt_gate_file *file)
{
    struct tt_flow flow = {.name = "a frame"};
    struct tt_network network = {file->network.ports, 1, &flow, 1};
    bool live = access(job->source, F_OK) != 0;
    struct verdict v = {.port = &file->network.ports[0]};
    struct tt_capture capture;
    int code;

    while (v.port < file->network.ports + file->network.port_count && !v.port->list) {
        v.port++;
    }
    if (v.port == file->network.ports + file->network.port_count) {
        tt_cli_say(COMMAND, "%s has no gates to hold anything against", job->options.path);
        return TT_EXIT_USAGE;
    }
    network.ports = (struct tt_gate_port *)v.port;
    v.picture = (struct tt_gate_picture){.network = &network,
                                         .from_ns = v.port->list->base_tai_ns,
                                         .length_ns = v.port->list->cycle_ns};
    code = open_capture(job, live, &capture);
    if (code != TT_EXIT_GOOD) {
        return code;
    }
    v.classes = calloc(TT_GATE_CLASSES, sizeof(*v.classes));
    v.picture.frames = malloc(TT_GATE_PICTURE_FRAMES * sizeof(*v.picture.frames));
    if (!v.classes || !v.picture.frames) {
        tt_cli_say(COMMAND, "out of memory");
        code = TT_EXIT_ENVIRONMENT;
    } else {
        for (int c = 0; c < TT_GATE_CLASSES; c++) {
            tt_hist_init(&v.classes[c].phase);
        }
        code = take_all(job, &capture, live, &v);
        code = conclude(job, &v, code < 0 ? tt_capture_error(&capture) : NULL);
    }
    free(v.classes);
    free(v.picture.frames);
    tt_capture_close(&capture);
    return code;
}

int tt_cmd_gate_verify(int argc, char **argv)
{
    struct job job = {.duration_ns = 10 * TT_NS_PER_S, .tai_offset_s = FILE_TAI_S};
    struct tt_gate_file file;
    int code;

    if (argp_parse(&parser, argc, argv, 0, NULL, &job) != 0) {
        return TT_EXIT_USAGE;
    }
    code = (int)tt_gate_open(COMMAND, &job.options, &file);
    if (code == TT_EXIT_GOOD) {
        code = verify(&job, &file);
        tt_gate_file_done(&file);
    }
    return code;
}
