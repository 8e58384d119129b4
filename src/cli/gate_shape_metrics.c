/*
 * See gate_shape.h. Figures of `tactus gate shape` for a Prometheus.
 */
#include "base/attr.h"
#include "cli/gate_shape.h"
#include "report/prometheus.h"

#define LABELS 2 /* interface, class; some have a third */

struct page {
    const struct tt_gate_shape *job;
    const struct tt_shape_counters *now;
    FILE *out;
    char classes[TT_GATE_CLASSES][12];
};

static void labels_of(const struct page *page, unsigned class,
                      struct tt_prom_label ret_labels[LABELS])
{
    ret_labels[0] = (struct tt_prom_label){"interface", page->job->ifname};
    ret_labels[1] = (struct tt_prom_label){"class", page->classes[class]};
}

static uint64_t packets(const struct tt_shape_class *c)
{
    return c->shaper.packets;
}

static uint64_t frames(const struct tt_shape_class *c)
{
    return c->shaper.frames;
}

static uint64_t bytes(const struct tt_shape_class *c)
{
    return c->shaper.bytes;
}

static uint64_t segmented(const struct tt_shape_class *c)
{
    return c->shaper.segmented;
}

static uint64_t cut(const struct tt_shape_class *c)
{
    return c->shaper.cut;
}

static uint64_t marked(const struct tt_shape_class *c)
{
    return c->shaper.marked;
}

static uint64_t overruns(const struct tt_shape_class *c)
{
    return c->overruns;
}

static uint64_t waiting(const struct tt_shape_class *c)
{
    return c->waiting_bytes;
}

static void write_counts(const struct page *page)
{
    static const struct {
        const char *name;
        const char *type;
        const char *help;
        uint64_t (*of)(const struct tt_shape_class *c);
    } families[] = {
        {"tactus_shape_packets_total", "counter", "Packets that came.", packets},
        {"tactus_shape_frames_total", "counter", "Frames that left.", frames},
        {"tactus_shape_bytes_total", "counter", "Bytes of frames that left, without FCS.", bytes},
        {"tactus_shape_segmented_packets_total", "counter", "Packets that became several frames.",
         segmented},
        {"tactus_shape_cut_frames_total", "counter", "Frames cut to what was left of a window.",
         cut},
        {"tactus_shape_marked_frames_total", "counter", "Frames that tell congestion (ECN).",
         marked},
        {"tactus_shape_overruns_total", "counter",
         "Frames that were handed over too late for their window.", overruns},
        {"tactus_shape_waiting_bytes", "gauge", "What waits.", waiting},
    };
    struct tt_prom_label labels[LABELS];

    for (size_t f = 0; f < TT_COUNT_OF(families); f++) {
        tt_prom_family(page->out, families[f].name, families[f].type, families[f].help);
        for (unsigned c = 0; c < page->job->setup.shaper.classes; c++) {
            labels_of(page, c, labels);
            tt_prom_count(page->out, families[f].name, labels, LABELS,
                          families[f].of(&page->now->classes[c]));
        }
    }
}

static void write_dropped(const struct page *page)
{
    static const char name[] = "tactus_shape_dropped_packets_total";
    struct tt_prom_label labels[LABELS + 1];

    tt_prom_family(
        page->out, name, "counter",
        "Dropped: the queue was full, it had waited too long (single frames), no window "
        "is long enough, the interface did not take it (single frames), it is malformed.");
    for (unsigned c = 0; c < page->job->setup.shaper.classes; c++) {
        const struct tt_shaper_counters *of = &page->now->classes[c].shaper;
        const struct {
            const char *reason;
            uint64_t n;
        } reasons[] = {{"full", of->dropped_full},
                       {"delay", of->dropped_delay},
                       {"never_fits", of->dropped_never},
                       {"refused", of->dropped_refused},
                       {"malformed", tt_gate_shape_malformed(of)}};

        labels_of(page, c, labels);
        for (size_t i = 0; i < TT_COUNT_OF(reasons); i++) {
            labels[LABELS] = (struct tt_prom_label){"reason", reasons[i].reason};
            tt_prom_count(page->out, name, labels, LABELS + 1, reasons[i].n);
        }
    }
}

