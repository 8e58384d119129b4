/*
 * The devices and links of a plan: each link is two ports.
 */
#ifndef TT_CLI_GATE_LINK_H
#define TT_CLI_GATE_LINK_H

#include "cli/gate_file.h"
#include "cli/gate_value.h"

/* 0 or -EINVAL, with the message. A device that only links name is a host. */
int tt_gate_read_device(const char *name, json_t *json, struct tt_gate_file *file,
                        struct tt_message *message);
int tt_gate_read_link(json_t *json, size_t index, struct tt_gate_file *file,
                      struct tt_message *message);

/* 0, or -EINVAL with the message: no link has it. */
int tt_gate_find_device(const struct tt_gate_file *file, const char *name,
                        const struct tt_gate_place *place, unsigned *ret_device);

#endif
