/*
 * The name of a raw MIDI port of ALSA: hw:CARD[,DEVICE[,SUBDEVICE]], the card by number or ID, or
 * the path of its device.
 */
#ifndef TT_OS_MIDI_HW_H
#define TT_OS_MIDI_HW_H

#include "os/midi_port.h"

#define TT_MIDI_HW_CARDS 32

struct tt_midi_hw {
    int card;
    int device;
    int subdevice; /* -1: any */
};

/* 0; -EINVAL: it is no such name; -ENXIO: no card has that ID; -errno of the path. */
int tt_midi_hw_parse(const char *name, struct tt_midi_hw *ret_hw);
/* Of its device. */
void tt_midi_hw_path(const struct tt_midi_hw *hw, char ret_path[TT_MIDI_PORT_NAME]);
/* "hw:ID,DEVICE,SUBDEVICE": finds it again under another number. */
void tt_midi_hw_name(const struct tt_midi_hw *hw, unsigned subdevice,
                     char ret_name[TT_MIDI_PORT_NAME]);
/* Why its device is not there: -ENXIO where there is no such card, else -ENODEV. */
int tt_midi_hw_missing(const struct tt_midi_hw *hw);

#endif
