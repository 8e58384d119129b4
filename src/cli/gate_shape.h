/*
 * What `tactus gate shape` is told and shows.
 */
#ifndef TT_CLI_GATE_SHAPE_H
#define TT_CLI_GATE_SHAPE_H

#include <argp.h>
#include <stdio.h>

#include "cli/cmd.h"
#include "cli/gate_file.h"
#include "cli/metrics.h"
#include "run/shape.h"
#include "run/shape_probe.h"

#define TT_GATE_SHAPE_COMMAND "tactus gate shape"

/* The schedule in force, and how long gates were open by those before it. */
struct tt_gate_shape_windows {
    const struct tt_gate_list *list;
    int64_t since_ns; /* after the start */
    int64_t open_ns[TT_GATE_CLASSES];
};

struct tt_gate_shape {
    const char *schedule_path;
    const char *port_name; /* in it; NULL: the one that has gates */
    const char *ifname;
    const char *tap;
    const char *log_path;
    const char *metrics;                      /* where they are served; NULL: nowhere */
    struct tt_gate_file_options file_options; /* the rate */
    struct tt_shape_setup setup;
    int64_t duration_ns; /* 0: until interrupted */
    bool json;
    bool explain;
    bool offload;             /* the hardware keeps launch times, not a timer of the kernel */
    bool realtime;            /* was granted */
    struct tt_gate_file file; /* the schedule at the start */
    const struct tt_gate_port *port; /* in it */
    struct tt_gate_shape_windows windows;
};

extern const struct argp tt_gate_shape_argp; /* its input is a struct tt_gate_shape */

/* The schedule, anew, and its port in it; the caller frees it. Says why not. */
enum tt_exit tt_gate_shape_read(const struct tt_gate_shape *job, struct tt_gate_file *ret_file,
                                const struct tt_gate_port **ret_port);
/* On stderr: classes whose windows are too short for some frames. */
void tt_gate_shape_say_windows(const struct tt_gate_shape *job, const struct tt_gate_list *list);
/* SIGHUP reads the schedule again from here on. */
void tt_gate_shape_catch_hangup(void);
/* Shapes until it is told to end, and says what came of it. */
enum tt_exit tt_gate_shape_run(struct tt_gate_shape *job);
/* --explain. */
enum tt_exit tt_gate_goodput_show(const struct tt_gate_shape *job,
                                  const struct tt_shape_probe *probe);

/* "strict", "computed departures, kept by eth0", … */
const char *tt_gate_shape_mode(const struct tt_gate_shape *job, char ret_text[80]);
/* Packets that no header made sense of. */
uint64_t tt_gate_shape_malformed(const struct tt_shaper_counters *counters);
/* The time in which a class's gate was open, from the start to so long after it. */
int64_t tt_gate_shape_open_ns(const struct tt_gate_shape *job, unsigned class, int64_t elapsed_ns);
/* From so long after the start on the list is in force. */
void tt_gate_shape_next_list(struct tt_gate_shape *job, const struct tt_gate_list *list,
                             int64_t since_ns);
/* The figures since `before` (NULL: since the start), as a table. */
void tt_gate_shape_table(const struct tt_gate_shape *job, const struct tt_shape_counters *now,
                         const struct tt_shape_counters *before, FILE *out);
/* `shape`, which has stopped, has the distributions; NULL: not yet. NULL: no memory. */
json_t *tt_gate_shape_json(const struct tt_gate_shape *job, const struct tt_shape_counters *now,
                           const struct tt_shape *shape);
/* A page of them for a Prometheus; nothing where `metrics` is NULL. */
void tt_gate_shape_metrics(const struct tt_gate_shape *job, const struct tt_shape_counters *now,
                           const struct tt_shape *shape, struct tt_metrics *metrics);
/* The distributions, at the end. */
void tt_gate_shape_print_end(const struct tt_gate_shape *job, const struct tt_shape_counters *now,
                             const struct tt_shape *shape, FILE *out);

#endif
