/*
 * `tactus doctor`: what this user may do, and how the scheduler treats real-time threads; the
 * plugin in ALSA's configuration.
 */
#include <errno.h>
#include <inttypes.h>
#include <linux/capability.h>
#include <net/if.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/ns.h"
#include "cli/doctor.h"
#include "os/alsa_config.h"
#include "os/machine.h"
#include "report/plural.h"

#define MEMLOCK_GOOD_BYTES (INT64_C(64) << 20)

/* The effective capabilities of this process, as bits. */
static bool read_capabilities(uint64_t *ret_bits)
{
    FILE *file = fopen("/proc/self/status", "re");
    char line[256];
    bool found = false;

    while (file && !found && fgets(line, sizeof(line), file)) {
        found = sscanf(line, "CapEff: %" SCNx64, ret_bits) == 1;
    }
    if (file) {
        fclose(file);
    }
    return found;
}

static void check_capability(struct tt_doctor *doctor, const char *name, bool has,
                             const char *capability, const char *costs)
{
    struct tt_check *check = tt_check_add(doctor, name, has ? TT_CHECK_GOOD : TT_CHECK_WARNING);

    tt_check_found(check, "%s %s", capability, has ? "is there" : "is missing");
    if (!has) {
        tt_check_costs(check, "%s", costs);
        tt_check_mend(check, "sudo setcap cap_net_raw,cap_net_admin,cap_sys_nice+ep \"$(command -v "
                             "tactus)\"");
    }
}

static void check_capabilities(struct tt_doctor *doctor)
{
    uint64_t bits = 0;
    bool known = read_capabilities(&bits);

    if (!known) {
        tt_check_found(tt_check_add(doctor, "cap_net_raw", TT_CHECK_UNKNOWN),
                       "/proc/self/status does not say");
        return;
    }
    check_capability(doctor, "cap_net_raw", (bits >> CAP_NET_RAW & 1) != 0, "CAP_NET_RAW",
                     "no raw Ethernet: nothing can be sent, received or captured");
    check_capability(doctor, "cap_net_admin", (bits >> CAP_NET_ADMIN & 1) != 0, "CAP_NET_ADMIN",
                     "launch times cannot be used: the kernel asks for it where they go by "
                     "CLOCK_TAI, and priorities above 6");
}

static void check_realtime(struct tt_doctor *doctor, const struct tt_machine_facts *machine)
{
    struct tt_check *check =
        tt_check_add(doctor, "realtime", machine->realtime ? TT_CHECK_GOOD : TT_CHECK_WARNING);

    tt_check_found(check, "SCHED_FIFO is %s (limit %" PRId64 ")",
                   machine->realtime ? "granted" : "refused", machine->rtprio_limit);
    if (!machine->realtime) {
        tt_check_costs(check, "packets are late whenever another program is busy");
        tt_check_mend(check,
                      "echo '@audio - rtprio 95' | sudo tee "
                      "/etc/security/limits.d/95-tactus.conf && sudo adduser \"$USER\" audio   "
                      "# and log in again");
    }
}

static void check_memlock(struct tt_doctor *doctor, const struct tt_machine_facts *machine)
{
    int64_t limit = machine->memlock_limit_bytes;
    struct tt_check *check;

    if (limit == TT_MACHINE_UNKNOWN) {
        tt_check_found(tt_check_add(doctor, "memory_lock", TT_CHECK_UNKNOWN),
                       "the limit cannot be read");
        return;
    }
    check = tt_check_add(doctor, "memory_lock",
                         limit >= MEMLOCK_GOOD_BYTES || geteuid() == 0 ? TT_CHECK_GOOD
                                                                       : TT_CHECK_WARNING);
    if (limit == INT64_MAX) {
        tt_check_found(check, "any amount of memory may be locked");
    } else {
        tt_check_found(check, "%" PRId64 " MB of memory may be locked%s", limit >> 20,
                       geteuid() == 0 ? ", and root may lock all" : "");
    }
    if (check->status == TT_CHECK_WARNING) {
        tt_check_costs(check, "a page that was swapped out stops a stream for milliseconds");
        tt_check_mend(check, "echo '@audio - memlock unlimited' | sudo tee -a "
                             "/etc/security/limits.d/95-tactus.conf");
    }
}

