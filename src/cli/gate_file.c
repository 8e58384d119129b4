/*
 * See gate_file.h.
 */
#include "cli/gate_file.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/attr.h"
#include "base/ns.h"
#include "cli/gate_flow.h"
#include "cli/gate_link.h"
#include "cli/gate_tc.h"
#include "cli/json_place.h"

#define PLACE_DEPTH 6

static void set_place(struct tt_gate_place *place, struct tt_message *message, const char *list,
                      size_t index)
{
    place->message = message;
    snprintf(place->where, sizeof(place->where), "%s[%zu]", list, index);
}

/* The schedule that this one replaces at its base time. */
static int read_before(const json_t *qdiscs, const struct tt_gate_place *place, size_t p,
                       struct tt_gate_file *file)
{
    struct tt_gate_port old = file->network.ports[p];
    int error;

    old.has_schedule = false;
    old.schedule = (struct tt_gate_schedule){0};
    error = qdiscs ? tt_gate_tc_read(qdiscs, place, &old, &file->before[p]) : 0;
    file->network.ports[p].before = old.schedule;
    return error;
}

static int read_gates(json_t *json, size_t index, struct tt_gate_file *file,
                      struct tt_message *message)
{
    struct tt_gate_place place;
    const char *names[2] = {NULL, NULL};
    const json_t *qdiscs = json_object_get(json, "qdiscs");
    unsigned ends[2];
    int error;

    set_place(&place, message, "gates", index);
    error = json_is_object(json)
                ? 0
                : tt_say(-EINVAL, message, "%s is no object in braces", place.where);
    error = error ? error : tt_gate_value_text(json, "from", &place, &names[0]);
    error = error ? error : tt_gate_value_text(json, "to", &place, &names[1]);
    if (error == 0 && (!names[0] || !names[1])) {
        error = tt_say(-EINVAL, message, "%s: from or to is missing", place.where);
    }
    for (int i = 0; error == 0 && i < 2; i++) {
        error = tt_gate_find_device(file, names[i], &place, &ends[i]);
    }
    for (size_t p = 0; error == 0 && p < file->network.port_count; p++) {
        struct tt_gate_port *port = &file->network.ports[p];

        if (file->ends[p][0] != ends[0] || file->ends[p][1] != ends[1]) {
            continue;
        }
        if (file->entries[p]) {
            return tt_say(-EINVAL, message, "%s: %s has gates already", place.where, port->name);
        }
        error = read_before(json_object_get(json, "before"), &place, p, file);
        return error    ? error
               : qdiscs ? tt_gate_tc_read(qdiscs, &place, port, &file->entries[p])
                        : tt_gate_tc_taprio(json, &place, port, &file->entries[p]);
    }
    return error ? error
                 : tt_say(-EINVAL, message, "%s: no link from %s to %s", place.where, names[0],
                          names[1]);
}

/* What `tactus gate plan` goes by. */
static int read_limits(json_t *json, struct tt_gate_file *file, struct tt_message *message)
{
    static const char *const keys[] = {"reserve_percent", "cycle", "best_effort", "margin", NULL};
    struct tt_gate_place place = {"limits", message};
    int64_t percent = file->limits.reserve_percent;
    int error = json ? tt_gate_check_keys(json, &place, keys) : 0;

    error =
        error ? error : tt_gate_value_integer(json, "reserve_percent", 1, 100, &place, &percent);
    error = error ? error : tt_gate_value_time(json, "cycle", &place, &file->limits.cycle_max_ns);
    error = error ? error
                  : tt_gate_value_integer(json, "best_effort", 60, 9216, &place,
                                          &file->limits.best_effort_bytes);
    error = error ? error : tt_gate_value_time(json, "margin", &place, &file->limits.margin_ns);
    file->limits.reserve_percent = (unsigned)percent;
    if (error == 0 &&
        (file->limits.cycle_max_ns < 1000 || file->limits.cycle_max_ns > TT_NS_PER_S)) {
        error = tt_say(-EINVAL, message, "limits: cycle is not from 1us to 1s");
    }
    if (error == 0 && (file->limits.margin_ns < 100 || file->limits.margin_ns > TT_NS_PER_MS)) {
        error = tt_say(-EINVAL, message, "limits: margin is not from 100ns to 1ms");
    }
    return error;
}

/* ---- the whole file */

