/*
 * What a MIDI port's name stands for on this machine: whether two names are one port, and who has
 * it.
 */
#ifndef TT_OS_MIDI_DEVICE_H
#define TT_OS_MIDI_DEVICE_H

#include <stdbool.h>
#include <sys/types.h>

#define TT_MIDI_USER_NAME 32

struct tt_midi_user {
    pid_t pid;
    char name[TT_MIDI_USER_NAME]; /* of the program */
};

/* Both names, as tt_midi_port_open takes them, are known to be one port. Of raw MIDI any subdevice
 * and one by number may be. */
bool tt_midi_device_same(const char *a, const char *b);
/* Another process that has the port's device open, first of all one that has locked it. 0;
 * -ENOENT: there is none, or none that we may see. */
int tt_midi_device_user(const char *name, struct tt_midi_user *ret_user);

#endif
