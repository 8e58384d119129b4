/*
 * Is one setting better than another? From figures of windows of equal length, such as a median
 * lateness or a number of misses in a second; less is better.
 *
 * The replicate is a window and never a sample: samples of one window depend on each other, and on
 * a machine that does other things too a million of them make any two runs "significantly"
 * different. Three answers: better, worse, not distinguishable. A difference is found where both
 * hold:
 * - by chance alone it is rare: a permutation test over windows, p <= 0.01;
 * - it is greater than what the same setting differs by from itself: the A/A floor.
 *
 * A figure that each window has, such as a median, is tested by its ranks, and its mean is without
 * the fifth at either end: a window in which the machine was elsewhere counts no more than any
 * other. A count is not: a few windows can have all of it, and these are what is looked for. Its
 * mean is that of all windows, and that mean's own difference is tested, so that test and
 * difference cannot contradict each other. A window with whatever count shows nothing alone, nor
 * do a few: the answer says so.
 *
 * Interleaved windows (A B B A …) are compared in pairs: a machine that drifts changes both of a
 * pair. Runs one after the other are not; there the floor is also how far the halves of a run
 * differ, which holds a drift against the difference, and cannot know of a machine that changed
 * between the runs. And there windows that follow each other are alike: what is permuted are blocks
 * of so many that they are not, by the correlation of each window with the next, (1 + r) / (1 - r)
 * of them. Of too few blocks there is no answer.
 *
 * Where several figures are asked at once, one of them differs by chance the more often: p is then
 * at most 0.04 by their number, where that is less (Bonferroni).
 *
 * a and b can be exchanged: the answer is the other one, and all figures are the same.
 *
 * The caller owns the memory; same values, same answer.
 * Source: Wilcoxon signed ranks and rank sum; of counts, the tests of Fisher and Pitman. Each with
 * random permutations instead of tables.
 */
#ifndef TT_BASE_COMPARE_H
#define TT_BASE_COMPARE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define TT_COMPARE_WINDOWS_MIN 10 /* of each; below that no answer */
#define TT_COMPARE_BLOCKS_MIN  5  /* as that, of runs one after the other */
#define TT_COMPARE_WINDOWS_MAX 1024
/* Interleaved, in virtual time, nine of ten times enough for: a median that is a fifth more, misses
 * that are twice as many, misses in a third of the windows where there were none. */
#define TT_COMPARE_WINDOWS_USUAL 40
/* That have any, of both: chance alone has all of fewer on one side. */
#define TT_COMPARE_ANY_MIN      8
#define TT_COMPARE_PERMUTATIONS 1000
#define TT_COMPARE_VALUE_MAX    (INT64_C(1) << 51)

enum tt_compare_answer {
    TT_COMPARE_TOO_FEW, /* windows, or blocks; only `windows` and `block` have a meaning */
    TT_COMPARE_SAME,    /* not distinguishable */
    TT_COMPARE_RARE,    /* as that, of counts: too few windows have any for another answer */
    TT_COMPARE_BETTER,  /* b is less than a */
    TT_COMPARE_WORSE,
};

/* What both settings did, window by window, in the order of time. Values within
 * ±TT_COMPARE_VALUE_MAX. */
struct tt_compare_input {
    const int64_t *a;
    const int64_t *b;
    size_t a_count;
    size_t b_count;
    bool interleaved; /* the windows of a number belong together; what one has more is left out */
    bool counts;      /* how often something happened */
    size_t asked;     /* figures that are asked at once; 0: this one */
};

struct tt_compare_result {
    enum tt_compare_answer answer;
    size_t windows; /* of each that were compared: the fewer */
    size_t block;   /* windows that are alike because they follow each other: 1 where none are */
    size_t a_any;   /* of its windows: those in which the figure is not 0 */
    size_t b_any;
    double a;          /* mean: of counts; else without the fifth of windows at either end */
    double b;          /* as that */
    double difference; /* b - a: as that, of pairs where they are interleaved */
    double floor;      /* differences up to this come of nothing */
    double p;          /* how often chance alone makes as clear a difference */
};

/* Memory of the computation. */
struct tt_compare_work {
    int64_t values[2 * TT_COMPARE_WINDOWS_MAX];
    int64_t scratch[2 * TT_COMPARE_WINDOWS_MAX];
    int64_t scores[2 * TT_COMPARE_WINDOWS_MAX]; /* what is permuted */
    uint16_t order[2 * TT_COMPARE_WINDOWS_MAX]; /* as that: blocks, by their first window */
    double means[TT_COMPARE_PERMUTATIONS];
};

/* At most TT_COMPARE_WINDOWS_MAX windows of each are looked at, the first ones. */
void tt_compare(const struct tt_compare_input *input, struct tt_compare_work *work,
                struct tt_compare_result *ret_result);

/* "better", "worse", "not distinguishable", "too rare to tell", "not enough data". */
const char *tt_compare_answer_text(enum tt_compare_answer answer);

#endif
