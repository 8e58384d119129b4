/*
 * os/notify: what the service manager gets, by either kind of socket; and that nobody is bothered
 * who did not ask.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "base/ns.h"
#include "os/notify.h"
#include "test.h"

/* A manager's socket of that name ('@': abstract). */
static int listen_at(const char *name)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    int fd = socket(AF_UNIX, SOCK_DGRAM, 0);

    memcpy(address.sun_path, name, strlen(name));
    if (name[0] == '@') {
        address.sun_path[0] = 0;
    }
    assert_int_equal(bind(fd, (struct sockaddr *)&address,
                          (socklen_t)(offsetof(struct sockaddr_un, sun_path) + strlen(name))),
                     0);
    setenv("NOTIFY_SOCKET", name, 1);
    return fd;
}

static void test_what_is_sent(void **state)
{
    char names[2][64];

    (void)state;
    snprintf(names[0], sizeof(names[0]), "/tmp/tactus-notify-%ld", (long)getpid());
    snprintf(names[1], sizeof(names[1]), "@tactus-notify-%ld", (long)getpid());
    for (int i = 0; i < 2; i++) {
        int fd = listen_at(names[i]);
        char got[64] = "";

        assert_int_equal(tt_notify("READY=1\nSTATUS=well"), 1);
        assert_int_equal(recv(fd, got, sizeof(got), 0), 19);
        assert_string_equal(got, "READY=1\nSTATUS=well");
        close(fd);
    }
    assert_int_equal(tt_notify("READY=1"), -ECONNREFUSED);
    unlink(names[0]);
}

static void test_a_manager_that_does_not_read(void **state)
{
    char name[64];
    int sent = 0;
    int fd;

    (void)state;
    snprintf(name, sizeof(name), "@tactus-deaf-%ld", (long)getpid());
    fd = listen_at(name);
    while (sent < 100000 && tt_notify("WATCHDOG=1") == 1) {
        sent++;
    }
    assert_int_equal(tt_notify("WATCHDOG=1"), -EAGAIN);
    close(fd);
}

static void test_nobody_asked(void **state)
{
    char far[200];

    (void)state;
    unsetenv("NOTIFY_SOCKET");
    assert_int_equal(tt_notify("READY=1"), 0);
    setenv("NOTIFY_SOCKET", "", 1);
    assert_int_equal(tt_notify("READY=1"), 0);
    setenv("NOTIFY_SOCKET", "relative", 1);
    assert_int_equal(tt_notify("READY=1"), -EINVAL);
    memset(far, '/', sizeof(far) - 1);
    far[sizeof(far) - 1] = 0;
    setenv("NOTIFY_SOCKET", far, 1);
    assert_int_equal(tt_notify("READY=1"), -EINVAL);
}

static void test_watchdog(void **state)
{
    char pid[32];

    (void)state;
    unsetenv("WATCHDOG_USEC");
    unsetenv("WATCHDOG_PID");
    assert_int_equal(tt_notify_watchdog_ns(), 0);
    setenv("WATCHDOG_USEC", "1500", 1);
    assert_int_equal(tt_notify_watchdog_ns(), 1500 * TT_NS_PER_US);
    setenv("WATCHDOG_PID", "1", 1);
    assert_int_equal(tt_notify_watchdog_ns(), 0);
    snprintf(pid, sizeof(pid), "%ld", (long)getpid());
    setenv("WATCHDOG_PID", pid, 1);
    assert_int_equal(tt_notify_watchdog_ns(), 1500 * TT_NS_PER_US);
    setenv("WATCHDOG_USEC", "nonsense", 1);
    assert_int_equal(tt_notify_watchdog_ns(), 0);
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_what_is_sent),
        cmocka_unit_test(test_a_manager_that_does_not_read),
        cmocka_unit_test(test_nobody_asked),
        cmocka_unit_test(test_watchdog),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
