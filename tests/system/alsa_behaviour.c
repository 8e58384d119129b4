/*
 * One behaviour of the device each: what ALSA promises a program, checked through ALSA alone.
 * Nothing here depends on how fast the machine is: waits are bounded from above by far, and where
 * the device may have been too slow (an xrun) the promise is that this is a state that can be
 * recovered.
 */
#include "alsa_client.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static void ignore(void *context, int64_t index)
{
    (void)context;
    (void)index;
}

/* Fills the buffer, which starts the device. */
static void fill(struct client *client)
{
    for (int64_t done = 0; done < (int64_t)client->buffer;) {
        done += client_ok("write", client_write(client, done, (int64_t)client->buffer - done));
    }
}

/* What a machine that stood still for a whole buffer makes of it. */
static bool overrun(struct client *client)
{
    return snd_pcm_avail(client->pcm) == -EPIPE;
}

static void behave_pause(struct client *client)
{
    snd_pcm_sframes_t before;
    snd_pcm_sframes_t after;

    fill(client);
    client_expect_state(client, SND_PCM_STATE_RUNNING);
    if (snd_pcm_pause(client->pcm, 1) < 0) {
        client_expect(overrun(client), "pause was refused", 0);
        return;
    }
    client_expect_state(client, SND_PCM_STATE_PAUSED);
    before = snd_pcm_avail(client->pcm);
    client_sleep_ms(100);
    after = snd_pcm_avail(client->pcm);
    client_expect(before == after, "the device moved while it was paused", after - before);
    CLIENT_OK(snd_pcm_pause(client->pcm, 0));
    client_expect_state(client, SND_PCM_STATE_RUNNING);
    CLIENT_OK(snd_pcm_drain(client->pcm));
    client_expect_state(client, SND_PCM_STATE_SETUP);
}

static void behave_pause_capture(struct client *client)
{
    snd_pcm_sframes_t before;
    snd_pcm_sframes_t after;

    CLIENT_OK(snd_pcm_start(client->pcm));
    client_sleep_ms(100);
    CLIENT_OK(snd_pcm_pause(client->pcm, 1));
    before = snd_pcm_avail(client->pcm);
    client_sleep_ms(100);
    after = snd_pcm_avail(client->pcm);
    client_expect(before == after, "the device moved while it was paused", after - before);
    CLIENT_OK(snd_pcm_pause(client->pcm, 0));
    after = snd_pcm_avail(client->pcm);
    client_expect(after == -EPIPE || after >= before, "what was recorded is lost", after - before);
    CLIENT_OK(snd_pcm_drop(client->pcm));
}

static void behave_drop(struct client *client)
{
    for (int round = 0; round < 3; round++) {
        fill(client);
        CLIENT_OK(snd_pcm_drop(client->pcm));
        client_expect_state(client, SND_PCM_STATE_SETUP);
        CLIENT_OK(snd_pcm_prepare(client->pcm));
        client_expect_state(client, SND_PCM_STATE_PREPARED);
        client_expect(snd_pcm_avail(client->pcm) == (snd_pcm_sframes_t)client->buffer,
                      "the buffer is not empty after drop and prepare", snd_pcm_avail(client->pcm));
    }
}

/* All that was written is sent: a buffer that did not start the device, one that did, none. */
static void behave_drain(struct client *client)
{
    CLIENT_OK(client_write(client, 0, 100));
    client_expect_state(client, SND_PCM_STATE_PREPARED);
    CLIENT_OK(snd_pcm_drain(client->pcm));
    client_expect_state(client, SND_PCM_STATE_SETUP);
    CLIENT_OK(snd_pcm_prepare(client->pcm));
    fill(client);
    CLIENT_OK(snd_pcm_drain(client->pcm));
    client_expect_state(client, SND_PCM_STATE_SETUP);
    CLIENT_OK(snd_pcm_prepare(client->pcm));
    CLIENT_OK(snd_pcm_drain(client->pcm));
}

