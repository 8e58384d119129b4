/*
 * See rules.h: the script's words.
 */
#include "rules.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "audio/config_value.h"
#include "audio/eth.h"
#include "base/attr.h"
#include "base/bytes.h"
#include "base/ns.h"
#include "field.h"

#define WORDS_MAX     24
#define DELAY_MOST_NS (60 * TT_NS_PER_S)

/* A line being read: its words, and where the reading stands. */
struct rig_line {
    const char *words[WORDS_MAX + 1]; /* NULL behind the last */
    size_t at;
    struct rig_error *error;
};

static int complain(struct rig_line *line, const char *format, ...) TT_PRINTF(2, 3);

static int complain(struct rig_line *line, const char *format, ...)
{
    va_list arguments;

    va_start(arguments, format);
    vsnprintf(line->error->text, sizeof line->error->text, format, arguments);
    va_end(arguments);
    return -EINVAL;
}

static const char *peek(const struct rig_line *line)
{
    return line->words[line->at];
}

/* Takes the next word where it is this one. */
static bool take(struct rig_line *line, const char *word)
{
    bool is = peek(line) && strcmp(peek(line), word) == 0;

    line->at += is;
    return is;
}

/* The next word, or NULL with a complaint. */
static const char *need(struct rig_line *line, const char *what, const char *example)
{
    if (!peek(line)) {
        complain(line, "%s is missing; give %s", what, example);
        return NULL;
    }
    return line->words[line->at++];
}

static int need_number(struct rig_line *line, const char *what, int64_t least, int64_t most,
                       int64_t *ret_value)
{
    const char *word;
    const char *why;
    int64_t value;
    char range[64];

    snprintf(range, sizeof range, "a number from %lld to %lld", (long long)least, (long long)most);
    word = need(line, what, range);
    if (!word) {
        return -EINVAL;
    }
    why = tt_value_number(word, &value);
    if (!why && (value < least || value > most)) {
        why = "is out of range";
    }
    if (why) {
        return complain(line, "%s \"%.24s\" %s; give %s", what, word, why, range);
    }
    *ret_value = value;
    return 0;
}

/* Optional: 1 where the line ends here. */
static int maybe_number(struct rig_line *line, const char *what, int64_t most, int64_t *ret_value)
{
    *ret_value = 1;
    return peek(line) ? need_number(line, what, 1, most, ret_value) : 0;
}

static int time_of(struct rig_line *line, const char *what, const char *word, int64_t *ret_ns)
{
    const char *why = tt_value_time(word, ret_ns);

    if (!why && *ret_ns > DELAY_MOST_NS) {
        why = "is longer than a minute";
    }
    return why ? complain(line, "%s \"%.24s\" %s; give a time like 300us, 2ms or 1s", what, word,
                          why)
               : 0;
}

static int need_time(struct rig_line *line, const char *what, int64_t *ret_ns)
{
    const char *word;

    word = need(line, what, "a time like 300us, 2ms or 1s");
    if (!word) {
        return -EINVAL;
    }
    return time_of(line, what, word, ret_ns);
}

/* "A-B", "A-" or "A" in two; `ret_last` is empty where nothing follows the dash, NULL without one.
 */
static void split_range(const char *word, char first[RIG_LINE_BYTES], const char **ret_last)
{
    const char *dash = strchr(word, '-');
    size_t length = dash ? (size_t)(dash - word) : strlen(word);

    memcpy(first, word, length);
    first[length] = 0;
    *ret_last = dash ? dash + 1 : NULL;
}

static int read_indices(struct rig_line *line, struct rig_rule *rule)
{
    char text[RIG_LINE_BYTES];
    const char *last_text;
    const char *word;
    int64_t first;
    int64_t last;

    word = need(line, "pdu", "an index (from 0) or a range like 100-199 or 100-");
    if (!word) {
        return -EINVAL;
    }
    split_range(word, text, &last_text);
    if (tt_value_number(text, &first) ||
        (last_text && last_text[0] != 0 && tt_value_number(last_text, &last))) {
        return complain(line, "pdu \"%.24s\" is no range; give an index (from 0), 100-199 or 100-",
                        word);
    }
    if (!last_text) {
        last = first;
    } else if (last_text[0] == 0) {
        last = INT64_MAX;
    }
    if (last < first) {
        return complain(line, "pdu \"%.24s\" ends before it begins; give the lower index first",
                        word);
    }
    rule->first = (uint64_t)first;
    rule->last = (uint64_t)last;
    return 0;
}

