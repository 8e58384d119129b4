/*
 * See meter_saved.h. What both measured is compared cell by cell: the same buffer, the same load.
 */
#include "cli/meter_saved.h"

#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/meter_differences.h"
#include "report/json.h"
#include "report/meter_compare_text.h"
#include "report/meter_json.h"
#include "report/table.h"

#define COMMAND "tactus meter compare"

/* A file, and the cell of it that is compared. */
struct side {
    const char *path;
    json_t *file;
    const char *policy; /* or NULL, as with all that an older file does not say */
    bool refused;       /* the policy */
    struct tt_meter_saved saved;
};

struct comparison {
    struct side sides[2];
    struct tt_compare_work work;
    json_t *differences;
    json_t *cells; /* of the answer */
    struct tt_table table;
    size_t common; /* cells */
    size_t compared;
    size_t answered;
    bool worse;
};

static const struct tt_column columns[] = {
    {"buffer", TT_ALIGN_LEFT},       {"load", TT_ALIGN_LEFT}, {"figure", TT_ALIGN_LEFT},
    {"A", TT_ALIGN_RIGHT},           {"B", TT_ALIGN_RIGHT},   {"B - A", TT_ALIGN_RIGHT},
    {"A/A floor", TT_ALIGN_RIGHT},   {"p", TT_ALIGN_RIGHT},   {"windows", TT_ALIGN_RIGHT},
    {"with any: A", TT_ALIGN_RIGHT}, {"B", TT_ALIGN_RIGHT},   {"B is", TT_ALIGN_LEFT},
};

static enum tt_exit say_damage(const char *path, const char *what)
{
    tt_cli_say(COMMAND, "%s: %s. Measure again, with `tactus meter --json > %s`", path, what, path);
    return TT_EXIT_USAGE;
}

/* A damaged cell casts doubt on all. */
static enum tt_exit check_cells(struct side *side)
{
    char what[256];

    for (size_t i = 0; tt_meter_saved_get(side->file, i, &side->saved); i++) {
        if (side->saved.damage) {
            snprintf(what, sizeof(what), "the result %s under %s is damaged: %s",
                     side->saved.buffer ? side->saved.buffer : "?",
                     side->saved.load ? tt_meter_load_text(side->saved.load) : "?",
                     side->saved.damage);
            return say_damage(side->path, what);
        }
    }
    return TT_EXIT_GOOD;
}

static enum tt_exit load(struct side *side)
{
    json_error_t error;
    char what[JSON_ERROR_TEXT_LENGTH + 64];

    side->file = json_load_file(side->path, JSON_REJECT_DUPLICATES, &error);
    if (!side->file && error.line < 0) {
        tt_cli_say(COMMAND, "%s", error.text);
        return TT_EXIT_USAGE;
    }
    if (!side->file) {
        snprintf(what, sizeof(what), "no whole JSON object, in line %d: %s", error.line,
                 error.text);
        return say_damage(side->path, what);
    }
    if (!json_is_array(json_object_get(side->file, "rows"))) {
        return say_damage(side->path,
                          "not what `tactus meter --json` makes: it has no list `rows`");
    }
    side->policy = json_string_value(json_object_get(side->file, "policy"));
    side->refused = json_is_false(json_object_get(side->file, "policy_granted"));
    return check_cells(side);
}

static bool is_same_cell(const struct tt_meter_saved *a, const struct tt_meter_saved *b)
{
    return strcmp(a->buffer, b->buffer) == 0 && strcmp(a->load, b->load) == 0 &&
           a->rate_hz == b->rate_hz && a->tuned == b->tuned;
}

/* The same cell of the other file. */
static bool find_other(struct comparison *c)
{
    struct tt_meter_saved *other = &c->sides[1].saved;

    for (size_t i = 0; tt_meter_saved_get(c->sides[1].file, i, other); i++) {
        if (is_same_cell(&c->sides[0].saved, other)) {
            return true;
        }
    }
    return false;
}

static void halve(struct tt_meter_saved *saved)
{
    tt_windows_halve(saved->median_late_ns, saved->misses, &saved->count, &saved->window_ns);
}

