/*
 * See note.h.
 */
#include "report/note.h"

#include <stddef.h>

const char *tt_note_text(enum tt_note note)
{
    switch (note) {
    case TT_NOTE_NO_REALTIME:
        return "no real-time priority (SCHED_FIFO was refused): a busy machine can hold packets "
               "back "
               "by milliseconds; run as root, grant CAP_SYS_NICE or raise RLIMIT_RTPRIO";
    case TT_NOTE_SOFTWARE_PACE:
        return "launch times are kept by software (no qdisc on this interface and priority keeps "
               "them, or pace says so): packets leave when the thread wakes, tens of microseconds "
               "late at best; an etf qdisc on the stream's queue would keep them";
    case TT_NOTE_LAUNCH_PERMISSION:
        return "launch times are kept by software although the qdisc could keep them: SO_TXTIME "
               "needs CAP_NET_ADMIN; run as root or grant it";
    case TT_NOTE_LAUNCH_REFUSED:
        return "the kernel refused most packets while running, or did not keep them (counted): "
               "from "
               "there software keeps their times and they go past the qdiscs, gates and shapers "
               "too; check the "
               "interface's qdiscs: etf's delta may be too short for this machine (500 us is "
               "usual)";
    case TT_NOTE_TAI_UNSET:
        return "the kernel's TAI offset is 0, so TAI and UTC are the same here: peers that know "
               "TAI "
               "are 37 s off; run ptp4l with phc2sys (or chrony with leapsectz) to set it";
    case TT_NOTE_RECEIVE_BUFFER:
        return "the receive buffer is smaller than asked for: a long stall loses packets (counted "
               "as receive_drops); free some memory";
    case TT_NOTE_LINK_DOWN:
        return "the interface was down or without carrier: nothing passes until it is up; check "
               "the "
               "cable and `ip link`";
    case TT_NOTE_BYPASS:
        return "an etf qdisc on this priority's way drops packets without a launch time: they go "
               "past the qdiscs, gates and shapers too";
    case TT_NOTE_ETF_DELTA:
        return "the etf qdisc has delta 0 and drops every packet as late: software keeps launch "
               "times instead; give it a delta, such as 500000 ns";
    case TT_NOTE_CLOCK_STEP:
        return "TAI stepped while the stream ran (counted as clock_steps): its stamps moved along, "
               "and packets on their way may be lost; let ptp4l or chrony settle before, and slew "
               "after";
    case TT_NOTE_LAUNCH_UNKEPT:
        return "packets vanished from the kernel's queue before their launch time (counted as "
               "launch_unkept): its qdisc was replaced or taken away while the stream ran, which "
               "drops what waits in it";
    case TT_NOTE_LINK_GONE:
        return "the interface is gone (deleted, or moved to another network namespace): the stream "
               "ended; open it again once the interface is back";
    case TT_NOTE_UNSYNCHRONISED:
        return "the kernel says that its clock is not synchronised (STA_UNSYNC): packets carried "
               "tu, so listeners need not trust their stamps; where ptp4l and phc2sys, or chrony "
               "without rtcsync, keep it right all the same, give tu never (--tu never)";
    case TT_NOTE_MASTER_LOST:
        return "ALARM: the media clock's master was gone: the stream ran on at the rate that was "
               "found, and its packets carried tu; look after the CRF stream and its talker";
    case TT_NOTE_MASTER_UNCERTAIN:
        return "the media clock's master says that its clock is not synchronised (tu): it is "
               "followed all the same, and packets carry tu, so listeners need not trust their "
               "stamps; where that clock is right all the same, give its talker tu never (--tu "
               "never)";
    case TT_NOTE_LAUNCH_LOST:
        return "the kernel dropped packets because their launch time had passed (counted as "
               "launch_missed, launch_invalid): give etf a longer delta, or the stream a longer "
               "launch_lead";
    }
    return NULL;
}

const char *tt_note_next(unsigned *notes)
{
    while (*notes != 0) {
        unsigned lowest = *notes & -*notes;
        const char *text = tt_note_text((enum tt_note)lowest);

        *notes &= ~lowest;
        if (text) {
            return text;
        }
    }
    return NULL;
}

unsigned tt_note_causes(unsigned notes)
{
    if (notes & (TT_NOTE_LAUNCH_PERMISSION | TT_NOTE_ETF_DELTA)) {
        notes &= ~(unsigned)TT_NOTE_SOFTWARE_PACE;
    }
    if (notes & TT_NOTE_LAUNCH_REFUSED) {
        notes &= ~(unsigned)TT_NOTE_LAUNCH_LOST;
    }
    return notes;
}
