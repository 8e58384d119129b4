/*
 * The histogram against a sorted array: exact moments by long double about a value in the middle,
 * nearest rank percentiles by index.
 */
#include "test.h"

#include <math.h>
#include <pthread.h>
#include <string.h>

#include "base/hist.h"

#define VALUES_MAX 20000

struct sample {
    int64_t values[VALUES_MAX];
    size_t n;
};

static int compare(const void *a, const void *b)
{
    const int64_t *x = (const int64_t *)a;
    const int64_t *y = (const int64_t *)b;

    return (*x > *y) - (*x < *y);
}

static struct tt_hist *hist_of(const struct sample *s, size_t from, size_t to)
{
    struct tt_hist *h = (struct tt_hist *)malloc(sizeof(*h));

    assert_non_null(h);
    tt_hist_init(h);
    for (size_t i = from; i < to; i++)
        tt_hist_record(h, s->values[i]);
    return h;
}

static void check_percentile(const struct tt_hist *h, const struct sample *sorted,
                             unsigned per_mille)
{
    size_t rank = (sorted->n * per_mille + 999) / 1000;
    int64_t truth = sorted->values[rank - 1];
    int64_t got = tt_hist_percentile(h, per_mille);
    uint64_t magnitude = truth < 0 ? 0 - (uint64_t)truth : (uint64_t)truth;
    uint64_t off = got < truth ? (uint64_t)truth - (uint64_t)got : (uint64_t)got - (uint64_t)truth;

    if (magnitude < 1024)
        assert_int_equal(got, truth);
    else if (magnitude < UINT64_C(1) << TT_HIST_TOP_BITS)
        assert_true(off <= magnitude / 1000);
    assert_true(got >= sorted->values[0] && got <= sorted->values[sorted->n - 1]);
}

static void check_moments(const struct tt_summary *summary, const struct sample *sorted)
{
    long double middle = (long double)sorted->values[sorted->n / 2];
    long double n = (long double)sorted->n;
    long double sum = 0;
    long double square = 0;
    long double mean;
    long double stdev;

    for (size_t i = 0; i < sorted->n; i++)
        sum += (long double)sorted->values[i] - middle;
    mean = sum / n;
    for (size_t i = 0; i < sorted->n; i++) {
        long double d = (long double)sorted->values[i] - middle - mean;

        square += d * d;
    }
    mean += middle;
    stdev = sqrtl(square / n);
    assert_true(fabsl((long double)summary->mean - mean) <=
                fabsl(mean) * 0x1p-51L + stdev * 0x1p-51L);
    assert_true(fabsl((long double)summary->stdev - stdev) <= stdev * 0x1p-50L);
}

/* Sorts the sample. */
static void check(const struct tt_hist *h, struct sample *s)
{
    static const unsigned per_mille[] = {1, 2, 10, 250, 499, 500, 501, 900, 990, 999, 1000};
    struct tt_summary summary;

    qsort(s->values, s->n, sizeof(s->values[0]), compare);
    tt_hist_summarize(h, &summary);
    assert_true(summary.n == s->n);
    assert_true(summary.min == s->values[0]);
    assert_true(summary.max == s->values[s->n - 1]);
    check_moments(&summary, s);
    for (size_t i = 0; i < TT_COUNT_OF(per_mille); i++)
        check_percentile(h, s, per_mille[i]);
    assert_true(summary.p50 == tt_hist_percentile(h, 500));
    assert_true(summary.p99 == tt_hist_percentile(h, 990));
    assert_true(summary.p999 == tt_hist_percentile(h, 999));
}

enum shape {
    SMALL,     /* -1000 … 1000 */
    INTERVALS, /* about 125 µs, a few ns */
    BURSTS,    /* two far clusters */
    WIDE,      /* every magnitude up to 2^39, both signs */
    OUTLIER,   /* the first value far from all others */
    EPOCH,     /* TAI times of today, a second apart at most */
    CONSTANT,  /* all the same */
    NEARLY,    /* all the same but one */
    ANY,       /* any int64_t */
    SHAPES
};