/* Windows of one length: the shorter ones become longer. Where that does not lead to one, there
 * are none. */
static void level(struct tt_meter_saved *a, struct tt_meter_saved *b)
{
    while (a->window_ns != b->window_ns && a->count > 0 && b->count > 0) {
        halve(a->window_ns < b->window_ns ? a : b);
    }
}

static void add_row(struct comparison *c, const char *figure,
                    const struct tt_compare_result *result, double scale, bool counts)
{
    const struct tt_meter_saved *saved = &c->sides[0].saved;
    bool few = result->answer == TT_COMPARE_TOO_FEW;

    if (saved->rate_hz > 0) {
        tt_table_cell(&c->table, "%s at %g kHz%s", saved->buffer, (double)saved->rate_hz / 1e3,
                      saved->tuned ? ", tuned" : "");
    } else {
        tt_table_cell(&c->table, "%s", saved->buffer);
    }
    tt_table_cell(&c->table, "%s", tt_meter_load_text(saved->load));
    tt_table_cell(&c->table, "%s", figure);
    tt_table_cell(&c->table, few ? "-" : "%.2f", result->a * scale);
    tt_table_cell(&c->table, few ? "-" : "%.2f", result->b * scale);
    tt_table_cell(&c->table, few ? "-" : "%+.2f", result->difference * scale);
    tt_table_cell(&c->table, few ? "-" : "%.2f", result->floor * scale);
    tt_table_cell(&c->table, few ? "-" : result->p < 0.001 ? "< 0.001" : "%.3f", result->p);
    tt_table_cell(&c->table, "%zu", result->windows);
    tt_table_cell(&c->table, few || !counts ? "-" : "%zu", result->a_any);
    tt_table_cell(&c->table, few || !counts ? "-" : "%zu", result->b_any);
    tt_table_cell(&c->table, "%s", tt_compare_answer_text(result->answer));
    c->worse = c->worse || result->answer == TT_COMPARE_WORSE;
    c->answered += !few;
}

static json_t *cell_json(const struct tt_meter_saved *saved,
                         const struct tt_compare_result results[2])
{
    json_t *rate = saved->rate_hz > 0 ? json_integer((json_int_t)saved->rate_hz) : json_null();

    return json_pack("{s:s, s:o, s:b, s:s, s:o, s:o}", "buffer", saved->buffer, "rate_hz", rate,
                     "tuned", saved->tuned, "load", saved->load, "median_late_ns",
                     tt_meter_compare_json(&results[0]), "misses",
                     tt_meter_compare_json(&results[1]));
}

static void compare_cell(struct comparison *c)
{
    struct tt_meter_saved *a = &c->sides[0].saved;
    struct tt_meter_saved *b = &c->sides[1].saved;
    struct tt_compare_result results[2];
    struct tt_compare_input input;

    level(a, b);
    input = (struct tt_compare_input){.a = a->median_late_ns,
                                      .b = b->median_late_ns,
                                      .a_count = a->count,
                                      .b_count = b->count,
                                      .asked = 2 * c->common};
    tt_compare(&input, &c->work, &results[0]);
    input.a = a->misses;
    input.b = b->misses;
    input.counts = true;
    tt_compare(&input, &c->work, &results[1]);
    add_row(c, "lateness, us", &results[0], 1e-3, false);
    add_row(c, "missed periods", &results[1], 1, true);
    json_array_append_new(c->cells, cell_json(a, results));
    c->compared++;
}

static bool is_refused_to_both(const struct comparison *c)
{
    return c->sides[0].refused && c->sides[1].refused && c->sides[0].policy && c->sides[1].policy &&
           strcmp(c->sides[0].policy, c->sides[1].policy) == 0;
}

