/*
 * What fell back and what was found: bits, each with one plain line that names the cost
 * (report/note).
 */
#ifndef TT_RUN_NOTE_H
#define TT_RUN_NOTE_H

enum tt_note {
    TT_NOTE_NO_REALTIME = 1 << 0,       /* SCHED_FIFO refused */
    TT_NOTE_SOFTWARE_PACE = 1 << 1,     /* no qdisc keeps launch times for this priority */
    TT_NOTE_LAUNCH_PERMISSION = 1 << 2, /* one does, but SO_TXTIME needs CAP_NET_ADMIN */
    TT_NOTE_LAUNCH_REFUSED =
        1 << 3, /* the kernel refused most packets while running: past the qdiscs from there */
    TT_NOTE_TAI_UNSET = 1 << 4,      /* the kernel's TAI offset is 0 */
    TT_NOTE_RECEIVE_BUFFER = 1 << 5, /* smaller than asked for */
    TT_NOTE_LINK_DOWN = 1 << 6,
    TT_NOTE_BYPASS = 1 << 7, /* software pacing where an etf would drop packets: past the qdiscs */
    TT_NOTE_ETF_DELTA = 1 << 8,         /* an etf with delta 0 drops every packet as late */
    TT_NOTE_LAUNCH_LOST = 1 << 9,       /* the kernel refused single packets: counted */
    TT_NOTE_CLOCK_STEP = 1 << 10,       /* TAI stepped */
    TT_NOTE_LINK_GONE = 1 << 11,        /* the interface was deleted, or moved elsewhere */
    TT_NOTE_LAUNCH_UNKEPT = 1 << 12,    /* the qdisc did not keep packets until their launch time */
    TT_NOTE_UNSYNCHRONISED = 1 << 13,   /* the kernel says so of its clock: PDUs carried tu */
    TT_NOTE_MASTER_LOST = 1 << 14,      /* of the media clock: the stream ran on alone, with tu */
    TT_NOTE_MASTER_UNCERTAIN = 1 << 15, /* … said so of its own clock: followed, with tu */
};

#endif
