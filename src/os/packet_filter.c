/*
 * See packet_filter.h.
 */
#include "os/packet_filter.h"

#include <assert.h>
#include <linux/if_packet.h>

#include "base/bytes.h"

#define ETHERTYPE_AVTP   0x22F0
#define ETHERTYPE_VLAN   0x8100
#define TAG_BYTES        4
#define STREAM_ID_OFFSET 18 /* Ethernet header, then 4 bytes into the AVTPDU */
#define STREAM_ID_END    26

#define TO_REJECT 255 /* a jump to the end, set when the end is known */

struct program {
    struct sock_filter *code;
    unsigned n;
};

static void emit(struct program *p, unsigned op, uint32_t k, unsigned jump_true,
                 unsigned jump_false)
{
    assert(p->n < TT_PACKET_FILTER_MAX);
    p->code[p->n++] = (struct sock_filter){
        .code = (uint16_t)op, .jt = (uint8_t)jump_true, .jf = (uint8_t)jump_false, .k = k};
}

/* Loads `size` at `offset` and goes on where it equals `value`. */
static void require(struct program *p, unsigned mode_size, uint32_t offset, uint32_t value)
{
    emit(p, BPF_LD | mode_size, offset, 0, 0);
    emit(p, BPF_JMP | BPF_JEQ | BPF_K, value, 0, TO_REJECT);
}

/* Requires AVTP behind no or one in-line tag; leaves the tag's length in X. */
static void require_avtp(struct program *p)
{
    emit(p, BPF_LDX | BPF_IMM, 0, 0, 0);
    emit(p, BPF_LD | BPF_H | BPF_ABS, 12, 0, 0);
    emit(p, BPF_JMP | BPF_JEQ | BPF_K, ETHERTYPE_AVTP, 4, 0);
    emit(p, BPF_JMP | BPF_JEQ | BPF_K, ETHERTYPE_VLAN, 0, TO_REJECT);
    emit(p, BPF_LDX | BPF_IMM, TAG_BYTES, 0, 0);
    require(p, BPF_H | BPF_ABS, 12 + TAG_BYTES, ETHERTYPE_AVTP);
}

static void require_stream(struct program *p, uint64_t stream_id)
{
    emit(p, BPF_LD | BPF_W | BPF_LEN, 0, 0, 0);
    emit(p, BPF_ALU | BPF_SUB | BPF_X, 0, 0, 0);
    emit(p, BPF_JMP | BPF_JGE | BPF_K, STREAM_ID_END, 0, 4);
    require(p, BPF_W | BPF_IND, STREAM_ID_OFFSET, (uint32_t)(stream_id >> 32));
    require(p, BPF_W | BPF_IND, STREAM_ID_OFFSET + 4, (uint32_t)stream_id);
}

unsigned tt_packet_filter_build(const uint8_t *dest, const uint64_t *stream_id,
                                struct sock_filter ret_code[TT_PACKET_FILTER_MAX])
{
    struct program p = {.code = ret_code};

    emit(&p, BPF_LD | BPF_W | BPF_ABS, (uint32_t)(SKF_AD_OFF + SKF_AD_PKTTYPE), 0, 0);
    emit(&p, BPF_JMP | BPF_JEQ | BPF_K, PACKET_OUTGOING, TO_REJECT, 0);
    if (dest) {
        require(&p, BPF_W | BPF_ABS, 0, tt_get_be32(dest));
        require(&p, BPF_H | BPF_ABS, 4, tt_get_be16(dest + 4));
    }
    require_avtp(&p);
    if (stream_id) {
        require_stream(&p, *stream_id);
    }
    emit(&p, BPF_RET | BPF_K, UINT32_MAX, 0, 0);
    emit(&p, BPF_RET | BPF_K, 0, 0, 0);

    for (unsigned i = 0; i < p.n; i++) {
        uint8_t to_end = (uint8_t)(p.n - 2 - i);

        if (p.code[i].jt == TO_REJECT) {
            p.code[i].jt = to_end;
        }
        if (p.code[i].jf == TO_REJECT) {
            p.code[i].jf = to_end;
        }
    }
    return p.n;
}
