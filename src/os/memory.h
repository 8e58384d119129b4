/*
 * Memory that real-time code may touch: every page is there before it starts.
 */
#ifndef TT_OS_MEMORY_H
#define TT_OS_MEMORY_H

#include <stddef.h>

/* Zeroed, as calloc, and touched; free() it. NULL: no memory. */
void *tt_memory_new(size_t count, size_t bytes);

/* What the process has in memory now stays there. 0 or -errno. For a process of one's own only. */
int tt_memory_lock(void);

#endif
