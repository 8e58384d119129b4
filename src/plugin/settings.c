/*
 * See settings.h. Keys are handed over as text, so that a number, a word and a quoted string are
 * the same; what they mean is decided in audio/stream_config.
 */
#include "plugin/settings.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* What every PCM definition of ALSA may carry. */
static bool is_generic(const char *key)
{
    return strcmp(key, "type") == 0 || strcmp(key, "comment") == 0 || strcmp(key, "hint") == 0;
}

static int set_report(struct tt_plugin_settings *settings, const char *path,
                      struct tt_message *message)
{
    char *copy;

    if (path[0] == 0) {
        snprintf(message->text, sizeof(message->text),
                 "report \"\" is empty; give the path of a file, like /tmp/stream.json");
        return -EINVAL;
    }
    copy = strdup(path);
    if (!copy) {
        snprintf(message->text, sizeof(message->text), "out of memory");
        return -ENOMEM;
    }
    free(settings->report);
    settings->report = copy;
    return 0;
}

static int set_key(struct tt_plugin_settings *settings, snd_config_t *node,
                   struct tt_message *message)
{
    const char *key;
    char *value;
    int error;

    if (snd_config_get_id(node, &key) < 0 || is_generic(key)) {
        return 0;
    }
    if (snd_config_get_ascii(node, &value) < 0) {
        snprintf(message->text, sizeof(message->text),
                 "%.40s is a group in braces; give it one value", key);
        return -EINVAL;
    }
    if (strcmp(key, "report") == 0) {
        error = set_report(settings, value, message);
    } else {
        error = tt_stream_config_set(&settings->stream, key, value, message);
    }
    free(value);
    return error == -ENOENT ? -EINVAL : error;
}

int tt_plugin_settings_read(const char *name, snd_config_t *section, enum tt_role role,
                            struct tt_plugin_settings *ret_settings)
{
    struct tt_plugin_settings settings = {.report = NULL};
    struct tt_message message;
    snd_config_iterator_t i;
    snd_config_iterator_t next;
    int error = 0;

    tt_stream_config_init(&settings.stream);
    snd_config_for_each(i, next, section)
    {
        error = set_key(&settings, snd_config_iterator_entry(i), &message);
        if (error < 0) {
            break;
        }
    }
    if (error == 0) {
        error = tt_stream_config_check(&settings.stream, role, &message);
    }
    if (error < 0) {
        SNDERR("%s: %s", name, message.text);
        tt_plugin_settings_done(&settings);
        return error;
    }
    *ret_settings = settings;
    return 0;
}

void tt_plugin_settings_done(struct tt_plugin_settings *settings)
{
    free(settings->report);
    settings->report = NULL;
}
