/*
 * A MIDI port that a test writes: what was put into it is what is read from it, losses and the
 * unplugging included. See midi_port.h.
 */
#ifndef TT_OS_MIDI_SCRIPT_H
#define TT_OS_MIDI_SCRIPT_H

#include "os/midi_port.h"

#define TT_MIDI_SCRIPT_CHUNKS 256

/* The test's, which reads and writes it between two calls of whoever uses the port. */
struct tt_midi_script {
    struct tt_midi_port port;
    struct tt_midi_chunk chunks[TT_MIDI_SCRIPT_CHUNKS]; /* to be read */
    int count;
    struct tt_midi_port_loss loss; /* behind them; until 0: none */
    bool gone;
    int room; /* bytes that are taken when written; -1: any number */
    uint8_t written[4096];
    size_t written_bytes;
};

void tt_midi_script_init(struct tt_midi_script *script, enum tt_midi_port_stamp stamp);
void tt_midi_script_add(struct tt_midi_script *script, int64_t time_mono_ns, const uint8_t *data,
                        uint8_t length);

#endif
