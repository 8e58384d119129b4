/*
 * A device's section of the ALSA configuration as a stream's description.
 */
#ifndef TT_PLUGIN_SETTINGS_H
#define TT_PLUGIN_SETTINGS_H

#include <alsa/asoundlib.h>

#include "audio/stream_config.h"

struct tt_plugin_settings {
    struct tt_stream_config stream;
    char *report; /* the file that says what happened; NULL: none */
};

/* Reads and checks; what will not do is said through ALSA's error handler, under the device's name.
 * 0 (free with tt_plugin_settings_done) or -errno. */
int tt_plugin_settings_read(const char *name, snd_config_t *section, enum tt_role role,
                            struct tt_plugin_settings *ret_settings);
void tt_plugin_settings_done(struct tt_plugin_settings *settings);

#endif
