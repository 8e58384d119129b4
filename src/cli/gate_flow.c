/*
 * See gate_flow.h.
 */
#include "cli/gate_flow.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "audio/stream_class.h"
#include "cli/gate_link.h"
#include "base/ns.h"
#include "base/attr.h"
#include "gate/wire_time.h"

#define AAF_HEADER_BYTES 24
#define TCP_HEADER_BYTES 66 /* Ethernet, IPv4, TCP with time stamps */
#define PTP_BYTES        90
#define FRAME_MOST       9018

/* ---- ways */

/* How many links each device is from `to`; UINT32_MAX: it cannot be reached. */
static void measure(const struct tt_gate_file *file, unsigned to, uint32_t *ret_far)
{
    bool moved = true;

    for (size_t i = 0; i < file->device_count; i++) {
        ret_far[i] = i == to ? 0 : UINT32_MAX;
    }
    while (moved) {
        moved = false;
        for (size_t p = 0; p < file->network.port_count; p++) {
            unsigned from = file->ends[p][0];
            unsigned next = file->ends[p][1];
            bool through = next == to || file->devices[next].bridge;

            if (through && ret_far[next] != UINT32_MAX && ret_far[next] + 1 < ret_far[from]) {
                ret_far[from] = ret_far[next] + 1;
                moved = true;
            }
        }
    }
}

/* The hop of the flow that goes out there behind `parent`, or a new one. -1: too many. */
static int hop_at(struct tt_flow *flow, unsigned port, int parent)
{
    for (unsigned h = 0; h < flow->hop_count; h++) {
        if (flow->hops[h].port == port && flow->hops[h].parent == parent) {
            return (int)h;
        }
    }
    if (flow->hop_count == TT_GATE_HOPS_MAX) {
        return -1;
    }
    flow->hops[flow->hop_count] = (struct tt_hop){port, parent};
    return (int)flow->hop_count++;
}

static int add_way(const struct tt_gate_file *file, unsigned from, unsigned to,
                   const struct tt_gate_place *place, struct tt_flow *flow)
{
    uint32_t *far = malloc(file->device_count * sizeof(*far));
    unsigned at = from;
    int hop = -1;
    int error = 0;

    if (!far) {
        return tt_say(-ENOMEM, place->message, "out of memory");
    }
    measure(file, to, far);
    if (from == to) {
        error = tt_say(-EINVAL, place->message, "%s: it goes from %s to itself", place->where,
                       file->devices[from].name);
    } else if (far[from] == UINT32_MAX) {
        error = tt_say(-EINVAL, place->message,
                       "%s: no way from %s to %s: links must join them, and what lies between "
                       "be bridges (\"bridge\": true)",
                       place->where, file->devices[from].name, file->devices[to].name);
    }
    while (error == 0 && at != to) {
        size_t p = 0;

        while (file->ends[p][0] != at || far[file->ends[p][1]] == UINT32_MAX ||
               far[file->ends[p][1]] + 1 != far[at] ||
               (file->ends[p][1] != to && !file->devices[file->ends[p][1]].bridge)) {
            p++;
        }
        hop = hop_at(flow, (unsigned)p, hop);
        if (hop < 0) {
            error = tt_say(-EINVAL, place->message, "%s goes over more than %d links", place->where,
                           TT_GATE_HOPS_MAX);
        }
        at = file->ends[p][1];
    }
    free(far);
    return error;
}

static int add_ways(const json_t *json, const struct tt_gate_file *file,
                    const struct tt_gate_place *place, struct tt_flow *flow)
{
    const char *from_name = NULL;
    const json_t *to = json_object_get(json, "to");
    size_t listeners = json_is_array(to) ? json_array_size(to) : 1;
    unsigned from;
    int error = tt_gate_value_text(json, "from", place, &from_name);

    if (error == 0 && (!from_name || listeners == 0)) {
        error = tt_say(-EINVAL, place->message, "%s: from or to is missing", place->where);
    }
    error = error ? error : tt_gate_find_device(file, from_name, place, &from);
    for (size_t i = 0; error == 0 && i < listeners; i++) {
        const char *name = json_string_value(json_is_array(to) ? json_array_get(to, i) : to);
        unsigned device;

        error = name ? tt_gate_find_device(file, name, place, &device)
                     : tt_say(-EINVAL, place->message, "%s: to names no device", place->where);
        error = error ? error : add_way(file, from, device, place, flow);
    }
    return error;
}

