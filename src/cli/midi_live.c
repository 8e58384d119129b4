/*
 * See midi_live.h.
 */
#include "cli/midi_live.h"

#include <inttypes.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>

#include "cli/midi_dump.h"
#include "midi/log.h"
#include "midi/parser.h"
#include "report/plural.h"

#define SYSEX_BYTES   64
#define LINES_A_FLUSH 40
#define PORTS         32

struct port {
    struct tt_midi_parser parser;
    uint8_t sysex[SYSEX_BYTES];
    bool clock_shown;
    bool sensing_shown;
};

struct tt_midi_live {
    FILE *out;
    int64_t start_mono_ns;
    unsigned lines; /* since the last flush */
    uint64_t more;  /* events that got none */
    struct port ports[PORTS];
};

struct tt_midi_live *tt_midi_live_new(FILE *out, int64_t start_mono_ns)
{
    struct tt_midi_live *live = calloc(1, sizeof(*live));

    if (!live) {
        return NULL;
    }
    live->out = out;
    live->start_mono_ns = start_mono_ns;
    for (unsigned i = 0; i < PORTS; i++) {
        tt_midi_parser_init(&live->ports[i].parser, live->ports[i].sysex, SYSEX_BYTES);
    }
    return live;
}

void tt_midi_live_free(struct tt_midi_live *live)
{
    free(live);
}

/* A display that stands still must not hold up the recording: a line is written where it is taken
 * at once, which a pipe says of 4096 bytes. */
static bool is_taken(const struct tt_midi_live *live)
{
    struct pollfd out = {.fd = fileno(live->out), .events = POLLOUT};

    fflush(live->out); /* the line before, which had room */
    return poll(&out, 1, 0) == 1 && (out.revents & POLLOUT);
}

static bool begin_line(struct tt_midi_live *live, unsigned port, int64_t mono_ns)
{
    char text[TT_MIDI_SECONDS_TEXT];

    if (live->lines++ >= LINES_A_FLUSH || !is_taken(live)) {
        live->more++;
        return false;
    }
    tt_midi_seconds_format(mono_ns - live->start_mono_ns, text);
    fprintf(live->out, "%16.*s %3u  ", (int)strlen(text) - 3, text, port); /* us */
    return true;
}

/* What comes all the time would hide the rest: whether it was shown. NULL: it is none of that. */
static bool *shown_once(struct port *port, const struct tt_midi_event *event)
{
    if (event->bytes != 1) {
        return NULL;
    }
    return event->data[0] == TT_MIDI_CLOCK            ? &port->clock_shown
           : event->data[0] == TT_MIDI_ACTIVE_SENSING ? &port->sensing_shown
                                                      : NULL;
}

static void show_event(struct tt_midi_live *live, unsigned port, const struct tt_midi_event *event)
{
    bool *shown = shown_once(&live->ports[port], event);
    char text[TT_MIDI_MESSAGE_TEXT];

    if ((shown && *shown) || !begin_line(live, port, event->first_ns)) {
        return;
    }
    if (shown) {
        *shown = true;
    }
    if (event->kind == TT_MIDI_EVENT_SYSEX) {
        fputs("system exclusive: ", live->out);
        tt_midi_dump_bytes(live->out, event->data, event->bytes);
        fputc('\n', live->out);
        return;
    }
    tt_midi_message_format(event->data, event->bytes, text);
    fprintf(live->out, "%s%s%s\n", event->kind == TT_MIDI_EVENT_STRAY ? "stray: " : "", text,
            shown ? "; further ones get no line" : "");
}

static void show_bytes(struct tt_midi_live *live, const struct tt_midi_frame *frame)
{
    struct tt_midi_parser *parser = &live->ports[frame->port].parser;
    struct tt_midi_event event;
    size_t used;

    for (size_t at = 0; tt_midi_parser_step(parser, frame->data + at, frame->length - at,
                                            frame->time_mono_ns, &used, &event);
         at += used) {
        show_event(live, frame->port, &event);
    }
}

void tt_midi_live_frame(struct tt_midi_live *live, const struct tt_midi_frame *frame)
{
    struct tt_midi_log_loss loss;
    struct port *port;

    if (frame->port >= PORTS) {
        return;
    }
    port = &live->ports[frame->port];
    if (frame->type == TT_MIDI_LOG_BYTES) {
        show_bytes(live, frame);
        return;
    }
    if (tt_midi_log_loss_of(frame, &loss) == 0) {
        /* What follows does not go on with the status of before. */
        tt_midi_parser_init(&port->parser, port->sysex, SYSEX_BYTES);
        if (begin_line(live, frame->port, frame->time_mono_ns)) {
            fprintf(live->out, "LOST: %" PRIu64 " %s\n", loss.bytes,
                    tt_plural(loss.bytes, "byte", "bytes"));
        }
    } else if (frame->type == TT_MIDI_LOG_GONE || frame->type == TT_MIDI_LOG_BACK) {
        tt_midi_parser_init(&port->parser, port->sysex, SYSEX_BYTES);
        if (begin_line(live, frame->port, frame->time_mono_ns)) {
            fputs(frame->type == TT_MIDI_LOG_GONE ? "the port is gone\n" : "the port is back\n",
                  live->out);
        }
    }
}

void tt_midi_live_flush(struct tt_midi_live *live)
{
    if (live->more > 0 && is_taken(live)) {
        fprintf(live->out, "%22s and %" PRIu64 " more\n", "", live->more);
        live->more = 0;
    }
    live->lines = 0;
    fflush(live->out);
}
