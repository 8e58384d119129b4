/*
 * The named ways to use the device, in files by kind. Each gets a client whose parameters are set
 * and which is not open.
 */
#ifndef TT_TESTS_ALSA_USES_H
#define TT_TESTS_ALSA_USES_H

#include "alsa_client.h"

struct client_case {
    const char *name;
    void (*run)(struct client *client);
};

/* Each table ends with a name that is NULL. */
extern const struct client_case playing_cases[];  /* alsa_uses.c: what is heard of what is played */
extern const struct client_case asking_cases[];   /* alsa_ask.c: thresholds, waiting, status */
extern const struct client_case process_cases[];  /* alsa_process.c: processes, threads, signals */
extern const struct client_case refusing_cases[]; /* alsa_refuse.c: what fails on the way */

#endif