static int add_flow(struct tt_gate_file *file, const struct tt_flow *flow,
                    const struct tt_gate_place *place)
{
    if (file->network.flow_count == file->flow_capacity) {
        return tt_say(-EINVAL, place->message, "%s: more than %zu streams and other traffic",
                      place->where, file->flow_capacity);
    }
    file->network.flows[file->network.flow_count++] = *flow;
    return 0;
}

/* ---- streams */

struct stream {
    int64_t channels;
    int64_t bits;
    int64_t rate_hz;
    int64_t frames;
    int64_t count;
    enum tt_stream_class class;
};

static int read_class(const json_t *json, const struct tt_gate_place *place, struct stream *s,
                      struct tt_flow *flow)
{
    const char *class = NULL;
    int error = tt_gate_value_text(json, "class", place, &class);
    const char *fault = class ? tt_stream_class_parse(class, &s->class) : NULL;

    if (error != 0 || fault) {
        return error ? error
                     : tt_say(-EINVAL, place->message, "%s: class %s; there are A and B",
                              place->where, fault);
    }
    flow->priority = s->class == TT_STREAM_CLASS_B ? 2 : 3;
    flow->deadline_ns = (s->class == TT_STREAM_CLASS_B ? 50 : 2) * TT_NS_PER_MS;
    return tt_gate_value_time(json, "mtt", place, &flow->deadline_ns);
}

static int read_format(const json_t *json, const struct tt_gate_place *place, struct stream *s)
{
    const struct {
        const char *key;
        int64_t least, most;
        int64_t *value;
    } fields[] = {{"channels", 1, 1023, &s->channels},
                  {"bits", 16, 32, &s->bits},
                  {"rate", 8000, 192000, &s->rate_hz},
                  {"frames", 1, 1000, &s->frames},
                  {"count", 1, TT_GATE_FLOWS_MAX, &s->count}};
    int error = 0;

    for (size_t i = 0; error == 0 && i < TT_COUNT_OF(fields); i++) {
        error = tt_gate_value_integer(json, fields[i].key, fields[i].least, fields[i].most, place,
                                      fields[i].value);
    }
    if (error == 0 && s->bits % 8 != 0) {
        error = tt_say(-EINVAL, place->message, "%s: bits is none of 16, 24, 32", place->where);
    }
    return error;
}

static int shape(const struct stream *s, const struct tt_gate_place *place, struct tt_flow *flow)
{
    int64_t payload = s->frames * s->channels * s->bits / 8;

    flow->interval_samples = s->frames;
    flow->rate_hz = (uint32_t)s->rate_hz;
    flow->payload_bytes = payload;
    flow->frame_bytes = TT_FRAME_HEAD_BYTES + TT_FRAME_TAG_BYTES + AAF_HEADER_BYTES + payload;
    if (flow->frame_bytes > 1518) {
        return tt_say(-EINVAL, place->message,
                      "%s: %" PRId64 " frames of %" PRId64 " channels of %" PRId64
                      " bits make a packet of %" PRId64 " bytes; 1518 are the most",
                      place->where, s->frames, s->channels, s->bits, flow->frame_bytes);
    }
    return 0;
}

int tt_gate_flow_stream(json_t *json, size_t index, struct tt_gate_file *file,
                        struct tt_message *message)
{
    static const char *const keys[] = {"name",  "from",   "to",    "channels", "bits",   "rate",
                                       "class", "frames", "count", "mtt",      "offset", NULL};
    struct tt_gate_place place = {.message = message};
    struct stream s = {.channels = 2, .bits = 24, .rate_hz = 48000, .count = 1};
    struct tt_flow flow = {.kind = TT_FLOW_STREAM};
    const char *name = NULL;
    int error;

