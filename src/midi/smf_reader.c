/*
 * Reading a Standard MIDI File. See smf.h.
 */
#include "midi/smf.h"

#include <assert.h>
#include <string.h>

#include "base/bytes.h"

#define ID_BYTES     4
#define HEAD_BYTES   8
#define TRIAL_EVENTS 8

/* Faults come out before the event that they are at. */
static void found(struct tt_smf *smf, enum tt_smf_fault fault, size_t offset)
{
    assert(smf->waiting_count < TT_SMF_FAULTS_WAITING);
    smf->waiting[smf->waiting_count++] = (struct tt_smf_fault_at){fault, offset};
}

static void read_division(struct tt_smf *smf, const uint8_t *bytes)
{
    uint16_t value = tt_get_be16(bytes);
    unsigned fps = 256U - bytes[0];

    if ((value & 0x8000) == 0) {
        smf->division = (struct tt_smf_division){.ppq = value};
        if (value == 0)
            found(smf, TT_SMF_DIVISION, HEAD_BYTES + 4);
        return;
    }
    smf->division = (struct tt_smf_division){.fps = fps, .ticks = bytes[1]};
    if (bytes[1] == 0)
        found(smf, TT_SMF_DIVISION, HEAD_BYTES + 4);
    else if (fps != 24 && fps != 25 && fps != 29 && fps != 30)
        found(smf, TT_SMF_DIVISION_SMPTE, HEAD_BYTES + 4);
}

enum tt_smf_fault tt_smf_open(struct tt_smf *smf, const uint8_t *data, size_t bytes)
{
    uint32_t header_bytes;

    if (bytes < ID_BYTES || memcmp(data, "MThd", ID_BYTES) != 0)
        return TT_SMF_NO_HEADER;
    if (bytes < HEAD_BYTES)
        return TT_SMF_HEADER_CUT;
    header_bytes = tt_get_be32(data + ID_BYTES);
    if (header_bytes < 6)
        return TT_SMF_HEADER_SHORT;
    if (bytes - HEAD_BYTES < header_bytes)
        return TT_SMF_HEADER_CUT;
    *smf = (struct tt_smf){
        .data = data,
        .bytes = bytes,
        .format = tt_get_be16(data + HEAD_BYTES),
        .tracks_announced = tt_get_be16(data + HEAD_BYTES + 2),
        .at = HEAD_BYTES + header_bytes,
    };
    if (smf->format > 2) {
        found(smf, TT_SMF_FORMAT, HEAD_BYTES);
        smf->format = 1;
    } else if (smf->format == 0 && smf->tracks_announced > 1) {
        found(smf, TT_SMF_FORMAT_0, HEAD_BYTES);
        smf->format = 1;
    }
    read_division(smf, data + HEAD_BYTES + 4);
    return TT_SMF_FINE;
}

void tt_smf_rewind(struct tt_smf *smf)
{
    tt_smf_open(smf, smf->data, smf->bytes);
}

/* ---- events */

static void read_event(struct tt_smf *smf);

enum number { NUMBER_GOOD, NUMBER_LONG, NUMBER_CUT };

static enum number read_number(struct tt_smf *smf, uint32_t *ret_value)
{
    uint32_t value = 0;

    for (unsigned i = 0; i < 4; i++) {
        if (smf->at == smf->end)
            return NUMBER_CUT;
        value = value << 7 | (smf->data[smf->at] & 0x7F);
        if ((smf->data[smf->at++] & 0x80) == 0) {
            *ret_value = value;
            return NUMBER_GOOD;
        }
    }
    return NUMBER_LONG;
}

/* The rest of the track cannot be read. */
static void give_up(struct tt_smf *smf, enum tt_smf_fault fault, size_t offset)
{
    found(smf, fault, offset);
    smf->at = smf->end;
    smf->in_track = false;
    if (smf->sysex_open)
        found(smf, TT_SMF_SYSEX_UNFINISHED, smf->sysex_at);
    smf->sysex_open = false;
}

static bool checked_number(struct tt_smf *smf, uint32_t *ret_value)
{
    size_t offset = smf->at;
    enum number number = read_number(smf, ret_value);

    if (number != NUMBER_GOOD)
        give_up(smf, number == NUMBER_LONG ? TT_SMF_LONG_NUMBER : TT_SMF_EVENT_CUT, offset);
    return number == NUMBER_GOOD;
}

