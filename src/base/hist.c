/*
 * See hist.h. The wide sums are done by hand, because 32-bit compilers have no __int128.
 */
#include "base/hist.h"

#include <math.h>
#include <string.h>

#define NEAR (INT64_C(1) << 32)

/* Words that another thread may read meanwhile. There is one writer, and a count is seen together
 * with the least and the greatest that belong to it. */
static uint64_t word_load(const uint64_t *word)
{
    return __atomic_load_n(word, __ATOMIC_ACQUIRE);
}

static void word_count(uint64_t *word)
{
    __atomic_store_n(word, *word + 1, __ATOMIC_RELEASE);
}

static int64_t bound_load(const int64_t *bound)
{
    return __atomic_load_n(bound, __ATOMIC_RELAXED);
}

static void bound_store(int64_t *bound, int64_t value)
{
    __atomic_store_n(bound, value, __ATOMIC_RELAXED);
}

/* sign and magnitude: a difference of two int64_t needs 65 bits */
struct signed65 {
    bool negative;
    uint64_t magnitude;
};

static struct signed65 difference(int64_t a, int64_t b)
{
    bool negative = a < b;

    return (struct signed65){negative,
                             negative ? (uint64_t)b - (uint64_t)a : (uint64_t)a - (uint64_t)b};
}

/* words += value << 64 * at, modulo 2^(64 * n) */
static void wide_add(uint64_t *words, unsigned n, unsigned at, uint64_t value)
{
    for (unsigned i = at; i < n && value > 0; i++) {
        words[i] += value;
        value = words[i] < value;
    }
}

static void wide_sub(uint64_t *words, unsigned n, unsigned at, uint64_t value)
{
    for (unsigned i = at; i < n && value > 0; i++) {
        bool borrow = words[i] < value;

        words[i] -= value;
        value = borrow;
    }
}

static void multiply(uint64_t a, uint64_t b, uint64_t ret_product[2])
{
    uint64_t a_low = a & UINT32_MAX;
    uint64_t a_high = a >> 32;
    uint64_t b_low = b & UINT32_MAX;
    uint64_t b_high = b >> 32;
    uint64_t low = a_low * b_low;
    uint64_t middle = a_high * b_low + (low >> 32);
    uint64_t middle2 = a_low * b_high + (middle & UINT32_MAX);

    ret_product[0] = middle2 << 32 | (low & UINT32_MAX);
    ret_product[1] = a_high * b_high + (middle >> 32) + (middle2 >> 32);
}

/* words (three of them) += or -= a * b, b being two words */
static void wide_accumulate(uint64_t words[3], bool subtract, uint64_t a, const uint64_t b[2])
{
    for (unsigned i = 0; i < 2; i++) {
        uint64_t product[2];

        multiply(a, b[i], product);
        for (unsigned k = 0; k < 2; k++) {
            if (subtract)
                wide_sub(words, 3, i + k, product[k]);
            else
                wide_add(words, 3, i + k, product[k]);
        }
    }
}

/* The magnitude of a 128-bit two's complement number; returns whether it is negative. */
static bool wide_magnitude(const uint64_t sum[2], uint64_t ret_magnitude[2])
{
    bool negative = sum[1] >> 63 != 0;

    ret_magnitude[0] = negative ? ~sum[0] : sum[0];
    ret_magnitude[1] = negative ? ~sum[1] : sum[1];
    if (negative)
        wide_add(ret_magnitude, 2, 0, 1);
    return negative;
}

/* dividend / divisor; the quotient is known to fit 64 bits (dividend[1] < divisor). */
static uint64_t wide_divide(const uint64_t dividend[2], uint64_t divisor, uint64_t *ret_rest)
{
    uint64_t rest = dividend[1];
    uint64_t quotient = 0;

    for (int bit = 63; bit >= 0; bit--) {
        bool carry = rest >> 63 != 0;

        rest = rest << 1 | (dividend[0] >> bit & 1);
        quotient <<= 1;
        if (carry || rest >= divisor) {
            rest -= divisor;
            quotient |= 1;
        }
    }
    *ret_rest = rest;
    return quotient;
}

static unsigned bucket_of(uint64_t magnitude)
{
    uint64_t at_least_a_step = magnitude | UINT64_C(1) << TT_HIST_STEP_BITS;
    unsigned shift = 63 - (unsigned)__builtin_clzll(at_least_a_step) - TT_HIST_STEP_BITS;

    if (magnitude >> TT_HIST_TOP_BITS != 0)
        return TT_HIST_BUCKETS - 1;
    return (shift << TT_HIST_STEP_BITS) + (unsigned)(magnitude >> shift);
}

