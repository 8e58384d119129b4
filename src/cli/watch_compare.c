/*
 * See watch_compare.h.
 */
#include "cli/watch_compare.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/compare.h"
#include "base/ns.h"
#include "cli/capture.h"
#include "cli/compare_show.h"
#include "report/plural.h"

#define STREAMS_MAX   512
#define WINDOWS       40
#define WINDOW_MIN_NS TT_NS_PER_MS

/* What a window is judged by. */
struct window {
    struct tt_hist interval;
    struct tt_hist lateness;
    uint64_t lost; /* at its start */
    int64_t start_ns;
};

struct side {
    const char *path;
    struct tt_observer observer;
    const struct tt_observed *stream; /* of the observer; NULL: it has none yet */
    uint64_t pdus;                    /* of it that were taken into windows */
    struct window *window;
    int64_t figures[TT_COMPARED][WINDOWS + 1];
    size_t windows;
};

/* Reads the whole of a capture; `each` after every packet that the filter lets through. */
static int read_capture(const char *command, struct side *side,
                        const struct tt_observer_filter *filter, int64_t window_ns,
                        void (*each)(struct side *side, int64_t window_ns))
{
    struct tt_capture capture;
    struct tt_packet packet;
    int code = (int)tt_capture_open_file(command, side->path, &capture);
    int status = 0;

    if (code != TT_EXIT_GOOD) {
        return code;
    }
    tt_observer_done(&side->observer);
    if (tt_observer_init(&side->observer, STREAMS_MAX) != 0) {
        tt_cli_say(command, "out of memory");
        code = TT_EXIT_ENVIRONMENT;
    }
    side->observer.filter = *filter;
    while (code == TT_EXIT_GOOD && (status = tt_capture_next(&capture, &packet)) == 1 &&
           !tt_cli_interrupted()) {
        tt_observer_packet(&side->observer, packet.frame, packet.bytes, packet.wire_bytes,
                           packet.arrival_utc_ns);
        if (each) {
            each(side, window_ns);
        }
    }
    if (status != 0) {
        tt_cli_say(command, "%s cannot be read whole: %s; nothing is compared", side->path,
                   status == 1 ? "interrupted" : tt_capture_error(&capture));
        code = TT_EXIT_INCONCLUSIVE;
    }
    tt_capture_close(&capture);
    return code;
}

static void end_window(struct side *side)
{
    struct window *window = side->window;
    struct tt_summary interval;

    if (side->windows < WINDOWS && window->interval.n > 0) {
        tt_hist_summarize(&window->interval, &interval);
        side->figures[TT_COMPARED_JITTER][side->windows] = llround(interval.stdev);
        side->figures[TT_COMPARED_RANGE][side->windows] = interval.max - interval.min;
        side->figures[TT_COMPARED_LATENESS][side->windows] =
            window->lateness.n > 0 ? tt_hist_percentile(&window->lateness, 990) : 0;
        side->figures[TT_COMPARED_LOST][side->windows] =
            (int64_t)(side->stream->lost - window->lost);
        side->windows++;
    }
    tt_hist_init(&window->interval);
    tt_hist_init(&window->lateness);
}

/* The PDU that was just observed, where it is the stream's. */
static void window_step(struct side *side, int64_t window_ns)
{
    const struct tt_observed *o = side->observer.count > 0 ? side->observer.streams[0] : NULL;
    struct window *window = side->window;

    if (!o || o->pdus == side->pdus) {
        return;
    }
    side->pdus = o->pdus;
    if (!side->stream) {
        side->stream = o;
        window->start_ns = o->first_ns;
        return;
    }
    if (o->last_ns - window->start_ns >= window_ns) {
        end_window(side);
        window->start_ns += (o->last_ns - window->start_ns) / window_ns * window_ns;
        window->lost = o->lost;
    }
    if (o->interval_known) {
        tt_hist_record(&window->interval, o->interval_ns);
    }
    if (o->late_known) {
        tt_hist_record(&window->lateness, o->late_ns);
    }
}

static const char *stream_name(const struct tt_observed *o, char text[TT_STREAM_ID_TEXT])
{
    return o->avtp.sv ? tt_stream_id_format(o->avtp.stream_id, text) : "without an ID";
}

