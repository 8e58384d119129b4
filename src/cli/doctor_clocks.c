/*
 * `tactus doctor`: whether this machine has the time that its network has.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/ns.h"
#include "cli/doctor.h"
#include "os/clock.h"
#include "os/nic.h"
#include "os/ptp_management.h"

#define OFFSET_GOOD_NS INT64_C(1000)  /* gPTP's aim: IEEE 802.1AS-2020, annex B.3 */
#define PHC_GOOD_NS    INT64_C(10000) /* what phc2sys keeps, and reading costs */
#define IF_OR_NAME(d)  ((d)->ifname ? (d)->ifname : "eth0")

/* Where the card has a clock, phc2sys keeps the system's with it; elsewhere ptp4l steers the
 * system's itself, and does not tell the kernel of TAI. */
static bool has_phc(const struct tt_doctor *doctor)
{
    struct tt_nic nic;

    return !doctor->ifname || tt_nic_read(doctor->ifname, &nic) != 0 || nic.phc_index >= 0;
}

/* Where this machine has linuxptp's profile; Debian's package keeps it with its documents. */
static const char *gptp_profile(void)
{
    static const char own[] = "/etc/linuxptp/gPTP.cfg";

    return access(own, R_OK) == 0 ? own : "/usr/share/doc/linuxptp/configs/gPTP.cfg";
}

/* What a command of linuxptp's has to begin with. */
static const char *get_linuxptp(void)
{
    return access("/usr/sbin/ptp4l", X_OK) == 0 || access("/usr/local/sbin/ptp4l", X_OK) == 0
               ? ""
               : "sudo apt-get install linuxptp && ";
}

static void mend_with_ptp4l(const struct tt_doctor *doctor, struct tt_check *check,
                            const char *where)
{
    tt_check_mend(check, "%ssudo ptp4l -i %s %s-f %s --step_threshold=1%s", get_linuxptp(),
                  IF_OR_NAME(doctor), has_phc(doctor) ? "" : "-S ", gptp_profile(), where);
}

static void mend_with_phc2sys(const struct tt_doctor *doctor, struct tt_check *check)
{
    tt_check_mend(check, "%ssudo phc2sys -s %s -c CLOCK_REALTIME -w --step_threshold=1",
                  get_linuxptp(), IF_OR_NAME(doctor));
}

/* `argument` of pmc, to the ptp4l that was asked. */
static void mend_with_pmc(const struct tt_doctor *doctor, const struct tt_ptp_status *ptp,
                          struct tt_check *check, const char *argument, const char *where)
{
    bool elsewhere = strcmp(doctor->ptp_socket, TT_PTP_SOCKET) != 0;

    tt_check_mend(check, "sudo pmc -u -b 0 -t %x%s%s '%s'%s", ptp->transport,
                  elsewhere ? " -s " : "", elsewhere ? doctor->ptp_socket : "", argument, where);
}

static void check_tai(struct tt_doctor *doctor)
{
    bool has_chrony = access("/usr/sbin/chronyd", X_OK) == 0;
    struct tt_check *check;
    int seconds = 0;
    int rc = tt_clock_tai_offset(&seconds);

    if (rc == 0 && seconds != 0) {
        check = tt_check_add(doctor, "tai_offset", TT_CHECK_GOOD);
        tt_check_found(check, "the kernel's TAI is %d s ahead of UTC", seconds);
        return;
    }
    check = tt_check_add(doctor, "tai_offset", rc ? TT_CHECK_UNKNOWN : TT_CHECK_FAULT);
    tt_check_found(check, "%s",
                   rc ? "the kernel does not say its TAI offset"
                      : "the kernel's TAI offset is 0: nobody set it, so CLOCK_TAI is "
                        "UTC");
    tt_check_costs(check, "presentation times are 37 s from those of others: they hear nothing of "
                          "each other");
    if (has_phc(doctor)) {
        mend_with_phc2sys(doctor, check);
    } else {
        tt_check_mend(check,
                      "%secho leapsectz right/UTC | sudo tee /etc/chrony/conf.d/tai.conf && "
                      "sudo systemctl restart chrony",
                      has_chrony ? "" : "sudo apt-get install chrony && ");
    }
}

