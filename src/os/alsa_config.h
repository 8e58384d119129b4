/*
 * What ALSA's configuration has of the plugin: whether programs find it, and the devices that are
 * defined with it.
 */
#ifndef TT_OS_ALSA_CONFIG_H
#define TT_OS_ALSA_CONFIG_H

#include <stdbool.h>
#include <stddef.h>

#define TT_ALSA_DEVICES_MAX 32
#define TT_ALSA_TEXT        64

struct tt_alsa_device {
    char name[TT_ALSA_TEXT];
    char ifname[TT_ALSA_TEXT]; /* "": it names none */
};

struct tt_alsa_config {
    bool known;         /* `type tactus` is known to ALSA */
    char library[4096]; /* what it names; "": none */
    struct tt_alsa_device devices[TT_ALSA_DEVICES_MAX];
    size_t device_count; /* the first of them, at most TT_ALSA_DEVICES_MAX */
};

/* Reads the configuration as every ALSA program does. 0 or -errno (it has a mistake). */
int tt_alsa_config_read(struct tt_alsa_config *ret_config);

#endif
