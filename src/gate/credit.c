/*
 * See credit.h.
 */
#include "gate/credit.h"

#include "base/min_max.h"
#include "base/ns.h"

#define NO_BOUND (INT64_MAX / 2) /* room for a debt beside it */

void tt_credit_init(struct tt_credit *credit, int64_t rate_bps, int64_t idle_bps, int64_t hi_bits)
{
    *credit = (struct tt_credit){
        .rate_bps = rate_bps,
        .idle_bps = idle_bps,
        .hi_nano_bits = hi_bits >= NO_BOUND / TT_NS_PER_S ? NO_BOUND : hi_bits * TT_NS_PER_S,
    };
}

void tt_credit_wait(struct tt_credit *credit, int64_t ns, bool waiting)
{
    int64_t top = waiting ? credit->hi_nano_bits : 0;

    /* Credit is above 0 with nothing waiting only where the last frame of a queue has just gone. */
    if (credit->nano_bits >= top || ns > (top - credit->nano_bits) / credit->idle_bps) {
        credit->nano_bits = top;
    } else {
        credit->nano_bits += ns * credit->idle_bps;
    }
}

void tt_credit_send(struct tt_credit *credit, int64_t wire_bytes)
{
    int64_t bits = wire_bytes * 8;
    int64_t product = bits * credit->idle_bps;
    int64_t gained = product / credit->rate_bps;

    /* Three decimals at a time: 10^9 at once does not fit. */
    for (int i = 0; i < 3; i++) {
        product = product % credit->rate_bps * 1000;
        gained = gained * 1000 + product / credit->rate_bps;
    }
    credit->nano_bits += gained - bits * TT_NS_PER_S;
}

int64_t tt_credit_due_ns(const struct tt_credit *credit)
{
    return credit->nano_bits >= 0 ? 0
                                  : (-credit->nano_bits + credit->idle_bps - 1) / credit->idle_bps;
}

/* a × b / c, rounded up; c > 0, |a × b| below 2^63. */
static int64_t scale_up(int64_t a, int64_t b, int64_t c)
{
    return -tt_floor_div(-(a * b), c);
}

struct tt_credit_figures tt_credit_first(int64_t rate_kbps, int64_t idle_kbps, int64_t other_bytes,
                                         int64_t own_bytes)
{
    int64_t send_kbps = idle_kbps - rate_kbps;

    return (struct tt_credit_figures){
        .idle_kbps = idle_kbps,
        .send_kbps = send_kbps,
        .hi_bytes = scale_up(idle_kbps, other_bytes, rate_kbps),
        .lo_bytes = scale_up(send_kbps, own_bytes, rate_kbps),
    };
}

struct tt_credit_figures tt_credit_second(int64_t rate_kbps, int64_t idle_kbps, int64_t other_bytes,
                                          int64_t own_bytes, int64_t above_kbps,
                                          int64_t above_bytes)
{
    struct tt_credit_figures figures =
        tt_credit_first(rate_kbps, idle_kbps, other_bytes, own_bytes);
    int64_t left_kbps = rate_kbps - above_kbps;

    /* idle × (M0 / left + MA / rate) */
    figures.hi_bytes = scale_up(idle_kbps, other_bytes * rate_kbps + above_bytes * left_kbps,
                                left_kbps * rate_kbps);
    return figures;
}

int64_t tt_credit_gated_kbps(int64_t idle_kbps, int64_t cycle_ns, int64_t open_ns)
{
    int64_t whole = idle_kbps * (cycle_ns / open_ns);

    return whole + scale_up(idle_kbps, cycle_ns % open_ns, open_ns);
}
