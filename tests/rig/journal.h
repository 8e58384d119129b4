/*
 * What the rig says as JSON Lines: of each packet that a rule was applied to, and at the end.
 */
#ifndef TT_TESTS_RIG_JOURNAL_H
#define TT_TESTS_RIG_JOURNAL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "rules.h"

/* What there is to know of a packet. */
struct rig_seen {
    uint64_t index;
    int64_t arrival_tai_ns;
    uint8_t sequence;
    bool is_stamped;
    uint32_t stamp;
    uint32_t payload; /* its first four bytes */
};

struct rig_totals {
    uint64_t packets;
    uint64_t sent;
    uint64_t dropped;       /* by rules, copies too */
    uint64_t refused;       /* by the interface */
    uint64_t overflowed;    /* the rig's own memory was full */
    uint64_t receive_drops; /* the rig's socket was full */
    struct rig_seen first;  /* of the stamped ones that were let through, as they left; copies */
    struct rig_seen last;   /* do not count. Valid where first.is_stamped */
};

/* False where it is no AVTPDU with 28 bytes. */
bool rig_seen_read(const struct rig_packet *packet, uint64_t index, int64_t arrival_tai_ns,
                   struct rig_seen *ret_seen);

void rig_journal_packet(FILE *file, const struct rig_rules *rules, uint64_t index,
                        int64_t arrival_tai_ns, const struct rig_packet *packets, size_t count);
void rig_journal_end(FILE *file, const struct rig_rules *rules, const struct rig_totals *totals);

#endif
