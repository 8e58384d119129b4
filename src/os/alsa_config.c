/*
 * See alsa_config.h.
 */
#include "os/alsa_config.h"

#include <alsa/asoundlib.h>

static const char *text_of(snd_config_t *node, const char *key)
{
    snd_config_t *found;
    const char *text;

    if (snd_config_search(node, key, &found) < 0 || snd_config_get_string(found, &text) < 0) {
        return "";
    }
    return text;
}

static void take_device(snd_config_t *node, struct tt_alsa_config *config)
{
    const char *type =
        snd_config_get_type(node) == SND_CONFIG_TYPE_COMPOUND ? text_of(node, "type") : "";
    struct tt_alsa_device *device = &config->devices[config->device_count];
    const char *ifname;
    const char *name;

    if ((strcmp(type, "tactus") != 0 && strcmp(type, "aaf") != 0) ||
        config->device_count == TT_ALSA_DEVICES_MAX || snd_config_get_id(node, &name) < 0) {
        return;
    }
    ifname = text_of(node, "ifname");
    snprintf(device->name, sizeof(device->name), "%.63s", name);
    snprintf(device->ifname, sizeof(device->ifname), "%.63s",
             *ifname ? ifname : text_of(node, "interface"));
    config->device_count++;
}

int tt_alsa_config_read(struct tt_alsa_config *ret_config)
{
    snd_config_iterator_t i;
    snd_config_iterator_t next;
    snd_config_t *top = NULL;
    snd_config_update_t *update = NULL;
    snd_config_t *node;
    int rc = snd_config_update_r(&top, &update, NULL);

    if (rc < 0) {
        return rc;
    }
    *ret_config = (struct tt_alsa_config){0};
    if (snd_config_search(top, "pcm_type.tactus", &node) >= 0) {
        ret_config->known = true;
        snprintf(ret_config->library, sizeof(ret_config->library), "%s", text_of(node, "lib"));
    }
    if (snd_config_search(top, "pcm", &node) >= 0) {
        snd_config_for_each(i, next, node)
        {
            take_device(snd_config_iterator_entry(i), ret_config);
        }
    }
    snd_config_delete(top);
    snd_config_update_free(update);
    return 0;
}
