#!/bin/sh
# An etf that refuses or drops: it is noticed, counted and explained in one line, software keeps the launch times, and
# the stream goes on.
. guest.sh

MOST=9000 # of the 10,000 PDUs that aplay makes of this
wire
noise 1240 >/tmp/noise

# stream COMMAND...: plays by way of COMMAND; what was said is in /tmp/said.
stream() {
    measure
    TACTUS_VERBOSE=1 at talker "$@" aplay -q -D out -t raw -f S16_LE -r 48000 -c 2 /tmp/noise 2>/tmp/said
    arrived
    figure "$packets arrived; sent $(field pdus_sent /tmp/talker.json), refused $(field pdus_refused /tmp/talker.json)" \
        "(missed $(field launch_missed /tmp/talker.json), invalid $(field launch_invalid /tmp/talker.json))," \
        "late $(field pdus_late /tmp/talker.json), dropped $(field pdus_dropped /tmp/talker.json)"
    sed 's/^/# said: /' /tmp/said
}

said_once() { [ "$(grep -c "$1" /tmp/said)" = 1 ]; }
goes_on() { [ "$packets" -ge "$1" ]; }
counted() { [ "$(($(field pdus_refused /tmp/talker.json) + $(field pdus_dropped /tmp/talker.json)))" -ge "$1" ]; }

refused_for() { echo "$answer" | grep -q "$1"; }

alsa pace auto
mqprio_etf clockid CLOCK_TAI delta 0
stream
check "delta 0: the stream goes on" goes_on 10000
check "delta 0: said once, with the remedy" said_once "etf qdisc has delta 0"

# That etf keeps TAI alone is the kernel's own rule, so there is no such set-up to fall back from.
answer=$(mqprio_etf clockid CLOCK_MONOTONIC delta 500000 2>&1)
figure "wrong clock: $answer"
check "wrong clock: the kernel refuses such an etf, for its clock" refused_for "CLOCK_TAI must be used"
check "wrong clock: and there is none" sh -c "! tc -n talker qdisc show dev talker0 | grep -q etf"

mqprio_etf clockid CLOCK_TAI delta 500000
stream setpriv --bounding-set=-net_admin
check "no CAP_NET_ADMIN: the stream goes on" goes_on 10000
check "no CAP_NET_ADMIN: said once, with the remedy" said_once "SO_TXTIME needs CAP_NET_ADMIN"
check "no CAP_NET_ADMIN: what it costs is said" said_once "past the qdiscs"

alsa pace software
stream
check "no SO_TXTIME: the stream goes on" goes_on 10000
check "no SO_TXTIME: said once" said_once "drops packets without a launch time"

# While it runs the etf gets delta 0: from then on it drops every packet.
alsa pace auto
mqprio_etf clockid CLOCK_TAI delta 500000
(sleep 0.8 && tc -n talker qdisc del dev talker0 parent 100:1 &&
    tc -n talker qdisc replace dev talker0 parent 100:1 etf clockid CLOCK_TAI delta 0) &
stream
check "delta 0 while it runs: the stream goes on" goes_on $MOST
check "delta 0 while it runs: counted" counted 32
check "delta 0 while it runs: said once, with the remedy" said_once "refused most packets"

# A software-paced stream, when an etf comes in its way.
no_qdisc
(sleep 0.8 && mqprio_etf clockid CLOCK_TAI delta 500000) &
stream
check "etf comes while software paces: the stream goes on" goes_on $MOST
check "etf comes while software paces: counted" counted 32
check "etf comes while software paces: said once" said_once "refused most packets"

# The process stands still for 20 ms, four times its lead: what was due meanwhile is late.
mqprio_etf clockid CLOCK_TAI delta 500000
(sleep 0.8 && pid=$(pidof aplay) && kill -STOP "$pid" && usleep 20000 && kill -CONT "$pid") &
stream
check "late launches: the stream goes on" goes_on 10000
check "late launches: counted" [ "$(field pdus_late /tmp/talker.json)" -gt 0 ]

# A delta too short for this machine: etf drops what it cannot send in time.
mqprio_etf clockid CLOCK_TAI delta 100
stream
check "delta 100 ns: the stream goes on" goes_on $MOST
check "delta 100 ns: every PDU is accounted for" [ $((packets + $(field pdus_refused /tmp/talker.json))) = 10000 ]
check "delta 100 ns: said once, with the remedy" said_once "give etf a longer delta\|refused most packets"
finish
