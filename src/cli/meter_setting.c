/*
 * See meter_setting.h.
 */
#include "cli/meter_setting.h"

#include <errno.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

#define COMMAND "tactus meter compare"

static bool take_number(const char *text, long least, long most, int *ret_number)
{
    char *end;
    long value = strtol(text, &end, 10);

    if (*end || end == text || value < least || value > most) {
        return false;
    }
    *ret_number = (int)value;
    return true;
}

static bool is_no_processor(const char *word)
{
    int cpu;

    return strncmp(word, "cpu=", 4) == 0 && take_number(word + 4, 0, INT_MAX, &cpu) &&
           cpu >= (int)tt_machine_processors();
}

static bool take_word(struct tt_meter_setting *setting, const char *word)
{
    const char *value = strchr(word, '=');

    if (strcmp(word, "tuned") == 0) {
        setting->tuned = true;
        return true;
    }
    if (!value++) {
        return strcmp(word, "default") == 0;
    }
    if (strncmp(word, "policy=", 7) == 0) {
        return tt_policy_find(value, &setting->policy.kind);
    }
    if (strncmp(word, "priority=", 9) == 0) {
        return take_number(value, 1, 99, &setting->policy.priority);
    }
    if (strncmp(word, "cpu=", 4) == 0) {
        return take_number(value, 0, (long)tt_machine_processors() - 1, &setting->policy.cpu);
    }
    if (strncmp(word, "governor=", 9) == 0 && *value && !strchr(value, '/')) {
        return snprintf(setting->governor, sizeof(setting->governor), "%s", value) <
               (int)sizeof(setting->governor);
    }
    return false;
}

int tt_meter_setting_parse(const char *text, const struct tt_meter_job *job,
                           struct tt_meter_setting *ret_setting)
{
    struct tt_meter_setting setting = {.text = text, .policy = job->policy};
    const char *at = text;

    setting.policy.priority = 0;

    while (*at) {
        char word[64];
        size_t length = strcspn(at, ",");

        if (strcmp(at, "run=") == 0) {
            tt_cli_say(COMMAND, "%s: run= takes a command, as in run='tuna -q eth0 -c 1'", text);
            return -EINVAL;
        }
        if (strncmp(at, "run=", 4) == 0) {
            setting.run = at + 4;
            break;
        }
        snprintf(word, sizeof(word), "%.*s", (int)length, at);
        if (length < sizeof(word) && is_no_processor(word)) {
            tt_cli_say(COMMAND, "%s: there is no processor %s; this machine has 0 to %ld", text,
                       word + strlen("cpu="), (long)tt_machine_processors() - 1);
            return -EINVAL;
        }
        if (length >= sizeof(word) || !take_word(&setting, word)) {
            tt_cli_say(COMMAND,
                       "%s: what is `%s`? Give policy=fifo|rr|deadline|other, priority=1..99, "
                       "cpu=N, governor=NAME, tuned, run=COMMAND (the last one), or default; or "
                       "a file that `tactus meter --json` made",
                       text, word);
            return -EINVAL;
        }
        at += length;
        at += *at == ',';
    }
    if (setting.policy.priority > 0 && !tt_policy_has_priority(setting.policy.kind)) {
        tt_cli_say(COMMAND, "%s: a priority belongs to the policies fifo and rr", text);
        return -EINVAL;
    }
    if (setting.policy.priority == 0) {
        setting.policy.priority = job->policy.priority;
    }
    *ret_setting = setting;
    return 0;
}

/* While it runs an interrupt is for the command alone, and ends it: then it was for us as well. */
static enum tt_exit run_command(const char *command)
{
    int status = system(command);

    if (status != -1 && ((WIFSIGNALED(status) && WTERMSIG(status) == SIGINT) ||
                         (WIFEXITED(status) && WEXITSTATUS(status) == 128 + SIGINT))) {
        raise(SIGINT);
        return TT_EXIT_INCONCLUSIVE;
    }
    if (status == -1 || !WIFEXITED(status) || WEXITSTATUS(status) != 0) {
        tt_cli_say(COMMAND, "`%s` failed", command);
        return TT_EXIT_ENVIRONMENT;
    }
    return TT_EXIT_GOOD;
}

enum tt_exit tt_meter_setting_apply(struct tt_meter_setting *setting, struct tt_meter_job *job)
{
    job->policy = setting->policy;
    if (setting->governor[0]) {
        int error = tt_governor_set(setting->governor, setting->governor_before);

        if (error) {
            tt_cli_say(COMMAND, "cannot set the frequency governor %s: %s", setting->governor,
                       error == -ENOENT ? "nothing scales the frequency here" : strerror(-error));
            return TT_EXIT_ENVIRONMENT;
        }
    }
    if (setting->tuned) {
        tt_meter_job_tune(job);
    }
    return setting->run ? run_command(setting->run) : TT_EXIT_GOOD;
}

void tt_meter_setting_undo(struct tt_meter_setting *setting, struct tt_meter_job *job)
{
    if (setting->governor_before[0]) {
        tt_governor_set(setting->governor_before, setting->governor_before);
        setting->governor_before[0] = 0;
    }
    tt_meter_job_untune(job);
}
