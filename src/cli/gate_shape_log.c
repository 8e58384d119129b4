/*
 * See gate_shape_log.h.
 */
#include "cli/gate_shape_log.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio_ext.h>
#include <string.h>
#include <unistd.h>

#include "cli/cmd.h"
#include "cli/gate_shape.h"

#define COMMAND TT_GATE_SHAPE_COMMAND

static void give_up(struct tt_gate_shape_log *log, int error)
{
    tt_cli_say(COMMAND, "cannot write %s: %s; the log ends here", log->path, strerror(error));
    if (log->whole_bytes >= 0) { /* a file: without the half of a line */
        __fpurge(log->out);
        (void)!ftruncate(fileno(log->out), log->whole_bytes);
    }
    fclose(log->out);
    log->out = NULL;
}

/* What was printed is in the file; or it is none any more, without the last `n` departures. */
static void settle(struct tt_gate_shape_log *log, size_t n)
{
    if (fflush(log->out) == 0 && !ferror(log->out)) {
        log->whole_bytes = ftello(log->out);
    } else {
        log->lost += n;
        give_up(log, errno);
    }
}

bool tt_gate_shape_log_open(struct tt_gate_shape_log *log, const char *path)
{
    int fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0666);

    *log = (struct tt_gate_shape_log){.path = path, .out = fd < 0 ? NULL : fdopen(fd, "w")};
    if (!log->out) {
        tt_cli_say(COMMAND, "cannot write %s: %s", path, strerror(errno));
        if (fd >= 0) {
            close(fd);
        }
        return false;
    }
    return true;
}

void tt_gate_shape_log_begin(struct tt_gate_shape_log *log, int64_t rate_bps)
{
    (void)!ftruncate(fileno(log->out), 0); /* of a file; of a pipe there is nothing to empty */
    log->whole_bytes = ftello(log->out);
    fprintf(log->out, "rate %" PRId64 "\n", rate_bps);
    settle(log, 0);
}

void tt_gate_shape_log_list(struct tt_gate_shape_log *log, const struct tt_gate_list *list,
                            int64_t start_tai_ns)
{
    if (!log->out) {
        return;
    }
    fprintf(log->out, "list %" PRId64 " %" PRId64 " %" PRId64 " ", list->base_tai_ns,
            list->cycle_ns, list->extension_ns);
    if (start_tai_ns == INT64_MIN) {
        fputs("-\n", log->out);
    } else {
        fprintf(log->out, "%" PRId64 "\n", start_tai_ns);
    }
    for (size_t i = 0; i < list->segment_count; i++) {
        int64_t end_ns =
            i + 1 < list->segment_count ? list->segments[i + 1].start_ns : list->cycle_ns;

        fprintf(log->out, "entry 0x%x %" PRId64 "\n", list->segments[i].mask,
                end_ns - list->segments[i].start_ns);
    }
    settle(log, 0);
}

void tt_gate_shape_log_departures(struct tt_gate_shape_log *log,
                                  const struct tt_shape_departure *departures, size_t n)
{
    if (!log->out) {
        log->lost += n;
        return;
    }
    for (size_t i = 0; i < n; i++) {
        const struct tt_shape_departure *d = &departures[i];

        fprintf(log->out, "frame %" PRId64 " %u %u %" PRId64 " %" PRId64 "\n", d->launch_tai_ns,
                d->class, d->bytes, d->after_tai_ns, d->arrival_tai_ns);
    }
    settle(log, n);
}

bool tt_gate_shape_log_close(struct tt_gate_shape_log *log)
{
    if (log->out && fclose(log->out) != 0) {
        tt_cli_say(COMMAND, "cannot write %s: %s", log->path, strerror(errno));
        return false;
    }
    return !log->path || log->out;
}
