/*
 * Made AVTP streams for tests of the observer's findings.
 */
#ifndef TT_TESTS_UNIT_MADE_STREAM_H
#define TT_TESTS_UNIT_MADE_STREAM_H

#include "test.h"

#include "audio/finding.h"
#include "base/ns.h"

#define UTC_NS      INT64_C(1796025585000000000)
#define TAI_NS      (37 * TT_NS_PER_S)
#define INTERVAL_NS INT64_C(125000)
#define MARGIN_NS   (2 * TT_NS_PER_MS)
#define BIT(kind)   (UINT64_C(1) << TT_FINDING_##kind)

/* Class A: 6 frames at 48 kHz, tagged, unless a test changes it. */
struct sender {
    struct tt_eth eth;
    struct tt_aaf aaf;
    size_t frames;
};

struct sender class_a(void);

/* `bytes` of any AVTPDU behind the sender's Ethernet header. */
void send_bytes(struct tt_observer *observer, const struct sender *sender, const uint8_t *pdu,
                size_t bytes, int64_t arrival_ns);
void send_pdu(struct tt_observer *observer, struct sender *sender, int64_t sequence,
              int64_t stamp_ns, int64_t arrival_ns);
/* PDU `i` on time; stamp and arrival are moved by so much. */
void send_moved(struct tt_observer *observer, struct sender *sender, int64_t i, int64_t stamp_ns,
                int64_t arrival_ns);
/* PDUs from … to - 1 on time. */
void send_run(struct tt_observer *observer, struct sender *sender, int64_t from, int64_t to);

void start(struct tt_observer *observer);
/* The kinds found on the first stream; ret_findings has TT_FINDINGS_MAX. */
uint64_t found(const struct tt_observer *observer, struct tt_finding *ret_findings);
/* Exactly these kinds on the first stream, and the end of the observer. */
void expect(struct tt_observer *observer, uint64_t kinds);
/* As expect, and the first finding shows `figure` as `value`. */
void expect_figure(struct tt_observer *observer, uint64_t kinds, enum tt_figure figure,
                   int64_t value);

#endif
