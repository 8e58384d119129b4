/*
 * See journal.h. A rule's text has no character that JSON would escape: the script takes none.
 */
#include "journal.h"

#include <inttypes.h>

#include "audio/eth.h"
#include "base/bytes.h"

#define SEEN_BYTES 28

bool rig_seen_read(const struct rig_packet *packet, uint64_t index, int64_t arrival_tai_ns,
                   struct rig_seen *ret_seen)
{
    struct tt_eth eth;
    const uint8_t *pdu;

    if (tt_eth_parse(packet->frame, packet->bytes, &eth) < 0 ||
        packet->bytes < eth.header_bytes + SEEN_BYTES) {
        return false;
    }
    pdu = packet->frame + eth.header_bytes;
    *ret_seen = (struct rig_seen){
        .index = index,
        .arrival_tai_ns = arrival_tai_ns,
        .sequence = pdu[2],
        .is_stamped = pdu[1] & 1,
        .stamp = tt_get_be32(pdu + 12),
        .payload = tt_get_be32(pdu + 24),
    };
    return true;
}

static void print_packet(FILE *file, const struct rig_packet *packet)
{
    struct rig_seen seen;

    fprintf(file,
            "{\"copy\": %s, \"dropped\": %s, \"delay_ns\": %" PRId64 ", \"wait\": %" PRIu64
            ", \"bytes\": %zu",
            packet->is_copy ? "true" : "false", packet->is_dropped ? "true" : "false",
            packet->delay_ns, packet->wait, packet->bytes);
    if (rig_seen_read(packet, 0, 0, &seen)) {
        fprintf(file, ", \"sequence\": %u, \"stamp\": %" PRIu32 ", \"payload\": %" PRIu32,
                seen.sequence, seen.stamp, seen.payload);
    }
    fputc('}', file);
}

void rig_journal_packet(FILE *file, const struct rig_rules *rules, uint64_t index,
                        int64_t arrival_tai_ns, const struct rig_packet *packets, size_t count)
{
    uint64_t applied = 0;
    const char *comma = "";

    for (size_t i = 0; i < count; i++) {
        applied |= packets[i].rules;
    }
    if (applied == 0) {
        return;
    }
    fprintf(file, "{\"index\": %" PRIu64 ", \"arrival_tai_ns\": %" PRId64 ", \"lines\": [", index,
            arrival_tai_ns);
    for (size_t r = 0; r < rules->count; r++) {
        if (applied >> r & 1) {
            fprintf(file, "%s%u", comma, rules->rules[r].line);
            comma = ", ";
        }
    }
    fputs("], \"packets\": [", file);
    for (size_t i = 0; i < count; i++) {
        fputs(i > 0 ? ", " : "", file);
        print_packet(file, &packets[i]);
    }
    fputs("]}\n", file);
}

static void print_seen(FILE *file, const char *name, const struct rig_seen *seen)
{
    fprintf(file,
            "\"%s\": {\"index\": %" PRIu64 ", \"arrival_tai_ns\": %" PRId64
            ", \"sequence\": %u, \"stamp\": %" PRIu32 ", \"payload\": %" PRIu32 "}, ",
            name, seen->index, seen->arrival_tai_ns, seen->sequence, seen->stamp, seen->payload);
}

void rig_journal_end(FILE *file, const struct rig_rules *rules, const struct rig_totals *totals)
{
    fprintf(file,
            "{\"final\": true, \"packets\": %" PRIu64 ", \"sent\": %" PRIu64
            ", \"dropped\": %" PRIu64 ", \"refused\": %" PRIu64 ", \"overflowed\": %" PRIu64
            ", \"receive_drops\": %" PRIu64 ", ",
            totals->packets, totals->sent, totals->dropped, totals->refused, totals->overflowed,
            totals->receive_drops);
    if (totals->first.is_stamped) {
        print_seen(file, "first", &totals->first);
        print_seen(file, "last", &totals->last);
    }
    fputs("\"rules\": [", file);
    for (size_t r = 0; r < rules->count; r++) {
        fprintf(file, "%s{\"line\": %u, \"rule\": \"%s\", \"applied\": %" PRIu64 "}",
                r > 0 ? ", " : "", rules->rules[r].line, rules->rules[r].text,
                rules->rules[r].applied);
    }
    fputs("]}\n", file);
    fflush(file);
}