static void check_synchronised(struct tt_doctor *doctor, const struct tt_ptp_status *ptp)
{
    struct tt_clock *clock = tt_clock_system();
    bool off = clock->ops->unsynchronised(clock);
    struct tt_check *check =
        tt_check_add(doctor, "system_clock", off ? TT_CHECK_WARNING : TT_CHECK_GOOD);

    tt_check_found(check, "the kernel calls its clock %s",
                   off ? "not synchronised" : "synchronised");
    if (off) {
        tt_check_costs(check, "stamps drift from the network's time by up to 50 us a second");
        if (has_phc(doctor)) {
            mend_with_phc2sys(doctor, check);
        } else if (ptp) { /* which steers it, once it has somebody to follow */
            mend_with_pmc(doctor, ptp, check, "GET TIME_STATUS_NP", "");
        } else {
            mend_with_ptp4l(doctor, check, "");
        }
    }
}

static const char *state_name(uint8_t state)
{
    static const char *const names[] = {
        [TT_PTP_INITIALIZING] = "INITIALIZING",
        [TT_PTP_FAULTY] = "FAULTY",
        [TT_PTP_DISABLED] = "DISABLED",
        [TT_PTP_LISTENING] = "LISTENING",
        [TT_PTP_PRE_MASTER] = "PRE_MASTER",
        [TT_PTP_MASTER] = "MASTER",
        [TT_PTP_PASSIVE] = "PASSIVE",
        [TT_PTP_UNCALIBRATED] = "UNCALIBRATED",
        [TT_PTP_SLAVE] = "SLAVE",
    };

    return state < TT_COUNT_OF(names) && names[state] ? names[state] : "of an unknown state";
}

static void check_no_ptp4l(struct tt_doctor *doctor, int rc)
{
    bool refused = rc == -EACCES || rc == -EPERM;
    struct tt_check *check =
        tt_check_add(doctor, "ptp4l", refused ? TT_CHECK_UNKNOWN : TT_CHECK_WARNING);

    tt_check_found(check, "%s at %s: %s", refused ? "ptp4l cannot be asked" : "no ptp4l answers",
                   doctor->ptp_socket, strerror(-rc));
    tt_check_costs(check, "the clocks of talker and listener are not one: stamps drift apart");
    if (refused) {
        tt_check_mend(check, "sudo tactus doctor%s%s", doctor->ifname ? " " : "",
                      doctor->ifname ? doctor->ifname : "");
    } else {
        mend_with_ptp4l(doctor, check, "");
    }
}

/* The port on the interface, or the first where none was given. NULL: there is none, or an old
 * ptp4l does not tell its interfaces. */
static const struct tt_ptp_port *find_port(const struct tt_doctor *doctor,
                                           const struct tt_ptp_status *ptp)
{
    for (size_t i = 0; i < ptp->port_count; i++) {
        if (!doctor->ifname || strcmp(ptp->ports[i].ifname, doctor->ifname) == 0) {
            return &ptp->ports[i];
        }
    }
    return NULL;
}

static void check_elsewhere(struct tt_doctor *doctor, const struct tt_ptp_status *ptp)
{
    struct tt_check *check = tt_check_add(doctor, "ptp4l", TT_CHECK_WARNING);

    tt_check_found(check, "ptp4l runs on %s%s, and not on %s", ptp->ports[0].ifname,
                   ptp->port_count > 1 ? " and others" : "", doctor->ifname);
    tt_check_costs(check,
                   "the time of %s's network is not followed: what is sent there has stamps "
                   "of another",
                   doctor->ifname);
    mend_with_ptp4l(doctor, check, " # in place of the one that runs");
}

static void check_port(struct tt_doctor *doctor, const struct tt_ptp_status *ptp)
{
    const struct tt_ptp_port *port = find_port(doctor, ptp);
    uint8_t state = port ? port->state : ptp->port_state;
    bool follows = state == TT_PTP_SLAVE;
    bool leads = state == TT_PTP_MASTER;
    struct tt_check *check;

    if (!port && ptp->port_count > 0) {
        check_elsewhere(doctor, ptp);
        return;
    }
    check = tt_check_add(doctor, "ptp4l", follows || leads ? TT_CHECK_GOOD : TT_CHECK_WARNING);
    tt_check_found(check, "ptp4l runs%s%s, port %u is %s, grandmaster %016" PRIx64 "%s",
                   port ? " on " : "", port ? port->ifname : "", port ? port->number : ptp->port,
                   port || ptp->port_known ? state_name(state) : "unknown", ptp->grandmaster,
                   ptp->grandmaster_present ? "" : " (this machine)");
    if (!follows && !leads) {
        tt_check_costs(check, "until the port is SLAVE or MASTER nothing keeps this clock with the "
                              "others");
    }
    if (state == TT_PTP_UNCALIBRATED) {
        /* Later than a minute after its start: too far off to be slewed, or told not to steer. */
        mend_with_ptp4l(doctor, check, " # in place of the one that runs, where it stays so");
    } else if (!follows && !leads) {
        mend_with_pmc(doctor, ptp, check, "GET PORT_DATA_SET", "");
    }
}

