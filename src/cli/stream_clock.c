/*
 * See stream_clock.h.
 */
#include "cli/stream_clock.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include "audio/eth.h"
#include "base/ns.h"
#include "cli/say.h"
#include "report/json.h"

#define PATIENCE_NS (5 * TT_NS_PER_S) /* for a clock's first packet */

/* The stream of a clock, as one to attach to. */
static struct tt_stream_config config_of(const struct tt_stream_job *job,
                                         const struct tt_crf_name *name)
{
    struct tt_stream_config config = job->config;

    memcpy(config.dest, name->dest, sizeof(config.dest));
    config.stream_id = name->stream_id;
    config.pace = TT_PACE_SOFTWARE;
    return config;
}

static int open_in(struct tt_stream_clock *clock, const struct tt_stream_job *job,
                   struct tt_message *ret_message)
{
    struct tt_stream_config config = config_of(job, &job->clock);
    struct tt_clock_in_setup setup = {.stream_id = job->clock.stream_id};
    int error = tt_attach(&config, TT_ROLE_LISTENER, 1, &clock->in_attachment, ret_message);

    if (error < 0) {
        return error;
    }
    clock->in_id = job->clock.stream_id;
    setup.link = clock->in_attachment.link;
    memcpy(setup.dest, job->clock.dest, sizeof(setup.dest));
    error = tt_clock_in_new(&setup, &clock->in);
    return error < 0 ? tt_say(error, ret_message, "out of memory") : 0;
}

static int open_out(struct tt_stream_clock *clock, const struct tt_stream_job *job,
                    struct tt_message *ret_message)
{
    struct tt_stream_config config = config_of(job, &job->crf);
    struct tt_crf_config crf;
    struct tt_clock_out_setup setup = {.config = &crf,
                                       .grid = clock->in ? tt_clock_in_grid(clock->in) : NULL,
                                       .tu = job->config.tu};
    int error = tt_attach(&config, TT_ROLE_TALKER, 1, &clock->out_attachment, ret_message);

    if (error < 0) {
        return error;
    }
    tt_crf_config_init(&crf, job->crf.rate_hz);
    memcpy(crf.dest, job->crf.dest, sizeof(crf.dest));
    crf.stream_id = job->crf.stream_id;
    crf.vlan_id = config.vlan_id;
    crf.pcp = tt_stream_config_pcp(&config);
    setup.link = clock->out_attachment.link;
    error = tt_clock_out_new(&setup, &clock->out);
    return error < 0 ? tt_say(error, ret_message, "out of memory") : 0;
}

int tt_stream_clock_open(struct tt_stream_clock *clock, const struct tt_stream_job *job,
                         struct tt_engine *engine, struct tt_message *ret_message)
{
    int error = job->clock.stream_id != 0 ? open_in(clock, job, ret_message) : 0;

    if (error == 0 && job->crf.stream_id != 0) {
        error = open_out(clock, job, ret_message);
    }
    if (error == 0) {
        tt_engine_follow(engine, clock->in);
        tt_engine_tell(engine, clock->out);
    }
    return error;
}

void tt_stream_clock_close(struct tt_stream_clock *clock)
{
    tt_clock_in_free(clock->in);
    tt_clock_out_free(clock->out);
    tt_link_close(clock->in_attachment.link);
    tt_link_close(clock->out_attachment.link);
}

enum tt_stream_clock_news tt_stream_clock_look(struct tt_stream_clock *clock, int64_t now_ns)
{
    bool had_alarm = clock->alarm;
    bool was_found = clock->found;

    if (clock->out) {
        tt_clock_out_counters(clock->out, &clock->told);
    }
    if (!clock->in) {
        return TT_CLOCK_SAME;
    }
    tt_clock_in_counters(clock->in, &clock->followed);
    clock->found = clock->followed.state != TT_CRF_SEARCHING;
    clock->first_look_ns = clock->first_look_ns == 0 ? now_ns : clock->first_look_ns;
    clock->alarm = clock->followed.state != TT_CRF_LOCKED &&
                   (clock->found || now_ns - clock->first_look_ns > PATIENCE_NS);
    return clock->found && !was_found   ? TT_CLOCK_FOUND
           : clock->alarm && !had_alarm ? clock->found ? TT_CLOCK_LOST : TT_CLOCK_NEVER
           : had_alarm && !clock->alarm ? TT_CLOCK_BACK
                                        : TT_CLOCK_SAME;
}