static int64_t bucket_middle(unsigned bucket)
{
    unsigned power = bucket >> TT_HIST_STEP_BITS;
    int64_t step = bucket & ((1U << TT_HIST_STEP_BITS) - 1);

    if (power <= 1)
        return bucket;
    return ((step | 1 << TT_HIST_STEP_BITS) << (power - 1)) + (INT64_C(1) << (power - 2));
}

void tt_hist_init(struct tt_hist *h)
{
    memset(h, 0, sizeof(*h));
}

void tt_hist_set_origin(struct tt_hist *h, int64_t origin, unsigned shift)
{
    bound_store(&h->origin, origin);
    __atomic_store_n(&h->shift, shift, __ATOMIC_RELAXED);
}

/* As add_moments, where |d| < 2^32: nearly always, and records must be quick. Without a branch on
 * the sign, which goes at random. */
static void add_near(struct tt_hist *h, int64_t d)
{
    uint64_t low = (uint64_t)d;
    uint64_t square = low * low;

    h->sum[0] += low;
    h->sum[1] += (uint64_t)(d >> 63) + (h->sum[0] < low);
    h->square[0] += square;
    if (h->square[0] < square)
        wide_add(h->square, 3, 1, 1);
}

static void add_moments(struct tt_hist *h, struct signed65 d)
{
    uint64_t square[2];

    if (d.negative)
        wide_sub(h->sum, 2, 0, d.magnitude);
    else
        wide_add(h->sum, 2, 0, d.magnitude);
    multiply(d.magnitude, d.magnitude, square);
    wide_add(h->square, 3, 0, square[0]);
    wide_add(h->square, 3, 1, square[1]);
}

/* Without a branch on which side of the origin it is, which goes at random. */
static uint64_t *bucket_at(struct tt_hist *h, int64_t value)
{
    uint64_t below = value < h->origin;
    uint64_t magnitude = (((uint64_t)value - (uint64_t)h->origin) ^ (0 - below)) + below;

    return &h->buckets[below][bucket_of(magnitude >> h->shift)];
}

void tt_hist_record(struct tt_hist *h, int64_t value)
{
    int64_t d;

    if (h->n == 0) {
        h->first = value;
        bound_store(&h->min, value);
        bound_store(&h->max, value);
    }
    h->n++;
    if (value < h->min)
        bound_store(&h->min, value);
    if (value > h->max)
        bound_store(&h->max, value);
    if (!__builtin_sub_overflow(value, h->first, &d) && d > -NEAR && d < NEAR)
        add_near(h, d);
    else
        add_moments(h, difference(value, h->first));
    word_count(bucket_at(h, value));
}

/*
 * from's moments, moved to into->first: with d' = d + c, c = from->first - into->first,
 * sum d' = sum d + n c, sum d'^2 = sum d^2 + 2 c sum d + n c^2.
 */
static void merge_moments(struct tt_hist *into, const struct tt_hist *from)
{
    struct signed65 c = difference(from->first, into->first);
    uint64_t sum[2];
    uint64_t product[2];
    bool negative = wide_magnitude(from->sum, sum);

    wide_add(into->sum, 2, 0, from->sum[0]);
    wide_add(into->sum, 2, 1, from->sum[1]);
    multiply(from->n, c.magnitude, product);
    for (unsigned k = 0; k < 2; k++) {
        if (c.negative)
            wide_sub(into->sum, 2, k, product[k]);
        else
            wide_add(into->sum, 2, k, product[k]);
    }
    for (unsigned k = 0; k < 3; k++)
        wide_add(into->square, 3, k, from->square[k]);
    wide_accumulate(into->square, negative != c.negative, c.magnitude, sum);
    wide_accumulate(into->square, negative != c.negative, c.magnitude, sum);
    wide_accumulate(into->square, false, c.magnitude, product);
}

/* About another origin what is in a bucket counts as its middle. */
static void merge_buckets(struct tt_hist *into, const struct tt_hist *from)
{
    size_t at = 0;
    int64_t value;
    uint64_t count;

    if (into->origin == from->origin && into->shift == from->shift) {
        for (unsigned i = 0; i < TT_HIST_BUCKETS; i++) {
            into->buckets[0][i] += from->buckets[0][i];
            into->buckets[1][i] += from->buckets[1][i];
        }
        return;
    }
    while (tt_hist_next(from, &at, &value, &count)) {
        *bucket_at(into, value) += count;
    }
}

