/*
 * An ALSA program for tests: plays or records a pattern through any access type, format and way of
 * waiting, and says what it saw as one line of JSON. `alsa_client --help` lists its options.
 */
#include "alsa_client.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define POLL_MS 10000

void client_fail(const char *what, int64_t value)
{
    fprintf(stderr, "alsa_client: %s: %lld\n", what, (long long)value);
    exit(1);
}

int64_t client_ok(const char *what, int64_t result)
{
    if (result < 0) {
        fprintf(stderr, "alsa_client: %s: %s\n", what, snd_strerror((int)result));
        exit(1);
    }
    return result;
}

void client_open(struct client *client)
{
    snd_pcm_hw_params_t *hw;
    snd_pcm_sw_params_t *sw;

    snd_pcm_hw_params_alloca(&hw);
    snd_pcm_sw_params_alloca(&sw);
    CLIENT_OK(snd_pcm_open(&client->pcm, client->device, client->stream,
                           client->nonblock ? SND_PCM_NONBLOCK : 0));
    CLIENT_OK(snd_pcm_hw_params_any(client->pcm, hw));
    CLIENT_OK(snd_pcm_hw_params_set_access(client->pcm, hw, client->access));
    CLIENT_OK(snd_pcm_hw_params_set_format(client->pcm, hw, client->format));
    CLIENT_OK(snd_pcm_hw_params_set_channels(client->pcm, hw, client->channels));
    CLIENT_OK(snd_pcm_hw_params_set_rate(client->pcm, hw, client->rate, 0));
    CLIENT_OK(snd_pcm_hw_params_set_buffer_size_near(client->pcm, hw, &client->buffer));
    CLIENT_OK(snd_pcm_hw_params_set_period_size_near(client->pcm, hw, &client->period, NULL));
    CLIENT_OK(snd_pcm_hw_params(client->pcm, hw));
    CLIENT_OK(snd_pcm_hw_params_get_buffer_size(hw, &client->buffer));
    CLIENT_OK(snd_pcm_sw_params_current(client->pcm, sw));
    CLIENT_OK(snd_pcm_sw_params_set_avail_min(client->pcm, sw, client->period));
    CLIENT_OK(snd_pcm_sw_params_set_start_threshold(client->pcm, sw, client->buffer));
    CLIENT_OK(snd_pcm_sw_params(client->pcm, sw));
    client->sample_bytes = (unsigned)snd_pcm_format_physical_width(client->format) / 8;
    client->memory = calloc(client->period, (size_t)client->channels * client->sample_bytes);
    if (!client->memory) {
        client_fail("no memory", 0);
    }
}

void client_close(struct client *client)
{
    CLIENT_OK(snd_pcm_close(client->pcm));
    free(client->memory);
    client->memory = NULL;
}

unsigned short client_poll(struct client *client)
{
    struct pollfd fds[4];
    unsigned short events = 0;
    int n = (int)client_ok("poll_descriptors", snd_pcm_poll_descriptors(client->pcm, fds, 4));

    while (events == 0) {
        if (poll(fds, (nfds_t)n, POLL_MS) == 0) {
            client_fail("poll: nothing for so many ms", POLL_MS);
        }
        CLIENT_OK(snd_pcm_poll_descriptors_revents(client->pcm, fds, (unsigned)n, &events));
    }
    return events;
}

/* Sixteen bits that are never 0; two channels carry 30 bits of the number. */
static uint32_t pattern(int64_t index, unsigned channel)
{
    int64_t part = channel == 0 ? index : channel == 1 ? index >> 15 : index * (channel + 1);

    return (uint32_t)(part & 0x7FFF) + 1;
}

static uint8_t *sample_at(const snd_pcm_channel_area_t *area, snd_pcm_uframes_t offset)
{
    return (uint8_t *)area->addr + (area->first + area->step * offset) / 8;
}