/* What a class had on the wire, and how long its gate was open: the quotient is the use. */
static void write_windows(const struct page *page)
{
    struct tt_prom_label labels[LABELS];

    tt_prom_family(page->out, "tactus_shape_wire_seconds_total", "counter",
                   "Time on the wire, preamble, FCS and gap included.");
    for (unsigned c = 0; c < page->job->setup.shaper.classes; c++) {
        labels_of(page, c, labels);
        tt_prom_value(page->out, "tactus_shape_wire_seconds_total", labels, LABELS,
                      (double)page->now->classes[c].shaper.wire_ns / 1e9);
    }
    tt_prom_family(page->out, "tactus_shape_open_seconds_total", "counter",
                   "Time that the gate was open.");
    for (unsigned c = 0; c < page->job->setup.shaper.classes; c++) {
        labels_of(page, c, labels);
        tt_prom_value(page->out, "tactus_shape_open_seconds_total", labels, LABELS,
                      (double)tt_gate_shape_open_ns(page->job, c, page->now->elapsed_ns) / 1e9);
    }
}

static void write_whole(const struct page *page)
{
    const struct tt_shape_counters *now = page->now;
    const struct tt_prom_label label = {"interface", page->job->ifname};
    const struct {
        const char *name;
        const char *help;
        uint64_t n;
    } counts[] = {
        {"tactus_shape_tap_dropped_packets_total",
         "Packets that the device had no room for, because more came than can be read.",
         now->tap_dropped},
        {"tactus_shape_returned_packets_total", "Packets from the interface into the device.",
         now->returned},
        {"tactus_shape_return_lost_packets_total",
         "Packets that the device did not take, or that came faster than they were read.",
         now->return_lost},
        {"tactus_shape_send_refused_frames_total", "Frames that the interface did not take.",
         now->send_refused},
        {"tactus_shape_launch_refused_frames_total",
         "Frames that the kernel dropped for their launch time.", now->launch_refused},
        {"tactus_shape_clock_steps_total", "Steps of TAI.", now->clock_steps},
    };

    for (size_t i = 0; i < TT_COUNT_OF(counts); i++) {
        tt_prom_family(page->out, counts[i].name, "counter", counts[i].help);
        tt_prom_count(page->out, counts[i].name, &label, 1, counts[i].n);
    }
    tt_prom_family(page->out, "tactus_shape_cpu_seconds_total", "counter",
                   "CPU time of the real-time thread.");
    tt_prom_value(page->out, "tactus_shape_cpu_seconds_total", &label, 1,
                  (double)now->cpu_ns / 1e9);
}

static void write_histograms(const struct page *page, const struct tt_shape *shape)
{
    static const char lateness[] = "tactus_shape_lateness_seconds";
    static const char wait[] = "tactus_shape_wait_seconds";
    const struct tt_prom_bounds about_0 = {tt_prom_signed_ns, tt_prom_signed_count};
    const struct tt_prom_bounds above_0 = {tt_prom_positive_ns, tt_prom_positive_count};
    struct tt_prom_label labels[LABELS];

    tt_prom_family(page->out, lateness, "histogram",
                   page->job->setup.shaper.strict
                       ? "Handed over after it was decided."
                       : "Handed over after the computed departure; before it, with launch times.");
    labels_of(page, 0, labels);
    tt_prom_histogram(page->out, lateness, labels, 1, &about_0, tt_shape_lateness(shape));
    tt_prom_family(page->out, wait, "histogram", "From a packet's arrival to its departure.");
    for (unsigned c = 0; c < page->job->setup.shaper.classes; c++) {
        labels_of(page, c, labels);
        tt_prom_histogram(page->out, wait, labels, LABELS, &above_0, tt_shape_wait(shape, c));
    }
}

void tt_gate_shape_metrics(const struct tt_gate_shape *job, const struct tt_shape_counters *now,
                           const struct tt_shape *shape, struct tt_metrics *metrics)
{
    struct page page = {.job = job, .now = now, .out = tt_metrics_begin(metrics)};

    if (!page.out) {
        return;
    }
    for (unsigned c = 0; c < job->setup.shaper.classes; c++) {
        snprintf(page.classes[c], sizeof(page.classes[c]), "%u", c);
    }
    write_counts(&page);
    write_dropped(&page);
    write_windows(&page);
    write_whole(&page);
    write_histograms(&page, shape);
    tt_metrics_end(metrics);
}
