/*
 * A link's traffic through the observer. Frames, each behind six bytes: the step of its arrival in
 * us (4, signed), its length (2) of which the top bit says that a snap length has cut it, and the
 * next that nobody knows when it came.
 */
#include "fuzz.h"

#include <stdbool.h>
#include <stdlib.h>

#include "audio/finding.h"
#include "base/bytes.h"

#define STREAMS  4
#define CUT      0x8000
#define UNTIMED  0x4000
#define CUT_FROM 200 /* bytes that the wire had more */

enum {
    STREAM,
    LATE,
    MARGIN,
    CUT_SHORT,
    MALFORMED,
    BEYOND,
    GPTP,
    MASTER,
    MSRP,
    MVRP,
    FINDING,
    NO_TIME,
    SET_BACK,
    REASONS
};

static struct fuzz_reason reasons[REASONS] = {
    [STREAM] = {"a stream", 0},
    [LATE] = {"a lateness", 0},
    [MARGIN] = {"a margin", 0},
    [CUT_SHORT] = {"cut too short", 0},
    [MALFORMED] = {"malformed", 0},
    [BEYOND] = {"a stream too many", 0},
    [GPTP] = {"gPTP", 0},
    [MASTER] = {"a grandmaster", 0},
    [MSRP] = {"MSRP", 0},
    [MVRP] = {"MVRP", 0},
    [FINDING] = {"something is wrong", 0},
    [NO_TIME] = {"a PDU that came nobody knows when", 0},
    [SET_BACK] = {"arrivals that were set back", 0},
};

const struct fuzz_reason *fuzz_reasons(size_t *ret_count)
{
    *ret_count = REASONS;
    return reasons;
}

static void hold(bool invariant)
{
    if (!invariant) {
        abort();
    }
}

static void look_at_stream(const struct tt_observer *observer, const struct tt_observed *o)
{
    struct tt_finding findings[TT_FINDINGS_MAX];
    struct tt_summary summary;

    hold(o->pdus > 0 && o->interval.n <= o->pdus - 1 && o->set_back < o->pdus);
    hold(o->lateness.n <= o->pdus && o->margin.n <= o->pdus);
    hold(o->lateness_history.used <= TT_HISTORY_CELLS);
    tt_hist_summarize(&o->lateness, &summary);
    tt_hist_summarize(&o->margin, &summary);
    reasons[STREAM].reached++;
    reasons[LATE].reached += o->lateness.n > 0;
    reasons[NO_TIME].reached += o->untimed > 0;
    reasons[SET_BACK].reached += o->set_back > 0;
    reasons[MARGIN].reached += o->margin.n > 0;
    reasons[FINDING].reached += tt_findings(observer, o, findings) > 0;
}

static void look(const struct tt_observer *observer)
{
    const struct tt_link_traffic *traffic = &observer->traffic;

    reasons[CUT_SHORT].reached += observer->cut > 0;
    reasons[MALFORMED].reached += observer->malformed > 0;
    reasons[BEYOND].reached += observer->beyond > 0;
    reasons[GPTP].reached += traffic->gptp > 0;
    reasons[MASTER].reached += traffic->grandmaster != 0;
    reasons[MSRP].reached += traffic->msrp > 0;
    reasons[MVRP].reached += traffic->mvrp > 0;
    for (size_t i = 0; i < observer->count; i++) {
        look_at_stream(observer, observer->streams[i]);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct tt_observer observer;
    int64_t now_ns = INT64_C(1800000000000000000);

    if (tt_observer_init(&observer, STREAMS) != 0) {
        return 0;
    }
    while (size >= 6) {
        size_t length = tt_get_be16(data + 4);
        size_t bytes = length & (UNTIMED - 1);
        bool cut = (length & CUT) != 0;

        now_ns += (int64_t)(int32_t)tt_get_be32(data) * 1000;
        data += 6;
        size -= 6;
        bytes = bytes < size ? bytes : size;
        if (length & UNTIMED) {
            tt_observer_untimed(&observer, data, bytes);
        } else {
            hold(
                tt_observer_packet(&observer, data, bytes, cut ? bytes + CUT_FROM : bytes, now_ns));
        }
        data += bytes;
        size -= bytes;
    }
    look(&observer);
    tt_observer_done(&observer);
    return 0;
}
