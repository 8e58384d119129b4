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
#include "base/attr.h"
#include "base/ns.h"
#include "base/word.h"

#define BUFFER_MIN_NS TT_NS_PER_MS
#define BUFFER_MAX_NS (60 * TT_NS_PER_S)

enum kind { CLASS, END, REPORT, LOOP, RAW, BUFFER };

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
    {"raw", RAW, false, -1, "a format, and for a source channels and rate, like S24_LE,8,48000"},
    {"buffer", BUFFER, false, -1, "a time from 1ms to 1min, like 500ms"},
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

static const char *set_buffer(struct tt_stream_job *job, const char *value)
{
    int64_t ns;
    const char *why = tt_value_time(value, &ns);

    if (why) {
        return why;
    }
    if (ns < BUFFER_MIN_NS || ns > BUFFER_MAX_NS) {
        return ns < BUFFER_MIN_NS ? "is too small" : "is too large";
    }
    job->buffer_ns = ns;
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
    case RAW:
        why = tt_raw_parse(value, &job->raw);
        job->is_raw = job->is_raw || !why;
        return why;
    case BUFFER:
        return set_buffer(job, value);
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
    } else if (error == -ENOENT) {
        suggest(key, ret_message);
    }
    return error;
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
    return error;
}
