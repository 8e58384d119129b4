/*
 * See flight.h.
 */
#include "run/flight.h"

#include <assert.h>

/* The one before the last `ago` ones; NULL where the ring does not reach so far. */
static struct tt_flight_pdu *back(const struct tt_flight *flight, size_t ago)
{
    if (ago >= flight->capacity || ago >= flight->added) {
        return NULL;
    }
    return &flight->pdus[(flight->added - 1 - ago) % flight->capacity];
}

void tt_flight_add(struct tt_flight *flight, int64_t launch_tai_ns, int64_t frame, int64_t frames)
{
    flight->pdus[flight->added++ % flight->capacity] =
        (struct tt_flight_pdu){.launch_tai_ns = launch_tai_ns, .frame = frame, .frames = frames};
}

const struct tt_flight_pdu *tt_flight_lose(struct tt_flight *flight, int64_t launch_tai_ns)
{
    struct tt_flight_pdu *pdu;

    for (size_t ago = 0; (pdu = back(flight, ago)); ago++) {
        if (pdu->launch_tai_ns == launch_tai_ns && !pdu->lost) {
            pdu->lost = true;
            return pdu;
        }
    }
    return NULL;
}

size_t tt_flight_ahead(const struct tt_flight *flight, int64_t after_tai_ns)
{
    const struct tt_flight_pdu *pdu;
    size_t ahead = 0;

    for (size_t ago = 0; (pdu = back(flight, ago)) && pdu->launch_tai_ns > after_tai_ns; ago++) {
        ahead += !pdu->lost;
    }
    return ahead;
}

const struct tt_flight_pdu *tt_flight_lose_first(struct tt_flight *flight, int64_t after_tai_ns)
{
    struct tt_flight_pdu *pdu;
    struct tt_flight_pdu *first = NULL;

    for (size_t ago = 0; (pdu = back(flight, ago)) && pdu->launch_tai_ns > after_tai_ns; ago++) {
        first = pdu->lost ? first : pdu;
    }
    assert(first);
    first->lost = true;
    return first;
}
