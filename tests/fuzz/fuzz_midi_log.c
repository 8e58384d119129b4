/*
 * Any bytes as a raw MIDI log: surveyed, and each port made into a track, whose events a Standard
 * MIDI File can all hold.
 */
#include "fuzz.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "midi/survey.h"
#include "midi/take.h"

enum {
    REFUSED_FIRST,
    FRAME_FIRST = REFUSED_FIRST + TT_MIDI_LOG_REFUSALS,
    CUT = FRAME_FIRST + TT_MIDI_FRAME_REASONS,
    ENDED,
    LOSS,
    GONE,
    NAME,
    STAMP,
    CLOCK,
    REASONS
};

static struct fuzz_reason reasons[REASONS] = {
    [CUT] = {"cut within a frame", 0}, [ENDED] = {"ended", 0}, [LOSS] = {"a loss", 0},
    [GONE] = {"a port gone", 0},       [NAME] = {"a name", 0}, [STAMP] = {"a kind of stamp", 0},
    [CLOCK] = {"a clock anchor", 0},
};

const struct fuzz_reason *fuzz_reasons(size_t *ret_count)
{
    for (unsigned i = 0; i < TT_MIDI_LOG_REFUSALS; i++)
        reasons[REFUSED_FIRST + i].name = tt_midi_log_refusal_text((enum tt_midi_log_refusal)i);
    for (unsigned i = 0; i < TT_MIDI_FRAME_REASONS; i++)
        reasons[FRAME_FIRST + i].name = tt_midi_frame_reason_text((enum tt_midi_frame_reason)i);
    *ret_count = REASONS;
    return reasons;
}

static void hold(bool invariant)
{
    if (!invariant)
        abort();
}

static void check_survey(const struct tt_midi_survey *survey)
{
    reasons[CUT].reached += survey->cut;
    reasons[ENDED].reached += survey->ended;
    reasons[LOSS].reached += survey->losses > 0;
    for (unsigned i = 0; i < TT_MIDI_LOG_PORTS; i++) {
        const struct tt_midi_port_survey *port = &survey->ports[i];

        hold(memchr(port->name, 0, sizeof(port->name)) != NULL);
        reasons[GONE].reached += port->gone > 0;
        reasons[NAME].reached += port->name[0] != '\0';
        reasons[STAMP].reached += port->stamp_known;
    }
}

struct track {
    struct tt_midi_take take;
    struct tt_smf_track smf;
    uint8_t sysex[64];
};

static void write_events(struct track *track)
{
    struct tt_smf_event event;
    int64_t mono_ns;

    while (tt_midi_take_next(&track->take, &event, &mono_ns)) {
        uint8_t head[TT_SMF_HEAD_BYTES];
        size_t n;
        int status = 1;

        /* a stamp of centuries from now takes as many fillers; a few show what they do */
        for (unsigned i = 0; status == 1 && i < 3; i++)
            status = tt_smf_event_write(&track->smf, &event, head, &n);
        hold(status >= 0);
        if (status == 1)
            track->smf.tick = event.tick;
    }
}

static void make_track(struct tt_midi_log *log, const struct tt_midi_survey *survey, uint8_t port)
{
    static struct track track;
    struct tt_midi_log_clock clock;
    struct tt_midi_frame frame;
    enum tt_midi_frame_reason reason;
    enum tt_midi_log_item item;
    size_t offset;

    memset(&track, 0, sizeof(track));
    tt_midi_take_init(&track.take, port, track.sysex, sizeof(track.sysex));
    tt_midi_take_start(&track.take, log->header.mono_ns < 0 ? 0 : log->header.mono_ns);
    tt_midi_log_rewind(log);
    while ((item = tt_midi_log_next(log, &offset, &frame, &reason)) != TT_MIDI_LOG_DONE) {
        if (item == TT_MIDI_LOG_FRAME)
            reason = tt_midi_survey_judge(survey, log, offset, &frame);
        if (item != TT_MIDI_LOG_CUT)
            reasons[FRAME_FIRST + reason].reached++;
        if (item != TT_MIDI_LOG_FRAME)
            continue;
        reasons[CLOCK].reached += tt_midi_log_clock_of(&frame, &clock) == 0;
        tt_midi_take_frame(&track.take, &frame);
        write_events(&track);
    }
    tt_midi_take_finish(&track.take);
    write_events(&track);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static struct tt_midi_survey survey;
    struct tt_midi_log log;
    enum tt_midi_log_refusal refusal = tt_midi_log_open(&log, data, size);

    reasons[REFUSED_FIRST + refusal].reached++;
    if (refusal != TT_MIDI_LOG_OK)
        return 0;
    tt_midi_survey_log(&log, &survey);
    check_survey(&survey);
    for (unsigned port = 0; port < TT_MIDI_LOG_PORTS; port++) {
        if (port == 0 || survey.ports[port].seen)
            make_track(&log, &survey, (uint8_t)port);
    }
    return 0;
}
