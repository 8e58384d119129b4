/*
 * See ptp_management.h.
 */
#include "os/ptp_management.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "base/attr.h"
#include "base/bytes.h"

#define TYPE_MANAGEMENT 0xD
#define HEADER_BYTES    34
#define FIXED_BYTES     (HEADER_BYTES + 14) /* target, hops, action */
#define AT_TLV          FIXED_BYTES
#define AT_DATA         (AT_TLV + 6)
#define ACTION_GET      0
#define ACTION_RESPONSE 2
#define TLV_MANAGEMENT  0x0001
#define CONTROL_OTHER   0x04
#define WAIT_MS         300
#define WAIT_MORE_MS    30   /* for the answers of further ports */
#define TRANSPORT_GPTP  0x10 /* majorSdoId 1, which a gPTP configuration insists on */
#define ID_PORT         0x2004
#define ID_PROPERTIES   0x2003
#define ID_TIME_STATUS  0xC000
#define ID_PORT_NP      0xC004
#define FLAG_UTC_VALID  0x04
#define FLAG_TIMESCALE  0x08
#define PORT_STATE_AT   10
#define STATUS_BYTES    50
#define STATUS_PRESENT  38
#define STATUS_MASTER   42

static const uint16_t questions[] = {ID_TIME_STATUS, ID_PROPERTIES, ID_PORT, ID_PORT_NP};

static size_t put_question(uint8_t message[AT_DATA], uint8_t transport, uint16_t id,
                           uint16_t number)
{
    memset(message, 0, AT_DATA);
    message[0] = (uint8_t)(transport | TYPE_MANAGEMENT);
    message[1] = 2; /* versionPTP */
    tt_put_be16(message + 2, AT_DATA);
    tt_put_be16(message + 28, (uint16_t)getpid()); /* our port */
    tt_put_be16(message + 30, number);
    message[32] = CONTROL_OTHER;
    message[33] = 0x7F;
    memset(message + HEADER_BYTES, 0xFF, 10); /* all clocks, all ports */
    message[HEADER_BYTES + 12] = ACTION_GET;
    tt_put_be16(message + AT_TLV, TLV_MANAGEMENT);
    tt_put_be16(message + AT_TLV + 2, 2);
    tt_put_be16(message + AT_TLV + 4, id);
    return AT_DATA;
}

/* Its identity (10), state, time stamping, and the interface's name after its length. */
static bool add_port(const uint8_t *data, size_t bytes, struct tt_ptp_status *status)
{
    struct tt_ptp_port port = {0};
    size_t length = bytes > 12 ? data[12] : 0;

    if (bytes <= 12 || length > bytes - 13 || length >= sizeof(port.ifname)) {
        return false;
    }
    port.number = tt_get_be16(data + 8);
    port.state = data[10];
    memcpy(port.ifname, data + 13, length);
    for (size_t i = 0; i < status->port_count; i++) {
        if (status->ports[i].number == port.number) {
            return true;
        }
    }
    if (status->port_count < TT_PTP_PORTS) {
        status->ports[status->port_count++] = port;
    }
    return true;
}

bool tt_ptp_parse(const uint8_t *message, size_t bytes, struct tt_ptp_status *status)
{
    const uint8_t *data = message + AT_DATA;
    size_t data_bytes;

    if (bytes < AT_DATA || (message[0] & 0xF) != TYPE_MANAGEMENT ||
        (message[HEADER_BYTES + 12] & 0xF) != ACTION_RESPONSE ||
        tt_get_be16(message + AT_TLV) != TLV_MANAGEMENT) {
        return false;
    }
    data_bytes = bytes - AT_DATA;
    status->transport = message[0] >> 4;
    switch (tt_get_be16(message + AT_TLV + 4)) {
    case ID_TIME_STATUS:
        if (data_bytes < STATUS_BYTES) {
            return false;
        }
        status->time_known = true;
        status->offset_ns = (int64_t)tt_get_be64(data);
        status->grandmaster_present = tt_get_be32(data + STATUS_PRESENT) != 0;
        status->grandmaster = tt_get_be64(data + STATUS_MASTER);
        return true;
    case ID_PROPERTIES:
        if (data_bytes < 4) {
            return false;
        }
        status->utc_known = true;
        status->utc_offset_s = (int16_t)tt_get_be16(data);
        status->utc_offset_valid = (data[2] & FLAG_UTC_VALID) != 0;
        status->ptp_timescale = (data[2] & FLAG_TIMESCALE) != 0;
        return true;
    case ID_PORT:
        if (data_bytes <= PORT_STATE_AT) {
            return false;
        }
        if (!status->port_known) {
            status->port_known = true;
            status->port = tt_get_be16(data + 8);
            status->port_state = data[PORT_STATE_AT];
        }
        return true;
    case ID_PORT_NP:
        return add_port(data, data_bytes, status);
    default:
        return false;
    }
}

static int ask_one(int fd, const struct sockaddr_un *to, uint16_t number, uint16_t id,
                   struct tt_ptp_status *status)
{
    /* Which of the two it takes is a matter of its configuration. */
    static const uint8_t transports[] = {TRANSPORT_GPTP, 0};
    struct pollfd wait = {.fd = fd, .events = POLLIN};
    uint8_t message[1500];
    bool answered = false;

    for (size_t i = 0; i < TT_COUNT_OF(transports); i++) {
        size_t bytes = put_question(message, transports[i], id, number);

        if (sendto(fd, message, bytes, 0, (const struct sockaddr *)to, sizeof(*to)) < 0) {
            return -errno;
        }
    }
    while (poll(&wait, 1, answered ? WAIT_MORE_MS : WAIT_MS) > 0) {
        ssize_t n = recv(fd, message, sizeof(message), 0);

        if (n < 0 || !tt_ptp_parse(message, (size_t)n, status) ||
            tt_get_be16(message + AT_TLV + 4) != id) {
            continue;
        }
        answered = true;
        if (id != ID_PORT_NP) {
            return 0;
        }
    }
    return answered ? 0 : -ETIMEDOUT;
}

int tt_ptp_ask(const char *socket_path, struct tt_ptp_status *ret_status)
{
    /* An address of our own, which needs no file: the answer has to find us. */
    const struct sockaddr_un own = {.sun_family = AF_UNIX};
    struct sockaddr_un to = {.sun_family = AF_UNIX};
    struct tt_ptp_status status = {0};
    int answered = 0;
    int rc = 0;
    int fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);

    if (fd < 0) {
        return -errno;
    }
    snprintf(to.sun_path, sizeof(to.sun_path), "%s", socket_path);
    if (bind(fd, (const struct sockaddr *)&own, sizeof(own.sun_family)) != 0) {
        rc = -errno;
    }
    for (size_t i = 0; i < TT_COUNT_OF(questions) && (rc == 0 || rc == -ETIMEDOUT); i++) {
        rc = ask_one(fd, &to, (uint16_t)i, questions[i], &status);
        answered += rc == 0;
    }
    close(fd);
    if (answered == 0) {
        return rc;
    }
    *ret_status = status;
    return 0;
}
