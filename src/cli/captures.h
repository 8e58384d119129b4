/*
 * Capture files as one capture: their packets in order of time, whether the files follow each other
 * (those of a ring) or overlap (two interfaces).
 *
 * A file's own packets keep their order. Several files are open only from their first packet to
 * their last, so that neither memory nor descriptors grow with a ring. One that is damaged is
 * named, and the others are read on.
 */
#ifndef TT_CLI_CAPTURES_H
#define TT_CLI_CAPTURES_H

#include "cli/capture.h"

struct tt_captures_file {
    const char *path;
    bool waiting; /* its time has not come */
    struct tt_capture capture;
    struct tt_packet head; /* its next packet, while capture is open */
    int64_t first_utc_ns;  /* while it waits */
    uint64_t packets;      /* so many came of it */
    char *error;           /* why it cannot be read whole; NULL */
};

struct tt_captures {
    const char *command;
    struct tt_captures_file *files; /* by first_utc_ns */
    size_t count;
    size_t done;                      /* so many of them need no more looking at */
    struct tt_captures_file *current; /* whose packet was handed out; NULL: none was */
    bool refused;                     /* a file could not be read at all, which was said */
};

/* `paths` stay the caller's. What cannot be read is said on stderr, as `command`; TT_EXIT_GOOD
 * where one can. */
enum tt_exit tt_captures_open(const char *command, const char *const *paths, size_t count,
                              struct tt_captures *ret_captures);
void tt_captures_close(struct tt_captures *captures);

/* 1: a packet, valid until the next is taken, untimed ones among them; 0: the end of all. */
int tt_captures_next(struct tt_captures *captures, struct tt_packet *ret_packet);

/* The first file that cannot be read whole; NULL: all can. */
const struct tt_captures_file *tt_captures_broken(const struct tt_captures *captures);
/* All of them, on stderr. */
void tt_captures_say_broken(const struct tt_captures *captures);

#endif
