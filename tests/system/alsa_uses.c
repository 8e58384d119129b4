/*
 * Ways to play and to record, each with what is heard of it.
 */
#include "alsa_uses.h"

#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>

#include "alsa_hear.h"

#define FRESH 100000 /* the number of a frame that was not played before */

/* Plays `frames` frames, drains, and says what was heard. */
static void play_and_judge(struct client *client, struct hearing *hearing, int64_t frames)
{
    struct segment all = {.frames = frames};

    client_write_all(client, 0, frames);
    client_drain(client);
    client_expect_state(client, SND_PCM_STATE_SETUP);
    hear_end(hearing, frames - 1);
    hear_judge(hearing, &all, 1);
    hear_done(hearing);
    client_close(client);
}

/* snd_pcm_mmap_writei on one side, snd_pcm_mmap_readi on the other: what `plug` and others call. */
static void use_mmap_calls(struct client *client)
{
    struct hearing hearing;
    struct segment all = {.frames = 30000};
    snd_pcm_channel_area_t areas[16];

    hear_start(&hearing, client);
    client->access = SND_PCM_ACCESS_MMAP_INTERLEAVED;
    client_open(client);
    client->access = SND_PCM_ACCESS_RW_INTERLEAVED; /* for the program's own memory */
    client_areas(client, areas);
    for (int64_t done = 0; done < all.frames;) {
        int64_t n = all.frames - done;

        n = n < (int64_t)client->period ? n : (int64_t)client->period;
        for (int64_t i = 0; i < n; i++) {
            client_put(client, areas, (snd_pcm_uframes_t)i, done + i);
        }
        done += CLIENT_OK(snd_pcm_mmap_writei(client->pcm, client->memory, (snd_pcm_uframes_t)n));
    }
    client_drain(client);
    hear_end(&hearing, all.frames - 1);
    hear_judge(&hearing, &all, 1);
    hear_done(&hearing);
    client_close(client);
}

/* A loop around poll that is woken at `avail_min` frames, whatever the period is. */
static void poll_at(struct client *client, snd_pcm_uframes_t avail_min)
{
    struct hearing hearing;

    hear_start(&hearing, client);
    client->nonblock = true;
    client_open(client);
    client_set_thresholds(client, avail_min, client->buffer, client->buffer);
    play_and_judge(client, &hearing, 30000);
}

static void use_avail_min_1(struct client *client)
{
    poll_at(client, 1);
}

static void use_avail_min_odd(struct client *client)
{
    poll_at(client, 1237);
}

static void use_avail_min_half(struct client *client)
{
    poll_at(client, client->buffer / 2);
}

/* The period's wake-ups, which such a program turns off, cannot be turned off, and it finds that
 * out. */
static void expect_wakeups(struct client *client)
{
    snd_pcm_hw_params_t *hw;
    snd_pcm_t *pcm;

    CLIENT_OK(snd_pcm_open(&pcm, client->device, client->stream, 0));
    snd_pcm_hw_params_alloca(&hw);
    CLIENT_OK(snd_pcm_hw_params_any(pcm, hw));
    client_expect(!snd_pcm_hw_params_can_disable_period_wakeup(hw), "wake-ups can be turned off",
                  1);
    client_expect(snd_pcm_hw_params_set_period_wakeup(pcm, hw, 0) == -EINVAL,
                  "wake-ups are turned off", 0);
    CLIENT_OK(snd_pcm_hw_params_set_period_wakeup(pcm, hw, 1));
    CLIENT_OK(snd_pcm_close(pcm));
}

