/*
 * `tactus gate verify`: what really left, held against a schedule.
 */
#include <argp.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "audio/config_value.h"
#include "base/bytes.h"
#include "base/min_max.h"
#include "base/ns.h"
#include "cli/capture.h"
#include "cli/cmd.h"
#include "cli/cmd_gate.h"
#include "cli/gate_port.h"
#include "cli/gate_value.h"
#include "cli/gate_verified.h"
#include "os/clock.h"

#define COMMAND    "tactus gate verify"
#define FILE_TAI_S 37 /* TAI - UTC since 2017 */
#define VLAN_TYPE  0x8100
#define IPV4_TYPE  0x0800
#define SNAP_BYTES 128
#define WAIT_MS    100

enum {
    OPTION_DURATION = 300,
    OPTION_TAI,
    OPTION_UNTAGGED,
    OPTION_DELAY,
    OPTION_TOLERANCE,
    OPTION_RECEIVED,
    OPTION_SENDER,
    OPTION_PORT
};

struct job {
    struct tt_gate_options options; /* the schedule, and what is held against it */
    int64_t duration_ns;
    int64_t tai_offset_s;
    int64_t untagged; /* their priority; -1: as Linux takes it from IPv4's TOS */
    int64_t delay_ns; /* from a frame's start to its stamp */
    int64_t tolerance_ns;
    bool received;
    bool sender;
    const char *port_name;
};

static const struct argp_option options[] = {
    {"duration", OPTION_DURATION, "TIME", 0, "How long to listen at an interface (10s)", 0},
    {"port", OPTION_PORT, "NAME", 0,
     "Which port of the plan (\"a -> b\"); needed where several have gates", 0},
    {"received", OPTION_RECEIVED, NULL, 0,
     "At an interface: what arrives there, instead of what this machine sends", 0},
    {"sender", OPTION_SENDER, NULL, 0,
     "The capture file is the sender's own: its stamps are of frames handed to the driver", 0},
    {"tai-offset", OPTION_TAI, "SECONDS", 0, "TAI - UTC of the capture file's clock (37)", 0},
    {"untagged", OPTION_UNTAGGED, "N", 0,
     "The priority of frames without a VLAN tag (what Linux makes of the TOS of IPv4; else 0)", 0},
    {"delay", OPTION_DELAY, "TIME", 0,
     "From a frame's start on the wire to its stamp, which is taken off (0)", 0},
    {"tolerance", OPTION_TOLERANCE, "TIME", 0, "How far outside its window counts as inside (0)",
     0},
    {0},
};

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
    case OPTION_RECEIVED:
        job->received = true;
        return 0;
    case OPTION_SENDER:
        job->sender = true;
        return 0;
    case OPTION_PORT:
        job->port_name = argument;
        return 0;
    default:
        return tt_gate_parse(key, argument, state);
    }
}

static const struct argp parser = {
    .options = options,
    .parser = parse_option,
    .children = tt_gate_page_children,
    .args_doc = "SCHEDULE CAPTURE|INTERFACE",
    .doc =
        "Hold frames against a schedule by their stamps: the phase of each in the cycle, and which "
        "were outside their window. SCHEDULE is a file or an interface that has one."
        "\v"
        "At an interface it is what this machine sends, stamped as it leaves the qdisc; the wire "
        "behind it is modelled. What the schedule's own kernel is known to do (its taprio counts "
        "frames without preamble, FCS and gap, and does not look at whether the wire is free) is "
        "counted apart, with the reason. The priority is the VLAN tag's; a capture file's times "
        "are taken as UTC.\n\n"
        "Examples:\n"
        "  tactus gate verify schedule.json wire.pcapng\n"
        "  tactus gate verify eth0 eth0 --duration 5s --html phase.html\n\n"
        "Exit: 0 every frame in its window, or as its kernel is known to do it; 1 not so; 2 wrong "
        "usage; 3 not readable; 4 no frame."};

/* What Linux makes of the type of service of a socket. */
static unsigned priority_of_tos(uint8_t tos)
{
    static const uint8_t priorities[16] = {0, 0, 0, 0, 2, 2, 2, 2, 6, 6, 6, 6, 4, 4, 4, 4};

    return priorities[tos >> 1 & 15];
}

