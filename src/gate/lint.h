/*
 * What is wrong with a plan before anybody tries it: what the kernel or the driver will refuse,
 * what never gets out, what is late, what works otherwise than it reads.
 *
 * A finding says where, what with its figure, and what to do, each in one line.
 */
#ifndef TT_GATE_LINT_H
#define TT_GATE_LINT_H

#include <stddef.h>

#include "base/attr.h"
#include "gate/network.h"

enum tt_gate_severity {
    TT_GATE_NOTE,    /* good to know */
    TT_GATE_WARNING, /* works, with this cost */
    TT_GATE_WRONG,   /* accepted, and does not do what it should */
    TT_GATE_REFUSED, /* the kernel or the driver does not take it */
};

struct tt_gate_finding {
    enum tt_gate_severity severity;
    const char *kind; /* "never_sent": for programs */
    char where[TT_GATE_NAME + 24];
    char what[240];
    char remedy[200]; /* empty: there is none */
};

/* The items are the caller's. */
struct tt_gate_findings {
    struct tt_gate_finding *items;
    size_t capacity;
    size_t count; /* may exceed the capacity: so many there would be */
};

struct tt_gate_lint_options {
    int64_t now_tai_ns;         /* 0: unknown */
    int64_t software_margin_ns; /* how late a software gate may be */
    unsigned reserve_percent;   /* of a link for streams; 0: the usual */
};

#define TT_GATE_SOFTWARE_MARGIN_NS INT64_C(20000)

void tt_gate_lint(const struct tt_network *network, const struct tt_gate_lint_options *options,
                  struct tt_gate_findings *findings);

/* What the kernel says about one port, as `tc` would set it up; the driver's limits; what may pass.
 * tt_gate_lint calls all of them for every port. */
void tt_gate_lint_kernel(const struct tt_gate_port *port, struct tt_gate_findings *findings);
void tt_gate_lint_shapers(const struct tt_gate_port *port, struct tt_gate_findings *findings);
void tt_gate_lint_driver(const struct tt_gate_port *port,
                         const struct tt_gate_lint_options *options,
                         struct tt_gate_findings *findings);
void tt_gate_lint_traffic(const struct tt_network *network, unsigned port,
                          const struct tt_gate_lint_options *options,
                          struct tt_gate_findings *findings);

/* class below 0: the whole port. Returns the finding, for its remedy; never NULL. */
struct tt_gate_finding *tt_gate_find(struct tt_gate_findings *findings,
                                     enum tt_gate_severity severity, const char *kind,
                                     const struct tt_gate_port *port, int class, const char *what,
                                     ...) TT_PRINTF(6, 7);
void tt_gate_remedy(struct tt_gate_finding *finding, const char *format, ...) TT_PRINTF(2, 3);

/* "123.04 us" */
struct tt_us_text {
    char text[32];
};
struct tt_us_text tt_gate_us(int64_t ns);

/* What a class's window is worth to the hardware: less the longest frame's time where it has a
 * static guard band. */
int64_t tt_gate_usable_ns(const struct tt_gate_port *port, unsigned class);

#endif
