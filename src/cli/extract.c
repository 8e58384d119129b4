/*
 * See extract.h. The device presents long after the stamps say, so that no PDU of a capture is too
 * late for its place, however bursty the talker was.
 */
#include "cli/extract.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/ns.h"

#define PLAYOUT_NS     (2 * TT_NS_PER_S)
#define TOLERANCE_NS   (2 * TT_NS_PER_MS)
#define STEP_NS        (TT_NS_PER_S / 10)
#define BUFFER_NS      (TT_NS_PER_S / 4) /* more than a step, with any drift */
#define HORIZON_NS     (5 * TT_NS_PER_S) /* playout, and a presentation up to 2 s after arrival */
#define HOLES          65536
#define SILENCE_FRAMES 4096

int tt_extract_init(struct tt_extract *extract, const struct tt_aaf *shape,
                    struct tt_audio_file *file)
{
    struct tt_stream_config config = {
        .stream_id = shape->stream_id,
        .format = shape->format,
        .rate_hz = shape->rate_hz,
        .channels = shape->channels,
        .ptime_tolerance_ns = TOLERANCE_NS,
        .playout_latency_ns = PLAYOUT_NS,
    };
    int64_t buffer_frames = tt_ns_to_frames(BUFFER_NS, shape->rate_hz);
    int64_t ring_frames = buffer_frames + tt_ns_to_frames(HORIZON_NS, shape->rate_hz);
    size_t frame_bytes = (size_t)tt_aaf_sample_bytes(shape->format) * shape->channels;

    memset(extract, 0, sizeof(*extract));
    extract->file = file;
    extract->log = (struct tt_event_log){.events = extract->events, .capacity = TT_EXTRACT_EVENTS};
    extract->listener = malloc(sizeof(*extract->listener));
    extract->ring = calloc((size_t)ring_frames, frame_bytes);
    extract->holes = calloc(HOLES, sizeof(*extract->holes));
    extract->silence = calloc(SILENCE_FRAMES, frame_bytes);
    if (!extract->listener || !extract->ring || !extract->holes || !extract->silence) {
        tt_extract_done(extract);
        return -ENOMEM;
    }
    return tt_listener_init(extract->listener, &config,
                            &(struct tt_timeline_memory){.ring = extract->ring,
                                                         .ring_frames = ring_frames,
                                                         .holes = extract->holes,
                                                         .hole_capacity = HOLES},
                            buffer_frames, &extract->log);
}

void tt_extract_done(struct tt_extract *extract)
{
    free(extract->listener);
    free(extract->ring);
    free(extract->holes);
    free(extract->silence);
    extract->listener = NULL;
    extract->ring = NULL;
    extract->holes = NULL;
    extract->silence = NULL;
}

/* The next frames to write, at most up to `end`. */
static const uint8_t *next_frames(const struct tt_extract *extract, int64_t end,
                                  int64_t *ret_frames)
{
    int64_t silent = (extract->silent < end ? extract->silent : end) - extract->written;

    if (silent > 0) {
        *ret_frames = silent < SILENCE_FRAMES ? silent : SILENCE_FRAMES;
        return extract->silence;
    }
    return tt_timeline_frames(&extract->listener->timeline, extract->written, end, ret_frames);
}

/* Writes what the device has presented, up to the last frame placed. Silence behind it waits: it
 * may be the end, and the ring does not keep it. */
static void drain(struct tt_extract *extract, int64_t device)
{
    int64_t end = device < extract->end ? device : extract->end;

    while (!extract->error && extract->written < end) {
        int64_t frames;
        const uint8_t *wire = next_frames(extract, end, &frames);

        extract->error = tt_audio_file_write(extract->file, wire, (size_t)frames);
        extract->written += frames;
    }
    if (extract->error) {
        extract->state = TT_EXTRACT_FAILED;
    }
    if (extract->written == extract->end && device > extract->end) {
        extract->silent = device;
    }
}

/* The device runs to `until_ns`, in steps that its buffer holds. */
static void run_until(struct tt_extract *extract, int64_t until_ns)
{
    while (extract->state == TT_EXTRACT_RUNNING && extract->now_ns < until_ns) {
        int64_t step_ns = until_ns - extract->now_ns;
        int64_t device;

        extract->now_ns += step_ns < STEP_NS ? step_ns : STEP_NS;
        device = tt_listener_advance(extract->listener, extract->now_ns);
        if (extract->any) {
            drain(extract, device);
        }
    }
}

