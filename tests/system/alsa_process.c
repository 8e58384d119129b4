/*
 * The device in a process that forks, has signals and threads, and opens and closes all day.
 */
#include "alsa_uses.h"

#include <errno.h>
#include <malloc.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#include "alsa_hear.h"

static void ignore(void *context, int64_t number)
{
    (void)context;
    (void)number;
}

/* ---- children */

/* A child ends with the open device in it, in several ways. */
static void child_ends(struct client *client, struct client *recorder)
{
    (void)client;
    (void)recorder;
    exit(0);
}

static void child_closes(struct client *client, struct client *recorder)
{
    client_close(recorder);
    client_close(client);
    exit(0);
}

static void expect_gone(const char *what, int64_t result)
{
    client_expect(result == -ENODEV, what, result);
}

/* What the parent opened is not the child's: every use of it is refused, and nothing hangs. */
static void child_uses(struct client *client, struct client *recorder)
{
    snd_pcm_sframes_t delay;
    struct pollfd fd;
    unsigned short events = 0;

    client->nonblock = false;
    expect_gone("a child's write", client_write(client, 0, 100));
    client_expect_state(client, SND_PCM_STATE_DISCONNECTED);
    expect_gone("a child's read", client_read(recorder, 100, ignore, NULL));
    expect_gone("a child's prepare", snd_pcm_prepare(client->pcm));
    expect_gone("a child's start", snd_pcm_start(client->pcm));
    expect_gone("a child's delay", snd_pcm_delay(client->pcm, &delay));
    expect_gone("a child's wait", snd_pcm_wait(client->pcm, -1));
    expect_gone("a child's wait", snd_pcm_wait(recorder->pcm, -1));
    CLIENT_OK(snd_pcm_poll_descriptors(recorder->pcm, &fd, 1));
    CLIENT_OK(snd_pcm_poll_descriptors_revents(recorder->pcm, &fd, 1, &events));
    client_expect(events & POLLERR, "a child's poll", events);
    client_expect(snd_pcm_drain(client->pcm) < 0, "a child's drain", 0);
    snd_pcm_drop(client->pcm);
    snd_pcm_hw_free(client->pcm);
    child_closes(client, recorder);
}

/* The first thing that a child does is what ends or moves a device. */
static void child_drops(struct client *client, struct client *recorder)
{
    snd_pcm_drop(client->pcm);
    snd_pcm_drop(recorder->pcm);
    snd_pcm_pause(client->pcm, 1);
    exit(0);
}

static void child_drains(struct client *client, struct client *recorder)
{
    snd_pcm_drain(client->pcm);
    snd_pcm_drain(recorder->pcm);
    exit(0);
}

/* A child may have devices of its own. */
static void child_opens(struct client *client, struct client *recorder)
{
    struct client own = *client;

    own.device = "play1";
    client_open(&own);
    client_write_all(&own, 0, 4800);
    client_drain(&own);
    client_close(&own);
    child_closes(client, recorder);
}

/* While the parent plays and records, children come and go. The reader is a thread of the parent's,
 * which waits on the same descriptors. */
static void fork_children(struct client *client,
                          void (*child)(struct client *client, struct client *recorder))
{
    struct hearing hearing;
    struct segment all = {.frames = 36000};
    pid_t pids[4];

    hear_start(&hearing, client);
    client->nonblock = true;
    client_open(client);
    for (int i = 0; i < 4; i++) {
        client_write_all(client, i * 9000, 9000);
        fflush(NULL);
        hear_hold(&hearing);
        pids[i] = fork();
        if (pids[i] == 0) {
            alarm(60);
            child(client, &hearing.client);
        }
        hear_go_on(&hearing);
        client_expect(pids[i] > 0, "fork", errno);
    }
    client_drain(client);
    hear_end(&hearing, all.frames - 1);
    for (int i = 0; i < 4; i++) {
        int status = 0;

        client_expect(waitpid(pids[i], &status, 0) == pids[i], "waitpid", errno);
        client_expect(WIFEXITED(status) && WEXITSTATUS(status) == 0, "the child's end", status);
    }
    hear_judge(&hearing, &all, 1);
    hear_done(&hearing);
    client_close(client);
}

static void use_fork_ends(struct client *client)
{
    fork_children(client, child_ends);
}

static void use_fork_closes(struct client *client)
{
    fork_children(client, child_closes);
}

static void use_fork_uses(struct client *client)
{
    fork_children(client, child_uses);
}

static void use_fork_drops(struct client *client)
{
    fork_children(client, child_drops);
}

