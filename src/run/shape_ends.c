/*
 * See shape_ends.h.
 */
#include "run/shape_ends.h"

#include <errno.h>
#include <net/if.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "os/interfaces.h"
#include "os/uplink.h"

/* Two would not know of each other's frames. An abstract name: of this network namespace, and gone
 * with whoever has it. */
static int claim(unsigned ifindex)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    int n = snprintf(address.sun_path + 1, sizeof(address.sun_path) - 1, "tactus-gate-shape-%u",
                     ifindex);
    int fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);

    if (fd >= 0 && bind(fd, (struct sockaddr *)&address,
                        (socklen_t)(offsetof(struct sockaddr_un, sun_path) + 1 + (size_t)n)) < 0) {
        int error = -errno;

        close(fd);
        return error;
    }
    return fd < 0 ? -errno : fd;
}

int tt_shape_ends_open(const struct tt_shape_setup *setup, struct tt_shape_ends *ends,
                       struct tt_shape_fault *ret_fault)
{
    const struct tt_link_packet_setup link = {
        .ifname = setup->ifname,
        .send = true,
        .priority = setup->priority,
        .launch_times = setup->lead_ns > 0,
        .bypass = setup->lead_ns == 0,
    };
    struct tt_link_packet_found found;
    int error = tt_link_packet_new(&link, &ends->link, &found);

    *ret_fault = (struct tt_shape_fault){.step = TT_SHAPE_STEP_LINK, .link = found.step};
    if (error < 0) {
        return error;
    }
    ends->link->was_up = found.up;
    ends->to_index = if_nametoindex(setup->ifname);
    ret_fault->step = TT_SHAPE_STEP_CLAIM;
    ends->claim_fd = claim(ends->to_index);
    if (ends->claim_fd < 0) {
        return ends->claim_fd;
    }
    ret_fault->step = TT_SHAPE_STEP_UPLINK;
    ends->uplink_fd = tt_uplink_open(setup->ifname);
    if (ends->uplink_fd < 0) {
        return ends->uplink_fd;
    }
    ret_fault->step = TT_SHAPE_STEP_TAP;
    error = tt_tap_open(setup->tap, ends->link->mtu_bytes, &ends->tap_fd, &ret_fault->tap);
    if (error == 0) {
        ends->tap_index = if_nametoindex(setup->tap);
    }
    return error;
}

void tt_shape_ends_close(struct tt_shape_ends *ends)
{
    if (ends->tap_fd >= 0) {
        close(ends->tap_fd);
    }
    if (ends->uplink_fd >= 0) {
        close(ends->uplink_fd);
    }
    tt_link_close(ends->link);
    if (ends->claim_fd >= 0) {
        close(ends->claim_fd);
    }
}

/* As it is called now; "": it is gone. */
static const char *name_of(unsigned ifindex, char ret_name[IF_NAMESIZE])
{
    if (ifindex == 0 || !if_indextoname(ifindex, ret_name)) {
        ret_name[0] = 0;
    }
    return ret_name;
}

void tt_shape_ends_follow(struct tt_shape_ends *ends, struct tt_shape_link *ret_link)
{
    struct tt_link *link = ends->link;
    struct tt_shape_link now = {
        .was_up = link->was_up,
        .is_up = link->ops->is_up(link),
        .had_mtu_bytes = link->mtu_bytes,
        .mtu_bytes = link->mtu_bytes,
    };

    name_of(ends->to_index, now.ifname);
    name_of(ends->tap_index, now.tap);
    (void)tt_interface_mtu(now.ifname, &now.mtu_bytes);
    if (tt_interface_mtu(now.tap, &now.tap_mtu_bytes) == 0 &&
        (now.mtu_bytes != now.had_mtu_bytes || now.tap_mtu_bytes > now.mtu_bytes)) {
        now.error = tt_interface_set_mtu(now.tap, now.mtu_bytes < TT_TAP_MTU_MAX ? now.mtu_bytes
                                                                                 : TT_TAP_MTU_MAX);
    }
    link->was_up = now.is_up;
    link->mtu_bytes = now.mtu_bytes;
    *ret_link = now;
}

uint64_t tt_shape_ends_tap_dropped(const struct tt_shape_ends *ends)
{
    char name[IF_NAMESIZE];

    return tt_interface_tx_dropped(name_of(ends->tap_index, name));
}
