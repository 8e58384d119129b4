/*
 * `tactus midi list`: the MIDI ports of this machine, with the stamps that each gives.
 */
#include <argp.h>
#include <dirent.h>
#include <jansson.h>
#include <stdio.h>
#include <string.h>

#include "cli/cmd.h"
#include "cli/cmd_midi.h"
#include "midi/log.h"
#include "os/midi_port.h"
#include "report/json.h"
#include "report/table.h"

#define COMMAND "tactus midi list"

enum { OPTION_JSON = 256 };

struct list {
    bool json;
    unsigned count;
    struct tt_table table;
    json_t *ports;
};

static const struct argp_option options[] = {
    {"json", OPTION_JSON, NULL, 0, "One JSON object instead of a table", 0},
    {0},
};

static error_t parse_option(int key, char *argument, struct argp_state *state)
{
    struct list *list = state->input;

    switch (key) {
    case OPTION_JSON:
        list->json = true;
        return 0;
    case ARGP_KEY_ARG:
        argp_error(state, "what is %s? It lists all ports", argument);
        return 0;
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

static const struct argp parser = {
    .options = options,
    .parser = parse_option,
    .doc =
        "Show the MIDI ports of this machine: raw MIDI, the ALSA sequencer and serial ports, and "
        "where the stamps of each come from."
        "\v"
        "Stamps, the best first: kernel framing (the driver's reception), sequencer, real time; "
        "time of reading.\n\n"
        "Exit: 0 there are some, 1 there are none, 2 wrong usage."};

static void take(void *context, const struct tt_midi_port_entry *entry)
{
    struct list *list = context;
    const char *way = entry->input && entry->output ? "in, out" : entry->input ? "in" : "out";
    const char *stamp = entry->input ? tt_midi_stamp_name(entry->stamp) : NULL;

    list->count++;
    if (list->json) {
        json_array_append_new(
            list->ports, json_pack("{s:o, s:o, s:b, s:b, s:s?}", "port", tt_json_name(entry->name),
                                   "name", tt_json_name(entry->text), "input", entry->input,
                                   "output", entry->output, "stamp", stamp));
        return;
    }
    tt_table_cell(&list->table, "%s", entry->name);
    tt_table_cell(&list->table, "%s", way);
    tt_table_cell(&list->table, "%s", stamp ? stamp : "-");
    tt_table_cell(&list->table, "%s", entry->text);
}

/* Serial ports that a device is behind. */
static void list_serial(struct list *list)
{
    DIR *dir = opendir("/dev");
    const struct dirent *entry;

    while (dir && (entry = readdir(dir)) != NULL) {
        struct tt_midi_port_entry found = {
            .input = true, .output = true, .stamp = TT_MIDI_PORT_STAMP_READ};

        if (strncmp(entry->d_name, "ttyUSB", 6) == 0 || strncmp(entry->d_name, "ttyACM", 6) == 0 ||
            strncmp(entry->d_name, "ttyAMA", 6) == 0) {
            snprintf(found.name, sizeof(found.name), "/dev/%.100s", entry->d_name);
            snprintf(found.text, sizeof(found.text), "serial port");
            take(list, &found);
        }
    }
    if (dir) {
        closedir(dir);
    }
}

int tt_cmd_midi_list(int argc, char **argv)
{
    static const struct tt_column columns[] = {
        {"port", TT_ALIGN_LEFT},
        {"way", TT_ALIGN_LEFT},
        {"stamps", TT_ALIGN_LEFT},
        {"name", TT_ALIGN_LEFT},
    };
    struct list list = {0};
    json_t *json;

    if (argp_parse(&parser, argc, argv, 0, NULL, &list) != 0) {
        return TT_EXIT_USAGE;
    }
    list.ports = json_array();
    tt_table_init(&list.table, columns, TT_COUNT_OF(columns));
    tt_midi_port_list(take, &list);
    list_serial(&list);
    if (list.json) {
        json = json_pack("{s:O}", "ports", list.ports);
        tt_json_print_line(stdout, json);
        json_decref(json);
    } else if (list.count > 0) {
        tt_table_print(&list.table, stdout);
    }
    tt_table_done(&list.table);
    json_decref(list.ports);
    if (list.count == 0) {
        tt_cli_say(COMMAND, "there is no MIDI port here; is a device plugged in, and its driver "
                            "loaded? Any serial port or pty can be given by its path");
    }
    return list.count > 0 ? TT_EXIT_GOOD : TT_EXIT_NEGATIVE;
}
