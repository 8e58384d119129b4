/*
 * `tactus doctor`: what of a machine's set-up keeps streams from being on time.
 */
#include <argp.h>
#include <errno.h>
#include <net/if.h>
#include <string.h>

#include "cli/cmd.h"
#include "cli/doctor.h"
#include "os/interfaces.h"
#include "os/ptp_management.h"
#include "report/json.h"

#define COMMAND         "tactus doctor"
#define PRIORITY_NORMAL 3

enum { OPTION_JSON = 256, OPTION_PTP_SOCKET, OPTION_PRIORITY };

struct request {
    struct tt_doctor doctor;
    bool json;
};

static const struct argp_option options[] = {
    {"json", OPTION_JSON, NULL, 0, "One JSON object instead of lines", 0},
    {"priority", OPTION_PRIORITY, "N", 0, "Of the stream's packets, 0 to 15 (SO_PRIORITY); 3", 0},
    {"ptp-socket", OPTION_PTP_SOCKET, "PATH", 0,
     "Where ptp4l is asked (its uds_address); " TT_PTP_SOCKET, 0},
    {0},
};

static error_t parse_option(int key, char *argument, struct argp_state *state)
{
    struct request *request = state->input;

    switch (key) {
    case OPTION_JSON:
        request->json = true;
        return 0;
    case OPTION_PRIORITY:
        request->doctor.priority = (int)tt_cli_number_option("priority", argument, state, 0, 15);
        return 0;
    case OPTION_PTP_SOCKET:
        request->doctor.ptp_socket = argument;
        return 0;
    case ARGP_KEY_ARG:
        if (request->doctor.ifname) {
            argp_error(state, "one interface at a time: %s or %s?", request->doctor.ifname,
                       argument);
        }
        request->doctor.ifname = argument;
        return 0;
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

static const struct argp parser = {
    .options = options,
    .parser = parse_option,
    .args_doc = "[INTERFACE]",
    .doc =
        "Look at what this machine's set-up does to streams, and change nothing: clocks, rights, "
        "the plugin, and with INTERFACE the link and its queues. Each line has what was found; "
        "where something is wrong, what it costs and the one command that mends it.\v"
        "Examples:\n"
        "  tactus doctor\n"
        "  tactus doctor eth0\n\n"
        "Exit: 0 nothing is wrong, 1 there are warnings or faults, 2 wrong usage, 4 nothing is "
        "wrong that could be told, and something could not."};

static int fail_interface(const char *ifname)
{
    char names[1024];

    tt_interface_names(names, sizeof(names));
    tt_cli_say(COMMAND, "there is no interface %s; there are: %s", ifname, names);
    return TT_EXIT_USAGE;
}

static int show(const struct request *request)
{
    json_t *json;
    int error;

    if (!request->json) {
        tt_doctor_print(&request->doctor, stdout);
        return TT_EXIT_GOOD;
    }
    json = tt_doctor_json(&request->doctor);
    error = json ? tt_json_print_line(stdout, json) : -ENOMEM;
    json_decref(json);
    if (error) {
        tt_cli_say(COMMAND, "cannot write what was found: %s", strerror(-error));
        return TT_EXIT_ENVIRONMENT;
    }
    return TT_EXIT_GOOD;
}

static int verdict(enum tt_check_status worst)
{
    if (worst >= TT_CHECK_WARNING) {
        return TT_EXIT_NEGATIVE;
    }
    return worst == TT_CHECK_UNKNOWN ? TT_EXIT_INCONCLUSIVE : TT_EXIT_GOOD;
}

int tt_cmd_doctor(int argc, char **argv)
{
    struct request request = {.doctor = {.ptp_socket = TT_PTP_SOCKET, .priority = PRIORITY_NORMAL}};
    struct tt_doctor *doctor = &request.doctor;
    int code;

    if (argp_parse(&parser, argc, argv, 0, NULL, &request) != 0) {
        return TT_EXIT_USAGE;
    }
    if (doctor->ifname && if_nametoindex(doctor->ifname) == 0) {
        return fail_interface(doctor->ifname);
    }
    tt_doctor_clocks(doctor);
    if (doctor->ifname && tt_doctor_nic(doctor) != 0) {
        return fail_interface(doctor->ifname);
    }
    tt_doctor_rights(doctor);
    tt_doctor_alsa(doctor);
    code = show(&request);
    return code != TT_EXIT_GOOD ? code : verdict(tt_doctor_worst(doctor));
}
