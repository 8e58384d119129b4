/*
 * See stream_class.h.
 */
#include "audio/stream_class.h"

#include <strings.h>

#include "base/attr.h"
#include "base/ns.h"
#include "base/word.h"

#define VLAN_ID 2

const char *tt_stream_class_parse(const char *text, enum tt_stream_class *ret_class)
{
    if (strcasecmp(text, "A") == 0) {
        *ret_class = TT_STREAM_CLASS_A;
    } else if (strcasecmp(text, "B") == 0) {
        *ret_class = TT_STREAM_CLASS_B;
    } else {
        return "is no class";
    }
    return NULL;
}

unsigned tt_stream_class_bit(const char *key)
{
    static const struct {
        const char *key;
        unsigned bit;
    } bits[] = {
        {"vlan_id", TT_STREAM_CLASS_VLAN_ID}, {"pcp", TT_STREAM_CLASS_PCP},
        {"prio", TT_STREAM_CLASS_PRIORITY},   {"priority", TT_STREAM_CLASS_PRIORITY},
        {"mtt", TT_STREAM_CLASS_MTT},         {"frames_per_pdu", TT_STREAM_CLASS_FRAMES},
    };

    for (size_t i = 0; i < TT_COUNT_OF(bits); i++) {
        if (tt_word_same(key, bits[i].key)) {
            return bits[i].bit;
        }
    }
    return 0;
}

unsigned tt_stream_class_frames(enum tt_stream_class class, uint32_t rate_hz)
{
    uint32_t per_s = class == TT_STREAM_CLASS_B ? 4000 : 8000;
    uint32_t family_hz = rate_hz % 44100 == 0 ? rate_hz / 44100 * 48000 : rate_hz;

    return (family_hz + per_s - 1) / per_s;
}

void tt_stream_class_apply(enum tt_stream_class class, unsigned by_hand,
                           struct tt_stream_config *config)
{
    int priority = class == TT_STREAM_CLASS_B ? 2 : 3;
    unsigned set = class == TT_STREAM_CLASS_NONE ? 0 : ~by_hand;

    if (set & TT_STREAM_CLASS_VLAN_ID) {
        config->vlan_id = VLAN_ID;
    }
    if (set & TT_STREAM_CLASS_PCP) {
        config->pcp = priority;
    }
    if (set & TT_STREAM_CLASS_PRIORITY) {
        config->priority = priority;
    }
    if (set & TT_STREAM_CLASS_MTT) {
        config->mtt_ns = (class == TT_STREAM_CLASS_B ? 50 : 2) * TT_NS_PER_MS;
    }
    if ((set & TT_STREAM_CLASS_FRAMES) && config->rate_hz > 0) {
        config->frames_per_pdu = tt_stream_class_frames(class, config->rate_hz);
    }
}
