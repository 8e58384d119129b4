/*
 * See load_work.h. Each says that it is ready when it is at work, and counts what it gets done.
 */
#include "os/load_work.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/min_max.h"
#include "base/ns.h"

#define BLOCK_BYTES      (INT64_C(1) << 20)
#define SMALL_FILE_BYTES 8192
#define PROC_PAUSE_NS    (10 * TT_NS_PER_MS)
#define MEMORY_BYTES     (INT64_C(64) << 20)
#define SYNC_EVERY_BYTES (INT64_C(32) << 20)

static void ready(const struct tt_load_job *job)
{
    atomic_fetch_add(&job->shared->ready, 1);
}

static void count(const struct tt_load_job *job, int64_t bytes)
{
    atomic_fetch_add_explicit(&job->shared->bytes, bytes, memory_order_relaxed);
    atomic_fetch_add_explicit(&job->shared->rounds, 1, memory_order_relaxed);
}

static void read_small(int folder, const char *name)
{
    char text[SMALL_FILE_BYTES];
    int fd = openat(folder, name, O_RDONLY | O_CLOEXEC);

    if (fd >= 0) {
        while (read(fd, text, sizeof(text)) > 0) {
        }
        close(fd);
    }
}

static void read_process(int proc, const char *name)
{
    int folder = openat(proc, name, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

    if (folder >= 0) {
        read_small(folder, "stat");
        read_small(folder, "statm");
        read_small(folder, "status");
        read_small(folder, "cmdline");
        close(folder);
    }
}

int tt_load_work_proc(const struct tt_load_job *job)
{
    struct timespec pause = {.tv_nsec = PROC_PAUSE_NS};
    DIR *proc = opendir("/proc");
    struct dirent *entry;

    if (!proc) {
        return -errno;
    }
    ready(job);
    for (;;) {
        rewinddir(proc);
        read_small(dirfd(proc), "stat");
        read_small(dirfd(proc), "meminfo");
        read_small(dirfd(proc), "loadavg");
        while ((entry = readdir(proc))) {
            if (entry->d_name[0] >= '1' && entry->d_name[0] <= '9') {
                read_process(dirfd(proc), entry->d_name);
            }
        }
        count(job, 0);
        clock_nanosleep(CLOCK_MONOTONIC, 0, &pause, NULL);
    }
}

/* A file without a name: it is gone with the last descriptor of it. */
static int open_nameless(const char *folder)
{
    char path[4096];
    int fd = open(folder, O_RDWR | O_TMPFILE | O_CLOEXEC, 0600);

    if (fd >= 0 || (errno != EOPNOTSUPP && errno != EISDIR)) {
        return fd < 0 ? -errno : fd;
    }
    snprintf(path, sizeof(path), "%s/tactus-load-XXXXXX", folder);
    fd = mkostemp(path, O_CLOEXEC);
    if (fd < 0) {
        return -errno;
    }
    unlink(path);
    return fd;
}

/* 0 or -errno. */
static int write_block(int fd, const char *block, int64_t at)
{
    ssize_t n = pwrite(fd, block, (size_t)BLOCK_BYTES, at);

    return n == BLOCK_BYTES ? 0 : n < 0 ? -errno : -ENOSPC;
}

/* Through a file of file_bytes, over and over. What is read comes from the disk and not from the
 * cache; what is written goes there. */
struct files {
    int from; /* or below 0 */
    int to;
    char *block;
};

static int move_block(const struct files *files, int64_t at)
{
    ssize_t n =
        files->from >= 0 ? pread(files->from, files->block, (size_t)BLOCK_BYTES, at) : BLOCK_BYTES;

    if (n != BLOCK_BYTES) {
        return n < 0 ? -errno : -EIO;
    }
    return files->to >= 0 ? write_block(files->to, files->block, at) : 0;
}

/* From here on nothing of it is in memory, as far as the kernel can do that. */
static void forget(int fd)
{
    if (fd >= 0) {
        fdatasync(fd);
        posix_fadvise(fd, 0, 0, POSIX_FADV_DONTNEED);
    }
}

static int move_files(const struct tt_load_job *job, const struct files *files)
{
    int error = 0;

    while (!error) {
        forget(files->from);
        for (int64_t at = 0; at + BLOCK_BYTES <= job->file_bytes && !error; at += BLOCK_BYTES) {
            error = move_block(files, at);
            if (files->to >= 0 && at % SYNC_EVERY_BYTES == 0) {
                sync_file_range(files->to, 0, 0, SYNC_FILE_RANGE_WRITE);
            }
            count(job, error ? 0 : BLOCK_BYTES);
        }
        forget(files->to);
    }
    return error;
}

int tt_load_work_file(const struct tt_load_job *job)
{
    const char *folder = job->setup->folder ? job->setup->folder : ".";
    struct files files = {.from = -1, .to = -1, .block = malloc((size_t)BLOCK_BYTES)};
    int error = files.block ? 0 : -ENOMEM;

    if (!error && job->setup->kind != TT_LOAD_WRITE) {
        files.from = open_nameless(folder);
        error = files.from < 0 ? files.from : 0;
    }
    if (!error && job->setup->kind != TT_LOAD_READ) {
        files.to = open_nameless(folder);
        error = files.to < 0 ? files.to : 0;
    }
    if (!error) {
        memset(files.block, 0x55, (size_t)BLOCK_BYTES);
    }
    for (int64_t at = 0; files.from >= 0 && at + BLOCK_BYTES <= job->file_bytes && !error;
         at += BLOCK_BYTES) {
        error = write_block(files.from, files.block, at);
    }
    if (!error) {
        ready(job);
        error = move_files(job, &files);
    }
    return error;
}

/* Copies, and gets pages and gives them back, as programs that start and end do. */
int tt_load_work_memory(const struct tt_load_job *job)
{
    size_t half = (size_t)MEMORY_BYTES / 2;
    bool first = true;

    for (;;) {
        char *memory = mmap(NULL, (size_t)MEMORY_BYTES, PROT_READ | PROT_WRITE,
                            MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

        if (memory == MAP_FAILED) {
            return -errno;
        }
        memset(memory, 1, half);
        memcpy(memory + half, memory, half);
        munmap(memory, (size_t)MEMORY_BYTES);
        count(job, MEMORY_BYTES);
        if (first) {
            ready(job);
            first = false;
        }
    }
}

int tt_load_work_socket(const struct tt_load_job *job, size_t message_bytes)
{
    char *message = calloc(1, message_bytes);
    ssize_t done = message ? 1 : -1;

    if (message) {
        ready(job);
    }
    while (done > 0) {
        done = job->sends ? write(job->socket, message, message_bytes)
                          : read(job->socket, message, message_bytes);
        if (!job->sends && done > 0) {
            count(job, done);
        }
    }
    free(message);
    return done < 0 ? -errno : -EPIPE;
}
