/*
 * See watch_show.h.
 */
#include "cli/watch_show.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "audio/finding.h"
#include "base/ns.h"
#include "report/finding_text.h"
#include "report/plural.h"
#include "report/table.h"

#define CLASS_A_NS INT64_C(125000)
#define CLASS_B_NS INT64_C(250000)

const char *tt_watch_subtype(uint8_t subtype, char ret_text[TT_SUBTYPE_TEXT])
{
    const char *name = tt_avtp_subtype_name(subtype);

    if (strcmp(name, "reserved") == 0) {
        snprintf(ret_text, TT_SUBTYPE_TEXT, "reserved 0x%02X", subtype);
    } else {
        snprintf(ret_text, TT_SUBTYPE_TEXT, "%s", name);
    }
    return ret_text;
}

static bool is_aaf(const struct tt_observed *o)
{
    return o->known && o->avtp.subtype == TT_AVTP_SUBTYPE_AAF;
}

static int64_t stream_rate_hz(const struct tt_observed *o)
{
    return is_aaf(o) ? o->aaf.rate_hz : o->known ? o->crf.base_hz : 0;
}

const char *tt_watch_class(const struct tt_observed *o)
{
    if (!is_aaf(o)) {
        return NULL;
    }
    /* At 44.1 kHz the PDUs of a class hold as many frames as at 48, and last longer. */
    int64_t interval_ns = tt_conduct_period_ns(&o->period, 1);

    if (interval_ns >= CLASS_A_NS && interval_ns < CLASS_A_NS * 12 / 11) {
        return "A";
    }
    return interval_ns >= CLASS_B_NS && interval_ns < CLASS_B_NS * 12 / 11 ? "B" : NULL;
}

double tt_watch_nominal_rate(const struct tt_observed *o)
{
    return o->period.hz > 0 && o->period.events > 0
               ? (double)o->period.hz / (double)o->period.events
               : 0;
}

double tt_watch_measured_rate(const struct tt_observed *o)
{
    struct tt_summary interval;

    tt_hist_summarize(&o->interval, &interval);
    return interval.n > 0 && interval.mean > 0 ? 1e9 / interval.mean : 0;
}

const char *tt_watch_scale(const struct tt_observed *o)
{
    return o->margin_scale == TT_SCALE_UTC ? "UTC" : "TAI";
}

static void stream_row(struct tt_table *table, size_t number, const struct tt_observed *o)
{
    char text[TT_SUBTYPE_TEXT];

    tt_table_cell(table, "%zu", number);
    tt_table_cell(table, "%s", o->avtp.sv ? tt_stream_id_format(o->avtp.stream_id, text) : "-");
    tt_table_cell(table, "%s", tt_mac_format(o->eth.src, text));
    tt_table_cell(table, "%s", tt_mac_format(o->eth.dest, text));
    tt_table_cell_known(table, o->eth.vlan_id, 0);
    tt_table_cell_known(table, o->eth.pcp, 0);
    tt_table_cell(table, "%s", tt_watch_subtype(o->avtp.subtype, text));
    tt_table_cell(table, "%s", is_aaf(o) ? tt_aaf_format_name(o->aaf.format) : "-");
    tt_table_cell_known(table, stream_rate_hz(o), 1);
    tt_table_cell_known(table, is_aaf(o) ? (int64_t)o->aaf.channels : 0, 1);
    tt_table_cell_known(table, is_aaf(o) ? (int64_t)o->aaf.frames : 0, 1);
    tt_table_cell_number(table, (int64_t)o->pdus);
    tt_table_cell_number(table, (int64_t)o->lost);
    tt_table_cell_number(table, (int64_t)o->duplicated);
    tt_table_cell_number(table, (int64_t)o->reordered);
    tt_table_cell_number(table, (int64_t)(o->restarts + o->grid.moves));
}

