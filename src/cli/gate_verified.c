/*
 * See gate_verified.h.
 */
#include "cli/gate_verified.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/min_max.h"
#include "base/ns.h"
#include "report/out.h"
#include "gate/lint.h"
#include "report/json.h"
#include "report/table.h"

int tt_gate_verified_init(struct tt_gate_verified *v, const struct tt_gate_port *port)
{
    *v = (struct tt_gate_verified){.port = port, .flow = {.name = "a frame"}};
    /* The picture only reads it. */
    v->network = (struct tt_network){(struct tt_gate_port *)port, 1, &v->flow, 1};
    v->picture = (struct tt_gate_picture){.network = &v->network,
                                          .timeline = {port->list, NULL, INT64_MIN},
                                          .from_ns = port->list->base_tai_ns,
                                          .length_ns = port->list->cycle_ns};
    v->classes = calloc(TT_GATE_CLASSES, sizeof(*v->classes));
    v->picture.frames = malloc(TT_GATE_PICTURE_FRAMES * sizeof(*v->picture.frames));
    for (int c = 0; v->classes && c < TT_GATE_CLASSES; c++) {
        tt_hist_init(&v->classes[c].phase);
    }
    return v->classes && v->picture.frames ? 0 : -ENOMEM;
}

void tt_gate_verified_done(struct tt_gate_verified *v)
{
    free(v->classes);
    free(v->picture.frames);
}

void tt_gate_verified_take(struct tt_gate_verified *v, unsigned class,
                           const struct tt_gate_verdict *verdict)
{
    struct tt_gate_verified_class *r = &v->classes[class];
    int64_t since_ns = verdict->start_ns - v->port->list->base_tai_ns;
    int64_t cycle_ns = v->port->list->cycle_ns;
    int64_t phase_ns = since_ns - tt_floor_div(since_ns, cycle_ns) * cycle_ns;
    int64_t start_ns = v->picture.from_ns + phase_ns;
    bool inside = verdict->place == TT_PLACE_INSIDE;

    r->of[verdict->place]++;
    r->by_max_ns[verdict->place] = tt_max64(r->by_max_ns[verdict->place], verdict->by_ns);
    tt_hist_record(&r->phase, phase_ns);
    v->frames++;
    v->modelled += tt_frame_place_is_modelled(verdict->place);
    v->wrong += !inside && !tt_frame_place_is_modelled(verdict->place);
    tt_gate_picture_take(&v->picture, &(struct tt_sim_frame){.class = class,
                                                             .start_ns = start_ns,
                                                             .end_ns = start_ns + verdict->end_ns -
                                                                       verdict->start_ns,
                                                             .close_ns = inside ? INT64_MAX : 0});
}

static void show_classes(const struct tt_gate_verified *v, const struct tt_out *out)
{
    static const struct tt_column columns[] = {
        {"class", TT_ALIGN_RIGHT},       {"frames", TT_ALIGN_RIGHT}, {"inside", TT_ALIGN_RIGHT},
        {"first phase", TT_ALIGN_RIGHT}, {"median", TT_ALIGN_RIGHT}, {"last", TT_ALIGN_RIGHT},
    };
    struct tt_table table;

    tt_table_init(&table, columns, TT_COUNT_OF(columns));
    for (unsigned c = 0; c < TT_GATE_CLASSES; c++) {
        const struct tt_gate_verified_class *r = &v->classes[c];

        if (r->phase.n > 0) {
            tt_table_cell(&table, "%u", c);
            tt_table_cell_number(&table, (int64_t)r->phase.n);
            tt_table_cell_number(&table, (int64_t)r->of[TT_PLACE_INSIDE]);
            tt_table_cell(&table, "%s", tt_gate_us(r->phase.min).text);
            tt_table_cell(&table, "%s", tt_gate_us(tt_hist_percentile(&r->phase, 500)).text);
            tt_table_cell(&table, "%s", tt_gate_us(r->phase.max).text);
        }
    }
    tt_out_table(out, "When frames began", &table);
}

