/*
 * See stream_job.h.
 */
#include "cli/stream_job.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "audio/config_value.h"
#include "audio/eth.h"
#include "base/attr.h"
#include "base/ns.h"
#include "base/word.h"

#define TIME_MIN_NS   TT_NS_PER_MS
#define BUFFER_MAX_NS (60 * TT_NS_PER_S)
#define LEVEL_MAX_NS  TT_NS_PER_S
#define CRF_TEXT      64

enum kind { CLASS, END, REPORT, LOOP, OVERWRITE, RAW, BUFFER, LEVEL, QUALITY, CLOCK, CRF };

struct key {
    const char *name;
    enum kind kind;
    bool single;
    int role; /* enum tt_role; -1: both */
    const char *takes;
};

static const struct key keys[] = {
    {"class", CLASS, false, -1, "A or B"},
    {"source", END, true, TT_ROLE_TALKER, "a sound file, -, tone:HZ or alsa:DEVICE"},
    {"sink", END, true, TT_ROLE_LISTENER, "a file to write, -, or alsa:DEVICE"},
    {"report", REPORT, true, -1, "a file to write, like stream.json"},
    {"loop", LOOP, false, TT_ROLE_TALKER, "yes or no"},
    {"overwrite", OVERWRITE, false, TT_ROLE_LISTENER, "yes or no"},
    {"raw", RAW, false, -1, "a format, and for a source channels and rate, like S24_LE,8,48000"},
    {"buffer", BUFFER, false, -1, "a time from 1ms to 1min, like 500ms"},
    {"level", LEVEL, false, -1, "a time from 1ms to 1s, like 20ms"},
    {"quality", QUALITY, false, -1, "best or medium"},
    {"clock", CLOCK, false, TT_ROLE_TALKER,
     "tai, or a CRF stream's ID and address, like crf:AA:BB:CC:DD:EE:FF:0002,91:E0:F0:00:FE:02"},
    {"crf", CRF, false, TT_ROLE_TALKER,
     "stream ID, address and, where it is not 48000, rate, like "
     "AA:BB:CC:DD:EE:FF:0002,91:E0:F0:00:FE:02,96000"},
};

static const struct key *find_key(const char *name)
{
    for (size_t i = 0; i < TT_COUNT_OF(keys); i++) {
        if (tt_word_same(keys[i].name, name)) {
            return &keys[i];
        }
    }
    return NULL;
}

TT_PRINTF(2, 3) static int refuse(struct tt_message *message, const char *text, ...)
{
    va_list args;

    va_start(args, text);
    vsnprintf(message->text, sizeof(message->text), text, args);
    va_end(args);
    return -EINVAL;
}

void tt_stream_job_init(struct tt_stream_job *job)
{
    *job = (struct tt_stream_job){.class = TT_STREAM_CLASS_NONE};
    tt_stream_config_init(&job->config);
}

void tt_stream_job_done(struct tt_stream_job *job)
{
    free(job->end);
    free(job->report);
    job->end = NULL;
    job->report = NULL;
}

static int set_text(char **text, const char *value)
{
    char *copy = strdup(value);

    if (!copy) {
        return -ENOMEM;
    }
    free(*text);
    *text = copy;
    return 0;
}

int tt_stream_job_copy(const struct tt_stream_job *job, struct tt_stream_job *ret_job)
{
    struct tt_stream_job copy = *job;
    int error = 0;

    copy.end = NULL;
    copy.report = NULL;
    if (job->end) {
        error = set_text(&copy.end, job->end);
    }
    if (job->report && error == 0) {
        error = set_text(&copy.report, job->report);
    }
    if (error < 0) {
        tt_stream_job_done(&copy);
        return error;
    }
    *ret_job = copy;
    return 0;
}

bool tt_stream_job_is_single(const char *key)
{
    const struct key *found = find_key(key);

    return tt_word_same(key, "stream_id") || tt_word_same(key, "streamid") ||
           (found && found->single);
}

