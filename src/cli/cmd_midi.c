/*
 * `tactus midi`: finds the command and hands over.
 */
#include "cli/cmd_midi.h"

#include "cli/commands.h"

static const struct tt_cmd commands[] = {
    {"convert", "make a Standard MIDI File of a raw log", tt_cmd_midi_convert},
    {"dump", "show every event of a Standard MIDI File or a raw log", tt_cmd_midi_dump},
    {"jitter", "measure how far recorded times are off, idle and under load", tt_cmd_midi_jitter},
    {"list", "show the MIDI ports and the stamps that each gives", tt_cmd_midi_list},
    {"play", "play a Standard MIDI File, each event at its time", tt_cmd_midi_play},
    {"record", "record ports, with the time at which each byte arrived", tt_cmd_midi_record},
};

static const struct tt_cli_commands table = {
    .name = "tactus midi",
    .about = "MIDI with the time at which each byte arrived.",
    .commands = commands,
    .count = TT_COUNT_OF(commands),
};

int tt_cmd_midi(int argc, char **argv)
{
    return tt_cli_commands_run(&table, argc, argv);
}