/* No poll at all, as in programs that keep time by themselves: a timer, the pointer, mmap. */
static void use_timer(struct client *client)
{
    struct hearing hearing;
    struct segment all = {.frames = 36000};

    expect_wakeups(client);
    hear_start(&hearing, client);
    client->nonblock = true;
    client->access = SND_PCM_ACCESS_MMAP_NONINTERLEAVED;
    client_open(client);
    client_set_thresholds(client, client->buffer, client->buffer, client_boundary(client));
    for (int64_t done = 0; done < all.frames;) {
        done += client_ok("write", client_write(client, done, all.frames - done));
        if (snd_pcm_avail(client->pcm) == 0) {
            client_sleep_ms(5);
        }
    }
    client_drain(client);
    hear_end(&hearing, all.frames - 1);
    hear_judge(&hearing, &all, 1);
    hear_done(&hearing);
    client_close(client);
}

/* A blocking program becomes one that does not block, and back. */
static void use_nonblock_later(struct client *client)
{
    struct hearing hearing;

    hear_start(&hearing, client);
    client_open(client);
    client_write_all(client, 0, 12000);
    CLIENT_OK(snd_pcm_nonblock(client->pcm, 1));
    client_write_all(client, 12000, 24000);
    client_expect(client_write(client, 36000, (int64_t)client->period) <= (int64_t)client->period,
                  "a write that does not block", 0);
    CLIENT_OK(snd_pcm_nonblock(client->pcm, 0));
    CLIENT_OK(snd_pcm_drain(client->pcm));
    hear_end(&hearing, -1);
    hear_judge(&hearing, (struct segment[]){{.frames = 36000}, {36000, 4800, true}}, 2);
    hear_done(&hearing);
    client_close(client);
}

static void drain_odd(struct client *client, int64_t frames, bool nonblock)
{
    struct hearing hearing;

    hear_start(&hearing, client);
    client->nonblock = nonblock;
    client_open(client);
    play_and_judge(client, &hearing, frames);
}

/* Neither a multiple of a period nor of a packet: all of it is sent. */
static void use_drain_partial(struct client *client)
{
    drain_odd(client, 2 * (int64_t)client->buffer - 1111, false);
}

static void use_drain_partial_nonblock(struct client *client)
{
    drain_odd(client, 2 * (int64_t)client->buffer - 1111, true);
}

/* Less than what would have started the device. */
static void use_drain_one_frame(struct client *client)
{
    drain_odd(client, 1, false);
}

/* alsa-lib ends a paused plugin's stream at once: what was not sent is dropped, and nothing hangs.
 */
static void use_drain_paused(struct client *client)
{
    struct hearing hearing;

    hear_start(&hearing, client);
    client_open(client);
    client_write_all(client, 0, (int64_t)client->buffer);
    CLIENT_OK(snd_pcm_pause(client->pcm, 1));
    CLIENT_OK(snd_pcm_drain(client->pcm));
    client_expect_state(client, SND_PCM_STATE_SETUP);
    CLIENT_OK(snd_pcm_prepare(client->pcm));
    client_write_all(client, FRESH, 4800);
    client_drain(client);
    hear_end(&hearing, FRESH + 4799);
    hear_judge(&hearing,
               (struct segment[]){{0, (int64_t)client->buffer, true}, {FRESH, 4800, false}}, 2);
    hear_done(&hearing);
    client_close(client);
}

/* What was dropped is never heard, neither at once nor when the device runs again. */
static void use_drop(struct client *client)
{
    struct hearing hearing;

    hear_start(&hearing, client);
    client_open(client);
    client_write_all(client, 0, (int64_t)client->buffer);
    CLIENT_OK(snd_pcm_drop(client->pcm));
    CLIENT_OK(snd_pcm_prepare(client->pcm));
    client_write_all(client, FRESH, 4800);
    client_drain(client);
    hear_end(&hearing, FRESH + 4799);
    hear_judge(&hearing,
               (struct segment[]){{0, (int64_t)client->buffer, true}, {FRESH, 4800, false}}, 2);
    hear_done(&hearing);
    client_close(client);
}

