/*
 * An AAF talker: frames and a media clock become PDUs with launch and presentation times.
 *
 * Pure: the caller asks for the next PDU with the time at hand, builds the frame and sends it.
 * Invariants: PDU k is due at media time of its first frame + time_uncertainty + turn, exactly (no
 * rounded period is added up); presentation = due - turn + mtt; sequence numbers are consumed by
 * dropped PDUs too; in any PDU interval at most TT_TALKER_BURST PDUs are launched, and when nothing
 * is late exactly one. On a followed clock it is the presentation times that lie on the clock's
 * grid. A turn puts departures off and leaves presentation times alone. Source: IEEE
 * 1722-2016, 7.3; IEEE 802.1BA (class A and B intervals).
 */
#ifndef TT_AUDIO_TALKER_H
#define TT_AUDIO_TALKER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "audio/eth.h"
#include "audio/media_grid.h"
#include "audio/stream_config.h"
#include "base/attr.h"

#define TT_TALKER_BURST 2

struct tt_talker {
    uint8_t header[TT_ETH_HEADER_BYTES + TT_ETH_TAG_BYTES + TT_AAF_HEADER_BYTES];
    size_t eth_bytes;
    size_t frame_bytes; /* of one audio frame on the wire */
    unsigned frames_per_pdu;
    struct tt_media_rate rate;
    bool sparse;
    int64_t mtt_ns;
    int64_t time_uncertainty_ns;
    int64_t launch_offset_ns; /* 0: any */
    int64_t turn_ns;          /* departures are due so long after media time */
    int64_t stamp_offset_ns;  /* added to presentation times on the wire (a UTC time scale) */
    int64_t wire_ns;          /* one PDU on the link */
    int64_t interval_ns;      /* one PDU of media time, rounded down */

    int64_t start_tai_ns;             /* due time of frame 0 of this run */
    int64_t start_frame;              /* its device position */
    const struct tt_media_grid *grid; /* NULL: the local clock */
    int64_t start_grid_frame;         /* on the grid: the place of start_frame */
    uint32_t grid_epoch;
    int64_t next_frame;                       /* device position of the next PDU's first frame */
    int64_t next_local_tai_ns;                /* when that is due by the local clock */
    int64_t launches_tai_ns[TT_TALKER_BURST]; /* the last ones, oldest first */
    uint8_t sequence;
    bool started;
    bool mr;
    bool
        mr_sent; /* of the last PDU: a second restart before the next one must not undo the first */
    bool tu;
};

struct tt_talker_pdu {
    uint8_t sequence;
    int64_t frame; /* device position of its first frame */
    int64_t due_tai_ns;
    int64_t launch_tai_ns; /* >= due; later only where the PDU is late */
    int64_t presentation_tai_ns;
};

enum tt_talker_verdict {
    TT_TALKER_SEND,
    TT_TALKER_DROP, /* it cannot meet its presentation time any more */
};

/* `config` must have passed its check and have format, rate_hz and channels; `src` is the
 * interface's address; wire_ns the time one full PDU takes on the link (0 where the speed is
 * unknown). */
void tt_talker_init(struct tt_talker *talker, const struct tt_stream_config *config,
                    const uint8_t src[6], int64_t wire_ns);

/* What is the same for every talker of PDUs of frames_per_pdu frames (of AAF: tt_talker_init does
 * it): everything but the headers. */
struct tt_talker_schedule {
    struct tt_media_rate rate;
    unsigned frames_per_pdu;
    int64_t mtt_ns;
    int64_t time_uncertainty_ns;
    int64_t launch_offset_ns; /* of the first PDU in its interval, counted from TAI 0; 0: any */
    int64_t wire_ns;
};
void tt_talker_init_schedule(struct tt_talker *talker, const struct tt_talker_schedule *schedule);

/* From the next start on, media time is the grid's (NULL: the local clock's), which must be ready
 * by then and outlive the talker. PDUs carry tu while the grid is uncertain, and mr toggles where
 * it is placed anew. */
void tt_talker_follow(struct tt_talker *talker, const struct tt_media_grid *grid);

/* (Re)starts the media clock: the frame at device position `frame` has media time media_tai_ns,
 * or on a grid at the first place there that is not before. Every start but the first toggles mr,
 * against the last PDU that was sent. */
void tt_talker_start(struct tt_talker *talker, int64_t frame, int64_t media_tai_ns);

/* The streams that one thread sends take turns within their interval, sixteen at a time: sent at
 * one moment, the last of many would be late. `place`: its number among them. Costs at most an
 * eighth of mtt. None where the configuration has a launch offset. Before tt_talker_start. */
void tt_talker_take_turn(struct tt_talker *talker, size_t place);

/* The media time of a frame, of any device position: when it is due, but for the turn. */
TT_RT int64_t tt_talker_due(const struct tt_talker *talker, int64_t frame);

/* The earliest time at which the next PDU may leave: its due time, or later where the burst limit
 * holds it back. */
TT_RT int64_t tt_talker_next_launch(const struct tt_talker *talker);

/* Whether it is catching up: the burst limit, not its due time, holds the next PDU back. */
TT_RT bool tt_talker_is_behind(const struct tt_talker *talker);

/* Takes the next PDU. `earliest_tai_ns`: the earliest departure that is still possible (now, or now
 * plus what the kernel needs). */
TT_RT enum tt_talker_verdict tt_talker_next(struct tt_talker *talker, int64_t earliest_tai_ns,
                                            struct tt_talker_pdu *ret_pdu);

/* The bytes of the whole Ethernet frame of any PDU of this talker. */
size_t tt_talker_packet_bytes(const struct tt_talker *talker);

/* Writes Ethernet and AAF headers to ret_packet and returns their length: the payload
 * (frames_per_pdu * frame_bytes) belongs behind them. */
TT_RT size_t tt_talker_build(const struct tt_talker *talker, const struct tt_talker_pdu *pdu,
                             uint8_t *ret_packet);

/* The local TAI clock stepped: what was due at t is due at t + step_ns. Toggles mr. */
TT_RT void tt_talker_clock_step(struct tt_talker *talker, int64_t step_ns);

/* Whether PDUs carry tu. */
TT_RT bool tt_talker_is_uncertain(const struct tt_talker *talker);

/* The local clock is known not to be synchronised: PDUs carry tu. */
TT_RT void tt_talker_set_uncertain(struct tt_talker *talker, bool uncertain);

#endif
