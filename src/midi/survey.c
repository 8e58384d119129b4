/*
 * See survey.h.
 */
#include "midi/survey.h"

#include <string.h>

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

enum tt_midi_frame_reason tt_midi_survey_judge(const struct tt_midi_survey *survey,
                                               const struct tt_midi_frame *frame)
{
    if (!is_whole(frame))
        return TT_MIDI_FRAME_TYPE;
    return of_port(frame) && !survey->ports[frame->port].seen ? TT_MIDI_FRAME_PORT
                                                              : TT_MIDI_FRAME_OK;
}

static void survey_frame(struct tt_midi_survey *survey, const struct tt_midi_frame *frame)
{
    struct tt_midi_port_survey *port = &survey->ports[frame->port];

    survey->frames++;
    survey->ended = false;
    if (!is_whole(frame)) {
        survey->bad[TT_MIDI_FRAME_TYPE]++;
        return;
    }
    survey->ended = frame->type == TT_MIDI_LOG_END;
    if (frame->time_mono_ns > survey->last_mono_ns)
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
            survey_frame(ret_survey, &frame);
        else if (item == TT_MIDI_LOG_BAD)
            ret_survey->bad[reason]++;
        else
            ret_survey->cut = true;
    }
    find_ports(ret_survey);
    tt_midi_log_rewind(log);
}