static void check_throttling(struct tt_doctor *doctor, const struct tt_machine_facts *machine)
{
    const struct tt_machine_throttle *throttle = &machine->throttle;
    struct tt_check *check;

    if (throttle->runtime_ns == TT_MACHINE_UNKNOWN) {
        tt_check_found(tt_check_add(doctor, "rt_throttling", TT_CHECK_UNKNOWN),
                       "/proc/sys/kernel/sched_rt_runtime_us cannot be read");
        return;
    }
    if (throttle->runtime_ns < 0 || throttle->runtime_ns >= throttle->period_ns) {
        tt_check_found(tt_check_add(doctor, "rt_throttling", TT_CHECK_GOOD),
                       "real-time threads are not throttled");
        return;
    }
    check = tt_check_add(doctor, "rt_throttling", TT_CHECK_NOTE);
    tt_check_found(check, "real-time threads may run %" PRId64 " ms of each %" PRId64 " ms",
                   throttle->runtime_ns / TT_NS_PER_MS, throttle->period_ns / TT_NS_PER_MS);
    tt_check_costs(check, "if all of them together take more, they stand still for %" PRId64 " ms",
                   (throttle->period_ns - throttle->runtime_ns) / TT_NS_PER_MS);
    tt_check_mend(check, throttle->fair_server ? "echo 0 | sudo tee "
                                                 "/sys/kernel/debug/sched/fair_server/cpu*/runtime"
                                               : "sudo sysctl kernel.sched_rt_runtime_us=-1");
}

static void check_governor(struct tt_doctor *doctor, const struct tt_machine_facts *machine)
{
    bool slow = strcmp(machine->governor, "powersave") == 0 ||
                strcmp(machine->governor, "ondemand") == 0 ||
                strcmp(machine->governor, "conservative") == 0;
    struct tt_check *check = tt_check_add(doctor, "governor", slow ? TT_CHECK_NOTE : TT_CHECK_GOOD);

    tt_check_found(check, "the processor's frequency is governed by: %s",
                   machine->governor[0] ? machine->governor : "unknown");
    if (slow) {
        tt_check_costs(check, "after a pause the processor is slow for some ms");
        tt_check_mend(check, "sudo cpupower frequency-set -g performance");
    }
}

void tt_doctor_rights(struct tt_doctor *doctor)
{
    struct tt_machine_facts machine;

    tt_machine_facts(-1, &machine);
    check_capabilities(doctor);
    check_realtime(doctor, &machine);
    check_memlock(doctor, &machine);
    check_throttling(doctor, &machine);
    check_governor(doctor, &machine);
}

static void check_devices(struct tt_doctor *doctor, const struct tt_alsa_config *config)
{
    struct tt_check *check;
    size_t bad = 0;

    for (size_t i = 0; i < config->device_count; i++) {
        const struct tt_alsa_device *device = &config->devices[i];

        if (device->ifname[0] == 0 || if_nametoindex(device->ifname) == 0) {
            check = tt_check_add(doctor, "alsa_device", TT_CHECK_FAULT);
            tt_check_found(check, "pcm.%s names the interface \"%s\", which is not here",
                           device->name, device->ifname);
            tt_check_costs(check, "it cannot be opened");
            tt_check_mend(check, "ip link   # and correct its ifname in ~/.asoundrc");
            bad++;
            break; /* one tells how it is; the list has a limit */
        }
    }
    if (bad == 0) {
        check = tt_check_add(doctor, "alsa_device",
                             config->device_count > 0 ? TT_CHECK_GOOD : TT_CHECK_NOTE);
        tt_check_found(check, "%zu %s defined with the plugin%s%s", config->device_count,
                       tt_plural(config->device_count, "device is", "devices are"),
                       config->device_count > 0 ? ", such as pcm." : "",
                       config->device_count > 0 ? config->devices[0].name : "");
        if (config->device_count == 0) {
            tt_check_costs(check, "ALSA programs have nothing to open; talk and listen need none");
            tt_check_mend(check, "man tactus-alsa   # has a block for ~/.asoundrc");
        }
    }
}

void tt_doctor_alsa(struct tt_doctor *doctor)
{
    struct tt_alsa_config *config = malloc(sizeof(*config));
    int rc = config ? tt_alsa_config_read(config) : -ENOMEM;
    struct tt_check *check;

    if (rc) {
        check = tt_check_add(doctor, "alsa_config", TT_CHECK_FAULT);
        tt_check_found(check, "ALSA's configuration cannot be read: %s", strerror(-rc));
        tt_check_costs(check, "no ALSA program works");
        tt_check_mend(check, "aplay -L   # it names the line");
    } else if (!config->known || access(config->library, R_OK) != 0) {
        check = tt_check_add(doctor, "alsa_config", TT_CHECK_WARNING);
        if (config->known) {
            tt_check_found(check, "ALSA looks for the plugin in %s, which is not there",
                           config->library);
        } else {
            tt_check_found(check, "ALSA does not know the plugin");
        }
        tt_check_costs(check, "`type tactus` in an ALSA configuration fails");
        tt_check_mend(check, "sudo ./dev install /usr   # from the sources");
    } else {
        check = tt_check_add(doctor, "alsa_config", TT_CHECK_GOOD);
        tt_check_found(check, "the plugin is %.300s", config->library);
    }
    if (rc == 0) {
        check_devices(doctor, config);
    }
    free(config);
}