bool tt_stream_job_is_common(const char *key)
{
    const struct key *found = find_key(key);

    return found && (found->kind == CLOCK || found->kind == CRF);
}

static const char *set_time(const char *value, int64_t most_ns, int64_t *ret_ns)
{
    int64_t ns;
    const char *why = tt_value_time(value, &ns);

    if (why) {
        return why;
    }
    if (ns < TIME_MIN_NS || ns > most_ns) {
        return ns < TIME_MIN_NS ? "is too small" : "is too large";
    }
    *ret_ns = ns;
    return NULL;
}

/* Of the base frequencies of 44.1 and 48 kHz. */
static const char *set_rate(const char *value, uint32_t *ret_hz)
{
    static const uint32_t rates[] = {44100, 48000, 88200, 96000, 176400, 192000};
    int64_t hz;

    if (tt_value_number(value, &hz)) {
        return "has no number for its rate";
    }
    for (size_t i = 0; i < TT_COUNT_OF(rates); i++) {
        if (hz == rates[i]) {
            *ret_hz = rates[i];
            return NULL;
        }
    }
    return "has a rate that is neither of 44.1 nor of 48 kHz";
}

/* "ID,MAC", and where `has_rate` also "ID,MAC,HZ". */
static const char *set_crf(const char *value, bool has_rate, struct tt_crf_name *ret_crf)
{
    struct tt_crf_name crf = {.rate_hz = 48000};
    char text[CRF_TEXT];
    char *dest;
    char *rate;

    if (snprintf(text, sizeof(text), "%s", value) >= CRF_TEXT) {
        return "is too long";
    }
    dest = strchr(text, ',');
    rate = dest ? strchr(dest + 1, ',') : NULL;
    if (!dest || (rate && !has_rate)) {
        return "is no stream ID, comma, address";
    }
    *dest++ = 0;
    if (rate) {
        const char *why;

        *rate++ = 0;
        why = set_rate(rate, &crf.rate_hz);
        if (why) {
            return why;
        }
    }
    if (tt_value_stream_id(text, &crf.stream_id) || tt_value_mac(dest, crf.dest)) {
        return "is no stream ID, comma, address";
    }
    *ret_crf = crf;
    return NULL;
}

static const char *set_clock(const char *value, struct tt_crf_name *ret_clock)
{
    if (tt_word_same(value, "tai")) {
        *ret_clock = (struct tt_crf_name){.stream_id = 0};
        return NULL;
    }
    return strncmp(value, "crf:", 4) == 0 ? set_crf(value + 4, false, ret_clock) : "is no clock";
}

static const char *set_quality(const char *value, enum tt_quality *ret_quality)
{
    if (tt_word_same(value, "best")) {
        *ret_quality = TT_QUALITY_BEST;
    } else if (tt_word_same(value, "medium")) {
        *ret_quality = TT_QUALITY_MEDIUM;
    } else {
        return "is no quality of resampling";
    }
    return NULL;
}

/* NULL, or why it will not do; "" when memory is out. */
static const char *set_value(struct tt_stream_job *job, enum kind kind, const char *value)
{
    const char *why = NULL;

    switch (kind) {
    case CLASS:
        return tt_stream_class_parse(value, &job->class);
    case END:
        return set_text(&job->end, value) < 0 ? "" : NULL;
    case REPORT:
        return set_text(&job->report, value) < 0 ? "" : NULL;
    case LOOP:
        return tt_value_boolean(value, &job->loop);
    case OVERWRITE:
        return tt_value_boolean(value, &job->overwrite);
    case RAW:
        why = tt_raw_parse(value, &job->raw);
        job->is_raw = job->is_raw || !why;
        return why;
    case BUFFER:
        return set_time(value, BUFFER_MAX_NS, &job->buffer_ns);
    case LEVEL:
        return set_time(value, LEVEL_MAX_NS, &job->level_ns);
    case QUALITY:
        return set_quality(value, &job->quality);
    case CLOCK:
        return set_clock(value, &job->clock);
    case CRF:
        return set_crf(value, true, &job->crf);
    }
    return why;
}

