/*
 * What the ALSA test client's parts share: a PCM opened with given parameters, and a pattern in
 * which every frame says which one it is.
 */
#ifndef TT_TESTS_ALSA_CLIENT_H
#define TT_TESTS_ALSA_CLIENT_H

#include <alsa/asoundlib.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct client {
    const char *device;
    snd_pcm_stream_t stream;
    snd_pcm_access_t access;
    snd_pcm_format_t format;
    unsigned channels; /* >= 2 */
    unsigned rate;
    snd_pcm_uframes_t buffer;
    snd_pcm_uframes_t period;
    bool nonblock; /* and polls */
    int64_t frames;
    const char *record; /* the device that hears what this one plays */

    snd_pcm_t *pcm;
    unsigned sample_bytes;
    uint8_t *memory; /* one period */
};

/* Prints what went wrong and ends the program with 1. */
void client_fail(const char *what, int64_t value) __attribute__((noreturn));
/* Fails where an ALSA call returned an error. */
#define CLIENT_OK(call) client_ok(#call, (call))
int64_t client_ok(const char *what, int64_t result);

/* Opens and sets the parameters; fails where that is refused. */
void client_open(struct client *client);
void client_close(struct client *client);
/* Blocks in poll until ALSA says the device is ready, 10 s at most; returns the events. */
unsigned short client_poll(struct client *client);

/* The frame of number `index` (>= 0) in the program's memory at areas + offset, … */
void client_put(const struct client *client, const snd_pcm_channel_area_t *areas,
                snd_pcm_uframes_t offset, int64_t index);
/* … and back: its number, -1 for silence, -2 for anything else. */
int64_t client_get(const struct client *client, const snd_pcm_channel_area_t *areas,
                   snd_pcm_uframes_t offset);
/* Areas over client->memory, for the reading and writing accesses. */
void client_areas(const struct client *client, snd_pcm_channel_area_t *ret_areas);

/* Writes or reads up to a period by the access at hand: frames done, 0 where it would block, or
 * -EPIPE. `first` is the number of the first frame to write; read frames go to `sink`. */
int64_t client_write(struct client *client, int64_t first, int64_t frames);
int64_t client_read(struct client *client, int64_t frames,
                    void (*sink)(void *context, int64_t index), void *context);

/* Writes frames first ... first + frames - 1 and waits as it has to; returns how many xruns there
 * were. */
int64_t client_write_all(struct client *client, int64_t first, int64_t frames);
/* Drains and waits for the end of it. */
void client_drain(struct client *client);

/* Fails with `value` where the condition does not hold. */
void client_expect(bool condition, const char *what, int64_t value);
void client_expect_state(struct client *client, snd_pcm_state_t state);
void client_sleep_ms(long ms);
/* The software parameters of an open device, changed. */
void client_set_thresholds(struct client *client, snd_pcm_uframes_t avail_min,
                           snd_pcm_uframes_t start, snd_pcm_uframes_t stop);
/* A stop threshold that is never reached. */
snd_pcm_uframes_t client_boundary(struct client *client);
/* Entries in a folder of /proc, such as the process's descriptors. */
int client_entries(const char *path);
#define CLIENT_FDS     "/proc/self/fd"
#define CLIENT_THREADS "/proc/self/task"

/* Named checks of one behaviour each (alsa_behaviour.c); false: there is none of that name. */
bool client_behave(struct client *client, const char *name);
/* Named ways to use the device (alsa_uses.c), most of them with what is heard; the same. */
bool client_use(struct client *client, const char *name);

#endif
