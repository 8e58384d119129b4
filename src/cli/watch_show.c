/*
 * See watch_show.h.
 */
#include "cli/watch_show.h"

#include <inttypes.h>
#include <string.h>

#include "audio/finding.h"
#include "base/ns.h"
#include "report/finding_text.h"
#include "report/json.h"
#include "report/plural.h"
#include "report/table.h"

#define SUBTYPE_TEXT 40

static const char *subtype_text(uint8_t subtype, char ret_text[SUBTYPE_TEXT])
{
    const char *name = tt_avtp_subtype_name(subtype);

    if (strcmp(name, "reserved") == 0) {
        snprintf(ret_text, SUBTYPE_TEXT, "reserved 0x%02X", subtype);
    } else {
        snprintf(ret_text, SUBTYPE_TEXT, "%s", name);
    }
    return ret_text;
}

static bool is_aaf(const struct tt_observed *o)
{
    return o->known && o->avtp.subtype == TT_AVTP_SUBTYPE_AAF;
}

static bool is_crf(const struct tt_observed *o)
{
    return o->known && o->avtp.subtype == TT_AVTP_SUBTYPE_CRF;
}

static int64_t stream_rate_hz(const struct tt_observed *o)
{
    return is_aaf(o) ? o->aaf.rate_hz : is_crf(o) ? o->crf.base_hz : 0;
}

static void stream_row(struct tt_table *table, size_t number, const struct tt_observed *o)
{
    char text[SUBTYPE_TEXT];

    tt_table_cell(table, "%zu", number);
    tt_table_cell(table, "%s", o->avtp.sv ? tt_stream_id_format(o->avtp.stream_id, text) : "-");
    tt_table_cell(table, "%s", tt_mac_format(o->eth.src, text));
    tt_table_cell(table, "%s", tt_mac_format(o->eth.dest, text));
    tt_table_cell_known(table, o->eth.vlan_id, 0);
    tt_table_cell_known(table, o->eth.pcp, 0);
    tt_table_cell(table, "%s", subtype_text(o->avtp.subtype, text));
    tt_table_cell(table, "%s", is_aaf(o) ? tt_aaf_format_name(o->aaf.format) : "-");
    tt_table_cell_known(table, stream_rate_hz(o), 1);
    tt_table_cell_known(table, is_aaf(o) ? (int64_t)o->aaf.channels : 0, 1);
    tt_table_cell_known(table, is_aaf(o) ? (int64_t)o->aaf.frames : 0, 1);
    tt_table_cell_number(table, (int64_t)o->pdus);
    tt_table_cell_number(table, (int64_t)o->lost);
    tt_table_cell_number(table, (int64_t)o->duplicated);
    tt_table_cell_number(table, (int64_t)o->reordered);
}

static void print_streams(const struct tt_observer *observer, FILE *out)
{
    static const struct tt_column columns[] = {
        {"#", TT_ALIGN_RIGHT},          {"stream ID", TT_ALIGN_LEFT}, {"source", TT_ALIGN_LEFT},
        {"destination", TT_ALIGN_LEFT}, {"VLAN", TT_ALIGN_RIGHT},     {"PCP", TT_ALIGN_RIGHT},
        {"type", TT_ALIGN_LEFT},        {"format", TT_ALIGN_LEFT},    {"rate Hz", TT_ALIGN_RIGHT},
        {"ch", TT_ALIGN_RIGHT},         {"fr/PDU", TT_ALIGN_RIGHT},   {"PDUs", TT_ALIGN_RIGHT},
        {"lost", TT_ALIGN_RIGHT},       {"dup", TT_ALIGN_RIGHT},      {"reord", TT_ALIGN_RIGHT},
    };
    struct tt_table table;

    tt_table_init(&table, columns, TT_COUNT_OF(columns));
    for (size_t i = 0; i < observer->count; i++) {
        stream_row(&table, i + 1, observer->streams[i]);
    }
    tt_table_print(&table, out);
    tt_table_done(&table);
}

