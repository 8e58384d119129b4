/*
 * `tactus gate shape --explain`: the most goodput that there can be, for each class and mode, on
 * this machine.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/ns.h"
#include "cli/cmd.h"
#include "cli/gate_shape.h"
#include "gate/goodput.h"
#include "report/json.h"
#include "report/table.h"
#include "run/shape_probe.h"

#define COMMAND     TT_GATE_SHAPE_COMMAND
#define DURATION_NS (2 * TT_NS_PER_S)

enum way { WAY_FULL, WAY_CUT, WAY_STRICT, WAYS };

static int goodput(const struct tt_gate_shape *job, const struct tt_shape_probe *probe,
                   unsigned class, bool ipv6, enum way way, int64_t *ret_bps)
{
    struct tt_shaper_setup setup = job->setup.shaper;
    struct tt_goodput_model model = {
        .late_ns = probe->late_ns,
        .late_count = TT_SHAPE_PROBES,
        .hand_ns = probe->hand_ns,
        .hand_count = probe->hand_count,
    };

    setup.strict = way == WAY_STRICT;
    setup.cut_bytes = way == WAY_FULL ? 0 : setup.cut_bytes;
    return tt_goodput(&setup, job->setup.list, class, ipv6, &model, DURATION_NS, ret_bps);
}

static int64_t percentile(const int64_t *values, size_t n, unsigned permille)
{
    struct tt_hist *hist = n > 0 ? malloc(sizeof(*hist)) : NULL;
    int64_t found = -1;

    if (hist) {
        tt_hist_init(hist);
        for (size_t i = 0; i < n; i++) {
            tt_hist_record(hist, values[i]);
        }
        found = tt_hist_percentile(hist, permille);
        free(hist);
    }
    return found;
}

static void print_table(const struct tt_gate_shape *job, const struct tt_shape_probe *probe,
                        int64_t bps[TT_GATE_CLASSES][2][WAYS])
{
    static const struct tt_column columns[] = {
        {"class", TT_ALIGN_RIGHT},
        {"open %", TT_ALIGN_RIGHT},
        {"", TT_ALIGN_LEFT},
        {"full segments", TT_ALIGN_RIGHT},
        {"cut to fit", TT_ALIGN_RIGHT},
        {"strict", TT_ALIGN_RIGHT},
    };
    struct tt_table table;

    printf("The most TCP goodput in Mbit/s, wire %.0f Mbit/s:\n",
           (double)job->setup.shaper.rate_bps / 1e6);
    tt_table_init(&table, columns, TT_COUNT_OF(columns));
    for (unsigned c = 0; c < job->setup.shaper.classes; c++) {
        for (int v6 = 0; v6 < 2; v6++) {
            tt_table_cell(&table, "%u", c);
            tt_table_cell(&table, "%.1f",
                          100 * (double)job->setup.list->classes[c].open_ns /
                              (double)job->setup.list->cycle_ns);
            tt_table_cell(&table, v6 ? "IPv6" : "IPv4");
            for (int way = 0; way < WAYS; way++) {
                tt_table_cell(&table, "%.2f", (double)bps[c][v6][way] / 1e6);
            }
        }
    }
    tt_table_print(&table, stdout);
    tt_table_done(&table);
    printf("full segments, cut to fit: computed departures, without and with --cut.\n"
           "strict: with what was measured just now, and as busy as the machine was then. "
           "%d wake-ups%s: late by %" PRId64 " ns (median), %" PRId64
           " ns (p99).\nA margin of %" PRId64 " ns.\n",
           TT_SHAPE_PROBES, probe->realtime ? "" : " without real-time priority",
           percentile(probe->late_ns, TT_SHAPE_PROBES, 500),
           percentile(probe->late_ns, TT_SHAPE_PROBES, 990), job->setup.shaper.margin_ns);
    if (probe->hand_count > 0) {
        printf("To hand a frame to %s takes %" PRId64 " ns (median), %" PRId64
               " ns (p99), of %zu.\n",
               job->ifname, percentile(probe->hand_ns, probe->hand_count, 500),
               percentile(probe->hand_ns, probe->hand_count, 990), probe->hand_count);
    } else {
        printf("How long a frame takes to be handed over is unknown without --to; counted as 0.\n");
    }
}

static void print_json(const struct tt_gate_shape *job, const struct tt_shape_probe *probe,
                       int64_t bps[TT_GATE_CLASSES][2][WAYS])
{
    json_t *classes = json_array();
    json_t *json;

    for (unsigned c = 0; c < job->setup.shaper.classes; c++) {
        for (int v6 = 0; v6 < 2; v6++) {
            json_array_append_new(classes,
                                  json_pack("{s:i, s:s, s:I, s:I, s:I}", "class", (int)c, "ip",
                                            v6 ? "IPv6" : "IPv4", "full_segments_bps",
                                            (json_int_t)bps[c][v6][WAY_FULL], "cut_to_fit_bps",
                                            (json_int_t)bps[c][v6][WAY_CUT], "strict_bps",
                                            (json_int_t)bps[c][v6][WAY_STRICT]));
        }
    }
    json =
        json_pack("{s:I, s:o, s:b, s:i, s:I, s:I, s:I, s:o, s:I}", "rate_bps",
                  (json_int_t)job->setup.shaper.rate_bps, "classes", classes, "realtime",
                  probe->realtime, "wake_count", TT_SHAPE_PROBES, "wake_late_median_ns",
                  (json_int_t)percentile(probe->late_ns, TT_SHAPE_PROBES, 500), "wake_late_p99_ns",
                  (json_int_t)percentile(probe->late_ns, TT_SHAPE_PROBES, 990), "hand_over_count",
                  (json_int_t)probe->hand_count, "hand_over_median_ns",
                  tt_json_known(percentile(probe->hand_ns, probe->hand_count, 500), 0), "margin_ns",
                  (json_int_t)job->setup.shaper.margin_ns);
    tt_json_print_line(stdout, json);
    json_decref(json);
}

enum tt_exit tt_gate_goodput_show(const struct tt_gate_shape *job,
                                  const struct tt_shape_probe *probe)
{
    int64_t bps[TT_GATE_CLASSES][2][WAYS] = {0};

    for (unsigned c = 0; c < job->setup.shaper.classes; c++) {
        for (int i = 0; i < 2 * WAYS; i++) {
            if (goodput(job, probe, c, i / WAYS, (enum way)(i % WAYS),
                        &bps[c][i / WAYS][i % WAYS]) != 0) {
                tt_cli_say(COMMAND, "out of memory");
                return TT_EXIT_ENVIRONMENT;
            }
        }
    }
    if (job->json) {
        print_json(job, probe, bps);
    } else {
        print_table(job, probe, bps);
    }
    return TT_EXIT_GOOD;
}
