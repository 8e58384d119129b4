/*
 * One receiving link of an engine, and its listeners: each packet is read once, and goes to the
 * listener of its stream.
 *
 * run/engine.c alone includes it. All but _init, _done, _add, _remove, _hand, _empty and _begin is
 * on the engine's thread.
 */
#ifndef TT_RUN_ENGINE_PORT_H
#define TT_RUN_ENGINE_PORT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/attr.h"
#include "os/link.h"
#include "run/engine.h"

/* A place of the table; listen NULL: free. */
struct tt_engine_port_stream {
    uint64_t stream_id;
    struct tt_listen *listen;
};

struct tt_engine_port {
    struct tt_link *link;
    bool gone;        /* the link's interface */
    uint8_t *packets; /* TT_LINK_BATCH x packet_bytes */
    size_t packet_bytes;
    struct tt_link_packet first; /* handed over before the start; bytes 0: none. Owns its data */
    struct tt_listen **listens;
    size_t listen_count;
    struct tt_engine_port_stream *streams; /* open addressing, at most half full */
    size_t stream_capacity;                /* a power of two */
};

/* 0 or -ENOMEM. */
int tt_engine_port_init(struct tt_engine_port *port, struct tt_link *link);
void tt_engine_port_done(struct tt_engine_port *port);
/* 0, -ENOMEM, or -EEXIST where the stream has a listener already. */
int tt_engine_port_add(struct tt_engine_port *port, struct tt_listen *listen, uint64_t stream_id);
void tt_engine_port_remove(struct tt_engine_port *port, const struct tt_listen *listen);

/* The packet, a copy of it, is the first that its listeners get. 0 or -ENOMEM. */
int tt_engine_port_hand(struct tt_engine_port *port, const struct tt_link_packet *packet);

/* Drops what came while nobody listened: all, or with a packet handed over what was before it. */
void tt_engine_port_empty(struct tt_engine_port *port);
/* Now, or when the packet that was handed over arrived. */
void tt_engine_port_begin(struct tt_engine_port *port, int64_t now_tai_ns);
void tt_engine_port_note(struct tt_engine_port *port, unsigned notes);
/* Takes what arrived up to now, and ends the run. */
void tt_engine_port_end(struct tt_engine_port *port, int64_t now_tai_ns,
                        struct tt_engine_counters *counters);

TT_RT void tt_engine_port_clock_step(struct tt_engine_port *port, int64_t step_ns,
                                     int64_t now_tai_ns);
/* Where a listener is due: takes all packets, and concludes the step of every listener. */
TT_RT void tt_engine_port_step(struct tt_engine_port *port, int64_t now_tai_ns,
                               struct tt_engine_counters *counters);
/* When the first listener is due; INT64_MAX: none runs. */
TT_RT int64_t tt_engine_port_next(const struct tt_engine_port *port);

#endif
