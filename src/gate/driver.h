/*
 * What Linux drivers cannot do of what taprio, cbs and etf ask for. They refuse without a reason,
 * or take it and do something else; so it is said before the kernel is asked.
 * Source: the drivers in the kernel's drivers/net/ethernet, read at 7.x.
 */
#ifndef TT_GATE_DRIVER_H
#define TT_GATE_DRIVER_H

#include <stdbool.h>
#include <stdint.h>

enum tt_gate_driver {
    TT_DRIVER_OTHER,
    TT_DRIVER_IGC,
    TT_DRIVER_IGB,
    TT_DRIVER_STMMAC,
    TT_DRIVER_AM65_CPSW,
    TT_DRIVER_FELIX,
    TT_DRIVER_LAN966X,
    TT_DRIVER_SJA1105,
    TT_DRIVER_HELLCREEK,
    TT_DRIVER_ENETC,
    TT_DRIVER_VETH,
    TT_DRIVER_TUN,
    TT_DRIVERS
};

struct tt_driver_limits {
    const char *name;
    const char *also[3];     /* as `ethtool -i` has it, or its module */
    const char *device;      /* what people know it by */
    int64_t entries_max;     /* 0: no limit known */
    int64_t interval_min_ns; /* 0: … */
    int64_t interval_max_ns;
    int64_t cycle_min_ns;
    int64_t cycle_max_ns;
    int64_t tick_ns; /* all times are multiples; 0: any */
    bool offload;    /* has gates in hardware */
    bool no_extension;
    bool set_only;   /* no hold or release */
    bool opens_once; /* each class opens once a cycle */
    bool no_future_base;
    bool static_guard; /* a window loses the time of the longest frame */
    bool needs_up;
    bool excludes_etf;   /* gates and launch times not together */
    bool entries_vary;   /* entries_max is the smallest of several variants */
    unsigned cbs_queues; /* bit q: queue q has a shaper; 0: not known */
};

#define TT_DRIVER_NAME 32

/* By any of its names; ret_unknown is the name where it is not known, else empty. */
void tt_gate_driver_set(enum tt_gate_driver *ret_driver, char ret_unknown[TT_DRIVER_NAME],
                        const char *name);
const struct tt_driver_limits *tt_gate_driver_limits(enum tt_gate_driver driver);

#endif