static int make(struct tt_gate_file *file, size_t devices, size_t links, size_t flows)
{
    file->devices = calloc(devices + 1, sizeof(*file->devices));
    file->network.ports = calloc(2 * links + 1, sizeof(*file->network.ports));
    file->ends = calloc(2 * links + 1, sizeof(*file->ends));
    file->entries = calloc(2 * links + 1, sizeof(struct tt_gate_entry *));
    file->before = calloc(2 * links + 1, sizeof(struct tt_gate_entry *));
    file->ifnames = calloc(2 * links + 1, sizeof(*file->ifnames));
    file->network.flows = calloc(flows + 1, sizeof(*file->network.flows));
    file->flow_capacity = flows;
    return file->devices && file->network.ports && file->ends && file->entries && file->before &&
                   file->ifnames && file->network.flows
               ? 0
               : -ENOMEM;
}

static int read_list(json_t *root, const char *key, struct tt_gate_file *file,
                     int (*read)(json_t *json, size_t index, struct tt_gate_file *file,
                                 struct tt_message *message),
                     struct tt_message *message)
{
    json_t *list = json_object_get(root, key);
    int error = 0;

    if (list && !json_is_array(list)) {
        return tt_say(-EINVAL, message, "%s is no list", key);
    }
    for (size_t i = 0; error == 0 && i < json_array_size(list); i++) {
        error = read(json_array_get(list, i), i, file, message);
    }
    return error;
}

static int parse_plan(json_t *root, struct tt_gate_file *file, struct tt_message *message)
{
    static const char *const keys[] = {"devices", "links",  "streams", "traffic",
                                       "gates",   "limits", "plan",    NULL};
    struct tt_gate_place place = {"the plan", message};
    json_t *devices = json_object_get(root, "devices");
    size_t links = json_array_size(json_object_get(root, "links"));
    const char *name;
    json_t *device;
    int error = tt_gate_check_keys(root, &place, keys);

    if (error == 0 && (links == 0 || links > TT_GATE_DEVICES_MAX)) {
        error =
            tt_say(-EINVAL, message, "the plan has no links, or more than %d", TT_GATE_DEVICES_MAX);
    }
    if (error == 0 && make(file, TT_GATE_DEVICES_MAX, links, TT_GATE_FLOWS_MAX) != 0) {
        error = tt_say(-ENOMEM, message, "out of memory");
    }
    if (error != 0) {
        return error;
    }
    json_object_foreach(devices, name, device)
    {
        error = error ? error : tt_gate_read_device(name, device, file, message);
    }
    error = error ? error : read_limits(json_object_get(root, "limits"), file, message);
    error = error ? error : read_list(root, "links", file, tt_gate_read_link, message);
    error = error ? error : read_list(root, "gates", file, read_gates, message);
    error = error ? error : read_list(root, "streams", file, tt_gate_flow_stream, message);
    return error ? error : read_list(root, "traffic", file, tt_gate_flow_traffic, message);
}

int tt_gate_file_single(struct tt_gate_file *ret_file)
{
    struct tt_gate_file file = {.limits = TT_PLAN_OPTIONS_DEFAULT};
    int error = make(&file, 0, 1, 2 * TT_GATE_CLASSES);

    if (error != 0) {
        tt_gate_file_done(&file);
        return error;
    }
    file.network.port_count = 1;
    *ret_file = file;
    return 0;
}

void tt_gate_file_usual_traffic(struct tt_gate_file *file)
{
    const struct tt_gate_port *port = &file->network.ports[0];
    uint32_t seen = 0;

    for (unsigned p = 0; p < TT_GATE_PRIORITIES; p++) {
        unsigned class = tt_gate_class_of(port, p);
        struct tt_flow *flow;

        if (seen >> class & 1 || port->etf[class].set) {
            continue;
        }
        seen |= 1u << class;
        flow = &file->network.flows[file->network.flow_count++];
        *flow = (struct tt_flow){
            .kind = TT_FLOW_BULK,
            .priority = p,
            .frame_bytes = 1514,
            .payload_bytes = 1448,
            .gso_bytes = 5 * 1448,
            .rate_hz = 1,
            .interval_samples = 1,
            .hop_count = 1,
            .hops = {{0, -1}},
        };
        snprintf(flow->name, sizeof(flow->name), "full frames of priority %u", p);
    }
}

