/*
 * `tactus watch`: the AVTP streams in a capture file or on an interface, with their intervals.
 */
#include <errno.h>
#include <net/if.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "audio/observer.h"
#include "base/ns.h"
#include "cli/captures.h"
#include "cli/cmd.h"
#include "cli/pcapng_writer.h"
#include "cli/receive_stamps.h"
#include "cli/watch_compare.h"
#include "cli/watch_metrics.h"
#include "cli/watch_options.h"
#include "cli/watch_screen.h"
#include "cli/watch_show.h"
#include "os/clock.h"
#include "report/json.h"
#include "report/plural.h"

#define COMMAND          "tactus watch"
#define STREAMS_MAX      512 /* up to 800 KB each, most of which is never touched */
#define SNAP_BYTES       128 /* every header that is read */
#define SNAP_WRITE_BYTES 65535
#define SAVED_PAGE       "tactus-watch.html"
#define WAIT_MS          100 /* an interrupt is noticed at least so often */

struct watch {
    struct tt_watch_options options;
    const char *source; /* the interface, or what the files are called together */
    struct tt_capture capture;
    struct tt_captures captures;
    struct tt_observer observer;
    struct tt_receive_stamps stamps; /* live */
    struct tt_pcapng_writer dump;
    struct tt_metrics *metrics; /* NULL: nobody wants them */
    int64_t start_mono_ns;
    struct tt_watch_drops drops_before; /* at the start */
    struct tt_watch_screen *screen;     /* NULL: lines */
};

static void show(const struct watch *watch, const struct tt_watch_view *view)
{
    if (watch->options.json) {
        json_t *json = tt_watch_json(view);

        if (!json || tt_json_print_line(stdout, json) != 0) {
            tt_cli_say(COMMAND, "cannot write the figures: %s", strerror(json ? errno : ENOMEM));
        }
        json_decref(json);
        return;
    }
    if (watch->screen) {
        tt_watch_screen_draw(watch->screen, view);
        return;
    }
    tt_watch_print(view, stdout);
    if (!view->final) {
        fputc('\n', stdout);
    }
    fflush(stdout);
}

/* The last picture, and the page. TT_EXIT_GOOD, or why there is no page. */
static int show_final(const struct watch *watch, const struct tt_watch_view *view)
{
    int error;

    show(watch, view);
    if (!watch->options.html_path) {
        return TT_EXIT_GOOD;
    }
    error = tt_watch_page(view, watch->options.html_path);
    if (error) {
        tt_cli_say(COMMAND, "cannot write the page %s: %s", watch->options.html_path,
                   strerror(-error));
        return TT_EXIT_ENVIRONMENT;
    }
    return TT_EXIT_GOOD;
}

static int finding(const struct watch *watch)
{
    return watch->observer.count > 0 ? TT_EXIT_GOOD : TT_EXIT_NEGATIVE;
}

static void observe(struct watch *watch, const struct tt_packet *packet)
{
    bool seen;

    if (packet->untimed) {
        tt_observer_untimed(&watch->observer, packet->frame, packet->bytes);
        return;
    }
    seen = tt_observer_packet(&watch->observer, packet->frame, packet->bytes, packet->wire_bytes,
                              packet->arrival_utc_ns);

    if (seen && watch->dump.out) {
        tt_pcapng_write(&watch->dump, packet);
    }
}

/* 0, or 1 where an interrupt came first. */
static int read_files(struct watch *watch)
{
    struct tt_packet packet;
    int status;

    while ((status = tt_captures_next(&watch->captures, &packet)) == 1 && !tt_cli_interrupted()) {
        observe(watch, &packet);
    }
    return status;
}

/* Why the figures are not of all that was there; NULL: they are. */
static const char *find_break(const struct watch *watch, int status, char **ret_text)
{
    const struct tt_captures_file *broken = tt_captures_broken(&watch->captures);

    *ret_text = NULL;
    if (status == 1) {
        return "interrupted";
    }
    if (!broken || watch->captures.count == 1) {
        return broken ? broken->error : NULL;
    }
    return asprintf(ret_text, "%s: %s", broken->path, broken->error) > 0 ? *ret_text
                                                                         : broken->error;
}

