/*
 * See tempo.h.
 */
#include "midi/tempo.h"

#include "base/ns.h"

static bool wanted(const struct tt_smf_item *item, int track)
{
    return item->kind == TT_SMF_ITEM_EVENT && tt_smf_tempo_of(&item->event) > 0 &&
           (track < 0 || item->track == (unsigned)track);
}

size_t tt_tempo_count(struct tt_smf *smf, int track)
{
    struct tt_smf_item item;
    size_t count = 0;

    tt_smf_rewind(smf);
    while (tt_smf_next(smf, &item))
        count += wanted(&item, track);
    tt_smf_rewind(smf);
    return count;
}

static bool before(const struct tt_tempo *a, const struct tt_tempo *b)
{
    return a->tick != b->tick ? a->tick < b->tick : a->order < b->order;
}

static void sift_down(struct tt_tempo *tempos, size_t at, size_t count)
{
    for (size_t child; (child = 2 * at + 1) < count; at = child) {
        struct tt_tempo held = tempos[at];

        if (child + 1 < count && before(&tempos[child], &tempos[child + 1]))
            child++;
        if (!before(&held, &tempos[child]))
            return;
        tempos[at] = tempos[child];
        tempos[child] = held;
    }
}

/* Heap sort: in place, and no file makes it slow. */
static void sort(struct tt_tempo *tempos, size_t count)
{
    for (size_t i = count / 2; i > 0; i--)
        sift_down(tempos, i - 1, count);
    for (size_t n = count; n > 1; n--) {
        struct tt_tempo held = tempos[0];

        tempos[0] = tempos[n - 1];
        tempos[n - 1] = held;
        sift_down(tempos, 0, n - 1);
    }
}

/* ns += count * numerator / denominator, saturating; `rest` of it is carried, in denominator-ths.
 */
static void advance(uint64_t count, uint64_t numerator, uint32_t denominator, int64_t *ns,
                    uint32_t *rest)
{
    uint64_t whole = count / denominator;
    uint64_t part = (count % denominator) * numerator + *rest;
    uint64_t sum;

    if (__builtin_mul_overflow(whole, numerator, &whole) ||
        __builtin_add_overflow(whole, part / denominator, &sum) ||
        sum > (uint64_t)(INT64_MAX - *ns)) {
        *ns = INT64_MAX;
        *rest = 0;
        return;
    }
    *ns += (int64_t)sum;
    *rest = (uint32_t)(part % denominator);
}

void tt_tempo_map_init(struct tt_tempo_map *map, struct tt_smf *smf, int track,
                       struct tt_tempo *tempos)
{
    struct tt_tempo last = {.quarter_us = TT_SMF_TEMPO_US};
    struct tt_smf_item item;

    *map = (struct tt_tempo_map){.division = smf->division, .tempos = tempos};
    if (smf->division.ppq == 0)
        return; /* SMPTE: no tempo counts */
    tt_smf_rewind(smf);
    while (tt_smf_next(smf, &item)) {
        if (wanted(&item, track)) {
            tempos[map->count] = (struct tt_tempo){.tick = item.event.tick,
                                                   .order = map->count,
                                                   .quarter_us = tt_smf_tempo_of(&item.event)};
            map->count++;
        }
    }
    tt_smf_rewind(smf);
    sort(tempos, map->count);
    for (size_t i = 0; i < map->count; i++) {
        tempos[i].ns = last.ns;
        tempos[i].rest = last.rest;
        advance(tempos[i].tick - last.tick, last.quarter_us * UINT64_C(1000), map->division.ppq,
                &tempos[i].ns, &tempos[i].rest);
        last = tempos[i];
    }
}

bool tt_tempo_known(const struct tt_tempo_map *map)
{
    return map->division.ppq > 0 || map->division.ticks > 0;
}

/* The last tempo at or before `tick`; NULL: none yet. */
static const struct tt_tempo *tempo_at(const struct tt_tempo_map *map, uint64_t tick)
{
    size_t low = 0;
    size_t high = map->count;

    while (low < high) {
        size_t middle = low + (high - low) / 2;

        if (map->tempos[middle].tick <= tick)
            low = middle + 1;
        else
            high = middle;
    }
    return low > 0 ? &map->tempos[low - 1] : NULL;
}

/* A second has fps * ticks of them; 29 is 30000/1001. */
static int64_t smpte_ns(const struct tt_smf_division *division, uint64_t tick)
{
    bool drop = division->fps == 29;
    uint32_t a_second = (drop ? 30000 : division->fps) * division->ticks;
    int64_t ns = 0;
    uint32_t rest = 0;

    advance(tick, (drop ? 1001 : 1) * (uint64_t)TT_NS_PER_S, a_second, &ns, &rest);
    return ns;
}

int64_t tt_tempo_ns(const struct tt_tempo_map *map, uint64_t tick)
{
    struct tt_tempo from = {.quarter_us = TT_SMF_TEMPO_US};
    const struct tt_tempo *tempo = tempo_at(map, tick);

    if (map->division.ppq == 0)
        return smpte_ns(&map->division, tick);
    if (tempo)
        from = *tempo;
    advance(tick - from.tick, from.quarter_us * UINT64_C(1000), map->division.ppq, &from.ns,
            &from.rest);
    return from.ns;
}
