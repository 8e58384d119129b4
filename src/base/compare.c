/*
 * See compare.h.
 */
#include "base/compare.h"

#include <math.h>
#include <string.h>

#include "base/attr.h"
#include "base/random.h"

#define SEED      1
#define P_AT_MOST 0.01
/* The same each time, of ranks the same sums too: so many that chance is met well. */
#define DRAWS     5000
#define P_OF_ALL  0.04 /* that any of those asked at once is found by chance */
#define ALIKE_MIN 1.5  /* less is the noise of a correlation that is 0 */
#define TRIM      5    /* one in so many is left out at either end of a mean */
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
    sort_values(work->values, count); /* whichever of the two is called a */
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

    for (int p = 0; p < DRAWS; p++) {
        at_least += magnitude(signed_sum(work, n, &random)) >= magnitude(sum);
    }
    *ret_excess = sum;
    return (double)at_least / (DRAWS + 1);
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

/* Blocks of `length` windows of each run, from its end: what is left over is at its start. */
struct blocks {
    size_t length;
    size_t a_count;
    size_t b_count;
    size_t b_first; /* the window at which b begins */
    size_t a_skip;
    size_t b_skip;
};

/* The products of each score with the one `apart` windows later, about their mean. */
static double products(const int64_t *scores, size_t n, size_t apart)
{
    int64_t total = 0;
    double sum = 0;
    double mean;

    for (size_t i = 0; i < n; i++) {
        total += scores[i];
    }
    mean = (double)total / (double)n;
    for (size_t i = 0; i + apart < n; i++) {
        sum += ((double)scores[i] - mean) * ((double)scores[i + apart] - mean);
    }
    return sum;
}

/* So many windows that their sums hardly depend on each other: of a process in which only the
 * window before counts, the spread of the mean is that of so many times fewer. */
static size_t block_length(const int64_t *scores, size_t a_count, size_t n)
{
    size_t fewer = a_count < n - a_count ? a_count : n - a_count;
    double all = products(scores, a_count, 0) + products(scores + a_count, n - a_count, 0);
    double next = products(scores, a_count, 1) + products(scores + a_count, n - a_count, 1);
    double r = all > 0 ? next / all : 0;
    double alike;

    /* The estimate of a short run is too small by the first, and uncertain by the second. */
    r += (1 + 3 * r) / (double)fewer + sqrt((1 - r * r) / (double)n);
    if (r >= 1 - 2 / (double)(fewer + 1)) {
        return fewer;
    }
    alike = (1 + r) / (1 - r);
    return alike < ALIKE_MIN ? 1 : (size_t)alike + 1;
}

static struct blocks blocks_of(size_t length, size_t a_count, size_t b_count)
{
    return (struct blocks){.length = length,
                           .a_count = a_count / length,
                           .b_count = b_count / length,
                           .b_first = a_count,
                           .a_skip = a_count % length,
                           .b_skip = b_count % length};
}

/* The first window of a block. */
static size_t block_start(const struct blocks *blocks, size_t block)
{
    return block < blocks->a_count
               ? blocks->a_skip + block * blocks->length
               : blocks->b_first + blocks->b_skip + (block - blocks->a_count) * blocks->length;
}

static int64_t block_sum(const struct blocks *blocks, const int64_t *scores, size_t block)
{
    const int64_t *first = scores + block_start(blocks, block);
    int64_t sum = 0;

    for (size_t i = 0; i < blocks->length; i++) {
        sum += first[i];
    }
    return sum;
}

/* Draws the `few` blocks that come first at random, out of n. */
static void draw(struct tt_compare_work *work, size_t few, size_t n, uint64_t *random)
{
    for (size_t i = 0; i < few; i++) {
        size_t other = i + (size_t)(tt_random_next(random) % (n - i));
        uint16_t block = work->order[i];

        work->order[i] = work->order[other];
        work->order[other] = block;
    }
}