static int watch_files(struct watch *watch)
{
    struct tt_watch_view view = {
        .source = watch->source,
        .sources = watch->options.sources,
        .source_count = watch->options.source_count,
        .final = true,
        .observer = &watch->observer,
    };
    int status = read_files(watch);
    char *text;
    int code;

    view.error = find_break(watch, status, &text);
    code = show_final(watch, &view);
    free(text);
    tt_captures_say_broken(&watch->captures);
    if (status == 1) {
        tt_cli_say(COMMAND, "interrupted after %llu %s; the figures are of what was read",
                   (unsigned long long)watch->observer.packets,
                   tt_plural(watch->observer.packets, "packet", "packets"));
    }
    if (view.error || watch->captures.refused) {
        return TT_EXIT_INCONCLUSIVE;
    }
    return code != TT_EXIT_GOOD ? code : finding(watch);
}

static void start_counting(struct watch *watch)
{
    watch->start_mono_ns = tt_cli_now_mono_ns();
    watch->drops_before = tt_watch_drops_count(watch->capture.pcap, watch->source);
}

static struct tt_watch_view live_view(struct watch *watch)
{
    struct tt_watch_drops drops =
        tt_watch_drops_since(watch->capture.pcap, watch->source, &watch->drops_before);

    watch->observer.dropped_here = tt_watch_drops_sum(&drops);
    watch->observer.downs_here = (uint64_t)drops.downs;
    return (struct tt_watch_view){
        .source = watch->source,
        .sources = watch->options.sources,
        .source_count = watch->options.source_count,
        .live = true,
        .elapsed_ns = tt_cli_now_mono_ns() - watch->start_mono_ns,
        .drops = drops,
        .stamps = watch->stamps.text,
        .observer = &watch->observer,
    };
}

/* Takes what is there. 0; -1: the capture broke; -2: the written file did. */
static int take_packets(struct watch *watch)
{
    struct tt_packet packet;
    int status;

    tt_receive_stamps_follow(&watch->stamps);
    while ((status = tt_capture_next(&watch->capture, &packet)) == 1) {
        packet.arrival_utc_ns = tt_receive_stamps_utc(&watch->stamps, packet.arrival_utc_ns);
        observe(watch, &packet);
        /* On a busy link there is always one more. */
        if (tt_cli_interrupted() || watch->observer.packets % 1024 == 0) {
            break;
        }
    }
    /* At once in the kernel's hands: readable even when we are killed. */
    if (watch->dump.out && tt_pcapng_flush(&watch->dump) != 0) {
        return -2;
    }
    return status < 0 ? -1 : 0;
}

static int end_live(struct watch *watch, int status, int error)
{
    struct tt_watch_view view = live_view(watch);
    int code;

    view.final = true;
    view.error = status == -1   ? tt_capture_error(&watch->capture)
                 : status == -2 ? "the capture could not be written"
                                : NULL;
    code = show_final(watch, &view);
    if (status == -1) {
        tt_cli_say(COMMAND, "capturing on %s ended: %s", watch->source, view.error);
        return TT_EXIT_INCONCLUSIVE;
    }
    if (status == -2) {
        tt_cli_say(COMMAND, "cannot write to %s: %s; what it holds until here is readable",
                   watch->options.write_path, strerror(error));
        return TT_EXIT_ENVIRONMENT;
    }
    return code != TT_EXIT_GOOD ? code : finding(watch);
}

/* A page as --html makes it, of the figures as they are. */
static void save_page(struct watch *watch)
{
    const char *path = watch->options.html_path ? watch->options.html_path : SAVED_PAGE;
    struct tt_watch_view view = live_view(watch);
    int error = tt_watch_page(&view, path);

    tt_watch_screen_say(watch->screen, error ? "cannot write %s: %s" : "saved as %s", path,
                        strerror(-error));
}

