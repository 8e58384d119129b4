/*
 * Loads for a machine that is measured: what desktops and servers do all day, made so that they can
 * be left to themselves.
 *
 * Each is one process or several, without priority unless it is asked for. They are bounded: they
 * end with the process that started them, however that ends, and after a time by themselves; what
 * they write is in files without a name, which are gone with them, and never more than a size.
 * They are verified: each counts what it got done.
 */
#ifndef TT_OS_LOAD_H
#define TT_OS_LOAD_H

#include <sched.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

enum tt_load_kind {
    TT_LOAD_IDLE, /* none */
    TT_LOAD_PROC, /* reads /proc as top does, a hundred times a second */
    TT_LOAD_WRITE,
    TT_LOAD_COPY,
    TT_LOAD_READ,
    TT_LOAD_SCHEDULER, /* processes that send each other small messages, as hackbench does */
    TT_LOAD_MEMORY,
    TT_LOAD_NETWORK, /* TCP over the loopback interface */
    TT_LOADS,
};

#define TT_LOAD_PROCESSES 40

struct tt_load_setup {
    enum tt_load_kind kind;
    int priority;       /* of SCHED_RR, 0 for none; where it is refused they run without */
    const char *folder; /* for files; NULL: the current one */
    int64_t file_bytes; /* the most that a file may have; 0: 256 MiB, or a tenth of what is free */
    unsigned seconds;   /* after which they end by themselves; 0: a day */
    /* Somebody waits: then starting is given up, and stopping waits for a disk no longer. Or NULL.
     */
    bool (*hurried)(void);
};

/* What was done, by all processes of the load. */
struct tt_load_done {
    int64_t bytes;  /* moved; 0 where the load moves none */
    int64_t rounds; /* files, rounds through /proc, messages, blocks */
    int64_t elapsed_ns;
    int error;     /* -errno of what ended it early; 0 */
    unsigned left; /* processes that a disk still kept when they were waited for no longer */
};

struct tt_load_shared;

struct tt_load {
    pid_t pids[TT_LOAD_PROCESSES];
    unsigned count;
    struct tt_load_shared *shared; /* with the processes */
    int64_t start_mono_ns;
    bool (*hurried)(void);
    bool realtime; /* SCHED_RR was granted to all */
    int policy;    /* of the caller, to be put back */
    struct sched_param param;
};

/* Whether it can have its files: 0, -ENOSPC, -EACCES … A load without files always can. */
int tt_load_check(const struct tt_load_setup *setup);
/* Returns when the load is at work, which takes files some time. With a priority the calling thread
 * is put just above until it stops the load, or it might never come to that. 0, or -errno
 * (-EINTR: it was given up); then there is no load. */
int tt_load_start(struct tt_load *load, const struct tt_load_setup *setup);
/* Ends its processes and waits until they are gone, as long as a slow disk keeps them; in a hurry
 * for a moment, and then they are left to go when it lets them. `ret_done` may be NULL. A load that
 * is all zero is none. */
void tt_load_stop(struct tt_load *load, struct tt_load_done *ret_done);

/* "idle", "proc", "write", "copy", "read", "scheduler", "memory", "network". */
const char *tt_load_name(enum tt_load_kind kind);

#endif