/* What has to be known before all else; NULL: nothing. */
static const char *warning_text(const struct comparison *c, char text[TT_METER_TEXT])
{
    const struct side *refused = &c->sides[c->sides[0].refused ? 0 : 1];

    if (!refused->refused) {
        return NULL;
    }
    if (is_refused_to_both(c)) {
        snprintf(text, TT_METER_TEXT, "Policy %s was refused to A and to B: neither had it.",
                 refused->policy);
    } else {
        snprintf(
            text, TT_METER_TEXT,
            "Nothing can be said of A and B: policy %s was refused to %c, which ran without it, "
            "and the other not like it. Measure %c again where it is granted.",
            refused->policy ? refused->policy : "?", refused == c->sides ? 'A' : 'B',
            refused == c->sides ? 'A' : 'B');
    }
    return text;
}

static void show_text(const struct comparison *c, const char *warning)
{
    if (warning) {
        printf("%s\n", warning);
    }
    for (int i = 0; i < 2; i++) {
        const struct side *side = &c->sides[i];

        printf("%c  %s%s%s%s\n", 'A' + i, side->path, side->policy ? ", policy " : "",
               side->policy ? side->policy : "", side->refused ? " (refused)" : "");
    }
    tt_meter_differences_print(c->differences, stdout);
    printf("Figures of a window; runs one after the other: what the machine did between them is in "
           "the differences.\n");
    tt_table_print(&c->table, stdout);
}

static void show_json(const struct comparison *c, const char *warning)
{
    json_t *object =
        json_pack("{s:s?, s:o, s:o, s:b, s:b, s:O, s:O}", "warning", warning, "a",
                  tt_json_name(c->sides[0].path), "b", tt_json_name(c->sides[1].path),
                  "policy_a_granted", !c->sides[0].refused, "policy_b_granted",
                  !c->sides[1].refused, "differences", c->differences, "cells", c->cells);

    tt_json_print_line(stdout, object);
    json_decref(object);
}

static enum tt_exit judge(const struct comparison *c)
{
    if (c->answered == 0) {
        tt_cli_say(COMMAND,
                   "fewer than %d windows of each, or windows so alike that they count as fewer "
                   "than %d: measure longer (--time), or in turn (meter compare with settings)",
                   TT_COMPARE_WINDOWS_MIN, TT_COMPARE_BLOCKS_MIN);
        return TT_EXIT_INCONCLUSIVE;
    }
    if ((c->sides[0].refused || c->sides[1].refused) && !is_refused_to_both(c)) {
        return TT_EXIT_INCONCLUSIVE;
    }
    return c->worse ? TT_EXIT_NEGATIVE : TT_EXIT_GOOD;
}

static enum tt_exit compare_files(struct comparison *c, bool json)
{
    struct side *a = &c->sides[0];
    char text[TT_METER_TEXT];

    for (size_t i = 0; tt_meter_saved_get(a->file, i, &a->saved); i++) {
        c->common += find_other(c);
    }
    for (size_t i = 0; tt_meter_saved_get(a->file, i, &a->saved); i++) {
        if (find_other(c)) {
            compare_cell(c);
        }
    }
    if (c->compared == 0) {
        tt_cli_say(
            COMMAND,
            "%s and %s measured nothing in common: no buffer at the same rate under the same "
            "load",
            a->path, c->sides[1].path);
        return TT_EXIT_USAGE;
    }
    c->differences = tt_meter_differences(a->file, c->sides[1].file);
    (json ? show_json : show_text)(c, warning_text(c, text));
    return judge(c);
}

enum tt_exit tt_meter_compare_saved(const char *const paths[2], bool json)
{
    struct comparison *c = calloc(1, sizeof(*c));
    enum tt_exit code;

    if (!c) {
        tt_cli_say(COMMAND, "out of memory");
        return TT_EXIT_ENVIRONMENT;
    }
    c->cells = json_array();
    tt_table_init(&c->table, columns, TT_COUNT_OF(columns));
    c->sides[0].path = paths[0];
    c->sides[1].path = paths[1];
    code = load(&c->sides[0]);
    code = code == TT_EXIT_GOOD ? load(&c->sides[1]) : code;
    code = code == TT_EXIT_GOOD ? compare_files(c, json) : code;
    json_decref(c->sides[0].file);
    json_decref(c->sides[1].file);
    json_decref(c->differences);
    json_decref(c->cells);
    tt_table_done(&c->table);
    free(c);
    return code;
}
