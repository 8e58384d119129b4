/*
 * See meter_show.h.
 */
#include "cli/meter_show.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/ns.h"
#include "report/json.h"
#include "report/meter_advice.h"
#include "report/meter_json.h"
#include "report/plural.h"

static size_t find_advice(const struct tt_meter_job *job, const struct tt_meter_row *rows, size_t n,
                          struct tt_advice lines[TT_ADVICE_LINES])
{
    struct tt_machine_facts facts;
    bool throttled = false;

    for (size_t r = 0; r < n; r++) {
        for (size_t i = 0; i < rows[r].count; i++) {
            throttled |= rows[r].results[i].cell->causes[TT_CAUSE_THROTTLED].lost_ns > 0;
        }
    }
    tt_machine_facts(job->policy.cpu, &facts);
    return tt_meter_advice(&facts, throttled, lines);
}

const char *tt_meter_show_policy(const struct tt_meter_job *job, char text[TT_METER_POLICY_TEXT])
{
    const struct tt_policy *policy = &job->policy;
    char cpu[32] = "";

    if (policy->cpu >= 0) {
        snprintf(cpu, sizeof(cpu), ", processor %d", policy->cpu);
    }
    if (tt_policy_has_priority(policy->kind)) {
        snprintf(text, TT_METER_POLICY_TEXT, "%s %d%s", tt_policy_name(policy->kind),
                 policy->priority > 0 ? policy->priority : TT_POLICY_PRIORITY, cpu);
    } else {
        snprintf(text, TT_METER_POLICY_TEXT, "%s%s", tt_policy_name(policy->kind), cpu);
    }
    return text;
}

void tt_meter_show_setup(const struct tt_meter_job *job)
{
    char policy[TT_METER_POLICY_TEXT];
    char time[TT_DURATION_TEXT];

    printf("%s, a computation of %u %% of each fragment, policy %s, %s for each load, files of "
           "loads in %s\n",
           job->device ? job->device : "A device in exact time", job->compute_percent,
           tt_meter_show_policy(job, policy), tt_duration_text(job->cell_ns, time),
           job->folder ? job->folder : "this folder");
    fflush(stdout);
}

const char *tt_meter_show_policy_advice(enum tt_policy_kind kind, int error)
{
    if (kind == TT_POLICY_DEADLINE) {
        return " Root has it, where not too much is promised to others already, and where the "
               "thread is not kept on a processor.";
    }
    return error == -EPERM
               ? " Root has it, and who has a limit for it (rtprio in limits.conf; ulimit -r)."
               : "";
}

/* The first refusal, if any. */
static int find_refusal(const struct tt_meter_row *rows, size_t n)
{
    for (size_t r = 0; r < n; r++) {
        for (size_t i = 0; i < rows[r].count; i++) {
            if (rows[r].results[i].policy_error) {
                return rows[r].results[i].policy_error;
            }
        }
    }
    return 0;
}

static void say_refused(const struct tt_meter_job *job, const struct tt_meter_row *rows, size_t n)
{
    int error = find_refusal(rows, n);

    if (error == -EPERM && job->policy.kind != TT_POLICY_DEADLINE) {
        printf("Policy %s was refused: the loop had no real-time priority, and waited for all "
               "others. \"This machine\", above, says what that takes.\n",
               tt_policy_name(job->policy.kind));
    } else if (error) {
        printf("Policy %s could not be had: %s; the loop had no real-time priority.%s\n",
               tt_policy_name(job->policy.kind), strerror(-error),
               tt_meter_show_policy_advice(job->policy.kind, error));
    }
}

static void print_latency(const char *what, const struct tt_hist *hist)
{
    if (hist && hist->n > 0) {
        printf("%s: %" PRIu64 " %s, p50 %.2f ms, max %.2f ms\n", what, hist->n,
               tt_plural(hist->n, "time", "times"), (double)tt_hist_percentile(hist, 500) / 1e6,
               (double)hist->max / 1e6);
    } else if (hist) {
        printf("%s: none came\n", what);
    }
}

