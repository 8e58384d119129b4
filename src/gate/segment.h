/*
 * One packet of a host's stack, as frames for the wire: a packet that was left whole for the
 * hardware to cut (GSO) is cut to its segment size, checksums that were left out are filled in. A
 * TCP segment can be cut to less than that, so that what is left of a window is not lost; a
 * datagram cannot, its borders mean something.
 *
 * Frames are made one at a time, in order, and hold every byte of the payload once: sequence
 * numbers, lengths, IPv4 identification and all checksums are those of the frame; FIN and PSH are
 * on the last one, CWR on the first. Not cut below the segment size: SYN, RST, urgent data, and
 * what is signed (TCP-MD5, TCP-AO).
 * Never looks beyond the packet's bytes, whatever they are.
 * Source: RFC 9293 3.1, RFC 768, RFC 1071, RFC 8200 8.1, RFC 3168 6.1.2 and 5, RFC 6864.
 */
#ifndef TT_GATE_SEGMENT_H
#define TT_GATE_SEGMENT_H

#include "gate/headers.h"

#define TT_SEGMENT_PACKET_MAX 65550 /* 64 KiB of IP in a tagged frame, and some */

enum tt_gso_kind { TT_GSO_NONE, TT_GSO_TCP, TT_GSO_UDP };

/* What the stack left to do. */
struct tt_gso {
    enum tt_gso_kind kind;
    uint16_t size; /* payload of a segment; of TT_GSO_NONE: 0 */
    bool needs_checksum;
    uint16_t checksum_start; /* from the frame's first byte */
    uint16_t checksum_offset;
};

enum tt_segment_fault {
    TT_SEGMENT_OK,
    TT_SEGMENT_SHORT,    /* shorter than an Ethernet header, or longer than there are packets */
    TT_SEGMENT_HEADERS,  /* to be cut, and not the TCP or UDP over IP that it is said to be */
    TT_SEGMENT_SIZE,     /* to be cut to segments of 0, or nothing to cut */
    TT_SEGMENT_CHECKSUM, /* a checksum to fill in that is outside of it */
    TT_SEGMENT_FAULTS
};

/* The data is the caller's and stays. */
struct tt_segmenter {
    struct tt_headers headers;
    struct tt_gso gso;
    size_t bytes;
    size_t head_bytes;    /* in front of the payload; a packet that cannot be cut: all of it */
    size_t payload_bytes; /* 0: it cannot be cut */
    bool less;            /* may be cut below the segment size */
    uint64_t pseudo;      /* sum of the pseudo header without its length */
    size_t done_bytes;    /* of the payload */
    uint16_t index;       /* frames made */
    bool done;
};

TT_RT enum tt_segment_fault tt_segmenter_init(struct tt_segmenter *segmenter, const uint8_t *packet,
                                              size_t bytes, const struct tt_gso *gso);
/* Payload of the next frame at its full size; 0: a packet without any, or that cannot be cut. */
TT_RT size_t tt_segmenter_full(const struct tt_segmenter *segmenter);
/* Length of a frame with so much payload. */
TT_RT size_t tt_segmenter_frame_bytes(const struct tt_segmenter *segmenter, size_t payload_bytes);
/* Whether congestion can be told in its IP header instead of by a loss. */
TT_RT bool tt_segmenter_can_mark(const struct tt_segmenter *segmenter);
/* Makes the next frame of the packet's data, with so much payload (at most tt_segmenter_full; less
 * only where that may be). ret_frame takes tt_segmenter_frame_bytes. Returns its length. */
TT_RT size_t tt_segmenter_next(struct tt_segmenter *segmenter, const uint8_t *packet,
                               size_t payload_bytes, bool mark, uint8_t *ret_frame);
/* As that, but it is thrown away. */
TT_RT void tt_segmenter_skip(struct tt_segmenter *segmenter, size_t payload_bytes);

#endif
