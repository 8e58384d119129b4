/*
 * See gate_tc.h.
 */
#include "cli/gate_tc.h"

#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "audio/config_value.h"
#include "base/attr.h"
#include "base/word.h"

#define FLAG_ASSIST  1
#define FLAG_OFFLOAD 2

/* 3, "3" or "0x3". */
static int read_mask(const json_t *object, const char *key, const struct tt_gate_place *place,
                     int64_t *value)
{
    const json_t *member = json_object_get(object, key);
    unsigned long mask;
    char *end;

    if (!json_is_string(member)) {
        return tt_gate_value_integer(object, key, 0, UINT32_MAX, place, value);
    }
    errno = 0;
    mask = strtoul(json_string_value(member), &end, 0);
    if (end == json_string_value(member) || *end != 0 || errno != 0 || mask > UINT32_MAX) {
        return tt_say(-EINVAL, place->message, "%s: %s is no mask such as \"0x3\"", place->where,
                      key);
    }
    *value = (int64_t)mask;
    return 0;
}

static int read_entry(const json_t *json, const struct tt_gate_place *place,
                      struct tt_gate_entry *ret_entry)
{
    static const char *const commands[] = {"S", "H", "R"};
    const char *command = NULL;
    int64_t mask = -1;
    int64_t interval_ns = -1;
    int error = tt_gate_value_text(json, "cmd", place, &command);

    if (error == 0) {
        error = read_mask(json, "gatemask", place, &mask);
    }
    if (error == 0) {
        error = tt_gate_value_time(json, "interval", place, &interval_ns);
    }
    if (error != 0) {
        return error;
    }
    if (mask < 0 || interval_ns < 0) {
        return tt_say(-EINVAL, place->message, "%s: gatemask or interval is missing", place->where);
    }
    *ret_entry = (struct tt_gate_entry){.mask = (uint32_t)mask, .interval_ns = interval_ns};
    for (int i = 0; command && i < 3; i++) {
        if (strcmp(command, commands[i]) == 0) {
            ret_entry->command = (enum tt_gate_command)i;
            return 0;
        }
    }
    return command ? tt_say(-EINVAL, place->message, "%s: cmd is none of S, H and R", place->where)
                   : 0;
}

static int read_schedule(const json_t *list, const struct tt_gate_place *place,
                         struct tt_gate_port *port, struct tt_gate_entry **ret_entries)
{
    size_t n = json_array_size(list);
    struct tt_gate_entry *entries;
    int error = 0;

    if (!json_is_array(list)) {
        return tt_say(-EINVAL, place->message, "%s: schedule is no list", place->where);
    }
    if (n > TT_GATE_ENTRIES_MAX) {
        return tt_say(-EINVAL, place->message, "%s: %zu entries; 4096 are the most", place->where,
                      n);
    }
    entries = calloc(n + 1, sizeof(*entries));
    if (!entries) {
        return tt_say(-ENOMEM, place->message, "out of memory");
    }
    for (size_t i = 0; error == 0 && i < n; i++) {
        struct tt_gate_place at = {.message = place->message};

        snprintf(at.where, sizeof(at.where), "%.60s schedule[%zu]", place->where, i);
        error = read_entry(json_array_get(list, i), &at, &entries[i]);
    }
    if (error != 0) {
        free(entries);
        return error;
    }
    port->schedule.entries = entries;
    port->schedule.entry_count = n;
    *ret_entries = entries;
    return 0;
}

/* {"offset": 0, "count": 1}, or mqprio's [first, last]. */
static int read_queues(const json_t *queues, const struct tt_gate_place *place,
                       struct tt_gate_port *port)
{
    size_t n = json_array_size(queues);

    if (queues && (!json_is_array(queues) || n > TT_GATE_CLASSES)) {
        return tt_say(-EINVAL, place->message, "%s: queues is no list of up to 16", place->where);
    }
    for (size_t i = 0; i < n; i++) {
        const json_t *queue = json_array_get(queues, i);
        int64_t offset = json_integer_value(json_array_get(queue, 0));
        int64_t count = json_integer_value(json_array_get(queue, 1)) - offset + 1;
        int error = 0;

        if (json_is_object(queue)) {
            error = tt_gate_value_integer(queue, "offset", 0, 4095, place, &offset);
            count = 1;
            if (error == 0) {
                error = tt_gate_value_integer(queue, "count", 0, 4095, place, &count);
            }
        } else if (json_array_size(queue) != 2 || offset < 0 || offset > 4095 || count < 0 ||
                   count > 4095) {
            error = tt_say(-EINVAL, place->message, "%s: queues[%zu] has no offset and count",
                           place->where, i);
        }
        if (error != 0) {
            return error;
        }
        port->queue_offset[i] = (uint16_t)offset;
        port->queue_count[i] = (uint16_t)count;
    }
    return 0;
}

