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

/* Named checks of one behaviour each (alsa_behaviour.c); false: there is none of that name. */
bool client_behave(struct client *client, const char *name);

#endif