static void behave_drain_nonblock(struct client *client)
{
    int error;
    int polls = 0;

    fill(client);
    while ((error = snd_pcm_drain(client->pcm)) == -EAGAIN) {
        client_expect(client_poll(client) & POLLOUT, "poll while draining", 0);
        polls++;
        client_expect(polls < 1000, "drain spins", polls);
    }
    CLIENT_OK(error);
    client_expect_state(client, SND_PCM_STATE_SETUP);
}

/* While nothing is written the delay only falls, and it reaches beyond the buffer by the transit.
 */
static void behave_delay(struct client *client)
{
    snd_pcm_sframes_t last;
    snd_pcm_sframes_t delay;

    CLIENT_OK(client_write(client, 0, 1000));
    CLIENT_OK(snd_pcm_delay(client->pcm, &delay));
    client_expect(delay == 1000, "delay before the start", delay);
    fill(client);
    if (snd_pcm_delay(client->pcm, &last) < 0) {
        client_expect(overrun(client), "no delay while running", 0);
        return;
    }
    for (int i = 0; i < 200; i++) {
        if (snd_pcm_delay(client->pcm, &delay) < 0) {
            client_expect(overrun(client), "no delay while running", 0);
            return;
        }
        client_expect(delay <= last, "the delay rose", delay - last);
        last = delay;
        client_sleep_ms(1);
    }
    CLIENT_OK(snd_pcm_drop(client->pcm));
}

static void behave_xrun(struct client *client)
{
    snd_pcm_sframes_t avail;

    fill(client);
    for (int i = 0; (avail = snd_pcm_avail(client->pcm)) >= 0; i++) {
        client_expect(i < 1000, "no xrun with an empty buffer", avail);
        client_sleep_ms(10);
    }
    client_expect(avail == -EPIPE, "avail after an xrun", avail);
    client_expect_state(client, SND_PCM_STATE_XRUN);
    client_expect(client_write(client, 0, 10) == -EPIPE, "a write after an xrun", 0);
    CLIENT_OK(snd_pcm_prepare(client->pcm));
    fill(client);
    CLIENT_OK(snd_pcm_drain(client->pcm));
}

/* A reader that is too slow, and one that polls, learn the same. */
static void behave_xrun_capture(struct client *client)
{
    int64_t n = 0;

    CLIENT_OK(snd_pcm_start(client->pcm));
    for (int i = 0; snd_pcm_avail(client->pcm) >= 0; i++) {
        client_expect(i < 1000, "no xrun with a full buffer", 0);
        client_sleep_ms(10);
    }
    client_expect_state(client, SND_PCM_STATE_XRUN);
    CLIENT_OK(snd_pcm_prepare(client->pcm));
    CLIENT_OK(snd_pcm_start(client->pcm));
    while (n < (int64_t)client->period) {
        n += client_ok("read", client_read(client, (int64_t)client->period - n, ignore, NULL));
    }
}

static void behave_xrun_poll(struct client *client)
{
    unsigned short events;

    fill(client);
    for (int i = 0; !((events = client_poll(client)) & POLLERR); i++) {
        client_expect(i < 1000000, "no POLLERR after an xrun", events);
    }
    client_expect_state(client, SND_PCM_STATE_XRUN);
    client_expect(snd_pcm_wait(client->pcm, 1000) == -EPIPE, "wait after an xrun", 0);
    CLIENT_OK(snd_pcm_prepare(client->pcm));
}

static void set_endless(struct client *client)
{
    client_set_thresholds(client, client->period, client->buffer, client_boundary(client));
}

/* With the stop threshold at the boundary the device runs on in silence, and the program may come
 * back: it forwards over what it missed. */
