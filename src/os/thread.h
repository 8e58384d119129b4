/*
 * The engine's thread: real-time priority where the system grants it, all signals blocked. And one
 * without priority for what feeds it.
 */
#ifndef TT_OS_THREAD_H
#define TT_OS_THREAD_H

#include <stdbool.h>
#include <pthread.h>

#define TT_THREAD_PRIORITY 70 /* SCHED_FIFO */

/* Must stay where it is while the thread runs. */
struct tt_thread {
    pthread_t thread;
    void (*run)(void *context);
    void *context;
    int pid; /* of the process that started it: a forked child must not join */
    bool running;
    bool realtime; /* SCHED_FIFO was granted */
};

/* Starts `run(context)` with the smallest timer slack. Asks for SCHED_FIFO; goes on without when
 * refused (see `realtime`). 0 or -errno. */
int tt_thread_start(struct tt_thread *thread, void (*run)(void *context), void *context);
/* As that, but asks for nothing: the time-sharing schedule of the caller. */
int tt_thread_start_plain(struct tt_thread *thread, void (*run)(void *context), void *context);
/* Keeps it on one processor. 0 or -errno (-EINVAL: there is none of that number). */
int tt_thread_pin(struct tt_thread *thread, int cpu);
/* Lets it go wherever the caller may; nothing where it does not run. */
void tt_thread_unpin(struct tt_thread *thread);

/* Whether this process may run on that processor. */
bool tt_cpu_is_there(int cpu);
#define TT_CPUS_TEXT 128
/* "0-3,6": the processors that are online; "?" where the kernel does not tell. */
const char *tt_cpu_list(char ret_text[TT_CPUS_TEXT]);

/* Joins; nothing where it does not run, or in a forked child. The caller has told run() to return.
 */
void tt_thread_join(struct tt_thread *thread);

#endif
