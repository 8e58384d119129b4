/*
 * See engine.h.
 */
#include "run/engine.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "audio/avtp.h"
#include "audio/eth.h"
#include "base/min_max.h"
#include "base/ns.h"
#include "os/memory.h"
#include "run/clock_in.h"
#include "run/clock_out.h"
#include "run/due_queue.h"
#include "run/engine_port.h"
#include "run/listen_inside.h"
#include "run/talk_inside.h"
#include "run/thread.h"

#define IDLE_NS (10 * TT_NS_PER_MS)
/* How often the clock's state is looked at: that costs nothing, and is soon enough. */
#define CLOCK_LOOK_NS TT_NS_PER_S

struct tt_engine {
    struct tt_clock *clock;
    struct tt_timebase timebase;
    int64_t clock_look_mono_ns;
    struct tt_engine_thread thread;
    int cpu;
    struct tt_engine_counters counters;

    struct tt_talk **talks;
    struct tt_talk **due;      /* of a step, in order */
    struct tt_due_queue queue; /* those that run, but of the step */
    size_t talk_count;
    struct tt_talk_batch batch;

    struct tt_clock_in *clock_in;
    struct tt_clock_out *clock_out;
    bool talks_begun; /* those that follow a clock wait for it */

    struct tt_engine_port *ports;
    size_t port_count;
};

int tt_engine_new(struct tt_clock *clock, struct tt_engine **ret_engine)
{
    struct tt_engine *engine = tt_memory_new(1, sizeof *engine);

    if (!engine) {
        return -ENOMEM;
    }
    engine->clock = clock;
    engine->cpu = -1;
    *ret_engine = engine;
    return 0;
}

void tt_engine_free(struct tt_engine *engine)
{
    if (!engine) {
        return;
    }
    tt_engine_stop(engine);
    for (size_t i = 0; i < engine->port_count; i++) {
        tt_engine_port_done(&engine->ports[i]);
    }
    free(engine->ports);
    free(engine->talks);
    free(engine->due);
    tt_due_queue_done(&engine->queue);
    free(engine->batch.data);
    free(engine);
}

void tt_engine_set_cpu(struct tt_engine *engine, int cpu)
{
    engine->cpu = cpu;
}

void tt_engine_follow(struct tt_engine *engine, struct tt_clock_in *in)
{
    engine->clock_in = in;
    for (size_t i = 0; i < engine->talk_count && !in; i++) {
        tt_talk_follow(engine->talks[i], NULL);
    }
}

void tt_engine_tell(struct tt_engine *engine, struct tt_clock_out *out)
{
    engine->clock_out = out;
}

/* Room for one more pointer; memory that real-time code reads is touched here, by writing to it. */
static int grow(struct tt_talk ***list, size_t count)
{
    struct tt_talk **longer = realloc(*list, (count + 1) * sizeof(*longer));

    if (!longer) {
        return -ENOMEM;
    }
    longer[count] = NULL;
    *list = longer;
    return 0;
}

int tt_engine_add_talk(struct tt_engine *engine, struct tt_talk *talk, size_t packet_bytes)
{
    struct tt_talk_batch *batch = &engine->batch;

    if (grow(&engine->talks, engine->talk_count) < 0 ||
        grow(&engine->due, engine->talk_count) < 0 ||
        tt_due_queue_reserve(&engine->queue, engine->talk_count + 1) < 0) {
        return -ENOMEM;
    }
    if (packet_bytes > batch->packet_bytes) {
        uint8_t *data = tt_memory_new(TT_LINK_BATCH, packet_bytes);

        if (!data) {
            return -ENOMEM;
        }
        free(batch->data);
        batch->data = data;
        batch->packet_bytes = packet_bytes;
    }
    tt_talker_take_turn(&talk->talker, engine->talk_count);
    engine->talks[engine->talk_count++] = talk;
    return 0;
}

