/*
 * See watch_metrics.h. What may become less (a number that was skipped and comes after all) is a
 * gauge.
 */
#include "cli/watch_metrics.h"

#include "base/attr.h"
#include "report/prometheus.h"

#define LABELS 5

/* What stands behind the labels of a stream. */
struct label_text {
    char id[TT_STREAM_ID_TEXT];
    char src[TT_MAC_TEXT];
    char dest[TT_MAC_TEXT];
    char type[TT_SUBTYPE_TEXT];
};

static void labels_of(const struct tt_watch_view *view, const struct tt_observed *o,
                      struct label_text *text, struct tt_prom_label ret_labels[LABELS])
{
    ret_labels[0] = (struct tt_prom_label){"interface", view->source};
    ret_labels[1] = (struct tt_prom_label){
        "stream_id", o->avtp.sv ? tt_stream_id_format(o->avtp.stream_id, text->id) : ""};
    ret_labels[2] = (struct tt_prom_label){"source", tt_mac_format(o->eth.src, text->src)};
    ret_labels[3] = (struct tt_prom_label){"destination", tt_mac_format(o->eth.dest, text->dest)};
    ret_labels[4] = (struct tt_prom_label){"type", tt_watch_subtype(o->avtp.subtype, text->type)};
}

static uint64_t pdus(const struct tt_observed *o)
{
    return o->pdus;
}

static uint64_t lost(const struct tt_observed *o)
{
    return o->lost;
}

static uint64_t duplicated(const struct tt_observed *o)
{
    return o->duplicated;
}

static uint64_t reordered(const struct tt_observed *o)
{
    return o->reordered;
}

static uint64_t restarts(const struct tt_observed *o)
{
    return o->restarts + o->grid.moves;
}

static uint64_t steps_off(const struct tt_observed *o)
{
    return o->conduct.steps_off;
}

static uint64_t uncertain(const struct tt_observed *o)
{
    return o->conduct.uncertain;
}

static const struct {
    const char *name;
    const char *type;
    const char *help;
    uint64_t (*of)(const struct tt_observed *o);
} counts[] = {
    {"tactus_watch_pdus_total", "counter", "PDUs that arrived.", pdus},
    {"tactus_watch_lost_pdus", "gauge", "PDUs missing in the sequence that did not come later.",
     lost},
    {"tactus_watch_duplicated_pdus_total", "counter", "PDUs that came twice.", duplicated},
    {"tactus_watch_reordered_pdus_total", "counter", "PDUs behind a later one.", reordered},
    {"tactus_watch_restarts_total", "counter", "Times that the talker began anew.", restarts},
    {"tactus_watch_stamps_off_total", "counter",
     "Steps between presentation times that are not the media's.", steps_off},
    {"tactus_watch_uncertain_pdus_total", "counter", "PDUs whose stamp is uncertain (tu).",
     uncertain},
};

static const struct tt_hist *interval(const struct tt_observed *o)
{
    return &o->interval;
}

static const struct tt_hist *lateness(const struct tt_observed *o)
{
    return &o->lateness;
}

static const struct tt_hist *margin(const struct tt_observed *o)
{
    return &o->margin;
}

static void write_counts(const struct tt_watch_view *view, FILE *out)
{
    struct tt_prom_label labels[LABELS];
    struct label_text text;

    for (size_t f = 0; f < TT_COUNT_OF(counts); f++) {
        tt_prom_family(out, counts[f].name, counts[f].type, counts[f].help);
        for (size_t i = 0; i < view->observer->count; i++) {
            const struct tt_observed *o = view->observer->streams[i];

            labels_of(view, o, &text, labels);
            tt_prom_count(out, counts[f].name, labels, LABELS, counts[f].of(o));
        }
    }
}

static void write_histograms(const struct tt_watch_view *view, FILE *out)
{
    const struct {
        const char *name;
        const char *help;
        struct tt_prom_bounds bounds;
        const struct tt_hist *(*of)(const struct tt_observed *o);
    } families[] = {
        {"tactus_watch_interval_seconds",
         "Between successive arrivals.",
         {tt_prom_positive_ns, tt_prom_positive_count},
         interval},
        {"tactus_watch_lateness_seconds",
         "Arrival after the media grid.",
         {tt_prom_signed_ns, tt_prom_signed_count},
         lateness},
        {"tactus_watch_margin_seconds",
         "Presentation time after the arrival.",
         {tt_prom_signed_ns, tt_prom_signed_count},
         margin},
    };
    struct tt_prom_label labels[LABELS];
    struct label_text text;

    for (size_t f = 0; f < TT_COUNT_OF(families); f++) {
        tt_prom_family(out, families[f].name, "histogram", families[f].help);
        for (size_t i = 0; i < view->observer->count; i++) {
            const struct tt_observed *o = view->observer->streams[i];

            if (families[f].of(o)->n > 0) {
                labels_of(view, o, &text, labels);
                tt_prom_histogram(out, families[f].name, labels, LABELS, &families[f].bounds,
                                  families[f].of(o));
            }
        }
    }
}

static void write_link(const struct tt_watch_view *view, FILE *out)
{
    const struct tt_link_traffic *traffic = &view->observer->traffic;
    struct tt_prom_label labels[2] = {{"interface", view->source}, {"pcp", "none"}};
    char pcp[4];

    tt_prom_family(out, "tactus_watch_wire_bytes_total", "counter",
                   "Bytes of AVTP on the wire, preamble, FCS and gap included.");
    for (int i = 0; i <= TT_LINK_PRIORITIES; i++) {
        if (i < TT_LINK_UNTAGGED) {
            snprintf(pcp, sizeof(pcp), "%d", i);
        }
        labels[1].value = i < TT_LINK_UNTAGGED ? pcp : "none";
        if (traffic->avtp[i].packets > 0) {
            tt_prom_count(out, "tactus_watch_wire_bytes_total", labels, 2,
                          traffic->avtp[i].wire_bytes);
        }
    }
    tt_prom_family(out, "tactus_watch_gptp_messages_total", "counter", "gPTP messages seen.");
    tt_prom_count(out, "tactus_watch_gptp_messages_total", labels, 1, traffic->gptp);
    tt_prom_family(out, "tactus_watch_reservation_packets_total", "counter",
                   "MSRP and MVRP packets seen.");
    tt_prom_count(out, "tactus_watch_reservation_packets_total", labels, 1,
                  traffic->msrp + traffic->mvrp);
    tt_prom_family(out, "tactus_watch_dropped_packets_total", "counter",
                   "Packets lost on this machine before they could be read.");
    tt_prom_count(out, "tactus_watch_dropped_packets_total", labels, 1,
                  view->observer->dropped_here);
}

void tt_watch_metrics(const struct tt_watch_view *view, struct tt_metrics *metrics)
{
    FILE *out = tt_metrics_begin(metrics);

    if (out) {
        write_counts(view, out);
        write_histograms(view, out);
        write_link(view, out);
        tt_metrics_end(metrics);
    }
}
