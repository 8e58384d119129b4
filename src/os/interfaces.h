/*
 * The network interfaces there are, for messages to people.
 */
#ifndef TT_OS_INTERFACES_H
#define TT_OS_INTERFACES_H

#include <stddef.h>

/* Their names with spaces between, as many as fit; "" where none can be named. */
void tt_interface_names(char *ret_text, size_t bytes);

#endif
