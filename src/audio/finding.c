/*
 * See finding.h.
 */
#include "audio/finding.h"

#include <assert.h>
#include <stdlib.h>

#define SR_VLAN_ID  2 /* SR_PVID's default: IEEE 802.1Q, table 9-2 */
#define CLASS_A_PCP 3 /* IEEE 802.1Q, table 34-1 */
#define CLASS_B_PCP 2

#define DRIFT_SPREADS 4

struct list {
    struct tt_finding *findings;
    size_t n;
};

static struct tt_finding *add(struct list *list, enum tt_finding_kind kind,
                              enum tt_severity severity)
{
    struct tt_finding *finding = &list->findings[list->n++];

    assert(list->n <= TT_FINDINGS_MAX);
    *finding = (struct tt_finding){.kind = kind, .severity = severity};
    return finding;
}

static void figure(struct tt_finding *finding, enum tt_figure which, int64_t value)
{
    finding->figures[which] = value;
    finding->has |= 1u << which;
}

/* Nothing is added where `count` is 0; returns NULL then. */
static struct tt_finding *add_count(struct list *list, enum tt_finding_kind kind,
                                    enum tt_severity severity, uint64_t count, uint64_t of)
{
    struct tt_finding *finding;

    if (count == 0) {
        return NULL;
    }
    finding = add(list, kind, severity);
    figure(finding, TT_FIGURE_COUNT, (int64_t)count);
    if (of > 0) {
        figure(finding, TT_FIGURE_OF, (int64_t)of);
    }
    return finding;
}

static bool is_near(const struct tt_conduct *conduct, enum tt_scale scale)
{
    return 2 * conduct->margin[scale].near > conduct->stamped;
}

static void find_lateness(struct list *list, const struct tt_conduct *conduct,
                          const struct tt_margin *margin)
{
    struct tt_finding *late =
        add_count(list, TT_FINDING_LATE, TT_SEVERITY_FAULT, margin->late, conduct->stamped);

    if (late) {
        figure(late, TT_FIGURE_WORST_NS, -margin->least_ns);
    } else if (margin->least_ns > TT_MARGIN_LARGE_NS) {
        figure(add(list, TT_FINDING_MARGIN_LARGE, TT_SEVERITY_NOTE), TT_FIGURE_LEAST_NS,
               margin->least_ns);
    }
}

static void find_steps(struct list *list, const struct tt_conduct *conduct)
{
    bool follow = conduct->steps >= TT_FOLLOW_STEPS && 2 * conduct->steps_followed > conduct->steps;
    struct tt_finding *finding = follow
                                     ? add_count(list, TT_FINDING_STAMPS_FOLLOW, TT_SEVERITY_FAULT,
                                                 conduct->steps_followed, conduct->steps)
                                     : add_count(list, TT_FINDING_STAMPS_JUMP, TT_SEVERITY_WARNING,
                                                 conduct->steps_off, conduct->steps);

    if (finding) {
        figure(finding, TT_FIGURE_WORST_NS, conduct->worst_off_ns);
    }
}

static void find_scale(struct list *list, const struct tt_observer *observer,
                       const struct tt_observed *o)
{
    const struct tt_conduct *conduct = &o->conduct;
    bool tai = is_near(conduct, TT_SCALE_TAI);
    bool utc = is_near(conduct, TT_SCALE_UTC);

    if (conduct->stamped == 0) {
        return;
    }
    find_steps(list, conduct);
    if (o->clock_set > 0) { /* by which of its settings? */
        return;
    }
    if (!tai && utc && observer->tai_known) {
        figure(add(list, TT_FINDING_STAMPS_UTC, TT_SEVERITY_FAULT), TT_FIGURE_OFFSET_NS,
               observer->scales.tai_offset_ns);
    }
    if (!tai && !utc) {
        figure(add(list, TT_FINDING_STAMPS_FOREIGN, TT_SEVERITY_FAULT), TT_FIGURE_LEAST_NS,
               conduct->margin[TT_SCALE_TAI].least_ns);
    }
    /* What a CRF stamp is early or late for is the listener's to decide. */
    if ((tai || utc) && o->avtp.subtype == TT_AVTP_SUBTYPE_AAF) {
        find_lateness(list, conduct, &conduct->margin[tai ? TT_SCALE_TAI : TT_SCALE_UTC]);
    }
}

