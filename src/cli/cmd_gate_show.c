/*
 * `tactus gate show`: a schedule drawn in the terminal.
 */
#include <argp.h>
#include <inttypes.h>
#include <stdio.h>

#include "base/min_max.h"
#include "cli/cmd.h"
#include "cli/cmd_gate.h"
#include "cli/gate_options.h"
#include "cli/gate_tc.h"
#include "gate/lint.h"
#include "report/json.h"

#define COMMAND "tactus gate show"

enum { BAR = 64 };

static const struct argp parser = {
    .parser = tt_gate_parse,
    .children = tt_gate_children,
    .args_doc = "FILE|INTERFACE",
    .doc =
        "Draw one cycle of a schedule, class by class. With --json as `tc -j qdisc show` prints it."
        "\v"
        "Example:\n"
        "  tactus gate show eth0\n\n"
        "Exit: 0 shown; 1 there are no gates; 2 wrong usage; 3 not readable."};

/* '#': open in all of that piece; '-': in a part; '.': closed. */
static char piece(const struct tt_gate_list *list, unsigned class, int64_t from_ns, int64_t to_ns)
{
    struct tt_gate_window window;

    if (!tt_gate_list_window(list, class, list->base_tai_ns + from_ns, &window) ||
        window.open_ns >= list->base_tai_ns + to_ns) {
        return '.';
    }
    return window.open_ns <= list->base_tai_ns + from_ns &&
                   window.close_ns >= list->base_tai_ns + to_ns
               ? '#'
               : '-';
}

static void draw(const struct tt_gate_port *port)
{
    const struct tt_gate_list *list = port->list;
    unsigned classes = port->class_count > 0 ? port->class_count : 1;

    printf("%s: a cycle of %s, base time %" PRId64 ", %zu entries, %s\n", port->name,
           tt_gate_us(list->cycle_ns).text, list->base_tai_ns, port->schedule.entry_count,
           port->mode == TT_GATE_OFFLOAD  ? "in hardware"
           : port->mode == TT_GATE_ASSIST ? "by launch times (txtime-assist)"
                                          : "in software");
    for (unsigned c = classes; c-- > 0;) {
        char bar[BAR + 1] = {0};

        for (int i = 0; i < BAR; i++) {
            bar[i] = piece(list, c, list->cycle_ns * i / BAR, list->cycle_ns * (i + 1) / BAR);
        }
        printf("class %2u  %s  %s of %s\n", c, bar, tt_gate_us(list->classes[c].open_ns).text,
               tt_gate_us(list->cycle_ns).text);
    }
}

static int show(const struct tt_gate_file *file, const struct tt_gate_options *options)
{
    int code = TT_EXIT_NEGATIVE;
    json_t *all = json_array();

    for (size_t p = 0; p < file->network.port_count; p++) {
        const struct tt_gate_port *port = &file->network.ports[p];

        if (!port->list) {
            continue;
        }
        if (options->json) {
            json_t *qdiscs = tt_gate_tc_json(port);

            json_object_set_new(json_array_get(qdiscs, 0), "dev", json_string(port->name));
            json_array_extend(all, qdiscs);
            json_decref(qdiscs);
        } else {
            fputs(code == TT_EXIT_GOOD ? "\n" : "", stdout);
            draw(port);
        }
        code = TT_EXIT_GOOD;
    }
    if (options->json) {
        tt_json_print_line(stdout, all);
    } else if (code != TT_EXIT_GOOD) {
        printf("%s has no gates: every class may send at any time.\n", options->path);
    }
    json_decref(all);
    return code;
}

int tt_cmd_gate_show(int argc, char **argv)
{
    struct tt_gate_options options = {0};
    struct tt_gate_file file;
    int code;

    if (argp_parse(&parser, argc, argv, 0, NULL, &options) != 0) {
        return TT_EXIT_USAGE;
    }
    code = (int)tt_gate_open(COMMAND, &options, &file);
    if (code == TT_EXIT_GOOD) {
        code = show(&file, &options);
        tt_gate_file_done(&file);
    }
    return code;
}
