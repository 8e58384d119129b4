/*
 * See verify.h.
 */
#include "gate/verify.h"

#include "base/min_max.h"

void tt_gate_verifier_init(struct tt_gate_verifier *verifier, const struct tt_gate_port *port,
                           bool handed_over, int64_t tolerance_ns)
{
    *verifier = (struct tt_gate_verifier){
        .port = port,
        .handed_over = handed_over,
        .tolerance_ns = tolerance_ns,
        .wire = {.rate_bps = tt_gate_rate(port), .free_ns = INT64_MIN / 2},
    };
    tt_taprio_init(&verifier->taprio, port, tt_gate_keeper_of(port));
}

/* How far outside the nearest window a time is. */
static int64_t outside_by(const struct tt_gate_list *list, unsigned class, int64_t tai_ns)
{
    struct tt_gate_window next;
    struct tt_gate_window before;

    if (!tt_gate_list_window(list, class, tai_ns, &next)) {
        return list->cycle_ns;
    }
    if (next.open_ns <= tai_ns) {
        return 0;
    }
    tt_gate_list_window(list, class, next.open_ns - list->cycle_ns, &before);
    while (before.close_ns <= tai_ns) {
        struct tt_gate_window later;

        tt_gate_list_window(list, class, before.close_ns, &later);
        if (later.open_ns > tai_ns) {
            break;
        }
        before = later;
    }
    return tt_min64(next.open_ns - tai_ns, tai_ns - before.close_ns + 1);
}

void tt_gate_verify(struct tt_gate_verifier *v, unsigned class, int64_t tai_ns, int64_t frame_bytes,
                    struct tt_gate_verdict *ret_verdict)
{
    int64_t wire_bytes = tt_wire_bytes(frame_bytes);
    int64_t wire_ns = tt_wire_ns(wire_bytes, v->wire.rate_bps);
    int64_t outside_ns = outside_by(v->port->list, class, tai_ns);
    struct tt_gate_verdict verdict = {.start_ns = tai_ns, .end_ns = tai_ns + wire_ns};
    struct tt_gate_window window = {0, INT64_MAX};
    bool open = outside_ns == 0 && tt_gate_list_window(v->port->list, class, tai_ns, &window);
    /* It was decided somewhat before the stamp was taken. */
    bool taken = open && v->taprio.keeper != TT_KEEPER_WIRE &&
                 tt_taprio_takes(&v->taprio, class, tt_taprio_frame(&v->taprio, frame_bytes),
                                 tt_max64(window.open_ns, tai_ns - v->tolerance_ns));

    if (v->handed_over) {
        verdict.start_ns = tt_max64(tai_ns, tt_wire_free_ns(&v->wire));
        tt_wire_send(&v->wire, verdict.start_ns, wire_bytes);
        verdict.end_ns = tt_wire_free_ns(&v->wire);
    }
    if (outside_ns > v->tolerance_ns) {
        verdict.place = TT_PLACE_OUTSIDE;
        verdict.by_ns = outside_ns;
    } else if (open && window.close_ns != INT64_MAX && verdict.end_ns > window.close_ns &&
               (taken || verdict.end_ns - v->tolerance_ns > window.close_ns)) {
        verdict.by_ns = verdict.end_ns - window.close_ns;
        verdict.place = !taken                      ? TT_PLACE_OVERRUN
                        : verdict.start_ns > tai_ns ? TT_PLACE_BUSY
                                                    : TT_PLACE_UNCOUNTED;
    }
    *ret_verdict = verdict;
}
