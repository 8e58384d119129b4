/*
 * `tactus watch`: the AVTP streams in a capture file or on an interface, with their intervals.
 */
#include <argp.h>
#include <errno.h>
#include <net/if.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "audio/observer.h"
#include "base/ns.h"
#include "cli/capture.h"
#include "cli/cmd.h"
#include "cli/watch_show.h"
#include "os/clock.h"
#include "report/json.h"
#include "report/plural.h"

#define COMMAND          "tactus watch"
#define STREAMS_MAX      512 /* a histogram of 256 KB each */
#define SNAP_BYTES       128 /* every header that is read */
#define SNAP_WRITE_BYTES 65535
#define WAIT_MS          100 /* an interrupt is noticed at least so often */

enum { OPTION_JSON = 256, OPTION_WRITE, OPTION_DURATION, OPTION_NO_PROMISCUOUS };

struct watch {
    const char *source;
    const char *write_path;
    int64_t duration_ns; /* 0: until interrupted */
    bool json;
    bool no_promiscuous;

    struct tt_capture capture;
    struct tt_observer observer;
    pcap_dumper_t *dump; /* NULL: nothing is written */
    int64_t start_mono_ns;
    bool redraw; /* stdout is a terminal: one picture */
};

static const struct argp_option options[] = {
    {"json", OPTION_JSON, NULL, 0,
     "JSON instead of tables: one object for a file, a line a second live", 0},
    {"write", OPTION_WRITE, "FILE", 0, "Live: also write what is captured to FILE (pcap, ns)", 0},
    {"duration", OPTION_DURATION, "TIME", 0, "Live: end after TIME, such as 500ms, 10s or 2min", 0},
    {"no-promiscuous", OPTION_NO_PROMISCUOUS, NULL, 0,
     "Live: see only what the interface takes in anyway", 0},
    {0},
};

