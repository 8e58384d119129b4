/*
 * See netns.h.
 */
#include "netns.h"

#include <errno.h>
#include <sched.h>
#include <spawn.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define ARGUMENTS_MAX 32

extern char **environ;

static bool write_file(const char *path, const char *text)
{
    FILE *f = fopen(path, "w");
    bool ok = f && fputs(text, f) >= 0;

    return f ? fclose(f) == 0 && ok : false;
}

/* Root inside is the user outside; without the map, `ip` would have no rights after exec. */
static bool enter_user(void)
{
    char uid_map[32];
    char gid_map[32];

    snprintf(uid_map, sizeof(uid_map), "0 %u 1", (unsigned)geteuid());
    snprintf(gid_map, sizeof(gid_map), "0 %u 1", (unsigned)getegid());
    return unshare(CLONE_NEWUSER | CLONE_NEWNET) == 0 &&
           write_file("/proc/self/setgroups", "deny") &&
           write_file("/proc/self/uid_map", uid_map) && write_file("/proc/self/gid_map", gid_map);
}

int netns_run(const char *command)
{
    char text[256];
    char *arguments[ARGUMENTS_MAX] = {NULL};
    char *rest = NULL;
    pid_t pid;
    int status;
    size_t n = 0;

    snprintf(text, sizeof(text), "%s", command);
    for (char *word = strtok_r(text, " ", &rest); word && n + 1 < ARGUMENTS_MAX;
         word = strtok_r(NULL, " ", &rest)) {
        arguments[n++] = word;
    }
    if (posix_spawnp(&pid, arguments[0], NULL, NULL, arguments, environ) != 0 ||
        waitpid(pid, &status, 0) != pid || !WIFEXITED(status)) {
        return -1;
    }
    return WEXITSTATUS(status);
}

bool netns_enter(bool rootless)
{
    if ((rootless || unshare(CLONE_NEWNET) < 0) && !enter_user()) {
        printf("skipped: no network namespace can be made here: %s\n", strerror(errno));
        return false;
    }
    if (netns_run("ip link add va type veth peer name vb") != 0 ||
        netns_run("ip link set va up") != 0 || netns_run("ip link set vb up") != 0) {
        printf("skipped: no veth pair can be made here (is iproute2 installed?)\n");
        return false;
    }
    return true;
}