static int read_times(struct rig_line *line, struct rig_rule *rule)
{
    char text[RIG_LINE_BYTES];
    const char *last_text;
    const char *word;

    word = need(line, "time", "a range like 500ms-2s or 500ms-");
    if (!word) {
        return -EINVAL;
    }
    split_range(word, text, &last_text);
    if (!last_text) {
        return complain(line, "time \"%.24s\" is no range; give one like 500ms-2s or 500ms-", word);
    }
    if (time_of(line, "time", text, &rule->from_ns) < 0 ||
        (last_text[0] != 0 && time_of(line, "time", last_text, &rule->until_ns) < 0)) {
        return -EINVAL;
    }
    if (rule->until_ns < rule->from_ns) {
        return complain(line, "time \"%.24s\" ends before it begins; give the earlier one first",
                        word);
    }
    return 0;
}

/* "1%", "0.25%": of 2^32. */
static int read_chance(struct rig_line *line, struct rig_rule *rule)
{
    const char *word;
    char *end;
    double percent;

    word = need(line, "chance", "a percentage like 1% or 0.25%");
    if (!word) {
        return -EINVAL;
    }
    percent = strtod(word, &end);
    if (word[0] < '0' || word[0] > '9' || strcmp(end, "%") != 0 || !(percent <= 100)) {
        return complain(line,
                        "chance \"%.24s\" is no percentage; give one like 1%% or 0.25%%, up to "
                        "100%%",
                        word);
    }
    rule->chance = (uint64_t)(percent * 42949672.96);
    return 0;
}

/* One condition, if there is one: 1; 0: what follows is the action. */
static int read_condition(struct rig_line *line, struct rig_rule *rule)
{
    int64_t every;
    int error = 0;

    if (take(line, "pdu")) {
        error = read_indices(line, rule);
    } else if (take(line, "every")) {
        error = need_number(line, "every", 1, INT32_MAX, &every);
        rule->every = error == 0 ? (uint64_t)every : 1;
    } else if (take(line, "time")) {
        error = read_times(line, rule);
    } else if (take(line, "chance")) {
        error = read_chance(line, rule);
    } else if (take(line, "original")) {
        rule->lane = RIG_ORIGINAL;
    } else if (take(line, "copy")) {
        rule->lane = RIG_COPY;
    } else {
        return 0;
    }
    return error < 0 ? error : 1;
}

static int read_delay(struct rig_line *line, struct rig_rule *rule)
{
    int error;

    if (take(line, "uniform")) {
        rule->spread = RIG_UNIFORM;
    } else if (take(line, "normal")) {
        rule->spread = RIG_NORMAL;
    } else if (take(line, "exponential")) {
        rule->spread = RIG_EXPONENTIAL;
    }
    error = need_time(line, "delay", &rule->a);
    if (error == 0 && (rule->spread == RIG_UNIFORM || rule->spread == RIG_NORMAL)) {
        error = need_time(line, "delay", &rule->b);
    }
    if (error == 0 && rule->spread == RIG_UNIFORM && rule->b < rule->a) {
        return complain(line, "delay uniform ends before it begins; give the shorter one first");
    }
    return error;
}

static int read_drift(struct rig_line *line, struct rig_rule *rule)
{
    const char *word;
    const char *digits;
    int64_t ppm;

    word = need(line, "stamp drift", "parts per million like 200 or -200");
    if (!word) {
        return -EINVAL;
    }
    digits = word + (word[0] == '-' || word[0] == '+');
    if (tt_value_number(digits, &ppm) || ppm > 10000) {
        return complain(line,
                        "stamp drift \"%.24s\" will not do; give parts per million like 200 or "
                        "-200, up to 10000",
                        word);
    }
    rule->spread = RIG_DRIFT;
    rule->a = (word[0] == '-' ? -ppm : ppm) * 1000;
    return 0;
}

static int read_stamp(struct rig_line *line, struct rig_rule *rule)
{
    const char *word;

    if (take(line, "drift")) {
        return read_drift(line, rule);
    }
    if (take(line, "jitter")) {
        if (need_time(line, "stamp jitter", &rule->b) < 0) {
            return -EINVAL;
        }
        rule->spread = RIG_UNIFORM;
        rule->a = -rule->b;
        return 0;
    }
    word = need(line, "stamp", "+T, -T, jitter T or drift PPM");
    if (!word) {
        return -EINVAL;
    }
    if (word[0] != '+' && word[0] != '-') {
        return complain(line, "stamp \"%.24s\" has no sign; give +T, -T, jitter T or drift PPM",
                        word);
    }
    if (time_of(line, "stamp", word + 1, &rule->a) < 0) {
        return -EINVAL;
    }
    rule->a = word[0] == '-' ? -rule->a : rule->a;
    return 0;
}

