/*
 * See load.h. The processes are children that the kernel ends with their parent.
 */
#include "os/load.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/statvfs.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/attr.h"
#include "base/min_max.h"
#include "base/ns.h"
#include "os/clock.h"
#include "os/load_work.h"

#define SCHEDULER_PAIRS         20
#define SCHEDULER_MESSAGE_BYTES 100
#define NETWORK_MESSAGE_BYTES   16384
#define FILE_BYTES              (INT64_C(256) << 20)
#define FILE_BYTES_MIN          (INT64_C(8) << 20)
#define FREE_PART               10
#define DAY_S                   86400
#define READY_MAX_NS            (60 * TT_NS_PER_S)
#define NAP_NS                  (5 * TT_NS_PER_MS)
#define HURRIED_MAX_NS          (500 * TT_NS_PER_MS)
#define MEMORY_PROCESSES_MAX    8

static int work(const struct tt_load_job *job)
{
    switch (job->setup->kind) {
    case TT_LOAD_PROC:
        return tt_load_work_proc(job);
    case TT_LOAD_WRITE:
    case TT_LOAD_COPY:
    case TT_LOAD_READ:
        return tt_load_work_file(job);
    case TT_LOAD_SCHEDULER:
        return tt_load_work_socket(job, SCHEDULER_MESSAGE_BYTES);
    case TT_LOAD_NETWORK:
        return tt_load_work_socket(job, NETWORK_MESSAGE_BYTES);
    case TT_LOAD_MEMORY:
        return tt_load_work_memory(job);
    case TT_LOAD_IDLE:
    case TT_LOADS:
        break;
    }
    return 0;
}

/* Who reads what the parent prints waits for the parent alone. */
static void leave_standard_descriptors(void)
{
    int nothing = open("/dev/null", O_RDWR | O_CLOEXEC);

    for (int fd = STDIN_FILENO; nothing > STDERR_FILENO && fd <= STDERR_FILENO; fd++) {
        dup2(nothing, fd);
    }
}

/* Nothing of the parent's is left in the child: no signal handler, no priority, no longer life. */
__attribute__((noreturn)) static void child(const struct tt_load_job *job, pid_t parent)
{
    static const int left_to_parent[] = {SIGINT, SIGTERM, SIGHUP, SIGPIPE};
    struct sched_param param = {.sched_priority = job->setup->priority};
    int expected = 0;
    int error;

    for (int number = 1; number < NSIG; number++) {
        signal(number, SIG_DFL);
    }
    /* A terminal interrupts all of its processes; who started the load says when it ends. */
    for (size_t i = 0; i < TT_COUNT_OF(left_to_parent); i++) {
        signal(left_to_parent[i], SIG_IGN);
    }
    leave_standard_descriptors();
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    prctl(PR_SET_NAME, "tactus-load");
    if (getppid() != parent) {
        _exit(0);
    }
    alarm(job->setup->seconds > 0 ? job->setup->seconds : DAY_S);
    if (job->setup->priority == 0 || sched_setscheduler(0, SCHED_RR, &param) != 0) {
        sched_setscheduler(0, SCHED_OTHER, &(struct sched_param){0});
    }
    error = work(job);
    atomic_compare_exchange_strong(&job->shared->error, &expected, error);
    _exit(0);
}

static int start_process(struct tt_load *load, const struct tt_load_job *job, int other_end)
{
    pid_t parent = getpid();
    pid_t pid = fork();

    if (pid < 0) {
        return -errno;
    }
    if (pid == 0) {
        if (other_end >= 0) {
            close(other_end);
        }
        child(job, parent);
    }
    load->pids[load->count++] = pid;
    return 0;
}

static int start_pair(struct tt_load *load, struct tt_load_job *job, int ends[2])
{
    int error;

    *job = (struct tt_load_job){.setup = job->setup, .shared = job->shared, .socket = ends[0]};
    error = start_process(load, job, ends[1]);
    job->socket = ends[1];
    job->sends = true;
    error = error ? error : start_process(load, job, ends[0]);
    close(ends[0]);
    close(ends[1]);
    return error;
}

/* A TCP connection over the loopback interface. */
static int connect_loopback(int ret_ends[2])
{
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t length = sizeof(address);
    int server = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    int client = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    int accepted = -1;
    int error = 0;

    if (server < 0 || client < 0 || bind(server, (void *)&address, length) != 0 ||
        listen(server, 1) != 0 || getsockname(server, (void *)&address, &length) != 0 ||
        connect(client, (void *)&address, length) != 0 ||
        (accepted = accept4(server, NULL, NULL, SOCK_CLOEXEC)) < 0) {
        error = -errno;
        close(client);
    }
    close(server);
    ret_ends[0] = accepted;
    ret_ends[1] = client;
    return error;
}

static int start_processes(struct tt_load *load, struct tt_load_job *job)
{
    long processors = sysconf(_SC_NPROCESSORS_ONLN);
    unsigned count = 1;
    int ends[2];
    int error = 0;

    switch (job->setup->kind) {
    case TT_LOAD_SCHEDULER:
        for (int i = 0; i < SCHEDULER_PAIRS && !error; i++) {
            error = socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) ? -errno : 0;
            error = error ? error : start_pair(load, job, ends);
        }
        return error;
    case TT_LOAD_NETWORK:
        error = connect_loopback(ends);
        return error ? error : start_pair(load, job, ends);
    case TT_LOAD_MEMORY:
        count = (unsigned)tt_max64(1, tt_min64(processors, MEMORY_PROCESSES_MAX));
        break;
    default:
        break;
    }
    for (unsigned i = 0; i < count && !error; i++) {
        error = start_process(load, job, -1);
    }
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