static void print_intervals(const struct tt_observer *observer, FILE *out)
{
    static const struct tt_column columns[] = {{"#", TT_ALIGN_RIGHT}, TT_TABLE_SUMMARY_COLUMNS};
    struct tt_table table;

    tt_table_init(&table, columns, TT_COUNT_OF(columns));
    for (size_t i = 0; i < observer->count; i++) {
        tt_table_cell(&table, "%zu", i + 1);
        tt_table_cells_summary(&table, &observer->streams[i]->interval);
    }
    fputs("\nInterval between arrivals, ns\n", out);
    tt_table_print(&table, out);
    tt_table_done(&table);
}

static void print_findings(const struct tt_observer *observer, FILE *out)
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
        fputs("\nFindings\n", out);
        tt_table_print(&table, out);
    } else {
        fputs("\nFindings: none\n", out);
    }
    tt_table_done(&table);
    if (!observer->tai_known) {
        fputs("Whether stamps are in TAI or in UTC cannot be told: the kernel's TAI offset is 0 "
              "(ptp4l with phc2sys sets it).\n",
              out);
    }
}

static void print_counts(const struct tt_observer *observer, FILE *out)
{
    char text[SUBTYPE_TEXT];
    const char *separator = " AVTP: ";

    fprintf(out, "%" PRIu64 " %s.", observer->packets,
            tt_plural(observer->packets, "packet", "packets"));
    for (int i = 0; i < 256; i++) {
        if (observer->by_subtype[i] > 0) {
            fprintf(out, "%s%" PRIu64 " %s", separator, observer->by_subtype[i],
                    subtype_text((uint8_t)i, text));
            separator = ", ";
        }
    }
    fputs(separator[0] == ',' ? ".\n" : " No AVTP.\n", out);
    if (observer->not_avtp > 0) {
        fprintf(out, "%" PRIu64 " %s not AVTP.\n", observer->not_avtp,
                tt_plural(observer->not_avtp, "packet is", "packets are"));
    }
    if (observer->malformed > 0) {
        fprintf(out, "%" PRIu64 " %s too short for it.\n", observer->malformed,
                tt_plural(observer->malformed, "packet has AVTP's EtherType but is",
                          "packets have AVTP's EtherType but are"));
    }
    if (observer->cut > 0) {
        fprintf(out,
                "%" PRIu64 " %s captured too short to read; capture 64 bytes or more of each.\n",
                observer->cut, tt_plural(observer->cut, "packet was", "packets were"));
    }
    if (observer->beyond > 0) {
        fprintf(out, "%" PRIu64 " %s to streams beyond the first %zu.\n", observer->beyond,
                tt_plural(observer->beyond, "packet belongs", "packets belong"),
                observer->capacity);
    }
}

void tt_watch_print(const struct tt_watch_view *view, FILE *out)
{
    if (view->live) {
        fprintf(out, "%s, %.1f s: ", view->source, (double)view->elapsed_ns / 1e9);
    } else {
        fprintf(out, "%s: ", view->source);
    }
    print_counts(view->observer, out);
    if (view->live && view->drops != 0) {
        if (view->drops < 0) {
            fputs("Whether packets were lost before they could be read is unknown.\n", out);
        } else {
            fprintf(out,
                    "%" PRId64 " %s lost on this machine before being read: lost below includes "
                    "that.\n",
                    view->drops, tt_plural((uint64_t)view->drops, "packet was", "packets were"));
        }
    }
    if (view->observer->count > 0) {
        fputc('\n', out);
        print_streams(view->observer, out);
        print_intervals(view->observer, out);
        print_findings(view->observer, out);
    }
    fflush(out);
}

