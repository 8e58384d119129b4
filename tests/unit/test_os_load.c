/*
 * Loads: each does something, counts it, and leaves nothing: no process, no file, whatever becomes
 * of who started it.
 */
#include "test.h"

#include <dirent.h>
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "os/load.h"

#define FILE_BYTES (INT64_C(9) << 20)
#define WAIT_TRIES 3000 /* 30 s */

static char folder[] = "test-load-XXXXXX";

static void nap(void)
{
    struct timespec ten_ms = {.tv_nsec = 10000000};

    nanosleep(&ten_ms, NULL);
}

static unsigned files_in_folder(void)
{
    DIR *directory = opendir(folder);
    struct dirent *entry;
    unsigned n = 0;

    assert_non_null(directory);
    while ((entry = readdir(directory)))
        n += entry->d_name[0] != '.';
    closedir(directory);
    return n;
}

static void each_does_something(void **state)
{
    (void)state;
    for (int kind = TT_LOAD_PROC; kind < TT_LOADS; kind++) {
        struct tt_load_setup setup = {.kind = (enum tt_load_kind)kind,
                                      .folder = folder,
                                      .file_bytes = FILE_BYTES,
                                      .seconds = 60};
        struct tt_load_done done;
        struct tt_load load;

        assert_int_equal(tt_load_start(&load, &setup), 0);
        assert_int_equal(files_in_folder(), 0);
        for (int i = 0; i < 20; i++)
            nap();
        tt_load_stop(&load, &done);
        print_message("%s: %lld bytes, %lld rounds\n", tt_load_name(setup.kind),
                      (long long)done.bytes, (long long)done.rounds);
        assert_int_equal(done.error, 0);
        assert_true(done.elapsed_ns > 0);
        assert_int_equal(load.count, 0);
        assert_int_equal(waitpid(-1, NULL, WNOHANG), -1); /* no child is left */
    }
}

static void idle_is_none(void **state)
{
    struct tt_load_setup setup = {.kind = TT_LOAD_IDLE};
    struct tt_load_done done;
    struct tt_load load;

    (void)state;
    assert_int_equal(tt_load_start(&load, &setup), 0);
    assert_int_equal(load.count, 0);
    tt_load_stop(&load, &done);
    assert_int_equal(done.rounds, 0);
}

static void no_such_folder(void **state)
{
    struct tt_load_setup setup = {.kind = TT_LOAD_WRITE, .folder = "/nonexistent"};
    struct tt_load load;

    (void)state;
    assert_int_equal(tt_load_start(&load, &setup), -ENOENT);
}

/* A process that started a load and is killed; this one inherits what is left of it. */
static void starter_is_killed(void **state)
{
    int ends[2];
    char byte;
    pid_t starter;

    (void)state;
    assert_int_equal(prctl(PR_SET_CHILD_SUBREAPER, 1), 0);
    assert_int_equal(pipe(ends), 0);
    starter = fork();
    if (starter == 0) {
        struct tt_load_setup setup = {
            .kind = TT_LOAD_COPY, .folder = folder, .file_bytes = FILE_BYTES, .seconds = 60};
        struct tt_load load;

        _exit(tt_load_start(&load, &setup) != 0 || write(ends[1], "x", 1) != 1 ? 1 : pause());
    }
    assert_int_equal(read(ends[0], &byte, 1), 1);
    kill(starter, SIGKILL);
    assert_int_equal(waitpid(starter, NULL, 0), starter);
    for (int i = 0; i < WAIT_TRIES && waitpid(-1, NULL, WNOHANG) >= 0; i++)
        nap();
    assert_int_equal(waitpid(-1, NULL, WNOHANG), -1);
    assert_int_equal(files_in_folder(), 0);
    close(ends[0]);
    close(ends[1]);
}

/* A terminal's ^C reaches the load as well, and is not for it; that the kernel killed some of it is
 * told. */