/* The length and the data behind it. */
static bool read_data(struct tt_smf *smf, struct tt_smf_event *event)
{
    size_t offset = smf->at;
    uint32_t length;

    if (!checked_number(smf, &length))
        return false;
    if (length > smf->end - smf->at) {
        give_up(smf, TT_SMF_EVENT_CUT, offset);
        return false;
    }
    event->data = smf->data + smf->at;
    event->bytes = length;
    smf->at += length;
    return true;
}

static void end_sysex(struct tt_smf *smf)
{
    if (smf->sysex_open)
        found(smf, TT_SMF_SYSEX_UNFINISHED, smf->sysex_at);
    smf->sysex_open = false;
}

/* -1: any. */
static int meta_length(uint8_t type)
{
    switch (type) {
    case 0x20: /* channel prefix */
    case 0x21: /* port */
        return 1;
    case TT_SMF_META_END:
        return 0;
    case TT_SMF_META_OFFSET:
        return 5;
    case TT_SMF_META_TIME:
        return 4;
    case TT_SMF_META_KEY:
        return 2;
    default:
        return -1;
    }
}

static void check_meta(struct tt_smf *smf, const struct tt_smf_event *event, size_t offset)
{
    int length = meta_length(event->type);

    if (event->type == TT_SMF_META_TEMPO) {
        if (event->bytes < 3)
            found(smf, TT_SMF_TEMPO_LENGTH, offset);
        else if (tt_smf_tempo_of(event) == 0)
            found(smf, TT_SMF_TEMPO_ZERO, offset);
        else if (event->bytes > 3)
            found(smf, TT_SMF_META_LENGTH, offset);
    } else if (length >= 0 && event->bytes != (size_t)length) {
        found(smf, TT_SMF_META_LENGTH, offset);
    }
}

static bool read_meta(struct tt_smf *smf, struct tt_smf_event *event, size_t offset)
{
    event->kind = TT_SMF_META;
    if (smf->at == smf->end) {
        give_up(smf, TT_SMF_EVENT_CUT, offset);
        return false;
    }
    event->type = smf->data[smf->at++];
    smf->running_broken = true;
    if (!read_data(smf, event))
        return false;
    check_meta(smf, event, offset);
    if (event->type != TT_SMF_META_END)
        return true;
    end_sysex(smf);
    smf->in_track = false;
    if (smf->long_chunk)
        smf->end = smf->at; /* the length was wrong: there may be a chunk here */
    else if (smf->at < smf->end)
        found(smf, TT_SMF_AFTER_END, smf->at);
    smf->at = smf->end;
    return true;
}

static bool all_realtime(const struct tt_smf_event *event)
{
    for (size_t i = 0; i < event->bytes; i++) {
        if (event->data[i] < TT_MIDI_REALTIME)
            return false;
    }
    return event->bytes > 0;
}

/* F0 begins; F7 goes on with what is open, unless it is a real-time byte in its midst. */
static bool read_sysex(struct tt_smf *smf, struct tt_smf_event *event, bool begins, size_t offset)
{
    smf->running_broken = true;
    if (!read_data(smf, event))
        return false;
    if (begins)
        end_sysex(smf);
    event->kind =
        begins || (smf->sysex_open && !all_realtime(event)) ? TT_SMF_SYSEX : TT_SMF_ESCAPE;
    if (event->kind == TT_SMF_ESCAPE)
        return true;
    event->begins = begins;
    event->more = event->bytes == 0 || event->data[event->bytes - 1] != TT_MIDI_SYSEX_END;
    if (begins)
        smf->sysex_at = offset;
    smf->sysex_open = event->more;
    return true;
}

static bool is_realtime(uint8_t byte)
{
    return byte >= TT_MIDI_REALTIME && byte != 0xFF; /* which is a meta event in a file */
}

