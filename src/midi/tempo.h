/*
 * From the ticks of a Standard MIDI File to ns since its start, by its tempo events.
 *
 * Invariants: exact to the ns whatever came before (what is left of a division is carried on); a
 * time beyond 292 years is INT64_MAX.
 */
#ifndef TT_MIDI_TEMPO_H
#define TT_MIDI_TEMPO_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "midi/smf.h"

/* From this tick on. */
struct tt_tempo {
    uint64_t tick;
    size_t order; /* of the event in the file: the later one of a tick counts */
    uint32_t quarter_us;
    int64_t ns;    /* the time of `tick` … */
    uint32_t rest; /* … and so many ppq-th of a ns */
};

struct tt_tempo_map {
    struct tt_smf_division division;
    struct tt_tempo *tempos; /* the caller's */
    size_t count;
};

/* The tempo events of a file, of all tracks or (of format 2) of one: first how many, then
 * themselves. The reader is left rewound. track -1: all. */
size_t tt_tempo_count(struct tt_smf *smf, int track);
/* `tempos`: room for tt_tempo_count of them. */
void tt_tempo_map_init(struct tt_tempo_map *map, struct tt_smf *smf, int track,
                       struct tt_tempo *tempos);
/* False: the file's division is none; then tt_tempo_ns may not be asked. */
bool tt_tempo_known(const struct tt_tempo_map *map);
int64_t tt_tempo_ns(const struct tt_tempo_map *map, uint64_t tick);

#endif
