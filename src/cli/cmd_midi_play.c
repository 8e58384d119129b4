/*
 * `tactus midi play`: a Standard MIDI File to a port, each event at its time.
 */
#include <argp.h>
#include <errno.h>
#include <inttypes.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/ns.h"
#include "cli/cmd.h"
#include "cli/cmd_midi.h"
#include "cli/midi_piece.h"
#include "cli/midi_ports.h"
#include "cli/relay.h"
#include "os/memory.h"
#include "report/json.h"
#include "report/plural.h"
#include "report/table.h"
#include "run/play.h"

#define COMMAND "tactus midi play"
#define WAIT_NS (50 * TT_NS_PER_MS)

enum { OPTION_QUEUE = 256, OPTION_WIRE, OPTION_TRACK, OPTION_JSON };

struct job {
    const char *path;
    const char *port_name;
    bool queue;
    int wire;  /* baud; 0: none; -1: what the port is likely to have */
    int track; /* from 0; -1: all */
    bool json;

    struct tt_midi_piece piece;
};

static const struct argp_option options[] = {
    {"queue", OPTION_QUEUE, NULL, 0,
     "To the sequencer: by its own queue, 200 ms ahead, instead of a thread's sleep", 0},
    {"wire", OPTION_WIRE, "BAUD", 0,
     "Speed of the wire, whose bytes take their time; none: as fast as it goes. Without it 31250 "
     "(DIN) for raw MIDI and serial ports, none for the sequencer",
     0},
    {"track", OPTION_TRACK, "N", 0, "This track alone; of format 2 one has to be named", 0},
    {"json", OPTION_JSON, NULL, 0, "One JSON object instead of a table", 0},
    {0},
};

static error_t parse_option(int key, char *argument, struct argp_state *state)
{
    struct job *job = state->input;

    switch (key) {
    case OPTION_QUEUE:
        job->queue = true;
        return 0;
    case OPTION_WIRE:
        job->wire = tt_midi_ports_wire_option(argument, state);
        return 0;
    case OPTION_TRACK:
        job->track = (int)tt_cli_number_option("track", argument, state, 1, 65535) - 1;
        return 0;
    case OPTION_JSON:
        job->json = true;
        return 0;
    default:
        return tt_cli_arguments(key, argument, state,
                                (const char **const[]){&job->path, &job->port_name}, 2,
                                "a Standard MIDI File and a port");
    }
}

static const struct argp parser = {
    .options = options,
    .parser = parse_option,
    .args_doc = "FILE PORT",
    .doc =
        "Play a Standard MIDI File to a port: hw:CARD,DEVICE, seq:CLIENT:PORT or the path of a "
        "serial port. Each event is sent at its time; how late each was is shown at the end. All "
        "notes are ended whenever this ends."
        "\v"
        "Example:\n"
        "  tactus midi play take.mid hw:1,0\n\n"
        "Exit: 0 all was sent, 1 something of the file is lost, 2 wrong usage or no such file, 3 "
        "the port is missing or went away, 4 interrupted."};

static void show(const struct job *job, const struct tt_play *play)
{
    static const struct tt_column columns[] = {{"lateness, ns", TT_ALIGN_LEFT},
                                               TT_TABLE_SUMMARY_COLUMNS};
    struct tt_table table;

    printf("%" PRIu64 " of %zu %s sent\n", play->sent, job->piece.count,
           tt_plural(job->piece.count, "event", "events"));
    if (play->no_room > 0) {
        printf("The port had no room %" PRIu64 " %s, and was tried again: is it read?\n",
               play->no_room, tt_plural(play->no_room, "time", "times"));
    }
    if (play->port->schedules) {
        puts("The sequencer's queue sent them; shown is when it got them: 200 ms ahead, as "
             "planned.");
    }
    tt_table_init(&table, columns, TT_COUNT_OF(columns));
    tt_table_cell(&table, play->port->schedules ? "handed over - due" : "sent - due");
    tt_table_cells_summary(&table, play->lateness);
    tt_table_print(&table, stdout);
    tt_table_done(&table);
}

