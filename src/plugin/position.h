/*
 * Where the program and the device are, and frames between them.
 *
 * Device positions are 64-bit and never wrap; ALSA's wrap at the boundary and start from 0 at every
 * prepare. `hw_frame` is the device position of io->hw_ptr; the program's position follows from
 * io->appl_ptr by its distance, so rewinding and forwarding need no callback. All of these are
 * called with the device's lock held, and where it has an engine.
 */
#ifndef TT_PLUGIN_POSITION_H
#define TT_PLUGIN_POSITION_H

#include "plugin/tactus.h"

/* Rewinding, forwarding and committing tell nobody; the engine learns of them here. What a program
 * forwards over becomes silence: the buffer holds old frames there. */
void tt_position_follow(struct tactus *tactus);

/* ALSA's positions were set to 0, and the engine stands where the program is. */
void tt_position_prepare(struct tactus *tactus);

/* Where the device is now, as ALSA's pointer. */
snd_pcm_uframes_t tt_position_advance(struct tactus *tactus);

/* Frames that the program may write or read now. */
int64_t tt_position_available(const struct tactus *tactus);

/* Frames from or into the program's memory. 0, or -EINVAL where the program has rewound beyond the
 * stream's begin. */
int tt_position_transfer(struct tactus *tactus, const snd_pcm_channel_area_t *areas,
                         snd_pcm_uframes_t offset, snd_pcm_uframes_t frames);

#endif
