/*
 * See switches.h. A line: "comm-pid [cpu] flags seconds.micros: event: fields".
 */
#include "meter/switches.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "base/min_max.h"
#include "base/ns.h"

#define NAMES       16 /* whose times are kept apart; others are one */
#define LINE_BYTES  512
#define SECONDS_MAX INT64_C(1000000000)

struct name {
    char text[TT_CAUSE_CULPRIT_LEN];
    int64_t ns;
};

struct sums {
    int64_t own_tid;
    int64_t from_ns;
    int64_t until_ns;
    struct tt_switches *switches;
    struct name names[NAMES];
    size_t name_count;
    bool running; /* somebody else is known to run, … */
    int64_t runs_tid;
    char runs[TT_CAUSE_CULPRIT_LEN];
    int64_t since_ns;     /* … since then */
    int64_t irq_since_ns; /* an interrupt is being served since; below 0: none */
    char irq[TT_CAUSE_CULPRIT_LEN];
};

static void copy(char to[TT_CAUSE_CULPRIT_LEN], const char *from, size_t length)
{
    length = length < TT_CAUSE_CULPRIT_LEN - 1 ? length : TT_CAUSE_CULPRIT_LEN - 1;
    for (size_t i = 0; i < length; i++) {
        to[i] = from[i] >= ' ' && from[i] < 127 ? from[i] : '?';
    }
    to[length] = 0;
}

static void add(struct sums *sums, const char *name, int64_t ns)
{
    size_t i = 0;

    while (i < sums->name_count && strcmp(sums->names[i].text, name) != 0) {
        i++;
    }
    if (i == sums->name_count && i < NAMES) {
        copy(sums->names[i].text, name, strlen(name));
        sums->names[i].ns = 0;
        sums->name_count++;
    }
    if (i < NAMES) {
        sums->names[i].ns += ns;
    }
}

/* Of a stretch, what lies within the one in question. */
static int64_t within(const struct sums *sums, int64_t from_ns, int64_t until_ns)
{
    return tt_max64(0, tt_min64(until_ns, sums->until_ns) - tt_max64(from_ns, sums->from_ns));
}

static void end_run(struct sums *sums, int64_t now_ns)
{
    if (sums->running) {
        int64_t ns = within(sums, sums->since_ns, now_ns);

        sums->switches->other_ns += ns;
        add(sums, sums->runs, ns);
    }
    sums->running = false;
}

/* What stands behind "KEY" up to the next blank or mark. */
static const char *field(const char *text, const char *key, size_t *ret_length)
{
    const char *at = strstr(text, key);

    if (!at) {
        return NULL;
    }
    at += strlen(key);
    *ret_length = strcspn(at, " \n]");
    return at;
}

struct who {
    int64_t tid;
    const char *comm;
    size_t length;
};

/* "KEYcomm=NAME KEYpid=TID": a name may have blanks in it. */
static bool find_who(const char *fields, const char *comm_key, const char *pid_key,
                     struct who *ret_who)
{
    const char *comm = strstr(fields, comm_key);
    const char *pid = comm ? strstr(comm, pid_key) : NULL;

    if (!pid) {
        return false;
    }
    comm += strlen(comm_key);
    ret_who->tid = strtoll(pid + strlen(pid_key), NULL, 10);
    ret_who->comm = comm;
    ret_who->length = (size_t)(pid - comm);
    return true;
}

static void take_switch(struct sums *sums, const char *fields, int64_t now_ns)
{
    struct who before;
    struct who next;

    if (!find_who(fields, "prev_comm=", " prev_pid=", &before) ||
        !find_who(fields, "next_comm=", " next_pid=", &next)) {
        return;
    }
    /* Who became another program meanwhile has the name that it ran under last. */
    if (sums->running && before.tid == sums->runs_tid) {
        copy(sums->runs, before.comm, before.length);
    }
    end_run(sums, now_ns);
    sums->switches->lines++;
    if (next.tid != 0 && next.tid != sums->own_tid) {
        sums->running = true;
        sums->since_ns = now_ns;
        sums->runs_tid = next.tid;
        copy(sums->runs, next.comm, next.length);
    }
}

static void take_entry(struct sums *sums, const char *name, size_t length, int64_t now_ns)
{
    if (sums->irq_since_ns < 0) {
        sums->irq_since_ns = now_ns;
        copy(sums->irq, name, length);
    }
}

static void take_exit(struct sums *sums, int64_t now_ns)
{
    if (sums->irq_since_ns >= 0) {
        int64_t ns = within(sums, sums->irq_since_ns, now_ns);

        sums->switches->irq_ns += ns;
        sums->switches->lines++;
        add(sums, sums->irq, ns);
    }
    sums->irq_since_ns = -1;
}