static int set_own(struct tt_stream_job *job, const struct key *key, enum tt_role role,
                   const char *value, struct tt_message *ret_message)
{
    const char *why;

    if (key->role >= 0 && key->role != (int)role) {
        return refuse(ret_message, "%s is for a %s", key->name,
                      role == TT_ROLE_TALKER ? "listener; a talker has a source"
                                             : "talker; a listener has a sink");
    }
    why = value[0] == 0 ? "is empty" : set_value(job, key->kind, value);
    if (why && why[0] == 0) {
        refuse(ret_message, "out of memory");
        return -ENOMEM;
    }
    return why ? refuse(ret_message, "%s \"%s\" %s; give %s", key->name, tt_word_quote(value).text,
                        why, key->takes)
               : 0;
}

/* What is the whole command's and not a stream's. */
static bool is_option(const char *name)
{
    static const char *const options[] = {"cpu", "duration", "for", "json", "metrics"};

    for (size_t i = 0; i < TT_COUNT_OF(options); i++) {
        if (tt_word_same(options[i], name)) {
            return true;
        }
    }
    return false;
}

/* The nearest of our own where it is nearer than any of a stream's. */
static void suggest(const char *name, struct tt_message *message)
{
    const char *theirs = tt_stream_config_nearest_key(name);
    size_t least = theirs ? tt_word_distance(name, theirs) : SIZE_MAX;
    const char *nearest = NULL;

    for (size_t i = 0; i < TT_COUNT_OF(keys); i++) {
        size_t distance = tt_word_distance(name, keys[i].name);

        if (distance < least && distance <= strlen(keys[i].name) / 2) {
            least = distance;
            nearest = keys[i].name;
        }
    }
    if (nearest) {
        refuse(message, "there is no key \"%s\"; did you mean %s?", tt_word_quote(name).text,
               nearest);
    } else if (!theirs) {
        for (size_t i = 0; i < TT_COUNT_OF(keys); i++) {
            size_t used = strlen(message->text);

            snprintf(message->text + used, sizeof(message->text) - used, " %s", keys[i].name);
        }
    }
}

int tt_stream_job_set(struct tt_stream_job *job, enum tt_role role, const char *key,
                      const char *value, struct tt_message *ret_message)
{
    const struct key *own = find_key(key);
    int error;

    if (own) {
        return set_own(job, own, role, value, ret_message);
    }
    error = tt_stream_config_set(&job->config, key, value, ret_message);
    if (error == 0) {
        job->by_hand |= tt_stream_class_bit(key);
    } else if (error == -ENOENT && is_option(key)) {
        refuse(ret_message, "%s is an option of the command, --%s, and no key of a stream", key,
               key);
    } else if (error == -ENOENT) {
        suggest(key, ret_message);
    }
    return error;
}

static int check_crf(const struct tt_stream_job *job, struct tt_message *ret_message)
{
    uint64_t told = job->crf.stream_id;
    char id[TT_STREAM_ID_TEXT];

    if (told == 0 || (told != job->clock.stream_id && told != job->config.stream_id)) {
        return 0;
    }
    return refuse(ret_message, "crf \"%s\" is the ID of %s; give it one of its own",
                  tt_stream_id_format(told, id),
                  told == job->clock.stream_id ? "the clock that is followed" : "the stream too");
}

int tt_stream_job_check(struct tt_stream_job *job, enum tt_role role,
                        struct tt_message *ret_message)
{
    int error;

    tt_stream_class_apply(job->class, job->by_hand, &job->config);
    error = tt_stream_config_check(&job->config, role, ret_message);
    if (error == 0 && !job->end) {
        const struct key *key = find_key(role == TT_ROLE_TALKER ? "source" : "sink");

        error = refuse(ret_message, "%s is missing; give %s", key->name, key->takes);
    }
    return error < 0 ? error : check_crf(job, ret_message);
}
