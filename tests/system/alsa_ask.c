/*
 * What the device answers: when it starts and stops, how long a wait lasts, what the status says,
 * what it does not offer. Times are compared with the clock read before and after, never with a
 * figure.
 */
#include "alsa_uses.h"

#include <errno.h>
#include <poll.h>
#include <time.h>

static int64_t now_ns(clockid_t clock)
{
    struct timespec t;

    clock_gettime(clock, &t);
    return t.tv_sec * INT64_C(1000000000) + t.tv_nsec;
}

static int64_t stamp_ns(const snd_htimestamp_t *t)
{
    return t->tv_sec * INT64_C(1000000000) + t->tv_nsec;
}

/* A new start of an open device, with nothing in it. */
static void begin_anew(struct client *client)
{
    CLIENT_OK(snd_pcm_drop(client->pcm));
    CLIENT_OK(snd_pcm_prepare(client->pcm));
}

static bool runs_after(struct client *client, int64_t frames)
{
    client_write_all(client, 0, frames);
    return snd_pcm_state(client->pcm) != SND_PCM_STATE_PREPARED;
}

/* The device starts when so many frames are there, and by snd_pcm_start. */
static void use_start_threshold(struct client *client)
{
    snd_pcm_uframes_t stop;

    client_open(client);
    stop = client_boundary(client);
    client_set_thresholds(client, client->period, 1, stop);
    client_expect(runs_after(client, 1), "it does not start at 1", 1);
    begin_anew(client);
    client_set_thresholds(client, client->period, 1000, stop);
    client_expect(!runs_after(client, 999), "it starts before the threshold", 999);
    client_expect(runs_after(client, 1), "it does not start at the threshold", 1000);
    begin_anew(client);
    client_set_thresholds(client, client->period, stop, stop);
    client_expect(!runs_after(client, (int64_t)client->buffer), "it starts by itself", 0);
    CLIENT_OK(snd_pcm_start(client->pcm));
    client_expect_state(client, SND_PCM_STATE_RUNNING);
    client_expect(snd_pcm_start(client->pcm) == -EBADFD, "it starts twice", 0);
    CLIENT_OK(snd_pcm_drop(client->pcm));
    client_expect(snd_pcm_start(client->pcm) == -EBADFD, "it starts unprepared", 0);
    client_close(client);
}

/* How much is available when the device stops, after it was filled. */
static snd_pcm_sframes_t avail_at_stop(struct client *client, snd_pcm_uframes_t threshold)
{
    snd_pcm_sframes_t last = 0;
    snd_pcm_sframes_t avail;

    begin_anew(client);
    client_set_thresholds(client, client->period, client->buffer, threshold);
    client_write_all(client, 0, (int64_t)client->buffer);
    while ((avail = snd_pcm_avail(client->pcm)) >= 0) {
        last = avail;
        client_sleep_ms(1);
    }
    client_expect(avail == -EPIPE, "the end", avail);
    client_expect_state(client, SND_PCM_STATE_XRUN);
    return last;
}

/* It stops, as an xrun, when so many are available: fewer than the buffer holds, or more, while it
 * plays silence. */
static void use_stop_threshold(struct client *client)
{
    snd_pcm_sframes_t threshold = 4800;
    snd_pcm_sframes_t avail;
    unsigned short events;

    client->buffer = 12000;
    client->period = 2400;
    client_open(client);
    avail = avail_at_stop(client, (snd_pcm_uframes_t)threshold);
    client_expect(avail < threshold, "it runs beyond a low threshold", avail);
    avail = avail_at_stop(client, client->buffer);
    client_expect(avail <= (snd_pcm_sframes_t)client->buffer, "it runs beyond the buffer", avail);
    threshold = (snd_pcm_sframes_t)client->buffer + 9600;
    avail = avail_at_stop(client, (snd_pcm_uframes_t)threshold);
    client_expect(avail < threshold, "it runs beyond a high threshold", avail);
    client_expect(avail > (snd_pcm_sframes_t)client->buffer, "it stops at the buffer", avail);
    /* A program that polls learns of it too. */
    begin_anew(client);
    client_write_all(client, 0, (int64_t)client->buffer);
    while (!((events = client_poll(client)) & POLLERR)) {
        client_sleep_ms(1);
    }
    client_expect_state(client, SND_PCM_STATE_XRUN);
    client_close(client);
}

