/*
 * How pure a tone is: THD+N as a meter has it, from 20 Hz to 20 kHz with a notch of 20 Hz either
 * side of the tone.
 */
#ifndef TT_TESTS_SIM_PURITY_H
#define TT_TESTS_SIM_PURITY_H

#include <stddef.h>

/* In dB below the tone (negative). Blocks of 2^16 samples that overlap by half, in double
 * precision, under a window whose side lobes add up to -162 dB at the worst. `count` >= 2^16.
 * *ret_tone_hz: the tone's frequency, to a bin. */
double purity_thd_n(const double *samples, size_t count, double rate_hz, double *ret_tone_hz);

#endif
