/*
 * See classify.h.
 */
#include "gate/classify.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

static bool applies(const struct tt_rule *rule, const struct tt_headers *headers)
{
    switch (rule->kind) {
    case TT_RULE_ETHERTYPE:
        return headers->ethertype == rule->value;
    case TT_RULE_PORT:
        return headers->has_ports &&
               (headers->source_port == rule->value || headers->dest_port == rule->value);
    case TT_RULE_DSCP:
        return headers->l3_bytes > 0 && headers->traffic_class >> 2 == rule->value;
    default:
        return headers->pcp == (int)rule->value;
    }
}

unsigned tt_classify(const struct tt_classifier *classifier, const struct tt_headers *headers)
{
    unsigned priority = 0;

    for (size_t i = 0; i < classifier->rule_count; i++) {
        if (applies(&classifier->rules[i], headers)) {
            return classifier->rules[i].class;
        }
    }
    if (headers->pcp >= 0) {
        priority = (unsigned)headers->pcp;
    } else if (headers->l3_bytes > 0) {
        priority = headers->traffic_class >> 5;
    }
    return classifier->class_of_priority[priority];
}

/* Digits and nothing else: no sign, no space; hexadecimal behind 0x. Where they end; NULL: none. */
static const char *read_number(const char *text, unsigned long *ret_value)
{
    bool hexadecimal = text[0] == '0' && text[1] == 'x' && isxdigit((unsigned char)text[2]);
    char *end;

    if (!isdigit((unsigned char)text[0])) {
        return NULL;
    }
    *ret_value = strtoul(text, &end, hexadecimal ? 16 : 10);
    return end;
}

const char *tt_rule_parse(const char *text, struct tt_rule *ret_rule)
{
    static const struct {
        const char *name;
        unsigned long least;
        unsigned long most;
        const char *fault;
    } kinds[TT_RULES] = {
        {"ethertype:", 0x600, 0xFFFF, "has no EtherType from 0x600 to 0xFFFF (less is a length)"},
        {"port:", 0, 0xFFFF, "has no port from 0 to 65535"},
        {"dscp:", 0, 63, "has no DSCP from 0 to 63"},
        {"pcp:", 0, 7, "has no PCP from 0 to 7"},
    };

    for (int kind = 0; kind < TT_RULES; kind++) {
        size_t length = strlen(kinds[kind].name);
        unsigned long value;
        unsigned long class;
        const char *end;

        if (strncmp(text, kinds[kind].name, length) != 0) {
            continue;
        }
        end = read_number(text + length, &value);
        if (!end || *end != '=' || value < kinds[kind].least || value > kinds[kind].most) {
            return kinds[kind].fault;
        }
        end = read_number(end + 1, &class);
        if (!end || *end != 0 || class >= TT_GATE_CLASSES) {
            return "has no class from 0 to 15 behind the =";
        }
        *ret_rule = (struct tt_rule){(enum tt_rule_kind)kind, (uint16_t)value, (uint8_t) class};
        return NULL;
    }
    return "is no rule; write port:5201=1, ethertype:0x22F0=2, dscp:46=1 or pcp:3=2";
}
