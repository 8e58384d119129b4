/*
 * See midi_file.h.
 */
#include "cli/midi_file.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

static int map(const char *path, struct tt_midi_file *file)
{
    struct stat status;
    void *data;
    int error = 0;
    int fd = open(path, O_RDONLY | O_CLOEXEC);

    if (fd < 0) {
        return -errno;
    }
    if (fstat(fd, &status) != 0) {
        error = -errno;
    } else if (!S_ISREG(status.st_mode)) {
        error = S_ISDIR(status.st_mode) ? -EISDIR : -ESPIPE;
    } else if (status.st_size > 0) {
        data = mmap(NULL, (size_t)status.st_size, PROT_READ, MAP_PRIVATE | MAP_POPULATE, fd, 0);
        if (data == MAP_FAILED) {
            error = -errno;
        } else {
            file->data = data;
            file->bytes = (size_t)status.st_size;
        }
    }
    close(fd);
    return error;
}

enum tt_exit tt_midi_file_exit(int error)
{
    switch (-error) {
    case ENOENT:
    case ENOTDIR:
    case EISDIR:
    case ESPIPE:
    case ELOOP:
    case ENAMETOOLONG:
    case EEXIST:
        return TT_EXIT_USAGE;
    default:
        return TT_EXIT_ENVIRONMENT;
    }
}

enum tt_exit tt_midi_file_check_output(const char *command, const char *path)
{
    size_t n = strlen(path);
    struct stat status;

    if (n == 0) {
        tt_cli_say(command, "the file to write has no name: its argument is empty");
        return TT_EXIT_USAGE;
    }
    if (strcmp(path, "-") == 0) {
        tt_cli_say(command, "the file to write needs a name: it is not written to standard output "
                            "(./- is a file of that name)");
        return TT_EXIT_USAGE;
    }
    if (path[n - 1] == '/' || (stat(path, &status) == 0 && S_ISDIR(status.st_mode))) {
        tt_cli_say(command,
                   "%s is a folder; give the name of a file to write, such as %s%stake.mid", path,
                   path, path[n - 1] == '/' ? "" : "/");
        return TT_EXIT_USAGE;
    }
    return TT_EXIT_GOOD;
}

static size_t refused_at(enum tt_smf_fault fault, size_t bytes)
{
    return fault == TT_SMF_NO_HEADER ? 0 : fault == TT_SMF_HEADER_SHORT ? 4 : bytes;
}

static void say_neither(const char *command, const struct tt_midi_file *file, const char *path,
                        enum tt_midi_log_refusal refusal, enum tt_smf_fault fault)
{
    if (refusal == TT_MIDI_LOG_SHORT) {
        tt_cli_say(command,
                   "cannot read %s as a raw MIDI log: it ends at byte %zu, within its header"
                   " of %d",
                   path, file->bytes, TT_MIDI_LOG_HEADER_BYTES);
    } else if (refusal != TT_MIDI_LOG_MAGIC) {
        tt_cli_say(command, "cannot read %s as a raw MIDI log: %s (bytes 8 to 15)", path,
                   tt_midi_log_refusal_text(refusal));
    } else if (file->bytes == 0) {
        tt_cli_say(command, "%s is empty: neither a raw MIDI log nor a Standard MIDI File", path);
    } else if (file->bytes >= 4 && memcmp(file->data, "RIFF", 4) == 0) {
        tt_cli_say(command,
                   "%s is a RIFF container (.rmi): save what is in it as a Standard MIDI File",
                   path);
    } else {
        tt_cli_say(command,
                   "%s is neither a raw MIDI log nor a Standard MIDI File: %s (at byte %zu of %zu)",
                   path, tt_smf_fault_text(fault), refused_at(fault, file->bytes), file->bytes);
    }
}

enum tt_exit tt_midi_file_open(const char *command, const char *path, struct tt_midi_file *ret_file)
{
    enum tt_midi_log_refusal refusal;
    enum tt_smf_fault fault;
    int error;

    memset(ret_file, 0, sizeof(*ret_file));
    error = map(path, ret_file);
    if (error) {
        tt_cli_say(command, "cannot read %s: %s", *path ? path : "a file without a name",
                   error == -ESPIPE   ? "it is no regular file"
                   : error == -EISDIR ? "it is a folder"
                                      : strerror(-error));
        return tt_midi_file_exit(error);
    }
    refusal = tt_midi_log_open(&ret_file->log, ret_file->data, ret_file->bytes);
    ret_file->is_log = refusal == TT_MIDI_LOG_OK;
    if (ret_file->is_log) {
        return TT_EXIT_GOOD;
    }
    fault = tt_smf_open(&ret_file->smf, ret_file->data, ret_file->bytes);
    if (fault == TT_SMF_FINE) {
        return TT_EXIT_GOOD;
    }
    say_neither(command, ret_file, path, refusal, fault);
    tt_midi_file_close(ret_file);
    return TT_EXIT_USAGE;
}

void tt_midi_file_close(struct tt_midi_file *file)
{
    if (file->data) {
        munmap((void *)file->data, file->bytes);
    }
    file->data = NULL;
}
