/*
 * See malloc_trap.h. Without a sanitizer this file defines the allocator's functions and hands on
 * to glibc's own; AddressSanitizer has replaced the allocator already and calls hooks instead.
 */
#include "malloc_trap.h"

#include <errno.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#if defined(__has_feature)
#if __has_feature(address_sanitizer)
#define UNDER_ASAN 1
#endif
#elif defined(__SANITIZE_ADDRESS__)
#define UNDER_ASAN 1
#endif

static _Thread_local bool armed;

static void spring(const char *what)
{
    static const char text[] = ": called while the malloc trap is armed (a TT_RT function)\n";

    if (!armed)
        return;
    armed = false; /* abort may allocate */
    if (write(STDERR_FILENO, what, strlen(what)) < 0 ||
        write(STDERR_FILENO, text, sizeof(text) - 1) < 0)
        _exit(127);
    abort();
}

#ifdef UNDER_ASAN
int __sanitizer_install_malloc_and_free_hooks(void (*allocated)(const volatile void *, size_t),
                                              void (*freed)(const volatile void *));

static void on_allocation(const volatile void *memory, size_t bytes)
{
    (void)memory;
    (void)bytes;
    spring("malloc");
}

static void on_free(const volatile void *memory)
{
    (void)memory;
    spring("free");
}

static __attribute__((constructor)) void install(void)
{
    if (!__sanitizer_install_malloc_and_free_hooks(on_allocation, on_free))
        abort();
}
#else
void *__libc_malloc(size_t bytes);
void *__libc_calloc(size_t count, size_t bytes);
void *__libc_realloc(void *memory, size_t bytes);
void *__libc_memalign(size_t alignment, size_t bytes);
void __libc_free(void *memory);

#define IN_ALL_OF_THE_PROGRAM __attribute__((visibility("default")))

IN_ALL_OF_THE_PROGRAM void *malloc(size_t bytes)
{
    spring("malloc");
    return __libc_malloc(bytes);
}

IN_ALL_OF_THE_PROGRAM void *calloc(size_t count, size_t bytes)
{
    spring("calloc");
    return __libc_calloc(count, bytes);
}

IN_ALL_OF_THE_PROGRAM void *realloc(void *memory, size_t bytes)
{
    spring("realloc");
    return __libc_realloc(memory, bytes);
}

IN_ALL_OF_THE_PROGRAM void *aligned_alloc(size_t alignment, size_t bytes)
{
    spring("aligned_alloc");
    return __libc_memalign(alignment, bytes);
}

IN_ALL_OF_THE_PROGRAM int posix_memalign(void **ret_memory, size_t alignment, size_t bytes)
{
    void *memory;

    spring("posix_memalign");
    memory = __libc_memalign(alignment, bytes);
    if (!memory)
        return ENOMEM;
    *ret_memory = memory;
    return 0;
}

IN_ALL_OF_THE_PROGRAM void free(void *memory)
{
    if (memory) /* freeing nothing is no work */
        spring("free");
    __libc_free(memory);
}
#endif

void tt_trap_arm(void)
{
    armed = true;
}

void tt_trap_disarm(void)
{
    armed = false;
}
