/*
 * See midi_ports.h.
 */
#include "cli/midi_ports.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include "base/ns.h"
#include "os/midi_device.h"
#include "report/plural.h"

#define BITS_A_BYTE 10 /* with start and stop bit */
#define DIN_BAUD    31250

int tt_midi_stamp_parse(const char *text, enum tt_midi_port_stamp *ret_stamp)
{
    static const char *const names[] = {"kernel", "sequencer", "read"};

    for (size_t i = 0; i < TT_COUNT_OF(names); i++) {
        if (strcmp(text, names[i]) == 0) {
            *ret_stamp = (enum tt_midi_port_stamp)i;
            return 0;
        }
    }
    return -EINVAL;
}

static void say_busy(const char *command, const char *name)
{
    struct tt_midi_user user;

    if (tt_midi_device_user(name, &user) == 0) {
        tt_cli_say(command, "%s is in use by %s (process %d): end that first", name, user.name,
                   (int)user.pid);
    } else {
        tt_cli_say(command,
                   "%s is in use by another program, whose name we may not see: end that "
                   "first",
                   name);
    }
}

enum tt_exit tt_midi_ports_open(const char *command, const struct tt_midi_port_setup *setup,
                                struct tt_midi_port **ret_port)
{
    int error = tt_midi_port_open(setup, ret_port);

    switch (-error) {
    case 0:
        return TT_EXIT_GOOD;
    case EINVAL:
        tt_cli_say(command,
                   "`%s` is no MIDI port: give hw:CARD,DEVICE, seq:CLIENT:PORT, or the path of a "
                   "serial port or pty",
                   setup->name);
        return TT_EXIT_USAGE;
    case ENXIO:
    case ENODEV:
    case ENOENT:
        tt_cli_say(command, "there is no %s %s; `tactus midi list` shows what there is",
                   error == -ENXIO && strncmp(setup->name, "hw:", 3) == 0 ? "sound card of"
                                                                          : "port",
                   setup->name);
        return TT_EXIT_ENVIRONMENT;
    case EBUSY:
        say_busy(command, setup->name);
        return TT_EXIT_ENVIRONMENT;
    case EACCES:
    case EPERM:
        tt_cli_say(command,
                   "cannot open %s: no permission; be in the group that owns it (audio, or dialout "
                   "of serial ports), or root",
                   setup->name);
        return TT_EXIT_ENVIRONMENT;
    default:
        tt_cli_say(command, "cannot open %s: %s", setup->name, strerror(-error));
        return TT_EXIT_ENVIRONMENT;
    }
}

uint64_t tt_midi_ports_drop_waiting(const char *command, const char *name,
                                    struct tt_midi_port *port)
{
    uint64_t bytes = tt_midi_port_drop_waiting(port);

    if (bytes > 0) {
        tt_cli_say(command,
                   "%s: %" PRIu64 " %s that waited there from before the start %s left out; "
                   "when they came is not known",
                   name, bytes, tt_plural(bytes, "byte", "bytes"), bytes == 1 ? "is" : "are");
    }
    return bytes;
}

enum tt_exit tt_midi_ports_check_different(const char *command, const char *const *names,
                                           unsigned count)
{
    for (unsigned i = 1; i < count; i++) {
        for (unsigned j = 0; j < i; j++) {
            if (tt_midi_device_same(names[j], names[i])) {
                tt_cli_say(command, "%s and %s are the same port; give it once", names[j],
                           names[i]);
                return TT_EXIT_USAGE;
            }
        }
    }
    return TT_EXIT_GOOD;
}

int tt_midi_ports_wire_option(const char *argument, struct argp_state *state)
{
    return strcmp(argument, "none") == 0
               ? 0
               : (int)tt_cli_number_option("wire", argument, state, 50, 4000000);
}

int64_t tt_midi_ports_byte_ns(const char *name, int wire)
{
    if (wire < 0) {
        wire = strncmp(name, "seq:", 4) == 0 ? 0 : DIN_BAUD;
    }
    return wire > 0 ? BITS_A_BYTE * TT_NS_PER_S / wire : 0;
}

enum tt_midi_port_stamp tt_midi_ports_best_stamp(const char *name)
{
    if (strncmp(name, "seq:", 4) == 0) {
        return TT_MIDI_PORT_STAMP_SEQUENCER;
    }
    return strncmp(name, "hw:", 3) == 0 || strncmp(name, "/dev/snd/", 9) == 0
               ? TT_MIDI_PORT_STAMP_KERNEL
               : TT_MIDI_PORT_STAMP_READ;
}
