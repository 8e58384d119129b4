/*
 * The engine's thread and the wake-up descriptor.
 */
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "os/thread.h"
#include "os/wake.h"

struct seen {
    int wake_fd;
    char name[16];
    int policy;
    int timer_slack_ns;
    bool signals_blocked;
};

static void look(void *context)
{
    struct seen *seen = context;
    struct sched_param param;
    sigset_t mask;

    prctl(PR_GET_NAME, seen->name);
    seen->timer_slack_ns = prctl(PR_GET_TIMERSLACK);
    pthread_getschedparam(pthread_self(), &seen->policy, &param);
    pthread_sigmask(SIG_SETMASK, NULL, &mask);
    seen->signals_blocked = sigismember(&mask, SIGINT) == 1 && sigismember(&mask, SIGTERM) == 1;
    tt_wake_kick(seen->wake_fd);
}

static void test_thread(void **state)
{
    struct seen seen = {.wake_fd = tt_wake_open()};
    struct pollfd p = {.fd = seen.wake_fd, .events = POLLIN};
    struct tt_thread thread;
    sigset_t mask;

    (void)state;
    assert_int_equal(tt_thread_start(&thread, look, &seen), 0);
    assert_int_equal(poll(&p, 1, 5000), 1);
    tt_thread_join(&thread);
    assert_false(thread.running);
    tt_thread_join(&thread); /* again: nothing */
    assert_string_equal(seen.name, "tactus");
    assert_int_equal(seen.policy, thread.realtime ? SCHED_FIFO : SCHED_OTHER);
    if (!thread.realtime) { /* a real-time thread has no slack */
        assert_int_equal(seen.timer_slack_ns, 1);
    }
    assert_true(seen.signals_blocked);
    pthread_sigmask(SIG_SETMASK, NULL, &mask);
    assert_int_equal(sigismember(&mask, SIGINT), 0);
    tt_wake_close(seen.wake_fd);
}

static void wait_for_wake(void *context)
{
    struct pollfd p = {.fd = *(int *)context, .events = POLLIN};

    poll(&p, 1, 5000);
}

static void test_forked_child(void **state)
{
    int fd = tt_wake_open();
    struct tt_thread thread;
    int status;
    pid_t pid;

    (void)state;
    assert_int_equal(tt_thread_start(&thread, wait_for_wake, &fd), 0);
    pid = fork();
    if (pid == 0) {
        alarm(5);
        tt_thread_join(&thread); /* the thread is not there */
        _exit(thread.running ? 1 : 0);
    }
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_int_equal(status, 0);
    tt_wake_kick(fd);
    tt_thread_join(&thread);
    tt_wake_close(fd);
}

static void test_wake(void **state)
{
    int fd = tt_wake_open();
    struct pollfd p = {.fd = fd, .events = POLLIN};

    (void)state;
    assert_true(fd >= 0);
    tt_wake_clear(fd); /* empty: does not block */
    assert_int_equal(poll(&p, 1, 0), 0);
    tt_wake_kick(fd);
    tt_wake_kick(fd);
    assert_int_equal(poll(&p, 1, 0), 1);
    tt_wake_clear(fd);
    assert_int_equal(poll(&p, 1, 0), 0);
    tt_wake_close(fd);
    tt_wake_close(-1);
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_thread),
        cmocka_unit_test(test_forked_child),
        cmocka_unit_test(test_wake),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