/* What jitter may feign in so short a time is none. */
static void find_drift(struct list *list, const struct tt_arrival_grid *grid)
{
    int64_t drift_ppb;

    if (!tt_arrival_grid_knows_drift(grid)) {
        return;
    }
    drift_ppb = tt_media_clock_drift_ppb(&grid->clock);
    if (llabs(drift_ppb) > TT_DRIFT_MOST_PPB &&
        (double)llabs(drift_ppb) * grid->clock.followed_s > DRIFT_SPREADS * grid->clock.spread_ns) {
        figure(add(list, TT_FINDING_DRIFT, TT_SEVERITY_WARNING), TT_FIGURE_DRIFT_PPB, drift_ppb);
    }
}

static void find_clock(struct list *list, const struct tt_observed *o)
{
    const struct tt_conduct *conduct = &o->conduct;

    add_count(list, TT_FINDING_STAMPS_MISSING, TT_SEVERITY_WARNING, conduct->stamps_missing,
              o->pdus);
    add_count(list, TT_FINDING_SPARSE_MISUSED, TT_SEVERITY_WARNING, conduct->sparse_misused,
              o->pdus);
    /* Twice, so that no chance step is taken for it, and more often than anything else. */
    if (conduct->repaid >= 2 && conduct->repaid > conduct->not_repaid) {
        struct tt_finding *cut = add(list, TT_FINDING_PERIOD_CUT, TT_SEVERITY_NOTE);

        figure(cut, TT_FIGURE_COUNT, (int64_t)conduct->repaid);
        figure(cut, TT_FIGURE_STEP_NS, conduct->repaid_ns);
        figure(cut, TT_FIGURE_EVERY_PDUS, (int64_t)conduct->repaid_pdus);
    }
    find_drift(list, &o->grid);
    add_count(list, TT_FINDING_CLOCK_UNCERTAIN, TT_SEVERITY_WARNING, conduct->uncertain, o->pdus);
    add_count(list, TT_FINDING_CLOCK_RESTARTS, TT_SEVERITY_NOTE, conduct->clock_restarts, 0);
    add_count(list, TT_FINDING_CRF_UNEVEN, TT_SEVERITY_WARNING, o->crf_uneven, o->pdus);
}

static void find_lost(struct list *list, const struct tt_observer *observer,
                      const struct tt_observed *o)
{
    bool down = observer->downs_here > 0;
    bool here = !down && observer->dropped_here > 0;
    struct tt_finding *finding =
        add_count(list,
                  down   ? TT_FINDING_LOST_DOWN
                  : here ? TT_FINDING_LOST_HERE
                         : TT_FINDING_LOST,
                  TT_SEVERITY_FAULT, o->lost, o->pdus - o->duplicated + o->lost);

    if (finding) {
        figure(finding, TT_FIGURE_LONGEST_PDUS, (int64_t)o->gap_longest);
    }
    if (finding && down) {
        figure(finding, TT_FIGURE_DOWNS, (int64_t)observer->downs_here);
    }
    if (finding && here) {
        figure(finding, TT_FIGURE_DROPPED_HERE, (int64_t)observer->dropped_here);
    }
}

