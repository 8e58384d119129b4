/*
 * See survey.h.
 */
#include "midi/survey.h"

#include <string.h>

#include "base/min_max.h"
#include "base/ns.h"

#define NEAR_NS    TT_NS_PER_MS         /* a port's bytes follow each other, but for so much */
#define FAR_NS     (3600 * TT_NS_PER_S) /* other frames, of a reader that was held up */
#define BEHIND_NS  TT_NS_PER_S          /* a sender can be held up with its event stamped */
#define LONGEST_NS (30 * 24 * FAR_NS)   /* of silence: a recorder writes anchors meanwhile */
#define WITNESSES  3
#define LOOK       64 /* frames, for them */

static void add_name(struct tt_midi_port_survey *port, const struct tt_midi_frame *frame)
{
    size_t at = strlen(port->name);

    for (unsigned i = 0; i < frame->length && frame->data[i] != 0; i++) {
        if (at + 1 < sizeof(port->name))
            port->name[at++] = (char)frame->data[i];
    }
    port->name[at] = '\0';
}

static void count_frame(struct tt_midi_port_survey *port, const struct tt_midi_frame *frame)
{
    struct tt_midi_log_loss loss;
    enum tt_midi_stamp stamp;

    switch (frame->type) {
    case TT_MIDI_LOG_BYTES:
        port->bytes += frame->length;
        break;
    case TT_MIDI_LOG_LOSS:
        port->losses++;
        if (tt_midi_log_loss_of(frame, &loss) == 0)
            port->bytes_lost += loss.bytes;
        break;
    case TT_MIDI_LOG_GONE:
        port->gone++;
        break;
    case TT_MIDI_LOG_NAME:
        port->named = true;
        add_name(port, frame);
        break;
    case TT_MIDI_LOG_STAMP:
        port->named = true;
        if (tt_midi_log_stamp_of(frame, &stamp) == 0 &&
            (!port->stamp_known || stamp > port->stamp)) {
            port->stamp_known = true;
            port->stamp = stamp;
        }
        break;
    default:
        break;
    }
}

static bool of_port(const struct tt_midi_frame *frame)
{
    return frame->type != TT_MIDI_LOG_CLOCK && frame->type != TT_MIDI_LOG_END;
}

/* Of a known type, with what that holds. */
static bool is_whole(const struct tt_midi_frame *frame)
{
    struct tt_midi_log_clock clock;
    struct tt_midi_log_loss loss;
    enum tt_midi_stamp stamp;

    switch (frame->type) {
    case TT_MIDI_LOG_BYTES:
        return true;
    case TT_MIDI_LOG_CLOCK:
        return tt_midi_log_clock_of(frame, &clock) == 0;
    case TT_MIDI_LOG_LOSS:
        return tt_midi_log_loss_of(frame, &loss) == 0;
    case TT_MIDI_LOG_NAME:
        return frame->length > 0;
    case TT_MIDI_LOG_STAMP:
        return tt_midi_log_stamp_of(frame, &stamp) == 0;
    case TT_MIDI_LOG_GONE:
    case TT_MIDI_LOG_BACK:
    case TT_MIDI_LOG_END:
        return frame->length == 0;
    default:
        return false;
    }
}

/* Its time is of use. */
static bool is_timed(const struct tt_midi_frame *frame)
{
    return frame->type != TT_MIDI_LOG_NAME && frame->type != TT_MIDI_LOG_STAMP;
}

/* The frames on one side of a stamp: [1] with bytes of the same port, [0] others. */
struct witnesses {
    unsigned count[2];
    unsigned against[2];
    int64_t nearest_mono_ns[2];
};

static bool read_witness(const struct tt_midi_log *log, size_t at, struct tt_midi_frame *ret_frame)
{
    return tt_midi_frame_read(log->data + at, ret_frame) == TT_MIDI_FRAME_OK &&
           is_whole(ret_frame) && is_timed(ret_frame);
}

static bool is_own(const struct tt_midi_frame *frame, const struct tt_midi_frame *other)
{
    return frame->type == TT_MIDI_LOG_BYTES && other->type == TT_MIDI_LOG_BYTES &&
           other->port == frame->port;
}

static void hear(struct witnesses *heard, bool own, int64_t time_mono_ns, bool against)
{
    if (heard->count[own]++ == 0)
        heard->nearest_mono_ns[own] = time_mono_ns;
    heard->against[own] += against;
}

static struct witnesses hear_before(const struct tt_midi_log *log, size_t offset,
                                    const struct tt_midi_frame *frame)
{
    struct witnesses heard = {0};
    struct tt_midi_log first = *log;
    struct tt_midi_frame other;

    tt_midi_log_rewind(&first);
    for (unsigned i = 0; i < LOOK && heard.count[1] < WITNESSES && offset > first.at; i++) {
        offset -= TT_MIDI_FRAME_BYTES;
        if (read_witness(log, offset, &other)) {
            bool own = is_own(frame, &other);
            int64_t ahead_ns = other.time_mono_ns - frame->time_mono_ns;

            hear(&heard, own, other.time_mono_ns, ahead_ns > (own ? BEHIND_NS : FAR_NS));
        }
    }
    return heard;
}