static void show_streams(const struct tt_observer *observer, const struct tt_out *out)
{
    static const struct tt_column columns[] = {
        {"#", TT_ALIGN_RIGHT},          {"stream ID", TT_ALIGN_LEFT}, {"source", TT_ALIGN_LEFT},
        {"destination", TT_ALIGN_LEFT}, {"VLAN", TT_ALIGN_RIGHT},     {"PCP", TT_ALIGN_RIGHT},
        {"type", TT_ALIGN_LEFT},        {"format", TT_ALIGN_LEFT},    {"rate Hz", TT_ALIGN_RIGHT},
        {"ch", TT_ALIGN_RIGHT},         {"fr/PDU", TT_ALIGN_RIGHT},   {"PDUs", TT_ALIGN_RIGHT},
        {"lost", TT_ALIGN_RIGHT},       {"dup", TT_ALIGN_RIGHT},      {"reord", TT_ALIGN_RIGHT},
        {"restart", TT_ALIGN_RIGHT},
    };
    struct tt_table table;

    tt_table_init(&table, columns, TT_COUNT_OF(columns));
    for (size_t i = 0; i < observer->count; i++) {
        stream_row(&table, i + 1, observer->streams[i]);
    }
    tt_out_table(out, "Streams", &table);
}

static void cell_rate(struct tt_table *table, double rate)
{
    if (rate > 0) {
        tt_table_cell(table, "%.3f", rate);
    } else {
        tt_table_cell(table, "-");
    }
}

static void show_rates(const struct tt_observer *observer, const struct tt_out *out)
{
    static const struct tt_column columns[] = {
        {"#", TT_ALIGN_RIGHT},         {"class", TT_ALIGN_LEFT},
        {"nominal/s", TT_ALIGN_RIGHT}, {"measured/s", TT_ALIGN_RIGHT},
        {"clock ppm", TT_ALIGN_RIGHT}, {"stamped", TT_ALIGN_RIGHT},
        {"steps off", TT_ALIGN_RIGHT}, {"stamps missing", TT_ALIGN_RIGHT},
        {"uncertain", TT_ALIGN_RIGHT}, {"clock restarts", TT_ALIGN_RIGHT},
    };
    struct tt_table table;

    tt_table_init(&table, columns, TT_COUNT_OF(columns));
    for (size_t i = 0; i < observer->count; i++) {
        const struct tt_observed *o = observer->streams[i];
        const char *class = tt_watch_class(o);

        tt_table_cell(&table, "%zu", i + 1);
        tt_table_cell(&table, "%s", class ? class : "-");
        cell_rate(&table, tt_watch_nominal_rate(o));
        cell_rate(&table, tt_watch_measured_rate(o));
        if (tt_arrival_grid_knows_drift(&o->grid)) {
            tt_table_cell(&table, "%+.3f", (double)tt_media_clock_drift_ppb(&o->grid.clock) / 1000);
        } else {
            tt_table_cell(&table, "-");
        }
        tt_table_cell_number(&table, (int64_t)o->conduct.stamped);
        tt_table_cell_number(&table, (int64_t)o->conduct.steps_off);
        tt_table_cell_number(&table, (int64_t)o->conduct.stamps_missing);
        tt_table_cell_number(&table, (int64_t)o->conduct.uncertain);
        tt_table_cell_number(&table, (int64_t)o->conduct.clock_restarts);
    }
    tt_out_table(out, "PDUs a second, and stamps", &table);
}

typedef const struct tt_hist *hist_of(const struct tt_observed *o);

static const struct tt_hist *interval_of(const struct tt_observed *o)
{
    return &o->interval;
}

static const struct tt_hist *lateness_of(const struct tt_observed *o)
{
    return &o->lateness;
}

static const struct tt_hist *margin_of(const struct tt_observed *o)
{
    return &o->margin;
}

static void show_summaries(const struct tt_observer *observer, const struct tt_out *out,
                           const char *caption, hist_of *hist, bool scale)
{
    static const struct tt_column columns[] = {
        {"#", TT_ALIGN_RIGHT}, TT_TABLE_SUMMARY_COLUMNS, {"in", TT_ALIGN_LEFT}};
    struct tt_table table;

    tt_table_init(&table, columns, TT_COUNT_OF(columns) - !scale);
    for (size_t i = 0; i < observer->count; i++) {
        const struct tt_observed *o = observer->streams[i];

        tt_table_cell(&table, "%zu", i + 1);
        tt_table_cells_summary(&table, hist(o));
        if (scale) {
            tt_table_cell(&table, "%s", hist(o)->n > 0 ? tt_watch_scale(o) : "-");
        }
    }
    tt_out_table(out, caption, &table);
}