const char *tt_stream_clock_refusal(const struct tt_stream_clock *clock)
{
    const uint64_t *counts = clock->followed.crf.pdus_refused;
    enum tt_crf_reason most = TT_CRF_OK; /* which stays 0 */

    for (enum tt_crf_reason reason = TT_CRF_OK; reason < TT_CRF_REASONS; reason++) {
        most = counts[reason] > counts[most] ? reason : most;
    }
    return most == TT_CRF_OK ? NULL : tt_crf_reason_text(most);
}

static uint64_t refused(const struct tt_crf_counters *crf)
{
    uint64_t sum = 0;

    for (int i = 0; i < TT_CRF_REASONS; i++) {
        sum += crf->pdus_refused[i];
    }
    return sum;
}

int tt_stream_clock_print(const struct tt_stream_clock *clock, FILE *out)
{
    const struct tt_clock_in_counters *in = &clock->followed;
    char id[TT_STREAM_ID_TEXT];

    if (clock->in) {
        fprintf(
            out,
            "clock %s %s%s%s, %+.3f ppm, lost %" PRIu64 " PDUs, holdovers %" PRIu64 " of %.1f s",
            tt_stream_id_format(clock->in_id, id), tt_crf_state_name(in->state),
            in->state == TT_CRF_LOCKED && in->uncertain ? ", uncertain (by its talker's word)" : "",
            clock->alarm ? ", ALARM" : "", (double)in->drift_ppb / 1e3, in->crf.pdus_lost,
            in->crf.holdovers, (double)in->crf.holdover_ns / 1e9);
        if (tt_stream_clock_refusal(clock)) {
            fprintf(out, ", refused %" PRIu64 " PDUs (%s)", refused(&in->crf),
                    tt_stream_clock_refusal(clock));
        }
        fputc('\n', out);
    }
    if (clock->out) {
        fprintf(out,
                "clock told: %" PRIu64 " PDUs, with tu %" PRIu64 ", dropped %" PRIu64
                ", refused %" PRIu64 "\n",
                clock->told.pdus_sent, clock->told.pdus_uncertain, clock->told.pdus_dropped,
                clock->told.pdus_refused);
    }
    return (clock->in != NULL) + (clock->out != NULL);
}

static json_t *followed_json(const struct tt_stream_clock *clock)
{
    const struct tt_clock_in_counters *in = &clock->followed;
    const struct tt_crf_counters *crf = &in->crf;
    char id[TT_STREAM_ID_TEXT];

    return json_pack(
        "{s:s, s:s, s:b, s:b, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:I, s:o, s:o}", "stream_id",
        tt_stream_id_format(clock->in_id, id), "state", tt_crf_state_name(in->state), "alarm",
        clock->alarm, "uncertain", in->uncertain, "drift_ppb",
        clock->found ? json_integer((json_int_t)in->drift_ppb) : json_null(), "pdus",
        tt_json_u64(crf->pdus), "pdus_lost", tt_json_u64(crf->pdus_lost), "pdus_uncertain",
        tt_json_u64(crf->pdus_uncertain), "pdus_off", tt_json_u64(crf->pdus_off),
        "pdus_other_format", tt_json_u64(crf->pdus_other_format), "pdus_refused",
        tt_json_u64(refused(crf)), "holdovers", tt_json_u64(crf->holdovers), "holdover_ns",
        (json_int_t)crf->holdover_ns, "resyncs", tt_json_u64(crf->resyncs), "receive_drops",
        tt_json_u64(in->receive_drops));
}

static json_t *told_json(const struct tt_clock_out_counters *out)
{
    return json_pack("{s:o, s:o, s:o, s:o}", "pdus_sent", tt_json_u64(out->pdus_sent),
                     "pdus_uncertain", tt_json_u64(out->pdus_uncertain), "pdus_dropped",
                     tt_json_u64(out->pdus_dropped), "pdus_refused",
                     tt_json_u64(out->pdus_refused));
}

json_t *tt_stream_clock_json(const struct tt_stream_clock *clock)
{
    if (!clock->in && !clock->out) {
        return json_null();
    }
    return json_pack("{s:o, s:o}", "followed", clock->in ? followed_json(clock) : json_null(),
                     "told", clock->out ? told_json(&clock->told) : json_null());
}
