/*
 * See player.h.
 */
#include "midi/player.h"

#include "base/min_max.h"

void tt_player_init(struct tt_player *player, struct tt_player_event *events, size_t count,
                    int64_t byte_ns)
{
    *player = (struct tt_player){.events = events, .count = count, .byte_ns = byte_ns};
}

static size_t length_of(const struct tt_player_event *event)
{
    return event->bytes + (event->starts_sysex ? 1 : 0);
}

static bool is_realtime(const struct tt_player_event *event)
{
    return !event->starts_sysex && event->bytes == 1 && event->data[0] >= TT_MIDI_REALTIME;
}

/* Bytes go onto the wire now. */
static void send(struct tt_player *player, const struct tt_player_event *event, int64_t now_ns,
                 struct tt_player_output *output)
{
    player->wire_free_ns =
        tt_max64(player->wire_free_ns, now_ns) + player->byte_ns * (int64_t)output->bytes;
    output->due_ns = event->due_ns;
}

static void finish_event(struct tt_player *player, struct tt_player_event *event)
{
    event->sent = true;
    player->sent++;
    player->part = 0;
    while (player->next < player->count && player->events[player->next].sent)
        player->next++;
}

/* The next bytes of a message that may be long. */
static void send_part(struct tt_player *player, struct tt_player_event *event, int64_t now_ns,
                      struct tt_player_output *output)
{
    size_t left = length_of(event) - player->part;
    size_t n = left < TT_PLAYER_SLICE ? left : TT_PLAYER_SLICE;

    for (size_t i = 0; i < n; i++) {
        size_t at = player->part + i;

        player->slice[i] = !event->starts_sysex ? event->data[at]
                           : at == 0            ? TT_MIDI_SYSEX
                                                : event->data[at - 1];
    }
    *output =
        (struct tt_player_output){.data = player->slice, .bytes = n, .first = player->part == 0};
    send(player, event, now_ns, output);
    player->part += n;
    if (player->part == length_of(event))
        finish_event(player, event);
}

/* While a long message is on its way: a real-time byte that is due gets in between. */
static struct tt_player_event *realtime_due(struct tt_player *player, int64_t now_ns)
{
    for (size_t i = player->next + 1; i < player->count && i <= player->next + TT_PLAYER_LOOK_AHEAD;
         i++) {
        struct tt_player_event *event = &player->events[i];

        if (event->due_ns > now_ns)
            return NULL;
        if (!event->sent && is_realtime(event))
            return event;
    }
    return NULL;
}

static void send_realtime(struct tt_player *player, struct tt_player_event *event, int64_t now_ns,
                          struct tt_player_output *output)
{
    *output = (struct tt_player_output){.data = event->data, .bytes = 1, .first = true};
    send(player, event, now_ns, output);
    event->sent = true;
    player->sent++;
}

bool tt_player_step(struct tt_player *player, int64_t now_ns, struct tt_player_output *ret_output,
                    int64_t *ret_wake_ns)
{
    struct tt_player_event *event;

    while (player->next < player->count && length_of(&player->events[player->next]) == 0)
        finish_event(player, &player->events[player->next]);
    if (player->next == player->count) {
        *ret_wake_ns = INT64_MAX;
        return false;
    }
    event = &player->events[player->next];
    *ret_wake_ns = tt_max64(event->due_ns, player->wire_free_ns);
    if (*ret_wake_ns > now_ns)
        return false;
    if (player->part > 0) {
        struct tt_player_event *realtime = realtime_due(player, now_ns);

        if (realtime) {
            send_realtime(player, realtime, now_ns, ret_output);
            return true;
        }
    }
    send_part(player, event, now_ns, ret_output);
    return true;
}