void client_put(const struct client *client, const snd_pcm_channel_area_t *areas,
                snd_pcm_uframes_t offset, int64_t index)
{
    bool big = snd_pcm_format_big_endian(client->format) == 1;

    for (unsigned c = 0; c < client->channels; c++) {
        uint8_t *sample = sample_at(&areas[c], offset);
        uint32_t value = pattern(index, c);

        for (unsigned b = 0; b < client->sample_bytes; b++) {
            sample[big ? client->sample_bytes - 1 - b : b] = (uint8_t)(value >> (8 * b));
        }
    }
}

static uint32_t sample_value(const struct client *client, const uint8_t *sample)
{
    bool big = snd_pcm_format_big_endian(client->format) == 1;
    uint32_t value = 0;

    for (unsigned b = 0; b < client->sample_bytes; b++) {
        value |= (uint32_t)sample[big ? client->sample_bytes - 1 - b : b] << (8 * b);
    }
    return value;
}

int64_t client_get(const struct client *client, const snd_pcm_channel_area_t *areas,
                   snd_pcm_uframes_t offset)
{
    uint32_t low = sample_value(client, sample_at(&areas[0], offset));
    uint32_t high = sample_value(client, sample_at(&areas[1], offset));
    bool silent = true;
    bool same = true;
    int64_t index = (int64_t)(high - 1) << 15 | (low - 1);

    for (unsigned c = 0; c < client->channels; c++) {
        uint32_t value = sample_value(client, sample_at(&areas[c], offset));

        silent = silent && value == 0;
        same = same && value == pattern(index, c);
    }
    return silent ? -1 : same && low > 0 && high > 0 ? index : -2;
}

void client_areas(const struct client *client, snd_pcm_channel_area_t *ret_areas)
{
    bool interleaved = client->access == SND_PCM_ACCESS_RW_INTERLEAVED;
    unsigned bits = client->sample_bytes * 8;

    for (unsigned c = 0; c < client->channels; c++) {
        ret_areas[c].addr = client->memory;
        ret_areas[c].first = interleaved ? c * bits : (unsigned)client->period * c * bits;
        ret_areas[c].step = interleaved ? client->channels * bits : bits;
    }
}

static bool is_mmap(const struct client *client)
{
    return client->access == SND_PCM_ACCESS_MMAP_INTERLEAVED ||
           client->access == SND_PCM_ACCESS_MMAP_NONINTERLEAVED;
}

/* For the non-interleaved calls: each channel's memory. */
static void channel_pointers(const struct client *client, void **ret_pointers)
{
    for (unsigned c = 0; c < client->channels; c++) {
        ret_pointers[c] = client->memory + client->period * c * client->sample_bytes;
    }
}

static int64_t would_block_is_0(int64_t result)
{
    return result == -EAGAIN ? 0 : result;
}

/* An mmap access leaves the waiting and the start to the program. */
static int64_t mmap_ready(struct client *client)
{
    int64_t there = snd_pcm_avail_update(client->pcm);

    if (there < 0) {
        return there;
    }
    if (there == 0 && !client->nonblock) {
        there = snd_pcm_wait(client->pcm, POLL_MS);
        return there <= 0 ? there : snd_pcm_avail_update(client->pcm);
    }
    return there;
}

static int64_t write_mmap(struct client *client, int64_t first, int64_t frames)
{
    const snd_pcm_channel_area_t *areas;
    snd_pcm_uframes_t offset;
    snd_pcm_uframes_t n = (snd_pcm_uframes_t)frames;
    int64_t result = mmap_ready(client);

    if (result <= 0) {
        return result;
    }
    CLIENT_OK(snd_pcm_mmap_begin(client->pcm, &areas, &offset, &n));
    for (snd_pcm_uframes_t i = 0; i < n; i++) {
        client_put(client, areas, offset + i, first + (int64_t)i);
    }
    result = snd_pcm_mmap_commit(client->pcm, offset, n);
    if (result >= 0 && snd_pcm_state(client->pcm) == SND_PCM_STATE_PREPARED &&
        snd_pcm_avail_update(client->pcm) == 0) {
        CLIENT_OK(snd_pcm_start(client->pcm));
    }
    return result;
}