static void behave_endless(struct client *client)
{
    snd_pcm_sframes_t avail;

    set_endless(client);
    fill(client);
    for (int i = 0; (avail = snd_pcm_avail(client->pcm)) <= (snd_pcm_sframes_t)client->buffer;
         i++) {
        client_expect(avail >= 0, "an endless device stopped", avail);
        client_expect(i < 1000, "an endless device stands still", avail);
        client_sleep_ms(10);
    }
    client_expect_state(client, SND_PCM_STATE_RUNNING);
    CLIENT_OK(snd_pcm_forward(client->pcm, (snd_pcm_uframes_t)avail));
    avail = snd_pcm_avail(client->pcm);
    client_expect(avail >= 0 && avail < (snd_pcm_sframes_t)client->buffer + 48000,
                  "avail after forwarding", avail);
    CLIENT_OK(snd_pcm_drop(client->pcm));
}

static void behave_rewind(struct client *client)
{
    snd_pcm_sframes_t n = (snd_pcm_sframes_t)client->buffer / 2;
    snd_pcm_sframes_t avail;

    set_endless(client);
    CLIENT_OK(client_write(client, 0, 1000));
    client_expect(snd_pcm_rewind(client->pcm, 400) == 400, "rewind before the start", 0);
    CLIENT_OK(client_write(client, 600, 400));
    fill(client);
    CLIENT_OK(snd_pcm_rewindable(client->pcm));
    n = client_ok("rewind", snd_pcm_rewind(client->pcm, (snd_pcm_uframes_t)n));
    avail = snd_pcm_avail(client->pcm);
    client_expect(avail >= n, "avail after rewinding", avail);
    for (int64_t done = 0; done < n;) {
        done += client_ok("write", client_write(client, done, n - done));
    }
    CLIENT_OK(snd_pcm_drop(client->pcm));
}

/* snd_pcm_reset while running empties the buffer; whatever follows is no chaos. */
static void behave_reset(struct client *client)
{
    snd_pcm_sframes_t avail;

    set_endless(client);
    fill(client);
    CLIENT_OK(snd_pcm_reset(client->pcm));
    avail = snd_pcm_avail(client->pcm);
    client_expect(avail >= (snd_pcm_sframes_t)client->buffer &&
                      avail < (snd_pcm_sframes_t)client->buffer + 480000,
                  "avail after a reset", avail);
    CLIENT_OK(snd_pcm_drop(client->pcm));
}

static void expect_nothing_left(const char *what, int fds, int threads)
{
    client_expect(client_entries(CLIENT_FDS) == fds, what, client_entries(CLIENT_FDS) - fds);
    client_expect(client_entries(CLIENT_THREADS) == threads, what,
                  client_entries(CLIENT_THREADS) - threads);
}

static void run(struct client *client)
{
    if (client->stream == SND_PCM_STREAM_CAPTURE) {
        CLIENT_OK(snd_pcm_start(client->pcm));
    } else {
        fill(client);
    }
}

static void behave_reopen(struct client *client)
{
    int fds;
    int threads = client_entries(CLIENT_THREADS);

    client_close(client);
    fds = client_entries(CLIENT_FDS);
    for (int i = 0; i < 30; i++) {
        client_open(client);
        if (i % 3 == 1) {
            run(client);
        }
        client_close(client);
    }
    expect_nothing_left("open and close leave something behind", fds, threads);
    client_open(client);
}

static void expect_close_on_exec(void)
{
    for (int fd = STDERR_FILENO + 1; fd < 256; fd++) {
        int flags = fcntl(fd, F_GETFD);

        client_expect(flags < 0 || (flags & FD_CLOEXEC), "a descriptor survives exec", fd);
    }
}