static error_t parse_option(int key, char *argument, struct argp_state *state)
{
    struct watch *watch = state->input;

    switch (key) {
    case OPTION_JSON:
        watch->json = true;
        return 0;
    case OPTION_WRITE:
        watch->write_path = argument;
        return 0;
    case OPTION_DURATION:
        watch->duration_ns = tt_cli_duration_option(argument, state);
        return 0;
    case OPTION_NO_PROMISCUOUS:
        watch->no_promiscuous = true;
        return 0;
    case ARGP_KEY_ARG:
        if (watch->source) {
            argp_error(state, "one capture or interface at a time: %s or %s?", watch->source,
                       argument);
        }
        watch->source = argument;
        return 0;
    case ARGP_KEY_NO_ARGS:
        argp_error(state, "what shall be watched? Give a capture file or an interface");
        return 0;
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

static const struct argp parser = {
    .options = options,
    .parser = parse_option,
    .args_doc = "FILE|INTERFACE",
    .doc =
        "Show every AVTP stream in a capture (pcap, pcapng) or on an interface: who sends what to "
        "whom, what is lost, the intervals between arrivals, and what is wrong, in words."
        "\v"
        "An existing path is a file; anything else is an interface.\n\n"
        "Examples:\n"
        "  tactus watch recording.pcapng\n"
        "  tactus watch eth0 --duration 10s --write eth0.pcap\n\n"
        "Exit: 0 streams were seen, 1 none, 2 wrong usage or no capture, 3 no permission or "
        "interface, 4 the capture breaks off."};

static void show(const struct watch *watch, const struct tt_watch_view *view)
{
    if (watch->json) {
        json_t *json = tt_watch_json(view);

        if (!json || tt_json_print_line(stdout, json) != 0) {
            tt_cli_say(COMMAND, "cannot write the figures: %s", strerror(json ? errno : ENOMEM));
        }
        json_decref(json);
        return;
    }
    if (watch->redraw) {
        /* From the top, without wrapping what is wider than the terminal. */
        fputs("\033[?7l\033[H\033[2J", stdout);
    }
    tt_watch_print(view, stdout);
    if (watch->redraw) {
        fputs("\033[?7h", stdout);
    } else if (!view->final) {
        fputc('\n', stdout);
    }
    fflush(stdout);
}

static int finding(const struct watch *watch)
{
    return watch->observer.count > 0 ? TT_EXIT_GOOD : TT_EXIT_NEGATIVE;
}

static void observe(struct watch *watch, const struct tt_packet *packet)
{
    tt_observer_packet(&watch->observer, packet->frame, packet->bytes, packet->wire_bytes,
                       packet->arrival_utc_ns);
}

static int watch_file(struct watch *watch)
{
    struct tt_watch_view view = {
        .source = watch->source, .final = true, .observer = &watch->observer};
    struct tt_packet packet;
    int status;

    while ((status = tt_capture_next(&watch->capture, &packet)) == 1 && !tt_cli_interrupted()) {
        observe(watch, &packet);
    }
    if (status < 0) {
        view.error = tt_capture_error(&watch->capture);
    } else if (status == 1) {
        view.error = "interrupted";
    }
    show(watch, &view);
    if (view.error) {
        tt_cli_say(COMMAND, "%s breaks off after %llu %s: %s; the figures are of what was read",
                   watch->source, (unsigned long long)watch->observer.packets,
                   tt_plural(watch->observer.packets, "packet", "packets"), view.error);
        return TT_EXIT_INCONCLUSIVE;
    }
    return finding(watch);
}

static int64_t count_drops(const struct watch *watch)
{
    struct pcap_stat stat;

    if (pcap_stats(watch->capture.pcap, &stat) != 0) {
        return -1;
    }
    return (int64_t)stat.ps_drop + stat.ps_ifdrop;
}

static void show_live(const struct watch *watch, bool final, const char *error)
{
    struct tt_watch_view view = {
        .source = watch->source,
        .live = true,
        .final = final,
        .elapsed_ns = tt_cli_now_mono_ns() - watch->start_mono_ns,
        .drops = count_drops(watch),
        .error = error,
        .observer = &watch->observer,
    };

    show(watch, &view);
}

/* Takes what is there. 0; -1: the capture broke; -2: the written file did. */
static int take_packets(struct watch *watch)
{
    struct tt_packet packet;
    int status;

    while ((status = tt_capture_next(&watch->capture, &packet)) == 1) {
        observe(watch, &packet);
        if (watch->dump) {
            pcap_dump((u_char *)watch->dump, packet.header, packet.frame);
        }
        /* On a busy link there is always one more. */
        if (tt_cli_interrupted() || watch->observer.packets % 1024 == 0) {
            break;
        }
    }
    /* At once in the kernel's hands: readable even when we are killed. */
    if (watch->dump && pcap_dump_flush(watch->dump) != 0) {
        return -2;
    }
    return status < 0 ? -1 : 0;
}

static int64_t live_end(const struct watch *watch)
{
    return watch->duration_ns > 0 ? watch->start_mono_ns + watch->duration_ns : INT64_MAX;
}

static int watch_live(struct watch *watch)
{
    int64_t next_ns;
    int status = 0;

    watch->start_mono_ns = tt_cli_now_mono_ns();
    next_ns = watch->start_mono_ns + TT_NS_PER_S;
    while (status == 0 && !tt_cli_interrupted() && tt_cli_now_mono_ns() < live_end(watch)) {
        tt_capture_wait(&watch->capture, WAIT_MS);
        status = take_packets(watch);
        if (tt_cli_now_mono_ns() >= next_ns && next_ns < live_end(watch)) {
            show_live(watch, false, NULL);
            next_ns += TT_NS_PER_S;
        }
    }
    if (status == -1) {
        show_live(watch, true, tt_capture_error(&watch->capture));
        tt_cli_say(COMMAND, "capturing on %s ended: %s", watch->source,
                   tt_capture_error(&watch->capture));
        return TT_EXIT_INCONCLUSIVE;
    }
    show_live(watch, true, status == -2 ? "the capture could not be written" : NULL);
    if (status == -2) {
        tt_cli_say(COMMAND, "cannot write to %s: %s; what it holds until here is readable",
                   watch->write_path, strerror(errno));
        return TT_EXIT_ENVIRONMENT;
    }
    return finding(watch);
}

static int open_file(struct watch *watch)
{
    if (watch->write_path || watch->duration_ns > 0) {
        tt_cli_say(COMMAND, "%s is a file: --write and --duration are for an interface",
                   watch->source);
        return TT_EXIT_USAGE;
    }
    return tt_capture_open_file(COMMAND, watch->source, &watch->capture);
}

static int open_dump(struct watch *watch)
{
    if (!watch->write_path) {
        return TT_EXIT_GOOD;
    }
    watch->dump = pcap_dump_open(watch->capture.pcap, watch->write_path);
    if (!watch->dump) {
        tt_cli_say(COMMAND, "cannot write the capture: %s", tt_capture_error(&watch->capture));
        return TT_EXIT_ENVIRONMENT;
    }
    /* A file of nothing is a capture too. */
    pcap_dump_flush(watch->dump);
    return TT_EXIT_GOOD;
}

static int open_live(struct watch *watch)
{
    struct tt_capture_live live = {
        .ifname = watch->source,
        .promiscuous = !watch->no_promiscuous,
        .snap_bytes = watch->write_path ? SNAP_WRITE_BYTES : SNAP_BYTES,
    };
    int code = TT_EXIT_GOOD;
    int tai_offset_s = 0;

    if (watch->write_path) {
        code = tt_cli_check_not_stdout(COMMAND, watch->write_path);
    }
    if (code == TT_EXIT_GOOD) {
        code = tt_capture_open_live(COMMAND, &live, &watch->capture);
    }
    if (code != TT_EXIT_GOOD) {
        return code;
    }
    /* Where it cannot be read it is as good as unset. */
    tt_clock_tai_offset(&tai_offset_s);
    tt_observer_set_tai_offset(&watch->observer, tai_offset_s);
    if (watch->capture.coarse) {
        tt_cli_say(COMMAND, "%s gives stamps in whole us only: intervals are no finer than that",
                   watch->source);
    }
    watch->redraw = !watch->json && isatty(STDOUT_FILENO);
    return open_dump(watch);
}

static int fail_neither(const char *source)
{
    char interfaces[1024];

    tt_capture_list_interfaces(interfaces, sizeof(interfaces));
    tt_cli_say(COMMAND,
               "`%s` is neither a file (no such path) nor an interface of this machine; the "
               "interfaces here are: %s",
               source, interfaces);
    return TT_EXIT_USAGE;
}

static int watch_run(struct watch *watch)
{
    struct stat status;
    bool file = stat(watch->source, &status) == 0;
    int code;

    if (!file && errno != ENOENT && errno != ENOTDIR) {
        tt_cli_say(COMMAND, "cannot read %s: %s", watch->source, strerror(errno));
        return TT_EXIT_ENVIRONMENT;
    }
    if (!file && if_nametoindex(watch->source) == 0) {
        return fail_neither(watch->source);
    }
    code = file ? open_file(watch) : open_live(watch);
    if (code != TT_EXIT_GOOD) {
        return code;
    }
    tt_cli_catch_interrupt();
    return file ? watch_file(watch) : watch_live(watch);
}

int tt_cmd_watch(int argc, char **argv)
{
    struct watch watch = {0};
    int code;

    if (argp_parse(&parser, argc, argv, 0, NULL, &watch) != 0) {
        return TT_EXIT_USAGE;
    }
    if (tt_observer_init(&watch.observer, STREAMS_MAX) != 0) {
        tt_cli_say(COMMAND, "out of memory");
        return TT_EXIT_ENVIRONMENT;
    }
    code = watch_run(&watch);
    if (watch.dump) {
        pcap_dump_close(watch.dump);
    }
    tt_capture_close(&watch.capture);
    tt_observer_done(&watch.observer);
    return code;
}
