/*
 * `tactus gate shape`: gates for a host whose kernel or interface has none.
 */
#include "cli/gate_shape.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>
#include <time.h>

#include "base/min_max.h"
#include "base/ns.h"
#include "cli/cmd.h"
#include "cli/cmd_gate.h"
#include "cli/gate_port.h"
#include "gate/wire_time.h"
#include "os/interfaces.h"
#include "os/qdisc.h"
#include "run/pace.h"

#define COMMAND          TT_GATE_SHAPE_COMMAND
#define QUEUE_BYTES      (256 << 10)
#define CUT_BYTES        256
#define LEAD_NS          (500 * TT_NS_PER_US) /* to the kernel, for a late wake-up, and … */
#define HAND_NS          (100 * TT_NS_PER_US) /* … of that for handing over */
#define QDISCS_MAX       64
#define FRAME_BYTES_FULL 1514
#define CLOCK_READINGS   10

/* Of several readings the one that took the shortest time. */
static int64_t tai_minus_ns(clockid_t clock)
{
    int64_t shortest_ns = INT64_MAX;
    int64_t offset_ns = 0;

    for (int i = 0; i < CLOCK_READINGS; i++) {
        struct timespec t[3];
        int64_t before_ns;
        int64_t after_ns;

        clock_gettime(CLOCK_TAI, &t[0]);
        clock_gettime(clock, &t[1]);
        clock_gettime(CLOCK_TAI, &t[2]);
        before_ns = t[0].tv_sec * TT_NS_PER_S + t[0].tv_nsec;
        after_ns = t[2].tv_sec * TT_NS_PER_S + t[2].tv_nsec;
        if (after_ns >= before_ns && after_ns - before_ns < shortest_ns) {
            shortest_ns = after_ns - before_ns;
            offset_ns = before_ns + shortest_ns / 2 - t[1].tv_sec * TT_NS_PER_S - t[1].tv_nsec;
        }
    }
    return offset_ns;
}

/* Base times of another clock become TAI, by what both clocks say now. */
static int take_clock(const struct tt_gate_shape *job, struct tt_gate_port *port,
                      struct tt_message *ret_message)
{
    static const struct {
        clockid_t id;
        const char *name;
    } clocks[TT_GATE_CLOCK_UNKNOWN] = {{CLOCK_TAI, "TAI"},
                                       {CLOCK_REALTIME, "REALTIME"},
                                       {CLOCK_MONOTONIC, "MONOTONIC"},
                                       {CLOCK_BOOTTIME, "BOOTTIME"}};
    int64_t offset_ns;

    if (port->clock == TT_GATE_CLOCK_TAI) {
        return 0;
    }
    if (port->clock == TT_GATE_CLOCK_UNKNOWN) {
        return tt_say(-EINVAL, ret_message,
                      "the clockid of %s is unknown: give TAI, REALTIME, MONOTONIC or BOOTTIME",
                      port->name);
    }
    offset_ns = tai_minus_ns(clocks[port->clock].id);
    if (port->clock == TT_GATE_CLOCK_REALTIME) { /* whole seconds */
        offset_ns = (offset_ns + TT_NS_PER_S / 2) / TT_NS_PER_S * TT_NS_PER_S;
    }
    port->schedule.base_tai_ns += offset_ns;
    tt_cli_say(COMMAND,
               "%s: the base time is by CLOCK_%s; in TAI it is %" PRId64
               " ns, by what both clocks say now",
               job->schedule_path, clocks[port->clock].name, port->schedule.base_tai_ns);
    return 0;
}

/* In that file. NULL: said why not. */
static const struct tt_gate_port *find_port(const struct tt_gate_shape *job,
                                            const struct tt_gate_file *file)
{
    const struct tt_gate_port *port =
        tt_gate_port_find(COMMAND, job->schedule_path, file, job->port_name);

    if (port && !port->list) {
        tt_cli_say(COMMAND, "%s: the schedule has no entries", job->schedule_path);
        return NULL;
    }
    if (port && json_is_object(file->root) && job->file_options.rate_bps) {
        tt_cli_say(COMMAND,
                   "%s is a plan, which has the speeds of its links: --rate is for what tc "
                   "printed",
                   job->schedule_path);
        return NULL;
    }
    return port;
}