/* Every descriptor closes on exec, and a child that closes its copy does not stop the parent. */
static void behave_fork(struct client *client)
{
    int status = 0;
    pid_t child;

    set_endless(client);
    fill(client);
    expect_close_on_exec();
    fflush(NULL);
    child = fork();
    if (child == 0) {
        client_close(client);
        _exit(0);
    }
    client_expect(child > 0 && waitpid(child, &status, 0) == child, "fork", errno);
    client_expect(WIFEXITED(status) && WEXITSTATUS(status) == 0, "the child's end", status);
    for (int i = 0; i < 3; i++) {
        snd_pcm_sframes_t before = snd_pcm_avail(client->pcm);

        client_sleep_ms(100);
        client_expect(snd_pcm_avail(client->pcm) > before, "the parent's device stands still",
                      before);
    }
    CLIENT_OK(snd_pcm_drop(client->pcm));
}

static void behave_refit(struct client *client)
{
    for (int i = 0; i < 4; i++) {
        fill(client);
        free(client->memory);
        client->memory = NULL;
        CLIENT_OK(snd_pcm_drop(client->pcm));
        CLIENT_OK(snd_pcm_hw_free(client->pcm));
        CLIENT_OK(snd_pcm_set_params(client->pcm, client->format, client->access, client->channels,
                                     i % 2 ? 48000 : 96000, 0, 200000));
        CLIENT_OK(snd_pcm_get_params(client->pcm, &client->buffer, &client->period));
        client->memory = calloc(client->period, (size_t)client->channels * client->sample_bytes);
    }
}

static const struct {
    const char *name;
    void (*run)(struct client *client);
    snd_pcm_stream_t stream;
    bool nonblock;
} behaviours[] = {
    {"pause", behave_pause, SND_PCM_STREAM_PLAYBACK, false},
    {"pause_capture", behave_pause_capture, SND_PCM_STREAM_CAPTURE, false},
    {"drop", behave_drop, SND_PCM_STREAM_PLAYBACK, false},
    {"drain", behave_drain, SND_PCM_STREAM_PLAYBACK, false},
    {"drain_nonblock", behave_drain_nonblock, SND_PCM_STREAM_PLAYBACK, true},
    {"delay", behave_delay, SND_PCM_STREAM_PLAYBACK, false},
    {"xrun", behave_xrun, SND_PCM_STREAM_PLAYBACK, false},
    {"xrun_capture", behave_xrun_capture, SND_PCM_STREAM_CAPTURE, false},
    {"xrun_poll", behave_xrun_poll, SND_PCM_STREAM_PLAYBACK, true},
    {"endless", behave_endless, SND_PCM_STREAM_PLAYBACK, false},
    {"rewind", behave_rewind, SND_PCM_STREAM_PLAYBACK, false},
    {"reset", behave_reset, SND_PCM_STREAM_PLAYBACK, false},
    {"reopen", behave_reopen, SND_PCM_STREAM_PLAYBACK, false},
    {"reopen_capture", behave_reopen, SND_PCM_STREAM_CAPTURE, false},
    {"fork", behave_fork, SND_PCM_STREAM_PLAYBACK, false},
    {"refit", behave_refit, SND_PCM_STREAM_PLAYBACK, false},
};

/* A device that must not open leaves nothing behind. */
static void behave_refused(struct client *client)
{
    int fds = client_entries(CLIENT_FDS);
    int threads = client_entries(CLIENT_THREADS);

    for (int i = 0; i < 30; i++) {
        client_expect(snd_pcm_open(&client->pcm, client->device, client->stream, 0) < 0,
                      "it opened", i);
    }
    expect_nothing_left("a refused open leaves something behind", fds, threads);
}

bool client_behave(struct client *client, const char *name)
{
    if (strcmp(name, "refused") == 0) {
        behave_refused(client);
        return true;
    }
    for (size_t i = 0; i < sizeof(behaviours) / sizeof(behaviours[0]); i++) {
        if (strcmp(behaviours[i].name, name) == 0) {
            client->stream = behaviours[i].stream;
            client->nonblock = behaviours[i].nonblock;
            client_open(client);
            behaviours[i].run(client);
            client_close(client);
            return true;
        }
    }
    return false;
}
