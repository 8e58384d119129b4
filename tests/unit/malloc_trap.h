/*
 * The malloc trap: while armed, a thread that allocates or frees aborts with a message. Put around
 * calls of TT_RT functions. Whoever depends on trap_dep (meson) has it in the whole program, also
 * for allocations inside libc, with and without AddressSanitizer. Other threads are not touched.
 */
#ifndef TT_TESTS_MALLOC_TRAP_H
#define TT_TESTS_MALLOC_TRAP_H

void tt_trap_arm(void);
void tt_trap_disarm(void);

#endif