/* osnoise: "NAME:N start S.N duration D ns", where an NMI has no name: without what interrupted it.
 */
static void take_noise(struct sums *sums, const char *fields, int64_t now_ns)
{
    size_t ignored;
    size_t length;
    const char *text = field(fields, "duration ", &ignored);
    int64_t ns = text ? strtoll(text, NULL, 10) : 0;

    fields += strspn(fields, " ");
    length = strcspn(fields, ":\n");
    if (strncmp(fields, "start ", 6) == 0) {
        fields = "nmi";
        length = 3;
    }
    if (ns > 0 && ns < SECONDS_MAX * TT_NS_PER_S && now_ns >= ns) {
        char name[TT_CAUSE_CULPRIT_LEN];

        copy(name, fields, length);
        ns = within(sums, now_ns - ns, now_ns);
        sums->switches->irq_ns += ns;
        sums->switches->lines++;
        add(sums, name, ns);
    }
}

static void take_event(struct sums *sums, const char *event, int64_t now_ns)
{
    static const char irq_entry[] = "irq_handler_entry: ";
    static const char soft_entry[] = "softirq_entry: ";
    size_t length = 0;
    const char *name;

    if (strncmp(event, "sched_switch: ", 14) == 0) {
        take_switch(sums, event + 14, now_ns);
    } else if (strncmp(event, irq_entry, strlen(irq_entry)) == 0) {
        name = field(event, "name=", &length);
        take_entry(sums, name ? name : "irq", name ? length : 3, now_ns);
    } else if (strncmp(event, soft_entry, strlen(soft_entry)) == 0) {
        name = field(event, "action=", &length);
        take_entry(sums, name ? name : "softirq", name ? length : 7, now_ns);
    } else if (strncmp(event, "irq_handler_exit: ", 18) == 0 ||
               strncmp(event, "softirq_exit: ", 14) == 0) {
        take_exit(sums, now_ns);
    } else if (strncmp(event, "irq_noise: ", 11) == 0 || strncmp(event, "nmi_noise: ", 11) == 0) {
        take_noise(sums, event + 11, now_ns);
    } else if (strncmp(event, "softirq_noise: ", 15) == 0) {
        take_noise(sums, event + 15, now_ns);
    }
}

/* "123.456789: event": the last "digits.digits: " in front of the event. */
static bool find_time(const char *line, int64_t *ret_ns, const char **ret_event)
{
    for (const char *colon = strstr(line, ": "); colon; colon = strstr(colon + 1, ": ")) {
        const char *start = colon;
        char *end;
        int64_t seconds;
        int64_t micros;

        while (start > line && ((start[-1] >= '0' && start[-1] <= '9') || start[-1] == '.')) {
            start--;
        }
        seconds = strtoll(start, &end, 10);
        if (end == start || *end != '.' || seconds < 0 || seconds > SECONDS_MAX) {
            continue;
        }
        micros = strtoll(end + 1, &end, 10);
        if (end == colon && micros >= 0 && micros < 1000000) {
            *ret_ns = seconds * TT_NS_PER_S + micros * TT_NS_PER_US;
            *ret_event = colon + 2;
            return true;
        }
    }
    return false;
}

static void find_culprit(const struct sums *sums)
{
    int64_t most = 0;

    for (size_t i = 0; i < sums->name_count; i++) {
        if (sums->names[i].ns > most) {
            most = sums->names[i].ns;
            copy(sums->switches->culprit, sums->names[i].text, strlen(sums->names[i].text));
        }
    }
}

void tt_switches_find(const char *text, int64_t own_tid, int64_t from_mono_ns,
                      int64_t until_mono_ns, struct tt_switches *ret_switches)
{
    struct sums sums = {.own_tid = own_tid,
                        .from_ns = from_mono_ns,
                        .until_ns = until_mono_ns,
                        .switches = ret_switches,
                        .irq_since_ns = -1};

    *ret_switches = (struct tt_switches){0};
    while (*text) {
        size_t length = strcspn(text, "\n");
        char line[LINE_BYTES];
        const char *event;
        int64_t now_ns;

        if (length < sizeof(line)) {
            memcpy(line, text, length);
            line[length] = 0;
            if (line[0] != '#' && find_time(line, &now_ns, &event)) {
                take_event(&sums, event, now_ns);
            }
        }
        text += length + (text[length] == '\n');
    }
    end_run(&sums, until_mono_ns);
    find_culprit(&sums);
}
