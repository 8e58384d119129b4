/*
 * The faults of a Standard MIDI File in words. See smf.h.
 */
#include "midi/smf.h"

struct fault {
    const char *text;
    bool loses;
};

static const struct fault faults[TT_SMF_FAULTS] = {
    [TT_SMF_FINE] = {"good", false},
    [TT_SMF_NO_HEADER] = {"it does not begin with MThd", true},
    [TT_SMF_HEADER_CUT] = {"it ends within its header", true},
    [TT_SMF_HEADER_SHORT] = {"its header is shorter than 6 bytes", true},
    [TT_SMF_NO_TRACK] = {"there is no track", true},
    [TT_SMF_FORMAT] = {"a format that is not known; read as format 1", false},
    [TT_SMF_FORMAT_0] = {"format 0 with more than one track; read as format 1", false},
    [TT_SMF_DIVISION] = {"a division of 0; the times cannot be told", true},
    [TT_SMF_DIVISION_SMPTE] = {"frames a second that SMPTE does not have; taken as they are",
                               false},
    [TT_SMF_CHUNK_UNKNOWN] = {"a chunk that is no track; skipped", false},
    [TT_SMF_CHUNK_HEAD] = {"bytes at the end that are too few for a chunk; skipped", false},
    [TT_SMF_CHUNK_LONG] = {"a chunk longer than the file", false},
    [TT_SMF_TRACK_CUT] = {"the file ends within a track", true},
    [TT_SMF_TRACKS_FEWER] = {"fewer tracks than the header announces", false},
    [TT_SMF_TRACKS_MORE] = {"more tracks than the header announces; read all the same", false},
    [TT_SMF_NO_END] = {"a track without its end-of-track event", false},
    [TT_SMF_AFTER_END] = {"bytes behind the end of the track; skipped", true},
    [TT_SMF_LONG_NUMBER] = {"a number of more than four bytes; the rest of the track is skipped",
                            true},
    [TT_SMF_EVENT_CUT] = {"an event that is longer than its track", true},
    [TT_SMF_NO_STATUS] = {"data without a status before it; the rest of the track is skipped",
                          true},
    [TT_SMF_RUNNING_ACROSS] =
        {"running status across a meta event or system exclusive; taken as it "
         "is meant",
         false},
    [TT_SMF_DATA_BYTE] = {"a message with a data byte over 7F, or that another cuts off; left out",
                          true},
    [TT_SMF_BARE_SYSTEM] = {"a system message that is not in an F7 event; taken as it is meant",
                            false},
    [TT_SMF_SYSEX_UNFINISHED] = {"system exclusive without its end (F7)", false},
    [TT_SMF_META_LENGTH] = {"a meta event whose length is not that of its kind; kept", false},
    [TT_SMF_TEMPO_LENGTH] = {"a tempo of fewer than three bytes; not heeded", true},
    [TT_SMF_TEMPO_ZERO] = {"a tempo of 0; not heeded", true},
};

const char *tt_smf_fault_text(enum tt_smf_fault fault)
{
    return faults[fault].text;
}

bool tt_smf_fault_loses(enum tt_smf_fault fault)
{
    return faults[fault].loses;
}
