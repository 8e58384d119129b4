/*
 * os/interfaces: what the processors' queues dropped, from the kernel's table.
 */
#include "test.h"

#include <stdio.h>
#include <unistd.h>

#include "os/interfaces.h"

static void test_softnet_dropped(void **state)
{
    static const char table[] = "54b9a59a 00000000 00000080 00000000 00000000\n"
                                "0a626f51 00002832 0000005c 00000000 00000000\n"
                                "0a626f51 ffffffff\n";
    char path[] = "/tmp/test-softnet-XXXXXX";
    int fd = mkstemp(path);

    (void)state;
    assert_true(fd >= 0);
    assert_int_equal(write(fd, table, sizeof(table) - 1), sizeof(table) - 1);
    close(fd);
    assert_true(tt_softnet_dropped(path) == UINT64_C(0x100002831));
    unlink(path);
    assert_true(tt_softnet_dropped(path) == 0);
}

/* What nobody knows is nothing. */
static void test_no_such_interface(void **state)
{
    (void)state;
    assert_true(tt_interface_rx_missed("nowhere0") == 0);
    assert_true(tt_interface_tx_dropped("nowhere0") == 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_softnet_dropped),
        cmocka_unit_test(test_no_such_interface),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
