/*
 * The usual records of a capture file, read from a large buffer: some 10 ns a packet, where libpcap
 * takes 100 for two small reads each. Of all else libpcap is asked: tt_records_next says where it
 * shall read on, and it alone says what is wrong with a file.
 *
 * Usual: a classic pcap of version 2.4, or the enhanced packet blocks of one pcapng section, of
 * Ethernet, either byte order, stamps in us or ns, lengths that fit. tests/unit/test_records holds
 * both ways against each other, on files with any fault.
 *
 * Alone, that is without libpcap, which stops there: from where a pcapng file has interfaces of
 * Ethernet and of others, or a section of the other byte order. The packets of Ethernet are read,
 * the others counted.
 * Source: draft-ietf-opsawg-pcap; draft-ietf-opsawg-pcapng, 4.1 to 4.3.
 */
#ifndef TT_CLI_RECORDS_H
#define TT_CLI_RECORDS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct tt_records;

struct tt_record {
    const uint8_t *frame; /* valid until the next one is taken */
    uint32_t bytes;       /* captured */
    uint32_t wire_bytes;
    int64_t arrival_utc_ns;
};

/* Of interfaces that are not Ethernet. */
struct tt_records_left_out {
    uint64_t packets;
    uint16_t link; /* type of the latest */
};

/* A file that libpcap has opened, of Ethernet or read alone, and has read up to `offset`. `fd`
 * stays the caller's; its own offset is neither used nor moved. NULL: there are no usual records in
 * it. */
struct tt_records *tt_records_new(int fd, size_t snap_bytes, off_t offset);
void tt_records_free(struct tt_records *records);

/* 1: a record; 0: what comes next is libpcap's, at *ret_offset; -1: the end of a
 * file that is read alone. */
int tt_records_next(struct tt_records *records, struct tt_record *ret_record, off_t *ret_offset);
/* libpcap has read up to `offset`. 0, or -1 where everything from here on is libpcap's. */
int tt_records_resume(struct tt_records *records, off_t offset);

/* libpcap has no more part in it. False of NULL. */
bool tt_records_is_alone(const struct tt_records *records);
struct tt_records_left_out tt_records_left_out(const struct tt_records *records);
/* Why a file that is read alone ends before its end; NULL: it does not. */
const char *tt_records_error(const struct tt_records *records);

#endif
