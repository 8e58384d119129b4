/*
 * Numbers in byte buffers, of any alignment: big-endian as on the wire, little-endian as in files.
 */
#ifndef TT_BASE_BYTES_H
#define TT_BASE_BYTES_H

#include <stdint.h>

static inline uint16_t tt_get_be16(const uint8_t *p)
{
    return (uint16_t)(p[0] << 8 | p[1]);
}

static inline uint32_t tt_get_be32(const uint8_t *p)
{
    return (uint32_t)tt_get_be16(p) << 16 | tt_get_be16(p + 2);
}

static inline uint64_t tt_get_be64(const uint8_t *p)
{
    return (uint64_t)tt_get_be32(p) << 32 | tt_get_be32(p + 4);
}

static inline uint16_t tt_get_le16(const uint8_t *p)
{
    return (uint16_t)(p[1] << 8 | p[0]);
}

static inline uint32_t tt_get_le32(const uint8_t *p)
{
    return (uint32_t)tt_get_le16(p + 2) << 16 | tt_get_le16(p);
}

static inline uint64_t tt_get_le64(const uint8_t *p)
{
    return (uint64_t)tt_get_le32(p + 4) << 32 | tt_get_le32(p);
}

static inline void tt_put_be16(uint8_t *p, uint16_t v)
{
    p[0] = (uint8_t)(v >> 8);
    p[1] = (uint8_t)v;
}

static inline void tt_put_be32(uint8_t *p, uint32_t v)
{
    tt_put_be16(p, (uint16_t)(v >> 16));
    tt_put_be16(p + 2, (uint16_t)v);
}

static inline void tt_put_be64(uint8_t *p, uint64_t v)
{
    tt_put_be32(p, (uint32_t)(v >> 32));
    tt_put_be32(p + 4, (uint32_t)v);
}

static inline void tt_put_le16(uint8_t *p, uint16_t v)
{
    p[0] = (uint8_t)v;
    p[1] = (uint8_t)(v >> 8);
}

static inline void tt_put_le32(uint8_t *p, uint32_t v)
{
    tt_put_le16(p, (uint16_t)v);
    tt_put_le16(p + 2, (uint16_t)(v >> 16));
}

static inline void tt_put_le64(uint8_t *p, uint64_t v)
{
    tt_put_le32(p, (uint32_t)v);
    tt_put_le32(p + 4, (uint32_t)(v >> 32));
}

#endif