void tt_engine_remove_talk(struct tt_engine *engine, const struct tt_talk *talk)
{
    for (size_t i = 0; i < engine->talk_count; i++) {
        if (engine->talks[i] == talk) {
            engine->talks[i] = engine->talks[--engine->talk_count];
            return;
        }
    }
}

static struct tt_engine_port *port_of(struct tt_engine *engine, struct tt_link *link)
{
    struct tt_engine_port *longer;

    for (size_t i = 0; i < engine->port_count; i++) {
        if (engine->ports[i].link == link) {
            return &engine->ports[i];
        }
    }
    longer = realloc(engine->ports, (engine->port_count + 1) * sizeof(*longer));
    if (!longer) {
        return NULL;
    }
    engine->ports = longer;
    if (tt_engine_port_init(&longer[engine->port_count], link) < 0) {
        return NULL;
    }
    return &longer[engine->port_count++];
}

int tt_engine_add_listen(struct tt_engine *engine, struct tt_listen *listen, struct tt_link *link,
                         uint64_t stream_id)
{
    struct tt_engine_port *port = port_of(engine, link);

    return port ? tt_engine_port_add(port, listen, stream_id) : -ENOMEM;
}

int tt_engine_hand(struct tt_engine *engine, struct tt_link *link,
                   const struct tt_link_packet *packet)
{
    struct tt_engine_port *port = port_of(engine, link);

    return port ? tt_engine_port_hand(port, packet) : -ENOMEM;
}

void tt_engine_remove_listen(struct tt_engine *engine, const struct tt_listen *listen)
{
    for (size_t i = 0; i < engine->port_count; i++) {
        tt_engine_port_remove(&engine->ports[i], listen);
    }
}

const struct tt_timebase *tt_engine_timebase(const struct tt_engine *engine)
{
    return &engine->timebase;
}

void tt_engine_read(const struct tt_engine *engine, struct tt_clock_reading *ret_reading)
{
    engine->clock->ops->read(engine->clock, ret_reading);
}

int64_t tt_engine_mono(const struct tt_engine *engine)
{
    return engine->clock->ops->mono_ns(engine->clock);
}

int64_t tt_engine_tai(const struct tt_engine *engine)
{
    return tt_timebase_tai(&engine->timebase, tt_engine_mono(engine));
}

int tt_engine_tai_offset(const struct tt_engine *engine)
{
    return engine->clock->ops->tai_offset_s(engine->clock);
}

static void look_at_clock(struct tt_engine *engine, int64_t mono_ns)
{
    bool unsynchronised;

    if (mono_ns < engine->clock_look_mono_ns) {
        return;
    }
    engine->clock_look_mono_ns = mono_ns + CLOCK_LOOK_NS;
    unsynchronised = engine->clock->ops->unsynchronised(engine->clock);
    for (size_t i = 0; i < engine->talk_count; i++) {
        tt_talk_set_clock(engine->talks[i], unsynchronised);
    }
    if (engine->clock_out) {
        tt_clock_out_set_clock(engine->clock_out, unsynchronised);
    }
}

static void note_talks(struct tt_engine *engine, unsigned notes)
{
    for (size_t i = 0; i < engine->talk_count; i++) {
        atomic_fetch_or(&engine->talks[i]->notes, notes);
    }
}

static void queue_talks(struct tt_engine *engine)
{
    tt_due_queue_clear(&engine->queue);
    for (size_t i = 0; i < engine->talk_count; i++) {
        if (tt_talk_runs(engine->talks[i])) {
            tt_due_queue_put(&engine->queue, engine->talks[i], engine->talks[i]->next_tai_ns);
        }
    }
}

