/*
 * Who stamps what a live capture receives: the interface, by its PTP clock, or else the kernel; and
 * why. The interface's stamps are converted to UTC (and so to TAI) by that clock as it is read.
 */
#ifndef TT_CLI_RECEIVE_STAMPS_H
#define TT_CLI_RECEIVE_STAMPS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "audio/stamp_clock.h"

#define TT_STAMPS_TEXT 160

/* What an interface can do. */
struct tt_receive_abilities {
    bool known; /* the driver says what it stamps */
    bool received;
    bool all;               /* not only the packets of PTP */
    int phc_index;          /* -1: there is no clock to read */
    int error;              /* of reading it: 0 or -errno; … */
    int64_t uncertainty_ns; /* … and how well it can be */
};

struct tt_receive_stamps {
    bool hardware;
    char text[TT_STAMPS_TEXT]; /* who stamps, in what scale; and why the interface does not */
    int phc_index;
    struct tt_stamp_clock clock;
    int64_t next_mono_ns; /* when its clock is read again */
};

/* Whether the interface shall stamp, and the text for either. */
bool tt_receive_stamps_choose(const struct tt_receive_abilities *can,
                              char ret_text[TT_STAMPS_TEXT]);

/* Asks the kernel, and chooses. `all` is libpcap's word. */
void tt_receive_stamps_init(struct tt_receive_stamps *stamps, const char *ifname, bool all);
/* The kernel stamps after all: turning the interface's stamps on failed. */
void tt_receive_stamps_refuse(struct tt_receive_stamps *stamps, const char *reason);
/* Reads the interface's clock where that is due. */
void tt_receive_stamps_follow(struct tt_receive_stamps *stamps);
/* A packet's stamp, in UTC. */
int64_t tt_receive_stamps_utc(struct tt_receive_stamps *stamps, int64_t stamp_ns);

#endif