static void show_priorities(const struct tt_observer *observer, const struct tt_out *out)
{
    static const struct tt_column columns[] = {{"PCP", TT_ALIGN_LEFT},
                                               {"packets", TT_ALIGN_RIGHT},
                                               {"bytes", TT_ALIGN_RIGHT},
                                               {"Mbit/s", TT_ALIGN_RIGHT}};
    double span_ns = (double)observer->last_ns - (double)observer->first_ns;
    struct tt_table table;

    tt_table_init(&table, columns, TT_COUNT_OF(columns));
    for (int i = 0; i <= TT_LINK_PRIORITIES; i++) {
        const struct tt_link_share *share = &observer->traffic.avtp[i];

        if (share->packets == 0) {
            continue;
        }
        if (i == TT_LINK_UNTAGGED) {
            tt_table_cell(&table, "untagged");
        } else {
            tt_table_cell(&table, "%d", i);
        }
        tt_table_cell_number(&table, (int64_t)share->packets);
        tt_table_cell_number(&table, (int64_t)share->wire_bytes);
        if (span_ns > 0) {
            tt_table_cell(&table, "%.3f", (double)share->wire_bytes * 8e3 / span_ns);
        } else {
            tt_table_cell(&table, "-");
        }
    }
    tt_out_table(out, "AVTP on the wire, by priority (preamble, FCS and gap included)", &table);
}

static void show_findings(const struct tt_observer *observer, const struct tt_out *out)
{
    static const struct tt_column columns[] = {{"#", TT_ALIGN_RIGHT},
                                               {"severity", TT_ALIGN_LEFT},
                                               {"code", TT_ALIGN_LEFT},
                                               {"what", TT_ALIGN_LEFT}};
    struct tt_finding findings[TT_FINDINGS_MAX];
    char text[TT_FINDING_TEXT];
    struct tt_table table;

    tt_table_init(&table, columns, TT_COUNT_OF(columns));
    for (size_t i = 0; i < observer->count; i++) {
        size_t n = tt_findings(observer, observer->streams[i], findings);

        for (size_t k = 0; k < n; k++) {
            tt_table_cell(&table, "%zu", i + 1);
            tt_table_cell(&table, "%s", tt_severity_name(findings[k].severity));
            tt_table_cell(&table, "%s", tt_finding_code(findings[k].kind));
            tt_table_cell(&table, "%s", tt_finding_text(&findings[k], text));
        }
    }
    if (table.cell_count > 0) {
        tt_out_table(out, "Findings", &table);
    } else {
        if (out->text) {
            fputc('\n', out->text);
        }
        tt_out_line(out, "Findings: none");
        tt_table_done(&table);
    }
    if (!observer->tai_known) {
        tt_out_line(
            out, "Whether stamps are in TAI or in UTC cannot be told: the kernel's TAI offset is "
                 "0 (ptp4l with phc2sys sets it).");
    }
}

void tt_watch_tables(const struct tt_watch_view *view, const struct tt_out *out)
{
    const struct tt_observer *observer = view->observer;

    show_streams(observer, out);
    show_rates(observer, out);
    show_summaries(observer, out, "Interval between arrivals, ns", interval_of, false);
    show_summaries(observer, out, "Lateness against the media grid, ns", lateness_of, false);
    show_summaries(observer, out, "Margin: presentation time - arrival, ns", margin_of, true);
    show_priorities(observer, out);
    show_findings(observer, out);
}

static void count_line(const struct tt_out *out, uint64_t count, const char *one, const char *many)
{
    if (count > 0) {
        tt_out_line(out, "%" PRIu64 " %s", count, tt_plural(count, one, many));
    }
}

static void subtypes_line(const struct tt_watch_view *view, const struct tt_out *out)
{
    const struct tt_observer *observer = view->observer;
    const char *separator = " AVTP: ";
    char text[TT_SUBTYPE_TEXT];
    char seconds[32] = "";
    char *all = NULL;
    size_t bytes;
    FILE *list = open_memstream(&all, &bytes);

    if (!list) {
        return;
    }
    for (int i = 0; i < 256; i++) {
        if (observer->by_subtype[i] > 0) {
            fprintf(list, "%s%" PRIu64 " %s", separator, observer->by_subtype[i],
                    tt_watch_subtype((uint8_t)i, text));
            separator = ", ";
        }
    }
    fputs(separator[0] == ',' ? "."
          : observer->cut > 0 ? " No AVTP that can be read."
                              : " No AVTP.",
          list);
    fclose(list);
    if (view->live) {
        snprintf(seconds, sizeof(seconds), ", %.1f s", (double)view->elapsed_ns / 1e9);
    }
    tt_out_line(out, "%s%s: %" PRIu64 " %s.%s", view->source, seconds, observer->packets,
                tt_plural(observer->packets, "packet", "packets"), all);
    free(all);
}

