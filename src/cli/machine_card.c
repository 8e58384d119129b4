/*
 * See machine_card.h.
 */
#include "cli/machine_card.h"

#include <inttypes.h>
#include <stdio.h>

#include "base/attr.h"
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

static void add_limits(struct card *card, const struct tt_machine *machine)
{
    char *text = add(card, "real-time throttling");

    if (!machine->rt_known) {
        snprintf(text, VALUE_TEXT, "unknown");
    } else if (machine->rt_runtime_us < 0) {
        snprintf(text, VALUE_TEXT, "none");
    } else {
        snprintf(text, VALUE_TEXT, "%" PRId64 " of %" PRId64 " us", machine->rt_runtime_us,
                 machine->rt_period_us);
    }
    snprintf(add(card, "real-time priority limit"), VALUE_TEXT, "%" PRId64, machine->rtprio_limit);
    text = add(card, "locked memory limit");
    if (machine->memlock_limit_bytes < 0) {
        snprintf(text, VALUE_TEXT, "none");
    } else {
        snprintf(text, VALUE_TEXT, "%" PRId64 " bytes", machine->memlock_limit_bytes);
    }
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
    struct tt_machine machine;

    tt_machine_read(&machine);
    card->n = 0;
    add_text(card, "kernel", machine.kernel);
    add_text(card, "build", machine.preemption);
    add_text(card, "processor", machine.processor);
    snprintf(add(card, "processors"), VALUE_TEXT, "%d", machine.processors);
    add_text(card, "governor", machine.governor);
    add_text(card, "clock source", machine.clocksource);
    if (machine.tai_offset_s != 0) {
        snprintf(add(card, "TAI offset"), VALUE_TEXT, "%d s", machine.tai_offset_s);
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

json_t *tt_machine_json(const char *ifname)
{
    struct card card;
    json_t *object = json_object();

    card_fill(&card, ifname);
    for (size_t i = 0; i < card.n; i++) {
        json_object_set_new(object, card.facts[i].name, json_string(card.facts[i].value));
    }
    return object;
}