int64_t client_write(struct client *client, int64_t first, int64_t frames)
{
    snd_pcm_channel_area_t areas[16];
    void *pointers[16];

    if (frames > (int64_t)client->period) {
        frames = (int64_t)client->period;
    }
    if (is_mmap(client)) {
        return write_mmap(client, first, frames);
    }
    client_areas(client, areas);
    for (int64_t i = 0; i < frames; i++) {
        client_put(client, areas, (snd_pcm_uframes_t)i, first + i);
    }
    if (client->access == SND_PCM_ACCESS_RW_INTERLEAVED) {
        return would_block_is_0(
            snd_pcm_writei(client->pcm, client->memory, (snd_pcm_uframes_t)frames));
    }
    channel_pointers(client, pointers);
    return would_block_is_0(snd_pcm_writen(client->pcm, pointers, (snd_pcm_uframes_t)frames));
}

static int64_t read_mmap(struct client *client, int64_t frames,
                         void (*sink)(void *context, int64_t index), void *context)
{
    const snd_pcm_channel_area_t *areas;
    snd_pcm_uframes_t offset;
    snd_pcm_uframes_t n = (snd_pcm_uframes_t)frames;
    int64_t result = mmap_ready(client);

    if (result <= 0) {
        return result;
    }
    CLIENT_OK(snd_pcm_mmap_begin(client->pcm, &areas, &offset, &n));
    for (snd_pcm_uframes_t i = 0; i < n; i++) {
        sink(context, client_get(client, areas, offset + i));
    }
    return snd_pcm_mmap_commit(client->pcm, offset, n);
}

int64_t client_read(struct client *client, int64_t frames,
                    void (*sink)(void *context, int64_t index), void *context)
{
    snd_pcm_channel_area_t areas[16];
    void *pointers[16];
    int64_t result;

    if (frames > (int64_t)client->period) {
        frames = (int64_t)client->period;
    }
    if (is_mmap(client)) {
        return read_mmap(client, frames, sink, context);
    }
    client_areas(client, areas);
    channel_pointers(client, pointers);
    result = client->access == SND_PCM_ACCESS_RW_INTERLEAVED
                 ? snd_pcm_readi(client->pcm, client->memory, (snd_pcm_uframes_t)frames)
                 : snd_pcm_readn(client->pcm, pointers, (snd_pcm_uframes_t)frames);
    for (int64_t i = 0; i < result; i++) {
        sink(context, client_get(client, areas, (snd_pcm_uframes_t)i));
    }
    return would_block_is_0(result);
}

int64_t client_write_all(struct client *client, int64_t first, int64_t frames)
{
    int64_t xruns = 0;

    for (int64_t done = 0; done < frames;) {
        int64_t n = client_write(client, first + done, frames - done);

        if (n == -EPIPE) {
            xruns++;
            CLIENT_OK(snd_pcm_prepare(client->pcm));
        } else if (client_ok("write", n) == 0) {
            client_poll(client);
        }
        done += n > 0 ? n : 0;
    }
    return xruns;
}

void client_drain(struct client *client)
{
    int error;

    while ((error = snd_pcm_drain(client->pcm)) == -EAGAIN) {
        client_poll(client);
    }
    client_ok("drain", error);
}

static void play(struct client *client)
{
    int64_t xruns = client_write_all(client, 0, client->frames);

    client_drain(client);
    printf("{\"frames\": %lld, \"xruns\": %lld}\n", (long long)client->frames, (long long)xruns);
}

struct seen {
    int64_t frames;  /* that carry the pattern */
    int64_t missing; /* numbers left out */
    int64_t foreign; /* frames that are neither pattern nor silence, or whose number goes back */
    int64_t next;
};

static void see(void *context, int64_t index)
{
    struct seen *seen = context;

    if (index == -1) {
        return;
    }
    if (index < seen->next) {
        seen->foreign++;
        return;
    }
    seen->missing += index - seen->next;
    seen->frames++;
    seen->next = index + 1;
}