/* A pause loses nothing. */
static void use_pause(struct client *client)
{
    struct hearing hearing;

    hear_start(&hearing, client);
    client_open(client);
    client_write_all(client, 0, (int64_t)client->buffer);
    for (int i = 0; i < 3; i++) {
        if (snd_pcm_pause(client->pcm, 1) == 0) { /* not where the machine slept a whole buffer */
            client_sleep_ms(30);
            CLIENT_OK(snd_pcm_pause(client->pcm, 0));
        }
        client_write_all(client, (int64_t)client->buffer + i * 4800, 4800);
    }
    client_drain(client);
    hear_end(&hearing, (int64_t)client->buffer + 14399);
    hear_judge(&hearing, (struct segment[]){{0, (int64_t)client->buffer + 14400, false}}, 1);
    hear_done(&hearing);
    client_close(client);
}

/* What a rewind takes back is not heard; what is written in its place is. */
static void use_rewind(struct client *client)
{
    struct hearing hearing;
    int64_t buffer = (int64_t)client->buffer;
    int64_t back = buffer / 2;

    hear_start(&hearing, client);
    client_open(client);
    client_write_all(client, 0, 1000);
    client_expect(snd_pcm_rewind(client->pcm, 400) == 400, "rewind before the start", 0);
    client_write_all(client, 1000, buffer - 600);
    client_expect_state(client, SND_PCM_STATE_RUNNING);
    client_expect(snd_pcm_rewindable(client->pcm) >= back, "rewindable", back);
    client_expect(snd_pcm_rewind(client->pcm, (snd_pcm_uframes_t)back) == back, "rewind", back);
    client_write_all(client, FRESH, buffer);
    client_drain(client);
    hear_end(&hearing, FRESH + buffer - 1);
    hear_judge(&hearing,
               (struct segment[]){
                   {0, 600, false}, {1000, buffer - 600 - back, false}, {FRESH, buffer, false}},
               3);
    hear_done(&hearing);
    client_close(client);
}

/* What a program forwards over is silence, and not what the buffer held before. */
static void use_forward(struct client *client)
{
    struct hearing hearing;
    int64_t buffer = (int64_t)client->buffer;

    hear_start(&hearing, client);
    client_open(client);
    client_write_all(client, 0, buffer);
    client_drain(client);
    CLIENT_OK(snd_pcm_prepare(client->pcm));
    client_write_all(client, FRESH, 1000);
    client_expect(snd_pcm_forward(client->pcm, 4800) == 4800, "forward", 0);
    client_write_all(client, FRESH + 1000, 1000);
    client_drain(client);
    hear_end(&hearing, FRESH + 1999);
    hear_judge(&hearing, (struct segment[]){{0, buffer, false}, {FRESH, 2000, false}}, 2);
    hear_done(&hearing);
    client_close(client);
}

/* ALSA lets a program rewind beyond what there is; the device refuses to write there. */
static void use_rewind_far(struct client *client)
{
    client_open(client);
    client_write_all(client, 0, 100);
    CLIENT_OK(snd_pcm_rewind(client->pcm, client->buffer));
    client_expect(client_write(client, 0, 100) == -EINVAL, "a write before the begin", 0);
    CLIENT_OK(snd_pcm_drop(client->pcm));
    CLIENT_OK(snd_pcm_prepare(client->pcm));
    client_write_all(client, 0, 100);
    client_close(client);
}

static void set_silence(struct client *client, snd_pcm_uframes_t threshold, snd_pcm_uframes_t size)
{
    snd_pcm_sw_params_t *sw;

    snd_pcm_sw_params_alloca(&sw);
    CLIENT_OK(snd_pcm_sw_params_current(client->pcm, sw));
    CLIENT_OK(snd_pcm_sw_params_set_silence_threshold(client->pcm, sw, threshold));
    CLIENT_OK(snd_pcm_sw_params_set_silence_size(client->pcm, sw, size));
    CLIENT_OK(snd_pcm_sw_params(client->pcm, sw));
}

