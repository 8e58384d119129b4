/*
 * `tactus doctor`: the interface, and what the kernel has set up on it for sending.
 */
#include <errno.h>
#include <inttypes.h>
#include <net/if.h>
#include <string.h>

#include "cli/doctor.h"
#include "os/nic.h"
#include "os/qdisc.h"
#include "report/plural.h"
#include "run/pace.h"

#define MTU_GOOD_BYTES  1500
#define SPEED_GOOD_MBIT 100
#define QDISCS_MAX      128
#define CLASSES         3 /* of the mqprio that is proposed */
#define CLASS_A_PCP     3

static void check_link(struct tt_doctor *doctor, const struct tt_nic *nic)
{
    bool up = (nic->flags & IFF_UP) != 0;
    struct tt_check *check =
        tt_check_add(doctor, "link", up && nic->carrier ? TT_CHECK_GOOD : TT_CHECK_FAULT);

    tt_check_found(check, "%s is %s%s%s%s%s", doctor->ifname, up ? "up" : "down",
                   !up            ? ""
                   : nic->carrier ? ", with a carrier"
                                  : ", without a carrier",
                   nic->driver[0] || nic->kind[0] ? ", driver " : "",
                   nic->driver[0] ? nic->driver : nic->kind,
                   nic->in_bridge ? ", a port of a bridge or bond" : "");
    if (!up) {
        tt_check_costs(check, "nothing is sent or received");
        tt_check_mend(check, "sudo ip link set dev %s up", doctor->ifname);
    } else if (!nic->carrier) {
        tt_check_costs(check, "nothing is sent or received: see to the cable and the other end");
        tt_check_mend(check, "ethtool %s", doctor->ifname);
    }
}

static void check_speed(struct tt_doctor *doctor, const struct tt_nic *nic)
{
    struct tt_check *check;

    if (nic->speed_mbit < 0) {
        check = tt_check_add(doctor, "speed", TT_CHECK_UNKNOWN);
        tt_check_found(check, "%s does not say its speed", doctor->ifname);
        tt_check_costs(check, "qdiscs that reckon in time (taprio, cbs) take it as 10 Mbit/s");
        return;
    }
    check = tt_check_add(doctor, "speed",
                         nic->speed_mbit >= SPEED_GOOD_MBIT && nic->full_duplex ? TT_CHECK_GOOD
                                                                                : TT_CHECK_FAULT);
    tt_check_found(check, "%" PRId64 " Mbit/s, %s duplex", nic->speed_mbit,
                   nic->full_duplex ? "full" : "half");
    if (check->status == TT_CHECK_FAULT) {
        tt_check_costs(check, "AVB needs full duplex and 100 Mbit/s: packets collide or queue");
        tt_check_mend(check, "sudo ethtool -s %s speed 1000 duplex full autoneg on",
                      doctor->ifname);
    }
}

static void check_mtu(struct tt_doctor *doctor, const struct tt_nic *nic)
{
    bool good = nic->mtu_bytes >= MTU_GOOD_BYTES;
    struct tt_check *check = tt_check_add(doctor, "mtu", good ? TT_CHECK_GOOD : TT_CHECK_WARNING);

    tt_check_found(check, "an MTU of %u bytes", nic->mtu_bytes);
    if (!good) {
        tt_check_costs(check, "streams of many channels do not fit; the kernel refuses them with "
                              "EMSGSIZE");
        tt_check_mend(check, "sudo ip link set dev %s mtu 1500", doctor->ifname);
    }
}

static void check_multicast(struct tt_doctor *doctor, const struct tt_nic *nic)
{
    bool can = (nic->flags & (IFF_MULTICAST | IFF_ALLMULTI | IFF_PROMISC)) != 0;
    struct tt_check *check = tt_check_add(doctor, "multicast",
                                          !can             ? TT_CHECK_FAULT
                                          : nic->in_bridge ? TT_CHECK_NOTE
                                                           : TT_CHECK_GOOD);

    tt_check_found(check, "%s %s multicast", doctor->ifname, can ? "takes in" : "does not take in");
    if (!can) {
        tt_check_costs(check, "streams go to multicast addresses: none arrives");
        tt_check_mend(check, "sudo ip link set dev %s multicast on", doctor->ifname);
    } else if (nic->in_bridge) {
        tt_check_costs(check, "the bridge above it may keep what arrives: give the bridge's name "
                              "to talk and listen");
    }
}

static void check_stamps(struct tt_doctor *doctor, const struct tt_nic *nic)
{
    bool all = nic->stamps_tx_hardware && nic->stamps_rx_hardware;
    struct tt_check *check = tt_check_add(doctor, "stamps",
                                          !nic->stamps_known ? TT_CHECK_UNKNOWN
                                          : all              ? TT_CHECK_GOOD
                                                             : TT_CHECK_NOTE);

    if (!nic->stamps_known) {
        tt_check_found(check, "the driver does not say what it can stamp");
        return;
    }
    tt_check_found(check, "hardware stamps: sent %s, received %s",
                   nic->stamps_tx_hardware ? "yes" : "no", nic->stamps_rx_hardware ? "yes" : "no");
    if (!all) {
        tt_check_costs(check, "gPTP goes by software stamps, which load on this machine makes late "
                              "by 10 us and more");
    }
}

