/*
 * See stream_engine.h.
 */
#include "cli/stream_engine.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/ns.h"

/* A frame arrives up to a second (the longest transit) before its presentation, and may find the
 * listener's thread held up for another. */
#define HORIZON_NS (2 * TT_NS_PER_S)

struct tt_stream_group_link {
    struct tt_stream_group_link *next;
    enum tt_role role;
    char ifname[TT_IFNAME_BYTES];
    int priority;
    enum tt_pace pace;
    struct tt_attachment attachment;
};

int tt_stream_group_init(struct tt_stream_group *group, unsigned streams, int cpu)
{
    *group = (struct tt_stream_group){.streams = streams};
    if (tt_engine_new(tt_clock_system(), &group->engine) < 0) {
        return -ENOMEM;
    }
    tt_engine_set_cpu(group->engine, cpu);
    return 0;
}

void tt_stream_group_done(struct tt_stream_group *group)
{
    tt_engine_free(group->engine);
    group->engine = NULL;
    while (group->links) {
        struct tt_stream_group_link *link = group->links;

        group->links = link->next;
        tt_link_close(link->attachment.link);
        free(link);
    }
}

/* Where the kernel keeps launch times, each talker has its own reports. By AF_XDP there is one
 * queue, which one socket has, and no priority. */
static bool can_share(const struct tt_stream_group_link *link,
                      const struct tt_stream_config *config, enum tt_role role)
{
    return link->role == role && strcmp(link->ifname, config->ifname) == 0 &&
           (role == TT_ROLE_LISTENER ||
            (link->pace == config->pace &&
             (link->priority == config->priority || config->pace == TT_PACE_XDP) &&
             !link->attachment.link->keeps_launch_times));
}

int tt_stream_group_attach(struct tt_stream_group *group, const struct tt_stream_config *config,
                           enum tt_role role, struct tt_attachment *ret_attachment,
                           struct tt_message *ret_message)
{
    struct tt_stream_group_link *link = group->links;
    int error;

    while (link && !can_share(link, config, role)) {
        link = link->next;
    }
    if (!link) {
        link = calloc(1, sizeof(*link));
        if (!link) {
            snprintf(ret_message->text, sizeof(ret_message->text), "out of memory");
            return -ENOMEM;
        }
        link->role = role;
        memcpy(link->ifname, config->ifname, sizeof(link->ifname));
        link->priority = config->priority;
        link->pace = config->pace;
        error = tt_attach(config, role, group->streams, &link->attachment, ret_message);
        if (error < 0) {
            free(link);
            return error;
        }
        link->next = group->links;
        group->links = link;
    }
    *ret_attachment = link->attachment;
    return 0;
}

int tt_stream_group_start(struct tt_stream_group *group)
{
    int error = tt_engine_start(group->engine, true);

    group->started = error == 0;
    return error;
}

void tt_stream_group_stop(struct tt_stream_group *group)
{
    if (group->started) {
        tt_engine_stop(group->engine);
    }
    group->started = false;
}

static int new_talk(const struct tt_stream_engine_setup *setup, struct tt_stream_engine *engine)
{
    struct tt_talk_setup talk_setup = {
        .config = setup->config,
        .link = setup->attachment->link,
        .clock = tt_clock_system(),
        .engine = setup->group->engine,
        .buffer_frames = setup->buffer_frames,
        .release_ns = setup->attachment->release_ns,
        .offload = setup->attachment->offload,
        .event_capacity = setup->event_capacity,
    };
    int error = tt_talk_new(&talk_setup, &engine->talk);

    if (error == 0) {
        engine->device = tt_talk_device(engine->talk);
    }
    return error;
}

static int new_listen(const struct tt_stream_engine_setup *setup, struct tt_stream_engine *engine)
{
    struct tt_listen_setup listen_setup = {
        .config = setup->config,
        .link = setup->attachment->link,
        .clock = tt_clock_system(),
        .engine = setup->group->engine,
        .buffer_frames = setup->buffer_frames,
        .period_frames = setup->buffer_frames / 4,
        .horizon_ns = HORIZON_NS + setup->config->playout_latency_ns,
        .event_capacity = setup->event_capacity,
    };
    int error = tt_listen_new(&listen_setup, &engine->listen);

    if (error == 0) {
        engine->device = tt_listen_device(engine->listen);
    }
    return error;
}

int tt_stream_engine_new(const struct tt_stream_engine_setup *setup,
                         struct tt_stream_engine *ret_engine)
{
    struct tt_stream_engine engine = {.talk = NULL};
    int error =
        setup->role == TT_ROLE_TALKER ? new_talk(setup, &engine) : new_listen(setup, &engine);

    if (error < 0) {
        return error;
    }
    /* A source or sink that is too slow costs silence and is counted; the stream goes on. */
    atomic_store(&engine.device->endless, true);
    /* The feeder looks by itself, and need not be woken. */
    atomic_store(&engine.device->wake_frames, setup->buffer_frames);
    *ret_engine = engine;
    return 0;
}

void tt_stream_engine_leave(struct tt_stream_engine *engine)
{
    if (engine->device) {
        tt_device_leave(engine->device, TT_DEVICE_RUNNING, TT_DEVICE_STOPPED);
        tt_device_leave(engine->device, TT_DEVICE_DRAINING, TT_DEVICE_STOPPED);
    }
}

void tt_stream_engine_done(struct tt_stream_engine *engine)
{
    tt_talk_free(engine->talk);
    tt_listen_free(engine->listen);
    *engine = (struct tt_stream_engine){.talk = NULL};
}

unsigned tt_stream_engine_notes(const struct tt_stream_engine *engine)
{
    return engine->talk     ? tt_talk_notes(engine->talk)
           : engine->listen ? tt_listen_notes(engine->listen)
                            : 0;
}

const struct tt_hist *tt_stream_engine_lateness(const struct tt_stream_engine *engine)
{
    return engine->talk     ? tt_talk_lateness(engine->talk)
           : engine->listen ? tt_listen_lateness(engine->listen)
                            : NULL;
}

const struct tt_event_log *tt_stream_engine_log(const struct tt_stream_engine *engine)
{
    return engine->talk     ? tt_talk_log(engine->talk)
           : engine->listen ? tt_listen_log(engine->listen)
                            : NULL;
}
