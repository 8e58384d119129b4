/*
 * See bench_inject.h. The loop runs in a process of its own, which knows nothing of what is done to
 * it but through its own counters; slower computations and page faults are ordered by a word in
 * shared memory that the computation looks at, as a program's own work would be.
 */
#include "bench_inject.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/attr.h"
#include "base/ns.h"
#include "base/random.h"
#include "os/clock.h"
#include "os/memory.h"
#include "os/policy.h"
#include "run/meter.h"

#define CPU        0
#define PERCENT    30
#define FILE_BYTES (INT64_C(64) << 20)
#define PAGE_BYTES 4096
#define BEFORE_NS  (120 * TT_NS_PER_MS)
#define EFFECT_NS  (100 * TT_NS_PER_MS) /* the loop feels it within so long */
#define AFTER_NS   (400 * TT_NS_PER_MS) /* who tells of losses has no priority */

struct order {
    atomic_int slow_cycles; /* that many computations are of a processor … */
    atomic_int slow_factor; /* … so many times as slow */
    atomic_int pages;       /* so many are touched that are on the disk */
    atomic_bool quit;
};

struct found {
    int64_t start_ns;
    int64_t end_ns;
    struct tt_loss loss;
    struct tt_evidence evidence;
};

static struct order *order;
static const volatile char *file;
static int file_fd;
static int report_fd;
static const struct tt_meter_host_ops *plain_ops;
static struct tt_meter_host_ops ordered_ops;
static uint64_t random_state = 1;

/* ---- the loop's process */

static void touch_pages(int pages)
{
    for (int i = 0; i < pages; i++) {
        uint64_t page = tt_random_next(&random_state) % (FILE_BYTES / PAGE_BYTES);

        (void)file[page * PAGE_BYTES];
    }
    madvise((void *)(uintptr_t)file, (size_t)FILE_BYTES, MADV_DONTNEED);
}

static void ordered_compute(struct tt_meter_host *host, int64_t units, int64_t *ret_gap_ns)
{
    int pages = atomic_exchange(&order->pages, 0);
    int64_t before_ns = host->ops->now_ns(host);
    struct tt_meter_machine *machine = (struct tt_meter_machine *)host; /* its first member */
    int64_t fault_ns = 0;
    int factor = 1;

    if (pages > 0) {
        touch_pages(pages);
        fault_ns = host->ops->now_ns(host) - before_ns;
    }
    if (atomic_load(&order->slow_cycles) > 0) {
        atomic_fetch_sub(&order->slow_cycles, 1);
        factor = atomic_load(&order->slow_factor);
    }
    machine->chunk_units *= factor; /* as many chunks, each so many times as long */
    plain_ops->compute(host, units * factor, ret_gap_ns);
    machine->chunk_units /= factor;
    *ret_gap_ns += fault_ns;
}

static void tell(void *context, const struct tt_cell *cell)
{
    const struct tt_incident *incident = &cell->incident;
    struct found found = {incident->start_ns, incident->end_ns, incident->loss, incident->evidence};

    (void)context;
    if (write(report_fd, &found, sizeof(found)) != (ssize_t)sizeof(found))
        atomic_store(&order->quit, true);
}

static bool told_to_quit(void)
{
    return atomic_load(&order->quit);
}

__attribute__((noreturn)) static void run_loop(void)
{
    static struct tt_meter_ring ring;
    static struct tt_meter_machine machine;
    struct tt_meter_setup setup = {
        .shape = {.rate_hz = 48000, .frames = 64, .count = 3},
        .plan_ns = 3600 * TT_NS_PER_S,
        .policy = {.kind = TT_POLICY_FIFO, .cpu = CPU},
        .machine = &machine,
        .ring = &ring,
        .interrupted = told_to_quit,
        .incident = tell,
    };
    struct tt_meter_result result = {0};
    const char *what;

    prctl(PR_SET_PDEATHSIG, SIGKILL);
    tt_meter_ring_init(&ring, (struct tt_meter_entry *)tt_memory_new(
                                  TT_METER_RING_ENTRIES, sizeof(struct tt_meter_entry)));
    tt_meter_machine_init(&machine);
    plain_ops = machine.host.ops;
    ordered_ops = *plain_ops;
    ordered_ops.compute = ordered_compute;
    machine.host.ops = &ordered_ops;
    setup.compute_ns = tt_fragment_shape_period_ns(&setup.shape) * PERCENT / 100;
    result.cell = calloc(1, sizeof(*result.cell));
    _exit(ring.entries && result.cell && tt_meter_run(&setup, &result, &what) == 0 &&
                  result.policy_error == 0
              ? 0
              : 1);
}

