/*
 * See compare.h.
 */
#include "base/compare.h"

#include <string.h>

#include "base/attr.h"
#include "base/random.h"

#define SEED      1
#define P_AT_MOST 0.01
#define TRIM      5 /* one in so many is left out at either end of a mean */
#define FLOOR_RANK                                                                                 \
    (TT_COMPARE_PERMUTATIONS * 95 / 100) /* of the means of a setting's own pairs                  \
                                          */

/* Shell sort, with the gaps of Ciura. */
static void sort_values(int64_t *values, size_t n)
{
    static const size_t gaps[] = {701, 301, 132, 57, 23, 10, 4, 1};

    for (size_t g = 0; g < TT_COUNT_OF(gaps); g++) {
        for (size_t i = gaps[g]; i < n; i++) {
            int64_t value = values[i];
            size_t at = i;

            for (; at >= gaps[g] && values[at - gaps[g]] > value; at -= gaps[g]) {
                values[at] = values[at - gaps[g]];
            }
            values[at] = value;
        }
    }
}

/* The mean; sorts `values`. */
static double sorting_mean(int64_t *values, size_t n, bool counts)
{
    size_t trim = counts ? 0 : n / TRIM;
    int64_t sum = 0;

    if (trim > 0) {
        sort_values(values, n);
    }
    for (size_t i = trim; i < n - trim; i++) {
        sum += values[i];
    }
    return (double)sum / (double)(n - 2 * trim);
}

static double mean_of(struct tt_compare_work *work, const int64_t *values, size_t n, bool counts)
{
    memcpy(work->scratch, values, n * sizeof(*values));
    return sorting_mean(work->scratch, n, counts);
}

static size_t count_any(const int64_t *values, size_t n)
{
    size_t any = 0;

    for (size_t i = 0; i < n; i++) {
        any += values[i] != 0;
    }
    return any;
}

static double absolute(double value)
{
    return value < 0 ? -value : value;
}

static int64_t magnitude(int64_t value)
{
    return value < 0 ? -value : value;
}

/* Twice the rank of `value` among `sorted`: the middle one of its equals. */
static int64_t doubled_rank(const int64_t *sorted, size_t n, int64_t value)
{
    size_t ends[2]; /* how many are less, how many are not greater */

    for (int end = 0; end < 2; end++) {
        size_t low = 0;
        size_t high = n;

        while (low < high) {
            size_t middle = (low + high) / 2;

            if (sorted[middle] < value || (end == 1 && sorted[middle] == value)) {
                low = middle + 1;
            } else {
                high = middle;
            }
        }
        ends[end] = low;
    }
    return (int64_t)(ends[0] + ends[1] + 1);
}

/* Turns the sign of each value at random, so often that the mean's spread is known. */
static double floor_of_pairs(struct tt_compare_work *work, size_t n, bool counts)
{
    uint64_t random = SEED;

    for (size_t p = 0; p < TT_COMPARE_PERMUTATIONS; p++) {
        size_t at = p;
        double mean;

        for (size_t i = 0; i < n; i++) {
            work->scratch[i] = tt_random_next(&random) & 1 ? work->values[i] : -work->values[i];
        }
        mean = absolute(sorting_mean(work->scratch, n, counts));
        for (; at > 0 && work->means[at - 1] > mean; at--) {
            work->means[at] = work->means[at - 1];
        }
        work->means[at] = mean;
    }
    return work->means[FLOOR_RANK - 1];
}

/* What a setting differs by from itself, from one of its windows to the next. */
static double floor_interleaved(const struct tt_compare_input *input, struct tt_compare_work *work,
                                size_t n)
{
    size_t count = 0;

    for (size_t i = 0; i + 1 < n; i += 2) {
        work->values[count++] = input->a[i + 1] - input->a[i];
        work->values[count++] = input->b[i + 1] - input->b[i];
    }
    return floor_of_pairs(work, count, input->counts);
}

static int64_t signed_sum(const struct tt_compare_work *work, size_t n, uint64_t *random)
{
    int64_t sum = 0;

    for (size_t i = 0; i < n; i++) {
        bool turn = random && tt_random_next(random) & 1;

        sum += turn ? -work->scores[i] : work->scores[i];
    }
    return sum;
}

/* Signed ranks of the differences in work->values; those that are 0 say nothing. */
static void rank_differences(struct tt_compare_work *work, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        work->scratch[i] = magnitude(work->values[i]);
    }
    sort_values(work->scratch, n);
    for (size_t i = 0; i < n; i++) {
        int64_t rank = doubled_rank(work->scratch, n, magnitude(work->values[i]));

        work->scores[i] = work->values[i] > 0 ? rank : work->values[i] < 0 ? -rank : 0;
    }
}

/* How often chance makes as much of the scores; *ret_excess > 0: b's are greater. */
static double p_interleaved(struct tt_compare_work *work, size_t n, int64_t *ret_excess)
{
    uint64_t random = SEED;
    size_t at_least = 1;
    int64_t sum = signed_sum(work, n, NULL);

    for (int p = 0; p < TT_COMPARE_PERMUTATIONS; p++) {
        at_least += magnitude(signed_sum(work, n, &random)) >= magnitude(sum);
    }
    *ret_excess = sum;
    return (double)at_least / (TT_COMPARE_PERMUTATIONS + 1);
}

static void compare_interleaved(const struct tt_compare_input *input, struct tt_compare_work *work,
                                struct tt_compare_result *result, int64_t *ret_excess)
{
    size_t n = result->windows;