/* A device that never stops plays silence once there is nothing, whatever the silence thresholds
 * are, and a program that comes back forwards over what it missed. */
static void use_silence(struct client *client)
{
    struct hearing hearing;
    snd_pcm_sframes_t avail;
    snd_pcm_sframes_t lead = (snd_pcm_sframes_t)client->buffer / 2;

    hear_start(&hearing, client);
    client_open(client);
    client_set_thresholds(client, client->period, 1, client_boundary(client));
    set_silence(client, client->period, client->period);
    set_silence(client, 0, client_boundary(client));
    client_write_all(client, 0, lead);
    while ((avail = snd_pcm_avail(client->pcm)) < (snd_pcm_sframes_t)client->buffer + 4800) {
        CLIENT_OK(avail);
        client_sleep_ms(5);
    }
    avail -= lead;
    client_expect(snd_pcm_forward(client->pcm, (snd_pcm_uframes_t)avail) == avail, "forward",
                  avail);
    client_write_all(client, FRESH, lead);
    client_drain(client);
    hear_end(&hearing, FRESH + lead - 1);
    hear_judge(&hearing, (struct segment[]){{0, lead, false}, {FRESH, lead, false}}, 2);
    hear_done(&hearing);
    client_close(client);
}

/* A blocked writer's buffer is the smallest there is, and its writes are larger than it. */
static void use_small_buffer(struct client *client)
{
    struct hearing hearing;

    hear_start(&hearing, client);
    client->buffer = 2400;
    client->period = 2400;
    client_open(client);
    client_expect(client->buffer < 4800, "a small buffer", (int64_t)client->buffer);
    play_and_judge(client, &hearing, 24000);
}

static void *speak(void *context)
{
    struct client *client = context;

    client_open(client);
    client_write_all(client, 0, 48000);
    client_drain(client);
    client_close(client);
    return NULL;
}

struct numbers {
    int64_t first;
    int64_t count;
    int64_t next;
};

static void note(void *context, int64_t number)
{
    struct numbers *numbers = context;

    if (number < 0) {
        return;
    }
    if (numbers->count++ == 0) {
        numbers->first = number;
    }
    numbers->next = number + 1;
}

static void read_exactly(struct client *client, int64_t frames, struct numbers *ret_numbers)
{
    *ret_numbers = (struct numbers){0};
    while (frames > 0) {
        frames -= client_ok("read", client_read(client, frames, note, ret_numbers));
    }
}

/* What was read can be read again, and what is forwarded over is not read. */
static void use_rewind_capture(struct client *client)
{
    struct client player = *client;
    struct numbers once;
    struct numbers again;
    pthread_t thread;

    client->device = client->record;
    client->stream = SND_PCM_STREAM_CAPTURE;
    client_open(client);
    client_set_thresholds(client, client->period, 1, client_boundary(client));
    CLIENT_OK(snd_pcm_start(client->pcm));
    client_expect(pthread_create(&thread, NULL, speak, &player) == 0, "no thread", 0);
    do {
        read_exactly(client, 4800, &once);
    } while (once.count < 4800);
    CLIENT_OK(snd_pcm_rewind(client->pcm, 4800));
    read_exactly(client, 4800, &again);
    client_expect(again.first == once.first && again.next == once.next, "read again", again.first);
    CLIENT_OK(snd_pcm_wait(client->pcm, 10000));
    client_expect(snd_pcm_forward(client->pcm, 1000) == 1000, "forward", 0);
    read_exactly(client, 480, &again);
    client_expect(again.count == 0 || again.first >= once.next + 1000, "read what was left out",
                  again.first);
    pthread_join(thread, NULL);
    client_close(client);
}

