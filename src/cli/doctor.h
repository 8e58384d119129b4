/*
 * What `tactus doctor` looks at: for each, what was found, what that costs and the one command that
 * mends it. Nothing is changed.
 */
#ifndef TT_CLI_DOCTOR_H
#define TT_CLI_DOCTOR_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include "base/attr.h"

enum tt_check_status {
    TT_CHECK_GOOD,
    TT_CHECK_NOTE,    /* worth knowing */
    TT_CHECK_UNKNOWN, /* could not be told */
    TT_CHECK_WARNING, /* works worse than it could */
    TT_CHECK_FAULT,   /* does not work, or not as it should */
    TT_CHECK_STATUSES
};

#define TT_CHECK_TEXT 400
#define TT_CHECKS_MAX 48

struct tt_check {
    const char *name; /* the same for ever, for programs */
    enum tt_check_status status;
    char found[TT_CHECK_TEXT];
    char costs[TT_CHECK_TEXT]; /* "" where it is good */
    char mend[TT_CHECK_TEXT];  /* a command; "" where there is none */
};

struct tt_doctor {
    const char *ifname; /* NULL: none was given */
    const char *ptp_socket;
    int priority; /* of the stream that is to be sent */
    struct tt_check checks[TT_CHECKS_MAX];
    size_t count;
};

/* The next check. */
struct tt_check *tt_check_add(struct tt_doctor *doctor, const char *name,
                              enum tt_check_status status);
void tt_check_found(struct tt_check *check, const char *format, ...) TT_PRINTF(2, 3);
void tt_check_costs(struct tt_check *check, const char *format, ...) TT_PRINTF(2, 3);
void tt_check_mend(struct tt_check *check, const char *format, ...) TT_PRINTF(2, 3);

/* Clocks: TAI, gPTP, the card's clock. */
void tt_doctor_clocks(struct tt_doctor *doctor);
/* Rights and the scheduler. */
void tt_doctor_rights(struct tt_doctor *doctor);
/* The interface: 0, or -ENODEV. */
int tt_doctor_nic(struct tt_doctor *doctor);
/* The plugin in ALSA's configuration. */
void tt_doctor_alsa(struct tt_doctor *doctor);

enum tt_check_status tt_doctor_worst(const struct tt_doctor *doctor);
void tt_doctor_print(const struct tt_doctor *doctor, FILE *out);
/* A new reference. */
json_t *tt_doctor_json(const struct tt_doctor *doctor);

#endif
