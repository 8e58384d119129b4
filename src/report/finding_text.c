/*
 * See finding_text.h. The lines are templates: {name} is a figure by the name that JSON gives it,
 * times with a fitting unit, numbers grouped; {share} is count / of in per cent, {detail} the
 * finding's own text.
 */
#include "report/finding_text.h"

#include <assert.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/ns.h"
#include "report/table.h"

struct kind {
    const char *code;
    const char *text;
};

static const struct kind kinds[TT_FINDING_KINDS] = {
    [TT_FINDING_STAMPS_UTC] =
        {"stamps_utc",
         "stamps are in UTC, not in TAI (if the clock that took the arrivals is right): they are "
         "{offset_ns} off, and a listener refuses them or waits; set the talker's TAI offset "
         "(ptp4l with phc2sys), or tell the listener timescale utc"},
    [TT_FINDING_STAMPS_FOREIGN] =
        {"stamps_foreign",
         "stamps are near the arrival neither in TAI nor in UTC (in TAI {least_ns} off, modulo "
         "4.295 s): talker and capture do not share a clock; lateness cannot be told"},
    [TT_FINDING_STAMPS_FOLLOW] =
        {"stamps_follow_sending",
         "stamps follow the time of sending, not a media clock, in {count} of {of} steps (up to "
         "{worst_ns} off the media): every hesitation of the talker becomes jitter of the sound; "
         "the talker must count frames"},
    [TT_FINDING_STAMPS_JUMP] =
        {"stamps_jump",
         "stamps do not advance as the sequence does in {count} of {of} steps (up to {worst_ns} "
         "off): a listener takes that for jitter of the media clock, and beyond its tolerance "
         "drops "
         "or resynchronises; look at the talker's clock, and for periods that it left out"},
    [TT_FINDING_LATE] =
        {"late", "{count} of {of} stamped PDUs ({share}) came after their presentation time, up to "
                 "{worst_ns}: silence in their place; raise the talker's mtt or send earlier"},
    [TT_FINDING_MARGIN_LARGE] =
        {"margin_large",
         "every PDU comes at least {least_ns} before its presentation time, more than class B's "
         "50 ms: a listener must keep as much, and the sound is as late; lower the talker's mtt"},
    [TT_FINDING_STAMPS_MISSING] = {"stamps_missing",
                                   "a presentation time is due and missing {count:time|times} in "
                                   "{of} PDUs (tv is 0): a listener "
                                   "cannot tell when to play them"},
    [TT_FINDING_SPARSE_MISUSED] =
        {"sparse_misused",
         "the sparse flag is set, yet {count} of {of} PDUs carry a stamp out of turn (sp promises "
         "one in every eighth): strict listeners refuse them; clear sp or tv"},
    [TT_FINDING_PERIOD_CUT] =
        {"period_cut",
         "the PDU period is cut to whole ns and made good later: the stamps step by {step_ns} "
         "after {every_pdus} PDUs ({count:time|times} so): inaudible, but a recovered clock "
         "wobbles; "
         "the talker must count frames, not add up periods"},
    [TT_FINDING_DRIFT] =
        {"drift_large",
         "the media clock runs {drift_ppb} off its nominal rate by the clock that took the "
         "arrivals; audio clocks and gPTP are within 100 ppm: listeners cannot follow; look at the "
         "talker's clock, and at the capturing machine's"},
    [TT_FINDING_CLOCK_UNCERTAIN] =
        {"clock_uncertain",
         "{count} of {of} PDUs say that their stamp is uncertain (tu): the talker has lost its "
         "clock master; look at its gPTP"},
    [TT_FINDING_CLOCK_RESTARTS] =
        {"clock_restarts",
         "the talker announced {count:time|times} that its media clock began anew (mr): listeners "
         "resynchronise there"},
    [TT_FINDING_CRF_UNEVEN] =
        {"crf_uneven",
         "the stamps of {count} of {of} PDUs are not one interval apart: a clock recovered from "
         "them is wrong there"},
    [TT_FINDING_BURSTS] =
        {"bursts",
         "{count} of {of} PDUs ({share}) came in {bursts:burst|bursts}, up to {longest_pdus} at "
         "once: "
         "they exceed a reservation and shallow queues drop them; have the launch times kept "
         "(ETF, taprio) or see what holds packets up"},
    [TT_FINDING_ARRIVALS_SET_BACK] =
        {"arrivals_set_back",
         "the arrival times of {count} of {of} PDUs are before that of the PDU before, by up to "
         "{worst_ns}: that is the capture's fault, not the talker's or the network's (its clock "
         "was set back, or its records are out of order: reordercap sorts them); what a step of "
         "more than 1 ms touches is left out of intervals and lateness"},
    [TT_FINDING_ARRIVALS_SET_FORWARD] =
        {"arrivals_set_forward",
         "the arrival times jump forward {count:time|times}, by up to {worst_ns} (that one {at_ns} "
         "into the capture), while sequence and stamps go on as if nothing had been: the clock of "
         "the machine that captured was set (or the talker stood still so long); nothing is "
         "missing "
         "there, and presentation margins are those since the last such jump"},
    [TT_FINDING_SILENCE] =
        {"silence",
         "nothing came for up to {worst_ns} ({count:time|times} longer than 2 s): whether the "
         "talker stopped or its PDUs were lost cannot be told from a sequence number of 8 bits, "
         "and "
         "none of them is counted as lost; look at the talker and the link at that time"},
    [TT_FINDING_LOST] =
        {"lost",
         "{count} of {of} PDUs ({share}) are missing, up to {longest_pdus} in a row: silence in "
         "their place; look for drops at each port on the way, and for PDUs that the talker itself "
         "gave up as too late"},
    [TT_FINDING_LOST_DOWN] =
        {"lost_down",
         "{count} of {of} PDUs ({share}) are missing, up to {longest_pdus} in a row, but the "
         "interface here was down {downs:time|times} meanwhile: what came then is among them, and "
         "no port on the way lost it"},
    [TT_FINDING_LOST_HERE] =
        {"lost_here",
         "{count} of {of} PDUs ({share}) are missing, up to {longest_pdus} in a row, but this "
         "machine itself dropped {dropped_here:packet|packets} before they could be "
         "read: only what is more than that was lost on the way; give it less to do, or capture "
         "elsewhere"},
    [TT_FINDING_SEQUENCE_JUMPS] = {"sequence_jumps",
                                   "the sequence number is not one more than before in {count} of "
                                   "{of} PDUs, though the stamps go on: nothing is missing, "
                                   "but listeners count losses; the talker miscounts"},
    [TT_FINDING_DUPLICATED] =
        {"duplicated",
         "{count} of {of} PDUs ({share}) came twice: they cost bandwidth; look for a loop, or two "
         "paths without elimination"},
    [TT_FINDING_REORDERED] =
        {"reordered",
         "{count} of {of} PDUs ({share}) came behind a later one: a listener needs playout "
         "latency to put them back; look for parallel paths or queues"},
    [TT_FINDING_RESTARTED] = {"restarted", "the talker started anew {count:time|times} (sequence "
                                           "and stamps): a gap in the sound each "
                                           "time"},
    [TT_FINDING_SHAPE_CHANGED] = {"shape_changed",
                                  "format, rate, channels or frames per PDU changed "
                                  "{count:time|times}: listeners refuse what "
                                  "they were not set up for; the last is shown"},
    [TT_FINDING_SHARED_ID] = {"shared_id",
                              "{count:other stream here has|other streams here have} the same "
                              "stream ID (other sender or destination): "
                              "listeners mix them up; give each talker an ID of its own"},
    [TT_FINDING_UNTAGGED] =
        {"untagged",
         "no 802.1Q tag: bridges forward it as best effort, without a reservation; fine back to "
         "back"},
    [TT_FINDING_PRIORITY] =
        {"priority_unusual",
         "the tag's priority is {pcp}, neither class A's 3 nor class B's 2: bridges give it no "
         "reserved queue unless they are set up so"},
    [TT_FINDING_VLAN] =
        {"vlan_unusual",
         "the VLAN is {vlan_id}, not 2, the default for reserved streams: bridges must know it"},
    [TT_FINDING_REFUSED] = {"refused", "{count} of {of} PDUs cannot be read: {detail}"},
};

