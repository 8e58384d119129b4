/*
 * Every call to the system that the plugin makes on its way from open to start fails once. The
 * program's own definitions of those calls come before libc's; they look who calls.
 */
#include "alsa_uses.h"

#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/ioctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

static int64_t failing_call = -1; /* the call that fails, counted from 0; -1: none */
static _Atomic int64_t calls;

/* Whether this call of the plugin's is the one that fails. */
static bool fails(void *caller)
{
    Dl_info info;

    if (failing_call < 0 || dladdr(caller, &info) == 0 || !strstr(info.dli_fname, "pcm_tactus")) {
        return false;
    }
    return atomic_fetch_add(&calls, 1) == failing_call;
}

/* POSIX's dlsym gives a data pointer for a function. */
static void *real(const char *name)
{
    void *function = dlsym(RTLD_NEXT, name);

    client_expect(function != NULL, name, 0);
    return function;
}

#define FAILS() fails(__builtin_return_address(0))

#pragma GCC visibility push(default)

int socket(int domain, int type, int protocol)
{
    int (*make)(int, int, int);

    if (FAILS()) {
        errno = EMFILE;
        return -1;
    }
    *(void **)&make = real("socket");
    return make(domain, type, protocol);
}

int setsockopt(int fd, int level, int name, const void *value, socklen_t bytes)
{
    int (*set)(int, int, int, const void *, socklen_t);

    if (FAILS()) {
        errno = ENOMEM;
        return -1;
    }
    *(void **)&set = real("setsockopt");
    return set(fd, level, name, value, bytes);
}

int bind(int fd, const struct sockaddr *address, socklen_t bytes)
{
    int (*join)(int, const struct sockaddr *, socklen_t);

    if (FAILS()) {
        errno = ENODEV;
        return -1;
    }
    *(void **)&join = real("bind");
    return join(fd, address, bytes);
}

int ioctl(int fd, unsigned long request, ...)
{
    int (*control)(int, unsigned long, ...);
    va_list arguments;
    void *argument;

    va_start(arguments, request);
    argument = va_arg(arguments, void *);
    va_end(arguments);
    if (FAILS()) {
        errno = ENODEV;
        return -1;
    }
    *(void **)&control = real("ioctl");
    return control(fd, request, argument);
}

int eventfd(unsigned count, int flags)
{
    int (*make)(unsigned, int);

    if (FAILS()) {
        errno = EMFILE;
        return -1;
    }
    *(void **)&make = real("eventfd");
    return make(count, flags);
}

int pthread_create(pthread_t *restrict thread, const pthread_attr_t *restrict attributes,
                   void *(*run)(void *), void *restrict argument)
{
    int (*make)(pthread_t *, const pthread_attr_t *, void *(*)(void *), void *);

    if (FAILS()) {
        return EAGAIN;
    }
    *(void **)&make = real("pthread_create");
    return make(thread, attributes, run, argument);
}

#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
/* glibc's own, as dlsym allocates. */
void *__libc_calloc(size_t n, size_t bytes);

void *calloc(size_t n, size_t bytes)
{
    if (FAILS()) {
        errno = ENOMEM;
        return NULL;
    }
    return __libc_calloc(n, bytes);
}
#endif

#pragma GCC visibility pop

/* All the way to a device that runs, as far as it goes: 0 or the first error. */
static int go_on_until_it_fails(struct client *client)
{
    int error = snd_pcm_open(&client->pcm, client->device, client->stream, 0);

    if (error < 0) {
        return error;
    }
    error = snd_pcm_set_params(client->pcm, client->format, client->access, client->channels,
                               client->rate, 0, 200000);
    if (error == 0) {
        error = snd_pcm_start(client->pcm);
    }
    CLIENT_OK(snd_pcm_close(client->pcm));
    return error;
}

static void quiet(const char *file, int line, const char *function, int error, const char *format,
                  ...)
{
    (void)file;
    (void)line;
    (void)function;
    (void)error;
    (void)format;
}

/* Returns how many calls there are, of which each has failed once. */
static int64_t fail_each(struct client *client)
{
    int64_t errors = 0;
    int64_t i = 0;
    int fds;
    int threads;

    CLIENT_OK(go_on_until_it_fails(client));
    fds = client_entries(CLIENT_FDS);
    threads = client_entries(CLIENT_THREADS);
    for (;; i++) {
        atomic_store(&calls, 0);
        failing_call = i;
        errors += go_on_until_it_fails(client) < 0;
        failing_call = -1;
        if (atomic_load(&calls) <= i) {
            break; /* so many calls there are not */
        }
        client_expect(client_entries(CLIENT_FDS) == fds, "descriptors left after call", i);
        client_expect(client_entries(CLIENT_THREADS) == threads, "threads left after call", i);
    }
    client_expect(errors > 3, "hardly any call matters", errors);
    CLIENT_OK(go_on_until_it_fails(client));
    return i;
}

/* Where one fails the device is refused, or does without; nothing is left behind, and the next time
 * it works. */
static void use_open_fails(struct client *client)
{
    int64_t playing;

    snd_lib_error_set_handler(quiet);
    playing = fail_each(client);
    client->device = client->record;
    client->stream = SND_PCM_STREAM_CAPTURE;
    printf("{\"playing\": %lld, \"recording\": %lld}\n", (long long)playing,
           (long long)fail_each(client));
}

/* The process has no descriptor left, from the first that is needed to the last. */
static void use_open_no_descriptors(struct client *client)
{
    struct rlimit before;
    bool opened = false;
    int free_fd;
    int used;

    snd_lib_error_set_handler(quiet);
    CLIENT_OK(go_on_until_it_fails(client));
    used = client_entries(CLIENT_FDS);
    free_fd = dup(STDERR_FILENO);
    close(free_fd);
    getrlimit(RLIMIT_NOFILE, &before);
    for (int more = 0; more < 12; more++) {
        struct rlimit limit = {.rlim_cur = (rlim_t)(free_fd + more), .rlim_max = before.rlim_max};
        int error;

        setrlimit(RLIMIT_NOFILE, &limit);
        error = go_on_until_it_fails(client);
        setrlimit(RLIMIT_NOFILE, &before);
        client_expect(more > 0 || error < 0, "it opens without a descriptor", error);
        client_expect(client_entries(CLIENT_FDS) == used, "descriptors left", more);
        opened = opened || error == 0;
    }
    client_expect(opened, "it never opens", 0);
}

const struct client_case refusing_cases[] = {
    {"open_fails", use_open_fails},
    {"open_no_descriptors", use_open_no_descriptors},
    {NULL, NULL},
};