static void use_fork_drains(struct client *client)
{
    fork_children(client, child_drains);
}

static void use_fork_opens(struct client *client)
{
    fork_children(client, child_opens);
}

/* ---- signals */

static void on_alarm(int signal)
{
    (void)signal;
}

/* A signal every millisecond, without SA_RESTART, in a program that blocks in every call. */
static void use_signals(struct client *client)
{
    struct hearing hearing;
    struct sigaction action = {.sa_handler = on_alarm};
    struct itimerval timer = {.it_interval = {.tv_usec = 1000}, .it_value = {.tv_usec = 1000}};
    struct segment all = {.frames = 30000};

    sigaction(SIGALRM, &action, NULL);
    setitimer(ITIMER_REAL, &timer, NULL);
    hear_start(&hearing, client);
    client_open(client);
    client_write_all(client, 0, all.frames);
    CLIENT_OK(snd_pcm_drain(client->pcm));
    hear_end(&hearing, all.frames - 1);
    client_close(client);
    memset(&timer, 0, sizeof(timer));
    setitimer(ITIMER_REAL, &timer, NULL);
    hear_judge(&hearing, &all, 1);
    hear_done(&hearing);
}

/* ---- threads */

static void *ask_all_the_time(void *context)
{
    struct client *client = context;
    snd_pcm_status_t *status;

    snd_pcm_status_alloca(&status);
    for (int i = 0; i < 300; i++) {
        snd_pcm_sframes_t delay;

        snd_pcm_delay(client->pcm, &delay);
        snd_pcm_avail(client->pcm);
        snd_pcm_status(client->pcm, status);
        snd_pcm_state(client->pcm);
        client_sleep_ms(1);
    }
    return NULL;
}

static void *write_it(void *context)
{
    client_write_all(context, 0, 30000);
    return NULL;
}

/* One thread opens, another writes, two ask, a fourth reads, and the first closes. */
static void use_threads(struct client *client)
{
    struct hearing hearing;
    struct segment all = {.frames = 30000};
    pthread_t threads[3];

    hear_start(&hearing, client);
    client_open(client);
    for (int i = 0; i < 3; i++) {
        client_expect(pthread_create(&threads[i], NULL, i == 0 ? write_it : ask_all_the_time,
                                     i == 2 ? &hearing.client : client) == 0,
                      "no thread", i);
    }
    pthread_join(threads[0], NULL);
    pthread_join(threads[1], NULL);
    client_drain(client);
    pthread_join(threads[2], NULL); /* asks the device that hear_end closes */
    hear_end(&hearing, all.frames - 1);
    hear_judge(&hearing, &all, 1);
    hear_done(&hearing);
    client_close(client);
}

/* ---- all day */

#define LOOPS  200
#define WARMUP 20
/* A block a loop would be more. */
#define GROWTH_BYTES_MAX (64 * (LOOPS - WARMUP))

/* Opened, set up, run, for playback and capture in turn: nothing is left behind. */
static void use_reopen_200(struct client *client)
{
    struct client recorder = *client;
    size_t used = 0;
    int fds = client_entries(CLIENT_FDS);
    int threads = client_entries(CLIENT_THREADS);

    recorder.device = client->record;
    recorder.stream = SND_PCM_STREAM_CAPTURE;
    for (int i = 0; i < LOOPS; i++) {
        struct client *open = i % 2 ? &recorder : client;

        if (i == WARMUP) {
            used = mallinfo2().uordblks;
        }
        if (i % 3 == 0) {
            CLIENT_OK(snd_pcm_open(&open->pcm, open->device, open->stream, 0));
            CLIENT_OK(snd_pcm_close(open->pcm));
            continue;
        }
        client_open(open);
        if (i % 3 == 1) {
            CLIENT_OK(snd_pcm_start(open->pcm));
        }
        client_close(open);
    }
    client_expect(client_entries(CLIENT_FDS) == fds, "descriptors left", fds);
    client_expect(client_entries(CLIENT_THREADS) == threads, "threads left", threads);
    client_expect(mallinfo2().uordblks <= used + GROWTH_BYTES_MAX, "bytes left",
                  (int64_t)mallinfo2().uordblks - (int64_t)used);
}

const struct client_case process_cases[] = {
    {"fork_ends", use_fork_ends},     {"fork_closes", use_fork_closes},
    {"fork_uses", use_fork_uses},     {"fork_drops", use_fork_drops},
    {"fork_drains", use_fork_drains}, {"fork_opens", use_fork_opens},
    {"signals", use_signals},         {"threads", use_threads},
    {"reopen_200", use_reopen_200},   {NULL, NULL},
};