/* Now, by the followed offset; where TAI stepped, every stream steps with it. */
static int64_t follow_tai(struct tt_engine *engine)
{
    struct tt_clock_reading reading;
    int64_t step_ns;
    int64_t now_tai_ns;

    tt_engine_read(engine, &reading);
    look_at_clock(engine, reading.mono_after_ns);
    step_ns = tt_timebase_follow(&engine->timebase, &reading);
    now_tai_ns = tt_timebase_tai(&engine->timebase, reading.mono_after_ns);
    if (step_ns == 0) {
        return now_tai_ns;
    }
    for (size_t i = 0; i < engine->talk_count; i++) {
        if (tt_talk_runs(engine->talks[i])) {
            tt_talk_clock_step(engine->talks[i], step_ns, now_tai_ns);
        }
    }
    if (engine->talks_begun) {
        queue_talks(engine);
    }
    for (size_t i = 0; i < engine->port_count; i++) {
        tt_engine_port_clock_step(&engine->ports[i], step_ns, now_tai_ns);
    }
    if (engine->clock_in) {
        tt_clock_in_clock_step(engine->clock_in, step_ns);
    }
    if (engine->clock_out && engine->talks_begun) {
        tt_clock_out_clock_step(engine->clock_out, step_ns);
    }
    return now_tai_ns;
}

static void begin_talks(struct tt_engine *engine, int64_t now_tai_ns)
{
    int64_t lead_ns = 0;

    for (size_t i = 0; i < engine->talk_count; i++) {
        lead_ns = tt_max64(lead_ns, tt_talk_start_lead(engine->talks[i]));
    }
    for (size_t i = 0; i < engine->talk_count; i++) {
        tt_talk_begin(engine->talks[i], now_tai_ns + lead_ns, now_tai_ns);
    }
    if (engine->clock_out) {
        tt_clock_out_begin(engine->clock_out, now_tai_ns + lead_ns);
    }
    engine->talks_begun = true;
    queue_talks(engine);
}

/* The clocks of the engine: first what is followed, then what follows it. Returns the time of the
 * next step. */
static int64_t step_clocks(struct tt_engine *engine, int64_t now_tai_ns)
{
    int64_t next_ns = INT64_MAX;

    if (engine->clock_in) {
        const struct tt_media_grid *grid = tt_clock_in_grid(engine->clock_in);

        next_ns = tt_clock_in_step(engine->clock_in, now_tai_ns);
        if (grid->ready && !engine->talks_begun) {
            begin_talks(engine, now_tai_ns);
        }
        if (grid->uncertain && engine->talks_begun) {
            note_talks(engine, tt_clock_in_is_held(engine->clock_in) ? TT_NOTE_MASTER_LOST
                                                                     : TT_NOTE_MASTER_UNCERTAIN);
        }
    }
    if (engine->clock_out && engine->talks_begun) {
        next_ns = tt_min64(next_ns, tt_clock_out_step(engine->clock_out, now_tai_ns));
    }
    return next_ns;
}

static void step_talks(struct tt_engine *engine, int64_t now_tai_ns)
{
    struct tt_talk *talk;
    size_t n = 0;

    engine->batch.link = NULL; /* each step asks again whether it is up */
    while ((talk = tt_due_queue_take(&engine->queue, now_tai_ns)) != NULL) {
        if (tt_talk_runs(talk)) {
            tt_talk_gather(talk, now_tai_ns, &engine->batch);
            engine->due[n++] = talk;
        }
    }
    if (n == 0) {
        return;
    }
    now_tai_ns = tt_talk_flush(engine, &engine->batch);
    for (size_t i = 0; i < n; i++) {
        talk = engine->due[i];
        tt_talk_conclude(talk, now_tai_ns);
        if (tt_talk_runs(talk)) {
            tt_due_queue_put(&engine->queue, talk, talk->next_tai_ns);
        }
    }
}

