/*
 * See midi_clock.h.
 */
#include "cli/midi_clock.h"

#include <inttypes.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/hist.h"
#include "cli/midi_ports.h"
#include "midi/log.h"
#include "midi/message.h"
#include "os/wake.h"
#include "report/json.h"
#include "report/plural.h"
#include "report/table.h"
#include "run/record.h"

#define WAIT_MS          100
#define CLOCKS_A_QUARTER 24
#define QUARTER_NS_AT_1  60e9                /* BPM */
#define PAUSE_NS         INT64_C(1000000000) /* a clock that stood still and went on */

struct measure {
    struct tt_record record;
    struct tt_hist intervals;
    uint64_t clocks;
    uint64_t pauses;
    uint64_t left_out; /* bytes from before the start */
    bool gone;         /* the port is */
    int64_t last_ns;
};

static void take_clock(struct measure *measure, int64_t mono_ns)
{
    int64_t interval_ns = mono_ns - measure->last_ns;

    if (measure->clocks++ > 0) {
        if (interval_ns >= PAUSE_NS) {
            measure->pauses++;
        } else {
            tt_hist_record(&measure->intervals, interval_ns);
        }
    }
    measure->last_ns = mono_ns;
}

static void take_frames(struct measure *measure)
{
    struct tt_midi_frame frame;

    tt_wake_clear(measure->record.ready_fd);
    while (tt_record_take(&measure->record, &frame, 1) > 0) {
        measure->gone = measure->gone || frame.type == TT_MIDI_LOG_GONE;
        for (unsigned i = 0; frame.type == TT_MIDI_LOG_BYTES && i < frame.length; i++) {
            /* A clock byte is one wherever it stands. */
            if (frame.data[i] == TT_MIDI_CLOCK) {
                take_clock(measure, frame.time_mono_ns);
            }
        }
    }
}

static void print_text(const struct measure *measure, enum tt_midi_port_stamp stamp)
{
    static const struct tt_column columns[] = {TT_TABLE_SUMMARY_COLUMNS};
    struct tt_summary summary;
    struct tt_table table;

    tt_hist_summarize(&measure->intervals, &summary);
    printf("%" PRIu64 " clocks, %.3f BPM (stamps: %s). Intervals in ns:\n", measure->clocks,
           QUARTER_NS_AT_1 / (CLOCKS_A_QUARTER * summary.mean), tt_midi_stamp_name(stamp));
    tt_table_init(&table, columns, TT_COUNT_OF(columns));
    tt_table_cells_summary(&table, &measure->intervals);
    tt_table_print(&table, stdout);
    tt_table_done(&table);
    if (measure->pauses > 0) {
        printf("It stood still for a second or more %" PRIu64 " %s, which %s not counted.\n",
               measure->pauses, tt_plural(measure->pauses, "time", "times"),
               measure->pauses == 1 ? "is" : "are");
    }
}

static void print_json(const struct measure *measure, enum tt_midi_port_stamp stamp)
{
    bool any = measure->intervals.n > 0;
    struct tt_summary summary = {0};
    json_t *json;

    if (any) {
        tt_hist_summarize(&measure->intervals, &summary);
    }
    json = json_pack("{s:I, s:I, s:o, s:o, s:s, s:o}", "clocks", (json_int_t)measure->clocks,
                     "pauses", (json_int_t)measure->pauses, "bpm",
                     any ? json_real(QUARTER_NS_AT_1 / (CLOCKS_A_QUARTER * summary.mean))
                         : json_null(),
                     "bytes_left_out", tt_json_u64(measure->left_out), "stamp",
                     tt_midi_stamp_name(stamp), "interval", tt_json_summary(&measure->intervals));
    tt_json_print_line(stdout, json);
    json_decref(json);
}

static enum tt_exit listen_for(struct measure *measure, const char *command, int64_t duration_ns)
{
    struct pollfd ready = {.fd = measure->record.ready_fd, .events = POLLIN};
    int64_t end_ns = tt_midi_port_now_ns() + duration_ns;

    if (tt_record_start(&measure->record) != 0) {
        tt_cli_say(command, "cannot start the reader");
        return TT_EXIT_ENVIRONMENT;
    }
    while (!measure->gone && !tt_cli_interrupted() && tt_midi_port_now_ns() < end_ns) {
        poll(&ready, 1, WAIT_MS);
        take_frames(measure);
    }
    tt_record_stop(&measure->record);
    take_frames(measure);
    return TT_EXIT_GOOD;
}

static enum tt_exit verdict(const struct measure *measure, const char *command, const char *name)
{
    if (measure->gone) {
        tt_cli_say(command, "%s went away: plug it in again and measure anew", name);
        return TT_EXIT_ENVIRONMENT;
    }
    if (tt_cli_interrupted()) {
        return TT_EXIT_INCONCLUSIVE;
    }
    if (measure->intervals.n == 0) {
        tt_cli_say(command, "no MIDI clock (F8) came in at %s", name);
        return TT_EXIT_NEGATIVE;
    }
    return TT_EXIT_GOOD;
}

static enum tt_exit measure_port(struct measure *measure, const char *command, const char *name,
                                 int64_t duration_ns, bool json)
{
    struct tt_midi_port_setup setup = {.name = name};
    enum tt_midi_port_stamp stamp;
    struct tt_midi_port *port;
    enum tt_exit code = tt_midi_ports_open(command, &setup, &port);

    if (code != TT_EXIT_GOOD) {
        return code;
    }
    stamp = port->stamp;
    tt_record_add(&measure->record, port, &setup);
    measure->left_out = tt_midi_ports_drop_waiting(command, name, port);
    code = listen_for(measure, command, duration_ns);
    if (code != TT_EXIT_GOOD) {
        return code;
    }
    if (json) {
        print_json(measure, stamp);
    } else if (measure->intervals.n > 0) {
        print_text(measure, stamp);
    }
    return verdict(measure, command, name);
}

enum tt_exit tt_midi_clock_measure(const char *command, const char *port, int64_t duration_ns,
                                   bool json)
{
    struct measure *measure = calloc(1, sizeof(*measure));
    enum tt_exit code = TT_EXIT_ENVIRONMENT;

    if (!measure || tt_record_init(&measure->record) != 0) {
        tt_cli_say(command, "out of memory");
        free(measure);
        return code;
    }
    tt_hist_init(&measure->intervals);
    code = measure_port(measure, command, port, duration_ns, json);
    tt_record_done(&measure->record);
    free(measure);
    return code;
}