void tt_hist_merge(struct tt_hist *into, const struct tt_hist *from)
{
    if (from->n == 0)
        return;
    if (into->n == 0) {
        *into = *from;
        return;
    }
    merge_moments(into, from);
    into->n += from->n;
    if (from->min < into->min)
        into->min = from->min;
    if (from->max > into->max)
        into->max = from->max;
    merge_buckets(into, from);
}

static int64_t clamp(const struct tt_hist *h, int64_t value)
{
    int64_t min = bound_load(&h->min);
    int64_t max = bound_load(&h->max);

    if (value < min)
        return min;
    return value > max ? max : value;
}

/* A bucket's middle, within what was recorded. */
static int64_t value_of(const struct tt_hist *h, bool positive, unsigned bucket)
{
    unsigned shift = __atomic_load_n(&h->shift, __ATOMIC_RELAXED);
    int64_t middle = (bucket_middle(bucket) << shift) + (INT64_C(1) << shift) / 2;
    int64_t value;

    if (__builtin_add_overflow(bound_load(&h->origin), positive ? middle : -middle, &value)) {
        value = positive ? INT64_MAX : INT64_MIN;
    }
    return clamp(h, value);
}

int64_t tt_hist_percentile(const struct tt_hist *h, unsigned per_mille)
{
    uint64_t rank = h->n / 1000 * per_mille + (h->n % 1000 * per_mille + 999) / 1000;
    uint64_t below = 0;

    for (unsigned i = TT_HIST_BUCKETS; i > 0; i--) {
        below += h->buckets[1][i - 1];
        if (below >= rank)
            return value_of(h, false, i - 1);
    }
    for (unsigned i = 0; i < TT_HIST_BUCKETS; i++) {
        below += h->buckets[0][i];
        if (below >= rank)
            return value_of(h, true, i);
    }
    return h->max;
}

int64_t tt_hist_step(const struct tt_hist *h, int64_t value)
{
    unsigned power =
        bucket_of(difference(value, h->origin).magnitude >> h->shift) >> TT_HIST_STEP_BITS;

    return (power <= 1 ? INT64_C(1) : INT64_C(1) << (power - 1)) << h->shift;
}

bool tt_hist_next(const struct tt_hist *h, size_t *at, int64_t *ret_value, uint64_t *ret_count)
{
    while (*at < (size_t)2 * TT_HIST_BUCKETS) {
        size_t i = (*at)++;
        bool positive = i >= TT_HIST_BUCKETS;
        unsigned bucket = (unsigned)(positive ? i - TT_HIST_BUCKETS : TT_HIST_BUCKETS - 1 - i);
        uint64_t count = word_load(&h->buckets[!positive][bucket]);

        if (count > 0) {
            *ret_value = value_of(h, positive, bucket);
            *ret_count = count;
            return true;
        }
    }
    return false;
}

/*
 * The moments are moved to the integer m nearest to the mean, so that nothing cancels: with sum d =
 * m n + r, |r| <= n / 2, the sum of (d - m)^2 is sum d^2 - m (m n + 2 r), exact, and at least 2 r^2
 * / n, which is twice what is then taken off.
 */
static void summarize_moments(const struct tt_hist *h, struct tt_summary *ret_summary)
{
    uint64_t sum[2];
    uint64_t rest;
    uint64_t square[3] = {h->square[0], h->square[1], h->square[2]};
    bool negative = wide_magnitude(h->sum, sum);
    uint64_t m = wide_divide(sum, h->n, &rest);
    double n = (double)h->n;
    double r = (double)rest;
    double about_m;

    if (rest > h->n / 2) {
        m++;
        rest = h->n - rest;
        r = -(double)rest;
        wide_sub(sum, 2, 0, rest);
    } else {
        wide_add(sum, 2, 0, rest);
    }
    wide_accumulate(square, true, m, sum);
    about_m = ((double)square[2] * 0x1p64 + (double)square[1]) * 0x1p64 + (double)square[0];
    ret_summary->stdev = sqrt((about_m - r * r / n) / n);
    ret_summary->mean = negative ? (double)(int64_t)((uint64_t)h->first - m) - r / n
                                 : (double)(int64_t)((uint64_t)h->first + m) + r / n;
}

void tt_hist_summarize(const struct tt_hist *h, struct tt_summary *ret_summary)
{
    struct tt_summary summary = {.n = h->n};

    if (h->n > 0) {
        summary.min = h->min;
        summary.max = h->max;
        summarize_moments(h, &summary);
        summary.p50 = tt_hist_percentile(h, 500);
        summary.p99 = tt_hist_percentile(h, 990);
        summary.p999 = tt_hist_percentile(h, 999);
    }
    *ret_summary = summary;
}
