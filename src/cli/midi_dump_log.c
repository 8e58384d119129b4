/*
 * A raw log, shown. See midi_dump.h.
 *
 * Events: of MIDI {"kind": "message", "sysex" or "stray", "port", "first_ns", "last_ns" (since the
 * start), "first_mono_ns", "bytes", "text"}; others {"kind": "loss", "gone", "back", "clock",
 * "end"} with what they hold.
 */
#include "cli/midi_dump.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/ns.h"
#include "midi/parser.h"
#include "midi/survey.h"
#include "report/json.h"
#include "report/plural.h"

#define SYSEX_BYTES (1 << 20)

struct port {
    struct tt_midi_parser parser;
    uint8_t *sysex;
};

struct show {
    struct tt_midi_dump *dump;
    struct tt_midi_log *log;
    struct tt_midi_survey survey;
    struct port *ports[TT_MIDI_LOG_PORTS]; /* NULL: no such port */
};

static int64_t since_start(const struct show *show, int64_t mono_ns)
{
    return mono_ns - show->log->header.mono_ns;
}

static void print_time(const struct show *show, int64_t mono_ns)
{
    char text[TT_MIDI_SECONDS_TEXT];

    fprintf(show->dump->out, "%19s", tt_midi_seconds_format(since_start(show, mono_ns), text));
}

/* The line's beginning: time and port. */
static FILE *begin_line(const struct show *show, int64_t mono_ns, unsigned port)
{
    print_time(show, mono_ns);
    fprintf(show->dump->out, " %4u  ", port);
    return show->dump->out;
}

static void show_event(struct show *show, unsigned port, const struct tt_midi_event *event)
{
    static const char *const kinds[] = {"message", "sysex", "stray"};
    char text[TT_MIDI_MESSAGE_TEXT];
    char seconds[TT_MIDI_SECONDS_TEXT];
    FILE *out;

    tt_midi_message_format(event->data, event->bytes, text);
    if (show->dump->json) {
        tt_midi_dump_json_event(
            show->dump,
            json_pack("{s:s, s:i, s:I, s:I, s:I, s:o, s:s}", "kind", kinds[event->kind], "port",
                      (int)port, "first_ns", (json_int_t)since_start(show, event->first_ns),
                      "last_ns", (json_int_t)since_start(show, event->last_ns), "first_mono_ns",
                      (json_int_t)event->first_ns, "bytes",
                      tt_midi_dump_hex(event->data, event->bytes), "text", text));
        return;
    }
    out = begin_line(show, event->first_ns, port);
    if (event->kind == TT_MIDI_EVENT_SYSEX) {
        fprintf(out, "system exclusive%s%s, %zu bytes: ", event->begins ? "" : ", continued",
                event->more ? ", more to come" : "", event->bytes);
        tt_midi_dump_bytes(out, event->data, event->bytes);
    } else {
        fprintf(out, "%s%s", event->kind == TT_MIDI_EVENT_STRAY ? "stray: " : "", text);
    }
    if (event->last_ns != event->first_ns) {
        fprintf(out, "  (last byte %s s later)",
                tt_midi_seconds_format(event->last_ns - event->first_ns, seconds));
    }
    fputc('\n', out);
}

static void flush_port(struct show *show, unsigned port)
{
    struct tt_midi_event event;

    while (tt_midi_parser_flush(&show->ports[port]->parser, &event)) {
        show_event(show, port, &event);
    }
}

static void show_bytes(struct show *show, const struct tt_midi_frame *frame)
{
    struct tt_midi_parser *parser = &show->ports[frame->port]->parser;
    struct tt_midi_event event;
    size_t used;

    for (size_t at = 0; tt_midi_parser_step(parser, frame->data + at, frame->length - at,
                                            frame->time_mono_ns, &used, &event);
         at += used) {
        show_event(show, frame->port, &event);
    }
}

