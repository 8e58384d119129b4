/*
 * The sequence lock: a copy is never torn, whatever falls into it.
 */
#include "test.h"

#include <pthread.h>

#include "base/counters.h"

#define WRITES 300000
#define WORDS  64

struct shared {
    struct tt_seqlock lock;
    uint64_t words[WORDS]; /* all equal outside the lock */
    atomic_bool done;
};

static void *write_words(void *argument)
{
    struct shared *shared = (struct shared *)argument;

    for (uint64_t i = 1; i <= WRITES; i++) {
        tt_counters_begin(&shared->lock);
        for (unsigned k = 0; k < WORDS; k++)
            shared->words[k] = i;
        tt_counters_end(&shared->lock);
    }
    atomic_store(&shared->done, true);
    return NULL;
}

static void assert_whole(const uint64_t words[WORDS])
{
    for (unsigned k = 1; k < WORDS; k++)
        assert_true(words[k] == words[0]);
}

static void test_copies_are_whole_and_in_order(void **state)
{
    static struct shared shared;
    uint64_t copy[WORDS];
    uint64_t before = 0;
    pthread_t writer;

    (void)state;
    assert_int_equal(pthread_create(&writer, NULL, write_words, &shared), 0);
    while (!atomic_load(&shared.done)) {
        tt_counters_read(&shared.lock, shared.words, sizeof(copy), copy);
        assert_whole(copy);
        assert_true(copy[0] >= before);
        before = copy[0];
    }
    assert_int_equal(pthread_join(writer, NULL), 0);
    tt_counters_read(&shared.lock, shared.words, sizeof(copy), copy);
    assert_whole(copy);
    assert_true(copy[0] == WRITES);
}

static void test_sequence_is_odd_while_writing(void **state)
{
    struct tt_seqlock lock = {0};

    (void)state;
    tt_counters_begin(&lock);
    assert_int_equal(atomic_load(&lock.sequence) & 1, 1);
    tt_counters_end(&lock);
    assert_int_equal(atomic_load(&lock.sequence), 2);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_copies_are_whole_and_in_order),
        cmocka_unit_test(test_sequence_is_odd_while_writing),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
