/*
 * Any text as the kernel's record of switches: no time is counted twice or outside of the stretch.
 */
#include "fuzz.h"

#include <stdlib.h>
#include <string.h>

#include "meter/switches.h"

enum { SWITCH, INTERRUPT, CULPRIT, NOTHING, REASONS };

static struct fuzz_reason reasons[REASONS] = {
    [SWITCH] = {"others ran", 0},
    [INTERRUPT] = {"an interrupt", 0},
    [CULPRIT] = {"somebody is named", 0},
    [NOTHING] = {"no line counts", 0},
};

const struct fuzz_reason *fuzz_reasons(size_t *ret_count)
{
    *ret_count = REASONS;
    return reasons;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const int64_t from_ns = 1000000000;
    const int64_t until_ns = 20000000000;
    char *text = malloc(size + 1);
    struct tt_switches switches;

    if (!text)
        return 0;
    if (size > 0)
        memcpy(text, data, size);
    text[size] = 0;
    tt_switches_find(text, 77, from_ns, until_ns, &switches);
    if (switches.other_ns < 0 || switches.irq_ns < 0 ||
        strlen(switches.culprit) >= sizeof(switches.culprit))
        abort();
    reasons[SWITCH].reached += switches.other_ns > 0;
    reasons[INTERRUPT].reached += switches.irq_ns > 0;
    reasons[CULPRIT].reached += switches.culprit[0] != 0;
    reasons[NOTHING].reached += switches.lines == 0;
    free(text);
    return 0;
}
