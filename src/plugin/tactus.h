/*
 * A device of the plugin, and how it comes and goes. pcm_tactus.c has what ALSA calls.
 */
#ifndef TT_PLUGIN_TACTUS_H
#define TT_PLUGIN_TACTUS_H

#include <alsa/asoundlib.h>
#include <alsa/pcm_external.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

#include "plugin/engine.h"
#include "plugin/say.h"
#include "plugin/settings.h"
#include "run/attach.h"

struct tactus {
    snd_pcm_ioplug_t io;
    struct tt_plugin_settings settings;
    struct tt_attachment attachment;
    struct tt_plugin_engine engine; /* from hw_params on; engine.device is NULL before */
    struct tt_plugin_voice voice;
    enum tt_pcm_format format;
    struct tt_pcm_area *areas; /* of the transfer at hand, one a channel */
    uint8_t silence[4];        /* a sample of any format */
    int64_t boundary;
    int64_t hw_frame;
    int64_t written_frame; /* playback: what lies behind it was never written */
    int64_t stop_frames;   /* the device stops when so many are available; INT64_MAX: not by that */
    pthread_mutex_t lock;
    unsigned reports; /* written so far */
    int pid;          /* of the process that opened it */
};

enum tt_role tt_tactus_role(const snd_pcm_ioplug_t *io);

/* Whether this process opened it; false in a forked child. */
bool tt_tactus_is_ours(const struct tactus *tactus);

/* The engine for `shape`: the one that there is, where it has that shape (programs set the same
 * parameters again, as aplay does with many files, and its counters go on). 0 or -errno; after an
 * error there may be none. */
int tt_tactus_make_engine(struct tactus *tactus, const struct tt_plugin_engine *shape);

/* Stops, writes the report and frees all there is of it, also where it was opened by half. */
void tt_tactus_put_away(struct tactus *tactus);

#endif
