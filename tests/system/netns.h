/*
 * A network namespace for one test process, with a veth pair `va` — `vb` in it.
 */
#ifndef TT_TESTS_NETNS_H
#define TT_TESTS_NETNS_H

#include <stdbool.h>

/* Moves the process into it, in a user namespace where `rootless` or where it must. false: not
 * possible here; the reason was printed. */
bool netns_enter(bool rootless);

/* Runs a command without a shell, e.g. netns_run("ip link set va up"); returns its exit code. */
int netns_run(const char *command);

#endif