/* Whether what is at `at` reads as events, up to one that has a status of its own. */
static bool reads_well(const struct tt_smf *smf, size_t at, bool no_delta)
{
    struct tt_smf trial = *smf;
    const struct tt_smf_event *event = &trial.event.event;

    trial.at = at;
    trial.no_delta = no_delta;
    trial.on_trial = true;
    trial.waiting_count = 0;
    for (int i = 0; i < TRIAL_EVENTS && trial.in_track && trial.at < trial.end; i++) {
        trial.event_ready = false;
        read_event(&trial);
        if (!trial.event_ready || trial.waiting_count > 0)
            return false;
        if (event->kind != TT_SMF_MESSAGE || trial.data[trial.at - event->bytes] >= TT_MIDI_STATUS)
            return true;
    }
    return true;
}

/* A message of `bytes`, whose data begins at `at`, without real-time bytes in its midst. Returns
 * what is behind it; 0: it is not whole. */
static size_t take_around_realtime(struct tt_smf *smf, size_t at, unsigned bytes)
{
    unsigned taken = 1;

    for (; at < smf->end && taken < bytes; at++) {
        if (smf->data[at] < TT_MIDI_STATUS)
            smf->message[taken++] = smf->data[at];
        else if (!is_realtime(smf->data[at]))
            return 0;
    }
    return taken == bytes ? at : 0;
}

/* A message with a byte over 7F at `bad` where data should be. That byte is damaged, where what is
 * behind the message reads well; or a real-time byte fell into it; or it was cut off there. True:
 * it is whole all the same. */
static bool mend_message(struct tt_smf *smf, unsigned bytes, size_t data_at, size_t bad)
{
    size_t behind;

    if (smf->on_trial || reads_well(smf, smf->at, false))
        return false;
    behind = take_around_realtime(smf, data_at, bytes);
    if (behind > 0 && reads_well(smf, behind, false)) {
        smf->at = behind;
        smf->inside_at = data_at;
        smf->inside_end = behind;
        return true;
    }
    if (reads_well(smf, bad, true)) {
        smf->at = bad;
        smf->no_delta = true;
    }
    return false;
}

static bool read_message(struct tt_smf *smf, struct tt_smf_event *event, uint8_t status,
                         size_t offset)
{
    unsigned bytes = tt_midi_message_bytes(status);
    size_t data_at = smf->at;
    size_t bad = 0;

    if (status >= TT_MIDI_SYSTEM)
        found(smf, TT_SMF_BARE_SYSTEM, offset);
    if (status < TT_MIDI_REALTIME)
        end_sysex(smf);
    if (smf->end - smf->at < bytes - 1) {
        give_up(smf, TT_SMF_EVENT_CUT, offset);
        return false;
    }
    smf->message[0] = status;
    for (unsigned i = 1; i < bytes; i++) {
        smf->message[i] = smf->data[smf->at++];
        if (smf->message[i] >= TT_MIDI_STATUS && bad == 0)
            bad = smf->at - 1;
    }
    if (bad > 0) {
        bool mended = mend_message(smf, bytes, data_at, bad);

        found(smf, mended ? TT_SMF_BARE_SYSTEM : TT_SMF_DATA_BYTE, mended ? bad : offset);
        if (!mended)
            return false;
    }
    event->kind = TT_SMF_MESSAGE;
    event->data = smf->message;
    event->bytes = bytes;
    return true;
}

/* The status of a message: read, or running. 0: there is none. */
static uint8_t read_status(struct tt_smf *smf, size_t offset)
{
    if (smf->data[smf->at] >= TT_MIDI_STATUS) {
        uint8_t status = smf->data[smf->at++];

        if (status < TT_MIDI_SYSTEM) {
            smf->running = status;
            smf->running_broken = false;
        }
        return status;
    }
    if (smf->running == 0) {
        give_up(smf, TT_SMF_NO_STATUS, offset);
        return 0;
    }
    if (smf->running_broken) {
        found(smf, TT_SMF_RUNNING_ACROSS, offset);
        smf->running_broken = false;
    }
    return smf->running;
}

