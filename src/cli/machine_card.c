/*
 * See machine_card.h.
 */
#include "cli/machine_card.h"

#include <stdio.h>

#include "base/attr.h"
#include "os/clock.h"
#include "os/machine.h"
#include "os/qdisc.h"
#include "report/meter_advice.h"

#define FACTS_MAX  (TT_ADVICE_LINES + 3)
#define VALUE_TEXT (2 * TT_ADVICE_TEXT + 8)
#define QDISCS_MAX 64

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

static void add_advice(struct card *card, int cpu)
{
    struct tt_machine_facts machine;
    struct tt_advice lines[TT_ADVICE_LINES];
    size_t n;

    tt_machine_facts(cpu, &machine);
    n = tt_meter_advice(&machine, false, lines);
    for (size_t i = 0; i < n; i++) {
        snprintf(add(card, lines[i].name), VALUE_TEXT, "%s%s%s", lines[i].value,
                 lines[i].advice[0] ? " → " : "", lines[i].advice);
    }
}

static void add_tai_offset(struct card *card)
{
    int tai_offset_s = 0;

    tt_clock_tai_offset(&tai_offset_s);
    if (tai_offset_s != 0) {
        snprintf(add(card, "TAI offset"), VALUE_TEXT, "%d s", tai_offset_s);
    } else {
        snprintf(add(card, "TAI offset"), VALUE_TEXT, "0: nobody set it");
    }
}

static void add_qdiscs(struct card *card, const char *ifname)
{
    struct tt_qdisc qdiscs[QDISCS_MAX];
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

void tt_machine_card(struct tt_html *page, int cpu, const char *ifname)
{
    struct card card = {.n = 0};

    add_advice(&card, cpu);
    add_tai_offset(&card);
    if (ifname) {
        snprintf(add(&card, "interface"), VALUE_TEXT, "%s", ifname);
        add_qdiscs(&card, ifname);
    }
    tt_html_card(page, "This machine: what makes wake-ups late, and what to do", card.facts,
                 card.n);
}