enum tt_exit tt_gate_shape_read(const struct tt_gate_shape *job, struct tt_gate_file *ret_file,
                                const struct tt_gate_port **ret_port)
{
    struct tt_message message = {{0}};
    int error = tt_gate_file_read(job->schedule_path, &job->file_options, ret_file, &message);

    if (error != 0) {
        tt_cli_say(COMMAND, "%s: %s", job->schedule_path, message.text);
        return error == -EINVAL ? TT_EXIT_USAGE : TT_EXIT_ENVIRONMENT;
    }
    for (size_t i = 0; error == 0 && i < ret_file->network.port_count; i++) {
        if (ret_file->network.ports[i].list) {
            error = take_clock(job, &ret_file->network.ports[i], &message);
        }
    }
    error = error ? error : tt_gate_file_compile(ret_file, &message);
    *ret_port = NULL;
    if (error != 0) {
        tt_cli_say(COMMAND, "%s: %s", job->schedule_path, message.text);
    } else {
        *ret_port = find_port(job, ret_file);
    }
    if (!*ret_port) {
        tt_gate_file_done(ret_file);
        return TT_EXIT_USAGE;
    }
    return TT_EXIT_GOOD;
}

static enum tt_exit use_schedule(struct tt_gate_shape *job)
{
    const struct tt_gate_port *port = job->port;
    struct tt_classifier *classifier = &job->setup.classifier;

    job->setup.list = port->list;
    job->windows.list = port->list;
    job->setup.shaper.classes = port->class_count > 0 ? port->class_count : 1;
    for (unsigned p = 0; p < TT_CLASSIFY_PRIORITIES; p++) {
        classifier->class_of_priority[p] = (uint8_t)tt_gate_class_of(port, p);
        if (classifier->class_of_priority[p] >= job->setup.shaper.classes) {
            tt_cli_say(COMMAND, "%s: priority %u is in class %u, and there are %u",
                       job->schedule_path, p, classifier->class_of_priority[p],
                       job->setup.shaper.classes);
            return TT_EXIT_USAGE;
        }
    }
    for (size_t i = 0; i < classifier->rule_count; i++) {
        if (classifier->rules[i].class >= job->setup.shaper.classes) {
            tt_cli_say(COMMAND, "--class: there is no class %u; the schedule has %u",
                       classifier->rules[i].class, job->setup.shaper.classes);
            return TT_EXIT_USAGE;
        }
    }
    return TT_EXIT_GOOD;
}

/* Longer segments than the interface takes are never cut. */
static enum tt_exit check_cut(const struct tt_gate_shape *job)
{
    unsigned mtu_bytes = FRAME_BYTES_FULL;

    if (job->ifname) {
        (void)tt_interface_mtu(job->ifname, &mtu_bytes);
    }
    if (job->setup.shaper.cut_bytes >= mtu_bytes) {
        tt_cli_say(COMMAND,
                   "--cut %zu (256 without it): no segment is so long, the MTU is %u; give "
                   "less, or off",
                   job->setup.shaper.cut_bytes, mtu_bytes);
        return TT_EXIT_USAGE;
    }
    return TT_EXIT_GOOD;
}

void tt_gate_shape_say_windows(const struct tt_gate_shape *job, const struct tt_gate_list *list)
{
    const struct tt_shaper_setup *shaper = &job->setup.shaper;
    uint32_t mask = 0;

    for (size_t i = 0; i < list->segment_count; i++) {
        mask |= list->segments[i].mask;
    }
    if (mask >> shaper->classes != 0) {
        tt_cli_say(COMMAND,
                   "gates are opened (0x%x) of classes that there are not: there are %u classes, "
                   "and the other bits mean nothing",
                   mask, shaper->classes);
    }
    for (unsigned c = 0; c < shaper->classes; c++) {
        const struct tt_gate_class *class = &list->classes[c];
        int64_t longest_ns = class->longest_ns - 2 * (shaper->strict ? shaper->margin_ns : 0);
        int64_t bytes =
            longest_ns > 0 && class->open_ns > 0
                ? tt_wire_longest_frame(tt_min64(longest_ns, TT_NS_PER_S), shaper->rate_bps)
                : -1;

        if (class->open_ns == 0) {
            tt_cli_say(COMMAND, "the gate of class %u never opens: what is in it is dropped", c);
        } else if (bytes < TT_FRAME_BYTES_MIN) {
            tt_cli_say(
                COMMAND,
                "no window of class %u is long enough for a frame%s: what is in it is dropped", c,
                shaper->strict ? " and the margin" : "");
        } else if (bytes < FRAME_BYTES_FULL) {
            tt_cli_say(COMMAND,
                       "the windows of class %u are long enough for frames of %" PRId64
                       " bytes%s: what is longer and not TCP is dropped",
                       c, bytes, shaper->strict ? " and the margin" : "");
        }
    }
}

