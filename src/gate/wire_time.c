/*
 * See wire_time.h.
 */
#include "gate/wire_time.h"

#include "base/min_max.h"
#include "base/ns.h"

#define BITS_NS (8 * TT_NS_PER_S) /* a byte's time is BITS_NS / rate_bps */

int64_t tt_wire_bytes(int64_t frame_bytes)
{
    return tt_max64(frame_bytes, TT_FRAME_BYTES_MIN) + TT_WIRE_EXTRA_BYTES;
}

int64_t tt_wire_ns(int64_t wire_bytes, int64_t rate_bps)
{
    return (wire_bytes * BITS_NS + rate_bps - 1) / rate_bps;
}

int64_t tt_wire_longest_frame(int64_t ns, int64_t rate_bps)
{
    int64_t low = 0; /* fits */
    int64_t high = TT_WIRE_BYTES_MAX + 1;

    while (high - low > 1) {
        int64_t middle = low + (high - low) / 2;

        if (tt_wire_ns(middle, rate_bps) <= ns) {
            low = middle;
        } else {
            high = middle;
        }
    }
    return low < TT_FRAME_BYTES_MIN + TT_WIRE_EXTRA_BYTES ? -1 : low - TT_WIRE_EXTRA_BYTES;
}

int64_t tt_wire_free_ns(const struct tt_wire *wire)
{
    return wire->free_ns + (wire->rest > 0);
}

void tt_wire_send(struct tt_wire *wire, int64_t start_ns, int64_t wire_bytes)
{
    if (start_ns != tt_wire_free_ns(wire)) {
        wire->free_ns = start_ns;
        wire->rest = 0;
    }
    wire->rest += wire_bytes * BITS_NS;
    wire->free_ns += wire->rest / wire->rate_bps;
    wire->rest %= wire->rate_bps;
}

int64_t tt_wire_end_ns(const struct tt_wire *wire, int64_t start_ns, int64_t wire_bytes)
{
    struct tt_wire after = *wire;

    tt_wire_send(&after, start_ns, wire_bytes);
    return tt_wire_free_ns(&after);
}
