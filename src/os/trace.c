/*
 * See trace.h.
 */
#include "os/trace.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "os/machine_file.h"

#define PREFIX "tactus-"

/* Where tracefs is mounted. 0 or -ENOENT. */
static int find_tracefs(char *ret_path, size_t size)
{
    FILE *mounts = fopen("/proc/mounts", "re");
    char line[1024];
    int error = -ENOENT;

    while (error && mounts && fgets(line, sizeof(line), mounts)) {
        char path[TT_TRACE_PATH];
        char type[32];

        if (sscanf(line, "%*s %159s %31s", path, type) == 2 && strcmp(type, "tracefs") == 0 &&
            strlen(path) < TT_TRACE_PATH / 2) {
            snprintf(ret_path, size, "%s", path);
            error = 0;
        }
    }
    if (mounts) {
        fclose(mounts);
    }
    return error;
}

static int put(const char *folder, const char *name, const char *value)
{
    char path[2 * TT_TRACE_PATH];
    int fd;
    int error = 0;

    snprintf(path, sizeof(path), "%s/%s", folder, name);
    fd = open(path, O_WRONLY | O_TRUNC | O_CLOEXEC);
    if (fd < 0) {
        return -errno;
    }
    if (value[0] && write(fd, value, strlen(value)) < 0) {
        error = -errno;
    }
    close(fd);
    return error;
}

int tt_trace_available(bool *ret_osnoise)
{
    char path[TT_TRACE_PATH];
    char within[2 * TT_TRACE_PATH];
    int error = find_tracefs(path, sizeof(path));

    *ret_osnoise = false;
    if (error == 0) {
        snprintf(within, sizeof(within), "%s/instances", path);
        error = access(within, W_OK) == 0 ? 0 : -errno;
        /* Who may not look into its folder is told that nothing is there. */
        error = error == -ENOENT ? -EACCES : error;
    }
    if (error == 0) {
        snprintf(within, sizeof(within), "%s/osnoise", path);
        *ret_osnoise = access(within, X_OK) == 0;
    }
    return error;
}

/* Instances of processes that are no more. */
static void remove_left_over(const char *instances)
{
    DIR *folder = opendir(instances);
    struct dirent *entry;

    while (folder && (entry = readdir(folder))) {
        char path[2 * TT_TRACE_PATH + 256];
        long pid = strncmp(entry->d_name, PREFIX, strlen(PREFIX)) == 0
                       ? strtol(entry->d_name + strlen(PREFIX), NULL, 10)
                       : 0;

        if (pid > 0 && kill((pid_t)pid, 0) != 0 && errno == ESRCH) {
            snprintf(path, sizeof(path), "%s/%s", instances, entry->d_name);
            rmdir(path);
        }
    }
    if (folder) {
        closedir(folder);
    }
}

static bool has_workload(const char *tracefs)
{
    char path[2 * TT_TRACE_PATH];
    char text[256];

    snprintf(path, sizeof(path), "%s/osnoise/options", tracefs);
    return tt_machine_file_text(path, text, sizeof(text)) == 0 &&
           strstr(text, "OSNOISE_WORKLOAD") && !strstr(text, "NO_OSNOISE_WORKLOAD");
}

/* From 6.3 on the tracer reports what disturbs a processor without a load of its own. Its events
 * have all interrupts in them. */
static void open_osnoise(struct tt_trace_session *session, const char *tracefs)
{
    session->workload = has_workload(tracefs);
    if (put(tracefs, "osnoise/options", "NO_OSNOISE_WORKLOAD") == 0) {
        session->osnoise = put(session->folder, "current_tracer", "osnoise") == 0 &&
                           put(session->folder, "events/osnoise/enable", "1") == 0;
    }
}

int tt_trace_open(struct tt_trace_session *session)
{
    char tracefs[TT_TRACE_PATH];
    char instances[TT_TRACE_PATH];
    int error = find_tracefs(tracefs, sizeof(tracefs));

    *session = (struct tt_trace_session){0};
    if (error) {
        return error;
    }
    snprintf(instances, sizeof(instances), "%.100s/instances", tracefs);
    remove_left_over(instances);
    snprintf(session->folder, sizeof(session->folder), "%.120s/" PREFIX "%ld", instances,
             (long)getpid());
    if (mkdir(session->folder, 0700) != 0) {
        session->folder[0] = 0;
        return -errno;
    }
    error = put(session->folder, "trace_clock", "mono");
    error = error ? error : put(session->folder, "buffer_size_kb", "64");
    error = error ? error : put(session->folder, "events/sched/sched_switch/enable", "1");
    if (!error) {
        open_osnoise(session, tracefs);
    }
    if (!error && !session->osnoise) {
        error = put(session->folder, "events/irq/enable", "1");
    }
    if (error) {
        tt_trace_close(session);
    }
    return error;
}

/* The end of what is there. */
static ssize_t read_newest(int fd, char *ret_text, size_t size)
{
    size_t length = 0;
    ssize_t n;

    while ((n = read(fd, ret_text + length, size - 1 - length)) > 0) {
        length += (size_t)n;
        if (length > (size - 1) * 3 / 4) {
            memmove(ret_text, ret_text + length - size / 2, size / 2);
            length = size / 2;
        }
    }
    ret_text[length] = 0;
    return n < 0 ? -errno : (ssize_t)length;
}

int tt_trace_take(struct tt_trace_session *session, int cpu, char *ret_text, size_t size)
{
    char path[2 * TT_TRACE_PATH];
    char name[64];
    ssize_t n;
    int fd;

    put(session->folder, "tracing_on", "0");
    snprintf(name, sizeof(name), "per_cpu/cpu%d/trace", cpu);
    snprintf(path, sizeof(path), "%s/%s", session->folder, name);
    fd = open(path, O_RDONLY | O_CLOEXEC);
    n = fd < 0 ? -errno : read_newest(fd, ret_text, size);
    if (fd >= 0) {
        close(fd);
    }
    put(session->folder, name, "");
    put(session->folder, "tracing_on", "1");
    return (int)n;
}

void tt_trace_close(struct tt_trace_session *session)
{
    if (session->folder[0]) {
        put(session->folder, "current_tracer", "nop");
        if (session->workload) {
            put(session->folder, "../../osnoise/options", "OSNOISE_WORKLOAD");
        }
        rmdir(session->folder);
    }
    session->folder[0] = 0;
}
