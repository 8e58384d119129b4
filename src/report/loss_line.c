/*
 * See loss_line.h. Figures stand behind their names, so that no form of a word depends on them.
 */
#include "report/loss_line.h"

#include <inttypes.h>
#include <stdio.h>

#include "audio/eth.h"
#include "report/parts.h"

void tt_loss_line_talk(const struct tt_talk_counters *counters, unsigned notes,
                       struct tt_loss_line *ret_line)
{
    uint64_t lost = counters->pdus_dropped + counters->pdus_refused;

    ret_line->text[0] = 0;
    if (lost > 0) {
        tt_parts_add(
            ret_line->text, sizeof(ret_line->text),
            "packets not sent: %" PRIu64 " of %" PRIu64 " (could not meet their presentation time "
            "any more: %" PRIu64 ", refused by the interface or the kernel: %" PRIu64 ")",
            lost, counters->pdus_sent + lost, counters->pdus_dropped, counters->pdus_refused);
    }
    if (notes & TT_NOTE_LINK_GONE) {
        tt_parts_add(ret_line->text, sizeof(ret_line->text),
                     "the interface is gone: what came after that is lost");
    } else if (notes & TT_NOTE_LINK_DOWN) {
        tt_parts_add(ret_line->text, sizeof(ret_line->text),
                     "the interface was down or without carrier: what was sent then is lost");
    }
    if (counters->xruns > 0) {
        tt_parts_add(ret_line->text, sizeof(ret_line->text),
                     "times that the program did not write in time: %" PRIu64, counters->xruns);
    }
    if (counters->underruns > 0) {
        tt_parts_add(ret_line->text, sizeof(ret_line->text),
                     "times that the program did not write in time and silence went out: %" PRIu64
                     " (frames of silence: %" PRIu64 ")",
                     counters->underruns, counters->frames_inserted);
    }
}

static uint64_t refused(const struct tt_listener_counters *stream)
{
    uint64_t sum = 0;

    for (size_t i = 0; i < TT_AAF_REASONS; i++) {
        sum += stream->pdus_refused[i];
    }
    return sum;
}

/* What the stream's format was fixed to be, as far as it was. */
static void add_other_format(struct tt_loss_line *line, const struct tt_stream_config *config,
                             uint64_t packets)
{
    char rate[24] = "";
    char channels[32] = "";

    if (config->rate_hz > 0) {
        snprintf(rate, sizeof(rate), "%s%u Hz", config->format ? ", " : "",
                 (unsigned)config->rate_hz);
    }
    if (config->channels > 0) {
        snprintf(channels, sizeof(channels), "%schannels: %u",
                 config->format || config->rate_hz > 0 ? ", " : "", config->channels);
    }
    tt_parts_add(line->text, sizeof(line->text), "packets in another format than %s%s%s: %" PRIu64,
                 config->format ? tt_aaf_format_name(config->format) : "", rate, channels, packets);
}

void tt_loss_line_listen(const struct tt_stream_config *config,
                         const struct tt_listen_counters *counters, struct tt_loss_line *ret_line)
{
    const struct tt_listener_counters *stream = &counters->stream;
    char stream_id[TT_STREAM_ID_TEXT];
    char dest[TT_MAC_TEXT];

    ret_line->text[0] = 0;
    if (counters->packets == 0) {
        tt_parts_add(ret_line->text, sizeof(ret_line->text),
                     "no packet of stream %s to %s came in on %s",
                     tt_stream_id_format(config->stream_id, stream_id),
                     tt_mac_format(config->dest, dest), config->ifname);
    }
    if (stream->frames_lost + stream->frames_late > 0) {
        tt_parts_add(
            ret_line->text, sizeof(ret_line->text),
            "frames recorded as silence: %" PRIu64 " (lost: %" PRIu64 ", too late: %" PRIu64 ")",
            stream->frames_lost + stream->frames_late, stream->frames_lost, stream->frames_late);
    } else if (stream->pdus_late > 0 && stream->pdus_placed == 0) {
        tt_parts_add(ret_line->text, sizeof(ret_line->text), "packets that came too late: %" PRIu64,
                     stream->pdus_late);
    }
    if (stream->pdus_other_format > 0) {
        add_other_format(ret_line, config, stream->pdus_other_format);
    }
    if (stream->pdus_other_talker > 0) {
        tt_parts_add(ret_line->text, sizeof(ret_line->text),
                     "packets of another talker with the same stream ID: %" PRIu64,
                     stream->pdus_other_talker);
    }
    if (stream->pdus_other_timescale > 0) {
        tt_parts_add(ret_line->text, sizeof(ret_line->text),
                     config->timescale == TT_TIMESCALE_UTC
                         ? "packets stamped in TAI instead of UTC (give timescale tai): %" PRIu64
                         : "packets stamped in UTC instead of TAI (set the talker's clock, or give "
                           "timescale utc): %" PRIu64,
                     stream->pdus_other_timescale);
    } else if (stream->pdus_early + stream->pdus_unplaced > 0) {
        tt_parts_add(ret_line->text, sizeof(ret_line->text),
                     "packets whose presentation time made no sense here: %" PRIu64,
                     stream->pdus_early + stream->pdus_unplaced);
    }
    if (refused(stream) > 0) {
        tt_parts_add(ret_line->text, sizeof(ret_line->text),
                     "packets that were no valid AAF: %" PRIu64, refused(stream));
    }
    if (counters->receive_drops > 0) {
        tt_parts_add(ret_line->text, sizeof(ret_line->text),
                     "packets lost in the socket's buffer: %" PRIu64, counters->receive_drops);
    }
    if (counters->xruns > 0) {
        tt_parts_add(ret_line->text, sizeof(ret_line->text),
                     "times that the program did not read in time: %" PRIu64, counters->xruns);
    }
}
