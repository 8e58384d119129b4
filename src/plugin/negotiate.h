/*
 * What a device offers to programs: formats, rates, channels, period and buffer sizes.
 */
#ifndef TT_PLUGIN_NEGOTIATE_H
#define TT_PLUGIN_NEGOTIATE_H

#include <alsa/asoundlib.h>
#include <alsa/pcm_external.h>

#include "audio/pcm.h"
#include "audio/stream_config.h"

/* Sets what `io` offers. 0; -EMSGSIZE with *ret_message: no PDU fits the MTU; other -errno of ALSA.
 */
int tt_plugin_offer(snd_pcm_ioplug_t *io, const struct tt_stream_config *config, unsigned mtu_bytes,
                    struct tt_message *ret_message);

/* 0, or -EINVAL where it was not offered. */
int tt_plugin_pcm_format(snd_pcm_format_t format, enum tt_pcm_format *ret_format);

/* Whether what a program chose fits: `config` complete, packets into the MTU and two of them into
 * the buffer. 0, or -errno after it was said why, as device `name`. */
int tt_plugin_fits(const char *name, const struct tt_stream_config *config,
                   snd_pcm_uframes_t buffer_frames, unsigned mtu_bytes);

#endif