static int read_map(const json_t *options, const struct tt_gate_place *place,
                    struct tt_gate_port *port)
{
    const json_t *map = json_object_get(options, "map");
    int64_t classes = 0;
    int error = tt_gate_value_integer(options, "tc", 0, TT_GATE_CLASSES, place, &classes);

    if (error != 0) {
        return error;
    }
    if (map && (!json_is_array(map) || json_array_size(map) > TT_GATE_PRIORITIES)) {
        return tt_say(-EINVAL, place->message, "%s: map is no list of up to 16 classes",
                      place->where);
    }
    port->class_count = (unsigned)classes;
    for (size_t i = 0; i < json_array_size(map); i++) {
        const json_t *class = json_array_get(map, i);

        if (!json_is_integer(class) || json_integer_value(class) < 0 ||
            json_integer_value(class) >= TT_GATE_CLASSES) {
            return tt_say(-EINVAL, place->message, "%s: map[%zu] is no class", place->where, i);
        }
        port->class_of_priority[i] = (uint8_t)json_integer_value(class);
    }
    /* Without queues each class has its own, in order. */
    for (unsigned c = 0; c < port->class_count; c++) {
        port->queue_count[c] = 1;
        port->queue_offset[c] = (uint16_t)c;
    }
    return read_queues(json_object_get(options, "queues"), place, port);
}

static int read_max_sdu(const json_t *list, const struct tt_gate_place *place,
                        struct tt_gate_port *port)
{
    for (size_t i = 0; i < json_array_size(list) && i < TT_GATE_CLASSES; i++) {
        const json_t *bytes = json_array_get(list, i);

        if (!json_is_integer(bytes) || json_integer_value(bytes) < 0 ||
            json_integer_value(bytes) > 65535) {
            return tt_say(-EINVAL, place->message, "%s: max-sdu[%zu] is no number of bytes",
                          place->where, i);
        }
        port->max_sdu_bytes[i] = json_integer_value(bytes);
    }
    return 0;
}

/* As tc prints it, or with CLOCK_ in front. */
static enum tt_gate_clock clock_named(const char *name)
{
    static const char *const names[TT_GATE_CLOCK_UNKNOWN] = {"TAI", "REALTIME", "MONOTONIC",
                                                             "BOOTTIME"};
    unsigned clock = 0;

    name += strncmp(name, "CLOCK_", 6) == 0 ? 6 : 0;
    while (clock < TT_GATE_CLOCK_UNKNOWN && strcmp(name, names[clock]) != 0) {
        clock++;
    }
    return (enum tt_gate_clock)clock;
}

static int read_mode(const json_t *options, const struct tt_gate_place *place,
                     struct tt_gate_port *port)
{
    const char *clock = NULL;
    int64_t flags = 0;
    int error = tt_gate_value_text(options, "clockid", place, &clock);

    if (error == 0) {
        error = read_mask(options, "flags", place, &flags);
    }
    if (error != 0) {
        return error;
    }
    port->clock_given = clock && strcmp(clock, "invalid") != 0;
    port->clock = port->clock_given ? clock_named(clock) : TT_GATE_CLOCK_TAI;
    port->mode = flags & FLAG_OFFLOAD  ? TT_GATE_OFFLOAD
                 : flags & FLAG_ASSIST ? TT_GATE_ASSIST
                                       : TT_GATE_SOFTWARE;
    error = tt_gate_value_bool(options, "size_table", place, &port->size_table);
    return error ? error
                 : tt_gate_value_time(options, "txtime_delay", place, &port->txtime_delay_ns);
}

int tt_gate_tc_taprio(const json_t *options, const struct tt_gate_place *place,
                      struct tt_gate_port *port, struct tt_gate_entry **ret_entries)
{
    struct tt_gate_schedule *s = &port->schedule;
    const json_t *list = json_object_get(options, "schedule");
    int error = read_map(options, place, port);

