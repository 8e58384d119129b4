/*
 * What a shaper is between: the TAP device that it makes, and the interface, which it sends on and
 * listens to. Both may be renamed while it is at work.
 */
#ifndef TT_RUN_SHAPE_ENDS_H
#define TT_RUN_SHAPE_ENDS_H

#include "run/shape.h"

struct tt_shape_ends {
    int claim_fd; /* -1: not open; as long as it is, nobody else shapes to the interface */
    struct tt_link *link;
    int tap_fd;
    int uplink_fd;
    unsigned tap_index; /* 0: not open */
    unsigned to_index;
};

/* 0, or -errno and where; tt_shape_ends_close then closes what there is. */
int tt_shape_ends_open(const struct tt_shape_setup *setup, struct tt_shape_ends *ends,
                       struct tt_shape_fault *ret_fault);
void tt_shape_ends_close(struct tt_shape_ends *ends);
/* See tt_shape_follow_link. */
void tt_shape_ends_follow(struct tt_shape_ends *ends, struct tt_shape_link *ret_link);
/* Packets that the TAP had no room for. */
uint64_t tt_shape_ends_tap_dropped(const struct tt_shape_ends *ends);

#endif
