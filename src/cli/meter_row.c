/*
 * See meter_row.h.
 */
#include "cli/meter_row.h"

#include <stdio.h>
#include <stdlib.h>

static bool came_to_nothing(const struct tt_meter_result *result)
{
    return result->interrupted && result->counters.expected == 0;
}

bool tt_meter_row_came_to_nothing(const struct tt_meter_row *row)
{
    return row->count == 0 || came_to_nothing(&row->results[0]);
}

static enum tt_exit begin_row(const struct tt_meter_job *job, const struct tt_fragment_shape *shape,
                              struct tt_meter_row *ret_row)
{
    *ret_row = (struct tt_meter_row){.shape = *shape,
                                     .results = calloc(job->load_count, sizeof(*ret_row->results))};
    if (!ret_row->results) {
        tt_cli_say(TT_METER_COMMAND, "out of memory");
        return TT_EXIT_ENVIRONMENT;
    }
    return TT_EXIT_GOOD;
}

/* One load more. */
static enum tt_exit extend_row(struct tt_meter_job *job, const struct tt_fragment_shape *shape,
                               enum tt_load_kind load, struct tt_meter_row *row)
{
    struct tt_meter_result *result = &row->results[row->count];
    struct tt_policy as_found = job->policy;
    enum tt_exit code;

    if (row->tuned) {
        tt_meter_job_tune(job);
    }
    code = tt_meter_job_run(job, shape, load, result);
    tt_meter_job_untune(job);
    job->policy = as_found;
    if (code != TT_EXIT_GOOD) {
        return code;
    }
    if (came_to_nothing(result) && row->count > 0) {
        tt_meter_job_free(result);
        return TT_EXIT_GOOD;
    }
    row->count++;
    row->shape = result->cell->shape;
    return TT_EXIT_GOOD;
}

enum tt_exit tt_meter_row_run(struct tt_meter_job *job, const struct tt_fragment_shape *shape,
                              struct tt_meter_row *ret_row, struct tt_meter_row *ret_tuned)
{
    struct tt_meter_row *const rows[] = {ret_row, ret_tuned};
    size_t count = ret_tuned ? 2 : 1;
    enum tt_exit code = begin_row(job, shape, ret_row);

    if (ret_tuned && code == TT_EXIT_GOOD) {
        code = begin_row(job, shape, ret_tuned);
        ret_tuned->tuned = true;
    }
    for (size_t i = 0; i < job->load_count; i++) {
        for (size_t half = 0; half < count; half++) {
            /* A B B A: a machine that drifts does so to both. */
            size_t which = count == 2 ? (i & 1) ^ half : 0;

            if (code == TT_EXIT_GOOD && (i + half == 0 || !tt_cli_interrupted())) {
                code = extend_row(job, shape, job->loads[i], rows[which]);
            }
        }
    }
    return code;
}

static enum tt_exit judge_required(const struct tt_meter_job *job, const struct tt_meter_row *row,
                                   const struct tt_verdict *verdict)
{
    char shape[TT_DURATION_TEXT];
    char measured[TT_DURATION_TEXT];
    char least[TT_DURATION_TEXT];

    tt_meter_shape_text(&row->shape, shape);
    if (tt_verdict_shows_held(verdict, tt_meter_buffer_ns(&row->shape))) {
        if (!job->json) {
            printf("%s is held, as required: at most 1 dropout in 10 s%s (95 %%).\n", shape,
                   row->count > 1 ? " of all loads in turn" : "");
        }
        return TT_EXIT_GOOD;
    }
    if (verdict->failed > 0) {
        tt_cli_say(TT_METER_COMMAND,
                   "%s cannot be said to be held: the load %s was not at work all the time; the "
                   "reason is above",
                   shape, row->results[verdict->first_failed].load_name);
        return TT_EXIT_INCONCLUSIVE;
    }
    tt_cli_say(
        TT_METER_COMMAND,
        "not enough data to say that %s is held: no dropout, but in %s only; that takes 30 s "
        "of all loads together, and %s under each. Give a longer --time",
        shape, tt_duration_text(verdict->measured_ns, measured),
        tt_duration_text(TT_VERDICT_HELD_BUFFERS * tt_meter_buffer_ns(&row->shape), least));
    return TT_EXIT_INCONCLUSIVE;
}

enum tt_exit tt_meter_row_judge(const struct tt_meter_job *job, const struct tt_meter_row *row)
{
    struct tt_verdict verdict;

    tt_meter_verdict_find(row, &verdict);
    switch (verdict.kind) {
    case TT_VERDICT_NOT_SAFE:
        return TT_EXIT_NEGATIVE;
    case TT_VERDICT_TOO_NOISY:
        return TT_EXIT_INCONCLUSIVE;
    default:
        return job->required ? judge_required(job, row, &verdict) : TT_EXIT_GOOD;
    }
}

void tt_meter_row_free(struct tt_meter_row *row)
{
    for (size_t i = 0; i < row->count; i++) {
        tt_meter_job_free(&row->results[i]);
    }
    free(row->results);
    *row = (struct tt_meter_row){0};
}