    port->has_schedule = true;
    if (error == 0) {
        error = read_mode(options, place, port);
    }
    if (error == 0) {
        error = tt_gate_value_integer(options, "base_time", -TT_GATE_TIME_MAX, TT_GATE_TIME_MAX,
                                      place, &s->base_tai_ns);
    }
    if (error == 0) {
        error = tt_gate_value_time(options, "cycle_time", place, &s->cycle_ns);
    }
    if (error == 0) {
        error = tt_gate_value_time(options, "cycle_time_extension", place, &s->extension_ns);
    }
    if (error == 0) {
        error = read_max_sdu(json_object_get(options, "max-sdu"), place, port);
    }
    if (error == 0 && list) {
        error = read_schedule(list, place, port, ret_entries);
    }
    return error;
}

/* "100:3" is the third queue. -1: none. */
static int queue_of(const json_t *qdisc)
{
    const char *parent = json_string_value(json_object_get(qdisc, "parent"));
    const char *colon = parent ? strchr(parent, ':') : NULL;
    unsigned long minor = colon ? strtoul(colon + 1, NULL, 16) : 0;

    return minor > 0 && minor <= 4096 ? (int)minor - 1 : -1;
}

static int class_of_queue(const struct tt_gate_port *port, int queue)
{
    for (unsigned c = 0; c < port->class_count; c++) {
        if (queue >= port->queue_offset[c] &&
            queue < port->queue_offset[c] + port->queue_count[c]) {
            return (int)c;
        }
    }
    return port->class_count == 0 ? 0 : -1;
}

static bool is_on(const json_t *options, const char *key)
{
    const json_t *value = json_object_get(options, key);

    return json_is_true(value) || json_integer_value(value) != 0 ||
           (json_is_string(value) && strcmp(json_string_value(value), "on") == 0);
}

static int read_etf(const json_t *options, const struct tt_gate_place *place,
                    struct tt_gate_etf *etf)
{
    const char *clock = NULL;
    int error = tt_gate_value_text(options, "clockid", place, &clock);

    etf->set = true;
    etf->other_clock = clock && !strstr(clock, "TAI");
    etf->offload = is_on(options, "offload");
    return error ? error
                 : tt_gate_value_integer(options, "delta", INT_MIN, INT_MAX, place, &etf->delta_ns);
}

static int read_cbs(const json_t *options, const struct tt_gate_place *place,
                    struct tt_gate_cbs *cbs)
{
    const struct {
        const char *key;
        int64_t *value;
    } fields[] = {{"idleslope", &cbs->idle_kbps},
                  {"sendslope", &cbs->send_kbps},
                  {"hicredit", &cbs->hi_bytes},
                  {"locredit", &cbs->lo_bytes}};
    int error = 0;

    cbs->set = true;
    cbs->offload = is_on(options, "offload");
    for (size_t i = 0; error == 0 && i < TT_COUNT_OF(fields); i++) {
        error = tt_gate_value_integer(options, fields[i].key, -100000000, 100000000, place,
                                      fields[i].value);
    }
    return error;
}

/* Not so the kinds of three letters: etf and ets are both there. */
static bool is_misspelt(const char *kind)
{
    return strlen(kind) > 4 &&
           (tt_word_distance(kind, "taprio") <= 2 || tt_word_distance(kind, "mqprio") <= 2);
}

static int read_qdisc(const json_t *qdisc, const struct tt_gate_place *place,
                      struct tt_gate_port *port, struct tt_gate_entry **ret_entries)
{
    const json_t *options = json_object_get(qdisc, "options");
    const char *kind = NULL;
    bool root = json_is_true(json_object_get(qdisc, "root"));
    int class;
    int error = tt_gate_value_text(qdisc, "kind", place, &kind);

    if (error != 0 || !kind) {
        return error ? error : tt_say(-EINVAL, place->message, "%s has no kind", place->where);
    }
    if (strcmp(kind, "taprio") == 0 && port->has_schedule) {
        port->below_taprio = true;
        return 0;
    }
    if (strcmp(kind, "taprio") == 0) {
        return tt_gate_tc_taprio(options, place, port, ret_entries);
    }
    if (strcmp(kind, "mqprio") == 0) {
        return read_map(options, place, port);
    }
    if (is_misspelt(kind)) {
        return tt_say(-EINVAL, place->message, "%s: kind %.40s; kinds known are " TT_GATE_TC_KINDS,
                      place->where, kind);
    }
    class = class_of_queue(port, root ? 0 : queue_of(qdisc));
    if (class >= 0 && strcmp(kind, "etf") == 0) {
        return read_etf(options, place, &port->etf[class]);
    }
    if (class >= 0 && strcmp(kind, "cbs") == 0) {
        return read_cbs(options, place, &port->cbs[class]);
    }
    return 0;
}

