/*
 * See rules.h: what a rule does to a packet.
 */
#include "rules.h"

#include <math.h>
#include <string.h>

#include "audio/eth.h"
#include "base/bytes.h"
#include "base/ns.h"
#include "field.h"

#define CHANCE_ALWAYS (UINT64_C(1) << 32)

/* splitmix64 */
static uint64_t draw(struct rig_rule *rule)
{
    uint64_t z = (rule->random += UINT64_C(0x9E3779B97F4A7C15));

    z = (z ^ z >> 30) * UINT64_C(0xBF58476D1CE4E5B9);
    z = (z ^ z >> 27) * UINT64_C(0x94D049BB133111EB);
    return z ^ z >> 31;
}

/* In (0, 1]. */
static double draw_unit(struct rig_rule *rule)
{
    return ((double)(draw(rule) >> 11) + 1) / 9007199254740992.0;
}

static int64_t draw_ns(struct rig_rule *rule)
{
    const double two_pi = 6.283185307179586;
    double r;

    switch (rule->spread) {
    case RIG_UNIFORM:
        return rule->a + (int64_t)(draw(rule) % (uint64_t)(rule->b - rule->a + 1));
    case RIG_NORMAL: /* after Box and Muller */
        r = sqrt(-2 * log(draw_unit(rule)));
        return rule->a + (int64_t)((double)rule->b * r * cos(two_pi * draw_unit(rule)));
    case RIG_EXPONENTIAL:
        return (int64_t)(-(double)rule->a * log(draw_unit(rule)));
    default:
        return rule->a;
    }
}

/* What does not hang on the single copy. */
static bool is_due(const struct rig_rule *rule, uint64_t index, int64_t since_ns)
{
    return index >= rule->first && index <= rule->last &&
           (index - rule->first) % rule->every == 0 && since_ns >= rule->from_ns &&
           since_ns < rule->until_ns;
}

static bool is_hit(struct rig_rule *rule, const struct rig_packet *packet)
{
    if (packet->is_dropped ||
        (rule->lane != RIG_ANY && (rule->lane == RIG_COPY) != packet->is_copy)) {
        return false;
    }
    return rule->chance == CHANCE_ALWAYS || draw(rule) >> 32 < rule->chance;
}

/* Where the AVTPDU begins; the frame's end where there is none. */
static size_t pdu_at(const struct rig_packet *packet)
{
    struct tt_eth eth;

    return tt_eth_parse(packet->frame, packet->bytes, &eth) == 0 ? eth.header_bytes : packet->bytes;
}

static void corrupt(struct rig_rule *rule, struct rig_packet *packet)
{
    size_t at = pdu_at(packet);

    for (int64_t i = 0; i < rule->a && at < packet->bytes; i++) {
        uint64_t random = draw(rule);

        packet->frame[at + (random >> 8) % (packet->bytes - at)] ^= (uint8_t)(1 + random % 255);
    }
}

static void truncate_pdu(const struct rig_rule *rule, struct rig_packet *packet)
{
    size_t bytes = pdu_at(packet) + (size_t)rule->a;

    packet->bytes = bytes < packet->bytes ? bytes : packet->bytes;
}

static void extend(struct rig_rule *rule, struct rig_packet *packet)
{
    for (int64_t i = 0; i < rule->a && packet->bytes < packet->capacity; i++) {
        packet->frame[packet->bytes++] = (uint8_t)draw(rule);
    }
}

static int64_t drifted_ns(struct rig_rule *rule, uint32_t stamp)
{
    if (!rule->is_begun) {
        rule->is_begun = true;
        rule->stamp = stamp;
    }
    rule->media_ns += (int32_t)(stamp - rule->stamp);
    rule->stamp = stamp;
    return rule->media_ns / 1000 * rule->a / 1000000;
}

static void move_stamp(struct rig_rule *rule, struct rig_packet *packet)
{
    size_t at = pdu_at(packet) + RIG_FIELD_STAMP_BYTE;
    uint32_t stamp;
    int64_t by_ns;

    if (at + 4 > packet->bytes) {
        return;
    }
    stamp = tt_get_be32(packet->frame + at);
    by_ns = rule->spread == RIG_DRIFT ? drifted_ns(rule, stamp) : draw_ns(rule);
    tt_put_be32(packet->frame + at, stamp + (uint32_t)by_ns);
}

