/*
 * See send.h.
 */
#include "run/send.h"

#include <errno.h>

int tt_send_batch(struct tt_link *link, const struct tt_link_packet *packets, int n,
                  bool *ret_refused)
{
    int error = 0;
    int at = 0;

    while (at < n) {
        int result = error < 0 ? error : link->ops->send(link, packets + at, n - at);

        for (; result > 0; result--) {
            ret_refused[at++] = false;
        }
        if (at < n) {
            ret_refused[at++] =
                true; /* where it took some, the kernel tried this one and said no */
        }
        if (result < 0 && result != -ENOBUFS) {
            error = result;
        }
    }
    return error;
}
