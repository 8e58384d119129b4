/*
 * See alsa_hear.h.
 */
#include "alsa_hear.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#define LIMIT_S 20 /* of media */

struct position {
    struct hearing *hearing;
    int64_t frame;
};

static void take(void *context, int64_t number)
{
    struct position *position = context;
    struct hearing *hearing = position->hearing;
    int64_t frame = position->frame++;

    if (number == -1) {
        return;
    }
    if (hearing->heard == 0) {
        hearing->first_frame = frame;
    }
    hearing->last_frame = frame;
    hearing->numbers[hearing->heard++] = number;
}

static bool has_ended(const struct hearing *hearing)
{
    return hearing->heard > 0 &&
           hearing->numbers[hearing->heard - 1] == atomic_load(&hearing->last);
}

static void *record(void *context)
{
    struct hearing *hearing = context;
    struct client *client = &hearing->client;
    struct position position = {.hearing = hearing};
    int64_t limit = LIMIT_S * (int64_t)client->rate;
    int64_t rest = client->rate; /* longer than the transit of the tests */

    while (position.frame < limit && rest > 0 && !has_ended(hearing)) {
        int64_t n;

        while (atomic_load(&hearing->hold)) {
            atomic_store(&hearing->held, true);
            client_sleep_ms(1);
        }
        atomic_store(&hearing->held, false);
        n = client_read(client, limit - position.frame, take, &position);

        if (n == -EPIPE) {
            CLIENT_OK(snd_pcm_prepare(client->pcm));
            CLIENT_OK(snd_pcm_start(client->pcm));
            continue;
        }
        client_ok("read", n);
        rest -= atomic_load(&hearing->ending) ? n : 0;
    }
    return NULL;
}

void hear_start(struct hearing *hearing, const struct client *client)
{
    *hearing = (struct hearing){.last = -1};
    hearing->client = *client;
    hearing->client.device = client->record;
    hearing->client.stream = SND_PCM_STREAM_CAPTURE;
    hearing->client.nonblock = false;
    hearing->client.access = SND_PCM_ACCESS_RW_INTERLEAVED;
    hearing->numbers = calloc(LIMIT_S * (size_t)client->rate, sizeof(*hearing->numbers));
    client_expect(hearing->numbers != NULL, "no memory", 0);
    client_open(&hearing->client);
    CLIENT_OK(snd_pcm_start(hearing->client.pcm));
    client_expect(pthread_create(&hearing->thread, NULL, record, hearing) == 0, "no thread", 0);
}

void hear_hold(struct hearing *hearing)
{
    atomic_store(&hearing->hold, true);
    while (!atomic_load(&hearing->held)) {
        client_sleep_ms(1);
    }
}

void hear_go_on(struct hearing *hearing)
{
    atomic_store(&hearing->hold, false);
}

void hear_end(struct hearing *hearing, int64_t last)
{
    atomic_store(&hearing->last, last);
    atomic_store(&hearing->ending, true);
    pthread_join(hearing->thread, NULL);
    client_close(&hearing->client);
}

void hear_judge(const struct hearing *hearing, const struct segment *segments, size_t n)
{
    int64_t missing = 0;
    int64_t expected = 0;
    size_t at = 0;
    int64_t foreign;

    for (size_t i = 0; i < n; i++) {
        const struct segment *segment = &segments[i];
        int64_t next = segment->first;
        int64_t end = next + segment->frames;

        expected += segment->frames;
        while (at < hearing->heard && hearing->numbers[at] >= next && hearing->numbers[at] < end) {
            missing += hearing->numbers[at] - next;
            next = hearing->numbers[at++] + 1;
        }
        missing += segment->cut ? 0 : end - next;
    }
    foreign = (int64_t)(hearing->heard - at);
    if (foreign > 0) {
        fprintf(stderr, "after %zu frames: %lld\n", at, (long long)hearing->numbers[at]);
    }
    printf("{\"expected\": %lld, \"heard\": %zu, \"missing\": %lld, \"foreign\": %lld, \"silent\": "
           "%lld}\n",
           (long long)expected, hearing->heard, (long long)missing, (long long)foreign,
           hearing->heard > 0 ? (long long)(hearing->last_frame - hearing->first_frame + 1 -
                                            (int64_t)hearing->heard)
                              : 0LL);
}

void hear_done(struct hearing *hearing)
{
    free(hearing->numbers);
    hearing->numbers = NULL;
}
