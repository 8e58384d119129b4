/*
 * A stream's link: opened, with what fell back; or a message that names the key and the remedy.
 */
#ifndef TT_RUN_ATTACH_H
#define TT_RUN_ATTACH_H

#include <stdbool.h>
#include <stdint.h>

#include "audio/stream_config.h"
#include "os/link.h"

struct tt_attachment {
    struct tt_link *link;
    unsigned notes;     /* enum tt_note */
    int64_t release_ns; /* kernel pacing: see struct tt_talk_setup */
    bool offload;
};

/* `streams`: how many the link is for. A listener's for one takes that one's packets only, for more
 * all AVTP of the interface. 0 (close the link with tt_link_close), or -errno with *ret_message. */
int tt_attach(const struct tt_stream_config *config, enum tt_role role, unsigned streams,
              struct tt_attachment *ret_attachment, struct tt_message *ret_message);

#endif