/* But for those that those before contradict. */
static struct witnesses hear_behind(const struct tt_midi_log *log, size_t offset,
                                    const struct tt_midi_frame *frame,
                                    const struct witnesses *before)
{
    struct witnesses heard = {0};
    struct tt_midi_frame other;

    for (unsigned i = 0; i < LOOK && heard.count[1] < WITNESSES; i++) {
        offset += TT_MIDI_FRAME_BYTES;
        if (log->bytes < offset + TT_MIDI_FRAME_BYTES)
            break;
        if (read_witness(log, offset, &other)) {
            bool own = is_own(frame, &other);
            int64_t off_ns = before->nearest_mono_ns[own] - other.time_mono_ns;
            int64_t behind_ns = frame->time_mono_ns - other.time_mono_ns;

            if (off_ns <= (own ? BEHIND_NS : FAR_NS))
                hear(&heard, own, other.time_mono_ns, behind_ns > (own ? NEAR_NS : FAR_NS));
        }
    }
    return heard;
}

static bool contradict(const struct witnesses *heard, unsigned least)
{
    bool own = heard->count[1] > 0;

    return heard->count[own] >= least && 2 * heard->against[own] > heard->count[own];
}

static bool is_stamp_off(const struct tt_midi_log *log, size_t offset,
                         const struct tt_midi_frame *frame)
{
    struct witnesses before;
    struct witnesses behind;

    if (!is_timed(frame))
        return false;
    before = hear_before(log, offset, frame);
    behind = hear_behind(log, offset, frame, &before);
    if (behind.count[0] + behind.count[1] == 0 && before.count[0] + before.count[1] > 0 &&
        frame->time_mono_ns - tt_max64(before.nearest_mono_ns[0], before.nearest_mono_ns[1]) >
            LONGEST_NS)
        return true;
    /* One before may be the one that is off. */
    return contradict(&behind, 1) || contradict(&before, 2);
}

enum tt_midi_frame_reason tt_midi_survey_judge(const struct tt_midi_survey *survey,
                                               const struct tt_midi_log *log, size_t offset,
                                               const struct tt_midi_frame *frame)
{
    if (!is_whole(frame))
        return TT_MIDI_FRAME_TYPE;
    if (is_stamp_off(log, offset, frame))
        return TT_MIDI_FRAME_STAMP;
    return of_port(frame) && !survey->ports[frame->port].seen ? TT_MIDI_FRAME_PORT
                                                              : TT_MIDI_FRAME_OK;
}

static void survey_frame(struct tt_midi_survey *survey, const struct tt_midi_log *log,
                         size_t offset, const struct tt_midi_frame *frame)
{
    struct tt_midi_port_survey *port = &survey->ports[frame->port];

    survey->frames++;
    survey->ended = false;
    if (!is_whole(frame)) {
        survey->bad[TT_MIDI_FRAME_TYPE]++;
        return;
    }
    survey->ended = frame->type == TT_MIDI_LOG_END;
    if (is_stamp_off(log, offset, frame)) {
        survey->bad[TT_MIDI_FRAME_STAMP]++;
        return;
    }
    if (is_timed(frame) && frame->time_mono_ns > survey->last_mono_ns)
        survey->last_mono_ns = frame->time_mono_ns;
    if (of_port(frame)) {
        port->frames++;
        count_frame(port, frame);
    }
}

static void find_ports(struct tt_midi_survey *survey)
{
    bool any_named = false;

    for (unsigned i = 0; i < TT_MIDI_LOG_PORTS; i++) {
        const struct tt_midi_port_survey *port = &survey->ports[i];

        any_named = any_named || (port->named && port->frames > 1);
    }
    for (unsigned i = 0; i < TT_MIDI_LOG_PORTS; i++) {
        struct tt_midi_port_survey *port = &survey->ports[i];

        port->seen = any_named ? port->named && port->frames > 1 : port->frames > 0;
        survey->port_count += port->seen;
        survey->losses += port->seen ? port->losses : 0;
        survey->bad[TT_MIDI_FRAME_PORT] += port->seen ? 0 : port->frames;
    }
    for (unsigned i = 0; i < TT_MIDI_FRAME_REASONS; i++)
        survey->frames_bad += survey->bad[i];
}

void tt_midi_survey_log(struct tt_midi_log *log, struct tt_midi_survey *ret_survey)
{
    enum tt_midi_frame_reason reason;
    enum tt_midi_log_item item;
    struct tt_midi_frame frame;
    size_t offset;

    memset(ret_survey, 0, sizeof(*ret_survey));
    tt_midi_log_rewind(log);
    while ((item = tt_midi_log_next(log, &offset, &frame, &reason)) != TT_MIDI_LOG_DONE) {
        if (item == TT_MIDI_LOG_FRAME)
            survey_frame(ret_survey, log, offset, &frame);
        else if (item == TT_MIDI_LOG_BAD)
            ret_survey->bad[reason]++;
        else
            ret_survey->cut = true;
    }
    find_ports(ret_survey);
    tt_midi_log_rewind(log);
}
