/*
 * What of a live capture this machine lost before it was read: no network is to blame for that.
 */
#ifndef TT_CLI_WATCH_DROPS_H
#define TT_CLI_WATCH_DROPS_H

#include <pcap/pcap.h>
#include <stdint.h>

struct tt_watch_drops {
    int64_t buffer;    /* in the capture's; -1: unknown */
    int64_t interface; /* before: in the interface's, or a processor's queue, for any interface */
    int64_t downs;     /* how often the interface was down: what came then is lost too */
};

/* Since the capture was opened, and since the interface was made. */
struct tt_watch_drops tt_watch_drops_count(pcap_t *pcap, const char *ifname);
/* Since `before`. */
struct tt_watch_drops tt_watch_drops_since(pcap_t *pcap, const char *ifname,
                                           const struct tt_watch_drops *before);
/* All packets that are known of. */
uint64_t tt_watch_drops_sum(const struct tt_watch_drops *drops);

#endif