static void set_field(size_t index, struct rig_packet *packet, uint64_t value, bool is_added)
{
    const struct rig_field *field = &rig_fields[index];
    size_t at = (index == rig_field_source ? 0 : pdu_at(packet)) + field->byte;

    if (at + field->bytes <= packet->bytes) {
        uint64_t before = is_added ? rig_field_get(field, packet->frame + at) : 0;

        rig_field_put(field, packet->frame + at, before + value);
    }
}

/* Once it has begun it goes on, whatever its conditions say. True: the packet is swallowed. */
static bool pause_talker(struct rig_rule *rule, struct rig_packet *packet, bool begins,
                         int64_t now_ns)
{
    if (!rule->is_begun && begins) {
        rule->is_begun = true;
        rule->begin_ns = now_ns;
    }
    if (!rule->is_begun) {
        return false;
    }
    if (now_ns - rule->begin_ns >= rule->a) {
        set_field(rig_field_sequence, packet, (uint64_t) - (int64_t)rule->skipped, true);
        return false;
    }
    rule->skipped = (uint8_t)(rule->skipped + !packet->is_copy);
    return true;
}

static void apply(struct rig_rule *rule, uint64_t index, struct rig_packet *packet)
{
    switch (rule->action) {
    case RIG_DROP:
    case RIG_PAUSE:
        packet->is_dropped = true;
        break;
    case RIG_DELAY:
        packet->delay_ns += draw_ns(rule);
        packet->delay_ns = packet->delay_ns < 0 ? 0 : packet->delay_ns;
        break;
    case RIG_REORDER:
        packet->wait = (uint64_t)rule->a + 1;
        break;
    case RIG_BURST:
        packet->wait = (uint64_t)rule->a - 1 - (index - rule->first) % (uint64_t)rule->a;
        break;
    case RIG_CORRUPT:
        corrupt(rule, packet);
        break;
    case RIG_TRUNCATE:
        truncate_pdu(rule, packet);
        break;
    case RIG_EXTEND:
        extend(rule, packet);
        break;
    case RIG_STAMP:
        move_stamp(rule, packet);
        break;
    case RIG_SET:
        set_field(rule->field, packet, rule->value, rule->is_added);
        break;
    default: /* duplicate is the caller's */
        break;
    }
}

/* Returns how many there are then. */
static size_t duplicate(const struct rig_rule *rule, struct rig_packet *packets, size_t from,
                        size_t count)
{
    const struct rig_packet *original = &packets[from];

    for (int64_t i = 0; i < rule->a && count < RIG_PACKETS_MAX; i++, count++) {
        struct rig_packet *copy = &packets[count];
        uint8_t *frame = copy->frame;
        size_t capacity = copy->capacity;
        size_t bytes = original->bytes < capacity ? original->bytes : capacity;

        memcpy(frame, original->frame, bytes);
        *copy = *original;
        copy->frame = frame;
        copy->capacity = capacity;
        copy->bytes = bytes;
        copy->is_copy = true;
    }
    return count;
}

/* One rule on the packet and its copies; returns how many there are then. */
static size_t apply_to_all(struct rig_rules *rules, size_t number, uint64_t index, int64_t now_ns,
                           struct rig_packet *packets, size_t count)
{
    struct rig_rule *rule = &rules->rules[number];
    bool due = is_due(rule, index, now_ns - rules->begin_ns);
    size_t before = count;

    for (size_t i = 0; i < before; i++) {
        bool hit = due && is_hit(rule, &packets[i]);

        if (rule->action == RIG_PAUSE && !packets[i].is_dropped) {
            hit = pause_talker(rule, &packets[i], hit, now_ns);
        }
        if (!hit) {
            continue;
        }
        rule->applied++;
        packets[i].rules |= UINT64_C(1) << number;
        apply(rule, index, &packets[i]);
        if (rule->action == RIG_DUPLICATE) {
            count = duplicate(rule, packets, i, count);
        }
    }
    return count;
}

size_t rig_step(struct rig_rules *rules, uint64_t index, int64_t now_ns,
                struct rig_packet packets[RIG_PACKETS_MAX])
{
    struct rig_packet *first = &packets[0];
    size_t count = 1;

    if (!rules->is_begun) {
        rules->is_begun = true;
        rules->begin_ns = now_ns;
    }
    *first = (struct rig_packet){
        .frame = first->frame, .bytes = first->bytes, .capacity = first->capacity};
    for (size_t r = 0; r < rules->count; r++) {
        count = apply_to_all(rules, r, index, now_ns, packets, count);
    }
    return count;
}
