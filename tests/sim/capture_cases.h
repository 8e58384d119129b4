/*
 * What can befall a stream on its way to a recording, one named case each.
 */
#ifndef TT_TESTS_CAPTURE_CASES_H
#define TT_TESTS_CAPTURE_CASES_H

#include "scene.h"

struct capture_case {
    const char *name; /* as in doc/faults.md */
    void (*arrange)(struct scene *s, int64_t argument);
    int64_t argument;
    unsigned seeds;
    bool sparse;
};

extern const struct capture_case capture_cases[];
extern const size_t capture_case_count;

#endif
