/*
 * See interfaces.h.
 */
#include "os/interfaces.h"

#include <net/if.h>
#include <stdio.h>
#include <string.h>

void tt_interface_names(char *ret_text, size_t bytes)
{
    struct if_nameindex *interfaces = if_nameindex();
    size_t used = 0;

    ret_text[0] = 0;
    for (struct if_nameindex *i = interfaces; i && i->if_name; i++) {
        if (used + strlen(i->if_name) + 2 > bytes) {
            break;
        }
        used += (size_t)snprintf(ret_text + used, bytes - used, "%s%s", used > 0 ? " " : "",
                                 i->if_name);
    }
    if_freenameindex(interfaces);
}
