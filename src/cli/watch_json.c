/*
 * What an observer saw as JSON: see watch_show.h.
 */
#include <inttypes.h>
#include <math.h>

#include "audio/finding.h"
#include "cli/watch_show.h"
#include "report/finding_text.h"
#include "report/json.h"

static json_t *json_shape(const struct tt_observed *o)
{
    if (o->known && o->avtp.subtype == TT_AVTP_SUBTYPE_AAF) {
        return json_pack("{s:s, s:I, s:I, s:I, s:I, s:b}", "format",
                         tt_aaf_format_name(o->aaf.format), "rate_hz", (json_int_t)o->aaf.rate_hz,
                         "channels", (json_int_t)o->aaf.channels, "bit_depth",
                         (json_int_t)o->aaf.bit_depth, "frames_per_pdu", (json_int_t)o->aaf.frames,
                         "sparse", o->aaf.sp);
    }
    if (o->known && o->avtp.subtype == TT_AVTP_SUBTYPE_CRF) {
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

static json_t *json_rate(double rate)
{
    return rate > 0 ? json_real(round(rate * 1000) / 1000) : json_null();
}

static json_t *json_drift(const struct tt_arrival_grid *grid)
{
    return tt_arrival_grid_knows_drift(grid)
               ? json_integer((json_int_t)tt_media_clock_drift_ppb(&grid->clock))
               : json_null();
}

#define CONDUCT_FIELD(field) TT_JSON_FIELD(tt_conduct, field)

static json_t *json_stamps(const struct tt_conduct *conduct)
{
    static const struct tt_json_field fields[] = {
        CONDUCT_FIELD(stamped),   CONDUCT_FIELD(stamps_missing), CONDUCT_FIELD(sparse_misused),
        CONDUCT_FIELD(uncertain), CONDUCT_FIELD(clock_restarts), CONDUCT_FIELD(steps),
        CONDUCT_FIELD(steps_off), CONDUCT_FIELD(steps_followed),
    };

    return tt_json_fields(conduct, fields, TT_COUNT_OF(fields));
}

static json_t *json_figures(const struct tt_observed *o)
{
    const char *class = tt_watch_class(o);

    return json_pack("{s:s?, s:o, s:o, s:o, s:o, s:o, s:o, s:s?, s:o, s:o}", "class", class,
                     "nominal_pdus_per_s", json_rate(tt_watch_nominal_rate(o)),
                     "measured_pdus_per_s", json_rate(tt_watch_measured_rate(o)), "clock_drift_ppb",
                     json_drift(&o->grid), "interval_ns", tt_json_summary(&o->interval),
                     "lateness_ns", tt_json_summary(&o->lateness), "margin_ns",
                     tt_json_summary(&o->margin), "margin_scale",
                     o->margin.n > 0 ? tt_watch_scale(o) : NULL, "grid_moves",
                     tt_json_u64(o->grid.moves), "stamps", json_stamps(&o->conduct));
}

static json_t *json_stream(const struct tt_observer *observer, const struct tt_observed *o)
{
    char subtype[TT_SUBTYPE_TEXT];
    char src[TT_MAC_TEXT];
    char dest[TT_MAC_TEXT];
    json_t *stream = json_pack(
        "{s:o, s:s, s:s, s:s, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:I, s:I, s:o}",
        "stream_id", o->avtp.sv ? tt_json_stream_id(o->avtp.stream_id) : json_null(), "subtype",
        tt_watch_subtype(o->avtp.subtype, subtype), "src", tt_mac_format(o->eth.src, src), "dest",
        tt_mac_format(o->eth.dest, dest), "vlan_id", tt_json_known(o->eth.vlan_id, 0), "pcp",
        tt_json_known(o->eth.pcp, 0), "pdus", tt_json_u64(o->pdus), "lost", tt_json_u64(o->lost),
        "duplicated", tt_json_u64(o->duplicated), "reordered", tt_json_u64(o->reordered),
        "restarts", tt_json_u64(o->restarts), "shape_changes", tt_json_u64(o->frames_changed),
        "pdus_refused", tt_json_refused(o->refused), "first_utc_ns", (json_int_t)o->first_ns,
        "last_utc_ns", (json_int_t)o->last_ns, "findings", json_findings(observer, o));
    json_t *parts[] = {json_shape(o), json_figures(o)};

    for (size_t i = 0; i < TT_COUNT_OF(parts); i++) {
        json_object_update(stream, parts[i]);
        json_decref(parts[i]);
    }
    return stream;
}

static json_t *json_subtypes(const struct tt_observer *observer)
{
    json_t *object = json_object();
    char text[TT_SUBTYPE_TEXT];

    for (int i = 0; i < 256; i++) {
        if (observer->by_subtype[i] > 0) {
            json_object_set_new(object, tt_watch_subtype((uint8_t)i, text),
                                tt_json_u64(observer->by_subtype[i]));
        }
    }
    return object;
}

static json_t *json_traffic(const struct tt_observer *observer)
{
    const struct tt_link_traffic *traffic = &observer->traffic;
    json_t *priorities = json_array();
    char grandmaster[2 * 8 + 1];

    for (int i = 0; i <= TT_LINK_PRIORITIES; i++) {
        const struct tt_link_share *share = &traffic->avtp[i];

        if (share->packets > 0) {
            json_array_append_new(priorities,
                                  json_pack("{s:o, s:o, s:o}", "pcp",
                                            i == TT_LINK_UNTAGGED ? json_null() : json_integer(i),
                                            "packets", tt_json_u64(share->packets), "wire_bytes",
                                            tt_json_u64(share->wire_bytes)));
        }
    }
    snprintf(grandmaster, sizeof(grandmaster), "%016" PRIx64, traffic->grandmaster);
    return json_pack("{s:o, s:o, s:o, s:o, s:s?, s:o, s:o, s:o, s:o}", "avtp_by_priority",
                     priorities, "gptp", tt_json_u64(traffic->gptp), "gptp_sync",
                     tt_json_u64(traffic->gptp_sync), "gptp_announce",
                     tt_json_u64(traffic->gptp_announce), "grandmaster",
                     traffic->grandmaster != 0 ? grandmaster : NULL, "grandmaster_changes",
                     tt_json_u64(traffic->grandmaster_changes), "gptp_utc_offset_s",
                     traffic->utc_offset_known ? json_integer(traffic->utc_offset_s) : json_null(),
                     "msrp", tt_json_u64(traffic->msrp), "mvrp", tt_json_u64(traffic->mvrp));
}

static json_t *json_sources(const struct tt_watch_view *view)
{
    json_t *sources = json_array();

    for (size_t i = 0; i < view->source_count; i++) {
        json_array_append_new(sources, tt_json_name(view->sources[i]));
    }
    return sources;
}

/* Of both kinds. */
static json_t *json_drops(const struct tt_watch_view *view)
{
    return view->live && view->drops.buffer >= 0
               ? json_integer((json_int_t)(view->drops.buffer + view->drops.interface))
               : json_null();
}

json_t *tt_watch_json(const struct tt_watch_view *view)
{
    const struct tt_observer *observer = view->observer;
    json_t *streams = json_array();

    for (size_t i = 0; i < observer->count; i++) {
        json_array_append_new(streams, json_stream(observer, observer->streams[i]));
    }
    return json_pack(
        "{s:o, s:o, s:b, s:o, s:o, s:o, s:o, s:o, s:s?, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, "
        "s:o, s:o, s:o}",
        "source", tt_json_name(view->source), "sources", json_sources(view), "final", view->final,
        "elapsed_ns", view->live ? json_integer((json_int_t)view->elapsed_ns) : json_null(),
        "packets_dropped", json_drops(view), "packets_dropped_by_interface",
        tt_json_known(view->live ? view->drops.interface : -1, 0), "interface_downs",
        tt_json_known(view->live ? view->drops.downs : -1, 0), "error", tt_json_name(view->error),
        "arrival_stamps", view->stamps, "tai_offset_ns",
        observer->tai_known ? json_integer((json_int_t)observer->scales.tai_offset_ns)
                            : json_null(),
        "span_ns",
        observer->packets > 0
            ? json_integer((json_int_t)((uint64_t)observer->last_ns - (uint64_t)observer->first_ns))
            : json_null(),
        "packets", tt_json_u64(observer->packets), "not_avtp", tt_json_u64(observer->not_avtp),
        "malformed", tt_json_u64(observer->malformed), "cut", tt_json_u64(observer->cut), "beyond",
        tt_json_u64(observer->beyond), "filtered", tt_json_u64(observer->filtered), "subtypes",
        json_subtypes(observer), "streams", streams, "traffic", json_traffic(observer));
}