static void show_outside(const struct tt_gate_verified *v, const struct tt_out *out)
{
    static const struct tt_column columns[] = {
        {"class", TT_ALIGN_RIGHT},
        {"frames", TT_ALIGN_RIGHT},
        {"by up to", TT_ALIGN_RIGHT},
        {"what they are", TT_ALIGN_LEFT},
    };
    static const char *const reasons[TT_PLACES] = {
        [TT_PLACE_UNCOUNTED] = "known overrun: preamble, FCS and gap are not counted",
        [TT_PLACE_BUSY] = "known overrun: let out in time, while the wire was busy",
        [TT_PLACE_OVERRUN] = "WRONG: began in time and ended too late",
        [TT_PLACE_OUTSIDE] = "WRONG: the gate was closed",
    };
    struct tt_table table;

    if (v->modelled + v->wrong == 0) {
        return;
    }
    tt_table_init(&table, columns, TT_COUNT_OF(columns));
    for (unsigned c = 0; c < TT_GATE_CLASSES; c++) {
        for (int place = TT_PLACE_INSIDE + 1; place < TT_PLACES; place++) {
            const struct tt_gate_verified_class *r = &v->classes[c];

            if (r->of[place] > 0) {
                tt_table_cell(&table, "%u", c);
                tt_table_cell_number(&table, (int64_t)r->of[place]);
                tt_table_cell(&table, "%s", tt_gate_us(r->by_max_ns[place]).text);
                tt_table_cell(&table, "%s", reasons[place]);
            }
        }
    }
    tt_out_table(out, "Frames outside their windows", &table);
}

static void show(const struct tt_gate_verified *v, const struct tt_out *out)
{
    if (v->frames == 0) {
        tt_out_line(out, "No frame was seen.");
        return;
    }
    show_classes(v, out);
    show_outside(v, out);
    tt_out_line(out,
                "%" PRIu64 " of %" PRIu64 " frames were in their windows; overruns %s: %" PRIu64
                "; wrong: %" PRIu64 ".",
                v->frames - v->modelled - v->wrong, v->frames,
                tt_gate_keeper_text(v->verifier.taprio.keeper), v->modelled, v->wrong);
}

static json_t *class_json(int class, const struct tt_gate_verified_class *r)
{
    static const char *const names[TT_PLACES] = {"inside", "uncounted", "wire_busy", "overrun",
                                                 "outside"};
    json_t *json = json_pack("{s:i, s:o, s:o}", "class", class, "frames", tt_json_u64(r->phase.n),
                             "phase", tt_json_summary(&r->phase));

    for (int place = 0; place < TT_PLACES; place++) {
        char name[32];

        json_object_set_new(json, names[place], tt_json_u64(r->of[place]));
        snprintf(name, sizeof(name), "%s_max_ns", names[place]);
        if (place != TT_PLACE_INSIDE) {
            json_object_set_new(json, name, json_integer(r->by_max_ns[place]));
        }
    }
    return json;
}

static void print_json(const struct tt_gate_verified *v)
{
    json_t *classes = json_array();
    json_t *all;

    for (int c = 0; c < TT_GATE_CLASSES; c++) {
        if (v->classes[c].phase.n > 0) {
            json_array_append_new(classes, class_json(c, &v->classes[c]));
        }
    }
    all = json_pack("{s:s, s:o, s:o, s:o, s:o}", "gates",
                    tt_gate_keeper_text(v->verifier.taprio.keeper), "frames",
                    tt_json_u64(v->frames), "modelled", tt_json_u64(v->modelled), "wrong",
                    tt_json_u64(v->wrong), "classes", classes);
    tt_json_print_line(stdout, all);
    json_decref(all);
}

static int write_page(const struct tt_gate_verified *v, const struct tt_gate_options *options)
{
    struct tt_html page;
    char title[160];
    int error;

    snprintf(title, sizeof(title), "tactus gate verify: %.100s", options->source);
    error = tt_html_open(&page, options->html, title);
    if (error != 0) {
        return error;
    }
    show(v, &(struct tt_out){.page = &page});
    tt_gate_picture_figure(&v->picture, &page, "All frames over one cycle");
    return tt_html_close(&page);
}

enum tt_exit tt_gate_verified_give(const struct tt_gate_verified *v, const char *command,
                                   const struct tt_gate_options *options)
{
    enum tt_exit code = TT_EXIT_GOOD;

    if (options->json) {
        print_json(v);
    } else {
        show(v, &(struct tt_out){.text = stdout});
    }
    if (options->picture) {
        code = tt_gate_written(command, options->picture,
                               tt_gate_picture_write(&v->picture, options->picture));
    }
    if (options->html && code == TT_EXIT_GOOD) {
        code = tt_gate_written(command, options->html, write_page(v, options));
    }
    return code;
}
