/*
 * See driver.h.
 */
#include "gate/driver.h"

#include <stddef.h>
#include <stdio.h>

#include "base/attr.h"
#include "base/ns.h"
#include "base/word.h"

static const struct tt_driver_limits limits[TT_DRIVERS] = {
    [TT_DRIVER_OTHER] = {.name = "other", .device = "a driver that is not known here"},
    [TT_DRIVER_IGC] = {.name = "igc",
                       .device = "Intel i225/i226",
                       .offload = true,
                       .no_extension = true,
                       .set_only = true,
                       .opens_once = true,
                       .no_future_base = true},
    [TT_DRIVER_IGB] = {.name = "igb", .device = "Intel i210", .cbs_queues = 0x3},
    [TT_DRIVER_STMMAC] = {.name = "stmmac",
                          .also = {"st_gmac", "st_xgmac", "stmmaceth"},
                          .device = "Synopsys DesignWare",
                          .offload = true,
                          .entries_max = 64,
                          .entries_vary = true,
                          .interval_max_ns = (1 << 16) - 1,
                          .cbs_queues = 0xfe},
    [TT_DRIVER_AM65_CPSW] = {.name = "am65-cpsw",
                             .also = {"am65-cpsw-nuss"},
                             .device = "TI AM65x",
                             .offload = true,
                             .entries_max = 64,
                             .entries_vary = true,
                             .no_extension = true,
                             .needs_up = true},
    [TT_DRIVER_FELIX] = {.name = "felix",
                         .also = {"mscc_felix"},
                         .device = "NXP Felix (LS1028A)",
                         .offload = true,
                         .entries_max = 63,
                         .cycle_max_ns = TT_NS_PER_S,
                         .static_guard = true},
    [TT_DRIVER_LAN966X] = {.name = "lan966x",
                           .also = {"lan966x-switch"},
                           .device = "Microchip LAN966x",
                           .offload = true,
                           .interval_min_ns = TT_NS_PER_US,
                           .interval_max_ns = TT_NS_PER_S,
                           .cycle_min_ns = TT_NS_PER_US,
                           .cycle_max_ns = TT_NS_PER_S,
                           .no_extension = true},
    [TT_DRIVER_SJA1105] = {.name = "sja1105",
                           .device = "NXP SJA1105",
                           .offload = true,
                           .tick_ns = 200},
    [TT_DRIVER_HELLCREEK] = {.name = "hellcreek",
                             .device = "Hirschmann Hellcreek",
                             .offload = true,
                             .set_only = true,
                             .no_extension = true},
    [TT_DRIVER_ENETC] = {.name = "enetc",
                         .also = {"fsl_enetc", "fsl_enetc_vf"},
                         .device = "NXP ENETC (LS1028A)",
                         .offload = true,
                         .excludes_etf = true,
                         .cbs_queues = 0xc0},
    [TT_DRIVER_VETH] = {.name = "veth", .device = "a virtual pair"},
    [TT_DRIVER_TUN] = {.name = "tun", .device = "a TAP"},
};

static bool is_named(const struct tt_driver_limits *driver, const char *name)
{
    bool named = tt_word_same(driver->name, name);

    for (size_t i = 0; i < TT_COUNT_OF(driver->also) && driver->also[i]; i++) {
        named = named || tt_word_same(driver->also[i], name);
    }
    return named;
}

void tt_gate_driver_set(enum tt_gate_driver *ret_driver, char ret_unknown[TT_DRIVER_NAME],
                        const char *name)
{
    *ret_driver = TT_DRIVER_OTHER;
    ret_unknown[0] = 0;
    for (int i = 1; i < TT_DRIVERS; i++) {
        if (is_named(&limits[i], name)) {
            *ret_driver = (enum tt_gate_driver)i;
            return;
        }
    }
    snprintf(ret_unknown, TT_DRIVER_NAME, "%s", name);
}

const struct tt_driver_limits *tt_gate_driver_limits(enum tt_gate_driver driver)
{
    return &limits[driver];
}
