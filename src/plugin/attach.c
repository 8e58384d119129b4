/*
 * See attach.h.
 */
#include "plugin/attach.h"

#include <alsa/asoundlib.h>
#include <errno.h>
#include <string.h>

#include "os/interfaces.h"
#include "os/link_packet.h"
#include "os/qdisc.h"
#include "run/note.h"
#include "run/pace.h"

/* A second of class A: 8000 packets, each of which has a place for the longest. */
#define RECEIVE_BUFFER_BYTES (14u << 20)
/* mqprio over as many queues as network cards have. */
#define QDISCS_MAX 128

static void say_no_permission(const char *name, const struct tt_stream_config *config)
{
    SNDERR("%s: ifname \"%s\" cannot be opened: raw Ethernet needs CAP_NET_RAW; run the program as "
           "root, or give it the capability (setcap cap_net_raw+ep PROGRAM)",
           name, config->ifname);
}

static void say_no_interface(const char *name, const struct tt_stream_config *config)
{
    char names[512];

    tt_interface_names(names, sizeof(names));
    SNDERR("%s: ifname \"%s\" does not exist; give one of: %s", name, config->ifname, names);
}

static void say_failure(const char *name, const struct tt_stream_config *config,
                        enum tt_link_step step, int error)
{
    const char *why = strerror(-error);

    switch (step) {
    case TT_LINK_STEP_SOCKET:
        if (error == -EPERM) {
            say_no_permission(name, config);
        } else {
            SNDERR("%s: ifname \"%s\" cannot be opened: no packet socket (%s); the kernel needs "
                   "CONFIG_PACKET",
                   name, config->ifname, why);
        }
        break;
    case TT_LINK_STEP_INTERFACE:
        say_no_interface(name, config);
        break;
    case TT_LINK_STEP_ETHERNET:
        SNDERR("%s: ifname \"%s\" is no Ethernet interface; AVTP needs one, like eth0", name,
               config->ifname);
        break;
    case TT_LINK_STEP_PRIORITY:
        SNDERR("%s: prio \"%d\" was refused (%s); above 6 it needs CAP_NET_ADMIN, give 0 to 6, "
               "like 3",
               name, config->priority, why);
        break;
    case TT_LINK_STEP_LAUNCH:
        SNDERR("%s: pace \"kernel\" was refused (%s); launch times need CAP_NET_ADMIN, give pace "
               "auto or software",
               name, why);
        break;
    case TT_LINK_STEP_RING:
        SNDERR("%s: ifname \"%s\": no memory for a receive ring of %u MB (%s); free some", name,
               config->ifname, RECEIVE_BUFFER_BYTES >> 20, why);
        break;
    case TT_LINK_STEP_MEMBERSHIP:
        SNDERR("%s: addr cannot be received on \"%s\" (%s); give a multicast address, or the "
               "interface's own",
               name, config->ifname, why);
        break;
    default:
        SNDERR("%s: ifname \"%s\" cannot be opened: %s", name, config->ifname, why);
        break;
    }
}

/* What the interface's qdiscs mean for this stream; where they cannot be read, they are taken as
 * none. */
static int find_pace(const char *name, const struct tt_stream_config *config,
                     struct tt_pace_found *ret_found)
{
    struct tt_qdisc qdiscs[QDISCS_MAX];
    size_t n = 0;
    int error = tt_qdisc_list(config->ifname, qdiscs, QDISCS_MAX, &n);

    if (error == -ENODEV) {
        say_no_interface(name, config);
        return error;
    }
    tt_pace_find(qdiscs, error < 0 ? 0 : n, config->priority, ret_found);
    if (config->pace == TT_PACE_KERNEL && ret_found->pace != TT_PACE_KEPT) {
        SNDERR("%s: pace \"kernel\": %s (ifname \"%s\", prio %d); see tc-etf(8), or give pace auto",
               name, tt_pace_text(ret_found->pace), config->ifname, config->priority);
        return error < 0 ? error : -EOPNOTSUPP;
    }
    return 0;
}

/* With launch times for the kernel where it keeps them and lets us. Software pacing goes past an
 * etf, which would drop every packet. */
static int open_talker(const struct tt_stream_config *config, const struct tt_pace_found *pace,
                       struct tt_link_packet_setup *setup, struct tt_plugin_attachment *attachment,
                       struct tt_link_packet_found *ret_found)
{
    int error;

    setup->send = true;
    if (pace->pace == TT_PACE_KEPT && config->pace != TT_PACE_SOFTWARE) {
        setup->launch_times = true;
        attachment->release_ns = pace->delta_ns;
        attachment->offload = pace->offload;
        error = tt_link_packet_new(setup, &attachment->link, ret_found);
        if (error == 0 || ret_found->step != TT_LINK_STEP_LAUNCH ||
            config->pace == TT_PACE_KERNEL) {
            return error;
        }
        attachment->notes |= TT_NOTE_LAUNCH_PERMISSION;
        setup->launch_times = false;
    }
    setup->bypass = pace->etf_in_the_way;
    attachment->notes |= pace->etf_in_the_way ? TT_NOTE_BYPASS : 0;
    attachment->notes |= pace->pace == TT_PACE_DELTA ? TT_NOTE_ETF_DELTA : 0;
    return tt_link_packet_new(setup, &attachment->link, ret_found);
}

static unsigned notes_of(const struct tt_link_packet_setup *setup,
                         const struct tt_link_packet_found *found)
{
    unsigned notes = found->up ? 0 : TT_NOTE_LINK_DOWN;

    if (setup->receive && found->receive_buffer_bytes < setup->receive_buffer_bytes) {
        notes |= TT_NOTE_RECEIVE_BUFFER;
    }
    return notes;
}

int tt_plugin_attach(const char *name, const struct tt_stream_config *config, enum tt_role role,
                     struct tt_plugin_attachment *ret_attachment)
{
    struct tt_plugin_attachment attachment = {.notes = 0};
    struct tt_link_packet_setup setup = {.ifname = config->ifname, .priority = config->priority};
    struct tt_link_packet_found found = {.step = TT_LINK_STEP_SOCKET};
    struct tt_pace_found pace;
    int error;

    if (role == TT_ROLE_TALKER) {
        error = find_pace(name, config, &pace);
        if (error < 0) {
            return error;
        }
        error = open_talker(config, &pace, &setup, &attachment, &found);
    } else {
        setup.receive = true;
        setup.dest = config->dest;
        setup.stream_id = &config->stream_id;
        setup.receive_buffer_bytes = RECEIVE_BUFFER_BYTES;
        error = tt_link_packet_new(&setup, &attachment.link, &found);
    }
    if (error < 0) {
        say_failure(name, config, found.step, error);
        return error;
    }
    attachment.notes |= notes_of(&setup, &found);
    *ret_attachment = attachment;
    return 0;
}