static json_t *json_shape(const struct tt_observed *o)
{
    if (is_aaf(o)) {
        return json_pack("{s:s, s:I, s:I, s:I, s:I, s:b}", "format",
                         tt_aaf_format_name(o->aaf.format), "rate_hz", (json_int_t)o->aaf.rate_hz,
                         "channels", (json_int_t)o->aaf.channels, "bit_depth",
                         (json_int_t)o->aaf.bit_depth, "frames_per_pdu", (json_int_t)o->aaf.frames,
                         "sparse", o->aaf.sp);
    }
    if (is_crf(o)) {
        return json_pack("{s:I, s:I, s:I, s:I, s:I}", "crf_type", (json_int_t)o->crf.type,
                         "rate_hz", (json_int_t)o->crf.base_hz, "pull", (json_int_t)o->crf.pull,
                         "timestamp_interval", (json_int_t)o->crf.timestamp_interval,
                         "timestamps_per_pdu", (json_int_t)o->crf.timestamp_count);
    }
    return json_object();
}

static json_t *json_findings(const struct tt_observer *observer, const struct tt_observed *o)
{
    struct tt_finding findings[TT_FINDINGS_MAX];
    size_t n = tt_findings(observer, o, findings);
    json_t *list = json_array();

    for (size_t i = 0; i < n; i++) {
        json_array_append_new(list, tt_finding_json(&findings[i]));
    }
    return list;
}

static json_t *json_stream(const struct tt_observer *observer, const struct tt_observed *o)
{
    char subtype[SUBTYPE_TEXT];
    char src[TT_MAC_TEXT];
    char dest[TT_MAC_TEXT];
    json_t *stream = json_pack(
        "{s:o, s:s, s:s, s:s, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:I, s:I, s:o, s:o}",
        "stream_id", o->avtp.sv ? tt_json_stream_id(o->avtp.stream_id) : json_null(), "subtype",
        subtype_text(o->avtp.subtype, subtype), "src", tt_mac_format(o->eth.src, src), "dest",
        tt_mac_format(o->eth.dest, dest), "vlan_id", tt_json_known(o->eth.vlan_id, 0), "pcp",
        tt_json_known(o->eth.pcp, 0), "pdus", tt_json_u64(o->pdus), "lost", tt_json_u64(o->lost),
        "duplicated", tt_json_u64(o->duplicated), "reordered", tt_json_u64(o->reordered),
        "restarts", tt_json_u64(o->restarts), "shape_changes", tt_json_u64(o->frames_changed),
        "pdus_refused", tt_json_refused(o->refused), "first_utc_ns", (json_int_t)o->first_ns,
        "last_utc_ns", (json_int_t)o->last_ns, "interval_ns", tt_json_summary(&o->interval),
        "findings", json_findings(observer, o));
    json_t *shape = json_shape(o);

    if (stream && shape) {
        json_object_update(stream, shape);
    }
    json_decref(shape);
    return stream;
}

static json_t *json_subtypes(const struct tt_observer *observer)
{
    json_t *object = json_object();
    char text[SUBTYPE_TEXT];

    for (int i = 0; i < 256; i++) {
        if (observer->by_subtype[i] > 0) {
            json_object_set_new(object, subtype_text((uint8_t)i, text),
                                tt_json_u64(observer->by_subtype[i]));
        }
    }
    return object;
}

json_t *tt_watch_json(const struct tt_watch_view *view)
{
    const struct tt_observer *observer = view->observer;
    json_t *streams = json_array();

    for (size_t i = 0; i < observer->count; i++) {
        json_array_append_new(streams, json_stream(observer, observer->streams[i]));
    }
    return json_pack(
        "{s:s, s:b, s:o, s:o, s:s?, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o}", "source",
        view->source, "final", view->final, "elapsed_ns",
        view->live ? json_integer((json_int_t)view->elapsed_ns) : json_null(), "packets_dropped",
        tt_json_known(view->live ? view->drops : -1, 0), "error", view->error, "tai_offset_ns",
        observer->tai_known ? json_integer((json_int_t)observer->scales.tai_offset_ns)
                            : json_null(),
        "packets", tt_json_u64(observer->packets), "not_avtp", tt_json_u64(observer->not_avtp),
        "malformed", tt_json_u64(observer->malformed), "cut", tt_json_u64(observer->cut), "beyond",
        tt_json_u64(observer->beyond), "subtypes", json_subtypes(observer), "streams", streams);
}
