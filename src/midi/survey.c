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

static void count_frame(struct tt_midi_survey *survey, struct tt_midi_port_survey *port,
                        const struct tt_midi_frame *frame)
{
    struct tt_midi_log_loss loss;
    enum tt_midi_stamp stamp;

    switch (frame->type) {
    case TT_MIDI_LOG_BYTES:
        port->bytes += frame->length;
        break;
    case TT_MIDI_LOG_LOSS:
        port->losses++;
        survey->losses++;
        if (tt_midi_log_loss_of(frame, &loss) == 0)
            port->bytes_lost += loss.bytes;
        break;
    case TT_MIDI_LOG_GONE:
        port->gone++;
        break;
    case TT_MIDI_LOG_NAME:
        add_name(port, frame);
        break;
    case TT_MIDI_LOG_STAMP:
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

static void survey_frame(struct tt_midi_survey *survey, const struct tt_midi_frame *frame)
{
    struct tt_midi_port_survey *port = &survey->ports[frame->port];

    survey->frames++;
    survey->ended = frame->type == TT_MIDI_LOG_END;
    if (frame->time_mono_ns > survey->last_mono_ns)
        survey->last_mono_ns = frame->time_mono_ns;
    if (!of_port(frame))
        return;
    survey->port_count += !port->seen;
    port->seen = true;
    count_frame(survey, port, frame);
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
        ret_survey->frames_bad += item == TT_MIDI_LOG_BAD;
        ret_survey->cut = ret_survey->cut || item == TT_MIDI_LOG_CUT;
    }
    tt_midi_log_rewind(log);
}