/* Where it cannot be read it is as good as unset. */
static void set_tai_offset(struct watch *watch)
{
    int tai_offset_s = 0;

    tt_clock_tai_offset(&tai_offset_s);
    tt_observer_set_tai_offset(&watch->observer, tai_offset_s);
}

static int reset(struct watch *watch)
{
    tt_observer_done(&watch->observer);
    if (tt_observer_init(&watch->observer, STREAMS_MAX) != 0) {
        return -ENOMEM;
    }
    watch->observer.filter = watch->options.filter;
    set_tai_offset(watch);
    start_counting(watch);
    return 0;
}

/* Does what the keys say. Whether watching goes on. */
static bool obey(struct watch *watch)
{
    enum tt_watch_wish wish = TT_WISH_NOTHING;
    struct tt_watch_view view;

    while (watch->screen && (wish = tt_watch_screen_key(watch->screen)) != TT_WISH_NOTHING) {
        if (wish == TT_WISH_QUIT) {
            return false;
        }
        if (wish == TT_WISH_RESET && watch->metrics) {
            tt_watch_screen_say(watch->screen, "not reset: --metrics serves these counts, and they "
                                               "only grow");
        } else if (wish == TT_WISH_RESET && reset(watch) != 0) {
            return false;
        }
        view = live_view(watch);
        tt_watch_screen_draw(watch->screen, &view);
        if (wish == TT_WISH_SAVE) {
            save_page(watch);
        }
    }
    return true;
}

static int watch_live(struct watch *watch)
{
    int64_t next_ns;
    int64_t end_ns;
    int status = 0;
    int error;

    start_counting(watch);
    end_ns = watch->options.duration_ns > 0 ? watch->start_mono_ns + watch->options.duration_ns
                                            : INT64_MAX;
    next_ns = watch->start_mono_ns + TT_NS_PER_S;
    watch->screen = watch->options.json ? NULL : tt_watch_screen_new();
    while (status == 0 && !tt_cli_interrupted() && tt_cli_now_mono_ns() < end_ns && obey(watch)) {
        tt_capture_wait(&watch->capture, WAIT_MS);
        status = take_packets(watch);
        if (tt_cli_now_mono_ns() >= next_ns && next_ns < end_ns) {
            struct tt_watch_view view = live_view(watch);

            show(watch, &view);
            tt_watch_metrics(&view, watch->metrics);
            next_ns += TT_NS_PER_S;
        }
    }
    error = errno;
    tt_watch_screen_free(watch->screen);
    watch->screen = NULL;
    return end_live(watch, status, error);
}

static int open_files(struct watch *watch)
{
    const struct tt_watch_options *options = &watch->options;

    if (options->write_path || options->duration_ns > 0 || options->metrics) {
        tt_cli_say(COMMAND, "%s is a file: --write, --duration and --metrics are for an interface",
                   options->sources[0]);
        return TT_EXIT_USAGE;
    }
    return tt_captures_open(COMMAND, options->sources, options->source_count, &watch->captures);
}

static int open_dump(struct watch *watch)
{
    int error;

    if (!watch->options.write_path) {
        return TT_EXIT_GOOD;
    }
    error =
        tt_pcapng_open(&watch->dump, watch->options.write_path, watch->source, SNAP_WRITE_BYTES);
    if (error) {
        tt_cli_say(COMMAND, "cannot write the capture %s: %s", watch->options.write_path,
                   strerror(-error));
        return TT_EXIT_ENVIRONMENT;
    }
    return TT_EXIT_GOOD;
}