/* Until the last frame of the pattern was seen, or ten seconds of media passed. */
static void record(struct client *client)
{
    struct seen seen = {0};
    int64_t xruns = 0;
    int64_t limit = 10 * (int64_t)client->rate;

    CLIENT_OK(snd_pcm_start(client->pcm));
    printf("recording\n");
    fflush(stdout);
    for (int64_t done = 0; done < limit && seen.next < client->frames;) {
        int64_t n = client_read(client, limit - done, see, &seen);

        if (n == -EPIPE) {
            xruns++;
            CLIENT_OK(snd_pcm_prepare(client->pcm));
            CLIENT_OK(snd_pcm_start(client->pcm));
        } else if (client_ok("read", n) == 0) {
            client_poll(client);
        }
        done += n > 0 ? n : 0;
    }
    seen.missing += client->frames - seen.next;
    printf("{\"frames\": %lld, \"missing\": %lld, \"foreign\": %lld, \"xruns\": %lld}\n",
           (long long)seen.frames, (long long)seen.missing, (long long)seen.foreign,
           (long long)xruns);
}

static const char help[] =
    "alsa_client DEVICE play|record|BEHAVIOUR [KEY=VALUE ...]\n"
    "keys: access (RW_INTERLEAVED ...), format (S16_LE ...), channels, rate, buffer, period,\n"
    "frames, nonblock (0 or 1), stream (play or record, for a behaviour), record (the device that\n"
    "listens, for a use)\n";

static void set_option(struct client *client, const char *option)
{
    const char *value = strchr(option, '=');
    long number;

    if (!value) {
        client_fail(option, 0);
    }
    value++;
    number = atol(value);
    if (strncmp(option, "access=", 7) == 0) {
        for (int a = 0; a <= SND_PCM_ACCESS_LAST; a++) {
            if (strcmp(snd_pcm_access_name((snd_pcm_access_t)a), value) == 0) {
                client->access = (snd_pcm_access_t)a;
            }
        }
    } else if (strncmp(option, "format=", 7) == 0) {
        client->format = snd_pcm_format_value(value);
    } else if (strncmp(option, "channels=", 9) == 0) {
        client->channels = (unsigned)number;
    } else if (strncmp(option, "rate=", 5) == 0) {
        client->rate = (unsigned)number;
    } else if (strncmp(option, "buffer=", 7) == 0) {
        client->buffer = (snd_pcm_uframes_t)number;
    } else if (strncmp(option, "period=", 7) == 0) {
        client->period = (snd_pcm_uframes_t)number;
    } else if (strncmp(option, "frames=", 7) == 0) {
        client->frames = number;
    } else if (strncmp(option, "record=", 7) == 0) {
        client->record = value;
    } else if (strncmp(option, "nonblock=", 9) == 0) {
        client->nonblock = number != 0;
    } else if (strncmp(option, "stream=", 7) == 0) {
        client->stream =
            strcmp(value, "record") == 0 ? SND_PCM_STREAM_CAPTURE : SND_PCM_STREAM_PLAYBACK;
    } else {
        client_fail(option, 0);
    }
}

int main(int argc, char **argv)
{
    struct client client = {
        .access = SND_PCM_ACCESS_RW_INTERLEAVED,
        .format = SND_PCM_FORMAT_S16_LE,
        .channels = 2,
        .rate = 48000,
        .buffer = 24000,
        .period = 4800,
        .frames = 48000,
        .record = "record",
    };

    if (argc < 3) {
        fputs(help, stderr);
        return 2;
    }
    client.device = argv[1];
    for (int i = 3; i < argc; i++) {
        set_option(&client, argv[i]);
    }
    if (client_behave(&client, argv[2]) || client_use(&client, argv[2])) {
        return 0;
    }
    client.stream =
        strcmp(argv[2], "record") == 0 ? SND_PCM_STREAM_CAPTURE : SND_PCM_STREAM_PLAYBACK;
    client_open(&client);
    if (client.stream == SND_PCM_STREAM_CAPTURE) {
        record(&client);
    } else {
        play(&client);
    }
    client_close(&client);
    return 0;
}