/* What is there is read before the end of it is said. */
static void use_drain_capture(struct client *client)
{
    client->device = client->record;
    client->stream = SND_PCM_STREAM_CAPTURE;
    client_open(client);
    CLIENT_OK(snd_pcm_start(client->pcm));
    CLIENT_OK(snd_pcm_wait(client->pcm, 10000));
    CLIENT_OK(snd_pcm_drain(client->pcm));
    client_expect_state(client, SND_PCM_STATE_SETUP);
    CLIENT_OK(snd_pcm_prepare(client->pcm));
    CLIENT_OK(snd_pcm_start(client->pcm));
    CLIENT_OK(snd_pcm_wait(client->pcm, 10000));
    client_close(client);
}

#define PAIRS 4

/* As many talkers as listeners in one process, in one loop around poll. Each talker's numbers are
 * its own, so that streams that mix show. */
static void use_eight_devices(struct client *client)
{
    char names[2 * PAIRS][16];
    struct client players[PAIRS];
    struct hearing hearings[PAIRS];
    int64_t done[PAIRS] = {0};
    int64_t frames = 24000;
    int left = PAIRS;

    for (int i = 0; i < PAIRS; i++) {
        snprintf(names[i], sizeof(names[i]), "play%d", i);
        snprintf(names[PAIRS + i], sizeof(names[i]), "record%d", i);
        players[i] = *client;
        players[i].device = names[i];
        players[i].record = names[PAIRS + i];
        players[i].nonblock = true;
        hear_start(&hearings[i], &players[i]);
        client_open(&players[i]);
    }
    while (left > 0) {
        struct pollfd fds[PAIRS];

        for (int i = 0; i < PAIRS; i++) {
            unsigned short events;

            CLIENT_OK(snd_pcm_poll_descriptors(players[i].pcm, &fds[i], 1));
            if (poll(&fds[i], 1, 1) == 0 || done[i] == frames) {
                continue;
            }
            CLIENT_OK(snd_pcm_poll_descriptors_revents(players[i].pcm, &fds[i], 1, &events));
            if (events != 0) {
                done[i] += client_ok(
                    "write", client_write(&players[i], i * FRESH + done[i], frames - done[i]));
            }
            if (done[i] == frames) {
                snd_pcm_drain(players[i].pcm); /* goes on by itself */
                left--;
            }
        }
    }
    for (int i = 0; i < PAIRS; i++) {
        client_drain(&players[i]);
        client_close(&players[i]);
    }
    for (int i = 0; i < PAIRS; i++) {
        hear_end(&hearings[i], i * FRESH + frames - 1);
        hear_judge(&hearings[i], &(struct segment){i * FRESH, frames, false}, 1);
        hear_done(&hearings[i]);
    }
}

const struct client_case playing_cases[] = {
    {"mmap_calls", use_mmap_calls},
    {"avail_min_1", use_avail_min_1},
    {"avail_min_odd", use_avail_min_odd},
    {"avail_min_half", use_avail_min_half},
    {"timer", use_timer},
    {"nonblock_later", use_nonblock_later},
    {"small_buffer", use_small_buffer},
    {"drain_partial", use_drain_partial},
    {"drain_partial_nonblock", use_drain_partial_nonblock},
    {"drain_one_frame", use_drain_one_frame},
    {"drain_paused", use_drain_paused},
    {"drain_capture", use_drain_capture},
    {"drop_unheard", use_drop},
    {"pause_heard", use_pause},
    {"rewind_heard", use_rewind},
    {"rewind_far", use_rewind_far},
    {"rewind_capture", use_rewind_capture},
    {"forward_silent", use_forward},
    {"silence", use_silence},
    {"eight_devices", use_eight_devices},
    {NULL, NULL},
};

bool client_use(struct client *client, const char *name)
{
    const struct client_case *const tables[] = {playing_cases, asking_cases, process_cases,
                                                refusing_cases};

    for (size_t i = 0; i < sizeof(tables) / sizeof(tables[0]); i++) {
        for (const struct client_case *c = tables[i]; c->name; c++) {
            if (strcmp(c->name, name) == 0) {
                c->run(client);
                return true;
            }
        }
    }
    return false;
}