static int find_file_bytes(const struct tt_load_setup *setup, int64_t *ret_bytes)
{
    const char *folder = setup->folder ? setup->folder : ".";
    struct statvfs disk;
    int64_t most = setup->file_bytes > 0 ? setup->file_bytes : FILE_BYTES;

    if (statvfs(folder, &disk) != 0 || access(folder, W_OK | X_OK) != 0) {
        return -errno;
    }
    /* A copy has two files. */
    *ret_bytes = tt_min64(most, (int64_t)disk.f_bavail * (int64_t)disk.f_frsize / FREE_PART / 2);
    return *ret_bytes < FILE_BYTES_MIN ? -ENOSPC : 0;
}

static bool has_files(const struct tt_load_setup *setup)
{
    return setup->kind >= TT_LOAD_WRITE && setup->kind <= TT_LOAD_READ;
}

int tt_load_check(const struct tt_load_setup *setup)
{
    int64_t bytes;

    return has_files(setup) ? find_file_bytes(setup, &bytes) : 0;
}

/* One of them is no more; it can still be waited for. */
static bool one_has_ended(const struct tt_load *load)
{
    for (unsigned i = 0; i < load->count; i++) {
        siginfo_t info = {0};

        if (waitid(P_PID, (id_t)load->pids[i], &info, WEXITED | WNOHANG | WNOWAIT) == 0 &&
            info.si_pid != 0) {
            return true;
        }
    }
    return false;
}

static void nap(void)
{
    struct timespec nap = {.tv_nsec = NAP_NS};

    clock_nanosleep(CLOCK_MONOTONIC, 0, &nap, NULL);
}

static bool is_hurried(const struct tt_load *load)
{
    return load->hurried && load->hurried();
}

/* All are at work, or one failed. */
static int wait_until_ready(struct tt_load *load)
{
    int64_t end_ns = tt_clock_mono_ns() + READY_MAX_NS;

    while (atomic_load(&load->shared->ready) < (int)load->count) {
        bool ended = one_has_ended(load);
        int error = atomic_load(&load->shared->error);

        error = error || !ended ? error : -ECHILD;
        error = error || !is_hurried(load) ? error : -EINTR;
        if (error || tt_clock_mono_ns() > end_ns) {
            return error ? error : -ETIMEDOUT;
        }
        nap();
    }
    return 0;
}

int tt_load_start(struct tt_load *load, const struct tt_load_setup *setup)
{
    struct tt_load_job job = {.setup = setup, .socket = -1};
    struct tt_load_setup plain = *setup;
    int error = has_files(setup) ? find_file_bytes(setup, &job.file_bytes) : 0;

    *load = (struct tt_load){.hurried = setup->hurried};
    if (error || setup->kind == TT_LOAD_IDLE) {
        return error;
    }
    load->shared = mmap(NULL, sizeof(*load->shared), PROT_READ | PROT_WRITE,
                        MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (load->shared == MAP_FAILED) {
        load->shared = NULL;
        return -errno;
    }
    job.shared = load->shared;
    raise_caller(load, setup->priority);
    plain.priority = load->realtime ? setup->priority : 0;
    job.setup = &plain;
    error = start_processes(load, &job);
    error = error ? error : wait_until_ready(load);
    if (error) {
        tt_load_stop(load, NULL);
        return error;
    }
    atomic_store(&load->shared->bytes, 0);
    atomic_store(&load->shared->rounds, 0);
    load->start_mono_ns = tt_clock_mono_ns();
    return 0;
}

/* The processes that are not gone yet. Who is in the midst of a disk's work goes when that is done.
 */
static unsigned reap(const struct tt_load *load)
{
    int64_t hurried_ns = 0;
    unsigned left = load->count;

    for (;;) {
        while (left > 0 && waitpid(load->pids[left - 1], NULL, WNOHANG) != 0) {
            left--;
        }
        if (left == 0 || (hurried_ns > 0 && tt_clock_mono_ns() - hurried_ns > HURRIED_MAX_NS)) {
            return left;
        }
        hurried_ns = hurried_ns == 0 && is_hurried(load) ? tt_clock_mono_ns() : hurried_ns;
        nap();
    }
}

void tt_load_stop(struct tt_load *load, struct tt_load_done *ret_done)
{
    unsigned left;
    bool ended;

    if (ret_done) {
        *ret_done = (struct tt_load_done){0};
    }
    if (ret_done && load->shared) {
        ret_done->bytes = atomic_load(&load->shared->bytes);
        ret_done->rounds = atomic_load(&load->shared->rounds);
        ended = one_has_ended(load);
        ret_done->error = atomic_load(&load->shared->error);
        ret_done->error = ret_done->error || !ended ? ret_done->error : -ECHILD;
        ret_done->elapsed_ns = tt_clock_mono_ns() - load->start_mono_ns;
    }
    for (unsigned i = 0; i < load->count; i++) {
        kill(load->pids[i], SIGKILL);
    }
    left = reap(load);
    if (ret_done) {
        ret_done->left = left;
    }
    if (load->realtime) {
        sched_setscheduler(0, load->policy, &load->param);
    }
    if (load->shared) {
        munmap(load->shared, sizeof(*load->shared));
    }
    *load = (struct tt_load){0};
}

const char *tt_load_name(enum tt_load_kind kind)
{
    static const char *const names[TT_LOADS] = {
        [TT_LOAD_IDLE] = "idle",     [TT_LOAD_PROC] = "proc",
        [TT_LOAD_WRITE] = "write",   [TT_LOAD_COPY] = "copy",
        [TT_LOAD_READ] = "read",     [TT_LOAD_SCHEDULER] = "scheduler",
        [TT_LOAD_MEMORY] = "memory", [TT_LOAD_NETWORK] = "network",
    };

    return names[kind];
}
