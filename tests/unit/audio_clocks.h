/*
 * Two audio clocks that drift, as a program sees them: a network's, by stamps, and a sound card's,
 * by a pointer that is read at irregular times. Seeded, in virtual time.
 */
#ifndef TT_TESTS_UNIT_AUDIO_CLOCKS_H
#define TT_TESTS_UNIT_AUDIO_CLOCKS_H

#include <stdint.h>

#include "audio/servo.h"

#define AUDIO_CLOCKS_EPOCH_NS INT64_C(1800000000000000000)

/* How a card's pointer moves and is stamped. */
enum pointer_kind {
    POINTER_PERIODS, /* at each interrupt of 256 frames, stamped when that was served */
    POINTER_DMA,     /* in steps of 16 frames, stamped when it was read */
    POINTER_USB,     /* in steps of a ms, of 47, 48 or 49 frames, stamped when it was read */
    POINTER_KINDS
};

/* `frame` was at `since_ns`, both since the epoch. */
struct audio_clock {
    uint32_t rate_hz;
    int64_t ppb;        /* how fast it runs */
    int64_t wander_ppb; /* and by how much more and less, over `wander_s` */
    double wander_s;
    double since_ns;
    double frame;
};

/* Frames, and parts of one, since the epoch; and the time of a frame, in ns since the epoch. */
double audio_clock_frames(const struct audio_clock *clock, double ns);
double audio_clock_ns(const struct audio_clock *clock, double frame);

/* From `ns` on it runs at another rate. */
void audio_clock_change(struct audio_clock *clock, int64_t ns, int64_t ppb);

/* How far behind the truth a pointer of this kind is in the mean, which no program can know. */
double audio_clock_pointer_lag_ns(enum pointer_kind kind);

/* What a program sees of it at `ns` since the epoch. */
struct tt_servo_sight audio_clock_pointer(const struct audio_clock *clock, enum pointer_kind kind,
                                          int64_t ns, uint64_t *random);
/* The stamp of the last PDU of 6 frames, off by up to jitter_ns either way. */
struct tt_servo_sight audio_clock_stamp(const struct audio_clock *clock, int64_t ns,
                                        int64_t jitter_ns, uint64_t *random);

/* How long until a program that sleeps 5 ms is awake: up to 0.1 ms late, at times 20 ms. */
int64_t audio_clock_sleep(uint64_t *random);

#endif
