/*
 * See purity.h. Window: the 7-term Blackman-Harris (Albrecht 2001).
 */
#include "purity.h"

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>

#define N      ((size_t)1 << 16)
#define TWO_PI 6.283185307179586

#define NOTCH_HZ 20.0
#define LOW_HZ   20.0
#define HIGH_HZ  20000.0

struct bin {
    double re;
    double im;
};

static double window(size_t i)
{
    static const double terms[] = {0.27105140069342,  -0.43329793923448, 0.21812299954311,
                                   -0.06592544638803, 0.01081174209837,  -0.00077658482522,
                                   0.00001388721735};
    double value = 0;

    for (size_t t = 0; t < sizeof terms / sizeof *terms; t++) {
        value += terms[t] * cos(TWO_PI * (double)(t * i) / (double)N);
    }
    return value;
}

static void reorder(struct bin *bins)
{
    for (size_t i = 0, j = 0; i < N; i++) {
        size_t bit = N >> 1;

        if (i < j) {
            struct bin swap = bins[i];

            bins[i] = bins[j];
            bins[j] = swap;
        }
        while (bit > 0 && (j & bit) != 0) {
            j ^= bit;
            bit >>= 1;
        }
        j |= bit;
    }
}

/* In place; `turns`: e^(-2 pi i k / N), N / 2 of them. */
static void transform(struct bin *bins, const struct bin *turns)
{
    reorder(bins);
    for (size_t half = 1; half < N; half <<= 1) {
        size_t stride = N / half / 2;

        for (size_t start = 0; start < N; start += half * 2) {
            for (size_t k = 0; k < half; k++) {
                struct bin *a = &bins[start + k];
                struct bin *b = &bins[start + k + half];
                struct bin turn = turns[k * stride];
                double re = b->re * turn.re - b->im * turn.im;
                double im = b->re * turn.im + b->im * turn.re;

                b->re = a->re - re;
                b->im = a->im - im;
                a->re += re;
                a->im += im;
            }
        }
    }
}

static void add_block(const double *samples, const double *weights, const struct bin *turns,
                      struct bin *bins, double *power)
{
    for (size_t i = 0; i < N; i++) {
        bins[i] = (struct bin){samples[i] * weights[i], 0};
    }
    transform(bins, turns);
    for (size_t i = 0; i < N / 2; i++) {
        power[i] += bins[i].re * bins[i].re + bins[i].im * bins[i].im;
    }
}

static double judge(const double *power, double bin_hz, double *ret_tone_hz)
{
    size_t peak = (size_t)(LOW_HZ / bin_hz);
    double tone = 0;
    double rest = 0;

    for (size_t i = peak; (double)i * bin_hz <= HIGH_HZ && i < N / 2; i++) {
        peak = power[i] > power[peak] ? i : peak;
    }
    for (size_t i = (size_t)ceil(LOW_HZ / bin_hz); (double)i * bin_hz <= HIGH_HZ && i < N / 2;
         i++) {
        bool notched = fabs((double)i - (double)peak) * bin_hz <= NOTCH_HZ;

        tone += notched ? power[i] : 0;
        rest += notched ? 0 : power[i];
    }
    *ret_tone_hz = (double)peak * bin_hz;
    return 10 * log10(rest / tone);
}

double purity_thd_n(const double *samples, size_t count, double rate_hz, double *ret_tone_hz)
{
    double *weights = calloc(N, sizeof *weights);
    double *power = calloc(N / 2, sizeof *power);
    struct bin *bins = calloc(N, sizeof *bins);
    struct bin *turns = calloc(N / 2, sizeof *turns);
    double result = NAN;

    if (weights && power && bins && turns && count >= N) {
        for (size_t i = 0; i < N; i++) {
            weights[i] = window(i);
        }
        for (size_t i = 0; i < N / 2; i++) {
            double angle = TWO_PI * (double)i / (double)N;

            turns[i] = (struct bin){cos(angle), -sin(angle)};
        }
        for (size_t at = 0; at + N <= count; at += N / 2) {
            add_block(samples + at, weights, turns, bins, power);
        }
        result = judge(power, rate_hz / (double)N, ret_tone_hz);
    }
    free(weights);
    free(power);
    free(bins);
    free(turns);
    return result;
}
