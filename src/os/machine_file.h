/*
 * The small files of /proc and /sys.
 */
#ifndef TT_OS_MACHINE_FILE_H
#define TT_OS_MACHINE_FILE_H

#include <stddef.h>
#include <stdint.h>

/* The first `size` - 1 bytes, terminated, without the newline at the end. 0 or -errno. */
int tt_machine_file_text(const char *path, char *ret_text, size_t size);
/* TT_MACHINE_UNKNOWN where there is none. */
int64_t tt_machine_file_number(const char *path);

struct tt_machine_facts;
/* Fills in kernel and preemption; for machine_facts.c. */
void tt_machine_kernel(struct tt_machine_facts *facts);

#endif