static void show_loss(struct show *show, const struct tt_midi_frame *frame,
                      const struct tt_midi_log_loss *loss)
{
    FILE *out = show->dump->out;

    show->dump->lost = true;
    if (show->dump->json) {
        tt_midi_dump_json_event(
            show->dump,
            json_pack("{s:s, s:i, s:I, s:I, s:o}", "kind", "loss", "port", (int)frame->port,
                      "since_ns", (json_int_t)since_start(show, loss->since_mono_ns), "until_ns",
                      (json_int_t)since_start(show, frame->time_mono_ns), "bytes",
                      tt_json_known((int64_t)loss->bytes, 1)));
        return;
    }
    begin_line(show, frame->time_mono_ns, frame->port);
    if (loss->bytes > 0) {
        fprintf(out, "LOST: %" PRIu64 " %s since", loss->bytes,
                tt_plural(loss->bytes, "byte", "bytes"));
    } else {
        fputs("LOST: bytes since", out);
    }
    print_time(show, loss->since_mono_ns);
    fputc('\n', out);
}

static void show_simple(struct show *show, const struct tt_midi_frame *frame, const char *kind,
                        const char *text)
{
    if (show->dump->json) {
        tt_midi_dump_json_event(
            show->dump, json_pack("{s:s, s:i, s:I}", "kind", kind, "port", (int)frame->port,
                                  "time_ns", (json_int_t)since_start(show, frame->time_mono_ns)));
    } else {
        fprintf(begin_line(show, frame->time_mono_ns, frame->port), "%s\n", text);
    }
}

static void show_clock(struct show *show, const struct tt_midi_frame *frame,
                       const struct tt_midi_log_clock *clock)
{
    const struct tt_midi_log_header *header = &show->log->header;
    char text[TT_MIDI_SECONDS_TEXT];
    int64_t off_ns = clock->utc_ns - header->clock.utc_ns - (frame->time_mono_ns - header->mono_ns);

    if (show->dump->json) {
        tt_midi_dump_json_event(show->dump,
                                json_pack("{s:s, s:I, s:I, s:I}", "kind", "clock", "time_ns",
                                          (json_int_t)since_start(show, frame->time_mono_ns),
                                          "utc_ns", (json_int_t)clock->utc_ns, "bracket_ns",
                                          (json_int_t)clock->bracket_ns));
        return;
    }
    print_time(show, frame->time_mono_ns);
    fprintf(show->dump->out, "    -  wall clock: %s s from where the start puts it\n",
            tt_midi_seconds_format(off_ns, text));
}

static void show_frame(struct show *show, const struct tt_midi_frame *frame)
{
    struct tt_midi_log_clock clock;
    struct tt_midi_log_loss loss;

    if (tt_midi_log_loss_of(frame, &loss) == 0) {
        flush_port(show, frame->port);
        show_loss(show, frame, &loss);
    } else if (tt_midi_log_clock_of(frame, &clock) == 0) {
        show_clock(show, frame, &clock);
    } else if (frame->type == TT_MIDI_LOG_BYTES) {
        show_bytes(show, frame);
    } else if (frame->type == TT_MIDI_LOG_GONE) {
        flush_port(show, frame->port);
        show_simple(show, frame, "gone", "the port is gone");
    } else if (frame->type == TT_MIDI_LOG_BACK) {
        show_simple(show, frame, "back", "the port is back");
    }
}

static json_t *port_json(unsigned port, const struct tt_midi_port_survey *survey)
{
    return json_pack("{s:i, s:o, s:s?, s:I, s:I, s:I, s:I}", "port", (int)port, "name",
                     tt_json_name(survey->name), "stamp",
                     survey->stamp_known ? tt_midi_stamp_name(survey->stamp) : NULL, "bytes",
                     (json_int_t)survey->bytes, "losses", (json_int_t)survey->losses, "bytes_lost",
                     (json_int_t)survey->bytes_lost, "gone", (json_int_t)survey->gone);
}

static void begin_json(struct show *show)
{
    const struct tt_midi_log_header *header = &show->log->header;
    json_t *ports = json_array();

    for (unsigned port = 0; port < TT_MIDI_LOG_PORTS; port++) {
        if (show->survey.ports[port].seen) {
            json_array_append_new(ports, port_json(port, &show->survey.ports[port]));
        }
    }
    tt_midi_dump_json_begin(show->dump,
                            json_pack("{s:o, s:s, s:I, s:I, s:I, s:b, s:o}", "source",
                                      tt_json_name(show->dump->source), "kind", "log",
                                      "start_mono_ns", (json_int_t)header->mono_ns, "start_utc_ns",
                                      (json_int_t)header->clock.utc_ns, "bracket_ns",
                                      (json_int_t)header->clock.bracket_ns, "ended",
                                      show->survey.ended, "ports", ports));
}