static int64_t wait_ns(struct client *client, int timeout_ms, int expected)
{
    int64_t before_ns = now_ns(CLOCK_MONOTONIC);
    int result = snd_pcm_wait(client->pcm, timeout_ms);

    client_expect(result == expected, "snd_pcm_wait", result);
    return now_ns(CLOCK_MONOTONIC) - before_ns;
}

/* A wait ends at once where there is room, and else not before its time. */
static void use_wait(struct client *client)
{
    struct client recorder = *client;
    int64_t waited_ns;

    client_open(client);
    wait_ns(client, 0, 1);
    wait_ns(client, 10000, 1);
    wait_ns(client, -1, 1);
    client_set_thresholds(client, client->period, client_boundary(client), client->buffer);
    client_write_all(client, 0, (int64_t)client->buffer);
    wait_ns(client, 0, 0); /* full, and it does not run */
    waited_ns = wait_ns(client, 50, 0);
    client_expect(waited_ns >= 50000000, "a wait that is too short", waited_ns);
    CLIENT_OK(snd_pcm_start(client->pcm));
    wait_ns(client, -1, 1);
    client_close(client);

    recorder.device = client->record;
    recorder.stream = SND_PCM_STREAM_CAPTURE;
    client_open(&recorder);
    waited_ns = wait_ns(&recorder, 50, 0);
    client_expect(waited_ns >= 50000000, "a wait that is too short", waited_ns);
    CLIENT_OK(snd_pcm_start(recorder.pcm));
    wait_ns(&recorder, -1, 1);
    client_expect(snd_pcm_avail(recorder.pcm) >= (snd_pcm_sframes_t)recorder.period,
                  "it wakes before there is enough", snd_pcm_avail(recorder.pcm));
    client_close(&recorder);
}

static void set_stamps(struct client *client, snd_pcm_tstamp_type_t type)
{
    snd_pcm_sw_params_t *sw;

    snd_pcm_sw_params_alloca(&sw);
    CLIENT_OK(snd_pcm_sw_params_current(client->pcm, sw));
    CLIENT_OK(snd_pcm_sw_params_set_tstamp_mode(client->pcm, sw, SND_PCM_TSTAMP_ENABLE));
    CLIENT_OK(snd_pcm_sw_params_set_tstamp_type(client->pcm, sw, type));
    CLIENT_OK(snd_pcm_sw_params(client->pcm, sw));
}

/* One look at a running device: stamps lie between the clock before and after, the frames add up.
 */
static void look(struct client *client, clockid_t clock, int64_t trigger_from_ns)
{
    snd_pcm_status_t *status;
    snd_htimestamp_t stamp;
    int64_t before_ns = now_ns(clock);
    snd_pcm_sframes_t delay;
    snd_pcm_sframes_t avail;

    snd_pcm_status_alloca(&status);
    CLIENT_OK(snd_pcm_status(client->pcm, status));
    snd_pcm_status_get_htstamp(status, &stamp);
    client_expect(stamp_ns(&stamp) >= before_ns && stamp_ns(&stamp) <= now_ns(clock), "tstamp",
                  stamp_ns(&stamp) - before_ns);
    snd_pcm_status_get_trigger_htstamp(status, &stamp);
    client_expect(stamp_ns(&stamp) >= trigger_from_ns && stamp_ns(&stamp) <= before_ns,
                  "trigger_tstamp", stamp_ns(&stamp) - trigger_from_ns);
    client_expect(snd_pcm_status_get_state(status) == SND_PCM_STATE_RUNNING, "state",
                  snd_pcm_status_get_state(status));
    avail = (snd_pcm_sframes_t)snd_pcm_status_get_avail(status);
    delay = snd_pcm_status_get_delay(status);
    client_expect(avail <= (snd_pcm_sframes_t)client->buffer, "avail", avail);
    client_expect(delay >= 0 && delay + avail <= (snd_pcm_sframes_t)(client->buffer + client->rate),
                  "delay", delay);
    CLIENT_OK(snd_pcm_avail_delay(client->pcm, &avail, &delay));
    client_expect(avail >= 0 && delay >= 0, "avail and delay", avail);
}

