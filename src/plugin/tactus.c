/*
 * See tactus.h.
 */
#include "plugin/tactus.h"

#include <errno.h>
#include <limits.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

enum tt_role tt_tactus_role(const snd_pcm_ioplug_t *io)
{
    return io->stream == SND_PCM_STREAM_PLAYBACK ? TT_ROLE_TALKER : TT_ROLE_LISTENER;
}

bool tt_tactus_is_ours(const struct tactus *tactus)
{
    return tactus->pid == getpid();
}

/* Where a program changes its parameters there are several reports, and the later ones get a number
 * behind the name. */
static void report(struct tactus *tactus)
{
    char path[PATH_MAX];
    unsigned notes;
    int error;

    if (!tactus->engine.device) {
        return;
    }
    tt_plugin_engine_stop(&tactus->engine);
    notes = tt_plugin_engine_notes(&tactus->engine, &tactus->attachment);
    tt_plugin_say_notes(&tactus->voice, notes);
    if (tactus->engine.started) {
        struct tt_loss_line line;

        tt_plugin_engine_loss(&tactus->engine, notes, &line);
        tt_plugin_say_line(&tactus->voice, line.text);
    }
    if (!tactus->settings.report) {
        return;
    }
    snprintf(path, sizeof(path), tactus->reports > 0 ? "%s.%u" : "%s", tactus->settings.report,
             tactus->reports + 1);
    tactus->reports++;
    error = tt_plugin_engine_report(&tactus->engine, path, notes);
    if (error < 0) {
        SNDERR("%s: report \"%s\" cannot be written: %s; give a path in a folder that may be "
               "written to",
               tactus->voice.name, path, snd_strerror(error));
    }
}

int tt_tactus_make_engine(struct tactus *tactus, const struct tt_plugin_engine *shape)
{
    int error;

    if (tt_plugin_engine_is(&tactus->engine, shape)) {
        return 0;
    }
    if (tactus->engine.started) {
        report(tactus);
    }
    tt_plugin_engine_done(&tactus->engine);
    free(tactus->areas);
    tactus->areas = calloc(shape->config.channels, sizeof(*tactus->areas));
    error = !tactus->areas ? -ENOMEM
                           : tt_plugin_engine_new(shape, tt_tactus_role(&tactus->io),
                                                  &tactus->attachment, &tactus->engine);
    /* The old one's is closed by now. */
    tactus->io.poll_fd = tactus->engine.device ? tactus->engine.device->wake_fd : -1;
    snd_pcm_ioplug_reinit_status(&tactus->io);
    return error;
}

void tt_tactus_put_away(struct tactus *tactus)
{
    if (tt_tactus_is_ours(tactus)) {
        report(tactus);
    } else {
        tt_plugin_engine_abandon(&tactus->engine);
    }
    tt_plugin_engine_done(&tactus->engine);
    tt_link_close(tactus->attachment.link);
    tt_plugin_settings_done(&tactus->settings);
    tt_plugin_voice_done(&tactus->voice);
    pthread_mutex_destroy(&tactus->lock);
    free(tactus->areas);
    free(tactus);
}