int tt_gate_tc_read(const json_t *qdiscs, const struct tt_gate_place *place,
                    struct tt_gate_port *port, struct tt_gate_entry **ret_entries)
{
    const char *dev = json_string_value(json_object_get(json_array_get(qdiscs, 0), "dev"));
    int roots = 0;

    *ret_entries = NULL;
    if (!json_is_array(qdiscs)) {
        return tt_say(-EINVAL, place->message, "%s: no list of qdiscs", place->where);
    }
    if (dev && port->name[0] == 0 && tt_value_ifname(dev, port->name)) {
        return tt_say(-EINVAL, place->message, "%s: dev %.40s is no interface's name", place->where,
                      dev);
    }
    for (size_t i = 0; i < json_array_size(qdiscs); i++) {
        const json_t *qdisc = json_array_get(qdiscs, i);
        struct tt_gate_place at = {.message = place->message};
        int error;

        snprintf(at.where, sizeof(at.where), "%.60s[%zu]", place->where, i);
        roots += json_is_true(json_object_get(qdisc, "root"));
        error = roots <= 1 ? read_qdisc(qdisc, &at, port, ret_entries)
                           : tt_say(-EINVAL, at.message,
                                    "%s: a second root: these are several interfaces; give what "
                                    "`tc -j qdisc show dev IF` prints of one",
                                    at.where);
        if (error != 0) {
            free(*ret_entries);
            *ret_entries = NULL;
            return error;
        }
    }
    return 0;
}

static json_t *entries_json(const struct tt_gate_schedule *schedule)
{
    static const char *const commands[] = {"S", "H", "R"};
    json_t *list = json_array();

    for (size_t i = 0; i < schedule->entry_count; i++) {
        const struct tt_gate_entry *entry = &schedule->entries[i];
        char mask[16];

        snprintf(mask, sizeof(mask), "0x%" PRIx32, entry->mask);
        json_array_append_new(list, json_pack("{s:i, s:s, s:s, s:I}", "index", (int)i, "cmd",
                                              commands[entry->command], "gatemask", mask,
                                              "interval", (json_int_t)entry->interval_ns));
    }
    return list;
}

json_t *tt_gate_tc_json(const struct tt_gate_port *port)
{
    json_t *map = json_array();
    json_t *queues = json_array();
    json_t *options = json_object();

    for (int i = 0; i < TT_GATE_PRIORITIES; i++) {
        json_array_append_new(map, json_integer(port->class_of_priority[i]));
    }
    for (unsigned c = 0; c < port->class_count; c++) {
        json_array_append_new(queues, json_pack("{s:i, s:i}", "offset", port->queue_offset[c],
                                                "count", port->queue_count[c]));
    }
    json_object_set_new(options, "tc", json_integer(port->class_count));
    json_object_set_new(options, "map", map);
    json_object_set_new(options, "queues", queues);
    if (port->clock_given) {
        json_object_set_new(options, "clockid", json_string("TAI"));
    }
    if (port->mode != TT_GATE_SOFTWARE) {
        json_object_set_new(options, "flags",
                            json_string(port->mode == TT_GATE_OFFLOAD ? "0x2" : "0x1"));
    }
    if (port->size_table) {
        json_object_set_new(options, "size_table", json_true());
    }
    if (port->txtime_delay_ns > 0) {
        json_object_set_new(options, "txtime_delay", json_integer(port->txtime_delay_ns));
    }
    json_object_set_new(options, "base_time", json_integer(port->schedule.base_tai_ns));
    json_object_set_new(options, "cycle_time", json_integer(tt_gate_cycle_ns(&port->schedule)));
    json_object_set_new(options, "cycle_time_extension", json_integer(port->schedule.extension_ns));
    json_object_set_new(options, "schedule", entries_json(&port->schedule));
    return json_pack("[{s:s, s:s, s:b, s:o}]", "kind", "taprio", "handle", "100:", "root", 1,
                     "options", options);
}
