/*
 * The one description of a stream, whichever way it came: ALSA configuration, JSON or options.
 *
 * Reading differs from front to front (it hands key and value over as text); parsing of values,
 * defaults, checking and messages are here and the same for all.
 */
#ifndef TT_AUDIO_STREAM_CONFIG_H
#define TT_AUDIO_STREAM_CONFIG_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "audio/aaf.h"

enum tt_role { TT_ROLE_TALKER, TT_ROLE_LISTENER };

/* What a listener's device does while no talker sends. */
enum tt_on_absence { TT_ABSENCE_SILENCE, TT_ABSENCE_XRUN };
/* What is missing in a listener's stream: silence, or silence whose edges fade. */
enum tt_on_loss { TT_LOSS_SILENCE, TT_LOSS_FADE };
/* What a talker's device does while its program does not write in time. */
enum tt_on_underrun { TT_UNDERRUN_XRUN, TT_UNDERRUN_SILENCE };
/* Whether packets carry tu: while the kernel says that its clock is not synchronised, or never. */
enum tt_tu { TT_TU_AUTO, TT_TU_NEVER };
/* The scale of the stamps on the wire. */
enum tt_timescale { TT_TIMESCALE_TAI, TT_TIMESCALE_UTC };
/* Who keeps the launch times: found out, the kernel (ETF and the like), or our real-time thread. */
/* XDP: as SOFTWARE, by AF_XDP. */
enum tt_pace { TT_PACE_AUTO, TT_PACE_KERNEL, TT_PACE_SOFTWARE, TT_PACE_XDP };

#define TT_IFNAME_BYTES 16 /* with the 0, as the kernel's IFNAMSIZ */

struct tt_stream_config {
    char ifname[TT_IFNAME_BYTES];
    uint8_t dest[6];           /* key addr */
    uint64_t stream_id;        /* key streamid */
    enum tt_aaf_format format; /* 0: not fixed by the configuration */
    uint32_t rate_hz;          /* 0: not fixed */
    unsigned channels;         /* 0: not fixed */
    unsigned frames_per_pdu;
    int priority; /* key prio: SO_PRIORITY, 0 … 15 */
    int vlan_id;  /* -1: no tag */
    int pcp;      /* of the tag; -1: not said, see tt_stream_config_pcp */
    bool sparse;
    int64_t mtt_ns;              /* maximum transit time: presentation = launch + mtt */
    int64_t time_uncertainty_ns; /* launch = media clock + time_uncertainty */
    int64_t ptime_tolerance_ns;  /* either side */
    int64_t playout_latency_ns;  /* a listener presents this much after the presentation time */
    int64_t launch_lead_ns;      /* kernel pacing: handed over this long before launch */
    int64_t launch_offset_ns;    /* launch modulo a packet's interval; 0: any */
    enum tt_on_absence on_absence;
    enum tt_on_loss on_loss;
    enum tt_on_underrun on_underrun;
    enum tt_tu tu;
    enum tt_timescale timescale;
    enum tt_pace pace;
};

/* Text for a person: which key, what was given, what would do. */
struct tt_message {
    char text[512];
};

/* Everything optional at its default, everything required marked as missing. */
void tt_stream_config_init(struct tt_stream_config *config);

/* One key and its value as text. Dashes and underscores are the same, and so are interface and
 * ifname, dest and addr, stream_id and streamid, priority and prio; times are µs unless a unit is
 * written (ns, us, ms, s, min, h). 0; -ENOENT: no such key; -EINVAL: the value will not do.
 * *ret_message is written on failure only, and then begins with the key as it was given. */
int tt_stream_config_set(struct tt_stream_config *config, const char *key, const char *value,
                         struct tt_message *ret_message);

/* Whether both are names of one key, or the same word. */
bool tt_stream_config_same_key(const char *a, const char *b);

/* The priority in the tag: where it is not said 3 (class A); -1: no tag. */
int tt_stream_config_pcp(const struct tt_stream_config *config);

/* The key that a person may have meant by this name, or NULL. */
const char *tt_stream_config_nearest_key(const char *name);

/* Whether what this role needs is there and fits together, before an interface is touched.
 * 0 or -EINVAL with *ret_message. */
int tt_stream_config_check(const struct tt_stream_config *config, enum tt_role role,
                           struct tt_message *ret_message);

/* Whether a PDU of this shape fits the MTU: 0, or -EMSGSIZE with *ret_message naming the limit and
 * the largest frames_per_pdu and channels that fit. */
int tt_stream_config_fits(const struct tt_stream_config *config, enum tt_aaf_format format,
                          unsigned channels, unsigned mtu_bytes, struct tt_message *ret_message);

/* The largest frames_per_pdu that fits; 0 where not even one frame does. */
unsigned tt_frames_per_pdu_max(enum tt_aaf_format format, unsigned channels, unsigned mtu_bytes);

#endif