/* Status and stamps, on each clock that ALSA has for them. */
static void use_status(struct client *client)
{
    static const struct {
        snd_pcm_tstamp_type_t type;
        clockid_t clock;
    } stamps[] = {{SND_PCM_TSTAMP_TYPE_GETTIMEOFDAY, CLOCK_REALTIME},
                  {SND_PCM_TSTAMP_TYPE_MONOTONIC, CLOCK_MONOTONIC},
                  {SND_PCM_TSTAMP_TYPE_MONOTONIC_RAW, CLOCK_MONOTONIC_RAW}};

    client_open(client);
    for (int i = 0; i < 3; i++) {
        int64_t trigger_ns;

        begin_anew(client);
        set_stamps(client, stamps[i].type);
        client_write_all(client, 0, (int64_t)client->buffer / 2);
        trigger_ns = now_ns(stamps[i].clock);
        CLIENT_OK(snd_pcm_start(client->pcm));
        for (int n = 0; n < 50; n++) {
            snd_pcm_uframes_t avail;
            snd_htimestamp_t stamp;

            client_write_all(client, 0, 48);
            look(client, stamps[i].clock, trigger_ns);
            CLIENT_OK(snd_pcm_htimestamp(client->pcm, &avail, &stamp));
            client_expect(avail <= client->buffer, "avail of a stamp", (int64_t)avail);
        }
    }
    client_close(client);
}

static void ignore_signal(snd_async_handler_t *handler)
{
    (void)handler;
}

/* What alsa-lib's plugins cannot do is refused, and nothing is changed by asking. */
static void use_not_offered(struct client *client)
{
    struct client recorder = *client;
    snd_async_handler_t *handler;
    snd_pcm_hw_params_t *hw;

    client_open(client);
    recorder.device = client->record;
    recorder.stream = SND_PCM_STREAM_CAPTURE;
    client_open(&recorder);
    client_expect(snd_pcm_link(client->pcm, recorder.pcm) == -ENOSYS, "link", 0);
    client_expect(snd_async_add_pcm_handler(&handler, client->pcm, ignore_signal, NULL) == -ENOSYS,
                  "an asynchronous handler", 0);
    snd_pcm_hw_params_alloca(&hw);
    CLIENT_OK(snd_pcm_hw_params_any(client->pcm, hw));
    client_expect(!snd_pcm_hw_params_can_resume(hw), "it can resume", 1);
    client_expect(!snd_pcm_hw_params_can_sync_start(hw), "it can start in sync", 1);
    client_expect(snd_pcm_hw_params_can_pause(hw), "it cannot pause", 0);
    client_expect(snd_pcm_pause(client->pcm, 1) == -EBADFD, "a pause before the start", 0);
    client_write_all(client, 0, (int64_t)client->buffer);
    CLIENT_OK(snd_pcm_start(recorder.pcm));
    CLIENT_OK(snd_pcm_wait(recorder.pcm, 10000));
    client_drain(client);
    client_close(&recorder);
    client_close(client);
}

/* A drain in an xrun ends at once; so does one of nothing. */
static void use_drain_xrun(struct client *client)
{
    client->buffer = 4800;
    client->period = 2400;
    client_open(client);
    CLIENT_OK(snd_pcm_drain(client->pcm));
    client_expect_state(client, SND_PCM_STATE_SETUP);
    CLIENT_OK(snd_pcm_prepare(client->pcm));
    client_write_all(client, 0, (int64_t)client->buffer);
    while (snd_pcm_avail(client->pcm) >= 0) {
        client_sleep_ms(5);
    }
    client_expect_state(client, SND_PCM_STATE_XRUN);
    CLIENT_OK(snd_pcm_drain(client->pcm));
    client_expect_state(client, SND_PCM_STATE_SETUP);
    CLIENT_OK(snd_pcm_prepare(client->pcm));
    client_write_all(client, 0, (int64_t)client->buffer);
    client_drain(client);
    client_close(client);
}

/* An avail_min that is never reached: a program that polls is woken by the xrun. */
static void use_avail_min_over(struct client *client)
{
    unsigned short events;

    client->buffer = 4800;
    client->period = 2400;
    client->nonblock = true;
    client_open(client);
    client_set_thresholds(client, 2 * client->buffer, client->buffer, client->buffer);
    client_write_all(client, 0, (int64_t)client->buffer);
    events = client_poll(client);
    client_expect(events & POLLERR, "events", events);
    client_expect_state(client, SND_PCM_STATE_XRUN);
    client_close(client);
}

const struct client_case asking_cases[] = {
    {"start_threshold", use_start_threshold},
    {"stop_threshold", use_stop_threshold},
    {"avail_min_over", use_avail_min_over},
    {"wait_timeouts", use_wait},
    {"status_stamps", use_status},
    {"not_offered", use_not_offered},
    {"drain_xrun", use_drain_xrun},
    {NULL, NULL},
};
