/*
 * What `tactus meter` measures: its options as a plain struct, and the runs that come of them.
 */
#ifndef TT_CLI_METER_JOB_H
#define TT_CLI_METER_JOB_H

#include <stdbool.h>
#include <stdint.h>

#include "cli/cmd.h"
#include "report/meter_table.h"
#include "run/meter.h"

#define TT_METER_ROWS_MAX 24
#define TT_METER_COMMAND  "tactus meter"

struct tt_meter_job {
    char *buffers; /* as given, or NULL */
    bool json;
    struct tt_fragment_shape shapes[TT_METER_ROWS_MAX];
    size_t shape_count;
    enum tt_load_kind loads[TT_LOADS];
    size_t load_count;
    int64_t cell_ns; /* each load of each buffer; 0: not given */
    unsigned compute_percent;
    uint32_t rate_hz;
    struct tt_policy policy;
    const char *folder;     /* for the files of loads */
    int64_t file_bytes;     /* the most a load's file may have */
    const char *device;     /* ALSA's name, or NULL: in exact time */
    const char *round_trip; /* to capture from, or NULL */
    const char *midi;       /* a port, or NULL */
    bool trace;             /* switches and interrupts, where tracefs is there */
    bool quiet;             /* no progress */
    bool required;          /* too little data is no pass */

    /* While it runs. */
    struct tt_meter_machine machine;
    struct tt_meter_ring ring;
    struct tt_meter_card card;
    struct tt_midi_port *midi_port;
    struct tt_trace_session trace_session;
    int awake_fd;
    bool awake_refused; /* is said once */
    void (*incident)(void *context, const struct tt_cell *cell);
    void (*tick)(void *context, const struct tt_cell *cell);
    void *context;
};

void tt_meter_job_init(struct tt_meter_job *job);
/* All loads; without those of files, after saying so, where the folder will not do. True: all. */
bool tt_meter_job_all_loads(struct tt_meter_job *job);
/* Loads, memory, calibration, devices. TT_EXIT_GOOD, or an exit code after saying why. */
enum tt_exit tt_meter_job_open(struct tt_meter_job *job);
void tt_meter_job_close(struct tt_meter_job *job);

/* What helps a loop and is not there by itself; says what could not be had. */
void tt_meter_job_tune(struct tt_meter_job *job);
void tt_meter_job_untune(struct tt_meter_job *job);

/* One cell; the result owns what tt_meter_job_free gives back. A load that will not start is said
 * and leaves an empty cell. */
enum tt_exit tt_meter_job_run(struct tt_meter_job *job, const struct tt_fragment_shape *shape,
                              enum tt_load_kind load, struct tt_meter_result *ret_result);
void tt_meter_job_free(struct tt_meter_result *result);

/* Each buffer can run empty in that time; TT_EXIT_USAGE after saying that one cannot. */
enum tt_exit tt_meter_job_check_time(const struct tt_meter_job *job, const char *command,
                                     const char *option, int64_t plan_ns);
/* "64x3", "3x64", "128x2@48000", "timer": the smaller number is that of fragments. `rate_hz`: where
 * none is given. 0 or -EINVAL. */
int tt_meter_shape_parse(const char *text, uint32_t rate_hz, struct tt_fragment_shape *ret_shape);

#endif
