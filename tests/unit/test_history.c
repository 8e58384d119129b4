/*
 * base/history: nothing is lost as cells become wider.
 */
#include "test.h"

#include <stdlib.h>

#include "base/history.h"

static uint64_t total(const struct tt_history *history, int64_t *ret_min, int64_t *ret_max)
{
    uint64_t n = 0;

    *ret_min = INT64_MAX;
    *ret_max = INT64_MIN;
    for (size_t i = 0; i < TT_HISTORY_CELLS; i++) {
        const struct tt_history_cell *cell = &history->cells[i];

        assert_true(i < history->used || cell->n == 0);
        n += cell->n;
        if (cell->n > 0) {
            *ret_min = cell->min < *ret_min ? cell->min : *ret_min;
            *ret_max = cell->max > *ret_max ? cell->max : *ret_max;
        }
    }
    return n;
}

static void test_cells_double(void **state)
{
    struct tt_history *history = calloc(1, sizeof(*history));
    int64_t min;
    int64_t max;

    (void)state;
    for (uint64_t i = 0; i < 3000; i++) {
        int64_t value = (int64_t)(i * i);

        tt_history_record(history, 5 + value * TT_HISTORY_CELL_NS / 10, value);
        assert_int_equal(total(history, &min, &max), i + 1);
        assert_true(min == 0 && max == value);
    }
    free(history);
}

static void test_where_a_value_lies(void **state)
{
    struct tt_history *history = calloc(1, sizeof(*history));

    (void)state;
    for (int64_t i = 0; i < 1024; i++) {
        tt_history_record(history, i * TT_HISTORY_CELL_NS, i);
    }
    assert_true(history->cell_ns == 2 * TT_HISTORY_CELL_NS);
    assert_int_equal(history->used, TT_HISTORY_CELLS);
    assert_int_equal(history->cells[100].min, 200);
    assert_int_equal(history->cells[100].max, 201);
    free(history);
}

static void test_any_time(void **state)
{
    struct tt_history *history = calloc(1, sizeof(*history));
    int64_t min;
    int64_t max;

    (void)state;
    tt_history_record(history, 0, 1);
    tt_history_record(history, INT64_MIN, 2);
    tt_history_record(history, INT64_MAX, 3);
    tt_history_record(history, INT64_MAX, INT64_MIN);
    assert_int_equal(total(history, &min, &max), 4);
    assert_true(min == INT64_MIN && max == 3);
    assert_int_equal(history->cells[0].n, 2);
    free(history);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_cells_double),
        cmocka_unit_test(test_where_a_value_lies),
        cmocka_unit_test(test_any_time),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