    snprintf(place.where, sizeof(place.where), "streams[%zu]", index);
    error = tt_gate_check_keys(json, &place, keys);
    error = error ? error : tt_gate_value_text(json, "name", &place, &name);
    error = error ? error : read_class(json, &place, &s, &flow);
    error = error ? error : read_format(json, &place, &s);
    if (error != 0) {
        return error;
    }
    if (s.frames == 0) {
        s.frames = tt_stream_class_frames(s.class, (uint32_t)s.rate_hz);
    }
    error = shape(&s, &place, &flow);
    error = error ? error : tt_gate_value_time(json, "offset", &place, &flow.offset_ns);
    error = error ? error : add_ways(json, file, &place, &flow);
    for (int64_t i = 1; error == 0 && i <= s.count; i++) {
        char text[32];

        snprintf(text, sizeof(text), "stream %zu", index);
        snprintf(flow.name, sizeof(flow.name), s.count > 1 ? "%s %" PRId64 : "%s",
                 name ? name : text, i);
        /* It is read again, from the plan that is made. */
        error =
            strlen(flow.name) > TT_GATE_TEXT_MAX
                ? tt_say(-EINVAL, message, "%s: name is longer than %d characters with its number",
                         place.where, TT_GATE_TEXT_MAX)
                : add_flow(file, &flow, &place);
    }
    return error;
}

/* ---- other traffic */

static int set_kind(const json_t *json, const char *kind, const struct tt_gate_place *place,
                    struct tt_flow *flow)
{
    int64_t every_ns = 0;
    int error;

    if (strcmp(kind, "tcp") == 0) {
        *flow = (struct tt_flow){.kind = TT_FLOW_BULK, .frame_bytes = 1514, .gso_bytes = 65160};
    } else if (strcmp(kind, "ptp") == 0) {
        *flow = (struct tt_flow){.kind = TT_FLOW_TIMED, .frame_bytes = PTP_BYTES};
        every_ns = 125 * TT_NS_PER_MS;
    } else if (strcmp(kind, "udp") == 0) {
        *flow = (struct tt_flow){.kind = TT_FLOW_TIMED, .frame_bytes = 1514};
        every_ns = TT_NS_PER_MS;
    } else {
        return tt_say(-EINVAL, place->message, "%s: kind is none of tcp, udp, ptp", place->where);
    }
    error = tt_gate_value_integer(json, "bytes", 60, FRAME_MOST, place, &flow->frame_bytes);
    error = error ? error : tt_gate_value_time(json, "every", place, &every_ns);
    error = error ? error : tt_gate_value_integer(json, "gso", 0, 1 << 20, place, &flow->gso_bytes);
    if (error == 0 && flow->kind != TT_FLOW_BULK && every_ns == 0) {
        error = tt_say(-EINVAL, place->message, "%s: every is 0", place->where);
    }
    flow->interval_samples = every_ns > 0 ? every_ns : 1;
    flow->rate_hz = TT_NS_PER_S;
    flow->payload_bytes = flow->frame_bytes > TCP_HEADER_BYTES
                              ? flow->frame_bytes - TCP_HEADER_BYTES
                              : flow->frame_bytes;
    return error;
}

int tt_gate_flow_traffic(json_t *json, size_t index, struct tt_gate_file *file,
                         struct tt_message *message)
{
    static const char *const keys[] = {"name", "kind",  "from",     "to",     "bytes",
                                       "gso",  "every", "priority", "offset", NULL};
    struct tt_gate_place place = {.message = message};
    struct tt_flow flow = {0};
    const char *name = NULL;
    const char *kind = NULL;
    int64_t priority = 0;
    int error;

    snprintf(place.where, sizeof(place.where), "traffic[%zu]", index);
    error = tt_gate_check_keys(json, &place, keys);
    error = error ? error : tt_gate_value_text(json, "name", &place, &name);
    error = error ? error : tt_gate_value_text(json, "kind", &place, &kind);
    error = error ? error : set_kind(json, kind ? kind : "tcp", &place, &flow);
    error = error ? error : tt_gate_value_integer(json, "priority", 0, 15, &place, &priority);
    error = error ? error : tt_gate_value_time(json, "offset", &place, &flow.offset_ns);
    error = error ? error : add_ways(json, file, &place, &flow);
    flow.priority = (unsigned)priority;
    snprintf(flow.name, sizeof(flow.name), "%s", name ? name : kind ? kind : "tcp");
    return error ? error : add_flow(file, &flow, &place);
}