static void check_offset(struct tt_doctor *doctor, const struct tt_ptp_status *ptp)
{
    bool good = llabs(ptp->offset_ns) <= OFFSET_GOOD_NS;
    struct tt_check *check;

    if (!ptp->time_known || !ptp->grandmaster_present) {
        return;
    }
    check = tt_check_add(doctor, "gptp_offset", good ? TT_CHECK_GOOD : TT_CHECK_WARNING);
    tt_check_found(check, "%" PRId64 " ns from the grandmaster at the last Sync", ptp->offset_ns);
    if (!good) {
        tt_check_costs(check, "stamps are off by as much; more than 1 us means software stamps, or "
                              "that it has not settled");
        tt_check_mend(check, "ethtool -T %s", IF_OR_NAME(doctor));
    }
}

static void check_utc(struct tt_doctor *doctor, const struct tt_ptp_status *ptp)
{
    struct tt_check *check;

    if (!ptp->utc_known) {
        return;
    }
    check = tt_check_add(doctor, "gptp_utc_offset",
                         ptp->utc_offset_valid ? TT_CHECK_GOOD : TT_CHECK_WARNING);
    tt_check_found(check, "ptp4l has a UTC offset of %d s, %s", ptp->utc_offset_s,
                   ptp->utc_offset_valid ? "valid" : "not marked valid");
    if (!ptp->utc_offset_valid) {
        tt_check_costs(check, "phc2sys leaves the kernel's TAI offset as it is");
        mend_with_pmc(doctor, ptp, check,
                      "SET GRANDMASTER_SETTINGS_NP clockClass 248 clockAccuracy 0xfe "
                      "offsetScaledLogVariance 0xffff currentUtcOffset 37 leap61 0 leap59 0 "
                      "currentUtcOffsetValid 1 ptpTimescale 1 timeTraceable 1 frequencyTraceable 0 "
                      "timeSource 0xa0",
                      ptp->grandmaster_present ? " # on the grandmaster, another machine" : "");
    }
}

static void check_ptp4l(struct tt_doctor *doctor, const struct tt_ptp_status *ptp)
{
    check_port(doctor, ptp);
    check_offset(doctor, ptp);
    check_utc(doctor, ptp);
}

static void check_phc(struct tt_doctor *doctor, const struct tt_nic *nic)
{
    struct tt_check *check;
    int64_t ahead_ns;
    int64_t uncertainty_ns;
    int rc;

    if (nic->phc_index < 0) {
        check = tt_check_add(doctor, "phc", TT_CHECK_NOTE);
        tt_check_found(check, "%s has no PTP clock", doctor->ifname);
        tt_check_costs(check, "gPTP works with software stamps (ptp4l -S), to some 10 us; arrivals "
                              "are stamped by the kernel");
        return;
    }
    rc = tt_phc_minus_tai(nic->phc_index, &ahead_ns, &uncertainty_ns);
    if (rc) {
        check = tt_check_add(doctor, "phc", TT_CHECK_UNKNOWN);
        tt_check_found(check, "/dev/ptp%d cannot be read: %s", nic->phc_index, strerror(-rc));
        tt_check_mend(check, "sudo tactus doctor %s", doctor->ifname);
        return;
    }
    check = tt_check_add(doctor, "phc",
                         llabs(ahead_ns) <= PHC_GOOD_NS + uncertainty_ns ? TT_CHECK_GOOD
                                                                         : TT_CHECK_FAULT);
    tt_check_found(check, "/dev/ptp%d is %" PRId64 " ns (+-%" PRId64 ") from CLOCK_TAI",
                   nic->phc_index, ahead_ns, uncertainty_ns);
    if (check->status == TT_CHECK_FAULT) {
        tt_check_costs(check, "the system's clock does not follow the card's: launch and "
                              "presentation times are off by that");
        mend_with_phc2sys(doctor, check);
    }
}

void tt_doctor_clocks(struct tt_doctor *doctor)
{
    struct tt_ptp_status ptp;
    struct tt_nic nic;
    int rc = tt_ptp_ask(doctor->ptp_socket, &ptp);

    check_tai(doctor);
    check_synchronised(doctor, rc == 0 ? &ptp : NULL);
    if (rc == 0) {
        check_ptp4l(doctor, &ptp);
    } else {
        check_no_ptp4l(doctor, rc);
    }
    if (doctor->ifname && tt_nic_read(doctor->ifname, &nic) == 0) {
        check_phc(doctor, &nic);
    }
}