static void begin_text(const struct show *show)
{
    const struct tt_midi_log_header *header = &show->log->header;
    time_t seconds = (time_t)tt_floor_div(header->clock.utc_ns, TT_NS_PER_S);
    FILE *out = show->dump->out;
    struct tm broken;
    char text[64];

    strftime(text, sizeof(text), "%FT%T", gmtime_r(&seconds, &broken));
    fprintf(out, "%s: raw MIDI log from %s.%09" PRId64 "Z, %s\n", show->dump->source, text,
            header->clock.utc_ns - (int64_t)seconds * TT_NS_PER_S,
            show->survey.ended ? "ended by its recorder" : "NOT ended by its recorder");
    for (unsigned port = 0; port < TT_MIDI_LOG_PORTS; port++) {
        const struct tt_midi_port_survey *survey = &show->survey.ports[port];

        if (survey->seen) {
            fprintf(out, "port %u: ", port);
            tt_midi_dump_text(out, (const uint8_t *)survey->name, strlen(survey->name));
            fprintf(out, ", stamps: %s, %" PRIu64 " %s, %" PRIu64 " %s\n",
                    survey->stamp_known ? tt_midi_stamp_name(survey->stamp) : "unknown",
                    survey->bytes, tt_plural(survey->bytes, "byte", "bytes"), survey->losses,
                    tt_plural(survey->losses, "loss", "losses"));
        }
    }
    fprintf(out, "%19s %4s  event\n", "time, s", "port");
}

static int make_ports(struct show *show)
{
    for (unsigned i = 0; i < TT_MIDI_LOG_PORTS; i++) {
        struct port *port;

        if (!show->survey.ports[i].seen) {
            continue;
        }
        port = calloc(1, sizeof(*port));
        show->ports[i] = port;
        if (port) {
            port->sysex = malloc(SYSEX_BYTES);
        }
        if (!port || !port->sysex) {
            return -ENOMEM;
        }
        tt_midi_parser_init(&port->parser, port->sysex, SYSEX_BYTES);
    }
    return 0;
}

static void free_show(struct show *show)
{
    for (unsigned i = 0; i < TT_MIDI_LOG_PORTS; i++) {
        if (show->ports[i]) {
            free(show->ports[i]->sysex);
            free(show->ports[i]);
        }
    }
    free(show);
}

static void show_all(struct show *show)
{
    enum tt_midi_frame_reason reason;
    enum tt_midi_log_item item;
    struct tt_midi_frame frame;
    size_t offset;

    if (show->log->start_damaged) {
        tt_midi_dump_warning(show->dump, TT_MIDI_LOG_START_AT, true,
                             "the header's times are damaged: the start may be off");
    }
    while (!ferror(show->dump->out) &&
           (item = tt_midi_log_next(show->log, &offset, &frame, &reason)) != TT_MIDI_LOG_DONE) {
        if (item == TT_MIDI_LOG_FRAME) {
            reason = tt_midi_survey_judge(&show->survey, show->log, offset, &frame);
        }
        if (item == TT_MIDI_LOG_FRAME && reason == TT_MIDI_FRAME_OK) {
            show_frame(show, &frame);
        } else {
            tt_midi_dump_warning(show->dump, offset, true,
                                 item == TT_MIDI_LOG_CUT ? "the last frame is not whole"
                                                         : tt_midi_frame_reason_text(reason));
        }
    }
    for (unsigned i = 0; i < TT_MIDI_LOG_PORTS; i++) {
        if (show->ports[i]) {
            flush_port(show, i);
        }
    }
}

int tt_midi_dump_log(struct tt_midi_dump *dump, struct tt_midi_log *log)
{
    struct show *show = calloc(1, sizeof(*show));
    int error;

    if (!show) {
        return -ENOMEM;
    }
    show->dump = dump;
    show->log = log;
    tt_midi_survey_log(log, &show->survey);
    error = make_ports(show);
    if (!error) {
        if (dump->json) {
            begin_json(show);
        } else {
            begin_text(show);
        }
        show_all(show);
        if (dump->json) {
            tt_midi_dump_json_end(dump);
        }
    }
    free_show(show);
    return error;
}