/* ---- what is done to it */

static void sleep_ns(int64_t ns)
{
    struct timespec t = {.tv_sec = ns / TT_NS_PER_S, .tv_nsec = ns % TT_NS_PER_S};

    clock_nanosleep(CLOCK_MONOTONIC, 0, &t, NULL);
}

static int64_t random_ns(int64_t from_ns, int64_t until_ns)
{
    return from_ns + (int64_t)(tt_random_next(&random_state) % (uint64_t)(until_ns - from_ns));
}

/* A process of some priority on the loop's processor that never waits, for so long. */
static void hog(int priority, int64_t ns)
{
    pid_t pid = fork();

    if (pid == 0) {
        struct tt_policy policy = {.kind = TT_POLICY_FIFO, .priority = priority, .cpu = CPU};
        int64_t end_ns;

        prctl(PR_SET_PDEATHSIG, SIGKILL);
        if (tt_policy_apply(&policy) != 0)
            _exit(1);
        end_ns = tt_clock_mono_ns() + ns;
        while (tt_clock_mono_ns() < end_ns) {
        }
        _exit(0);
    }
    waitpid(pid, NULL, 0);
}

static void disturb(enum tt_cause kind, pid_t loop)
{
    switch (kind) {
    case TT_CAUSE_OTHERS:
        hog(90, random_ns(8 * TT_NS_PER_MS, 25 * TT_NS_PER_MS));
        break;
    case TT_CAUSE_THROTTLED: /* below the loop; whatever its phase, it has all of one second */
        hog(20, 2000 * TT_NS_PER_MS);
        break;
    case TT_CAUSE_STOPPED:
        kill(loop, SIGSTOP);
        sleep_ns(random_ns(8 * TT_NS_PER_MS, 25 * TT_NS_PER_MS));
        kill(loop, SIGCONT);
        break;
    case TT_CAUSE_FAULT:
        posix_fadvise(file_fd, 0, 0, POSIX_FADV_DONTNEED);
        atomic_store(&order->pages, 100);
        break;
    case TT_CAUSE_SLOWER:
        atomic_store(&order->slow_factor, (int)random_ns(4, 9));
        atomic_store(&order->slow_cycles, (int)random_ns(8, 25));
        break;
    default:
        break;
    }
}

/* The greatest loss that overlaps the disturbance; its main cause is TT_CAUSES where there was
 * none. */
static struct found find(int fd, int64_t from_ns, int64_t until_ns)
{
    struct pollfd ready = {.fd = fd, .events = POLLIN};
    struct found most = {.loss.main = TT_CAUSES};
    struct found found;

    while (poll(&ready, 1, 0) > 0 && read(fd, &found, sizeof(found)) == (ssize_t)sizeof(found)) {
        if (found.end_ns >= from_ns && found.start_ns <= until_ns &&
            found.loss.lost_ns > most.loss.lost_ns)
            most = found;
    }
    return most;
}

/* What misled it, below the matrix's row. */
static void tell_wrong(const struct found *found)
{
    const struct tt_evidence *e = &found->evidence;

    if (found->loss.main != TT_CAUSES)
        fprintf(
            stderr,
            "  %s: lost %.1f ms; its greatest: waiting %.1f, computing %.1f; CPU time %.1f, run "
            "delay %.1f, ordinary %.1f, gaps %.1f, steal %.1f ms; %lld faults, %lld waits\n",
            tt_cause_name(found->loss.main), (double)found->loss.lost_ns / 1e6,
            (double)e->lost_waiting_ns / 1e6, (double)e->lost_computing_ns / 1e6,
            (double)e->cpu_ns / 1e6, (double)e->run_delay_ns / 1e6, (double)e->ordinary_ns / 1e6,
            (double)e->gap_ns / 1e6, (double)e->steal_ns / 1e6, (long long)e->major_faults,
            (long long)e->waits);
}

