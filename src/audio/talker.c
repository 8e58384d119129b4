/*
 * See talker.h.
 */
#include "audio/talker.h"

#include <assert.h>
#include <string.h>

#include "audio/aaf.h"
#include "base/bytes.h"
#include "base/min_max.h"
#include "base/ns.h"

#define LONG_AGO (INT64_MIN / 2)

#define TURN_STREAMS 16  /* a batch that is on the wire in some ten microseconds */
#define TURNS        256 /* of a microsecond and less: more than a processor can send */
#define MTT_PER_TURN 8

/* Places in the AAF header that change from PDU to PDU. */
enum { AT_FLAGS = 1, AT_SEQUENCE = 2, AT_TU = 3, AT_TIMESTAMP = 12 };
enum { FLAG_MR = 0x08, FLAG_TV = 0x01, FLAG_TU = 0x01 };

void tt_talker_init(struct tt_talker *talker, const struct tt_stream_config *config,
                    const uint8_t src[6], int64_t wire_ns)
{
    struct tt_eth eth = {
        .vlan_id = config->vlan_id,
        .pcp = tt_stream_config_pcp(config),
        .ethertype = TT_ETHERTYPE_AVTP,
    };
    unsigned sample_bytes = tt_aaf_sample_bytes(config->format);
    struct tt_aaf aaf = {
        .stream_id = config->stream_id,
        .sp = config->sparse,
        .format = config->format,
        .rate_hz = config->rate_hz,
        .channels = config->channels,
        .bit_depth = sample_bytes * 8,
        .payload_bytes = (size_t)config->frames_per_pdu * config->channels * sample_bytes,
        .frames = config->frames_per_pdu,
    };

    struct tt_talker_schedule schedule = {
        .rate = {.ticks_hz = config->rate_hz, .frame_ticks = 1},
        .frames_per_pdu = config->frames_per_pdu,
        .mtt_ns = config->mtt_ns,
        .time_uncertainty_ns = config->time_uncertainty_ns,
        .launch_offset_ns = config->launch_offset_ns,
        .wire_ns = wire_ns,
    };

    assert(sample_bytes > 0 && tt_aaf_nsr(config->rate_hz) > 0 && config->frames_per_pdu > 0);
    tt_talker_init_schedule(talker, &schedule);
    memcpy(eth.dest, config->dest, sizeof eth.dest);
    memcpy(eth.src, src, sizeof eth.src);
    talker->eth_bytes = tt_eth_build(&eth, talker->header);
    tt_aaf_build_header(&aaf, talker->header + talker->eth_bytes);
    talker->frame_bytes = (size_t)config->channels * sample_bytes;
    talker->sparse = config->sparse;
}

void tt_talker_init_schedule(struct tt_talker *talker, const struct tt_talker_schedule *schedule)
{
    memset(talker, 0, sizeof *talker);
    talker->rate = schedule->rate;
    talker->frames_per_pdu = schedule->frames_per_pdu;
    talker->mtt_ns = schedule->mtt_ns;
    talker->time_uncertainty_ns = schedule->time_uncertainty_ns;
    talker->launch_offset_ns = schedule->launch_offset_ns;
    talker->wire_ns = schedule->wire_ns;
    talker->interval_ns = (int64_t)schedule->frames_per_pdu * schedule->rate.frame_ticks *
                          TT_NS_PER_S / schedule->rate.ticks_hz;
    for (int i = 0; i < TT_TALKER_BURST; i++) {
        talker->launches_tai_ns[i] = LONG_AGO;
    }
}

void tt_talker_take_turn(struct tt_talker *talker, size_t place)
{
    unsigned group = (unsigned)(place / TURN_STREAMS) % TURNS;
    unsigned turn = 0; /* the group's bits in reverse: each lies midway between earlier ones */

    for (unsigned bit = 1; bit < TURNS; bit *= 2) {
        turn = 2 * turn + (group & bit ? 1 : 0);
    }
    if (talker->launch_offset_ns == 0) {
        talker->turn_ns =
            tt_min64(talker->interval_ns, talker->mtt_ns / MTT_PER_TURN) * turn / TURNS;
    }
}

void tt_talker_follow(struct tt_talker *talker, const struct tt_media_grid *grid)
{
    talker->grid = grid;
}

static int64_t local_due(const struct tt_talker *talker, int64_t frame)
{
    return talker->start_tai_ns + tt_media_rate_ns(talker->rate, frame - talker->start_frame);
}

/* The next PDU goes to the first place on the grid at which it is not due before due_tai_ns. */
static void place_on_grid(struct tt_talker *talker, int64_t due_tai_ns)
{
    int64_t frame = tt_media_grid_frame(talker->grid, talker->rate, due_tai_ns + talker->mtt_ns);

    talker->start_grid_frame = frame - (talker->next_frame - talker->start_frame);
    talker->grid_epoch = talker->grid->epoch;
}

int64_t tt_talker_due(const struct tt_talker *talker, int64_t frame)
{
    if (talker->grid) {
        int64_t grid_frame = talker->start_grid_frame + frame - talker->start_frame;

        return tt_media_grid_time(talker->grid, talker->rate, grid_frame) - talker->mtt_ns;
    }
    return frame == talker->next_frame ? talker->next_local_tai_ns : local_due(talker, frame);
}

