/*
 * See eth.h.
 */
#include "audio/eth.h"

#include <errno.h>
#include <stdbool.h>
#include <string.h>

#include "base/bytes.h"

/* Field by field: a struct that is written in parts and copied as a whole stalls the processor. */
int tt_eth_parse(const uint8_t *frame, size_t bytes, struct tt_eth *ret_eth)
{
    uint16_t ethertype;
    bool tagged;

    if (bytes < TT_ETH_HEADER_BYTES)
        return -EINVAL;
    ethertype = tt_get_be16(frame + 12);
    tagged = ethertype == TT_ETHERTYPE_VLAN;
    if (tagged && bytes < TT_ETH_HEADER_BYTES + TT_ETH_TAG_BYTES)
        return -EINVAL;
    memcpy(ret_eth->dest, frame, sizeof(ret_eth->dest));
    memcpy(ret_eth->src, frame + 6, sizeof(ret_eth->src));
    ret_eth->vlan_id = tagged ? tt_get_be16(frame + 14) & 0xFFF : -1;
    ret_eth->pcp = tagged ? frame[14] >> 5 : -1;
    ret_eth->ethertype = tagged ? tt_get_be16(frame + 16) : ethertype;
    ret_eth->header_bytes = TT_ETH_HEADER_BYTES + (tagged ? TT_ETH_TAG_BYTES : 0);
    return 0;
}

size_t tt_eth_build(const struct tt_eth *eth, uint8_t *ret_frame)
{
    size_t at = 12;

    memcpy(ret_frame, eth->dest, sizeof(eth->dest));
    memcpy(ret_frame + 6, eth->src, sizeof(eth->src));
    if (eth->vlan_id >= 0) {
        unsigned pcp = eth->pcp > 0 ? (unsigned)eth->pcp : 0;

        tt_put_be16(ret_frame + at, TT_ETHERTYPE_VLAN);
        tt_put_be16(ret_frame + at + 2, (uint16_t)(pcp << 13 | ((unsigned)eth->vlan_id & 0xFFF)));
        at += TT_ETH_TAG_BYTES;
    }
    tt_put_be16(ret_frame + at, eth->ethertype);
    return at + 2;
}

static int hex_value(char c)
{
    if (c >= '0' && c <= '9')
        return c - '0';
    if (c >= 'a' && c <= 'f')
        return c - 'a' + 10;
    if (c >= 'A' && c <= 'F')
        return c - 'A' + 10;
    return -1;
}

/* Six pairs of digits with colons between them; returns what follows, or NULL. */
static const char *parse_mac(const char *text, uint8_t ret_mac[6])
{
    for (int i = 0; i < 6; i++) {
        int high;
        int low;

        if (i > 0 && *text++ != ':')
            return NULL;
        high = hex_value(text[0]);
        low = high < 0 ? -1 : hex_value(text[1]);
        if (low < 0)
            return NULL;
        ret_mac[i] = (uint8_t)(high << 4 | low);
        text += 2;
    }
    return text;
}

int tt_mac_parse(const char *text, uint8_t ret_mac[6])
{
    uint8_t mac[6];
    const char *rest = parse_mac(text, mac);

    if (!rest || *rest != '\0')
        return -EINVAL;
    memcpy(ret_mac, mac, sizeof(mac));
    return 0;
}

int tt_stream_id_parse(const char *text, uint64_t *ret_stream_id)
{
    uint8_t id[8] = {0};
    const char *rest = parse_mac(text, id);
    unsigned unique = 0;

    if (!rest || *rest++ != ':')
        return -EINVAL;
    for (int i = 0; i < 4; i++) {
        int digit = hex_value(*rest);

        if (digit < 0)
            return -EINVAL;
        unique = unique << 4 | (unsigned)digit;
        rest++;
    }
    if (*rest != '\0')
        return -EINVAL;
    tt_put_be16(id + 6, (uint16_t)unique);
    *ret_stream_id = tt_get_be64(id);
    return 0;
}

static char *put_hex(char *out, unsigned byte)
{
    static const char digits[] = "0123456789ABCDEF";

    *out++ = digits[byte >> 4 & 0xF];
    *out++ = digits[byte & 0xF];
    return out;
}

static char *put_mac(char *out, const uint8_t mac[6])
{
    for (int i = 0; i < 6; i++) {
        if (i > 0)
            *out++ = ':';
        out = put_hex(out, mac[i]);
    }
    return out;
}

const char *tt_mac_format(const uint8_t mac[6], char ret_text[TT_MAC_TEXT])
{
    *put_mac(ret_text, mac) = '\0';
    return ret_text;
}

const char *tt_stream_id_format(uint64_t stream_id, char ret_text[TT_STREAM_ID_TEXT])
{
    uint8_t id[8];
    char *out;

    tt_put_be64(id, stream_id);
    out = put_mac(ret_text, id);
    *out++ = ':';
    out = put_hex(out, id[6]);
    out = put_hex(out, id[7]);
    *out = '\0';
    return ret_text;
}