static void print_row(const struct tt_meter_row *row)
{
    struct tt_table table;
    char shape[TT_DURATION_TEXT];

    printf("\n%s%s: each period accounted for; lateness in us\n",
           tt_meter_shape_text(&row->shape, shape), row->tuned ? ", tuned" : "");
    tt_meter_table_periods(&table, row);
    tt_table_print(&table, stdout);
    tt_table_done(&table);
    if (tt_meter_table_causes(&table, row) > 0) {
        printf("\n");
        tt_table_print(&table, stdout);
    }
    tt_table_done(&table);
    for (size_t i = 0; i < row->count; i++) {
        char what[64];

        snprintf(what, sizeof(what), "MIDI in to audio out under %s",
                 tt_meter_load_text(row->results[i].load_name));
        print_latency(what, row->results[i].midi);
        snprintf(what, sizeof(what), "Round trip under %s",
                 tt_meter_load_text(row->results[i].load_name));
        print_latency(what, row->results[i].round_trip);
        if (row->results[i].load.error) {
            printf("The load %s ended early: %s\n", row->results[i].load_name,
                   strerror(-row->results[i].load.error));
        }
        if (row->results[i].left_out > 0) {
            printf("Not in the distributions, as nobody came to take them: %" PRIu64 " %s\n",
                   row->results[i].left_out,
                   tt_plural(row->results[i].left_out, "cycle", "cycles"));
        }
    }
}

static void print_machine(const struct tt_meter_job *job, const struct tt_meter_row *rows,
                          size_t row_count)
{
    struct tt_advice lines[TT_ADVICE_LINES];
    size_t n = find_advice(job, rows, row_count, lines);

    printf("\nThis machine\n");
    for (size_t i = 0; i < n; i++) {
        printf("  %-22s %s\n", lines[i].name, lines[i].value);
        if (lines[i].advice[0]) {
            printf("  %-22s -> %s\n", "", lines[i].advice);
        }
    }
}

static int64_t own_cost_ns(const struct tt_meter_row *rows, size_t n)
{
    int64_t most = 0;

    for (size_t r = 0; r < n; r++) {
        for (size_t i = 0; i < rows[r].count; i++) {
            most = rows[r].results[i].own_ns > most ? rows[r].results[i].own_ns : most;
        }
    }
    return most;
}

void tt_meter_show_text(const struct tt_meter_job *job, const struct tt_meter_row *rows, size_t n)
{
    struct tt_meter_table worst;
    bool any_tuned = false;

    printf("\nWorst latency in ms (times the device ran empty; timer: missed periods)\n");
    tt_meter_table_worst(&worst, rows, n);
    tt_table_print(&worst.table, stdout);
    tt_table_done(&worst.table);
    for (size_t r = 0; r < n; r++) {
        print_row(&rows[r]);
    }
    print_machine(job, rows, n);
    printf("  %-22s %.2f us a cycle at most\n", "the meter itself",
           (double)own_cost_ns(rows, n) / 1e3);
    printf("\n");
    say_refused(job, rows, n);
    for (size_t r = 0; r < n; r++) {
        struct tt_verdict verdict;
        char text[TT_METER_TEXT];

        tt_meter_verdict_find(&rows[r], &verdict);
        printf("%s.\n", tt_meter_verdict_text(&rows[r], &verdict, text));
        any_tuned = any_tuned || rows[r].tuned;
    }
    if (any_tuned) {
        printf("As found and tuned took turns under each load. Whether they differ by more than "
               "chance: `tactus meter compare default tuned`.\n");
    }
}

json_t *tt_meter_show_json(const struct tt_meter_job *job, const struct tt_meter_row *rows,
                           size_t n)
{
    struct tt_advice lines[TT_ADVICE_LINES];
    json_t *array = json_array();
    char policy[TT_METER_POLICY_TEXT];
    size_t count = find_advice(job, rows, n, lines);

    for (size_t r = 0; r < n; r++) {
        json_array_append_new(array, tt_meter_row_json(&rows[r]));
    }
    return json_pack("{s:s?, s:s, s:o, s:i, s:I, s:b, s:o, s:o, s:b}", "device", job->device,
                     "policy", tt_meter_show_policy(job, policy), "cpu",
                     tt_json_known(job->policy.cpu, 0), "compute_percent",
                     (int)job->compute_percent, "cell_ns", (json_int_t)job->cell_ns,
                     "policy_granted", find_refusal(rows, n) == 0, "rows", array, "machine",
                     tt_meter_advice_json(lines, count), "interrupted", tt_cli_interrupted());
}