static enum tt_exit find_rate(struct tt_gate_shape *job)
{
    job->setup.shaper.rate_bps =
        job->file_options.rate_bps > 0 ? job->file_options.rate_bps : job->port->rate_bps;
    if (job->setup.shaper.rate_bps == 0) {
        tt_cli_say(COMMAND, "how fast is the wire? Give --rate, such as --rate 100M");
        return TT_EXIT_USAGE;
    }
    return TT_EXIT_GOOD;
}

/* Whether the kernel or the hardware keeps launch times: then that does the releasing. A packet
 * that comes late is launched no earlier than it can be in the qdisc. */
static void find_launch_times(struct tt_gate_shape *job)
{
    struct tt_qdisc qdiscs[QDISCS_MAX];
    struct tt_pace_found found;
    size_t n;

    if (job->setup.shaper.strict || tt_qdisc_list(job->ifname, qdiscs, QDISCS_MAX, &n) != 0) {
        return;
    }
    tt_pace_find(qdiscs, n, job->setup.priority, &found);
    if (found.pace == TT_PACE_KEPT) {
        job->setup.lead_ns = found.delta_ns + LEAD_NS;
        job->setup.shaper.back_ns = LEAD_NS - HAND_NS;
        job->offload = found.offload;
    } else if (found.etf_in_the_way) {
        tt_cli_say(COMMAND,
                   "an etf qdisc of %s is of no use here, because %s: frames go past the qdiscs",
                   job->ifname, tt_pace_text(found.pace));
    }
}

/* What sending takes here; also for --explain. */
static enum tt_exit find_margin(struct tt_gate_shape *job, struct tt_shape_probe *probe)
{
    int error = tt_shape_probe(job->setup.clock, job->ifname, probe);

    if (error < 0) {
        tt_cli_say(COMMAND, "cannot measure how frames leave by %s: %s%s", job->ifname,
                   strerror(-error),
                   error == -ENODEV  ? "; `ip link` lists the interfaces"
                   : error == -EPERM ? "; CAP_NET_RAW is needed, run it as root"
                                     : "");
        return TT_EXIT_ENVIRONMENT;
    }
    if (job->setup.shaper.margin_ns < 0) {
        job->setup.shaper.margin_ns = probe->margin_ns;
    }
    return TT_EXIT_GOOD;
}

int tt_cmd_gate_shape(int argc, char **argv)
{
    struct tt_gate_shape job = {
        .tap = "gate0",
        .setup = {.clock = tt_clock_system(),
                  .shaper = {.queue_bytes = QUEUE_BYTES, .cut_bytes = CUT_BYTES, .margin_ns = -1}},
    };
    struct tt_shape_probe probe;
    enum tt_exit code;

    if (argp_parse(&tt_gate_shape_argp, argc, argv, 0, NULL, &job) != 0) {
        return TT_EXIT_USAGE;
    }
    if (!job.explain) {
        tt_cli_catch_interrupt();
        tt_gate_shape_catch_hangup(); /* which is no interrupt here */
    }
    code = tt_cli_check_apart(COMMAND, "--schedule", job.schedule_path, "--log", job.log_path);
    if (code == TT_EXIT_GOOD) {
        code = tt_gate_shape_read(&job, &job.file, &job.port);
    }
    if (code != TT_EXIT_GOOD) {
        return code;
    }
    code = use_schedule(&job);
    if (code == TT_EXIT_GOOD) {
        code = check_cut(&job);
    }
    if (code == TT_EXIT_GOOD) {
        code = find_rate(&job);
    }
    if (code == TT_EXIT_GOOD && (job.explain || job.setup.shaper.strict)) {
        code = find_margin(&job, &probe);
    }
    if (code == TT_EXIT_GOOD && job.explain) {
        code = tt_gate_goodput_show(&job, &probe);
    } else if (code == TT_EXIT_GOOD) {
        job.setup.tap = job.tap;
        job.setup.ifname = job.ifname;
        job.setup.log = job.log_path != NULL;
        job.setup.shaper.margin_ns = job.setup.shaper.strict ? job.setup.shaper.margin_ns : 0;
        find_launch_times(&job);
        tt_gate_shape_say_windows(&job, job.setup.list);
        code = tt_gate_shape_run(&job);
    }
    tt_gate_file_done(&job.file);
    return code;
}
