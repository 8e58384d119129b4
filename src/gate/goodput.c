/*
 * See goodput.h.
 */
#include "gate/goodput.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/bytes.h"
#include "base/ns.h"

#define MTU           1500
#define SEGMENTS      20
#define TCP_BYTES     32 /* with timestamps */
#define BACKLOG_BYTES 60000

static size_t make_packet(bool ipv6, uint8_t *packet, struct tt_gso *ret_gso)
{
    size_t ip_bytes = ipv6 ? 40 : 20;
    size_t payload = MTU - ip_bytes - TCP_BYTES;
    uint8_t *ip = packet + TT_FRAME_HEAD_BYTES;
    size_t l4_bytes = TCP_BYTES + SEGMENTS * payload;

    tt_put_be16(packet + 12, ipv6 ? 0x86DD : 0x0800);
    ip[0] = ipv6 ? 0x60 : 0x45;
    tt_put_be16(ip + (ipv6 ? 4 : 2), (uint16_t)(ipv6 ? l4_bytes : ip_bytes + l4_bytes));
    ip[ipv6 ? 6 : 9] = TT_IP_TCP;
    ip[ip_bytes + 12] = TCP_BYTES / 4 << 4;
    *ret_gso = (struct tt_gso){.kind = TT_GSO_TCP, .size = (uint16_t)payload};
    return TT_FRAME_HEAD_BYTES + ip_bytes + l4_bytes;
}

static int64_t sample(const int64_t *values, size_t count, size_t *at)
{
    return count > 0 ? values[(*at)++ % count] : 0;
}

struct run {
    struct tt_shaper *shaper;
    const struct tt_goodput_model *model;
    size_t late_at;
    size_t hand_at;
    int64_t now_ns;
};

/* One frame, or asleep until one is due. false: never again. */
static bool step(struct run *run, uint8_t *frame)
{
    struct tt_shaper_frame sent;
    int64_t wake_ns;

    if (!tt_shaper_next(run->shaper, run->now_ns, frame, &sent, &wake_ns)) {
        run->now_ns = wake_ns;
        if (wake_ns != INT64_MAX && run->shaper->setup.strict) {
            run->now_ns += sample(run->model->late_ns, run->model->late_count, &run->late_at);
        }
        return wake_ns != INT64_MAX;
    }
    if (run->shaper->setup.strict) {
        run->now_ns += sample(run->model->hand_ns, run->model->hand_count, &run->hand_at);
        tt_shaper_sent(run->shaper, &sent, run->now_ns);
    }
    return true;
}

static int64_t simulate(struct run *run, unsigned class, bool ipv6, uint8_t *packet,
                        int64_t duration_ns)
{
    uint8_t *frame = packet + TT_SEGMENT_PACKET_MAX;
    int64_t start_ns = run->now_ns;
    struct tt_gso gso;
    size_t bytes = make_packet(ipv6, packet, &gso);

    do {
        while (tt_shaper_waiting(run->shaper, class) < BACKLOG_BYTES) {
            tt_shaper_push(run->shaper, class, packet, bytes, &gso, run->now_ns);
            if (tt_shaper_waiting(run->shaper, class) == 0) {
                return 0;
            }
        }
    } while (step(run, frame) && run->now_ns - start_ns < duration_ns);
    return (int64_t)run->shaper->counters[class].payload_bytes * 8 * TT_NS_PER_MS /
           (duration_ns / (TT_NS_PER_S / TT_NS_PER_MS));
}

int tt_goodput(const struct tt_shaper_setup *setup, const struct tt_gate_list *list, unsigned class,
               bool ipv6, const struct tt_goodput_model *model, int64_t duration_ns,
               int64_t *ret_bps)
{
    struct run run = {.model = model, .now_ns = list->base_tai_ns};
    uint8_t *packet = calloc(2, TT_SEGMENT_PACKET_MAX);

    run.shaper = packet ? tt_shaper_new(setup, list) : NULL;
    if (!run.shaper) {
        free(packet);
        return -ENOMEM;
    }
    *ret_bps = simulate(&run, class, ipv6, packet, duration_ns);
    tt_shaper_free(run.shaper);
    free(packet);
    return 0;
}
