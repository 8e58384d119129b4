/*
 * See meter_saved.h. What both measured is compared cell by cell: the same buffer, the same load.
 */
#include "cli/meter_saved.h"

#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "report/json.h"
#include "report/meter_compare_text.h"
#include "report/meter_json.h"
#include "report/table.h"

#define COMMAND "tactus meter compare"

struct comparison {
    json_t *files[2];
    struct tt_meter_saved saved[2];
    struct tt_compare_work work;
    json_t *cells; /* of the answer */
    struct tt_table table;
    size_t compared;
    size_t answered;
    bool worse;
};

static const struct tt_column columns[] = {
    {"buffer", TT_ALIGN_LEFT},     {"load", TT_ALIGN_LEFT}, {"figure", TT_ALIGN_LEFT},
    {"A", TT_ALIGN_RIGHT},         {"B", TT_ALIGN_RIGHT},   {"B - A", TT_ALIGN_RIGHT},
    {"A/A floor", TT_ALIGN_RIGHT}, {"p", TT_ALIGN_RIGHT},   {"B is", TT_ALIGN_LEFT},
};

static enum tt_exit load(const char *path, json_t **ret_file)
{
    json_error_t error;
    json_t *file = json_load_file(path, JSON_REJECT_DUPLICATES, &error);

    if (!file) {
        tt_cli_say(COMMAND, "cannot read %s: %s", path, error.text);
        return TT_EXIT_USAGE;
    }
    if (!json_is_array(json_object_get(file, "rows"))) {
        tt_cli_say(COMMAND, "%s is not what `tactus meter --json` makes", path);
        json_decref(file);
        return TT_EXIT_USAGE;
    }
    *ret_file = file;
    return TT_EXIT_GOOD;
}

/* The same cell of the other file. */
static bool find_other(struct comparison *c)
{
    for (size_t i = 0; tt_meter_saved_get(c->files[1], i, &c->saved[1]); i++) {
        if (c->saved[1].count > 0 && strcmp(c->saved[0].buffer, c->saved[1].buffer) == 0 &&
            strcmp(c->saved[0].load, c->saved[1].load) == 0) {
            return true;
        }
    }
    return false;
}

/* Windows of one length: the shorter ones become longer. */
static void level(struct tt_meter_saved saved[2])
{
    for (int i = 0; i < 2; i++) {
        while (saved[i].window_ns < saved[1 - i].window_ns && saved[i].count > 1) {
            tt_windows_halve(saved[i].median_late_ns, saved[i].misses, &saved[i].count,
                             &saved[i].window_ns);
        }
    }
}

static void add_row(struct comparison *c, const char *figure,
                    const struct tt_compare_result *result, double scale)
{
    const struct tt_meter_saved *saved = &c->saved[0];
    bool few = result->answer == TT_COMPARE_TOO_FEW;

    tt_table_cell(&c->table, "%s", saved->buffer);
    tt_table_cell(&c->table, "%s", tt_meter_load_text(saved->load));
    tt_table_cell(&c->table, "%s", figure);
    tt_table_cell(&c->table, few ? "-" : "%.2f", result->a * scale);
    tt_table_cell(&c->table, few ? "-" : "%.2f", result->b * scale);
    tt_table_cell(&c->table, few ? "-" : "%+.2f", result->difference * scale);
    tt_table_cell(&c->table, few ? "-" : "%.2f", result->floor * scale);
    tt_table_cell(&c->table, few ? "-" : "%.3f", result->p);
    tt_table_cell(&c->table, "%s", tt_compare_answer_text(result->answer));
    c->worse = c->worse || result->answer == TT_COMPARE_WORSE;
    c->answered += !few;
}

static void compare_cell(struct comparison *c)
{
    struct tt_compare_result results[2];
    struct tt_compare_input input = {.a_count = c->saved[0].count, .b_count = c->saved[1].count};

    level(c->saved);
    input.a_count = c->saved[0].count;
    input.b_count = c->saved[1].count;
    input.a = c->saved[0].median_late_ns;
    input.b = c->saved[1].median_late_ns;
    tt_compare(&input, &c->work, &results[0]);
    input.a = c->saved[0].misses;
    input.b = c->saved[1].misses;
    tt_compare(&input, &c->work, &results[1]);
    add_row(c, "lateness, us", &results[0], 1e-3);
    add_row(c, "missed periods", &results[1], 1);
    json_array_append_new(c->cells, json_pack("{s:s, s:s, s:o, s:o}", "buffer", c->saved[0].buffer,
                                              "load", c->saved[0].load, "median_late_ns",
                                              tt_meter_compare_json(&results[0]), "misses",
                                              tt_meter_compare_json(&results[1])));
    c->compared++;
}

static void show(const struct comparison *c, const char *const paths[2], bool json)
{
    json_t *object;

    if (!json) {
        printf("A  %s\nB  %s\nFigures of a window; runs one after the other: what the machine did "
               "between them is in the differences.\n",
               paths[0], paths[1]);
        tt_table_print(&c->table, stdout);
        return;
    }
    object = json_pack("{s:o, s:o, s:O}", "a", tt_json_name(paths[0]), "b", tt_json_name(paths[1]),
                       "cells", c->cells);
    tt_json_print_line(stdout, object);
    json_decref(object);
}

static enum tt_exit compare_files(struct comparison *c, const char *const paths[2], bool json)
{
    for (size_t i = 0; tt_meter_saved_get(c->files[0], i, &c->saved[0]); i++) {
        if (c->saved[0].count > 0 && find_other(c)) {
            compare_cell(c);
        }
    }
    if (c->compared == 0) {
        tt_cli_say(COMMAND, "%s and %s measured nothing in common: no buffer under the same load",
                   paths[0], paths[1]);
        return TT_EXIT_USAGE;
    }
    show(c, paths, json);
    if (c->answered == 0) {
        tt_cli_say(COMMAND, "fewer than %d windows of each: measure longer (--time)",
                   TT_COMPARE_WINDOWS_MIN);
        return TT_EXIT_INCONCLUSIVE;
    }
    return c->worse ? TT_EXIT_NEGATIVE : TT_EXIT_GOOD;
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
    code = load(paths[0], &c->files[0]);
    code = code == TT_EXIT_GOOD ? load(paths[1], &c->files[1]) : code;
    code = code == TT_EXIT_GOOD ? compare_files(c, paths, json) : code;
    json_decref(c->files[0]);
    json_decref(c->files[1]);
    json_decref(c->cells);
    tt_table_done(&c->table);
    free(c);
    return code;
}
