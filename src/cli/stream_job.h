/*
 * A stream as a person asked for it, with where its audio comes from or goes to: options and the
 * stream file set the same keys.
 */
#ifndef TT_CLI_STREAM_JOB_H
#define TT_CLI_STREAM_JOB_H

#include <stdbool.h>
#include <stdint.h>

#include "audio/stream_class.h"
#include "audio/stream_config.h"
#include "cli/raw.h"
#include "run/resampler.h"

/* What of a stream a message is about. */
enum tt_stream_part {
    TT_STREAM_PART_END, /* its source or sink */
    TT_STREAM_PART_REPORT,
    TT_STREAM_PART_INTERFACE,
    TT_STREAM_PART_WHOLE,
};

/* A CRF stream: a media clock that is followed, or told. */
struct tt_crf_name {
    uint64_t stream_id; /* 0: none */
    uint8_t dest[6];
    uint32_t rate_hz; /* of one that is told */
};

/* Owns its texts. */
struct tt_stream_job {
    struct tt_stream_config config;
    enum tt_stream_class class;
    unsigned by_hand; /* what of the class's keys was set: tt_stream_class_bit */
    char *end;        /* a talker's source, a listener's sink */
    char *report;     /* a file for what happened; NULL: none */
    bool loop;
    bool overwrite; /* a recording that is there already */
    bool is_raw;
    struct tt_sound_raw raw;
    int64_t buffer_ns; /* 0: not said */
    int64_t level_ns;  /* of a sound card; 0: not said */
    enum tt_quality quality;
    struct tt_crf_name clock; /* a talker's: followed by all of the command, … */
    struct tt_crf_name crf;   /* … and told by it */
};

void tt_stream_job_init(struct tt_stream_job *job);
void tt_stream_job_done(struct tt_stream_job *job);
/* 0 or -ENOMEM. */
int tt_stream_job_copy(const struct tt_stream_job *job, struct tt_stream_job *ret_job);

/* Whether the key is of one stream and cannot be common to several. */
bool tt_stream_job_is_single(const char *key);
/* … and whether it is of all together and cannot be one stream's. */
bool tt_stream_job_is_common(const char *key);
/* 0; -ENOENT: no such key; -EINVAL; -ENOMEM. *ret_message on failure only. */
int tt_stream_job_set(struct tt_stream_job *job, enum tt_role role, const char *key,
                      const char *value, struct tt_message *ret_message);
/* Applies the class, and says what is missing or does not fit together. 0 or -EINVAL. */
int tt_stream_job_check(struct tt_stream_job *job, enum tt_role role,
                        struct tt_message *ret_message);

#endif