    result->floor = floor_interleaved(input, work, n);
    for (size_t i = 0; i < n; i++) {
        work->values[i] = input->b[i] - input->a[i];
    }
    result->difference = mean_of(work, work->values, n, input->counts);
    if (input->counts) {
        memcpy(work->scores, work->values, n * sizeof(work->values[0]));
    } else {
        rank_differences(work, n);
    }
    result->p = p_interleaved(work, n, ret_excess);
}

/* How far the second half of a run is from the first. */
static double half_difference(struct tt_compare_work *work, const int64_t *values, size_t n,
                              bool counts)
{
    double first = mean_of(work, values, n / 2, counts);

    return absolute(mean_of(work, values + n / 2, n - n / 2, counts) - first);
}

static void rank_values(struct tt_compare_work *work, size_t n)
{
    memcpy(work->scratch, work->values, n * sizeof(work->values[0]));
    sort_values(work->scratch, n);
    for (size_t i = 0; i < n; i++) {
        work->scores[i] = doubled_rank(work->scratch, n, work->values[i]);
    }
}

static int64_t sum_scores(const struct tt_compare_work *work, size_t from, size_t n)
{
    int64_t sum = 0;

    for (size_t i = from; i < n; i++) {
        sum += work->scores[i];
    }
    return sum;
}

/* As p_interleaved; b's scores are those from a_count on. Twice what they are above their share of
 * all, so that of halves it is exact. */
static double p_apart(struct tt_compare_work *work, size_t a_count, size_t n, int64_t *ret_excess)
{
    uint64_t random = SEED;
    size_t at_least = 1;
    int64_t all = sum_scores(work, 0, n);
    int64_t twice = 2 * (int64_t)(n - a_count);
    int64_t share = all / (int64_t)n * twice + all % (int64_t)n * twice / (int64_t)n;

    *ret_excess = 2 * sum_scores(work, a_count, n) - share;
    for (int p = 0; p < TT_COMPARE_PERMUTATIONS; p++) {
        for (size_t i = n - 1; i >= a_count; i--) {
            size_t other = (size_t)(tt_random_next(&random) % (i + 1));
            int64_t score = work->scores[i];

            work->scores[i] = work->scores[other];
            work->scores[other] = score;
        }
        at_least += magnitude(2 * sum_scores(work, a_count, n) - share) >= magnitude(*ret_excess);
    }
    return (double)at_least / (TT_COMPARE_PERMUTATIONS + 1);
}

static void compare_apart(const struct tt_compare_input *input, size_t a_count, size_t b_count,
                          struct tt_compare_work *work, struct tt_compare_result *result,
                          int64_t *ret_excess)
{
    double floors[] = {half_difference(work, input->a, a_count, input->counts),
                       half_difference(work, input->b, b_count, input->counts)};
    int64_t *to = input->counts ? work->scores : work->values;

    result->floor = floors[0] > floors[1] ? floors[0] : floors[1];
    result->difference = result->b - result->a;
    memcpy(to, input->a, a_count * sizeof(*input->a));
    memcpy(to + a_count, input->b, b_count * sizeof(*input->b));
    if (!input->counts) {
        rank_values(work, a_count + b_count);
    }
    result->p = p_apart(work, a_count, a_count + b_count, ret_excess);
}

static size_t at_most(size_t n, size_t most)
{
    return n < most ? n : most;
}

static enum tt_compare_answer find_answer(const struct tt_compare_input *input,
                                          const struct tt_compare_result *result, int64_t excess)
{
    size_t any = result->a_any + result->b_any;

    if (result->p <= P_AT_MOST && absolute(result->difference) > result->floor) {
        if (excess < 0 && result->difference < 0) {
            return TT_COMPARE_BETTER;
        }
        if (excess > 0 && result->difference > 0) {
            return TT_COMPARE_WORSE;
        }
    }
    return input->counts && any > 0 && any < TT_COMPARE_ANY_MIN ? TT_COMPARE_RARE : TT_COMPARE_SAME;
}

void tt_compare(const struct tt_compare_input *input, struct tt_compare_work *work,
                struct tt_compare_result *ret_result)
{
    size_t a_count = at_most(input->a_count, TT_COMPARE_WINDOWS_MAX);
    size_t b_count = at_most(input->b_count, TT_COMPARE_WINDOWS_MAX);
    struct tt_compare_result result = {.windows = at_most(a_count, b_count)};
    int64_t excess;

    if (result.windows < TT_COMPARE_WINDOWS_MIN) {
        *ret_result = result;
        return;
    }
    if (input->interleaved) {
        a_count = b_count = result.windows;
    }
    result.a_any = count_any(input->a, a_count);
    result.b_any = count_any(input->b, b_count);
    result.a = mean_of(work, input->a, a_count, input->counts);
    result.b = mean_of(work, input->b, b_count, input->counts);
    if (input->interleaved) {
        compare_interleaved(input, work, &result, &excess);
    } else {
        compare_apart(input, a_count, b_count, work, &result, &excess);
    }
    result.answer = find_answer(input, &result, excess);
    *ret_result = result;
}

const char *tt_compare_answer_text(enum tt_compare_answer answer)
{
    switch (answer) {
    case TT_COMPARE_BETTER:
        return "better";
    case TT_COMPARE_WORSE:
        return "worse";
    case TT_COMPARE_SAME:
        return "not distinguishable";
    case TT_COMPARE_RARE:
        return "too rare to tell";
    case TT_COMPARE_TOO_FEW:
        break;
    }
    return "not enough data";
}