/* The scale in which the first stamp lies nearer to its arrival: modulo 2^32 ns the two are 2.6 s
 * apart, so no stamp is further from one of them than 1.7 s. */
static void start(struct tt_extract *extract, uint32_t stamp, int64_t arrival_utc_ns)
{
    int64_t arrival_tai_ns = arrival_utc_ns + TT_EXTRACT_TAI_NS;
    int64_t ahead_tai_ns = tt_widen32(stamp, arrival_tai_ns) - arrival_tai_ns;
    int64_t ahead_utc_ns = tt_widen32(stamp, arrival_utc_ns) - arrival_utc_ns;

    extract->utc = llabs(ahead_utc_ns) < llabs(ahead_tai_ns);
    extract->scale_ns = extract->utc ? 0 : TT_EXTRACT_TAI_NS;
    extract->now_ns = arrival_utc_ns + extract->scale_ns;
    extract->state = TT_EXTRACT_RUNNING;
    tt_listener_start(extract->listener, 0, extract->now_ns);
}

static void receive(struct tt_extract *extract, const struct tt_eth *eth, const uint8_t *pdu,
                    size_t bytes)
{
    struct tt_listener *listener = extract->listener;
    uint64_t placed = listener->counters.pdus_placed;

    tt_listener_receive(listener, pdu, bytes, eth->src, extract->now_ns);
    if (listener->counters.pdus_placed == placed) {
        return;
    }
    if (!extract->any) {
        extract->any = true;
        extract->first = listener->sequence_end - listener->pdu_frames;
        extract->written = extract->first;
    }
    if (listener->sequence_end > extract->end) {
        extract->end = listener->sequence_end;
    }
}

/* A readable PDU of the stream moves the time. */
static void prepare(struct tt_extract *extract, const struct tt_aaf *aaf, int64_t arrival_utc_ns)
{
    int64_t arrival_ns;

    if (extract->state == TT_EXTRACT_WAITING && aaf->tv) {
        start(extract, aaf->timestamp, arrival_utc_ns);
    }
    arrival_ns = arrival_utc_ns + extract->scale_ns;
    if (extract->state == TT_EXTRACT_RUNNING &&
        arrival_ns - extract->now_ns > TT_EXTRACT_PAUSE_NS) {
        extract->state = TT_EXTRACT_PAUSE;
    }
    run_until(extract, arrival_ns);
}

void tt_extract_packet(struct tt_extract *extract, const struct tt_eth *eth,
                       const struct tt_packet *packet)
{
    const uint8_t *pdu = packet->frame + eth->header_bytes;
    size_t bytes = packet->bytes - eth->header_bytes;
    size_t wire_bytes = packet->wire_bytes - eth->header_bytes;
    struct tt_aaf aaf;

    if (eth->ethertype != TT_ETHERTYPE_AVTP) {
        return;
    }
    if (bytes >= TT_AAF_HEADER_BYTES && tt_aaf_parse(pdu, wire_bytes, &aaf) == TT_AAF_OK &&
        aaf.stream_id == extract->listener->config.stream_id) {
        extract->cut_pdus += TT_AAF_HEADER_BYTES + aaf.payload_bytes > bytes;
        prepare(extract, &aaf, packet->arrival_utc_ns);
    }
    if (extract->state == TT_EXTRACT_RUNNING) {
        receive(extract, eth, pdu, bytes);
    }
}

void tt_extract_finish(struct tt_extract *extract)
{
    int64_t last_ns = extract->now_ns + HORIZON_NS + TT_NS_PER_S;

    if (extract->any && extract->state == TT_EXTRACT_PAUSE) {
        extract->state = TT_EXTRACT_RUNNING;
        run_until(extract, last_ns);
        extract->state = TT_EXTRACT_PAUSE;
        return;
    }
    run_until(extract, last_ns);
}

bool tt_extract_missing(const struct tt_extract *extract, size_t i, struct tt_event *ret_event)
{
    struct tt_event event = extract->events[i];
    int64_t end = event.frame + event.frames;

    if (event.kind != TT_EVENT_LOST && event.kind != TT_EVENT_LATE &&
        event.kind != TT_EVENT_ABSENT) {
        return false;
    }
    event.frame = event.frame > extract->first ? event.frame : extract->first;
    end = end < extract->end ? end : extract->end;
    if (event.frame >= end) {
        return false;
    }
    event.frames = end - event.frame;
    event.frame -= extract->first;
    *ret_event = event;
    return true;
}