/* In an order that does not know which run they are of. */
static void order_blocks(const struct blocks *blocks, struct tt_compare_work *work,
                         const int64_t *scores)
{
    size_t n = blocks->a_count + blocks->b_count;

    for (size_t i = 0; i < n; i++) {
        size_t at = i;

        work->scratch[i] = block_sum(blocks, scores, i);
        for (; at > 0 && work->scratch[work->order[at - 1]] > work->scratch[i]; at--) {
            work->order[at] = work->order[at - 1];
        }
        work->order[at] = (uint16_t)i;
    }
    for (size_t i = 0; i < n; i++) {
        work->order[i] = (uint16_t)block_start(blocks, work->order[i]);
    }
}

static int64_t sum_of_windows(const int64_t *scores, size_t first, size_t n)
{
    int64_t sum = 0;

    for (size_t i = 0; i < n; i++) {
        sum += scores[first + i];
    }
    return sum;
}

/* As p_interleaved. Of the side that has fewer blocks, how far the sum of its scores is from its
 * share of all: twice that, so that of halves it is exact. */
static double p_apart(const struct blocks *blocks, struct tt_compare_work *work,
                      int64_t *ret_excess)
{
    uint64_t random = SEED;
    size_t at_least = 1;
    size_t n = blocks->a_count + blocks->b_count;
    bool is_b = blocks->b_count <= blocks->a_count;
    size_t few = is_b ? blocks->b_count : blocks->a_count;
    int64_t twice = 2 * (int64_t)few;
    int64_t a = sum_of_windows(work->scores, blocks->a_skip, blocks->a_count * blocks->length);
    int64_t b = sum_of_windows(work->scores, blocks->b_first + blocks->b_skip,
                               blocks->b_count * blocks->length);
    int64_t share = (a + b) / (int64_t)n * twice + (a + b) % (int64_t)n * twice / (int64_t)n;
    int64_t excess = 2 * (is_b ? b : a) - share;

    order_blocks(blocks, work, work->scores);
    for (int p = 0; p < DRAWS; p++) {
        int64_t sum = 0;

        draw(work, few, n, &random);
        for (size_t i = 0; i < few; i++) {
            sum += sum_of_windows(work->scores, work->order[i], blocks->length);
        }
        at_least += magnitude(2 * sum - share) >= magnitude(excess);
    }
    *ret_excess = is_b ? excess : -excess;
    return (double)at_least / (DRAWS + 1);
}

/* Whether there are blocks enough. */
static bool compare_apart(const struct tt_compare_input *input, size_t a_count, size_t b_count,
                          struct tt_compare_work *work, struct tt_compare_result *result,
                          int64_t *ret_excess)
{
    double floors[] = {half_difference(work, input->a, a_count, input->counts),
                       half_difference(work, input->b, b_count, input->counts)};
    int64_t *to = input->counts ? work->scores : work->values;
    struct blocks blocks;

    result->floor = floors[0] > floors[1] ? floors[0] : floors[1];
    result->difference = result->b - result->a;
    memcpy(to, input->a, a_count * sizeof(*input->a));
    memcpy(to + a_count, input->b, b_count * sizeof(*input->b));
    if (!input->counts) {
        rank_values(work, a_count + b_count);
    }
    result->block = block_length(work->scores, a_count, a_count + b_count);
    blocks = blocks_of(result->block, a_count, b_count);
    if (blocks.a_count < TT_COMPARE_BLOCKS_MIN || blocks.b_count < TT_COMPARE_BLOCKS_MIN) {
        return false;
    }
    result->p = p_apart(&blocks, work, ret_excess);
    return true;
}

static size_t at_most(size_t n, size_t most)
{
    return n < most ? n : most;
}

static enum tt_compare_answer find_answer(const struct tt_compare_input *input,
                                          const struct tt_compare_result *result, int64_t excess)
{
    size_t any = result->a_any + result->b_any;
    double p_most = P_OF_ALL / (double)(input->asked > 0 ? input->asked : 1);

    if (result->p <= (p_most < P_AT_MOST ? p_most : P_AT_MOST) &&
        absolute(result->difference) > result->floor) {
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
        result.block = 1;
        compare_interleaved(input, work, &result, &excess);
        result.answer = find_answer(input, &result, excess);
    } else if (compare_apart(input, a_count, b_count, work, &result, &excess)) {
        result.answer = find_answer(input, &result, excess);
    } else {
        result = (struct tt_compare_result){.windows = result.windows, .block = result.block};
    }
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