static const char *const figure_names[TT_FIGURES] = {
    [TT_FIGURE_COUNT] = "count",
    [TT_FIGURE_OF] = "of",
    [TT_FIGURE_BURSTS] = "bursts",
    [TT_FIGURE_LONGEST_PDUS] = "longest_pdus",
    [TT_FIGURE_DROPPED_HERE] = "dropped_here",
    [TT_FIGURE_DOWNS] = "downs",
    [TT_FIGURE_WORST_NS] = "worst_ns",
    [TT_FIGURE_LEAST_NS] = "least_ns",
    [TT_FIGURE_STEP_NS] = "step_ns",
    [TT_FIGURE_EVERY_PDUS] = "every_pdus",
    [TT_FIGURE_OFFSET_NS] = "offset_ns",
    [TT_FIGURE_AT_NS] = "at_ns",
    [TT_FIGURE_DRIFT_PPB] = "drift_ppb",
    [TT_FIGURE_VLAN_ID] = "vlan_id",
    [TT_FIGURE_PCP] = "pcp",
};

const char *tt_finding_code(enum tt_finding_kind kind)
{
    return kinds[kind].code;
}

const char *tt_severity_name(enum tt_severity severity)
{
    static const char *const names[TT_SEVERITIES] = {"note", "warning", "fault"};

    return names[severity];
}

