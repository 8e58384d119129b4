/*
 * See meter_loop.h.
 */
#include "run/meter_loop.h"

#include "base/min_max.h"
#include "base/ns.h"

/* A reading may cost a cycle so much, on average. */
#define READING_SHARE_NS 300
#define MIDI_CHUNKS      32

/* The times at which MIDI came in whose sound is in the fragment. */
struct heard {
    int64_t time_ns[MIDI_CHUNKS];
    int count;
};

void tt_meter_loop_start(struct tt_meter_loop *loop, const struct tt_fragment_shape *shape,
                         int64_t start_ns, int64_t plan_ns)
{
    tt_fragments_init(&loop->fragments, shape, start_ns, plan_ns);
    loop->period_ns = tt_fragment_shape_period_ns(shape);
    loop->readings_apart = 1 + tt_meter_host_reading_cost_ns(loop->host) / READING_SHARE_NS;
    loop->since_reading = 0;
    loop->lost = false;
    loop->midi_lost = 0;
    loop->error = 0;
}

static void read_midi(struct tt_meter_loop *loop, struct heard *heard)
{
    struct tt_midi_chunk chunks[MIDI_CHUNKS];
    struct tt_midi_port_loss loss = {0};
    int n;

    heard->count = 0;
    if (!loop->midi) {
        return;
    }
    n = loop->midi->ops->read(loop->midi, chunks, MIDI_CHUNKS, &loss);
    loop->midi_lost += loss.until_mono_ns != 0;
    if (n < 0) {
        loop->error = n;
        return;
    }
    for (int i = 0; i < n; i++) {
        heard->time_ns[heard->count++] = chunks[i].time_mono_ns;
    }
}

static void wait_for_room(struct tt_meter_loop *loop, struct tt_cycle *cycle)
{
    struct tt_meter_host *host = loop->host;
    int64_t due_ns = tt_fragments_due_ns(&loop->fragments, loop->fragments.next);

    cycle->done_ns = cycle->computed_ns < due_ns ? cycle->computed_ns : host->ops->now_ns(host);
    while (cycle->done_ns < due_ns) { /* again after a signal */
        host->ops->sleep_until(host, due_ns);
        cycle->sleeps++;
        cycle->done_ns = host->ops->now_ns(host);
    }
    tt_fragments_hand_over(&loop->fragments, cycle->done_ns, &cycle->fate);
}

/* The sound of what came in begins with its fragment, or, where that is late, when it is there. */
static void tell_midi(struct tt_meter_loop *loop, const struct heard *heard,
                      const struct tt_cycle *cycle)
{
    unsigned count = loop->fragments.shape.count;
    int64_t ahead_ns = count == 0 ? 0 : (count - 1) * loop->period_ns;
    int64_t offset_ns = loop->card ? loop->card->offset_ns : 0;
    int64_t sound_ns = tt_max64(cycle->fate.due_ns + ahead_ns, cycle->done_ns) - offset_ns;

    for (int i = 0; i < heard->count; i++) {
        struct tt_meter_entry entry = {.kind = TT_METER_MIDI,
                                       .latency_ns = sound_ns - heard->time_ns[i]};

        tt_meter_ring_put(loop->ring, &entry);
    }
}

static void tell_reading(struct tt_meter_loop *loop, const struct tt_cycle *cycle)
{
    struct tt_meter_entry entry = {.kind = TT_METER_READING};
    bool loss = tt_cycle_is_loss(&cycle->fate, loop->period_ns);

    /* Behind a loss too: a good cycle ends it, however soon the next one comes. */
    if (++loop->since_reading >= loop->readings_apart || loss || loop->lost) {
        loop->host->ops->read(loop->host, &entry.reading);
        tt_meter_ring_put(loop->ring, &entry);
        loop->since_reading = 0;
    }
    loop->lost = loss;
}

static void tell_round_trip(struct tt_meter_loop *loop, int64_t latency_ns)
{
    struct tt_meter_entry entry = {.kind = TT_METER_ROUND_TRIP, .latency_ns = latency_ns};

    if (latency_ns >= 0) {
        tt_meter_ring_put(loop->ring, &entry);
    }
}

bool tt_meter_loop_cycle(struct tt_meter_loop *loop)
{
    struct tt_meter_host *host = loop->host;
    struct tt_meter_entry entry = {.kind = TT_METER_CYCLE};
    struct tt_cycle *cycle = &entry.cycle;
    struct heard heard;

    cycle->begin_ns = host->ops->now_ns(host);
    read_midi(loop, &heard);
    host->ops->compute(host, loop->units, &cycle->gap_ns);
    cycle->computed_ns = host->ops->now_ns(host);
    if (loop->card) {
        int64_t round_trip_ns = -1;
        int error = tt_meter_card_cycle(loop->card, host, &loop->fragments, cycle, &round_trip_ns);

        loop->error = error ? error : loop->error;
        tell_round_trip(loop, round_trip_ns);
    } else {
        wait_for_room(loop, cycle);
    }
    if (loop->error) {
        return false;
    }
    tt_meter_ring_put(loop->ring, &entry);
    tell_midi(loop, &heard, cycle);
    tell_reading(loop, cycle);
    if (loop->interrupted && loop->interrupted()) {
        tt_fragments_cut(&loop->fragments, cycle->done_ns);
    }
    return !tt_fragments_over(&loop->fragments);
}
