/*
 * See gate_scene.h.
 */
#include "gate_scene.h"

#include "test.h"

#include <stdio.h>
#include <string.h>

void scene_init(struct scene *s)
{
    static const uint8_t map[] = {2, 2, 1, 0, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2};

    *s = (struct scene){.port = {.rate_bps = 100 * MBIT,
                                 .kernel = 6012,
                                 .tx_queues = 8,
                                 .class_count = 3,
                                 .clock_given = true,
                                 .has_schedule = true,
                                 .size_table = true}};
    snprintf(s->port.name, sizeof(s->port.name), "eth0");
    memcpy(s->port.class_of_priority, map, sizeof(map));
    for (unsigned c = 0; c < 3; c++) {
        s->port.queue_count[c] = 1;
        s->port.queue_offset[c] = (uint16_t)c;
    }
    s->entries[0] = (struct tt_gate_entry){TT_GATE_SET, 1, 300000};
    s->entries[1] = (struct tt_gate_entry){TT_GATE_SET, 3, 300000};
    s->entries[2] = (struct tt_gate_entry){TT_GATE_SET, 4, 400000};
    s->port.schedule.entry_count = 3;
    s->findings = (struct tt_gate_findings){s->items, TT_COUNT_OF(s->items), 0};
}

void scene_init_flow(struct scene *s, enum tt_flow_kind kind, unsigned priority, int64_t bytes)
{
    scene_init(s);
    scene_flow(s, kind, priority, bytes);
}

void scene_run(struct scene *s)
{
    struct tt_network network = {&s->port, 1, &s->flow, s->flow.hop_count > 0};
    struct tt_gate_lint_options options = {.now_tai_ns = 1000,
                                           .software_margin_ns = TT_GATE_SOFTWARE_MARGIN_NS};

    s->port.schedule.entries = s->entries;
    if (s->port.has_schedule && tt_gate_check(&s->port.schedule) == TT_GATE_OK)
        s->port.list = tt_gate_list_new(&s->port.schedule);
    tt_gate_lint(&network, &options, &s->findings);
    tt_gate_list_free(s->port.list);
    s->port.list = NULL;
}

const struct tt_gate_finding *scene_find(const struct scene *s, const char *kind)
{
    for (size_t i = 0; i < s->findings.count; i++)
        if (strcmp(s->items[i].kind, kind) == 0)
            return &s->items[i];
    return NULL;
}

void scene_expect(struct scene *s, enum tt_gate_severity severity, const char *kind)
{
    scene_run(s);
    if (!kind) {
        for (size_t i = 0; i < s->findings.count; i++)
            if (s->items[i].severity >= TT_GATE_WRONG)
                fail_msg("%s: %s", s->items[i].kind, s->items[i].what);
        return;
    }
    if (!scene_find(s, kind))
        fail_msg("no finding %s", kind);
    assert_int_equal(scene_find(s, kind)->severity, severity);
    assert_true(scene_find(s, kind)->what[0] != 0);
}

void scene_flow(struct scene *s, enum tt_flow_kind kind, unsigned priority, int64_t bytes)
{
    s->flow = (struct tt_flow){.kind = kind,
                               .priority = priority,
                               .frame_bytes = bytes,
                               .payload_bytes = bytes - 66,
                               .interval_samples = 6,
                               .rate_hz = 48000,
                               .hop_count = 1,
                               .hops = {{0, -1}}};
    snprintf(s->flow.name, sizeof(s->flow.name), "it");
}

void scene_expect_none(struct scene *s, const char *kind)
{
    s->findings.count = 0;
    scene_run(s);
    assert_null(scene_find(s, kind));
}
