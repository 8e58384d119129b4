/*
 * See receive_stamps.h.
 */
#include "cli/receive_stamps.h"

#include <stdio.h>
#include <string.h>
#include <time.h>

#include "base/ns.h"
#include "cli/cmd.h"
#include "os/clock.h"
#include "os/nic.h"

#define READ_EVERY_NS   (100 * TT_NS_PER_MS)
#define UNCERTAINTY_MAX (50 * TT_NS_PER_US) /* the kernel's own stamps are better then */

static void kernel_because(char *text, const char *reason)
{
    snprintf(text, TT_STAMPS_TEXT, "by the kernel, in UTC (%s)", reason);
}

bool tt_receive_stamps_choose(const struct tt_receive_abilities *can, char ret_text[TT_STAMPS_TEXT])
{
    char reason[TT_STAMPS_TEXT / 2];

    if (!can->known) {
        kernel_because(ret_text, "the driver does not say what it can stamp");
    } else if (!can->received) {
        kernel_because(ret_text, "the interface has no stamps of its own for what it receives");
    } else if (!can->all) {
        kernel_because(ret_text, "the interface stamps packets of PTP only");
    } else if (can->phc_index < 0) {
        kernel_because(ret_text, "the interface's stamps come without a clock that could be read");
    } else if (can->error) {
        snprintf(reason, sizeof(reason), "the interface's clock /dev/ptp%d cannot be read: %s",
                 can->phc_index, strerror(-can->error));
        kernel_because(ret_text, reason);
    } else if (can->uncertainty_ns > UNCERTAINTY_MAX) {
        snprintf(reason, sizeof(reason), "/dev/ptp%d can only be read to within %lld us",
                 can->phc_index, (long long)(can->uncertainty_ns / TT_NS_PER_US));
        kernel_because(ret_text, reason);
    } else {
        snprintf(ret_text, TT_STAMPS_TEXT,
                 "by the interface (/dev/ptp%d), converted to UTC to within %lld ns",
                 can->phc_index, (long long)can->uncertainty_ns);
        return true;
    }
    return false;
}

static int64_t now_utc_ns(void)
{
    struct timespec now;

    clock_gettime(CLOCK_REALTIME, &now);
    return now.tv_sec * TT_NS_PER_S + now.tv_nsec;
}

void tt_receive_stamps_init(struct tt_receive_stamps *stamps, const char *ifname, bool all)
{
    struct tt_receive_abilities can = {.all = all, .phc_index = -1};
    struct tt_nic nic;
    int64_t ahead_ns;

    *stamps = (struct tt_receive_stamps){.phc_index = -1};
    if (tt_nic_read(ifname, &nic) == 0) {
        can.known = nic.stamps_known;
        can.received = nic.stamps_rx_hardware;
        can.phc_index = nic.phc_index;
    }
    if (can.phc_index >= 0) {
        can.error = tt_phc_minus_tai(can.phc_index, &ahead_ns, &can.uncertainty_ns);
    }
    stamps->phc_index = can.phc_index;
    stamps->hardware = tt_receive_stamps_choose(&can, stamps->text);
}

void tt_receive_stamps_refuse(struct tt_receive_stamps *stamps, const char *reason)
{
    stamps->hardware = false;
    kernel_because(stamps->text, reason);
}

void tt_receive_stamps_follow(struct tt_receive_stamps *stamps)
{
    int64_t mono_ns = tt_cli_now_mono_ns();
    int64_t uncertainty_ns;
    int64_t utc_ns;
    int64_t ahead_ns;
    int tai_offset_s = 0;

    if (!stamps->hardware || mono_ns < stamps->next_mono_ns) {
        return;
    }
    stamps->next_mono_ns = mono_ns + READ_EVERY_NS;
    if (tt_phc_minus_tai(stamps->phc_index, &ahead_ns, &uncertainty_ns) == 0 &&
        tt_clock_tai_offset(&tai_offset_s) == 0 && uncertainty_ns <= UNCERTAINTY_MAX) {
        utc_ns = now_utc_ns();
        tt_stamp_clock_follow(&stamps->clock, utc_ns + tai_offset_s * TT_NS_PER_S + ahead_ns,
                              utc_ns);
    }
}

int64_t tt_receive_stamps_utc(struct tt_receive_stamps *stamps, int64_t stamp_ns)
{
    return stamps->hardware ? tt_stamp_clock_utc(&stamps->clock, stamp_ns, now_utc_ns()) : stamp_ns;
}