int64_t tt_engine_step(struct tt_engine *engine)
{
    int64_t now_tai_ns = follow_tai(engine);
    int64_t next_ns = tt_min64(step_clocks(engine, now_tai_ns), now_tai_ns + IDLE_NS);
    const struct tt_due *first;

    engine->counters.steps++;
    step_talks(engine, now_tai_ns);
    for (size_t i = 0; i < engine->port_count; i++) {
        tt_engine_port_step(&engine->ports[i], now_tai_ns, &engine->counters);
        next_ns = tt_min64(next_ns, tt_engine_port_next(&engine->ports[i]));
    }
    first = tt_due_queue_at(&engine->queue, 0);
    if (first) {
        next_ns = tt_min64(next_ns, first->tai_ns);
    }
    return tt_timebase_mono(&engine->timebase, next_ns);
}

static int64_t step_of_thread(void *engine)
{
    return tt_engine_step(engine);
}

/* Whoever is due so soon after the first that a late wake-up would be late for it too. */
static enum tt_wait wait_of_thread(void *context)
{
    const struct tt_due_queue *queue = &((const struct tt_engine *)context)->queue;
    const struct tt_due *due = tt_due_queue_at(queue, 0);
    int64_t until_ns = due ? due->tai_ns + TT_WAKE_LATENESS_MAX_NS : 0;

    for (size_t i = 0; due && due->tai_ns <= until_ns; due = tt_due_queue_at(queue, ++i)) {
        if (tt_talk_is_paced(due->talk)) {
            return tt_talk_is_behind(due->talk) ? TT_WAIT_CATCH_UP : TT_WAIT_ON_TIME;
        }
    }
    return TT_WAIT_ASLEEP;
}

static void begin_all(struct tt_engine *engine)
{
    const struct tt_media_grid *grid = NULL;
    int64_t now_tai_ns;

    engine->timebase.valid = false; /* a step while it was stopped is none */
    engine->clock_look_mono_ns = INT64_MIN;
    for (size_t i = 0; i < engine->port_count; i++) {
        tt_engine_port_empty(&engine->ports[i]);
    }
    engine->talks_begun = false;
    tt_due_queue_clear(&engine->queue);
    now_tai_ns = follow_tai(engine);
    if (engine->clock_in) {
        tt_clock_in_begin(engine->clock_in, now_tai_ns);
        grid = tt_clock_in_grid(engine->clock_in);
        for (size_t i = 0; i < engine->talk_count; i++) {
            tt_talk_follow(engine->talks[i], grid);
        }
    }
    if (!grid || grid->ready) {
        begin_talks(engine, now_tai_ns);
    }
    for (size_t i = 0; i < engine->port_count; i++) {
        tt_engine_port_begin(&engine->ports[i], now_tai_ns);
    }
}

static void note_all(struct tt_engine *engine, unsigned notes)
{
    note_talks(engine, notes);
    for (size_t i = 0; i < engine->port_count; i++) {
        tt_engine_port_note(&engine->ports[i], notes);
    }
}

int tt_engine_start(struct tt_engine *engine, bool thread)
{
    int error = 0;

    tt_engine_stop(engine);
    begin_all(engine);
    if (!thread) {
        return 0;
    }
    error = tt_engine_thread_start(&engine->thread, engine->clock, step_of_thread, wait_of_thread,
                                   engine);
    if (error == 0 && engine->cpu >= 0) {
        error = tt_thread_pin(&engine->thread.thread, engine->cpu);
    }
    if (error < 0) {
        tt_engine_stop(engine);
    } else if (!engine->thread.thread.realtime) {
        note_all(engine, TT_NOTE_NO_REALTIME);
    }
    return error;
}

void tt_engine_stop(struct tt_engine *engine)
{
    tt_engine_thread_stop(&engine->thread);
    for (size_t i = 0; i < engine->talk_count; i++) {
        tt_talk_end(engine->talks[i]);
    }
    for (size_t i = 0; i < engine->port_count; i++) {
        tt_engine_port_end(&engine->ports[i], follow_tai(engine), &engine->counters);
    }
}

struct tt_engine_counters tt_engine_counters(const struct tt_engine *engine)
{
    struct tt_engine_counters counters = engine->counters;

    counters.send_calls = engine->batch.calls;
    return counters;
}