static unsigned priority_of(const struct job *job, const struct tt_packet *packet)
{
    uint16_t type = packet->bytes >= 16 ? tt_get_be16(packet->frame + 12) : 0;

    if (type == VLAN_TYPE) {
        return tt_get_be16(packet->frame + 14) >> 13;
    }
    return job->untagged >= 0  ? (unsigned)job->untagged
           : type == IPV4_TYPE ? priority_of_tos(packet->frame[15])
                               : 0;
}

static void judge(const struct job *job, struct tt_gate_verified *v, const struct tt_packet *packet)
{
    unsigned class = tt_gate_class_of(v->port, priority_of(job, packet));
    struct tt_gate_verdict verdict;

    tt_gate_verify(&v->verifier, class,
                   packet->arrival_utc_ns + job->tai_offset_s * TT_NS_PER_S - job->delay_ns,
                   tt_min64((int64_t)packet->wire_bytes, TT_WIRE_BYTES_MAX / 2), &verdict);
    tt_gate_verified_take(v, class, &verdict);
}

/* 0, or -1: the capture broke. */
static int take_all(const struct job *job, struct tt_capture *capture, bool live,
                    struct tt_gate_verified *v)
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

static int conclude(const struct job *job, const struct tt_gate_verified *v, const char *broken)
{
    int code = (int)tt_gate_verified_give(v, COMMAND, &job->options);

    if (broken) {
        tt_cli_say(COMMAND, "%s cannot be read whole: %s; the figures are of what could",
                   job->options.source, broken);
        return TT_EXIT_INCONCLUSIVE;
    }
    return code != TT_EXIT_GOOD ? code
           : v->frames == 0     ? TT_EXIT_INCONCLUSIVE
           : v->wrong > 0       ? TT_EXIT_NEGATIVE
                                : TT_EXIT_GOOD;
}

static int open_capture(struct job *job, bool live, struct tt_capture *capture)
{
    struct tt_capture_live options_live = {.ifname = job->options.source,
                                           .snap_bytes = SNAP_BYTES,
                                           .everything = true,
                                           .sent = !job->received};
    int offset_s = 0;

    if (!live) {
        return tt_capture_open_file(COMMAND, job->options.source, capture);
    }
    tt_cli_catch_interrupt();
    /* The kernel's taprio counts with the same offset, set or not. */
    tt_clock_tai_offset(&offset_s);
    job->tai_offset_s = offset_s;
    return tt_capture_open_live(COMMAND, &options_live, capture);
}

/* What this machine sends, its own kernel has let out. */
static void take_kernel(struct tt_gate_port *port)
{
    struct utsname system;

    if (port->kernel == 0 && uname(&system) == 0) {
        tt_gate_kernel_parse(system.release, &port->kernel);
    }
}

static int verify(struct job *job, struct tt_gate_port *port)
{
    bool live = access(job->options.source, F_OK) != 0;
    struct tt_gate_verified v;
    struct tt_capture capture;
    int code = open_capture(job, live, &capture);

    if (code != TT_EXIT_GOOD) {
        return code;
    }
    if (live && !job->received) {
        take_kernel(port);
    }
    if (tt_gate_verified_init(&v, port) != 0) {
        tt_cli_say(COMMAND, "out of memory");
        code = TT_EXIT_ENVIRONMENT;
    } else {
        tt_gate_verifier_init(&v.verifier, port, live ? !job->received : job->sender,
                              job->tolerance_ns);
        code = take_all(job, &capture, live, &v);
        code = conclude(job, &v, code < 0 ? tt_capture_error(&capture) : NULL);
    }
    tt_gate_verified_done(&v);
    tt_capture_close(&capture);
    return code;
}

int tt_cmd_gate_verify(int argc, char **argv)
{
    struct job job = {.options = {.takes_source = true},
                      .duration_ns = 10 * TT_NS_PER_S,
                      .tai_offset_s = FILE_TAI_S,
                      .untagged = -1};
    struct tt_gate_file file;
    struct tt_gate_port *port;
    int code;

    if (argp_parse(&parser, argc, argv, 0, NULL, &job) != 0) {
        return TT_EXIT_USAGE;
    }
    code = (int)tt_gate_open(COMMAND, &job.options, &file);
    if (code == TT_EXIT_GOOD) {
        port = tt_gate_port_find(COMMAND, job.options.path, &file, job.port_name);
        if (port && !port->list) {
            tt_cli_say(COMMAND, "%s: the schedule has no entries to hold anything against",
                       job.options.path);
        }
        code = port && port->list ? verify(&job, port) : TT_EXIT_USAGE;
        tt_gate_file_done(&file);
    }
    return code;
}
