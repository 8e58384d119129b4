/*
 * A port's gates and the frames on its wire as a picture: one SVG that needs nothing else, or a
 * figure of a page; light or dark as its reader has it.
 */
#ifndef TT_CLI_GATE_PICTURE_H
#define TT_CLI_GATE_PICTURE_H

#include "gate/simulate.h"
#include "gate/timeline.h"
#include "report/html.h"

#define TT_GATE_PICTURE_FRAMES 4000

/* What goes into the picture of one port from from_ns on. */
struct tt_gate_picture {
    const struct tt_network *network;
    unsigned port;
    struct tt_gate_timeline timeline; /* its gates, where it has a list */
    int64_t from_ns;
    int64_t length_ns;
    size_t frame_count;
    struct tt_sim_frame *frames; /* the caller's, TT_GATE_PICTURE_FRAMES */
};

/* For tt_sim_options.sent; the context is the picture. */
void tt_gate_picture_take(void *picture, const struct tt_sim_frame *frame);
/* A file of its own, whole or not at all. 0 or -errno. */
int tt_gate_picture_write(const struct tt_gate_picture *picture, const char *path);
/* A figure of a page. */
void tt_gate_picture_figure(const struct tt_gate_picture *picture, struct tt_html *page,
                            const char *caption);

#endif
