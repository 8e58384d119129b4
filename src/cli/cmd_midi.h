/*
 * The commands of `tactus midi`; each as a command of `tactus` (cmd.h).
 */
#ifndef TT_CLI_CMD_MIDI_H
#define TT_CLI_CMD_MIDI_H

int tt_cmd_midi_convert(int argc, char **argv);
int tt_cmd_midi_dump(int argc, char **argv);
int tt_cmd_midi_jitter(int argc, char **argv);
int tt_cmd_midi_list(int argc, char **argv);
int tt_cmd_midi_play(int argc, char **argv);
int tt_cmd_midi_record(int argc, char **argv);

#endif