static void check_queues(struct tt_doctor *doctor, const struct tt_nic *nic)
{
    struct tt_check *check =
        tt_check_add(doctor, "queues", nic->tx_queues > 1 ? TT_CHECK_GOOD : TT_CHECK_NOTE);

    tt_check_found(check, "%u %s to send, %u to receive", nic->tx_queues,
                   tt_plural(nic->tx_queues, "queue", "queues"), nic->rx_queues);
    if (nic->tx_queues <= 1) {
        tt_check_costs(check, "mqprio and taprio need a queue for each class: streams share theirs "
                              "with everything else");
    }
}

/* Whether the hardware behind an etf can be had is known of the drivers only. */
static bool may_offload_etf(const char *driver)
{
    static const char *const drivers[] = {"igb", "igc", "stmmac", "dwmac-intel", "fsl_enetc"};

    for (size_t i = 0; i < TT_COUNT_OF(drivers); i++) {
        if (strcmp(driver, drivers[i]) == 0) {
            return true;
        }
    }
    return false;
}

static void describe_tree(const struct tt_qdisc *qdiscs, size_t n, char text[TT_CHECK_TEXT])
{
    size_t at = 0;

    snprintf(text, TT_CHECK_TEXT, "none");
    for (size_t i = 0; i < n && at < TT_CHECK_TEXT - 32; i++) {
        at += (size_t)snprintf(text + at, TT_CHECK_TEXT - at, "%s%s%s", i > 0 ? " " : "",
                               qdiscs[i].kind, qdiscs[i].offload ? "(offload)" : "");
    }
}

static void check_launch(struct tt_doctor *doctor, const struct tt_nic *nic)
{
    struct tt_qdisc qdiscs[QDISCS_MAX];
    struct tt_pace_found found;
    struct tt_check *check;
    char tree[TT_CHECK_TEXT];
    size_t n = 0;
    int rc = tt_qdisc_list(doctor->ifname, qdiscs, QDISCS_MAX, &n);

    if (rc) {
        tt_check_found(tt_check_add(doctor, "launch_times", TT_CHECK_UNKNOWN),
                       "the qdiscs cannot be read: %s", strerror(-rc));
        return;
    }
    tt_pace_find(qdiscs, n, doctor->priority, &found);
    describe_tree(qdiscs, n, tree);
    check = tt_check_add(doctor, "launch_times",
                         found.pace == TT_PACE_KEPT     ? TT_CHECK_GOOD
                         : found.pace == TT_PACE_NO_ETF ? TT_CHECK_NOTE
                                                        : TT_CHECK_WARNING);
    tt_check_found(check, "priority %d: %s (qdiscs: %.200s)", doctor->priority,
                   tt_pace_text(found.pace), tree);
    if (found.pace == TT_PACE_KEPT) {
        return;
    }
    tt_check_costs(check,
                   "packets leave when the program wakes up: late by what the scheduler "
                   "makes of it, some 10 us and more under load%s",
                   nic->tx_queues < CLASSES       ? "; an etf takes an interface of three queues"
                   : may_offload_etf(nic->driver) ? "; this card could keep the times"
                                                  : "");
    if (nic->tx_queues < CLASSES) { /* at the root an etf would drop all other packets */
        return;
    }
    tt_check_mend(
        check,
        "sudo tc qdisc replace dev %s parent root handle 100 mqprio num_tc 3 map 2 2 1 0 2 2 "
        "2 2 2 2 2 2 2 2 2 2 queues 1@0 1@1 2@2 hw 0 && sudo tc qdisc replace dev %s parent "
        "100:1 etf clockid CLOCK_TAI delta 300000%s",
        doctor->ifname, doctor->ifname, may_offload_etf(nic->driver) ? " offload" : "");
}

static void check_vlan(struct tt_doctor *doctor, const struct tt_nic *nic)
{
    uint32_t pcp = nic->vlan_pcp[doctor->priority & (TT_NIC_PRIORITIES - 1)];
    struct tt_check *check;

    if (nic->vlan_id < 0) {
        check = tt_check_add(doctor, "vlan", TT_CHECK_GOOD);
        tt_check_found(check,
                       "%s is no VLAN device: streams carry the tag that they are given "
                       "(vlan_id, pcp, or class)",
                       doctor->ifname);
        return;
    }
    check = tt_check_add(doctor, "vlan", pcp == CLASS_A_PCP ? TT_CHECK_GOOD : TT_CHECK_WARNING);
    tt_check_found(check, "VLAN %d; priority %d goes out with PCP %u", nic->vlan_id,
                   doctor->priority, pcp);
    if (pcp != CLASS_A_PCP) {
        tt_check_costs(check, "bridges put it with best effort: no reserved queue, no bound");
        tt_check_mend(check, "sudo ip link set dev %s type vlan egress-qos-map %d:%d",
                      doctor->ifname, doctor->priority, CLASS_A_PCP);
    }
}

int tt_doctor_nic(struct tt_doctor *doctor)
{
    struct tt_nic nic;
    int rc = tt_nic_read(doctor->ifname, &nic);

    if (rc) {
        return rc;
    }
    check_link(doctor, &nic);
    check_speed(doctor, &nic);
    check_mtu(doctor, &nic);
    check_multicast(doctor, &nic);
    check_stamps(doctor, &nic);
    check_queues(doctor, &nic);
    check_launch(doctor, &nic);
    check_vlan(doctor, &nic);
    return 0;
}
