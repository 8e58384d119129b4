/*
 * What the commands share: see cmd.h.
 */
#include "cli/cmd.h"

#include <errno.h>
#include <math.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/ns.h"

static volatile sig_atomic_t interrupted;

void tt_cli_say(const char *command, const char *format, ...)
{
    va_list args;

    fflush(stdout);
    fprintf(stderr, "%s: ", command);
    va_start(args, format);
    vfprintf(stderr, format, args);
    va_end(args);
    fputc('\n', stderr);
}

int tt_cli_duration_parse(const char *text, int64_t *ret_ns)
{
    static const struct {
        const char *name;
        int64_t ns;
    } units[] = {
        {"ms", TT_NS_PER_MS},
        {"s", TT_NS_PER_S},
        {"min", 60 * TT_NS_PER_S},
        {"h", 3600 * TT_NS_PER_S},
    };
    char *unit;
    double number = strtod(text, &unit);

    if (unit == text || !isfinite(number) || number < 0) {
        return -EINVAL;
    }
    for (size_t i = 0; i < TT_COUNT_OF(units); i++) {
        double ns = number * (double)units[i].ns;

        if (strcmp(unit, units[i].name) == 0 && ns < 1e18) {
            *ret_ns = (int64_t)ns;
            return 0;
        }
    }
    return -EINVAL;
}

static void note_interrupt(int number)
{
    (void)number;
    interrupted = 1;
}

void tt_cli_catch_interrupt(void)
{
    /* Not for once only: wrappers such as timeout(1) send it twice. */
    struct sigaction action = {.sa_handler = note_interrupt};

    sigaction(SIGINT, &action, NULL);
    sigaction(SIGTERM, &action, NULL);
}

bool tt_cli_interrupted(void)
{
    return interrupted != 0;
}
