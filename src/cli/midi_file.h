/*
 * A file of MIDI in memory: a Standard MIDI File or a raw log, told by its first bytes.
 */
#ifndef TT_CLI_MIDI_FILE_H
#define TT_CLI_MIDI_FILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "cli/cmd.h"
#include "midi/log.h"
#include "midi/smf.h"

struct tt_midi_file {
    const uint8_t *data;
    size_t bytes;
    bool is_log; /* `log` is open; else `smf` */
    struct tt_midi_log log;
    struct tt_smf smf;
};

/* What a file's error means of the command's arguments: TT_EXIT_USAGE where a name is wrong (there
 * is no such file or folder, or it is something else, or is taken), else TT_EXIT_ENVIRONMENT. */
enum tt_exit tt_midi_file_exit(int error);

/* A file to write has a name, which is not that of a folder. TT_EXIT_GOOD, or an exit code after
 * saying why. */
enum tt_exit tt_midi_file_check_output(const char *command, const char *path);

/* TT_EXIT_GOOD, or an exit code after saying why. */
enum tt_exit tt_midi_file_open(const char *command, const char *path,
                               struct tt_midi_file *ret_file);
void tt_midi_file_close(struct tt_midi_file *file);

#endif
