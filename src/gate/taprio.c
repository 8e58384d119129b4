/*
 * See taprio.h.
 */
#include "gate/taprio.h"

#include "base/min_max.h"
#include "base/ns.h"
#include "gate/wire_time.h"

const char *tt_gate_keeper_text(enum tt_gate_keeper keeper)
{
    static const char *const texts[TT_KEEPERS] = {
        [TT_KEEPER_WIRE] = "as the standard says",
        [TT_KEEPER_LINUX_5_12] = "as Linux before 5.13 does",
        [TT_KEEPER_LINUX_6_1] = "as Linux 5.13 to 6.2 does",
        [TT_KEEPER_LINUX_6_12] = "as Linux from 6.3 does",
    };

    return texts[keeper];
}

enum tt_gate_keeper tt_gate_keeper_of(const struct tt_gate_port *port)
{
    if (!port->list || port->bridge || port->mode != TT_GATE_SOFTWARE || port->kernel == 0) {
        return TT_KEEPER_WIRE;
    }
    return port->kernel < 5013   ? TT_KEEPER_LINUX_5_12
           : port->kernel < 6003 ? TT_KEEPER_LINUX_6_1
                                 : TT_KEEPER_LINUX_6_12;
}

/* The longest entry of the class by itself. */
static int64_t longest_entry(const struct tt_gate_list *list, unsigned class)
{
    int64_t longest_ns = 0;

    for (size_t i = 0; i < list->segment_count; i++) {
        struct tt_gate_window entry;
        uint32_t mask =
            tt_gate_list_segment(list, list->base_tai_ns + list->segments[i].start_ns, &entry);

        if (mask >> class & 1) {
            longest_ns = tt_max64(longest_ns, entry.close_ns - entry.open_ns);
        }
    }
    return longest_ns;
}

void tt_taprio_init(struct tt_taprio *taprio, const struct tt_gate_port *port,
                    enum tt_gate_keeper keeper)
{
    const struct tt_gate_list *list = port->list;

    *taprio = (struct tt_taprio){.list = list,
                                 .keeper = keeper,
                                 .rate_bps = tt_gate_rate(port),
                                 .extra_bytes = port->size_table ? TT_WIRE_EXTRA_BYTES : 0,
                                 .entry_ns = INT64_MIN};
    for (unsigned c = 0; keeper != TT_KEEPER_WIRE && c < TT_GATE_CLASSES; c++) {
        taprio->longest_ns[c] =
            keeper == TT_KEEPER_LINUX_6_12 ? list->classes[c].longest_ns : longest_entry(list, c);
    }
}

int64_t tt_taprio_frame(const struct tt_taprio *taprio, int64_t frame_bytes)
{
    return frame_bytes + taprio->extra_bytes;
}

int64_t tt_taprio_bytes(const struct tt_taprio *taprio, const struct tt_flow *flow,
                        uint32_t segments)
{
    int64_t bytes = tt_taprio_frame(taprio, flow->frame_bytes * segments);

    /* The headers of all but the first segment are forgotten. */
    if (taprio->keeper == TT_KEEPER_LINUX_5_12) {
        bytes -= (flow->frame_bytes - flow->payload_bytes) * (segments - 1);
    }
    return bytes;
}

static int64_t bytes_in(const struct tt_taprio *taprio, int64_t ns)
{
    /* Whole seconds apart, lest it overflow. */
    return ns / TT_NS_PER_S * (taprio->rate_bps / 8) +
           ns % TT_NS_PER_S * (taprio->rate_bps / 1000) / 8000000;
}

static int64_t ns_of(const struct tt_taprio *taprio, int64_t bytes)
{
    return bytes * 8 * TT_NS_PER_S / taprio->rate_bps;
}

bool tt_taprio_cuts(const struct tt_taprio *taprio, unsigned class, int64_t bytes)
{
    int64_t longest_ns = taprio->longest_ns[class];

    return taprio->keeper == TT_KEEPER_LINUX_6_1 ||
           (taprio->keeper == TT_KEEPER_LINUX_6_12 && longest_ns != INT64_MAX &&
            bytes > bytes_in(taprio, longest_ns));
}

bool tt_taprio_ever(const struct tt_taprio *taprio, unsigned class, int64_t bytes)
{
    return ns_of(taprio, bytes) <= taprio->longest_ns[class];
}

int64_t tt_taprio_overrun_ns(const struct tt_taprio *taprio, unsigned class, int64_t bytes,
                             int64_t wire_ns)
{
    int64_t longest_ns = taprio->longest_ns[class];
    int64_t n = longest_ns == INT64_MAX ? 0 : bytes_in(taprio, longest_ns) / bytes;

    return tt_max64(0, n * wire_ns - ns_of(taprio, bytes));
}

static int64_t close_of(const struct tt_taprio *taprio, unsigned class, int64_t now_ns)
{
    struct tt_gate_window window = {0, INT64_MAX};

    tt_gate_list_window(taprio->list, class, now_ns, &window);
    return window.close_ns;
}

/* A new entry, a new budget. */
static void enter(struct tt_taprio *taprio, const struct tt_gate_window *entry, uint32_t mask)
{
    if (taprio->entry_ns == entry->open_ns) {
        return;
    }
    taprio->entry_ns = entry->open_ns;
    if (taprio->keeper != TT_KEEPER_LINUX_6_12) {
        taprio->budget_bytes[0] = bytes_in(taprio, entry->close_ns - entry->open_ns);
        return;
    }
    for (unsigned c = 0; c < TT_GATE_CLASSES; c++) {
        int64_t close_ns = close_of(taprio, c, entry->open_ns);

        if (mask >> c & 1) {
            taprio->budget_bytes[c] =
                close_ns == INT64_MAX ? INT64_MAX : bytes_in(taprio, close_ns - entry->open_ns);
        }
    }
}

bool tt_taprio_takes(struct tt_taprio *taprio, unsigned class, int64_t bytes, int64_t now_ns)
{
    bool joined = taprio->keeper == TT_KEEPER_LINUX_6_12;
    int64_t *budget_bytes = &taprio->budget_bytes[joined ? class : 0];
    int64_t end_ns = now_ns + ns_of(taprio, bytes);
    struct tt_gate_window entry;
    uint32_t mask = tt_gate_list_segment(taprio->list, now_ns, &entry);
    int64_t close_ns;

    enter(taprio, &entry, mask);
    if ((mask >> class & 1) == 0) {
        return false;
    }
    close_ns = joined ? close_of(taprio, class, now_ns) : entry.close_ns;
    if (joined ? end_ns >= close_ns : end_ns > close_ns) {
        return false;
    }
    if (*budget_bytes != INT64_MAX) {
        *budget_bytes -= bytes;
    }
    return *budget_bytes >= 0;
}
