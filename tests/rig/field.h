/*
 * The fields of an AVTPDU that a rule may set, and the Ethernet source address.
 * Source: IEEE 1722-2016, 4.4 and 7.3.
 */
#ifndef TT_TESTS_RIG_FIELD_H
#define TT_TESTS_RIG_FIELD_H

#include <stddef.h>
#include <stdint.h>

#define RIG_FIELD_STAMP_BYTE 12

struct rig_field {
    const char *name;
    unsigned byte;  /* of the AVTPDU, or of the frame for `source` */
    unsigned bytes; /* 1 … 8 */
    unsigned shift; /* of its lowest bit in these */
    unsigned bits;
};

extern const struct rig_field rig_fields[];
extern const size_t rig_field_count;
extern const size_t rig_field_sequence; /* its index; */
extern const size_t rig_field_source;   /* this one counts from the frame's begin */
extern const size_t rig_field_stream;

/* The largest value that fits. */
uint64_t rig_field_most(const struct rig_field *field);
/* `at`: where its first byte is. */
uint64_t rig_field_get(const struct rig_field *field, const uint8_t *at);
/* Takes the value's lowest bits. */
void rig_field_put(const struct rig_field *field, uint8_t *at, uint64_t value);

#endif
