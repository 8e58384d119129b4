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
#include "cli/midi_file.h"
#include "cli/midi_ports.h"
#include "midi/tempo.h"
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

    struct tt_midi_file file;
    struct tt_player_event *events;
    size_t count;
    bool lost; /* something of the file */
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

static int compare(const void *a, const void *b)
{
    const struct tt_player_event *x = a;
    const struct tt_player_event *y = b;

    if (x->due_ns != y->due_ns) {
        return x->due_ns < y->due_ns ? -1 : 1;
    }
    return x->order < y->order ? -1 : x->order > y->order;
}

static bool plays(const struct job *job, const struct tt_smf_item *item)
{
    return item->kind == TT_SMF_ITEM_EVENT && item->event.kind != TT_SMF_META &&
           item->event.bytes > 0 && (job->track < 0 || item->track == (unsigned)job->track);
}

static void set_event(struct tt_player_event *event, const struct tt_smf_event *from,
                      const struct tt_tempo_map *map)
{
    *event = (struct tt_player_event){
        .due_ns = tt_tempo_ns(map, from->tick),
        .data = from->data,
        .bytes = from->bytes,
        .starts_sysex = from->kind == TT_SMF_SYSEX && from->begins,
    };
    if (from->kind == TT_SMF_MESSAGE) {
        memcpy(event->message, from->data, from->bytes);
    }
}

static size_t count_events(struct job *job)
{
    struct tt_smf_item item;
    size_t count = 0;

    tt_smf_rewind(&job->file.smf);
    while (tt_smf_next(&job->file.smf, &item)) {
        count += plays(job, &item);
        job->lost = job->lost || (item.kind == TT_SMF_ITEM_FAULT && tt_smf_fault_loses(item.fault));
    }
    return count;
}

static enum tt_exit read_events(struct job *job)
{
    struct tt_smf *smf = &job->file.smf;
    struct tt_tempo *tempos = calloc(tt_tempo_count(smf, job->track) + 1, sizeof(*tempos));
    size_t count = count_events(job);
    struct tt_tempo_map map;
    struct tt_smf_item item;

    job->events = tt_memory_new(count + 1, sizeof(*job->events));
    if (!tempos || !job->events) {
        tt_cli_say(COMMAND, "out of memory");
        free(tempos);
        return TT_EXIT_ENVIRONMENT;
    }
    tt_tempo_map_init(&map, smf, smf->format == 2 ? job->track : -1, tempos);
    tt_smf_rewind(smf);
    while (tt_tempo_known(&map) && tt_smf_next(smf, &item)) {
        if (plays(job, &item)) {
            set_event(&job->events[job->count], &item.event, &map);
            job->events[job->count].order = job->count;
            job->count++;
        }
    }
    free(tempos);
    qsort(job->events, job->count, sizeof(*job->events), compare);
    /* Short messages are kept in the event itself, whose place is known now. */
    for (size_t i = 0; i < job->count; i++) {
        if (job->events[i].message[0] != 0) {
            job->events[i].data = job->events[i].message;
        }
    }
    return TT_EXIT_GOOD;
}

static enum tt_exit check_file(const struct job *job)
{
    const struct tt_smf *smf = &job->file.smf;

    if (job->file.is_log) {
        tt_cli_say(COMMAND,
                   "%s is a raw log; `tactus midi convert` makes a Standard MIDI File of it",
                   job->path);
        return TT_EXIT_USAGE;
    }
    if (smf->format == 2 && job->track < 0) {
        tt_cli_say(COMMAND,
                   "%s is of format 2: its tracks are pieces of their own, which are never "
                   "played at once; name one with --track",
                   job->path);
        return TT_EXIT_USAGE;
    }
    if (smf->division.ppq == 0 && smf->division.ticks == 0) {
        tt_cli_say(COMMAND, "%s has a division of 0: the times of its events cannot be told",
                   job->path);
        return TT_EXIT_USAGE;
    }
    return TT_EXIT_GOOD;
}

static void show(const struct job *job, const struct tt_play *play)
{
    static const struct tt_column columns[] = {{"lateness, ns", TT_ALIGN_LEFT},
                                               TT_TABLE_SUMMARY_COLUMNS};
    struct tt_table table;

    printf("%" PRIu64 " of %zu %s sent\n", play->player->sent, job->count,
           tt_plural(job->count, "event", "events"));
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
    json_t *json =
        json_pack("{s:s, s:s, s:I, s:o, s:b, s:o, s:o}", "source", job->path, "port",
                  job->port_name, "events", (json_int_t)job->count, "sent",
                  tt_json_u64(play->player->sent), "queue", play->port->schedules, "no_room",
                  tt_json_u64(play->no_room), "lateness", tt_json_summary(play->lateness));

    tt_json_print_line(stdout, json);
    json_decref(json);
}

static enum tt_exit conclude(const struct job *job, const struct tt_play *play)
{
    if (job->json) {
        show_json(job, play);
    } else {
        show(job, play);
    }
    if (play->error) {
        tt_cli_say(COMMAND, "%s went away: %s", job->port_name, strerror(-play->error));
        return TT_EXIT_ENVIRONMENT;
    }
    if (play->player->sent < job->count) {
        return TT_EXIT_INCONCLUSIVE;
    }
    if (job->lost) {
        tt_cli_say(COMMAND, "something of %s is lost; `tactus midi dump` shows where", job->path);
    }
    return job->lost ? TT_EXIT_NEGATIVE : TT_EXIT_GOOD;
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
        tt_player_init(&player, job->events, job->count,
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

static enum tt_exit check_track(const struct job *job)
{
    unsigned tracks = job->file.smf.tracks;

    if (job->track >= 0 && (unsigned)job->track >= tracks) {
        tt_cli_say(COMMAND, "%s has no track %d: it has %u", job->path, job->track + 1, tracks);
        return TT_EXIT_USAGE;
    }
    return TT_EXIT_GOOD;
}

int tt_cmd_midi_play(int argc, char **argv)
{
    struct job job = {.wire = -1, .track = -1};
    enum tt_exit code;

    if (argp_parse(&parser, argc, argv, 0, NULL, &job) != 0) {
        return TT_EXIT_USAGE;
    }
    tt_cli_catch_interrupt();
    signal(SIGPIPE, SIG_IGN); /* who watches may leave: notes are ended all the same */
    code = tt_midi_file_open(COMMAND, job.path, &job.file);
    if (code != TT_EXIT_GOOD) {
        return code;
    }
    code = check_file(&job);
    if (code == TT_EXIT_GOOD) {
        code = read_events(&job);
    }
    if (code == TT_EXIT_GOOD) {
        code = check_track(&job);
    }
    if (code == TT_EXIT_GOOD) {
        code = play_file(&job);
    }
    free(job.events);
    tt_midi_file_close(&job.file);
    return code;
}
