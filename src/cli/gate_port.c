/*
 * See gate_port.h.
 */
#include "cli/gate_port.h"

#include <string.h>

#include "cli/cmd.h"
#include "report/parts.h"

#define NAMES_MAX 12

/* "a -> b; b -> c; and 3 more": those with a schedule, or all. */
static void list_ports(const struct tt_network *network, bool scheduled, char *text, size_t bytes)
{
    size_t more = 0;
    size_t n = 0;

    text[0] = 0;
    for (size_t p = 0; p < network->port_count; p++) {
        if (scheduled && !network->ports[p].has_schedule) {
            continue;
        }
        if (n++ < NAMES_MAX) {
            tt_parts_add(text, bytes, "%s", network->ports[p].name);
        } else {
            more++;
        }
    }
    if (more > 0) {
        tt_parts_add(text, bytes, "and %zu more", more);
    }
}

static void say_no_gates(const char *command, const char *path, const struct tt_gate_file *file)
{
    if (json_is_array(file->root)) {
        tt_cli_say(command,
                   "%s: there is no schedule in it: give what tc prints of a taprio with "
                   "entries",
                   path);
    } else if (file->root) {
        tt_cli_say(command,
                   "%s: no port has gates: the plan needs `gates`; `tactus gate plan --output "
                   "FILE` writes one that has them",
                   path);
    } else {
        tt_cli_say(command, "%s: this interface has no gates (no taprio with entries)", path);
    }
}

struct tt_gate_port *tt_gate_port_find(const char *command, const char *path,
                                       const struct tt_gate_file *file, const char *name)
{
    const struct tt_network *network = &file->network;
    struct tt_gate_port *found = NULL;
    size_t n = 0;
    char names[NAMES_MAX * (TT_GATE_NAME + 2) + 32];

    for (size_t p = 0; p < network->port_count; p++) {
        struct tt_gate_port *port = &network->ports[p];

        if (name ? strcmp(port->name, name) == 0 : port->has_schedule) {
            found = port;
            n++;
        }
    }
    if (n == 1) {
        return found;
    }
    list_ports(network, !name, names, sizeof(names));
    if (name && n == 0) {
        tt_cli_say(command, "%s has no port '%s'; its ports: %s", path, name, names);
    } else if (name) {
        tt_cli_say(command, "%s has %zu ports '%s'", path, n, name);
    } else if (n == 0) {
        say_no_gates(command, path, file);
    } else {
        tt_cli_say(command, "%s: %zu ports have gates; say which: --port 'FROM -> TO', of: %s",
                   path, n, names);
    }
    return NULL;
}
