/*
 * See thread.h.
 */
#include "os/thread.h"

#include <errno.h>
#include <sched.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <unistd.h>

#define STACK_BYTES    (512 * 1024)
#define PREFAULT_BYTES (64 * 1024)
#define PAGE_BYTES     4096

/* Touches the stack that run() will use, so that no page fault falls into real-time work. */
__attribute__((noinline)) static void prefault_stack(void)
{
    volatile char stack[PREFAULT_BYTES];

    for (size_t i = 0; i < sizeof(stack); i += PAGE_BYTES) {
        stack[i] = 0;
    }
}

static void *thread_main(void *argument)
{
    struct tt_thread *thread = argument;

    prctl(PR_SET_NAME, "tactus");
    prctl(PR_SET_TIMERSLACK, 1UL);
    prefault_stack();
    thread->run(thread->context);
    return NULL;
}

static int create(struct tt_thread *thread, bool realtime)
{
    struct sched_param param = {.sched_priority = TT_THREAD_PRIORITY};
    pthread_attr_t attr;
    int rc = pthread_attr_init(&attr);

    if (rc != 0) {
        return rc;
    }
    rc = pthread_attr_setstacksize(&attr, STACK_BYTES);
    if (rc == 0 && realtime) {
        pthread_attr_setinheritsched(&attr, PTHREAD_EXPLICIT_SCHED);
        pthread_attr_setschedpolicy(&attr, SCHED_FIFO);
        rc = pthread_attr_setschedparam(&attr, &param);
    }
    if (rc == 0) {
        rc = pthread_create(&thread->thread, &attr, thread_main, thread);
    }
    pthread_attr_destroy(&attr);
    return rc;
}

static int start(struct tt_thread *thread, bool realtime)
{
    sigset_t all;
    sigset_t before;
    int rc;

    /* The new thread inherits the mask: signals stay the host program's. */
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    thread->realtime = realtime;
    rc = create(thread, realtime);
    if (rc == EPERM && realtime) {
        thread->realtime = false;
        rc = create(thread, false);
    }
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    thread->running = rc == 0;
    return -rc;
}

int tt_thread_start(struct tt_thread *thread, void (*run)(void *context), void *context)
{
    *thread = (struct tt_thread){.run = run, .context = context, .pid = getpid()};
    return start(thread, true);
}

int tt_thread_start_plain(struct tt_thread *thread, void (*run)(void *context), void *context)
{
    *thread = (struct tt_thread){.run = run, .context = context, .pid = getpid()};
    return start(thread, false);
}

int tt_thread_pin(struct tt_thread *thread, int cpu)
{
    cpu_set_t set;

    if (cpu < 0 || cpu >= CPU_SETSIZE) {
        return -EINVAL;
    }
    CPU_ZERO(&set);
    CPU_SET((size_t)cpu, &set);
    return -pthread_setaffinity_np(thread->thread, sizeof(set), &set);
}

void tt_thread_unpin(struct tt_thread *thread)
{
    cpu_set_t set;

    if (thread->running && sched_getaffinity(0, sizeof(set), &set) == 0) {
        pthread_setaffinity_np(thread->thread, sizeof(set), &set);
    }
}

/* Asked by doing it: cgroups take processors away too. */
bool tt_cpu_is_there(int cpu)
{
    cpu_set_t before;
    cpu_set_t set;
    bool there;

    if (cpu < 0 || cpu >= CPU_SETSIZE || sched_getaffinity(0, sizeof(before), &before) < 0) {
        return false;
    }
    CPU_ZERO(&set);
    CPU_SET((size_t)cpu, &set);
    there = sched_setaffinity(0, sizeof(set), &set) == 0;
    sched_setaffinity(0, sizeof(before), &before);
    return there;
}

const char *tt_cpu_list(char ret_text[TT_CPUS_TEXT])
{
    FILE *in = fopen("/sys/devices/system/cpu/online", "re");

    if (!in || !fgets(ret_text, TT_CPUS_TEXT, in)) {
        snprintf(ret_text, TT_CPUS_TEXT, "?");
    }
    ret_text[strcspn(ret_text, "\n")] = 0;
    if (in) {
        fclose(in);
    }
    return ret_text;
}

void tt_thread_join(struct tt_thread *thread)
{
    if (thread->running && thread->pid == getpid()) {
        pthread_join(thread->thread, NULL);
    }
    thread->running = false;
}
