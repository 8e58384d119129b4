/*
 * See midi_device.h. Source: proc(5), /proc/PID/fd and fdinfo.
 */
#include "os/midi_device.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "os/midi_hw.h"

#define PATH_BYTES 288

struct device {
    bool is_seq;
    dev_t number;  /* of the sequencer: client and port */
    int subdevice; /* -1: any that is free */
};

static int of_path(const char *path, int subdevice, struct device *ret_device)
{
    struct stat status;

    if (stat(path, &status) != 0) {
        return -errno;
    }
    *ret_device = (struct device){.number = status.st_rdev, .subdevice = subdevice};
    return S_ISCHR(status.st_mode) ? 0 : -EINVAL;
}

static int find(const char *name, struct device *ret_device)
{
    char path[TT_MIDI_PORT_NAME];
    unsigned client;
    unsigned port;
    struct tt_midi_hw hw;
    int error;

    if (strncmp(name, "hw:", 3) == 0) {
        error = tt_midi_hw_parse(name, &hw);
        if (error) {
            return error;
        }
        tt_midi_hw_path(&hw, path);
        return of_path(path, hw.subdevice, ret_device);
    }
    if (strncmp(name, "seq:", 4) == 0) {
        error = tt_midi_seq_find(name, &client, &port);
        if (!error) {
            *ret_device = (struct device){.is_seq = true, .number = makedev(client, port)};
        }
        return error;
    }
    return of_path(name, -1, ret_device);
}

bool tt_midi_device_same(const char *a, const char *b)
{
    struct device x = {0};
    struct device y = {0};

    return find(a, &x) == 0 && find(b, &y) == 0 && x.is_seq == y.is_seq && x.number == y.number &&
           (x.subdevice == y.subdevice || x.subdevice < 0 || y.subdevice < 0);
}

static bool has_lock(const char *pid, const char *fd)
{
    char text[PATH_BYTES];
    bool found = false;
    FILE *file;

    snprintf(text, sizeof(text), "/proc/%.16s/fdinfo/%.16s", pid, fd);
    file = fopen(text, "re");
    while (file && !found && fgets(text, sizeof(text), file)) {
        found = strncmp(text, "lock:", 5) == 0;
    }
    if (file) {
        fclose(file);
    }
    return found;
}

/* 0: it has not; 1: it has the device open; 2: and a lock on it. */
static int use_of(const char *pid, dev_t number)
{
    const struct dirent *entry;
    char path[PATH_BYTES];
    int use = 0;
    DIR *folder;

    snprintf(path, sizeof(path), "/proc/%.16s/fd", pid);
    folder = opendir(path);
    while (folder && use < 2 && (entry = readdir(folder)) != NULL) {
        struct stat status;

        if (fstatat(dirfd(folder), entry->d_name, &status, 0) == 0 && S_ISCHR(status.st_mode) &&
            status.st_rdev == number) {
            use = has_lock(pid, entry->d_name) ? 2 : 1;
        }
    }
    if (folder) {
        closedir(folder);
    }
    return use;
}

static void set_user(const char *pid, struct tt_midi_user *user)
{
    char path[PATH_BYTES];
    FILE *file;

    *user = (struct tt_midi_user){.pid = atoi(pid), .name = "?"};
    snprintf(path, sizeof(path), "/proc/%.16s/comm", pid);
    file = fopen(path, "re");
    if (file && fgets(user->name, sizeof(user->name), file)) {
        user->name[strcspn(user->name, "\n")] = '\0';
    }
    if (file) {
        fclose(file);
    }
}

int tt_midi_device_user(const char *name, struct tt_midi_user *ret_user)
{
    const struct dirent *entry;
    struct device device;
    int most = 0;
    DIR *processes;

    if (find(name, &device) != 0 || device.is_seq) {
        return -ENOENT;
    }
    processes = opendir("/proc");
    while (processes && most < 2 && (entry = readdir(processes)) != NULL) {
        int use = isdigit((unsigned char)entry->d_name[0]) && atoi(entry->d_name) != getpid()
                      ? use_of(entry->d_name, device.number)
                      : 0;

        if (use > most) {
            set_user(entry->d_name, ret_user);
            most = use;
        }
    }
    if (processes) {
        closedir(processes);
    }
    return most > 0 ? 0 : -ENOENT;
}
