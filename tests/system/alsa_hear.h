/*
 * What arrives of what a test program plays: a thread that records in the same process, and a
 * comparison, frame by frame, with what was played.
 */
#ifndef TT_TESTS_ALSA_HEAR_H
#define TT_TESTS_ALSA_HEAR_H

#include "alsa_client.h"

#include <pthread.h>
#include <stdatomic.h>

struct hearing {
    struct client client;
    pthread_t thread;
    int64_t *numbers; /* of the frames that carry one, in order */
    size_t heard;
    int64_t first_frame; /* of the recording: where the first was heard, and … */
    int64_t last_frame;
    _Atomic int64_t last; /* the number after which nothing comes; -1: not known yet */
    atomic_bool hold;     /* asked to stay out of ALSA, and … */
    atomic_bool held;     /* … it does */
    atomic_bool ending;   /* nothing more is played: what is on its way comes, and then the end */
};

/* Frames first ... first + frames - 1 were played. */
struct segment {
    int64_t first;
    int64_t frames;
    bool cut; /* only its begin is to be heard, however much of it */
};

/* Records from client->record in the format of `client`. Returns when the device runs. */
void hear_start(struct hearing *hearing, const struct client *client);
/* In between the thread is in no call of ALSA's, whose locks a child would inherit. */
void hear_hold(struct hearing *hearing);
void hear_go_on(struct hearing *hearing);
/* Ends the recording, once frame `last` was heard or what was on its way has come. */
void hear_end(struct hearing *hearing, int64_t last);
/* Prints what is missing of the segments, whose numbers rise, what is there that was not played,
 * and how many frames of silence were between the first and the last, as one line of JSON. */
void hear_judge(const struct hearing *hearing, const struct segment *segments, size_t n);
void hear_done(struct hearing *hearing);

#endif
