/*
 * See clock_out.h.
 */
#include "run/clock_out.h"

#include <errno.h>
#include <stdlib.h>

#include "base/counters.h"
#include "os/memory.h"
#include "run/send.h"

#define PACKET_BYTES_MAX                                                                           \
    (TT_ETH_HEADER_BYTES + TT_ETH_TAG_BYTES + TT_CRF_HEADER_BYTES +                                \
     TT_CRF_STAMPS_MAX * TT_CRF_STAMP_BYTES)
#define PDUS_A_STEP 64 /* after a stall the rest follows in the next step */

struct tt_clock_out {
    struct tt_link *link;
    enum tt_tu tu;
    struct tt_crf_talker talker;
    struct tt_seqlock lock;
    struct tt_clock_out_counters shared;
    struct tt_clock_out_counters live;
};

int tt_clock_out_new(const struct tt_clock_out_setup *setup, struct tt_clock_out **ret_out)
{
    struct tt_clock_out *out = tt_memory_new(1, sizeof *out);
    int error;

    if (!out) {
        return -ENOMEM;
    }
    out->link = setup->link;
    out->tu = setup->tu;
    error = tt_crf_talker_init(&out->talker, setup->config, setup->grid, setup->link->mac);
    if (error < 0) {
        free(out);
        return error;
    }
    *ret_out = out;
    return 0;
}

void tt_clock_out_free(struct tt_clock_out *out)
{
    free(out);
}

void tt_clock_out_counters(struct tt_clock_out *out, struct tt_clock_out_counters *ret_counters)
{
    tt_counters_read(&out->lock, &out->shared, sizeof *ret_counters, ret_counters);
}

void tt_clock_out_begin(struct tt_clock_out *out, int64_t media_tai_ns)
{
    tt_talker_start(&out->talker.talker, out->talker.talker.next_frame, media_tai_ns);
}

static void send_next(struct tt_clock_out *out, int64_t now_tai_ns)
{
    uint8_t data[PACKET_BYTES_MAX];
    struct tt_talker_pdu pdu;
    struct tt_link_packet packet = {.data = data};
    bool refused;

    if (tt_talker_next(&out->talker.talker, now_tai_ns, &pdu) == TT_TALKER_DROP) {
        out->live.pdus_dropped++;
        return;
    }
    packet.bytes = tt_crf_talker_build(&out->talker, &pdu, data);
    packet.time_tai_ns = pdu.launch_tai_ns;
    tt_send_batch(out->link, &packet, 1, &refused);
    out->live.pdus_refused += refused;
    out->live.pdus_sent += !refused;
    out->live.pdus_uncertain += !refused && tt_talker_is_uncertain(&out->talker.talker);
}

int64_t tt_clock_out_step(struct tt_clock_out *out, int64_t now_tai_ns)
{
    struct tt_talker *talker = &out->talker.talker;

    if (tt_talker_next_launch(talker) > now_tai_ns) {
        return tt_talker_next_launch(talker);
    }
    for (int i = 0; i < PDUS_A_STEP && tt_talker_next_launch(talker) <= now_tai_ns; i++) {
        send_next(out, now_tai_ns);
    }
    tt_counters_begin(&out->lock);
    out->shared = out->live;
    tt_counters_end(&out->lock);
    return tt_talker_next_launch(talker);
}

void tt_clock_out_set_clock(struct tt_clock_out *out, bool unsynchronised)
{
    tt_talker_set_uncertain(&out->talker.talker, unsynchronised && out->tu == TT_TU_AUTO);
}

void tt_clock_out_clock_step(struct tt_clock_out *out, int64_t step_ns)
{
    tt_talker_clock_step(&out->talker.talker, step_ns);
}
