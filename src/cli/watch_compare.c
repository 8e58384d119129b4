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
#include "cli/watch_show.h"
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
    size_t windows;
    int64_t figures[TT_COMPARED][WINDOWS];
    size_t counts[TT_COMPARED]; /* windows in which the figure is known */
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

static void add_figure(struct side *side, enum tt_compared_figure figure, int64_t value)
{
    side->figures[figure][side->counts[figure]++] = value;
}

static void end_window(struct side *side)
{
    struct window *window = side->window;
    struct tt_summary interval;

    if (side->windows < WINDOWS && window->interval.n > 0) {
        tt_hist_summarize(&window->interval, &interval);
        add_figure(side, TT_COMPARED_JITTER, llround(interval.stdev));
        add_figure(side, TT_COMPARED_RANGE, interval.max - interval.min);
        add_figure(side, TT_COMPARED_LOST, (int64_t)(side->stream->lost - window->lost));
        if (window->lateness.n > 0) { /* not while the grid settles, nor without a rate */
            add_figure(side, TT_COMPARED_LATENESS,
                       tt_hist_percentile(&window->lateness, 990) -
                           tt_hist_percentile(&window->lateness, 500));
        }
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
    if (o->last_ns < window->start_ns) { /* the capture's clock was set back */
        window->start_ns = o->last_ns;
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

#define CHOICE_TEXT 64

/* The option by which the first stream of an observer is told from the second. */
static const char *choice_text(const struct tt_observer *observer, char text[CHOICE_TEXT])
{
    const struct tt_observed *first = observer->streams[0];
    const struct tt_observed *second = observer->streams[1];
    char name[TT_STREAM_ID_TEXT];

    if (first->avtp.sv && !(second->avtp.sv && first->avtp.stream_id == second->avtp.stream_id)) {
        snprintf(text, CHOICE_TEXT, "--stream-id %s",
                 tt_stream_id_format(first->avtp.stream_id, name));
    } else if (memcmp(first->eth.src, second->eth.src, sizeof(first->eth.src)) != 0) {
        snprintf(text, CHOICE_TEXT, "--address %s", tt_mac_format(first->eth.src, name));
    } else if (memcmp(first->eth.dest, second->eth.dest, sizeof(first->eth.dest)) != 0) {
        snprintf(text, CHOICE_TEXT, "--address %s", tt_mac_format(first->eth.dest, name));
    } else {
        snprintf(text, CHOICE_TEXT, "another capture, for no option tells them apart");
    }
    return text;
}

/* Each has one stream, of one kind, or it is not clear what is compared. */
static int check_streams(const struct tt_watch_compare *options, const struct side sides[2])
{
    char text[2][TT_SUBTYPE_TEXT];
    char choice[CHOICE_TEXT];
    uint8_t kinds[2];

    for (int i = 0; i < 2; i++) {
        const struct tt_observer *observer = &sides[i].observer;

        if (observer->count == 0) {
            tt_cli_say(options->command, "there is no stream in %s%s", sides[i].path,
                       observer->filtered > 0
                           ? " that the filter lets through, which holds for both captures: give "
                             "an option that both streams fit, such as --address"
                           : "");
            return TT_EXIT_NEGATIVE;
        }
        if (observer->count > 1) {
            tt_cli_say(options->command,
                       "there are %zu streams in %s: choose one that is in both captures, such as "
                       "with %s",
                       observer->count, sides[i].path, choice_text(observer, choice));
            return TT_EXIT_USAGE;
        }
        kinds[i] = observer->streams[0]->avtp.subtype;
    }
    if (kinds[0] != kinds[1]) {
        tt_cli_say(options->command,
                   "the stream in %s is %s and that in %s is %s: their figures cannot be compared",
                   sides[0].path, tt_watch_subtype(kinds[0], text[0]), sides[1].path,
                   tt_watch_subtype(kinds[1], text[1]));
        return TT_EXIT_USAGE;
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
                                               .a_count = sides[0].counts[f],
                                               .b_count = sides[1].counts[f],
                                               .counts = f == TT_COMPARED_LOST,
                                               .asked = TT_COMPARED};

        tt_compare(&input, work, &ret_compared->results[f]);
    }
    free(work);
}

/* Of lateness and losses there may be too little to say: not every stream has them. */
static int verdict(const struct tt_compared *compared)
{
    for (int f = 0; f < TT_COMPARED; f++) {
        if (compared->results[f].answer == TT_COMPARE_WORSE) {
            return TT_EXIT_NEGATIVE;
        }
    }
    return compared->results[TT_COMPARED_JITTER].answer == TT_COMPARE_TOO_FEW ? TT_EXIT_INCONCLUSIVE
                                                                              : TT_EXIT_GOOD;
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
