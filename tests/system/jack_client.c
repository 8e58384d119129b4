/*
 * A JACK client for tests: plays numbered frames to the sound card's playback ports, records from
 * its capture ports until the last one came back, and says what came as one line of JSON.
 *
 * JACK's samples are floats; a number below 2^23 divided by 2^23 is one exactly, and crosses a
 * device that takes floats unchanged. The second channel has the negative.
 */
#include <jack/jack.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define FRAMES  48000
#define LEAD    4800          /* of silence, after all is connected */
#define LIMIT   (20 * FRAMES) /* recorded at most */
#define SCALE   8388608.0f
#define NAP_MS  20
#define WAIT_MS 60000

static jack_port_t *ports[4]; /* two that play, two that record */
static const char *const cards[] = {"system:playback_1", "system:playback_2", "system:capture_1",
                                    "system:capture_2"};
static _Atomic int64_t playing = INT64_MIN; /* the next frame to play; the lead is below 0 */
static _Atomic int64_t recorded;
static float *left;
static float *right;
static atomic_bool over;

static void play(float *out_left, float *out_right, jack_nframes_t frames)
{
    int64_t next = atomic_load(&playing);

    for (jack_nframes_t i = 0; i < frames; i++) {
        bool sound = next >= 0 && next < FRAMES;

        out_left[i] = sound ? (float)(next + 1) / SCALE : 0;
        out_right[i] = -out_left[i];
        next += next != INT64_MIN;
    }
    atomic_store(&playing, next);
}

static int process(jack_nframes_t frames, void *context)
{
    int64_t at = atomic_load(&recorded);
    const float *in_left = jack_port_get_buffer(ports[2], frames);
    const float *in_right = jack_port_get_buffer(ports[3], frames);

    (void)context;
    play(jack_port_get_buffer(ports[0], frames), jack_port_get_buffer(ports[1], frames), frames);
    if (at + frames > LIMIT) {
        atomic_store(&over, true);
        return 0;
    }
    memcpy(left + at, in_left, frames * sizeof *left);
    memcpy(right + at, in_right, frames * sizeof *right);
    for (jack_nframes_t i = 0; i < frames; i++) {
        if (in_left[i] == FRAMES / SCALE) {
            atomic_store(&over, true);
        }
    }
    atomic_store(&recorded, at + frames);
    return 0;
}

static void on_shutdown(void *context)
{
    (void)context;
    fputs("jack_client: the server ended\n", stderr);
    _Exit(1);
}

static int fail(const char *what)
{
    fprintf(stderr, "jack_client: %s\n", what);
    return 1;
}

static int start(jack_client_t *client)
{
    jack_set_process_callback(client, process, NULL);
    jack_on_shutdown(client, on_shutdown, NULL);
    for (int i = 0; i < 4; i++) {
        char name[16];

        snprintf(name, sizeof name, "port_%d", i);
        ports[i] = jack_port_register(client, name, JACK_DEFAULT_AUDIO_TYPE,
                                      i < 2 ? JackPortIsOutput : JackPortIsInput, 0);
        if (!ports[i]) {
            return fail("no port");
        }
    }
    if (jack_activate(client) != 0) {
        return fail("it does not start");
    }
    for (int i = 0; i < 4; i++) {
        const char *own = jack_port_name(ports[i]);

        if (jack_connect(client, i < 2 ? own : cards[i], i < 2 ? cards[i] : own) != 0) {
            return fail(cards[i]);
        }
    }
    atomic_store(&playing, -LEAD);
    return 0;
}

static void judge(void)
{
    int64_t heard = 0;
    int64_t missing = 0;
    int64_t foreign = 0;
    int64_t next = 1;

    for (int64_t i = 0; i < atomic_load(&recorded); i++) {
        float number = left[i] * SCALE;

        if (number == 0 && right[i] == 0) {
            continue;
        }
        if (number < (float)next || number > FRAMES || number != (float)(int64_t)number ||
            right[i] != -left[i]) {
            foreign++;
            continue;
        }
        missing += (int64_t)number - next;
        next = (int64_t)number + 1;
        heard++;
    }
    printf("{\"heard\": %lld, \"missing\": %lld, \"foreign\": %lld}\n", (long long)heard,
           (long long)(missing + FRAMES + 1 - next), (long long)foreign);
}

int main(void)
{
    jack_client_t *client = jack_client_open("client", JackNoStartServer, NULL);

    left = calloc(LIMIT, sizeof *left);
    right = calloc(LIMIT, sizeof *right);
    if (!client || !left || !right) {
        return fail("no server, or no memory");
    }
    if (start(client) != 0) {
        return 1;
    }
    for (int ms = 0; ms < WAIT_MS && !atomic_load(&over); ms += NAP_MS) {
        nanosleep(&(struct timespec){.tv_nsec = NAP_MS * 1000000}, NULL);
    }
    jack_client_close(client);
    judge();
    return 0;
}
