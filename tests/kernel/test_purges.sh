#!/bin/sh
# Packets that wait in an etf and vanish without a report: the qdisc is exchanged or taken away, the link loses its carrier.
# They are missed, counted and located; and so is what the error queue does report.
. guest.sh

PDUS=10000
wire
noise 1240 >/tmp/noise
alsa pace auto

stream() {
    measure
    TACTUS_VERBOSE=1 at talker aplay -q -D out -t raw -f S16_LE -r 48000 -c 2 /tmp/noise 2>/tmp/said
    arrived
    refused=$(field pdus_refused /tmp/talker.json)
    unkept=$(field launch_unkept /tmp/talker.json)
    missed=$(field launch_missed /tmp/talker.json)
    figure "$packets arrived; refused $refused (unkept $unkept, missed $missed)," \
        "dropped $(field pdus_dropped /tmp/talker.json), located $(located) frames"
    sed 's/^/# said: /' /tmp/said
}

# Frames of the events of kind "refused".
located() {
    awk '/"kind"/ { refused = /"refused"/ } refused && /"frames"/ { gsub(/[^0-9]/, ""); sum += $0 } END { print sum + 0 }' \
        /tmp/talker.json
}

all_located() { [ "$(located)" = $((6 * refused)) ]; }
# What was to leave while the qdisc is exchanged cannot be told from what did. The engine comes before tc and holds the
# exchange up, which lasts up to three of its steps of 4 PDUs so.
accounted() { at_most $((PDUS - packets - refused)) 12 && at_most $((packets + refused - PDUS)) "$1"; }
said() { grep -q "$1" /tmp/said; }
not_said() { ! said "$1"; }

mqprio_etf clockid CLOCK_TAI delta 500000
(sleep 0.8 && tc -n talker qdisc replace dev talker0 parent 100:1 handle 7: etf clockid CLOCK_TAI delta 500000) &
stream
check "the etf is exchanged: what it held is missed" [ "$unkept" -gt 0 ]
check "the etf is exchanged: every packet is accounted for" accounted 0
check "the etf is exchanged: located" all_located
check "the etf is exchanged: said" said "vanished from the kernel's queue"
check "the etf is exchanged: the new one keeps launch times" not_said "from there software keeps"

mqprio_etf clockid CLOCK_TAI delta 500000
(sleep 0.8 && no_qdisc) &
stream
check "no etf any more: what it held is missed" [ "$unkept" -gt 0 ]
check "no etf any more: located" all_located
check "no etf any more: software takes over, which is said" said "from there software keeps"
# Those that left too early are told as lost, and may arrive: a trial of 64 PDUs, up to half of the one before it, a step.
check "no etf any more: every packet is accounted for" accounted 100

mqprio_etf clockid CLOCK_TAI delta 500000
(sleep 0.8 && ip -n listener link set listener0 down && usleep 50000 && ip -n listener link set listener0 up) &
stream
check "no carrier: what was sent is missed" [ "$refused" -gt 300 ]
check "no carrier: located" all_located
check "no carrier: said" said "down or without carrier"
check "no carrier: launch times are kept afterwards" not_said "from there software keeps"

# The reports of the error queue: each at its frames.
mqprio_etf clockid CLOCK_TAI delta 100
stream
check "launches missed: there are some" [ "$refused" -gt 0 ]
check "launches missed: located" all_located
check "launches missed: every packet is accounted for" [ $((packets + refused)) = $PDUS ]
finish