static uint64_t mac_value(const uint8_t mac[6])
{
    return (uint64_t)tt_get_be16(mac) << 32 | tt_get_be32(mac + 2);
}

static int read_value(struct rig_line *line, struct rig_rule *rule, const char *word)
{
    const struct rig_field *field = &rig_fields[rule->field];
    uint64_t most = rig_field_most(field);
    uint8_t mac[6];
    int64_t number;

    if (rule->field == rig_field_source) {
        if (tt_mac_parse(word, mac) < 0) {
            return complain(line,
                            "source \"%.24s\" is no MAC address; give one like "
                            "02:00:00:00:00:09",
                            word);
        }
        rule->value = mac_value(mac);
        return 0;
    }
    if (rule->field == rig_field_stream) {
        return tt_stream_id_parse(word, &rule->value) == 0
                   ? 0
                   : complain(line,
                              "stream \"%.24s\" is no stream ID; give one like "
                              "02:00:00:00:00:01:0002",
                              word);
    }
    rule->is_added = word[0] == '+' || word[0] == '-';
    if (tt_value_number(word + rule->is_added, &number) || (uint64_t)number > most) {
        return complain(line,
                        "%s \"%.24s\" will not do; give a number up to %llu, or +N or -N to add",
                        field->name, word, (unsigned long long)most);
    }
    rule->value = word[0] == '-' ? (uint64_t)-number : (uint64_t)number;
    return 0;
}

static int read_set(struct rig_line *line, struct rig_rule *rule)
{
    char names[160] = "";
    const char *name;
    const char *word;

    for (size_t i = 0; i < rig_field_count; i++) {
        size_t used = strlen(names);

        snprintf(names + used, sizeof names - used, "%s%s", i > 0 ? ", " : "", rig_fields[i].name);
    }
    name = need(line, "set", "a field and its value");
    if (!name) {
        return -EINVAL;
    }
    for (rule->field = 0; rule->field < rig_field_count; rule->field++) {
        if (strcmp(rig_fields[rule->field].name, name) == 0) {
            word = need(line, name, "its value, or +N or -N to add");
            return word ? read_value(line, rule, word) : -EINVAL;
        }
    }
    return complain(line, "\"%.24s\" is no field; there are: %s", name, names);
}

static int read_reorder(struct rig_line *line, struct rig_rule *rule)
{
    return maybe_number(line, "reorder", 10000, &rule->a);
}

static int read_duplicate(struct rig_line *line, struct rig_rule *rule)
{
    return maybe_number(line, "duplicate", RIG_PACKETS_MAX - 1, &rule->a);
}

static int read_corrupt(struct rig_line *line, struct rig_rule *rule)
{
    return maybe_number(line, "corrupt", 10000, &rule->a);
}

static int read_burst(struct rig_line *line, struct rig_rule *rule)
{
    return need_number(line, "burst", 2, 10000, &rule->a);
}

static int read_pause(struct rig_line *line, struct rig_rule *rule)
{
    return need_time(line, "pause", &rule->a);
}

static int read_bytes(struct rig_line *line, struct rig_rule *rule)
{
    return need_number(line, rule->action == RIG_EXTEND ? "extend" : "truncate", 0, 10000,
                       &rule->a);
}

static int read_nothing(struct rig_line *line, struct rig_rule *rule)
{
    (void)line;
    (void)rule;
    return 0;
}

static const struct {
    const char *name;
    int (*read)(struct rig_line *line, struct rig_rule *rule);
} actions[RIG_ACTIONS] = {
    [RIG_DROP] = {"drop", read_nothing},
    [RIG_DUPLICATE] = {"duplicate", read_duplicate},
    [RIG_DELAY] = {"delay", read_delay},
    [RIG_REORDER] = {"reorder", read_reorder},
    [RIG_BURST] = {"burst", read_burst},
    [RIG_PAUSE] = {"pause", read_pause},
    [RIG_CORRUPT] = {"corrupt", read_corrupt},
    [RIG_TRUNCATE] = {"truncate", read_bytes},
    [RIG_EXTEND] = {"extend", read_bytes},
    [RIG_STAMP] = {"stamp", read_stamp},
    [RIG_SET] = {"set", read_set},
};

#define ACTION_NAMES                                                                               \
    "drop, duplicate, delay, reorder, burst, pause, corrupt, truncate, extend, stamp, set"

