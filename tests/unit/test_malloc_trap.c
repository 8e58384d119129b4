/*
 * The malloc trap traps: a child that allocates or frees while armed dies of SIGABRT, one that does
 * neither, or does it unarmed or on another thread, lives.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "malloc_trap.h"

static void *volatile kept;

static int status_of(void (*act)(void))
{
    int status;
    pid_t child = fork();

    assert_true(child >= 0);
    if (child == 0) {
        act();
        _exit(0);
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    return status;
}

static void assert_traps(void (*act)(void))
{
    int status = status_of(act);

    assert_true(WIFSIGNALED(status));
    assert_int_equal(WTERMSIG(status), SIGABRT);
}

static void allocate(void)
{
    tt_trap_arm();
    kept = malloc(16);
}

static void allocate_zeroed(void)
{
    tt_trap_arm();
    kept = calloc(4, 4);
}

static void grow(void)
{
    kept = malloc(16);
    tt_trap_arm();
    kept = realloc(kept, 4096);
}

static void release(void)
{
    kept = malloc(16);
    tt_trap_arm();
    free(kept);
}

static void allocate_in_libc(void)
{
    tt_trap_arm();
    kept = strdup("a copy");
}

static void allocate_unarmed(void)
{
    tt_trap_arm();
    tt_trap_disarm();
    kept = malloc(16);
    free(kept);
}

static sem_t go;

static void *allocate_on_a_thread(void *unused)
{
    (void)unused;
    sem_wait(&go);
    kept = malloc(16);
    return NULL;
}

static void allocate_elsewhere(void)
{
    pthread_t thread;

    sem_init(&go, 0, 0);
    if (pthread_create(&thread, NULL, allocate_on_a_thread, NULL))
        _exit(1);
    tt_trap_arm();
    sem_post(&go);
    while (!kept) /* joining may free the thread's own stack */
        usleep(100);
    tt_trap_disarm();
    pthread_join(thread, NULL);
}

static void test_traps(void **state)
{
    (void)state;
    assert_traps(allocate);
    assert_traps(allocate_zeroed);
    assert_traps(grow);
    assert_traps(release);
    assert_traps(allocate_in_libc);
}

static void test_lets_live(void **state)
{
    (void)state;
    assert_int_equal(status_of(tt_trap_arm), 0);
    assert_int_equal(status_of(allocate_unarmed), 0);
    assert_int_equal(status_of(allocate_elsewhere), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_traps),
        cmocka_unit_test(test_lets_live),
    };

    return cmocka_run_group_tests_name("malloc_trap", tests, NULL, NULL);
}