static bool has_gates(const struct tt_gate_port *port)
{
    bool shaped = port->has_schedule || port->class_count > 0;

    for (unsigned c = 0; c < TT_GATE_CLASSES; c++) {
        shaped = shaped || port->etf[c].set || port->cbs[c].set;
    }
    return shaped;
}

static int say_no_gates(const json_t *qdiscs, struct tt_message *message)
{
    const char *kind = json_string_value(json_object_get(json_array_get(qdiscs, 0), "kind"));

    return tt_say(-EINVAL, message,
                  "qdiscs%s no gates in this file%s%.40s%s; kinds known are " TT_GATE_TC_KINDS,
                  kind ? "[0]:" : ":", kind ? " (it has " : "", kind ? kind : "", kind ? ")" : "");
}

static int parse_tc(json_t *root, const struct tt_gate_file_options *options,
                    struct tt_gate_file *file, struct tt_message *message)
{
    struct tt_gate_place place = {"qdiscs", message};
    struct tt_gate_port *port;
    int error = tt_gate_file_single(file);

    if (error != 0) {
        return tt_say(error, message, "out of memory");
    }
    port = &file->network.ports[0];
    port->rate_bps = options->rate_bps;
    port->kernel = options->kernel;
    port->driver = options->driver;
    memcpy(port->driver_unknown, options->driver_unknown, sizeof(port->driver_unknown));
    port->tx_queues = options->tx_queues;
    error = tt_gate_tc_read(root, &place, port, &file->entries[0]);
    if (error == 0 && !has_gates(port)) {
        error = say_no_gates(root, message);
    }
    if (error == 0 && port->name[0] == 0) {
        snprintf(port->name, sizeof(port->name), "the interface");
    }
    if (error == 0) {
        tt_gate_file_usual_traffic(file);
    }
    return error;
}

/* ret_list stays NULL where there is no entry. */
static int compile(const struct tt_gate_schedule *schedule, const char *where,
                   struct tt_gate_list **ret_list, struct tt_message *ret_message)
{
    enum tt_gate_fault fault = tt_gate_check(schedule);

    tt_gate_list_free(*ret_list);
    *ret_list = NULL;
    if (fault == TT_GATE_NO_ENTRY) {
        return 0;
    }
    if (fault != TT_GATE_OK) {
        return tt_say(-EINVAL, ret_message, "%s: %s", where, tt_gate_fault_text(fault));
    }
    *ret_list = tt_gate_list_new(schedule);
    return *ret_list ? 0 : tt_say(-ENOMEM, ret_message, "out of memory");
}

int tt_gate_file_compile(struct tt_gate_file *file, struct tt_message *ret_message)
{
    int error = 0;

    for (size_t i = 0; error == 0 && i < file->network.port_count; i++) {
        struct tt_gate_port *port = &file->network.ports[i];

        error = compile(&port->schedule, port->name, &port->list, ret_message);
        error = error ? error : compile(&port->before, port->name, &port->old, ret_message);
    }
    return error;
}

/* The child of the object that the text begins with: its value and number. NULL: none. */
static json_t *child_named(json_t *object, const char *text, size_t *ret_number, size_t *ret_length)
{
    const char *key;
    json_t *value;
    size_t n = 0;

    json_object_foreach(object, key, value)
    {
        size_t length = strlen(key);

        if (strncmp(text, key, length) == 0 && strchr("[: ", text[length])) {
            *ret_number = n;
            *ret_length = length;
            return value;
        }
        n++;
    }
    return NULL;
}

/* A message begins with the way to what is wrong ("streams[2]: channels …"): puts line and column
 * in front of it. */
static void add_place(json_t *root, const struct tt_json_text *json, struct tt_message *message)
{
    struct tt_message said = *message;
    const char *at = said.text;
    size_t path[PLACE_DEPTH];
    size_t depth = 0;
    struct tt_json_place place;
    size_t length;

    at += json_is_array(root) ? strcspn(at, "[") : 0;
    while (root && depth < PLACE_DEPTH) {
        if (json_is_array(root) && *at == '[') {
            char *end;

            path[depth] = strtoul(at + 1, &end, 10);
            root = json_array_get(root, path[depth]);
            depth += root != NULL;
            at = *end == ']' ? end + 1 : end;
        } else {
            at += *at == ':' ? 2 : 0;
            root = child_named(root, at, &path[depth], &length);
            depth += root != NULL;
            at += root ? length : 0;
        }
    }
    place = tt_json_place_find(json, path, depth, false);
    snprintf(message->text, sizeof(message->text), "line %d, column %d: %.*s", place.line,
             place.column, (int)sizeof(said.text) - 40, said.text);
}

