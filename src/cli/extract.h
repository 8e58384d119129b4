/*
 * One AAF stream's frames, recovered from the packets of a capture by the same listener that a
 * device uses.
 *
 * The output begins with the first frame that was placed and ends with the last; what is missing
 * between them is silence of its exact length and is in `log`.
 */
#ifndef TT_CLI_EXTRACT_H
#define TT_CLI_EXTRACT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "audio/aaf.h"
#include "audio/eth.h"
#include "audio/event.h"
#include "audio/listener.h"
#include "cli/audio_file.h"
#include "cli/capture.h"

#define TT_EXTRACT_EVENTS 4096
#define TT_EXTRACT_TAI_NS INT64_C(37000000000) /* TAI - UTC, as is assumed of every capture */

enum tt_extract_state {
    TT_EXTRACT_WAITING, /* for the first stamped PDU */
    TT_EXTRACT_RUNNING,
    TT_EXTRACT_PAUSE,  /* a silence longer than TT_EXTRACT_PAUSE_NS */
    TT_EXTRACT_FAILED, /* the output could not be written: `error` */
};
#define TT_EXTRACT_PAUSE_NS INT64_C(3600000000000)

struct tt_extract {
    enum tt_extract_state state;
    int error;
    struct tt_listener *listener;
    uint8_t *ring;
    struct tt_hole *holes;
    uint8_t *silence; /* a block of it */
    struct tt_event events[TT_EXTRACT_EVENTS];
    struct tt_event_log log;
    struct tt_audio_file *file; /* the caller's */
    bool utc;                   /* the stream's stamps are in UTC */
    int64_t scale_ns;           /* added to arrival times: of the scale that the stamps are in */
    int64_t now_ns;
    bool any;          /* a PDU was placed: */
    int64_t first;     /* device positions of the first frame … */
    int64_t end;       /* … and behind the last */
    int64_t written;   /* up to here in the file */
    int64_t silent;    /* from `written` to here the device presented nothing */
    uint64_t cut_pdus; /* captured without their whole payload */
};

/* `shape`: stream ID, format, rate and channels. `file` stays the caller's. 0 or -ENOMEM. */
int tt_extract_init(struct tt_extract *extract, const struct tt_aaf *shape,
                    struct tt_audio_file *file);
void tt_extract_done(struct tt_extract *extract);

/* Any packet of the capture; `eth` is its header. */
void tt_extract_packet(struct tt_extract *extract, const struct tt_eth *eth,
                       const struct tt_packet *packet);
/* No more packets: the rest is written. */
void tt_extract_finish(struct tt_extract *extract);

/* The i-th missing run, clipped to the output and counted from its first frame. False for other
 * events. */
bool tt_extract_missing(const struct tt_extract *extract, size_t i, struct tt_event *ret_event);

#endif