static int read_action(struct rig_line *line, struct rig_rule *rule)
{
    const char *word;

    word = need(line, "an action", ACTION_NAMES);
    if (!word) {
        return -EINVAL;
    }
    for (int action = 0; action < RIG_ACTIONS; action++) {
        if (strcmp(actions[action].name, word) == 0) {
            rule->action = (enum rig_action)action;
            return actions[action].read(line, rule);
        }
    }
    return complain(line,
                    "\"%.24s\" is no condition and no action; there are: pdu, every, time, "
                    "chance, original, copy; " ACTION_NAMES,
                    word);
}

static int read_rule(struct rig_line *line, struct rig_rule *rule)
{
    int more = 1;

    rule->last = INT64_MAX;
    rule->every = 1;
    rule->until_ns = INT64_MAX;
    rule->chance = UINT64_C(1) << 32;
    while (more == 1) {
        more = read_condition(line, rule);
    }
    if (more < 0 || read_action(line, rule) < 0) {
        return -EINVAL;
    }
    return peek(line) ? complain(line, "\"%.24s\" is too much; one action a line", peek(line)) : 0;
}

/* Cuts `text` into its words, up to a comment. */
static int split_words(struct rig_line *line, char *text)
{
    char *rest = NULL;
    size_t n = 0;

    text[strcspn(text, "#")] = 0;
    for (const char *c = text; *c != 0; c++) {
        if ((*c < ' ' || *c > '~' || *c == '"' || *c == '\\') && *c != '\t' && *c != '\r') {
            return complain(line,
                            "a character of code %u; give letters, digits and + - . : %% alone",
                            (unsigned)(unsigned char)*c);
        }
    }
    for (char *word = strtok_r(text, " \t\r", &rest); word; word = strtok_r(NULL, " \t\r", &rest)) {
        if (n == WORDS_MAX) {
            return complain(line, "more than %d words; one action a line", WORDS_MAX);
        }
        line->words[n++] = word;
    }
    line->words[n] = NULL;
    return 0;
}

/* Its words with single spaces, for reports. */
static void join_words(const struct rig_line *line, char ret_text[RIG_LINE_BYTES])
{
    size_t used = 0;

    ret_text[0] = 0;
    for (size_t i = 0; line->words[i]; i++) {
        used += (size_t)snprintf(ret_text + used, RIG_LINE_BYTES - used, "%s%s", i > 0 ? " " : "",
                                 line->words[i]);
    }
}

static int read_line(struct rig_rules *rules, const char *text, size_t length, uint64_t *seed,
                     struct rig_error *error)
{
    struct rig_line line = {.error = error};
    struct rig_rule rule = {.line = error->line};
    char copy[RIG_LINE_BYTES];
    int64_t number;

    if (length >= sizeof copy) {
        return complain(&line, "longer than %d characters; one action a line", RIG_LINE_BYTES - 1);
    }
    memcpy(copy, text, length);
    copy[length] = 0;
    if (split_words(&line, copy) < 0) {
        return -EINVAL;
    }
    if (!peek(&line)) {
        return 0;
    }
    join_words(&line, rule.text);
    if (take(&line, "seed")) {
        if (need_number(&line, "seed", 0, INT64_MAX, &number) < 0) {
            return -EINVAL;
        }
        *seed = (uint64_t)number;
        return peek(&line)
                   ? complain(&line, "\"%.24s\" is too much; a seed is one number", peek(&line))
                   : 0;
    }
    if (rules->count == RIG_RULES_MAX) {
        return complain(&line, "more than %d rules; leave some out", RIG_RULES_MAX);
    }
    if (read_rule(&line, &rule) < 0) {
        return -EINVAL;
    }
    rules->rules[rules->count++] = rule;
    return 0;
}

int rig_rules_parse(const char *script, struct rig_rules *ret_rules, struct rig_error *ret_error)
{
    struct rig_rules rules = {.count = 0};
    struct rig_error error = {.line = 0};
    uint64_t seed = 1;

    for (const char *text = script; *text != 0;) {
        size_t length = strcspn(text, "\n");

        error.line++;
        if (read_line(&rules, text, length, &seed, &error) < 0) {
            *ret_error = error;
            return -EINVAL;
        }
        text += length + (text[length] != 0);
    }
    for (size_t i = 0; i < rules.count; i++) {
        rules.rules[i].random = seed * UINT64_C(0xD1342543DE82EF95) + rules.rules[i].line;
    }
    *ret_rules = rules;
    return 0;
}
