/*
 * See load.h.
 */
#include "os/load.h"

#include <errno.h>
#include <sched.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#define MESSAGE_BYTES 100

/* One sends, the other takes. */
__attribute__((noreturn)) static void work(int fd, bool sends, pid_t parent)
{
    char message[MESSAGE_BYTES] = {0};
    ssize_t done = 1;

    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != parent) {
        _exit(0);
    }
    while (done > 0) {
        done = sends ? write(fd, message, sizeof(message)) : read(fd, message, sizeof(message));
    }
    _exit(0);
}

static int start_process(struct tt_load *load, const int ends[2], bool sends, int priority)
{
    struct sched_param param = {.sched_priority = priority};
    pid_t parent = getpid();
    pid_t pid = fork();

    if (pid < 0) {
        return -errno;
    }
    if (pid == 0) {
        signal(SIGINT, SIG_DFL);
        signal(SIGTERM, SIG_DFL);
        close(ends[sends ? 1 : 0]);
        if (priority == 0 || sched_setscheduler(0, SCHED_RR, &param) != 0) {
            sched_setscheduler(0, SCHED_OTHER, &(struct sched_param){0});
        }
        work(ends[sends ? 0 : 1], sends, parent);
    }
    load->pids[load->count++] = pid;
    return 0;
}

static int start_pair(struct tt_load *load, int priority)
{
    int ends[2];
    int error;

    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0) {
        return -errno;
    }
    error = start_process(load, ends, false, priority);
    if (!error) {
        error = start_process(load, ends, true, priority);
    }
    close(ends[0]);
    close(ends[1]);
    return error;
}

/* The caller comes above the load. */
static void raise_caller(struct tt_load *load, int priority)
{
    struct sched_param param = {.sched_priority = priority + 1};

    load->policy = sched_getscheduler(0);
    load->realtime = priority > 0 && sched_getparam(0, &load->param) == 0 &&
                     sched_setscheduler(0, SCHED_FIFO, &param) == 0;
}

int tt_load_start(struct tt_load *load, int priority)
{
    int error = 0;

    *load = (struct tt_load){0};
    raise_caller(load, priority);
    for (int i = 0; i < TT_LOAD_PAIRS && !error; i++) {
        error = start_pair(load, load->realtime ? priority : 0);
    }
    if (error) {
        tt_load_stop(load);
    }
    return error;
}

void tt_load_stop(struct tt_load *load)
{
    for (unsigned i = 0; i < load->count; i++) {
        kill(load->pids[i], SIGKILL);
    }
    for (unsigned i = 0; i < load->count; i++) {
        while (waitpid(load->pids[i], NULL, 0) < 0 && errno == EINTR) {
        }
    }
    load->count = 0;
    if (load->realtime) {
        sched_setscheduler(0, load->policy, &load->param);
    }
}
