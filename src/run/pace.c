/*
 * See pace.h.
 */
#include "run/pace.h"

#include <linux/pkt_sched.h>
#include <string.h>
#include <time.h>

struct qdisc_list {
    const struct tt_qdisc *qdiscs;
    size_t n;
};

/* The minors of the root's children that a priority's packets may take. */
struct queue_run {
    unsigned first;
    unsigned count;
};

static bool is(const struct tt_qdisc *q, const char *kind)
{
    return strcmp(q->kind, kind) == 0;
}

static const struct tt_qdisc *child_at(const struct qdisc_list *list, uint32_t parent)
{
    for (size_t i = 0; i < list->n; i++) {
        if (list->qdiscs[i].parent == parent) {
            return &list->qdiscs[i];
        }
    }
    return NULL;
}

/* The etf at `parent` or behind a cbs there; NULL: there is none. */
static const struct tt_qdisc *etf_at(const struct qdisc_list *list, uint32_t parent)
{
    const struct tt_qdisc *q = child_at(list, parent);

    if (q && is(q, "cbs")) {
        q = child_at(list, TC_H_MAKE(q->handle, 1));
    }
    return q && is(q, "etf") ? q : NULL;
}

static struct queue_run class_queues(const struct tt_qdisc *q, int priority)
{
    unsigned class = q->class_of_priority[(unsigned)priority % TT_QDISC_PRIORITIES];

    if (class >= q->classes) {
        return (struct queue_run){0};
    }
    return (struct queue_run){.first = q->queue_offset[class] + 1u, .count = q->queue_count[class]};
}

static struct queue_run all_queues(const struct qdisc_list *list, const struct tt_qdisc *mq)
{
    struct queue_run run = {.first = 1};

    for (size_t i = 0; i < list->n; i++) {
        uint32_t parent = list->qdiscs[i].parent;

        if (parent != TC_H_ROOT && TC_H_MAJ(parent) == TC_H_MAJ(mq->handle) &&
            TC_H_MIN(parent) > run.count) {
            run.count = TC_H_MIN(parent);
        }
    }
    return run;
}

/* How well an etf serves. */
static enum tt_pace_verdict judge(const struct tt_qdisc *etf)
{
    if (etf->clockid != CLOCK_TAI) {
        return TT_PACE_CLOCK;
    }
    if (etf->deadline_mode) {
        return TT_PACE_DEADLINE;
    }
    return etf->delta_ns <= 0 ? TT_PACE_DELTA : TT_PACE_KEPT;
}

/* Takes one more etf into account; those before it were good. */
static void add_etf(const struct tt_qdisc *etf, struct tt_pace_found *found)
{
    found->pace = judge(etf);
    if (found->pace != TT_PACE_KEPT) {
        found->etf = etf;
        found->delta_ns = 0;
        found->offload = false;
        return;
    }
    found->offload = etf->offload && (found->offload || !found->etf);
    if (!found->etf || etf->delta_ns > found->delta_ns) {
        found->etf = etf;
        found->delta_ns = etf->delta_ns;
    }
}

static enum tt_pace_verdict why_not(const struct qdisc_list *list)
{
    for (size_t i = 0; i < list->n; i++) {
        if (is(&list->qdiscs[i], "etf")) {
            return TT_PACE_OTHER_QUEUE;
        }
    }
    return TT_PACE_NO_ETF;
}

static void find_in_queues(const struct qdisc_list *list, struct queue_run run,
                           struct tt_pace_found *found)
{
    uint32_t root = found->root->handle;
    unsigned with = 0;

    for (unsigned i = 0; i < run.count; i++) {
        with += etf_at(list, TC_H_MAKE(root, run.first + i)) != NULL;
    }
    if (with == 0 || with < run.count) {
        found->pace = with == 0 ? why_not(list) : TT_PACE_SOME_QUEUES;
        return;
    }
    found->pace = TT_PACE_KEPT;
    for (unsigned i = 0; i < run.count && found->pace == TT_PACE_KEPT; i++) {
        add_etf(etf_at(list, TC_H_MAKE(root, run.first + i)), found);
    }
}

void tt_pace_find(const struct tt_qdisc *qdiscs, size_t n, int priority,
                  struct tt_pace_found *ret_found)
{
    struct qdisc_list list = {.qdiscs = qdiscs, .n = n};
    const struct tt_qdisc *root = child_at(&list, TC_H_ROOT);
    const struct tt_qdisc *etf = etf_at(&list, TC_H_ROOT);

    *ret_found = (struct tt_pace_found){.pace = TT_PACE_NO_ETF, .root = root};
    if (etf) {
        add_etf(etf, ret_found);
    } else if (root && is(root, "mq")) {
        find_in_queues(&list, all_queues(&list, root), ret_found);
    } else if (root && root->classes > 0) {
        find_in_queues(&list, class_queues(root, priority), ret_found);
    } else {
        ret_found->pace = why_not(&list);
    }
    /* txtime-assist gives every packet a launch time, which an etf takes that does not ask for the
     * socket's. */
    ret_found->etf_in_the_way =
        ret_found->pace != TT_PACE_NO_ETF && ret_found->pace != TT_PACE_OTHER_QUEUE &&
        !(root && root->txtime_assist && ret_found->etf && ret_found->etf->skip_sock_check);
}

const char *tt_pace_text(enum tt_pace_verdict pace)
{
    static const char *const texts[TT_PACES] = {
        [TT_PACE_KEPT] = "the kernel keeps launch times for this priority",
        [TT_PACE_NO_ETF] = "the interface has no etf qdisc",
        [TT_PACE_OTHER_QUEUE] = "the etf qdisc is not on the queue that this priority takes",
        [TT_PACE_SOME_QUEUES] = "not every queue of this priority's traffic class has an etf qdisc",
        [TT_PACE_CLOCK] = "the etf qdisc goes by another clock than CLOCK_TAI",
        [TT_PACE_DEADLINE] = "the etf qdisc is in deadline mode and sends early",
        [TT_PACE_DELTA] = "the etf qdisc has delta 0 and drops every packet as late",
    };

    return texts[pace];
}