/* With the unit that leaves one to three digits before the point. */
static int format_time(char *text, size_t bytes, int64_t ns)
{
    int64_t size = llabs(ns);

    if (size < TT_NS_PER_US) {
        return snprintf(text, bytes, "%" PRId64 " ns", ns);
    }
    if (size < TT_NS_PER_MS) {
        return snprintf(text, bytes, "%.4g us", (double)ns / 1e3);
    }
    if (size < TT_NS_PER_S) {
        return snprintf(text, bytes, "%.4g ms", (double)ns / 1e6);
    }
    return snprintf(text, bytes, "%.4g s", (double)ns / 1e9);
}

static int format_figure(char *text, size_t bytes, const char *name, int64_t value)
{
    char number[TT_NUMBER_TEXT];
    size_t length = strlen(name);

    if (length > 3 && strcmp(name + length - 3, "_ns") == 0) {
        return format_time(text, bytes, value);
    }
    if (strcmp(name, figure_names[TT_FIGURE_DRIFT_PPB]) == 0) {
        return snprintf(text, bytes, "%+.4g ppm", (double)value / 1e3);
    }
    return snprintf(text, bytes, "%s", tt_number_format(value, number));
}

static int format_field(char *text, size_t bytes, const char *field, size_t length,
                        const struct tt_finding *finding);

/* "{count:time|times}": the number, and the word that it takes. */
static int format_counted(char *text, size_t bytes, const char *field, size_t name, size_t length,
                          const struct tt_finding *finding)
{
    const char *one = field + name + 1;
    const char *many = strchr(one, '|') + 1;
    int at = format_field(text, bytes, field, name, finding);
    bool is_one = strcmp(text, "1") == 0;

    return at + snprintf(text + at, bytes - (size_t)at, " %.*s",
                         (int)(is_one ? many - 1 - one : field + length - many),
                         is_one ? one : many);
}

static int format_field(char *text, size_t bytes, const char *field, size_t length,
                        const struct tt_finding *finding)
{
    const int64_t *figures = finding->figures;
    size_t name = strcspn(field, ":}");

    if (name < length) {
        return format_counted(text, bytes, field, name, length, finding);
    }
    if (strncmp(field, "detail", length) == 0) {
        return snprintf(text, bytes, "%s", finding->detail);
    }
    if (strncmp(field, "share", length) == 0) {
        return snprintf(text, bytes, "%.3g %%",
                        100.0 * (double)figures[TT_FIGURE_COUNT] / (double)figures[TT_FIGURE_OF]);
    }
    for (int i = 0; i < TT_FIGURES; i++) {
        if (strlen(figure_names[i]) == length && strncmp(field, figure_names[i], length) == 0) {
            assert(finding->has >> i & 1);
            return format_figure(text, bytes, figure_names[i], figures[i]);
        }
    }
    assert(!"a field that no figure has the name of");
    return 0;
}

const char *tt_finding_text(const struct tt_finding *finding, char ret_text[TT_FINDING_TEXT])
{
    size_t at = 0;

    for (const char *c = kinds[finding->kind].text; *c != 0; c++) {
        size_t length = *c == '{' ? strcspn(c + 1, "}") : 0;

        if (length > 0) {
            at += (size_t)format_field(ret_text + at, TT_FINDING_TEXT - at, c + 1, length, finding);
            c += length + 1;
        } else {
            ret_text[at++] = *c;
        }
        assert(at < TT_FINDING_TEXT);
    }
    ret_text[at] = 0;
    return ret_text;
}

json_t *tt_finding_json(const struct tt_finding *finding)
{
    char text[TT_FINDING_TEXT];
    json_t *figures = json_object();

    for (int i = 0; i < TT_FIGURES; i++) {
        if (finding->has >> i & 1) {
            json_object_set_new(figures, figure_names[i],
                                json_integer((json_int_t)finding->figures[i]));
        }
    }
    return json_pack("{s:s, s:s, s:s, s:o, s:s?}", "code", tt_finding_code(finding->kind),
                     "severity", tt_severity_name(finding->severity), "text",
                     tt_finding_text(finding, text), "figures", figures, "reason", finding->detail);
}
