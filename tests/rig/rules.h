/*
 * The fault rig's rules: what happens to each packet of a stream, from a script.
 *
 * Pure: one step per packet, in index order, with the time at hand; the caller owns all memory. The
 * same script and the same packets give the same fates: each rule draws from random numbers of its
 * own, by the script's seed and its line.
 *
 * A script has one rule a line, CONDITIONS ACTION, applied from top to bottom to the packet and to
 * the copies that rules above made of it; # starts a comment.
 *
 *     seed N                        another course of chance
 *
 *     pdu N | A-B | A-              the packet's index (from 0), inclusive
 *     every N                       each Nth, from the range's first
 *     time A-B | A-                 since the first packet (500ms, 2s)
 *     chance P%                     at random
 *     original | copy               not the copies; only them
 *
 *     drop
 *     duplicate [N]                 N copies behind it, as it is at this point
 *     delay T                       also: delay uniform A B, normal MEAN DEVIATION, exponential
 * MEAN reorder [N]                   goes out behind the N packets that follow burst N N in a row
 * are held and go out together pause T                       from here on a talker that is silent
 * so long, and then goes on counting where it stopped corrupt [N]                   N bytes of the
 * AVTPDU, anywhere in it truncate N                    the AVTPDU ends after N bytes extend N N
 * bytes more at its end stamp +T | -T                 the presentation time is moved stamp jitter T
 * … by up to T, either way stamp drift PPM               … further and further set FIELD VALUE | +N
 * | -N     tu, mr, tv, sp, sequence, format, nsr, channels, depth, length, version, subtype,
 * stream, source, payload (its first four bytes)
 */
#ifndef TT_TESTS_RIG_RULES_H
#define TT_TESTS_RIG_RULES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define RIG_RULES_MAX   64
#define RIG_PACKETS_MAX 16 /* a packet and its copies */
#define RIG_LINE_BYTES  120

enum rig_action {
    RIG_DROP,
    RIG_DUPLICATE,
    RIG_DELAY,
    RIG_REORDER,
    RIG_BURST,
    RIG_PAUSE,
    RIG_CORRUPT,
    RIG_TRUNCATE,
    RIG_EXTEND,
    RIG_STAMP,
    RIG_SET,
    RIG_ACTIONS
};

/* How a delay or a stamp's offset is drawn, from `a` and `b`. */
enum rig_spread {
    RIG_FIXED,       /* a */
    RIG_UNIFORM,     /* a … b */
    RIG_NORMAL,      /* mean a, standard deviation b */
    RIG_EXPONENTIAL, /* mean a */
    RIG_DRIFT,       /* stamp: a ppb of the media time since the first */
};

enum rig_lane { RIG_ANY, RIG_ORIGINAL, RIG_COPY };

struct rig_rule {
    unsigned line;
    char text[RIG_LINE_BYTES];

    uint64_t first; /* of the index: first … last */
    uint64_t last;
    uint64_t every;
    int64_t from_ns; /* since the first packet: from … until, the latter not included */
    int64_t until_ns;
    uint64_t chance; /* of 2^32 */
    enum rig_lane lane;

    enum rig_action action;
    enum rig_spread spread;
    int64_t a;
    int64_t b;
    size_t field;   /* set: which */
    uint64_t value; /* … to what, */
    bool is_added;  /* or by how much */

    uint64_t random;
    uint64_t applied; /* to so many packets */
    bool is_begun;    /* pause, drift: the first match was seen … */
    int64_t begin_ns; /* … then */
    uint8_t skipped;  /* pause: sequence numbers to take back */
    uint32_t stamp;   /* drift: the latest */
    int64_t media_ns; /* … and the media time since the first */
};

struct rig_rules {
    struct rig_rule rules[RIG_RULES_MAX];
    size_t count;
    int64_t begin_ns; /* of the first packet */
    bool is_begun;
};

struct rig_error {
    unsigned line;
    char text[240]; /* what is wrong, and what would do */
};

/* Reads a script. 0, or -EINVAL with *ret_error; *ret_rules is untouched then. */
int rig_rules_parse(const char *script, struct rig_rules *ret_rules, struct rig_error *ret_error);

struct rig_packet {
    uint8_t *frame;  /* the whole Ethernet frame, the tag in-line; caller's memory */
    size_t bytes;    /* its length */
    size_t capacity; /* of the memory */
    bool is_copy;
    bool is_dropped;
    int64_t delay_ns; /* from its arrival to its departure */
    uint64_t wait;    /* it leaves right before the packet arrives whose index is so much higher;
                         0: after its delay */
    uint64_t rules;   /* bit n: rule n was applied */
};

/* Decides the fate of packet `index` (each index once, ascending), which came in at now_ns.
 * packets[0] is the packet; all RIG_PACKETS_MAX of them have memory. Returns how many there are
 * now, dropped ones among them. */
size_t rig_step(struct rig_rules *rules, uint64_t index, int64_t now_ns,
                struct rig_packet packets[RIG_PACKETS_MAX]);

#endif