static int open_live(struct watch *watch)
{
    struct tt_capture_live live = {
        .ifname = watch->source,
        .promiscuous = !watch->options.no_promiscuous,
        .snap_bytes = watch->options.write_path ? SNAP_WRITE_BYTES : SNAP_BYTES,
    };
    int code = TT_EXIT_GOOD;

    tt_receive_stamps_init(&watch->stamps, watch->source, tt_capture_can_stamp(watch->source));
    live.hardware = watch->stamps.hardware;
    if (watch->options.write_path) {
        code = tt_cli_check_not_stdout(COMMAND, watch->options.write_path);
    }
    if (code == TT_EXIT_GOOD) {
        code = tt_capture_open_live(COMMAND, &live, &watch->capture);
    }
    if (code != TT_EXIT_GOOD) {
        return code;
    }
    set_tai_offset(watch);
    if (live.hardware && !watch->capture.hardware) {
        tt_receive_stamps_refuse(
            &watch->stamps, "the interface's could not be turned on, which takes CAP_NET_ADMIN");
    }
    if (watch->capture.coarse) {
        tt_cli_say(COMMAND, "%s gives stamps in whole us only: intervals are no finer than that",
                   watch->source);
    }
    code = tt_metrics_start(COMMAND, watch->options.metrics, &watch->metrics);
    return code != TT_EXIT_GOOD ? code : open_dump(watch);
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

static int compare(const struct watch *watch)
{
    const struct tt_watch_compare captures = {
        .command = COMMAND,
        .paths = {watch->options.sources[0], watch->options.sources[1]},
        .filter = watch->options.filter,
        .json = watch->options.json,
        .html_path = watch->options.html_path,
    };

    tt_cli_catch_interrupt();
    return tt_watch_compare(&captures);
}

/* *ret_file: it is a file. */
static int find_kind(const char *source, bool *ret_file)
{
    struct stat status;

    *ret_file = stat(source, &status) == 0;
    if (!*ret_file && errno != ENOENT && errno != ENOTDIR) {
        tt_cli_say(COMMAND, "cannot read %s: %s", source, strerror(errno));
        return TT_EXIT_ENVIRONMENT;
    }
    if (!*ret_file && if_nametoindex(source) == 0) {
        return fail_neither(source);
    }
    return TT_EXIT_GOOD;
}

/* All have to be files, or there is one interface. */
static int find_kinds(const struct watch *watch, bool *ret_files)
{
    for (size_t i = 0; i < watch->options.source_count; i++) {
        int code = find_kind(watch->options.sources[i], ret_files);

        if (code != TT_EXIT_GOOD) {
            return code;
        }
        if (!*ret_files && watch->options.source_count > 1) {
            tt_cli_say(COMMAND,
                       "%s is an interface: one at a time is watched, and alone; files can be "
                       "several",
                       watch->options.sources[i]);
            return TT_EXIT_USAGE;
        }
    }
    return TT_EXIT_GOOD;
}

static int watch_run(struct watch *watch)
{
    bool files = false;
    int code = find_kinds(watch, &files);

    if (code == TT_EXIT_GOOD) {
        code = files ? open_files(watch) : open_live(watch);
    }
    if (code != TT_EXIT_GOOD) {
        return code;
    }
    tt_cli_catch_interrupt();
    return files ? watch_files(watch) : watch_live(watch);
}

/* What stands for all sources in the tables. */
static char *name_sources(const struct tt_watch_options *options)
{
    size_t more = options->source_count - 1;
    char *name;

    if (asprintf(&name, more > 0 ? "%s and %zu more" : "%s", options->sources[0], more) < 0) {
        return NULL;
    }
    return name;
}

int tt_cmd_watch(int argc, char **argv)
{
    struct watch watch = {0};
    char *name;
    int code;

    if (tt_watch_options_parse(argc, argv, &watch.options) != 0) {
        return TT_EXIT_USAGE;
    }
    if (watch.options.compare) {
        return compare(&watch);
    }
    name = name_sources(&watch.options);
    if (!name || tt_observer_init(&watch.observer, STREAMS_MAX) != 0) {
        tt_cli_say(COMMAND, "out of memory");
        free(name);
        return TT_EXIT_ENVIRONMENT;
    }
    watch.source = name;
    watch.observer.filter = watch.options.filter;
    code = watch_run(&watch);
    tt_metrics_stop(watch.metrics);
    tt_pcapng_close(&watch.dump);
    tt_capture_close(&watch.capture);
    tt_captures_close(&watch.captures);
    tt_observer_done(&watch.observer);
    free(name);
    return code;
}