static int64_t draw(enum shape shape, size_t i, uint64_t *seed)
{
    switch (shape) {
    case SMALL:
        return (int64_t)random_below(seed, 2001) - 1000;
    case INTERVALS:
        return 124990 + (int64_t)random_below(seed, 20);
    case BURSTS:
        return (random_below(seed, 100) < 98 ? 2000 : 12500000) + (int64_t)random_below(seed, 500);
    case WIDE: {
        int64_t value = (int64_t)(random_next(seed) >> (25 + random_below(seed, 39)));

        return random_below(seed, 2) != 0 ? value : -value;
    }
    case OUTLIER:
        return i == 0 ? INT64_C(-37000000000) : 125000 + (int64_t)random_below(seed, 3);
    case EPOCH:
        return INT64_C(1700000000000000000) + (int64_t)random_below(seed, 1000000000);
    case CONSTANT:
        return -123456789;
    case NEARLY:
        return i == 5 ? 125001 : 125000;
    case ANY:
    case SHAPES:
        break;
    }
    return (int64_t)random_next(seed);
}

static void fill(struct sample *s, enum shape shape, size_t n, uint64_t *seed)
{
    s->n = n;
    for (size_t i = 0; i < n; i++)
        s->values[i] = draw(shape, i, seed);
}

static void test_distributions(void **state)
{
    static const size_t sizes[] = {1, 2, 3, 7, 100, 999, 1000, 1001, VALUES_MAX};
    struct sample *s = (struct sample *)*state;
    uint64_t seed = 2;

    for (unsigned shape = 0; shape < SHAPES; shape++) {
        for (size_t i = 0; i < TT_COUNT_OF(sizes); i++) {
            struct tt_hist *h;

            fill(s, (enum shape)shape, sizes[i], &seed);
            h = hist_of(s, 0, s->n);
            check(h, s);
            free(h);
        }
    }
}

static void assert_same(const struct tt_hist *a, const struct tt_hist *b)
{
    struct tt_summary x;
    struct tt_summary y;

    tt_hist_summarize(a, &x);
    tt_hist_summarize(b, &y);
    assert_true(x.n == y.n && x.min == y.min && x.max == y.max);
    assert_true(fabs(x.mean - y.mean) <= 0 && fabs(x.stdev - y.stdev) <= 0);
    assert_memory_equal(a->buckets, b->buckets, sizeof(a->buckets));
}

/* Recording all in one is the same as recording the parts and merging: to the bit where both keep
 * their moments about the same value, and in every figure where not. */
static void test_merge(void **state)
{
    static const size_t cuts[] = {0, 1, 2, 500, 998, 999, 1000};
    struct sample *s = (struct sample *)*state;
    uint64_t seed = 3;

    for (unsigned shape = 0; shape < SHAPES; shape++) {
        for (size_t i = 0; i < TT_COUNT_OF(cuts); i++) {
            struct tt_hist *whole;
            struct tt_hist *left;
            struct tt_hist *right;

            fill(s, (enum shape)shape, 1000, &seed);
            whole = hist_of(s, 0, s->n);
            left = hist_of(s, 0, cuts[i]);
            right = hist_of(s, cuts[i], s->n);
            tt_hist_merge(left, right);
            assert_memory_equal(left, whole, sizeof(*whole));
            free(left);
            left = hist_of(s, 0, cuts[i]);
            tt_hist_merge(right, left);
            assert_same(right, whole);
            free(left);
            free(right);
            free(whole);
        }
    }
}

