/*
 * A pcapng file of one Ethernet interface with stamps in ns, flushed when told to: readable at any
 * moment, also when the program is killed.
 *
 * Source: draft-ietf-opsawg-pcapng, 4.1 (section header), 4.2 (interface description), 4.3
 * (enhanced packet).
 */
#ifndef TT_CLI_PCAPNG_WRITER_H
#define TT_CLI_PCAPNG_WRITER_H

#include <stdio.h>

#include "cli/capture.h"

struct tt_pcapng_writer {
    FILE *out; /* NULL: not open */
};

/* 0 or -errno. */
int tt_pcapng_open(struct tt_pcapng_writer *writer, const char *path, const char *ifname,
                   int snap_bytes);
/* A fault is told by the next flush. */
void tt_pcapng_write(struct tt_pcapng_writer *writer, const struct tt_packet *packet);
/* 0 or -errno. */
int tt_pcapng_flush(struct tt_pcapng_writer *writer);
/* Nothing where it is not open. */
void tt_pcapng_close(struct tt_pcapng_writer *writer);

#endif
