/*
 * Any bytes as a packet of a host's stack, with any claim of what is left to do on it: cut into
 * frames, large and small.
 *
 * The first seven bytes are the claim: kind, segment size (2), where the checksum begins (2), where
 * it goes, how large frames are.
 */
#include "fuzz.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "gate/segment.h"

enum { CLAIM_BYTES = 7, FRAMES_MAX = 70000 };
enum { WHOLE = TT_SEGMENT_FAULTS, TCP, UDP, CUT, MARKED, CONTROL, REASONS };

static struct fuzz_reason reasons[REASONS] = {
    [TT_SEGMENT_OK] = {"good", 0},
    [TT_SEGMENT_SHORT] = {"refused: length", 0},
    [TT_SEGMENT_HEADERS] = {"refused: headers", 0},
    [TT_SEGMENT_SIZE] = {"refused: segment size", 0},
    [TT_SEGMENT_CHECKSUM] = {"refused: checksum", 0},
    [WHOLE] = {"left whole", 0},
    [TCP] = {"TCP cut to segments", 0},
    [UDP] = {"UDP cut to datagrams", 0},
    [CUT] = {"TCP cut to less", 0},
    [MARKED] = {"congestion marked", 0},
    [CONTROL] = {"a control frame", 0},
};

const struct fuzz_reason *fuzz_reasons(size_t *ret_count)
{
    *ret_count = REASONS;
    return reasons;
}

static void hold(bool invariant)
{
    if (!invariant)
        abort();
}

static void cut(struct tt_segmenter *s, const uint8_t *packet, size_t bytes, size_t size)
{
    size_t payload_bytes = 0;
    unsigned frames = 0;
    bool mark = tt_segmenter_can_mark(s) && size % 2 == 1;

    reasons[s->payload_bytes == 0                    ? WHOLE
            : s->gso.kind == TT_GSO_UDP              ? UDP
            : s->gso.kind == TT_GSO_TCP              ? TCP
            : s->less && size < tt_segmenter_full(s) ? CUT
                                                     : WHOLE]
        .reached++;
    reasons[MARKED].reached += mark;
    reasons[CONTROL].reached += tt_headers_is_control(&s->headers);
    while (!s->done) {
        size_t payload = tt_segmenter_full(s);
        size_t length;
        uint8_t *frame;

        if (s->less && size < payload)
            payload = size;
        length = tt_segmenter_frame_bytes(s, payload);
        hold(length <= bytes);
        /* Exactly as long as said, and where nothing is cut as long as the packet. */
        frame = malloc(bytes);
        hold(frame && tt_segmenter_next(s, packet, payload, mark, frame) <= bytes);
        free(frame);
        payload_bytes += payload;
        hold(++frames < FRAMES_MAX);
    }
    hold(payload_bytes == s->payload_bytes);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct tt_segmenter s;
    struct tt_gso gso;
    enum tt_segment_fault fault;
    uint8_t *packet;
    size_t bytes;

    if (size < CLAIM_BYTES)
        return 0;
    bytes = size - CLAIM_BYTES;
    gso = (struct tt_gso){
        .kind = data[0] % 3,
        .size = (uint16_t)(data[1] << 8 | data[2]),
        .needs_checksum = data[0] >= 128,
        .checksum_start = (uint16_t)(data[3] << 8 | data[4]),
        .checksum_offset = data[5],
    };
    packet = malloc(bytes + 1);
    hold(packet != NULL);
    memcpy(packet, data + CLAIM_BYTES, bytes);
    fault = tt_segmenter_init(&s, packet, bytes, &gso);
    hold(fault < TT_SEGMENT_FAULTS);
    reasons[fault].reached++;
    if (fault == TT_SEGMENT_OK)
        cut(&s, packet, bytes, 1 + (size_t)data[6] * 8);
    free(packet);
    return 0;
}