/* Each has one stream, or it is not clear what is compared. */
static int check_streams(const struct tt_watch_compare *options, const struct side sides[2])
{
    char text[2][TT_STREAM_ID_TEXT];

    for (int i = 0; i < 2; i++) {
        const struct tt_observer *observer = &sides[i].observer;

        if (observer->count == 0) {
            tt_cli_say(options->command, "there is no stream in %s%s", sides[i].path,
                       observer->filtered > 0 ? " that the filter lets through" : "");
            return TT_EXIT_NEGATIVE;
        }
        if (observer->count > 1) {
            tt_cli_say(options->command,
                       "there are %zu streams in %s, such as %s and %s: choose one with "
                       "--stream-id, --address or --vlan",
                       observer->count, sides[i].path, stream_name(observer->streams[0], text[0]),
                       stream_name(observer->streams[1], text[1]));
            return TT_EXIT_USAGE;
        }
    }
    return TT_EXIT_GOOD;
}

static int64_t window_length(const struct side sides[2])
{
    int64_t window_ns = INT64_MAX;

    for (int i = 0; i < 2; i++) {
        const struct tt_observed *o = sides[i].observer.streams[0];
        int64_t span_ns = o->last_ns - o->first_ns;

        window_ns = span_ns / WINDOWS < window_ns ? span_ns / WINDOWS : window_ns;
    }
    return window_ns > WINDOW_MIN_NS ? window_ns : WINDOW_MIN_NS;
}

static void compare_figures(const struct side sides[2], int64_t window_ns,
                            struct tt_compared *ret_compared)
{
    struct tt_compare_work *work = malloc(sizeof(*work));

    *ret_compared = (struct tt_compared){.window_ns = window_ns};
    for (int i = 0; i < 2; i++) {
        ret_compared->paths[i] = sides[i].path;
        ret_compared->streams[i] = sides[i].observer.streams[0];
    }
    for (int f = 0; work && f < TT_COMPARED; f++) {
        const struct tt_compare_input input = {.a = sides[0].figures[f],
                                               .b = sides[1].figures[f],
                                               .a_count = sides[0].windows,
                                               .b_count = sides[1].windows,
                                               .counts = f == TT_COMPARED_LOST};

        tt_compare(&input, work, &ret_compared->results[f]);
    }
    free(work);
}

static int verdict(const struct tt_compared *compared)
{
    int code = TT_EXIT_GOOD;

    for (int f = 0; f < TT_COMPARED; f++) {
        if (compared->results[f].answer == TT_COMPARE_WORSE) {
            return TT_EXIT_NEGATIVE;
        }
        if (compared->results[f].answer == TT_COMPARE_TOO_FEW) {
            code = TT_EXIT_INCONCLUSIVE;
        }
    }
    return code;
}

static int compare(const struct tt_watch_compare *options, struct side sides[2])
{
    struct tt_compared compared;
    int64_t window_ns;
    int code = TT_EXIT_GOOD;

    for (int i = 0; i < 2 && code == TT_EXIT_GOOD; i++) {
        code = read_capture(options->command, &sides[i], &options->filter, 0, NULL);
    }
    if (code == TT_EXIT_GOOD) {
        code = check_streams(options, sides);
    }
    if (code != TT_EXIT_GOOD) {
        return code;
    }
    window_ns = window_length(sides);
    for (int i = 0; i < 2 && code == TT_EXIT_GOOD; i++) {
        code = read_capture(options->command, &sides[i], &options->filter, window_ns, window_step);
    }
    if (code != TT_EXIT_GOOD) {
        return code;
    }
    compare_figures(sides, window_ns, &compared);
    code = tt_compare_show(options, &compared);
    return code != TT_EXIT_GOOD ? code : verdict(&compared);
}

int tt_watch_compare(const struct tt_watch_compare *options)
{
    struct side *sides = calloc(2, sizeof(*sides));
    struct window *windows = calloc(2, sizeof(*windows));
    int code = TT_EXIT_ENVIRONMENT;

    if (sides && windows) {
        for (int i = 0; i < 2; i++) {
            sides[i].path = options->paths[i];
            sides[i].window = &windows[i];
        }
        code = compare(options, sides);
        for (int i = 0; i < 2; i++) {
            tt_observer_done(&sides[i].observer);
        }
    } else {
        tt_cli_say(options->command, "out of memory");
    }
    free(sides);
    free(windows);
    return code;
}
