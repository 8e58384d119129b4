/*
 * The BPF program that lets a packet socket see AVTP only (EtherType 0x22F0), and of that only one
 * destination or one stream where that is asked for. Nothing that this host sends passes.
 *
 * The kernel has taken the outer tag off before the filter runs; one more tag may be in-line.
 */
#ifndef TT_OS_PACKET_FILTER_H
#define TT_OS_PACKET_FILTER_H

#include <linux/filter.h>
#include <stdint.h>

#define TT_PACKET_FILTER_MAX 32

/* `dest` (6 bytes) and `stream_id` may be NULL: any. A frame that is too short for a stream ID
 * passes, so that it can be counted. Returns the number of instructions. */
unsigned tt_packet_filter_build(const uint8_t *dest, const uint64_t *stream_id,
                                struct sock_filter ret_code[TT_PACKET_FILTER_MAX]);

#endif
