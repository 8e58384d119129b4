/*
 * See memory.h. Fresh pages of calloc are all one zero page until they are written to, and then
 * fault in.
 */
#include "os/memory.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/mman.h>

#define PAGE_BYTES 4096

void *tt_memory_new(size_t count, size_t bytes)
{
    volatile char *memory = calloc(count, bytes);

    for (size_t i = 0; memory && i < count * bytes; i += PAGE_BYTES) {
        memory[i] = 0;
    }
    return (void *)memory;
}

int tt_memory_lock(void)
{
    return mlockall(MCL_CURRENT) == 0 ? 0 : -errno;
}
