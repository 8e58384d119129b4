/*
 * See governor.h.
 */
#include "os/governor.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "os/machine.h"
#include "os/machine_file.h"

static void path_of(unsigned cpu, char *ret_path, size_t size)
{
    snprintf(ret_path, size, "/sys/devices/system/cpu/cpu%u/cpufreq/scaling_governor", cpu);
}

static int set_one(unsigned cpu, const char *name)
{
    char path[128];
    int error = 0;
    int fd;

    path_of(cpu, path, sizeof(path));
    fd = open(path, O_WRONLY | O_CLOEXEC);
    if (fd < 0) {
        return -errno;
    }
    if (write(fd, name, strlen(name)) < 0) {
        error = -errno;
    }
    close(fd);
    return error;
}

int tt_governor_set(const char *name, char ret_before[TT_GOVERNOR_NAME])
{
    char before[TT_GOVERNOR_NAME];
    char path[128];
    int error;

    path_of(0, path, sizeof(path));
    error = tt_machine_file_text(path, before, sizeof(before));
    for (unsigned cpu = 0; cpu < tt_machine_processors() && !error; cpu++) {
        error = set_one(cpu, name);
    }
    if (!error) {
        memcpy(ret_before, before, sizeof(before));
    }
    return error;
}