static void signals(void **state)
{
    struct tt_load_setup setup = {.kind = TT_LOAD_SCHEDULER, .seconds = 60};
    struct tt_load_done done;
    struct tt_load load;

    (void)state;
    assert_int_equal(tt_load_start(&load, &setup), 0);
    for (unsigned i = 0; i < load.count; i++) {
        kill(load.pids[i], SIGINT);
        kill(load.pids[i], SIGTERM);
        kill(load.pids[i], SIGHUP);
    }
    nap();
    tt_load_stop(&load, &done);
    assert_int_equal(done.error, 0);
    setup.kind = TT_LOAD_PROC;
    assert_int_equal(tt_load_start(&load, &setup), 0);
    kill(load.pids[0], SIGKILL);
    assert_int_equal(waitid(P_PID, (id_t)load.pids[0], &(siginfo_t){0}, WEXITED | WNOWAIT), 0);
    tt_load_stop(&load, &done);
    assert_int_equal(done.error, -ECHILD);
    assert_int_equal(waitpid(-1, NULL, WNOHANG), -1);
}

static bool always(void)
{
    return true;
}

/* Whom a tracer holds is gone for its parent only when the tracer says so: as one that a disk
 * holds. */
static void one_that_cannot_go(void **state)
{
    struct tt_load_setup setup = {.kind = TT_LOAD_PROC, .seconds = 60};
    struct tt_load_done done;
    struct tt_load load;
    char byte = 0;
    int ends[2];
    pid_t tracer;
    pid_t pid;

    (void)state;
    assert_int_equal(pipe(ends), 0);
    assert_int_equal(tt_load_start(&load, &setup), 0);
    pid = load.pids[0];
    tracer = fork();
    if (tracer == 0) {
        byte = ptrace(PTRACE_SEIZE, pid, NULL, NULL) == 0;
        _exit(write(ends[1], &byte, 1) == 1 ? pause() : 1);
    }
    assert_int_equal(read(ends[0], &byte, 1), 1);
    if (byte) {
        load.hurried = always;
        tt_load_stop(&load, &done);
        assert_int_equal(done.left, 1);
    } else {
        tt_load_stop(&load, NULL);
    }
    kill(tracer, SIGKILL);
    assert_int_equal(waitpid(tracer, NULL, 0), tracer);
    close(ends[0]);
    close(ends[1]);
    if (!byte) {
        print_message("no process may trace another here\n");
        skip();
    }
    assert_int_equal(waitpid(pid, NULL, 0), pid);
}

static void given_up(void **state)
{
    struct tt_load_setup setup = {
        .kind = TT_LOAD_COPY, .folder = folder, .file_bytes = FILE_BYTES, .hurried = always};
    struct tt_load load;

    (void)state;
    assert_int_equal(tt_load_start(&load, &setup), -EINTR);
    assert_int_equal(waitpid(-1, NULL, WNOHANG), -1);
}

/* Nobody stops it: it ends by itself. */
static void ends_by_itself(void **state)
{
    struct tt_load_setup setup = {.kind = TT_LOAD_NETWORK, .seconds = 1};
    struct tt_load load;

    (void)state;
    assert_int_equal(tt_load_start(&load, &setup), 0);
    for (unsigned i = 0; i < load.count; i++)
        assert_int_equal(waitpid(load.pids[i], NULL, 0), load.pids[i]);
    load.count = 0;
    tt_load_stop(&load, NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_does_something),
        cmocka_unit_test(idle_is_none),
        cmocka_unit_test(no_such_folder),
        cmocka_unit_test(starter_is_killed),
        cmocka_unit_test(signals),
        cmocka_unit_test(one_that_cannot_go),
        cmocka_unit_test(given_up),
        cmocka_unit_test(ends_by_itself),
    };
    int failed;

    if (!mkdtemp(folder))
        return 1;
    failed = cmocka_run_group_tests(tests, NULL, NULL);
    rmdir(folder);
    return failed;
}