static void find_sequence(struct list *list, const struct tt_observer *observer,
                          const struct tt_observed *o)
{
    const struct tt_conduct *conduct = &o->conduct;
    struct tt_finding *finding =
        add_count(list, TT_FINDING_BURSTS, TT_SEVERITY_WARNING, conduct->burst_pdus, o->pdus);

    if (finding) {
        figure(finding, TT_FIGURE_BURSTS, (int64_t)conduct->bursts);
        figure(finding, TT_FIGURE_LONGEST_PDUS, (int64_t)conduct->burst_longest);
    }
    finding =
        add_count(list, TT_FINDING_ARRIVALS_SET_BACK, TT_SEVERITY_WARNING, o->set_back, o->pdus);
    if (finding) {
        figure(finding, TT_FIGURE_WORST_NS, o->set_back_most_ns);
    }
    finding =
        add_count(list, TT_FINDING_ARRIVALS_SET_FORWARD, TT_SEVERITY_WARNING, o->set_forward, 0);
    if (finding) {
        figure(finding, TT_FIGURE_WORST_NS, o->set_forward_most_ns);
        figure(finding, TT_FIGURE_AT_NS, o->set_forward_at_ns - observer->first_ns);
    }
    finding = add_count(list, TT_FINDING_SILENCE, TT_SEVERITY_FAULT, o->silences, 0);
    if (finding) {
        figure(finding, TT_FIGURE_WORST_NS, o->silence_longest_ns);
    }
    find_lost(list, observer, o);
    add_count(list, TT_FINDING_SEQUENCE_JUMPS, TT_SEVERITY_WARNING, o->sequence_jumps, o->pdus);
    add_count(list, TT_FINDING_DUPLICATED, TT_SEVERITY_WARNING, o->duplicated, o->pdus);
    add_count(list, TT_FINDING_REORDERED, TT_SEVERITY_WARNING, o->reordered, o->pdus);
    add_count(list, TT_FINDING_RESTARTED, TT_SEVERITY_WARNING, o->restarts, 0);
    add_count(list, TT_FINDING_SHAPE_CHANGED, TT_SEVERITY_WARNING, o->frames_changed, 0);
}

static void find_frame(struct list *list, const struct tt_observed *o)
{
    add_count(list, TT_FINDING_SHARED_ID, TT_SEVERITY_FAULT, o->sharing, 0);
    if (o->eth.vlan_id < 0) {
        add(list, TT_FINDING_UNTAGGED, TT_SEVERITY_NOTE);
        return;
    }
    if (o->eth.pcp != CLASS_A_PCP && o->eth.pcp != CLASS_B_PCP) {
        figure(add(list, TT_FINDING_PRIORITY, TT_SEVERITY_NOTE), TT_FIGURE_PCP, o->eth.pcp);
    }
    if (o->eth.vlan_id != SR_VLAN_ID) {
        figure(add(list, TT_FINDING_VLAN, TT_SEVERITY_NOTE), TT_FIGURE_VLAN_ID, o->eth.vlan_id);
    }
}

static void find_refused(struct list *list, const struct tt_observed *o)
{
    for (int r = 0; r < TT_AAF_REASONS; r++) {
        struct tt_finding *finding =
            add_count(list, TT_FINDING_REFUSED, TT_SEVERITY_FAULT, o->refused[r], o->pdus);

        if (finding) {
            finding->detail = tt_aaf_reason_text((enum tt_aaf_reason)r);
        }
    }
    for (int r = 0; r < TT_CRF_REASONS; r++) {
        struct tt_finding *finding =
            add_count(list, TT_FINDING_REFUSED, TT_SEVERITY_FAULT, o->crf_refused[r], o->pdus);

        if (finding) {
            finding->detail = tt_crf_reason_text((enum tt_crf_reason)r);
        }
    }
}

size_t tt_findings(const struct tt_observer *observer, const struct tt_observed *o,
                   struct tt_finding *ret_findings)
{
    struct list list = {.findings = ret_findings};

    find_scale(&list, observer, o);
    find_clock(&list, o);
    find_sequence(&list, observer, o);
    find_frame(&list, o);
    find_refused(&list, o);
    return list.n;
}
