/*
 * See play.h.
 */
#include "run/play.h"

#include <errno.h>

#include "base/min_max.h"
#include "base/ns.h"
#include "os/clock.h"

#define LEAD_NS    (50 * TT_NS_PER_MS)  /* before the first event */
#define AHEAD_NS   (200 * TT_NS_PER_MS) /* a port that keeps due times gets them so early */
#define NAP_NS     (20 * TT_NS_PER_MS)  /* a stop is noticed after so long */
#define NO_ROOM_NS (200 * TT_NS_PER_US)
#define OFFS_NS    (2 * TT_NS_PER_S) /* the longest that the end may take, beyond the wire's time */

static void sleep_until(int64_t mono_ns)
{
    struct tt_clock *clock = tt_clock_system();

    clock->ops->sleep_until(clock, tt_min64(mono_ns, tt_midi_port_now_ns() + NAP_NS));
}

/* 0; -EAGAIN: it was told to quit, or `until_ns` is past, before the port took all; -errno. */
static int write_whole(struct tt_play *play, const uint8_t *data, size_t n, int64_t due_mono_ns,
                       int64_t until_ns)
{
    size_t at = 0;

    while (at < n) {
        int put = play->port->ops->write(play->port, data + at, n - at, due_mono_ns);

        if (put < 0) {
            return put;
        }
        tt_sounding_sent(&play->sounding, data + at, (size_t)put);
        at += (size_t)put;
        if (put == 0) {
            play->no_room++;
            if (tt_midi_port_now_ns() > until_ns ||
                (until_ns == INT64_MAX &&
                 atomic_load_explicit(&play->quit, memory_order_relaxed))) {
                return -EAGAIN;
            }
            sleep_until(tt_midi_port_now_ns() + NO_ROOM_NS);
        }
    }
    return 0;
}

static int send_output(struct tt_play *play, const struct tt_player_output *output)
{
    int64_t due_mono_ns = play->start_mono_ns + output->due_ns;

    if (output->first) {
        tt_hist_record(play->lateness, tt_midi_port_now_ns() - due_mono_ns);
    }
    return write_whole(play, output->data, output->bytes, play->port->schedules ? due_mono_ns : 0,
                       INT64_MAX);
}

static void silence(struct tt_play *play)
{
    uint8_t offs[TT_SOUNDING_SILENCE_MAX];
    size_t n = tt_sounding_silence(&play->sounding, offs);
    int64_t until_ns;

    if (play->port->schedules) {
        /* What the queue holds comes first. */
        for (int64_t end_ns = tt_midi_port_now_ns() + AHEAD_NS; tt_midi_port_now_ns() < end_ns;) {
            sleep_until(end_ns);
        }
    }
    until_ns = tt_midi_port_now_ns() + OFFS_NS + play->player->byte_ns * (int64_t)n;
    /* Message by message: a sequencer takes nothing else. */
    for (size_t at = 0; at < n;) {
        size_t bytes = offs[at] == TT_MIDI_SYSEX_END ? 1 : 3;

        if (write_whole(play, offs + at, bytes, 0, until_ns) != 0) {
            return;
        }
        at += bytes;
    }
}

static int64_t ahead_of(const struct tt_play *play)
{
    return play->port->schedules ? AHEAD_NS : 0;
}

static void run(void *context)
{
    struct tt_play *play = context;
    int64_t ahead_ns = ahead_of(play);
    int status = 0;

    while (!status && !atomic_load_explicit(&play->quit, memory_order_acquire)) {
        int64_t now_ns = tt_midi_port_now_ns() - play->start_mono_ns;
        struct tt_player_output output;
        int64_t wake_ns;

        if (tt_player_step(play->player, now_ns + ahead_ns, &output, &wake_ns)) {
            status = send_output(play, &output);
            play->sent = status ? play->sent : play->player->sent;
        } else if (wake_ns == INT64_MAX) {
            break;
        } else {
            sleep_until(play->start_mono_ns + wake_ns - ahead_ns);
        }
    }
    play->error = status == -EAGAIN ? 0 : status;
    if (!play->error) {
        silence(play);
    }
    atomic_store_explicit(&play->ended, true, memory_order_release);
}

int tt_play_start(struct tt_play *play)
{
    tt_sounding_init(&play->sounding);
    play->start_mono_ns = tt_midi_port_now_ns() + LEAD_NS + ahead_of(play);
    return tt_thread_start(&play->thread, run, play);
}

void tt_play_stop(struct tt_play *play)
{
    atomic_store_explicit(&play->quit, true, memory_order_release);
    tt_thread_join(&play->thread);
}
