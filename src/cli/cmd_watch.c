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
#include "cli/capture.h"
#include "cli/cmd.h"
#include "cli/pcapng_writer.h"
#include "cli/read_ahead.h"
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
    struct tt_capture capture;
    struct tt_observer observer;
    struct tt_pcapng_writer dump;
    struct tt_metrics *metrics; /* NULL: nobody wants them */
    int64_t start_mono_ns;
    struct tt_watch_screen *screen; /* NULL: lines */
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
    bool seen = tt_observer_packet(&watch->observer, packet->frame, packet->bytes,
                                   packet->wire_bytes, packet->arrival_utc_ns);

    if (seen && watch->dump.out) {
        tt_pcapng_write(&watch->dump, packet);
    }
}

static int read_file(struct watch *watch)
{
    struct tt_read_ahead *ahead;
    struct tt_packet packet;
    int status = tt_read_ahead_new(&watch->capture, SNAP_BYTES, &ahead);

    if (status) {
        return status;
    }
    while ((status = tt_read_ahead_next(ahead, &packet)) == 1 && !tt_cli_interrupted()) {
        observe(watch, &packet);
    }
    tt_read_ahead_free(ahead);
    return status;
}

static int watch_file(struct watch *watch)
{
    struct tt_watch_view view = {
        .source = watch->options.source, .final = true, .observer = &watch->observer};
    int status = read_file(watch);
    int code;

    if (status == -ENOMEM) {
        tt_cli_say(COMMAND, "out of memory");
        return TT_EXIT_ENVIRONMENT;
    }
    if (status < 0) {
        view.error = tt_capture_error(&watch->capture);
    } else if (status == 1) {
        view.error = "interrupted";
    }
    code = show_final(watch, &view);
    if (view.error) {
        tt_cli_say(COMMAND, "%s breaks off after %llu %s: %s; the figures are of what was read",
                   watch->options.source, (unsigned long long)watch->observer.packets,
                   tt_plural(watch->observer.packets, "packet", "packets"), view.error);
        return TT_EXIT_INCONCLUSIVE;
    }
    return code != TT_EXIT_GOOD ? code : finding(watch);
}

static int64_t count_drops(const struct watch *watch)
{
    struct pcap_stat stat;

    if (pcap_stats(watch->capture.pcap, &stat) != 0) {
        return -1;
    }
    return (int64_t)stat.ps_drop + stat.ps_ifdrop;
}

static struct tt_watch_view live_view(const struct watch *watch)
{
    return (struct tt_watch_view){
        .source = watch->options.source,
        .live = true,
        .elapsed_ns = tt_cli_now_mono_ns() - watch->start_mono_ns,
        .drops = count_drops(watch),
        .stamps = "by the kernel, in UTC",
        .observer = &watch->observer,
    };
}

/* Takes what is there. 0; -1: the capture broke; -2: the written file did. */
static int take_packets(struct watch *watch)
{
    struct tt_packet packet;
    int status;

    while ((status = tt_capture_next(&watch->capture, &packet)) == 1) {
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
        tt_cli_say(COMMAND, "capturing on %s ended: %s", watch->options.source, view.error);
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
    watch->start_mono_ns = tt_cli_now_mono_ns();
    return 0;
}

/* Does what the keys say. Whether watching goes on. */
static bool obey(struct watch *watch)
{
    enum tt_watch_wish wish = TT_WISH_NOTHING;
    struct tt_watch_view view;

    while (watch->screen && (wish = tt_watch_screen_key(watch->screen)) != TT_WISH_NOTHING) {
        if (wish == TT_WISH_QUIT || (wish == TT_WISH_RESET && reset(watch) != 0)) {
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

    watch->start_mono_ns = tt_cli_now_mono_ns();
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

static int open_file(struct watch *watch)
{
    if (watch->options.write_path || watch->options.duration_ns > 0 || watch->options.metrics) {
        tt_cli_say(COMMAND, "%s is a file: --write, --duration and --metrics are for an interface",
                   watch->options.source);
        return TT_EXIT_USAGE;
    }
    return tt_capture_open_file(COMMAND, watch->options.source, &watch->capture);
}

static int open_dump(struct watch *watch)
{
    int error;

    if (!watch->options.write_path) {
        return TT_EXIT_GOOD;
    }
    error = tt_pcapng_open(&watch->dump, watch->options.write_path, watch->options.source,
                           SNAP_WRITE_BYTES);
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
        .ifname = watch->options.source,
        .promiscuous = !watch->options.no_promiscuous,
        .snap_bytes = watch->options.write_path ? SNAP_WRITE_BYTES : SNAP_BYTES,
    };
    int code = TT_EXIT_GOOD;

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
    if (watch->capture.coarse) {
        tt_cli_say(COMMAND, "%s gives stamps in whole us only: intervals are no finer than that",
                   watch->options.source);
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
        .paths = {watch->options.source, watch->options.after},
        .filter = watch->options.filter,
        .json = watch->options.json,
        .html_path = watch->options.html_path,
    };

    tt_cli_catch_interrupt();
    return tt_watch_compare(&captures);
}

static int watch_run(struct watch *watch)
{
    struct stat status;
    bool file = stat(watch->options.source, &status) == 0;
    int code;

    if (!file && errno != ENOENT && errno != ENOTDIR) {
        tt_cli_say(COMMAND, "cannot read %s: %s", watch->options.source, strerror(errno));
        return TT_EXIT_ENVIRONMENT;
    }
    if (!file && if_nametoindex(watch->options.source) == 0) {
        return fail_neither(watch->options.source);
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

    if (tt_watch_options_parse(argc, argv, &watch.options) != 0) {
        return TT_EXIT_USAGE;
    }
    if (watch.options.compare) {
        return compare(&watch);
    }
    if (tt_observer_init(&watch.observer, STREAMS_MAX) != 0) {
        tt_cli_say(COMMAND, "out of memory");
        return TT_EXIT_ENVIRONMENT;
    }
    watch.observer.filter = watch.options.filter;
    code = watch_run(&watch);
    tt_metrics_stop(watch.metrics);
    tt_pcapng_close(&watch.dump);
    tt_capture_close(&watch.capture);
    tt_observer_done(&watch.observer);
    return code;
}
