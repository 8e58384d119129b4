/*
 * See gate_link.h.
 */
#include "cli/gate_link.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "audio/config_value.h"
int tt_gate_find_device(const struct tt_gate_file *file, const char *name,
                        const struct tt_gate_place *place, unsigned *ret_device)
{
    for (unsigned i = 0; i < file->device_count; i++) {
        if (strcmp(file->devices[i].name, name) == 0) {
            *ret_device = i;
            return 0;
        }
    }
    return tt_say(-EINVAL, place->message, "%s: no link has a device %.40s", place->where, name);
}

/* A device that is new is a host. -ENOSPC: too many. */
static int device_of(struct tt_gate_file *file, const char *name, unsigned *ret_device)
{
    for (unsigned i = 0; i < file->device_count; i++) {
        if (strcmp(file->devices[i].name, name) == 0) {
            *ret_device = i;
            return 0;
        }
    }
    if (file->device_count == TT_GATE_DEVICES_MAX) {
        return -ENOSPC;
    }
    *ret_device = (unsigned)file->device_count++;
    file->devices[*ret_device] = (struct tt_gate_device){0};
    snprintf(file->devices[*ret_device].name, sizeof(file->devices[0].name), "%s", name);
    return 0;
}

int tt_gate_read_device(const char *name, json_t *json, struct tt_gate_file *file,
                        struct tt_message *message)
{
    static const char *const keys[] = {"bridge", "latency", "driver", "kernel",
                                       "queues", "gates",   NULL};
    static const char *const modes[] = {"software", "txtime-assist", "offload"};
    struct tt_gate_place place = {.message = message};
    struct tt_gate_device *device;
    const char *driver = NULL;
    const char *kernel = NULL;
    const char *gates = NULL;
    int64_t queues = 0;
    unsigned at;
    int error;

    snprintf(place.where, sizeof(place.where), "devices: %.40s", name);
    error = tt_gate_check_keys(json, &place, keys);
    if (error == 0 && (name[0] == 0 || strlen(name) > 24)) {
        error = tt_say(-EINVAL, message, "%s: a name has 1 to 24 characters", place.where);
    }
    if (error != 0) {
        return error;
    }
    if (device_of(file, name, &at) != 0) {
        return tt_say(-EINVAL, message, "devices: more than %d", TT_GATE_DEVICES_MAX);
    }
    device = &file->devices[at];
    error = tt_gate_value_bool(json, "bridge", &place, &device->bridge);
    error = error ? error : tt_gate_value_time(json, "latency", &place, &device->latency_ns);
    error = error ? error : tt_gate_value_text(json, "driver", &place, &driver);
    error = error ? error : tt_gate_value_text(json, "kernel", &place, &kernel);
    error = error ? error : tt_gate_value_text(json, "gates", &place, &gates);
    error = error ? error : tt_gate_value_integer(json, "queues", 0, 4096, &place, &queues);
    if (error != 0) {
        return error;
    }
    if (driver) {
        tt_gate_driver_set(&device->driver, device->driver_unknown, driver);
    }
    device->tx_queues = (unsigned)queues;
    if (kernel && tt_gate_kernel_parse(kernel, &device->kernel)) {
        return tt_say(-EINVAL, message, "%s: kernel %.40s is no version such as 6.12", place.where,
                      kernel);
    }
    for (int i = 0; gates && i < 3; i++) {
        if (strcmp(gates, modes[i]) == 0) {
            device->mode = (enum tt_gate_mode)i;
            return 0;
        }
    }
    return gates ? tt_say(-EINVAL, message, "%s: gates is none of software, txtime-assist, offload",
                          place.where)
                 : 0;
}

/* Both directions of a link. */
static void add_ports(struct tt_gate_file *file, unsigned a, unsigned b, int64_t rate_bps,
                      int64_t delay_ns)
{
    const unsigned ends[2][2] = {{a, b}, {b, a}};

    for (int i = 0; i < 2; i++) {
        const struct tt_gate_device *from = &file->devices[ends[i][0]];
        const struct tt_gate_device *to = &file->devices[ends[i][1]];
        size_t at = file->network.port_count++;
        struct tt_gate_port *port = &file->network.ports[at];

        file->ends[at][0] = ends[i][0];
        file->ends[at][1] = ends[i][1];
        *port = (struct tt_gate_port){
            .rate_bps = rate_bps,
            .delay_ns = delay_ns + to->latency_ns,
            .driver = from->driver,
            .kernel = from->kernel,
            .mode = from->bridge ? TT_GATE_OFFLOAD : from->mode,
            .bridge = from->bridge,
            .tx_queues = from->tx_queues,
        };
        memcpy(port->driver_unknown, from->driver_unknown, sizeof(port->driver_unknown));
        snprintf(port->name, sizeof(port->name), "%.24s -> %.24s", from->name, to->name);
        /* A bridge has a queue for each priority unless its gates say otherwise. */
        for (unsigned p = 0; from->bridge && p < 8; p++) {
            port->class_count = 8;
            port->class_of_priority[p] = (uint8_t)p;
            port->queue_count[p] = 1;
            port->queue_offset[p] = (uint16_t)p;
        }
    }
}

int tt_gate_read_link(json_t *json, size_t index, struct tt_gate_file *file,
                      struct tt_message *message)
{
    static const char *const keys[] = {"between", "speed", "delay", "interfaces", NULL};
    struct tt_gate_place place;
    const json_t *between = json_object_get(json, "between");
    int64_t rate_bps = 0;
    int64_t delay_ns = 0;
    unsigned ends[2];
    int error;

    place.message = message;
    snprintf(place.where, sizeof(place.where), "links[%zu]", index);
    error = tt_gate_check_keys(json, &place, keys);
    error = error ? error : tt_gate_value_speed(json, "speed", &place, &rate_bps);
    error = error ? error : tt_gate_value_time(json, "delay", &place, &delay_ns);
    if (error != 0) {
        return error;
    }
    if (json_array_size(between) != 2) {
        return tt_say(-EINVAL, message, "%s: between names no two devices", place.where);
    }
    for (size_t i = 0; i < 2; i++) {
        const char *name = json_string_value(json_array_get(between, i));

        if (!name || name[0] == 0 || strlen(name) > 24 || device_of(file, name, &ends[i]) != 0) {
            return tt_say(-EINVAL, message, "%s: between: a name has 1 to 24 characters",
                          place.where);
        }
    }
    if (ends[0] == ends[1] || rate_bps == 0) {
        return tt_say(-EINVAL, message, "%s: %s", place.where,
                      rate_bps == 0 ? "speed is missing" : "a link from a device to itself");
    }
    for (size_t i = 0; i < 2; i++) {
        const char *name =
            json_string_value(json_array_get(json_object_get(json, "interfaces"), i));

        if (name && tt_value_ifname(name, file->ifnames[file->network.port_count + i])) {
            return tt_say(-EINVAL, message, "%s: interfaces: %.40s is no interface's name",
                          place.where, name);
        }
    }
    add_ports(file, ends[0], ends[1], rate_bps, delay_ns);
    return 0;
}
