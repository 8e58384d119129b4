/*
 * The queue of an engine's talkers against a sorted list, at random.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "base/random.h"
#include "run/due_queue.h"

#define CASES   2000
#define TALKERS 40
#define STEPS   200

struct listed {
    int64_t tai_ns;
    size_t talker;
};

/* Stable, as the queue is. */
static void insert(struct listed *list, size_t n, struct listed entry)
{
    for (; n > 0 && list[n - 1].tai_ns > entry.tai_ns; n--) {
        list[n] = list[n - 1];
    }
    list[n] = entry;
}

static void random_case(uint64_t seed)
{
    struct tt_due_queue queue = {0};
    struct listed list[TALKERS];
    char talkers[TALKERS]; /* only their addresses count */
    uint64_t random = seed;
    size_t n = 1 + tt_random_next(&random) % TALKERS;
    int64_t span = 1 + (int64_t)(tt_random_next(&random) % 300);
    int64_t now_ns = 0;

    assert_int_equal(tt_due_queue_reserve(&queue, n), 0);
    for (size_t i = 0; i < n; i++) {
        int64_t at = (int64_t)(tt_random_next(&random) % 100);

        insert(list, i, (struct listed){.tai_ns = at, .talker = i});
        tt_due_queue_put(&queue, (struct tt_talk *)(talkers + i), at);
    }
    for (int step = 0; step < STEPS; step++) {
        struct tt_talk *talk;

        now_ns += (int64_t)(tt_random_next(&random) % 50);
        assert_null(tt_due_queue_at(&queue, n));
        assert_int_equal(tt_due_queue_at(&queue, n - 1)->tai_ns, list[n - 1].tai_ns);
        while ((talk = tt_due_queue_take(&queue, now_ns)) != NULL) {
            struct listed first = list[0];

            assert_true(first.tai_ns <= now_ns);
            assert_ptr_equal(talk, talkers + first.talker);
            for (size_t i = 1; i < n; i++) {
                list[i - 1] = list[i];
            }
            first.tai_ns = now_ns + 1 + (int64_t)(tt_random_next(&random) % (uint64_t)span);
            insert(list, n - 1, first);
            tt_due_queue_put(&queue, talk, first.tai_ns);
        }
        assert_true(list[0].tai_ns > now_ns);
    }
    tt_due_queue_clear(&queue);
    assert_null(tt_due_queue_take(&queue, INT64_MAX));
    tt_due_queue_done(&queue);
}

static void as_a_sorted_list(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= CASES; seed++) {
        random_case(seed);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(as_a_sorted_list),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