static void show_json(const struct job *job, const struct tt_play *play)
{
    json_t *json = json_pack(
        "{s:o, s:o, s:I, s:o, s:b, s:o, s:I, s:o}", "source", tt_json_name(job->path), "port",
        tt_json_name(job->port_name), "events", (json_int_t)job->piece.count, "sent",
        tt_json_u64(play->sent), "queue", play->port->schedules, "no_room",
        tt_json_u64(play->no_room), "notes_left_on", (json_int_t)tt_sounding_notes(&play->sounding),
        "lateness", tt_json_summary(play->lateness));

    tt_json_print_line(stdout, json);
    json_decref(json);
}

static enum tt_exit conclude(const struct job *job, const struct tt_play *play)
{
    unsigned notes = tt_sounding_notes(&play->sounding);

    if (job->json) {
        show_json(job, play);
    } else {
        show(job, play);
    }
    if (play->error) {
        tt_cli_say(COMMAND, "%s went away: %s", job->port_name, strerror(-play->error));
    }
    if (notes > 0) {
        tt_cli_say(COMMAND, "%s took no more: %u %s may go on sounding; end %s at the instrument",
                   job->port_name, notes, tt_plural(notes, "note", "notes"),
                   notes == 1 ? "it" : "them");
    }
    if (play->error) {
        return TT_EXIT_ENVIRONMENT;
    }
    if (play->sent < job->piece.count) {
        return TT_EXIT_INCONCLUSIVE;
    }
    if (notes > 0) {
        return TT_EXIT_ENVIRONMENT;
    }
    if (job->piece.lost) {
        tt_cli_say(COMMAND, "something of %s is lost; `tactus midi dump` shows where", job->path);
    }
    return job->piece.lost ? TT_EXIT_NEGATIVE : TT_EXIT_GOOD;
}

static enum tt_exit play_events(const struct job *job, struct tt_play *play)
{
    static const struct timespec wait = {.tv_nsec = WAIT_NS};
    int error = tt_play_start(play);

    if (error) {
        tt_cli_say(COMMAND, "cannot start the player: %s", strerror(-error));
        return TT_EXIT_ENVIRONMENT;
    }
    if (!play->thread.realtime) {
        tt_cli_say(COMMAND, "real-time priority is refused (ulimit -r): events may be late under "
                            "load; how late is shown");
    }
    while (!atomic_load_explicit(&play->ended, memory_order_acquire) && !tt_cli_interrupted()) {
        nanosleep(&wait, NULL);
    }
    tt_play_stop(play);
    return conclude(job, play);
}

static enum tt_exit play_file(const struct job *job)
{
    struct tt_midi_port_setup setup = {
        .name = job->port_name, .output = true, .schedule = job->queue};
    struct tt_player player;
    struct tt_play play = {.player = &player};
    enum tt_exit code = tt_midi_ports_open(COMMAND, &setup, &play.port);

    if (code != TT_EXIT_GOOD) {
        return code;
    }
    if (job->queue && !play.port->schedules) {
        tt_cli_say(COMMAND, "%s has no queue: --queue is for ports of the sequencer (seq:...)",
                   job->port_name);
        tt_midi_port_close(play.port);
        return TT_EXIT_USAGE;
    }
    play.lateness = tt_memory_new(1, sizeof(*play.lateness));
    if (play.lateness) {
        tt_hist_init(play.lateness);
        tt_player_init(&player, job->piece.events, job->piece.count,
                       tt_midi_ports_byte_ns(job->port_name, job->wire));
        code = play_events(job, &play);
    } else {
        tt_cli_say(COMMAND, "out of memory");
        code = TT_EXIT_ENVIRONMENT;
    }
    free(play.lateness);
    tt_midi_port_close(play.port);
    return code;
}

int tt_cmd_midi_play(int argc, char **argv)
{
    struct job job = {.wire = -1, .track = -1};
    enum tt_exit code;

    if (argp_parse(&parser, argc, argv, 0, NULL, &job) != 0) {
        return TT_EXIT_USAGE;
    }
    tt_relay_start();
    tt_cli_catch_interrupt();
    signal(SIGPIPE, SIG_IGN); /* who watches may leave: notes are ended all the same */
    code = tt_midi_piece_open(COMMAND, job.path, job.track, &job.piece);
    if (code == TT_EXIT_GOOD) {
        code = play_file(&job);
    }
    tt_midi_piece_close(&job.piece);
    return code;
}
