/*
 * Any bytes as a script of the fault rig. What it takes, it must survive: whatever the packet, the
 * fates stay within their limits; what it refuses is said with its line, in printable words.
 */
#include "fuzz.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/attr.h"
#include "rules.h"

#define CAPACITY 96
#define STEPS    40

/* By the words that the messages carry. */
static struct fuzz_reason reasons[] = {
    {"is missing", 0},
    {"is out of range", 0},
    {"is not a number", 0},
    {"is not a whole number", 0},
    {"is too large", 0},
    {"is negative", 0},
    {"is longer than a minute", 0},
    {"has a unit that is not", 0},
    {"is not a time", 0},
    {"is finer than 1 ns", 0},
    {"is no range", 0},
    {"before it begins", 0},
    {"is no percentage", 0},
    {"will not do", 0},
    {"has no sign", 0},
    {"is no MAC address", 0},
    {"is no stream ID", 0},
    {"is no field", 0},
    {"is no condition and no action", 0},
    {"is too much", 0},
    {"a character of code", 0},
    {"words; one action", 0},
    {"characters; one action", 0},
    {"rules; leave some out", 0},
};

const struct fuzz_reason *fuzz_reasons(size_t *ret_count)
{
    *ret_count = TT_COUNT_OF(reasons);
    return reasons;
}

static void hold(bool condition)
{
    if (!condition) {
        abort();
    }
}

static void check_error(const struct rig_error *error)
{
    unsigned found = 0;

    hold(error->line >= 1 && memchr(error->text, 0, sizeof error->text) != NULL);
    for (const char *c = error->text; *c != 0; c++) {
        hold(*c >= ' ' && *c <= '~');
    }
    for (size_t i = 0; i < TT_COUNT_OF(reasons); i++) {
        if (strstr(error->text, reasons[i].name)) {
            reasons[i].reached++;
            found++;
        }
    }
    hold(found >= 1);
}

static void check_step(struct rig_rules *rules, uint64_t index, const uint8_t *data, size_t size)
{
    static const size_t lengths[] = {0, 13, 14, 16, 18, 26, 40, 80, CAPACITY};
    static uint8_t memory[RIG_PACKETS_MAX][CAPACITY];
    struct rig_packet packets[RIG_PACKETS_MAX];
    size_t count;

    for (size_t i = 0; i < RIG_PACKETS_MAX; i++) {
        packets[i] = (struct rig_packet){.frame = memory[i], .capacity = CAPACITY};
    }
    for (size_t i = 0; i < CAPACITY && size > 0; i++) {
        memory[0][i] = data[(i + (size_t)index) % size];
    }
    if (index % 2 == 0) {
        memcpy(memory[0] + 12, "\x81\0\0\x02\x22\xF0", 6);
    }
    packets[0].bytes = lengths[index % TT_COUNT_OF(lengths)];
    count = rig_step(rules, index, (int64_t)index * 125000, packets);
    hold(count >= 1 && count <= RIG_PACKETS_MAX);
    for (size_t i = 0; i < count; i++) {
        hold(packets[i].frame == memory[i] && packets[i].bytes <= CAPACITY);
        hold(packets[i].delay_ns >= 0 && packets[i].is_copy == (i > 0));
        hold(packets[i].wait <= 10001);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static struct rig_rules rules;
    struct rig_error error;
    char *text = malloc(size + 1);

    if (!text) {
        return 0;
    }
    if (size > 0) {
        memcpy(text, data, size);
    }
    text[size] = 0;
    if (rig_rules_parse(text, &rules, &error) < 0) {
        check_error(&error);
    } else {
        for (uint64_t i = 0; i < STEPS; i++) {
            check_step(&rules, i * i * i, data, size);
        }
    }
    free(text);
    return 0;
}
