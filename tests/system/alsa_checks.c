/*
 * What the test client's cases share: expectations, waiting, thresholds, a look at the process.
 */
#include "alsa_client.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

void client_expect(bool condition, const char *what, int64_t value)
{
    if (!condition) {
        client_fail(what, value);
    }
}

void client_expect_state(struct client *client, snd_pcm_state_t state)
{
    snd_pcm_state_t is = snd_pcm_state(client->pcm);

    if (is != state) {
        fprintf(stderr, "state %s, not %s\n", snd_pcm_state_name(is), snd_pcm_state_name(state));
        exit(1);
    }
}

void client_sleep_ms(long ms)
{
    struct timespec time = {.tv_sec = ms / 1000, .tv_nsec = ms % 1000 * 1000000};

    while (clock_nanosleep(CLOCK_MONOTONIC, 0, &time, &time) == EINTR) {
    }
}

void client_set_thresholds(struct client *client, snd_pcm_uframes_t avail_min,
                           snd_pcm_uframes_t start, snd_pcm_uframes_t stop)
{
    snd_pcm_sw_params_t *sw;

    snd_pcm_sw_params_alloca(&sw);
    CLIENT_OK(snd_pcm_sw_params_current(client->pcm, sw));
    CLIENT_OK(snd_pcm_sw_params_set_avail_min(client->pcm, sw, avail_min));
    CLIENT_OK(snd_pcm_sw_params_set_start_threshold(client->pcm, sw, start));
    CLIENT_OK(snd_pcm_sw_params_set_stop_threshold(client->pcm, sw, stop));
    CLIENT_OK(snd_pcm_sw_params(client->pcm, sw));
}

snd_pcm_uframes_t client_boundary(struct client *client)
{
    snd_pcm_sw_params_t *sw;
    snd_pcm_uframes_t boundary;

    snd_pcm_sw_params_alloca(&sw);
    CLIENT_OK(snd_pcm_sw_params_current(client->pcm, sw));
    CLIENT_OK(snd_pcm_sw_params_get_boundary(sw, &boundary));
    return boundary;
}

int client_entries(const char *path)
{
    DIR *dir = opendir(path);
    int n = 0;

    client_expect(dir != NULL, path, errno);
    while (readdir(dir)) {
        n++;
    }
    closedir(dir);
    return n;
}
