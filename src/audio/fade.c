/*
 * See fade.h.
 */
#include "audio/fade.h"

#include <string.h>

#include "base/bytes.h"
#include "base/min_max.h"

struct weights {
    int64_t last;
    int64_t next;
    int64_t whole;
};

static struct weights weights_of(const struct tt_fade *fade, const struct tt_fade_edges *edges)
{
    int64_t ramp = fade->ramp_frames;

    if (edges->last && edges->next) {
        ramp = tt_min64(ramp, edges->since_last + edges->until_next - 1);
    }
    return (struct weights){
        .last = edges->last ? tt_max64(ramp + 1 - edges->since_last, 0) : 0,
        .next = edges->next ? tt_max64(ramp + 1 - edges->until_next, 0) : 0,
        .whole = ramp + 1,
    };
}

static int64_t read_integer(const uint8_t *from, unsigned bytes)
{
    int64_t value = (int8_t)from[0];

    for (unsigned i = 1; i < bytes; i++) {
        value = value * 256 + from[i];
    }
    return value;
}

static void write_integer(int64_t value, unsigned bytes, uint8_t *to)
{
    for (unsigned i = bytes; i-- > 0; value >>= 8) {
        to[i] = (uint8_t)value;
    }
}

/* What is no number would stay none through the whole ramp. */
static double read_float(const uint8_t *from)
{
    uint32_t bits = tt_get_be32(from);
    float value;

    if ((bits & 0x7F800000) == 0x7F800000) {
        return 0;
    }
    memcpy(&value, &bits, sizeof value);
    return (double)value;
}

static void write_float(double value, uint8_t *to)
{
    float narrow = (float)value;
    uint32_t bits;

    memcpy(&bits, &narrow, sizeof bits);
    tt_put_be32(to, bits);
}

void tt_fade_frame(const struct tt_fade *fade, const struct tt_fade_edges *edges,
                   uint8_t *ret_frame)
{
    unsigned bytes = tt_aaf_sample_bytes(fade->format);
    struct weights w = weights_of(fade, edges);

    for (size_t at = 0; at < (size_t)bytes * fade->channels; at += bytes) {
        const uint8_t *last = w.last > 0 ? edges->last + at : NULL;
        const uint8_t *next = w.next > 0 ? edges->next + at : NULL;

        if (fade->format == TT_AAF_FLOAT32) {
            double sum = (last ? read_float(last) * (double)w.last : 0) +
                         (next ? read_float(next) * (double)w.next : 0);

            write_float(sum / (double)w.whole, ret_frame + at);
        } else {
            int64_t sum = (last ? read_integer(last, bytes) * w.last : 0) +
                          (next ? read_integer(next, bytes) * w.next : 0);

            write_integer((2 * sum + (sum < 0 ? -w.whole : w.whole)) / (2 * w.whole), bytes,
                          ret_frame + at);
        }
    }
}
