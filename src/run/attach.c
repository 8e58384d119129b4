/*
 * See attach.h.
 */
#include "run/attach.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/attr.h"
#include "os/interfaces.h"
#include "os/link_packet.h"
#include "os/qdisc.h"
#include "run/note.h"
#include "run/pace.h"

/* A second of class A: 8000 packets, each of which has a place for the longest. */
#define RECEIVE_BUFFER_BYTES (14u << 20)
/* So many streams have that second; of more there is the less. */
#define STREAMS_BUFFERED 16
/* mqprio over as many queues as network cards have. */
#define QDISCS_MAX 128

TT_PRINTF(2, 3) static void say(struct tt_message *message, const char *format, ...)
{
    va_list args;

    va_start(args, format);
    vsnprintf(message->text, sizeof(message->text), format, args);
    va_end(args);
}

static void say_no_interface(const struct tt_stream_config *config, struct tt_message *message)
{
    char names[400];

    tt_interface_names(names, sizeof(names));
    say(message, "interface \"%s\" does not exist; give one of: %s", config->ifname, names);
}

static void say_no_socket(const struct tt_stream_config *config, int error,
                          struct tt_message *message)
{
    if (error == -EPERM) {
        say(message,
            "interface \"%s\" cannot be opened: raw Ethernet needs CAP_NET_RAW; run the program as "
            "root, or give it the capability (setcap cap_net_raw+ep PROGRAM)",
            config->ifname);
    } else {
        say(message,
            "interface \"%s\" cannot be opened: no packet socket (%s); the kernel needs "
            "CONFIG_PACKET",
            config->ifname, strerror(-error));
    }
}

/* What the kernel refused of a socket that is there. */
static void say_refused(const struct tt_stream_config *config, enum tt_link_step step,
                        const char *why, struct tt_message *message)
{
    static const char *const tried[][2] = {
        [TT_LINK_STEP_FILTER] = {"the kernel took no packet filter",
                                 "raise its limit (sysctl net.core.optmem_max)"},
        [TT_LINK_STEP_RING] = {"no memory for a receive ring", "free some"},
        [TT_LINK_STEP_BIND] = {"no socket can be bound to it", "see whether it is still there (ip "
                                                               "link)"},
        [TT_LINK_STEP_MEMORY] = {"no memory", "free some"},
    };

    say(message, "interface \"%s\" cannot be opened: %s (%s); %s", config->ifname, tried[step][0],
        why, tried[step][1]);
}

static const char *xdp_remedy(int error)
{
    switch (error) {
    case -EBUSY:
        return "another program has its first queue: end that one";
    case -EPERM:
        return "it needs CAP_NET_RAW";
    case -ENETDOWN:
        return "bring it up first (ip link set up)";
    case -ENOBUFS:
        return "raise the memory that may be locked (ulimit -l)";
    case -EAFNOSUPPORT:
        return "the kernel has no CONFIG_XDP_SOCKETS";
    default:
        return "its driver may not take it";
    }
}

static void say_failure(const struct tt_stream_config *config, enum tt_link_step step, int error,
                        struct tt_message *message)
{
    const char *why = strerror(-error);

    switch (step) {
    case TT_LINK_STEP_SOCKET:
        say_no_socket(config, error, message);
        break;
    case TT_LINK_STEP_INTERFACE:
        say_no_interface(config, message);
        break;
    case TT_LINK_STEP_ETHERNET:
        say(message, "interface \"%s\" is no Ethernet interface; AVTP needs one, like eth0",
            config->ifname);
        break;
    case TT_LINK_STEP_PRIORITY:
        say(message,
            "priority \"%d\" was refused (%s); above 6 it needs CAP_NET_ADMIN, give 0 to 6, like 3",
            config->priority, why);
        break;
    case TT_LINK_STEP_LAUNCH:
        say(message,
            "pace \"kernel\" was refused (%s); launch times need CAP_NET_ADMIN, give pace auto or "
            "software",
            why);
        break;
    case TT_LINK_STEP_XDP:
        say(message, "pace \"xdp\" on \"%s\" was refused (%s); %s, or give pace software",
            config->ifname, why, xdp_remedy(error));
        break;
    case TT_LINK_STEP_MEMBERSHIP:
        say(message,
            "the stream's address cannot be received on \"%s\" (%s); give a multicast address, or "
            "the interface's own",
            config->ifname, why);
        break;
    default:
        say_refused(config, step, why, message);
        break;
    }
}

/* What the interface's qdiscs mean for this stream; where they cannot be read, they are taken as
 * none. */
static int find_pace(const struct tt_stream_config *config, struct tt_pace_found *ret_found,
                     struct tt_message *ret_message)
{
    struct tt_qdisc qdiscs[QDISCS_MAX];
    size_t n = 0;
    int error = tt_qdisc_list(config->ifname, qdiscs, QDISCS_MAX, &n);

    if (error == -ENODEV) {
        say_no_interface(config, ret_message);
        return error;
    }
    tt_pace_find(qdiscs, error < 0 ? 0 : n, config->priority, ret_found);
    if (config->pace == TT_PACE_KERNEL && ret_found->pace != TT_PACE_KEPT) {
        say(ret_message,
            "pace \"kernel\": %s (interface \"%s\", priority %d); see tc-etf(8), or give pace auto",
            tt_pace_text(ret_found->pace), config->ifname, config->priority);
        return error < 0 ? error : -EOPNOTSUPP;
    }
    return 0;
}

/* With launch times for the kernel where it keeps them and lets us. Software pacing goes past an
 * etf, which would drop every packet. */
static int open_talker(const struct tt_stream_config *config, const struct tt_pace_found *pace,
                       struct tt_link_packet_setup *setup, struct tt_attachment *attachment,
                       struct tt_link_packet_found *ret_found)
{
    int error;

    setup->send = true;
    if (pace->pace == TT_PACE_KEPT && config->pace <= TT_PACE_KERNEL) {
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
    setup->xdp = config->pace == TT_PACE_XDP;
    setup->bypass = pace->etf_in_the_way && !setup->xdp;
    attachment->notes |= setup->bypass ? TT_NOTE_BYPASS : 0;
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

int tt_attach(const struct tt_stream_config *config, enum tt_role role, unsigned streams,
              struct tt_attachment *ret_attachment, struct tt_message *ret_message)
{
    struct tt_attachment attachment = {.notes = 0};
    struct tt_link_packet_setup setup = {.ifname = config->ifname, .priority = config->priority};
    struct tt_link_packet_found found = {.step = TT_LINK_STEP_SOCKET};
    struct tt_pace_found pace;
    int error;

    if (role == TT_ROLE_TALKER) {
        error = find_pace(config, &pace, ret_message);
        if (error < 0) {
            return error;
        }
        error = open_talker(config, &pace, &setup, &attachment, &found);
    } else {
        setup.receive = true;
        setup.dest = streams > 1 ? NULL : config->dest;
        setup.stream_id = streams > 1 ? NULL : &config->stream_id;
        setup.receive_buffer_bytes = (size_t)RECEIVE_BUFFER_BYTES *
                                     (streams < STREAMS_BUFFERED ? streams : STREAMS_BUFFERED);
        error = tt_link_packet_new(&setup, &attachment.link, &found);
    }
    if (error < 0) {
        say_failure(config, found.step, error, ret_message);
        return error;
    }
    attachment.notes |= notes_of(&setup, &found);
    *ret_attachment = attachment;
    return 0;
}