static bool run_kind(enum tt_cause kind, unsigned times, pid_t loop, int fd)
{
    unsigned row[TT_CAUSES + 1] = {0};

    for (unsigned i = 0; i < times; i++) {
        struct found found;
        int64_t from_ns;
        int64_t until_ns;

        sleep_ns(random_ns(BEFORE_NS, 2 * BEFORE_NS));
        find(fd, 0, 0);
        from_ns = tt_clock_mono_ns();
        disturb(kind, loop);
        until_ns = tt_clock_mono_ns() + EFFECT_NS;
        sleep_ns(AFTER_NS);
        found = find(fd, from_ns, until_ns);
        row[found.loss.main]++;
        if (found.loss.main != kind)
            tell_wrong(&found);
    }
    printf("%12s", tt_cause_name(kind));
    for (int cause = 0; cause <= TT_CAUSES; cause++)
        printf(" %11u", row[cause]);
    printf("\n");
    return row[kind] * 100 >= times * 95;
}

static bool make_file(void)
{
    char path[] = "bench-inject-XXXXXX";
    static char block[1 << 20];

    file_fd = mkostemp(path, O_CLOEXEC);
    if (file_fd < 0)
        return false;
    unlink(path);
    memset(block, 1, sizeof(block));
    for (int64_t at = 0; at < FILE_BYTES; at += (int64_t)sizeof(block))
        if (write(file_fd, block, sizeof(block)) != (ssize_t)sizeof(block))
            return false;
    fdatasync(file_fd);
    file = mmap(NULL, (size_t)FILE_BYTES, PROT_READ, MAP_SHARED, file_fd, 0);
    return (const void *)(uintptr_t)file != MAP_FAILED &&
           madvise((void *)(uintptr_t)file, (size_t)FILE_BYTES, MADV_RANDOM) == 0;
}

static bool run_kinds(unsigned times, const char *only, pid_t loop, int fd)
{
    static const enum tt_cause kinds[] = {TT_CAUSE_OTHERS, TT_CAUSE_THROTTLED, TT_CAUSE_STOPPED,
                                          TT_CAUSE_FAULT, TT_CAUSE_SLOWER};
    bool held = true;
    bool ran = false;

    printf("done, %u times each, and the cause found\n%12s", times, "");
    for (int cause = 0; cause < TT_CAUSES; cause++)
        printf(" %11s", tt_cause_name((enum tt_cause)cause));
    printf(" %11s\n", "none");
    for (size_t k = 0; k < TT_COUNT_OF(kinds); k++)
        if (!only[0] || strcmp(only, tt_cause_name(kinds[k])) == 0) {
            held = run_kind(kinds[k], times, loop, fd) && held;
            ran = true;
        }
    return held && ran;
}

bool bench_inject(unsigned times, const char *only)
{
    int status = -1;
    int ends[2];
    bool held;
    pid_t loop;

    order = mmap(NULL, sizeof(*order), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (order == MAP_FAILED || pipe2(ends, O_CLOEXEC) != 0 || !make_file()) {
        perror("bench_meter");
        return false;
    }
    loop = fork();
    if (loop == 0) {
        report_fd = ends[1];
        run_loop();
    }
    sleep_ns(TT_NS_PER_S);
    held = run_kinds(times, only, loop, ends[0]);
    atomic_store(&order->quit, true);
    waitpid(loop, &status, 0);
    if (!WIFEXITED(status) || WEXITSTATUS(status) != 0)
        printf("the loop failed, or got no real-time priority\n");
    printf("at least 95 %% of each: %s\n", held ? "held" : "NOT HELD");
    return held && WIFEXITED(status) && WEXITSTATUS(status) == 0;
}