/* The exact figures of values that leave a sum of doubles no digit. */
static void test_extremes(void **state)
{
    struct tt_hist *h = (struct tt_hist *)malloc(sizeof(*h));
    struct tt_summary summary;

    (void)state;
    assert_non_null(h);
    tt_hist_init(h);
    tt_hist_summarize(h, &summary);
    assert_true(summary.n == 0);
    for (unsigned i = 0; i < 1000; i++) {
        tt_hist_record(h, INT64_MIN);
        tt_hist_record(h, INT64_MAX);
    }
    tt_hist_summarize(h, &summary);
    assert_true(fabs(summary.mean - -0.5) <= 0);
    assert_true(fabs(summary.stdev - 0x1p63) <= 0); /* 2^63 - 0.5 to the nearest double */
    assert_true(summary.min == INT64_MIN && summary.max == INT64_MAX);

    tt_hist_init(h);
    tt_hist_record(h, INT64_MAX);
    tt_hist_record(h, INT64_MAX - 2);
    tt_hist_summarize(h, &summary);
    assert_true(fabs(summary.stdev - 1) <= 0);
    assert_true(summary.p50 == INT64_MAX - 2);

    tt_hist_init(h);
    tt_hist_record(h, INT64_MIN);
    for (unsigned i = 0; i < 3; i++)
        tt_hist_record(h, INT64_MIN + 1);
    tt_hist_summarize(h, &summary);
    assert_true(fabs(summary.stdev - sqrt(3.0) / 4) <= 0x1p-52);
    free(h);
}

/* Half a year at 8000 a second, made by doubling: counts go past 32 bits and nothing is lost. */
static void test_many(void **state)
{
    struct tt_hist *h = (struct tt_hist *)malloc(sizeof(*h));
    struct tt_hist *copy = (struct tt_hist *)malloc(sizeof(*copy));
    struct tt_summary summary;

    (void)state;
    assert_non_null(h);
    assert_non_null(copy);
    tt_hist_init(h);
    tt_hist_record(h, INT64_C(-37000000000));
    tt_hist_record(h, 0);
    tt_hist_record(h, 0);
    tt_hist_record(h, 0);
    for (unsigned i = 0; i < 35; i++) {
        memcpy(copy, h, sizeof(*h));
        tt_hist_merge(h, copy);
    }
    tt_hist_summarize(h, &summary);
    assert_true(summary.n == UINT64_C(4) << 35);
    assert_true(fabs(summary.mean - -9250000000.0) <= 0);
    assert_true(fabs(summary.stdev - 37e9 * sqrt(3.0) / 4) <= 1e-5);
    assert_true(summary.p50 == 0);
    assert_true(tt_hist_percentile(h, 250) < INT64_C(-36963000000));
    assert_true(tt_hist_percentile(h, 251) == 0);
    free(copy);
    free(h);
}

/* Going through the buckets meets every value once, in order, each within its bucket. */
static void test_through_the_buckets(void **state)
{
    struct tt_hist *h = (struct tt_hist *)calloc(1, sizeof(*h));
    uint64_t random = 11;
    uint64_t seen = 0;
    int64_t value = 0;
    int64_t before = INT64_MIN;
    uint64_t count;
    size_t at = 0;

    (void)state;
    assert_non_null(h);
    assert_false(tt_hist_next(h, &at, &value, &count));
    for (int i = 0; i < 10000; i++) {
        tt_hist_record(h, (int64_t)random_next(&random) >> random_below(&random, 64));
    }
    at = 0;
    while (tt_hist_next(h, &at, &value, &count)) {
        assert_true(count > 0 && value >= before);
        before = value;
        seen += count;
    }
    assert_true(seen == h->n);
    assert_true(tt_hist_step(h, 1023) == 1 && tt_hist_step(h, -1024) == 2);
    assert_true(tt_hist_step(h, 125000) == 128 && tt_hist_step(h, 131072) == 256);
    free(h);
}

/* About an origin percentiles are as fine as about 0, and what merges with it does so by its
 * values. */
