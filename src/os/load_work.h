/*
 * What the processes of a load do; see load.h.
 */
#ifndef TT_OS_LOAD_WORK_H
#define TT_OS_LOAD_WORK_H

#include <stdatomic.h>
#include <stdint.h>

#include "os/load.h"

/* In memory that all processes of a load share. */
struct tt_load_shared {
    atomic_llong bytes;
    atomic_llong rounds;
    atomic_int ready; /* processes that are at work */
    atomic_int error; /* -errno of the first that failed */
};

struct tt_load_job {
    const struct tt_load_setup *setup;
    struct tt_load_shared *shared;
    int64_t file_bytes;
    int socket; /* of the scheduler and the network: one of a pair */
    bool sends;
};

/* These return only when they cannot go on: -errno. */
int tt_load_work_proc(const struct tt_load_job *job);
int tt_load_work_file(const struct tt_load_job *job);
int tt_load_work_memory(const struct tt_load_job *job);
int tt_load_work_socket(const struct tt_load_job *job, size_t message_bytes);

#endif