static void read_event(struct tt_smf *smf)
{
    struct tt_smf_item *item = &smf->event;
    size_t offset = smf->at;
    uint32_t delta = 0;
    uint8_t status;

    *item =
        (struct tt_smf_item){.kind = TT_SMF_ITEM_EVENT, .track = smf->tracks - 1, .offset = offset};
    if (!smf->no_delta && !checked_number(smf, &delta))
        return;
    smf->no_delta = false;
    smf->tick += delta;
    if (smf->at == smf->end) {
        give_up(smf, TT_SMF_EVENT_CUT, offset);
        return;
    }
    item->event.tick = smf->tick;
    offset = smf->at;
    status = read_status(smf, offset);
    if (status == 0)
        return;
    if (status == 0xFF)
        smf->event_ready = read_meta(smf, &item->event, offset);
    else if (status == TT_MIDI_SYSEX || status == TT_MIDI_SYSEX_END)
        smf->event_ready = read_sysex(smf, &item->event, status == TT_MIDI_SYSEX, offset);
    else
        smf->event_ready = read_message(smf, &item->event, status, offset);
}

/* The next real-time byte that fell into the message before. */
static void read_inside(struct tt_smf *smf)
{
    size_t at = smf->inside_at++;

    smf->event.offset = at;
    smf->event.event.data = smf->data + at;
    smf->event.event.bytes = 1;
    smf->event_ready = is_realtime(smf->data[at]);
}

/* ---- chunks */

static void end_of_file(struct tt_smf *smf)
{
    smf->done = true;
    if (smf->tracks == 0)
        found(smf, TT_SMF_NO_TRACK, smf->at);
    else if (smf->tracks < smf->tracks_announced)
        found(smf, TT_SMF_TRACKS_FEWER, smf->at);
}

static void read_chunk(struct tt_smf *smf)
{
    size_t offset = smf->at;
    size_t left = smf->bytes - smf->at;
    const uint8_t *id = smf->data + smf->at;
    uint32_t length;

    if (left < HEAD_BYTES) {
        if (left > 0)
            found(smf, TT_SMF_CHUNK_HEAD, offset);
        smf->at = smf->bytes;
        end_of_file(smf);
        return;
    }
    length = tt_get_be32(id + ID_BYTES);
    smf->at += HEAD_BYTES;
    smf->long_chunk = length > left - HEAD_BYTES;
    smf->end = smf->long_chunk ? smf->bytes : smf->at + length;
    if (smf->long_chunk)
        found(smf, TT_SMF_CHUNK_LONG, offset + ID_BYTES);
    smf->in_track = memcmp(id, "MTrk", ID_BYTES) == 0;
    if (!smf->in_track) {
        found(smf, TT_SMF_CHUNK_UNKNOWN, offset);
        smf->at = smf->end;
        return;
    }
    if (smf->tracks++ == smf->tracks_announced)
        found(smf, TT_SMF_TRACKS_MORE, offset);
    smf->tick = 0;
    smf->running = 0;
    smf->running_broken = false;
}

static void end_of_chunk(struct tt_smf *smf)
{
    end_sysex(smf);
    found(smf, smf->long_chunk ? TT_SMF_TRACK_CUT : TT_SMF_NO_END, smf->at);
    smf->in_track = false;
}

bool tt_smf_next(struct tt_smf *smf, struct tt_smf_item *ret_item)
{
    for (;;) {
        if (smf->waiting_at < smf->waiting_count) {
            const struct tt_smf_fault_at *fault = &smf->waiting[smf->waiting_at++];

            *ret_item = (struct tt_smf_item){.kind = TT_SMF_ITEM_FAULT,
                                             .track = smf->tracks > 0 ? smf->tracks - 1 : 0,
                                             .offset = fault->offset,
                                             .fault = fault->fault};
            return true;
        }
        smf->waiting_at = 0;
        smf->waiting_count = 0;
        if (smf->event_ready) {
            smf->event_ready = false;
            *ret_item = smf->event;
            return true;
        }
        if (smf->done)
            return false;
        if (smf->inside_at < smf->inside_end)
            read_inside(smf);
        else if (!smf->in_track)
            read_chunk(smf);
        else if (smf->at == smf->end)
            end_of_chunk(smf);
        else
            read_event(smf);
    }
}

uint32_t tt_smf_tempo_of(const struct tt_smf_event *event)
{
    if (event->kind != TT_SMF_META || event->type != TT_SMF_META_TEMPO || event->bytes < 3)
        return 0;
    return (uint32_t)event->data[0] << 16 | tt_get_be16(event->data + 1);
}
