/*
 * Which traffic class a packet is for. A TAP does not carry the socket's priority, so it is told by
 * what is in the packet: a rule, else the tag's PCP, else the upper three bits of the DSCP, else
 * priority 0; and from priority to class by the map of the schedule.
 */
#ifndef TT_GATE_CLASSIFY_H
#define TT_GATE_CLASSIFY_H

#include "gate/headers.h"
#include "gate/list.h"

#define TT_CLASSIFY_RULES      32
#define TT_CLASSIFY_PRIORITIES 16

enum tt_rule_kind { TT_RULE_ETHERTYPE, TT_RULE_PORT, TT_RULE_DSCP, TT_RULE_PCP, TT_RULES };

struct tt_rule {
    enum tt_rule_kind kind;
    uint16_t value; /* a port: of either end, TCP or UDP */
    uint8_t class;
};

struct tt_classifier {
    uint8_t class_of_priority[TT_CLASSIFY_PRIORITIES];
    struct tt_rule rules[TT_CLASSIFY_RULES]; /* the first that fits holds */
    size_t rule_count;
};

TT_RT unsigned tt_classify(const struct tt_classifier *classifier,
                           const struct tt_headers *headers);
/* "port:5201=1", "ethertype:0x22F0=2", "dscp:46=1", "pcp:3=2". NULL, or why it will not do. */
const char *tt_rule_parse(const char *text, struct tt_rule *ret_rule);

#endif
