/*
 * See doctor.h: the list, and how it is shown.
 */
#include "cli/doctor.h"

#include <assert.h>
#include <stdarg.h>

#include "report/json.h"
#include "report/line.h"

static const char *const status_names[TT_CHECK_STATUSES] = {
    [TT_CHECK_GOOD] = "good",       [TT_CHECK_NOTE] = "note",   [TT_CHECK_UNKNOWN] = "unknown",
    [TT_CHECK_WARNING] = "warning", [TT_CHECK_FAULT] = "fault",
};

struct tt_check *tt_check_add(struct tt_doctor *doctor, const char *name,
                              enum tt_check_status status)
{
    struct tt_check *check = &doctor->checks[doctor->count++];

    assert(doctor->count <= TT_CHECKS_MAX);
    *check = (struct tt_check){.name = name, .status = status};
    return check;
}

static void fill(char text[TT_CHECK_TEXT], const char *format, va_list args) TT_PRINTF(2, 0);
static void fill(char text[TT_CHECK_TEXT], const char *format, va_list args)
{
    vsnprintf(text, TT_CHECK_TEXT, format, args);
}

void tt_check_found(struct tt_check *check, const char *format, ...)
{
    va_list args;

    va_start(args, format);
    fill(check->found, format, args);
    va_end(args);
}

void tt_check_costs(struct tt_check *check, const char *format, ...)
{
    va_list args;

    va_start(args, format);
    fill(check->costs, format, args);
    va_end(args);
}

void tt_check_mend(struct tt_check *check, const char *format, ...)
{
    va_list args;

    va_start(args, format);
    fill(check->mend, format, args);
    va_end(args);
}

enum tt_check_status tt_doctor_worst(const struct tt_doctor *doctor)
{
    enum tt_check_status worst = TT_CHECK_GOOD;

    for (size_t i = 0; i < doctor->count; i++) {
        worst = doctor->checks[i].status > worst ? doctor->checks[i].status : worst;
    }
    return worst;
}

void tt_doctor_print(const struct tt_doctor *doctor, FILE *out)
{
    for (size_t i = 0; i < doctor->count; i++) {
        const struct tt_check *check = &doctor->checks[i];

        tt_line_print(out, "%-8s %-18s %s", status_names[check->status], check->name, check->found);
        if (check->costs[0]) {
            tt_line_print(out, "%27s costs: %s", "", check->costs);
        }
        if (check->mend[0]) {
            tt_line_print(out, "%27s mend:  %s", "", check->mend);
        }
    }
}

json_t *tt_doctor_json(const struct tt_doctor *doctor)
{
    json_t *checks = json_array();

    for (size_t i = 0; i < doctor->count; i++) {
        const struct tt_check *check = &doctor->checks[i];

        json_array_append_new(
            checks, json_pack("{s:s, s:s, s:o, s:o, s:o}", "check", check->name, "status",
                              status_names[check->status], "found", tt_json_name(check->found),
                              "costs", tt_json_name(check->costs[0] ? check->costs : NULL), "mend",
                              tt_json_name(check->mend[0] ? check->mend : NULL)));
    }
    return json_pack("{s:o, s:s, s:o}", "interface", tt_json_name(doctor->ifname), "worst",
                     status_names[tt_doctor_worst(doctor)], "checks", checks);
}