/* Characters of control, which a terminal would obey; C2 80 to C2 9F are some too. */
static bool has_control(const char *text)
{
    for (; *text; text++) {
        unsigned char c = (unsigned char)*text;

        if (c < 0x20 || c == 0x7F || (c == 0xC2 && (unsigned char)text[1] < 0xA0)) {
            return true;
        }
    }
    return false;
}

/* All that is in a file may be shown: names, kinds, commands. `where` leads to what is in it. */
static int refuse_control(json_t *json, const char *where, struct tt_message *message)
{
    char inside[128];
    const char *key;
    json_t *value;
    size_t i;

    if (json_is_string(json) && has_control(json_string_value(json))) {
        return tt_say(-EINVAL, message, "%s: there is a control character in it", where);
    }
    json_object_foreach(json, key, value)
    {
        snprintf(inside, sizeof(inside), "%.80s%s%.40s", where, where[0] ? ": " : "", key);
        if (has_control(key)) {
            return tt_say(-EINVAL, message, "%s: there is a control character in it", inside);
        }
        if (refuse_control(value, inside, message) != 0) {
            return -EINVAL;
        }
    }
    json_array_foreach(json, i, value)
    {
        snprintf(inside, sizeof(inside), "%.100s[%zu]", where, i);
        if (refuse_control(value, inside, message) != 0) {
            return -EINVAL;
        }
    }
    return 0;
}

static int parse(const char *text, size_t bytes, const struct tt_gate_file_options *options,
                 struct tt_gate_file *ret_file, struct tt_message *ret_message)
{
    struct tt_gate_file file = {.limits = TT_PLAN_OPTIONS_DEFAULT};
    json_error_t fault;
    json_t *root = json_loadb(text, bytes, JSON_REJECT_DUPLICATES, &fault);
    int error;

    if (bytes == 0) {
        return tt_say(-EINVAL, ret_message, "it is empty");
    }
    if (!root) {
        /* tc prints a schedule that is pending as an object without a name. */
        return tt_say(
            -EINVAL, ret_message, "line %d, column %d: %.300s%s", fault.line, fault.column,
            fault.text,
            bytes > 0 && text[0] == '['
                ? " (with a schedule pending, what tc -j prints is no JSON: wait until its "
                  "base time is past)"
                : "");
    }
    error = refuse_control(root, json_is_array(root) ? "qdiscs" : "", ret_message);
    if (error == 0) {
        error = json_is_array(root) ? parse_tc(root, options, &file, ret_message)
                                    : parse_plan(root, &file, ret_message);
    }
    file.root = root;
    if (error == 0) {
        error = tt_gate_file_compile(&file, ret_message);
    }
    if (error == -EINVAL) {
        add_place(root, &(struct tt_json_text){text, bytes}, ret_message);
    }
    if (error != 0) {
        tt_gate_file_done(&file);
        return error;
    }
    *ret_file = file;
    return 0;
}

int tt_gate_file_parse(const char *text, size_t bytes, const struct tt_gate_file_options *options,
                       struct tt_gate_file *ret_file, struct tt_message *ret_message)
{
    int error = parse(text, bytes, options, ret_file, ret_message);

    /* It quotes what was there. */
    for (char *c = ret_message->text; error != 0 && *c != 0; c++) {
        *c = *c < ' ' || *c > '~' ? '?' : *c;
    }
    return error;
}

void tt_gate_file_done(struct tt_gate_file *file)
{
    for (size_t i = 0; file->entries && file->before && i < file->network.port_count; i++) {
        tt_gate_list_free(file->network.ports[i].list);
        tt_gate_list_free(file->network.ports[i].old);
        free(file->entries[i]);
        free(file->before[i]);
    }
    free(file->devices);
    free(file->ends);
    free(file->ifnames);
    json_decref(file->root);
    free(file->entries);
    free(file->before);
    free(file->network.ports);
    free(file->network.flows);
    *file = (struct tt_gate_file){0};
}
