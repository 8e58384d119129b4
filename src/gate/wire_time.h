/*
 * How long frames keep a wire busy, in integers: exact at every rate, for one frame and for any
 * number of them back to back.
 *
 * A frame's bytes are counted from the destination address to the end of the payload, tags
 * included, FCS not. On the wire come padding, FCS, preamble and the gap between frames.
 * Source: IEEE 802.3-2018, 3.2.7 (minimum frame), 4.4.2 (gap of 96 bits); 802.3 clause 3
 * (preamble).
 */
#ifndef TT_GATE_WIRE_TIME_H
#define TT_GATE_WIRE_TIME_H

#include <stdint.h>

#include "base/attr.h"

#define TT_FRAME_BYTES_MIN  60
#define TT_FRAME_HEAD_BYTES 14 /* both addresses and the EtherType */
#define TT_FRAME_TAG_BYTES  4
#define TT_WIRE_GAP_BYTES   12
#define TT_WIRE_EXTRA_BYTES 24                    /* FCS 4, preamble and start 8, gap 12 */
#define TT_WIRE_RATE_MAX    INT64_C(400000000000) /* bit/s: every frame takes 1 ns at least */
#define TT_WIRE_BYTES_MAX   INT64_C(1000000)

/* frame_bytes 0 … TT_WIRE_BYTES_MAX - 24. */
TT_RT int64_t tt_wire_bytes(int64_t frame_bytes);
/* The time of so many bytes on the wire, rounded up to a whole ns. rate_bps 1 … TT_WIRE_RATE_MAX.
 */
TT_RT int64_t tt_wire_ns(int64_t wire_bytes, int64_t rate_bps);
/* The longest frame whose time on the wire is at most `ns`; below 0 where there is none.
 * ns 0 … 2^40. At most TT_WIRE_BYTES_MAX - 24. */
TT_RT int64_t tt_wire_longest_frame(int64_t ns, int64_t rate_bps);

/* A wire, and when it is free: at free_ns + rest / rate_bps. So frames back to back take no more
 * than they take, however often a fraction of a ns is left over. */
struct tt_wire {
    int64_t rate_bps;
    int64_t free_ns;
    int64_t rest; /* 0 … rate_bps - 1 */
};

/* The first whole ns at which it is free. */
TT_RT int64_t tt_wire_free_ns(const struct tt_wire *wire);
/* The first whole ns at which it would be free again. start_ns at or after tt_wire_free_ns; at
 * it, the frame follows the last one without a gap of its own. */
TT_RT int64_t tt_wire_end_ns(const struct tt_wire *wire, int64_t start_ns, int64_t wire_bytes);
TT_RT void tt_wire_send(struct tt_wire *wire, int64_t start_ns, int64_t wire_bytes);

#endif