static void clock_identity(uint64_t identity, char text[24])
{
    for (int i = 0; i < 8; i++) {
        snprintf(text + 3 * i, i < 7 ? 4 : 3, i < 7 ? "%02X:" : "%02X",
                 (unsigned)(identity >> (56 - 8 * i) & 0xFF));
    }
}

static void network_lines(const struct tt_link_traffic *traffic, const struct tt_out *out)
{
    char grandmaster[24] = "unknown";

    if (traffic->grandmaster != 0) {
        clock_identity(traffic->grandmaster, grandmaster);
    }
    if (traffic->gptp > 0) {
        tt_out_line(
            out,
            "gPTP is here: %" PRIu64 " %s (%" PRIu64 " Sync, %" PRIu64 " Announce); grandmaster "
            "%s, changed %" PRIu64 " %s.",
            traffic->gptp, tt_plural(traffic->gptp, "message", "messages"), traffic->gptp_sync,
            traffic->gptp_announce, grandmaster, traffic->grandmaster_changes,
            tt_plural(traffic->grandmaster_changes, "time", "times"));
    }
    if (traffic->msrp + traffic->mvrp > 0) {
        tt_out_line(out,
                    "Somebody makes reservations: %" PRIu64 " MSRP and %" PRIu64 " MVRP packets.",
                    traffic->msrp, traffic->mvrp);
    }
}

void tt_watch_lines(const struct tt_watch_view *view, const struct tt_out *out)
{
    const struct tt_observer *observer = view->observer;

    subtypes_line(view, out);
    if (view->stamps) {
        tt_out_line(out, "Arrival times: %s.", view->stamps);
    }
    count_line(out, observer->not_avtp, "packet is not AVTP.", "packets are not AVTP.");
    count_line(out, observer->malformed, "packet has AVTP's EtherType but is too short for it.",
               "packets have AVTP's EtherType but are too short for it.");
    count_line(out, observer->cut,
               "packet was captured too short to read; capture 64 bytes or more of each.",
               "packets were captured too short to read; capture 64 bytes or more of each.");
    count_line(out, observer->filtered, "packet is left out by the filter.",
               "packets are left out by the filter.");
    if (observer->beyond > 0) {
        tt_out_line(out, "%" PRIu64 " %s to streams beyond the first %zu.", observer->beyond,
                    tt_plural(observer->beyond, "packet belongs", "packets belong"),
                    observer->capacity);
    }
    network_lines(&observer->traffic, out);
    if (view->live && view->drops.buffer < 0) {
        tt_out_line(out, "Whether packets were lost in the capture's buffer is unknown.");
    } else if (view->live) {
        count_line(out, (uint64_t)view->drops.buffer,
                   "packet was lost in the capture's buffer, on this machine: lost below includes "
                   "that.",
                   "packets were lost in the capture's buffer, on this machine: lost below "
                   "includes that.");
    }
    if (view->live && view->drops.downs > 0) {
        tt_out_line(out,
                    "The interface was down %" PRId64 " %s meanwhile: what came then is not here.",
                    view->drops.downs, tt_plural((uint64_t)view->drops.downs, "time", "times"));
    }
    if (view->live) {
        count_line(out, (uint64_t)view->drops.interface,
                   "packet was dropped by this machine as it came (a full queue of the interface "
                   "or of a processor): lost below includes that.",
                   "packets were dropped by this machine as they came (a full queue of the "
                   "interface or of a processor): lost below includes that.");
    }
}

void tt_watch_print(const struct tt_watch_view *view, FILE *out)
{
    const struct tt_out to = {.text = out};

    tt_watch_lines(view, &to);
    if (view->observer->count > 0) {
        tt_watch_tables(view, &to);
    }
    fflush(out);
}
