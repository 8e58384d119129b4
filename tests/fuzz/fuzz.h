/*
 * What a fuzz target is: libFuzzer's entry point, and a count of how often each named reason was
 * reached, so that the replay of a corpus (replay.c) can hold that it reaches every one.
 *
 * A target aborts where an invariant is broken.
 */
#ifndef TT_TESTS_FUZZ_FUZZ_H
#define TT_TESTS_FUZZ_FUZZ_H

#include <stddef.h>
#include <stdint.h>

struct fuzz_reason {
    const char *name;
    unsigned reached;
};

/* Whatever the target has reached so far; `*ret_count` of them. */
const struct fuzz_reason *fuzz_reasons(size_t *ret_count);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#endif