/* The first time that is not earlier and lies at the launch offset in its interval. */
static int64_t at_offset(const struct tt_talker *talker, int64_t due_tai_ns)
{
    int64_t behind_ns = talker->launch_offset_ns - due_tai_ns;

    return due_tai_ns + behind_ns -
           tt_floor_div(behind_ns, talker->interval_ns) * talker->interval_ns;
}

void tt_talker_start(struct tt_talker *talker, int64_t frame, int64_t media_tai_ns)
{
    talker->mr = talker->started && !talker->mr_sent;
    talker->started = true;
    talker->start_frame = frame;
    talker->next_frame = frame;
    talker->start_tai_ns = media_tai_ns + talker->time_uncertainty_ns;
    if (talker->grid) {
        place_on_grid(talker, talker->start_tai_ns);
        talker->start_tai_ns = tt_talker_due(talker, frame);
    } else if (talker->launch_offset_ns > 0) {
        talker->start_tai_ns = at_offset(talker, talker->start_tai_ns);
    }
    talker->next_local_tai_ns = talker->start_tai_ns;
}

static int64_t allowed_by_burst(const struct tt_talker *talker)
{
    return talker->launches_tai_ns[0] + talker->interval_ns;
}

static int64_t next_due(const struct tt_talker *talker)
{
    return tt_talker_due(talker, talker->next_frame) + talker->turn_ns;
}

int64_t tt_talker_next_launch(const struct tt_talker *talker)
{
    return tt_max64(next_due(talker), allowed_by_burst(talker));
}

bool tt_talker_is_behind(const struct tt_talker *talker)
{
    return allowed_by_burst(talker) > next_due(talker);
}

enum tt_talker_verdict tt_talker_next(struct tt_talker *talker, int64_t earliest_tai_ns,
                                      struct tt_talker_pdu *ret_pdu)
{
    int64_t due_ns = next_due(talker);
    int64_t launch_ns = tt_max64(due_ns, allowed_by_burst(talker));

    if (talker->grid && talker->grid_epoch != talker->grid->epoch) {
        talker->grid_epoch = talker->grid->epoch;
        talker->mr = !talker->mr_sent;
    }
    if (launch_ns < earliest_tai_ns) {
        launch_ns = earliest_tai_ns;
    }
    ret_pdu->sequence = talker->sequence++;
    ret_pdu->frame = talker->next_frame;
    ret_pdu->due_tai_ns = due_ns;
    ret_pdu->launch_tai_ns = launch_ns;
    ret_pdu->presentation_tai_ns = ret_pdu->due_tai_ns - talker->turn_ns + talker->mtt_ns;
    talker->next_frame += talker->frames_per_pdu;
    talker->next_local_tai_ns = local_due(talker, talker->next_frame);
    if (launch_ns + talker->wire_ns >= ret_pdu->presentation_tai_ns) {
        return TT_TALKER_DROP;
    }
    for (int i = 1; i < TT_TALKER_BURST; i++) {
        talker->launches_tai_ns[i - 1] = talker->launches_tai_ns[i];
    }
    talker->launches_tai_ns[TT_TALKER_BURST - 1] = launch_ns;
    talker->mr_sent = talker->mr;
    return TT_TALKER_SEND;
}

size_t tt_talker_packet_bytes(const struct tt_talker *talker)
{
    return talker->eth_bytes + TT_AAF_HEADER_BYTES + talker->frames_per_pdu * talker->frame_bytes;
}

size_t tt_talker_build(const struct tt_talker *talker, const struct tt_talker_pdu *pdu,
                       uint8_t *ret_packet)
{
    uint8_t *aaf = ret_packet + talker->eth_bytes;
    /* IEEE 1722-2016, 7.3.4.1: in sparse mode only every eighth PDU carries a stamp. */
    bool stamped = !talker->sparse || pdu->sequence % 8 == 0;
    int64_t stamp_ns = pdu->presentation_tai_ns + talker->stamp_offset_ns;

    memcpy(ret_packet, talker->header, talker->eth_bytes + TT_AAF_HEADER_BYTES);
    aaf[AT_FLAGS] |= (uint8_t)((talker->mr ? FLAG_MR : 0) | (stamped ? FLAG_TV : 0));
    aaf[AT_SEQUENCE] = pdu->sequence;
    aaf[AT_TU] |= tt_talker_is_uncertain(talker) ? FLAG_TU : 0;
    tt_put_be32(aaf + AT_TIMESTAMP, stamped ? (uint32_t)stamp_ns : 0);
    return talker->eth_bytes + TT_AAF_HEADER_BYTES;
}

void tt_talker_clock_step(struct tt_talker *talker, int64_t step_ns)
{
    if (talker->grid) {
        place_on_grid(talker, tt_talker_due(talker, talker->next_frame) + step_ns);
    }
    talker->start_tai_ns += step_ns;
    talker->next_local_tai_ns += step_ns;
    for (int i = 0; i < TT_TALKER_BURST; i++) {
        if (talker->launches_tai_ns[i] != LONG_AGO) {
            talker->launches_tai_ns[i] += step_ns;
        }
    }
    talker->mr = !talker->mr_sent;
}

bool tt_talker_is_uncertain(const struct tt_talker *talker)
{
    return talker->tu || (talker->grid && talker->grid->uncertain);
}

void tt_talker_set_uncertain(struct tt_talker *talker, bool uncertain)
{
    talker->tu = uncertain;
}