static void test_origin(void **state)
{
    static const int64_t origins[] = {125000, -1999000, INT64_MAX, INT64_MIN, 0};
    uint64_t random = 11;

    (void)state;
    for (size_t i = 0; i < 2 * TT_COUNT_OF(origins); i++) {
        size_t o = i / 2;
        unsigned shift = i % 2 ? 5 : 0;
        int64_t off_most = (1 << shift) / 2;
        struct tt_hist *about = (struct tt_hist *)calloc(1, sizeof(*about));
        struct tt_hist *plain = (struct tt_hist *)calloc(1, sizeof(*plain));
        struct tt_summary summary;
        int64_t sorted[999];

        assert_non_null(about);
        assert_non_null(plain);
        tt_hist_set_origin(about, origins[o], shift);
        for (int k = 0; k < 999; k++) { /* within 500 of it */
            int64_t off = (int64_t)random_below(&random, 500);

            sorted[k] = origins[o] > 0 ? origins[o] - off : origins[o] + off;
            tt_hist_record(about, sorted[k]);
            tt_hist_record(plain, sorted[k]);
        }
        qsort(sorted, 999, sizeof(sorted[0]), compare);
        tt_hist_summarize(about, &summary);
        assert_true(llabs(summary.p50 - sorted[499]) <= off_most &&
                    llabs(summary.p99 - sorted[989]) <= off_most);
        assert_true(tt_hist_step(about, sorted[0]) == 1 << shift);
        tt_hist_merge(plain, about);
        assert_true(plain->n == 1998 && plain->min == sorted[0] && plain->max == sorted[998]);
        tt_hist_summarize(plain, &summary);
        assert_true(llabs(summary.p50 / 1024 - sorted[499] / 1024) <=
                    llabs(sorted[499] / 1024 / 1024) + 1);
        free(about);
        free(plain);
    }
}

/* One value apart from 2^40 others: what is left of the squares is a 2^40th of them. */
static void test_one_apart(void **state)
{
    struct tt_hist *h = (struct tt_hist *)malloc(sizeof(*h));
    struct tt_hist *copy = (struct tt_hist *)malloc(sizeof(*copy));
    struct tt_summary summary;
    double stdev = 0x1p20 / (0x1p40 + 1);

    (void)state;
    assert_non_null(h);
    assert_non_null(copy);
    tt_hist_init(h);
    tt_hist_record(h, 125001);
    for (unsigned i = 0; i < 40; i++) {
        memcpy(copy, h, sizeof(*h));
        tt_hist_merge(h, copy);
    }
    tt_hist_init(copy);
    tt_hist_record(copy, 125000);
    tt_hist_merge(copy, h);
    tt_hist_summarize(copy, &summary);
    assert_true(summary.n == (UINT64_C(1) << 40) + 1);
    assert_true(fabs(summary.stdev - stdev) <= stdev * 0x1p-51);
    free(copy);
    free(h);
}

#define BESIDE 200000

static void *record_beside(void *argument)
{
    struct tt_hist *h = (struct tt_hist *)argument;

    for (int64_t i = 0; i < BESIDE; i++)
        tt_hist_record(h, i % 2 == 0 ? 500 + i % 300 : -(i % 300) - 1);
    return NULL;
}

/* All counts, which only grow; every value is one that was recorded. */
static uint64_t count_all(const struct tt_hist *h)
{
    uint64_t seen = 0;
    uint64_t count;
    int64_t value;
    size_t at = 0;

    while (tt_hist_next(h, &at, &value, &count)) {
        assert_true((value >= 500 && value < 800) || (value >= -300 && value < 0));
        seen += count;
    }
    return seen;
}

static void test_a_reader_beside_the_writer(void **state)
{
    struct tt_hist *h = (struct tt_hist *)malloc(sizeof(*h));
    pthread_t writer;
    uint64_t before = 0;

    (void)state;
    assert_non_null(h);
    tt_hist_init(h);
    assert_int_equal(pthread_create(&writer, NULL, record_beside, h), 0);
    while (before < BESIDE) {
        uint64_t seen = count_all(h);

        assert_true(seen >= before && seen <= BESIDE);
        before = seen;
    }
    assert_int_equal(pthread_join(writer, NULL), 0);
    assert_true(h->n == BESIDE);
    free(h);
}

static int make_sample(void **state)
{
    *state = malloc(sizeof(struct sample));
    return *state ? 0 : -1;
}

static int free_sample(void **state)
{
    free(*state);
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_distributions),
        cmocka_unit_test(test_merge),
        cmocka_unit_test(test_extremes),
        cmocka_unit_test(test_many),
        cmocka_unit_test(test_origin),
        cmocka_unit_test(test_one_apart),
        cmocka_unit_test(test_through_the_buckets),
        cmocka_unit_test(test_a_reader_beside_the_writer),
    };

    return cmocka_run_group_tests(tests, make_sample, free_sample);
}
