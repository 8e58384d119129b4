/*
 * See watch_drops.h.
 */
#include "cli/watch_drops.h"

#include "os/interfaces.h"

struct tt_watch_drops tt_watch_drops_count(pcap_t *pcap, const char *ifname)
{
    struct tt_watch_drops drops = {
        .buffer = -1,
        .downs = (int64_t)tt_interface_downs(ifname),
        .interface = (int64_t)(tt_interface_rx_missed(ifname) + tt_softnet_dropped(TT_SOFTNET)),
    };
    struct pcap_stat stat; /* its ps_ifdrop may be of another namespace's interface */

    if (pcap_stats(pcap, &stat) == 0) {
        drops.buffer = (int64_t)stat.ps_drop;
    }
    return drops;
}

struct tt_watch_drops tt_watch_drops_since(pcap_t *pcap, const char *ifname,
                                           const struct tt_watch_drops *before)
{
    struct tt_watch_drops drops = tt_watch_drops_count(pcap, ifname);

    /* An interface that was made anew counts anew. */
    drops.interface -= drops.interface >= before->interface ? before->interface : 0;
    drops.buffer -= drops.buffer >= before->buffer && before->buffer > 0 ? before->buffer : 0;
    drops.downs -= drops.downs >= before->downs ? before->downs : 0;
    return drops;
}

uint64_t tt_watch_drops_sum(const struct tt_watch_drops *drops)
{
    return (uint64_t)(drops->interface + (drops->buffer > 0 ? drops->buffer : 0));
}
