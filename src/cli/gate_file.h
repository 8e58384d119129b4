/*
 * A plan, or what tc printed, as a network: devices, links, streams in an audio person's words,
 * other traffic, gates.
 *
 * A file is an object (a plan; tactus-gate(1) has its keys) or a list (`tc -j qdisc show dev IF`:
 * one port, with what may pass it: full frames and TCP in every class). Owns all that the network
 * points to.
 */
#ifndef TT_CLI_GATE_FILE_H
#define TT_CLI_GATE_FILE_H

#include <jansson.h>

#include "cli/say.h"
#include "gate/network.h"
#include "gate/plan.h"

#define TT_GATE_DEVICES_MAX 4096
#define TT_GATE_FLOWS_MAX   20000

/* What a list of qdiscs does not say. */
struct tt_gate_file_options {
    int64_t rate_bps; /* 0: not said */
    unsigned kernel;
    enum tt_gate_driver driver;
    char driver_unknown[TT_DRIVER_NAME];
    unsigned tx_queues;
};

struct tt_gate_device {
    char name[TT_GATE_NAME];
    bool bridge;
    int64_t latency_ns;
    enum tt_gate_driver driver;
    char driver_unknown[TT_DRIVER_NAME];
    unsigned kernel;
    unsigned tx_queues;
    enum tt_gate_mode mode;
};

struct tt_gate_file {
    struct tt_network network;
    struct tt_gate_device *devices;
    size_t device_count;
    unsigned (*ends)[2];            /* of each port: from which device to which */
    struct tt_gate_entry **entries; /* of each port, or NULL */
    struct tt_gate_entry **before;  /* … of the schedule that its own replaces */
    char (*ifnames)[16];            /* of each port, where the plan has it */
    struct tt_plan_options limits;
    json_t *root; /* the plan as it was read; NULL: none */
    size_t flow_capacity;
};

/* 0, -EINVAL or -ENOMEM, with the message. */
int tt_gate_file_parse(const char *text, size_t bytes, const struct tt_gate_file_options *options,
                       struct tt_gate_file *ret_file, struct tt_message *ret_message);
void tt_gate_file_done(struct tt_gate_file *file);

/* A file or, for "-", standard input. -errno too. */
int tt_gate_file_read(const char *path, const struct tt_gate_file_options *options,
                      struct tt_gate_file *ret_file, struct tt_message *ret_message);

/* What has a schedule gets a list of it. 0, -EINVAL where the schedule cannot run, -ENOMEM. A
 * schedule that only the kernel would refuse (no entry) has none. */
int tt_gate_file_compile(struct tt_gate_file *file, struct tt_message *ret_message);
/* One port, and what may pass it; for what tc or the kernel says. The caller sets the port. */
int tt_gate_file_single(struct tt_gate_file *ret_file);
void tt_gate_file_usual_traffic(struct tt_gate_file *file);

#endif
