/*
 * See field.h.
 */
#include "field.h"

#include "base/attr.h"

enum { SEQUENCE, STREAM, SOURCE };

const struct rig_field rig_fields[] = {
    [SEQUENCE] = {"sequence", 2, 1, 0, 8},
    [STREAM] = {"stream", 4, 8, 0, 64},
    [SOURCE] = {"source", 6, 6, 0, 48},
    {"subtype", 0, 1, 0, 8},
    {"version", 1, 1, 4, 3},
    {"mr", 1, 1, 3, 1},
    {"tv", 1, 1, 0, 1},
    {"tu", 3, 1, 0, 1},
    {"format", 16, 1, 0, 8},
    {"nsr", 17, 1, 4, 4},
    {"channels", 17, 2, 0, 10},
    {"depth", 19, 1, 0, 8},
    {"length", 20, 2, 0, 16},
    {"sp", 22, 1, 4, 1},
    {"payload", 24, 4, 0, 32},
};
const size_t rig_field_count = TT_COUNT_OF(rig_fields);
const size_t rig_field_sequence = SEQUENCE;
const size_t rig_field_source = SOURCE;
const size_t rig_field_stream = STREAM;

uint64_t rig_field_most(const struct rig_field *field)
{
    return field->bits == 64 ? UINT64_MAX : (UINT64_C(1) << field->bits) - 1;
}

static uint64_t read_bytes(const struct rig_field *field, const uint8_t *at)
{
    uint64_t value = 0;

    for (unsigned i = 0; i < field->bytes; i++) {
        value = value << 8 | at[i];
    }
    return value;
}

uint64_t rig_field_get(const struct rig_field *field, const uint8_t *at)
{
    return read_bytes(field, at) >> field->shift & rig_field_most(field);
}

void rig_field_put(const struct rig_field *field, uint8_t *at, uint64_t value)
{
    uint64_t mask = rig_field_most(field) << field->shift;
    uint64_t all = (read_bytes(field, at) & ~mask) | (value << field->shift & mask);

    for (unsigned i = field->bytes; i-- > 0; all >>= 8) {
        at[i] = (uint8_t)all;
    }
}
