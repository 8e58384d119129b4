/*
 * See metrics.h. libmicrohttpd with one thread of its own.
 */
#include "cli/metrics.h"

#include <arpa/inet.h>
#include <errno.h>
#include <microhttpd.h>
#include <netinet/in.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#define CONNECTIONS_MAX 16
#define TIMEOUT_S       10
#define CONTENT_TYPE    "text/plain; version=0.0.4; charset=utf-8"
#define HINT            "The figures are at /metrics.\n"

struct tt_metrics {
    struct MHD_Daemon *daemon;
    pthread_mutex_t mutex;
    char *page; /* what is served */
    size_t bytes;
    FILE *out; /* what is written */
    char *next;
    size_t next_bytes;
};

static enum MHD_Result answer(struct MHD_Connection *connection, unsigned code,
                              struct MHD_Response *response)
{
    enum MHD_Result result = MHD_NO;

    if (response) {
        MHD_add_response_header(response, MHD_HTTP_HEADER_CONTENT_TYPE, CONTENT_TYPE);
        result = MHD_queue_response(connection, code, response);
        MHD_destroy_response(response);
    }
    return result;
}

static enum MHD_Result handle(void *context, struct MHD_Connection *connection, const char *url,
                              const char *method, const char *version, const char *upload,
                              size_t *upload_bytes, void **state)
{
    struct tt_metrics *metrics = context;
    struct MHD_Response *response;

    (void)version;
    (void)upload;
    (void)state;
    if (*upload_bytes > 0 || (strcmp(method, "GET") != 0 && strcmp(method, "HEAD") != 0)) {
        *upload_bytes = 0;
        return answer(connection, MHD_HTTP_METHOD_NOT_ALLOWED,
                      MHD_create_response_from_buffer(strlen(HINT), HINT, MHD_RESPMEM_PERSISTENT));
    }
    if (strcmp(url, "/metrics") != 0) {
        return answer(connection, strcmp(url, "/") == 0 ? MHD_HTTP_OK : MHD_HTTP_NOT_FOUND,
                      MHD_create_response_from_buffer(strlen(HINT), HINT, MHD_RESPMEM_PERSISTENT));
    }
    pthread_mutex_lock(&metrics->mutex);
    response =
        MHD_create_response_from_buffer(metrics->bytes, metrics->page, MHD_RESPMEM_MUST_COPY);
    pthread_mutex_unlock(&metrics->mutex);
    return answer(connection, MHD_HTTP_OK, response);
}

/* 0 or -EINVAL. */
static int parse_where(const char *where, struct sockaddr_storage *ret_address)
{
    struct sockaddr_in *v4 = (struct sockaddr_in *)ret_address;
    struct sockaddr_in6 *v6 = (struct sockaddr_in6 *)ret_address;
    const char *colon = strrchr(where, ':');
    const char *digits = colon ? colon + 1 : where;
    size_t length = colon ? (size_t)(colon - where) : 0;
    char host[INET6_ADDRSTRLEN + 2];
    char *end;
    long port = strtol(digits, &end, 10);

    if (*digits < '0' || *digits > '9' || *end != 0 || port < 1 || port > 65535 ||
        length >= sizeof(host)) {
        return -EINVAL;
    }
    memset(ret_address, 0, sizeof(*ret_address));
    memcpy(host, where, length);
    host[length] = 0;
    if (length > 1 && host[0] == '[' && host[length - 1] == ']') {
        host[length - 1] = 0;
        v6->sin6_family = AF_INET6;
        v6->sin6_port = htons((uint16_t)port);
        return inet_pton(AF_INET6, host + 1, &v6->sin6_addr) == 1 ? 0 : -EINVAL;
    }
    v4->sin_family = AF_INET;
    v4->sin_port = htons((uint16_t)port);
    return inet_pton(AF_INET, length > 0 ? host : "127.0.0.1", &v4->sin_addr) == 1 ? 0 : -EINVAL;
}

static struct MHD_Daemon *start_daemon(struct tt_metrics *metrics,
                                       const struct sockaddr_storage *address)
{
    unsigned flags = MHD_USE_INTERNAL_POLLING_THREAD;
    sigset_t all;
    sigset_t before;
    struct MHD_Daemon *daemon;

    if (address->ss_family == AF_INET6) {
        flags |= MHD_USE_IPv6;
    }
    /* The new thread inherits the mask: signals are the command's. */
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    daemon = MHD_start_daemon(flags, 0, NULL, NULL, handle, metrics, MHD_OPTION_SOCK_ADDR, address,
                              MHD_OPTION_CONNECTION_LIMIT, (unsigned)CONNECTIONS_MAX,
                              MHD_OPTION_CONNECTION_TIMEOUT, (unsigned)TIMEOUT_S, MHD_OPTION_END);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return daemon;
}

int tt_metrics_start(const char *command, const char *where, struct tt_metrics **ret_metrics)
{
    struct sockaddr_storage address;
    struct tt_metrics *metrics;

    *ret_metrics = NULL;
    if (!where) {
        return TT_EXIT_GOOD;
    }
    if (parse_where(where, &address) != 0) {
        tt_cli_say(command,
                   "--metrics %s: give ADDRESS:PORT, such as 127.0.0.1:9722, or a port alone, "
                   "which is on the loopback",
                   where);
        return TT_EXIT_USAGE;
    }
    metrics = calloc(1, sizeof(*metrics));
    if (!metrics) {
        tt_cli_say(command, "out of memory");
        return TT_EXIT_ENVIRONMENT;
    }
    pthread_mutex_init(&metrics->mutex, NULL);
    errno = 0;
    metrics->daemon = start_daemon(metrics, &address);
    if (!metrics->daemon) {
        tt_cli_say(command, "metrics cannot be served on %s: %s", where,
                   errno ? strerror(errno) : "libmicrohttpd does not start");
        tt_metrics_stop(metrics);
        return TT_EXIT_ENVIRONMENT;
    }
    *ret_metrics = metrics;
    return TT_EXIT_GOOD;
}

FILE *tt_metrics_begin(struct tt_metrics *metrics)
{
    if (!metrics) {
        return NULL;
    }
    metrics->out = open_memstream(&metrics->next, &metrics->next_bytes);
    return metrics->out;
}

void tt_metrics_end(struct tt_metrics *metrics)
{
    if (fclose(metrics->out) != 0) {
        free(metrics->next);
        return;
    }
    pthread_mutex_lock(&metrics->mutex);
    free(metrics->page);
    metrics->page = metrics->next;
    metrics->bytes = metrics->next_bytes;
    pthread_mutex_unlock(&metrics->mutex);
}

void tt_metrics_stop(struct tt_metrics *metrics)
{
    if (!metrics) {
        return;
    }
    if (metrics->daemon) {
        MHD_stop_daemon(metrics->daemon);
    }
    pthread_mutex_destroy(&metrics->mutex);
    free(metrics->page);
    free(metrics);
}
