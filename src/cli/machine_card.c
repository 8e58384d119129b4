/*
 * See machine_card.h.
 */
#include "cli/machine_card.h"

#include <inttypes.h>
#include <stdio.h>

#include "base/attr.h"
#include "base/ns.h"
#include "os/clock.h"
#include "os/machine.h"
#include "os/qdisc.h"

#define FACTS_MAX  16
#define VALUE_TEXT 400

struct card {
    struct tt_html_fact facts[FACTS_MAX];
    char values[FACTS_MAX][VALUE_TEXT];
    size_t n;
};

static char *add(struct card *card, const char *name)
{
    card->facts[card->n] = (struct tt_html_fact){name, card->values[card->n]};
    return card->values[card->n++];
}

static void add_text(struct card *card, const char *name, const char *value)
{
    snprintf(add(card, name), VALUE_TEXT, "%s", value[0] ? value : "unknown");
}

static void add_number(struct card *card, const char *name, int64_t value, const char *unit)
{
    char *text = add(card, name);

    if (value == TT_MACHINE_UNKNOWN) {
        snprintf(text, VALUE_TEXT, "unknown");
    } else if (value == INT64_MAX || value < 0) {
        snprintf(text, VALUE_TEXT, "none");
    } else {
        snprintf(text, VALUE_TEXT, "%" PRId64 "%s", value, unit);
    }
}

static void add_limits(struct card *card, const struct tt_machine_facts *machine)
{
    const struct tt_machine_throttle *throttle = &machine->throttle;

    if (throttle->runtime_ns >= 0) {
        snprintf(add(card, "real-time throttling"), VALUE_TEXT, "%" PRId64 " of %" PRId64 " us",
                 throttle->runtime_ns / TT_NS_PER_US, throttle->period_ns / TT_NS_PER_US);
    } else {
        add_number(card, "real-time throttling", throttle->runtime_ns, "");
    }
    add_text(card, "real-time priority", machine->realtime ? "granted" : "refused");
    add_number(card, "real-time priority limit", machine->rtprio_limit, "");
    add_number(card, "locked memory limit", machine->memlock_limit_bytes, " bytes");
}

static void add_qdiscs(struct card *card, const char *ifname)
{
    struct tt_qdisc qdiscs[64];
    size_t n;
    char *text;
    size_t at = 0;

    if (tt_qdisc_list(ifname, qdiscs, TT_COUNT_OF(qdiscs), &n) != 0) {
        return;
    }
    text = add(card, "qdiscs");
    for (size_t i = 0; i < n && at < VALUE_TEXT; i++) {
        at += (size_t)snprintf(text + at, VALUE_TEXT - at, "%s%s%s", i > 0 ? ", " : "",
                               qdiscs[i].kind, qdiscs[i].offload ? " (offload)" : "");
    }
}

static void card_fill(struct card *card, const char *ifname)
{
    struct tt_machine_facts machine;
    int tai_offset_s = 0;

    tt_machine_facts(-1, &machine);
    tt_clock_tai_offset(&tai_offset_s);
    card->n = 0;
    add_text(card, "kernel", machine.kernel);
    add_text(card, "preemption", machine.preemption);
    add_text(card, "processor", machine.processor);
    snprintf(add(card, "processors"), VALUE_TEXT, "%u%s", machine.processors,
             machine.hypervisor ? ", of a virtual machine" : "");
    add_text(card, "governor", machine.governor);
    add_number(card, "deepest idle state takes", machine.idle_exit_us, " us");
    add_text(card, "clock source", machine.clock_source);
    if (tai_offset_s != 0) {
        snprintf(add(card, "TAI offset"), VALUE_TEXT, "%d s", tai_offset_s);
    } else {
        add_text(card, "TAI offset", "0: nobody set it");
    }
    add_limits(card, &machine);
    if (ifname) {
        add_text(card, "interface", ifname);
        add_qdiscs(card, ifname);
    }
}

void tt_machine_card(struct tt_html *page, const char *ifname)
{
    struct card card;

    card_fill(&card, ifname);
    tt_html_card(page, "Machine", card.facts, card.n);
}
