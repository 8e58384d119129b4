/*
 * Any bytes as a stream file, for a talker (first byte even) or a listener. What is taken must have
 * passed its check; what is refused has a message that can be printed and, unless memory was out, a
 * place within the text.
 */
#include "fuzz.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/attr.h"
#include "cli/stream_file.h"

/* By the words that the messages carry. */
static struct fuzz_reason reasons[] = {
    {"expected", 0}, /* jansson */
    {"duplicate object key", 0},
    {"an object in braces", 0},
    {"streams is missing", 0},
    {"is no list of streams", 0},
    {"streams, and at most", 0},
    {"belongs into one of the streams", 0},
    {"give one value", 0},
    {"the value is too long", 0},
    {"did you mean", 0},
    {"there are:", 0},
    {"is for a", 0},
    {"is empty", 0},
    {"is no class", 0},
    {"is too small", 0},
    {"is too large", 0},
    {"begins with no format", 0},
    {"that is no number", 0},
    {"has a 0 in it", 0},
    {"has more than format", 0},
    {"has more than 1024 channels", 0},
    {"is no rate", 0},
    {"is missing", 0},
    {"leaves no time to arrive", 0},
    {"is that of the stream in line", 0},
};

const struct fuzz_reason *fuzz_reasons(size_t *ret_count)
{
    *ret_count = TT_COUNT_OF(reasons);
    return reasons;
}

static void hold(bool condition)
{
    if (!condition) {
        abort();
    }
}

static void check_fault(const struct tt_stream_file_fault *fault, const char *text, size_t size)
{
    int lines = 1;

    for (size_t i = 0; i < size; i++) {
        lines += text[i] == '\n';
    }
    hold(fault->line >= 1 && fault->line <= lines && fault->column >= 0 &&
         (size_t)fault->column <= size + 1);
    hold(memchr(fault->message.text, 0, sizeof(fault->message.text)) != NULL);
    for (const char *c = fault->message.text; *c != 0; c++) {
        hold(*c >= ' ' && *c <= '~');
    }
    for (size_t i = 0; i < TT_COUNT_OF(reasons); i++) {
        reasons[i].reached += strstr(fault->message.text, reasons[i].name) != NULL;
    }
}

static void check_file(const struct tt_stream_file *file, enum tt_role role)
{
    struct tt_message message;

    hold(file->count > 0 && file->count <= TT_STREAMS_MAX);
    for (size_t i = 0; i < file->count; i++) {
        hold(tt_stream_config_check(&file->jobs[i].config, role, &message) == 0);
        hold(file->jobs[i].end && file->jobs[i].end[0] != 0);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    enum tt_role role = size > 0 && data[0] % 2 == 1 ? TT_ROLE_LISTENER : TT_ROLE_TALKER;
    const char *text = (const char *)data + (size > 0);
    size_t bytes = size > 0 ? size - 1 : 0;
    struct tt_stream_file_fault fault = {.line = -1};
    struct tt_stream_file file;

    if (tt_stream_file_parse(text, bytes, role, NULL, &file, &fault) < 0) {
        check_fault(&fault, text, bytes);
        return 0;
    }
    check_file(&file, role);
    tt_stream_file_done(&file);
    return 0;
}
