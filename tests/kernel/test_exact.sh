#!/bin/sh
# The plugin on both ends: what aplay plays is what arecord records, bit for bit, through a software etf, and through
# taprio whose schedule has a gate for the stream's priority, in cycles of 125 us and 250 us.
. guest.sh

wire
alsa 'vlan_id 2'
noise 1440 >/tmp/noise

# exact WHAT: a second and a half across the wire.
exact() {
    rm -f /tmp/recording
    at listener arecord -q -D in -t raw -f S16_LE -r 48000 -c 2 -d 3 /tmp/recording &
    recorder=$!
    sleep 0.3
    at talker aplay -q -D out -t raw -f S16_LE -r 48000 -c 2 /tmp/noise
    wait $recorder
    said=$(tactus equal --raw S16_LE,2 /tmp/noise /tmp/recording)
    check "$1" [ $? = 0 ]
    figure "$said"
    figure "talker: refused $(field pdus_refused /tmp/talker.json), late $(field pdus_late /tmp/talker.json), by at most $(field max_ns /tmp/talker.json) ns;" \
        "listener: lost $(field frames_lost /tmp/listener.json), late $(field frames_late /tmp/listener.json)"
}

mqprio_etf clockid CLOCK_TAI delta 500000
exact "bit-exact through etf"

# taprio NS_OPEN NS_SHUT: the gate of the stream's class, then of the others.
taprio() {
    no_qdisc
    # shellcheck disable=SC2086 # words
    tc -n talker qdisc replace dev talker0 parent root handle 100 taprio $CLASSES base-time 0 \
        sched-entry S 01 "$1" sched-entry S 06 "$2" flags 0 clockid CLOCK_TAI
}

for cycle_us in 125 250; do
    taprio $((cycle_us * 400)) $((cycle_us * 600))
    check "taprio with a cycle of $cycle_us us is set up" [ $? = 0 ]
    exact "bit-exact through taprio, cycle of $cycle_us us"
    measure
    at talker aplay -q -D out -t raw -f S16_LE -r 48000 -c 2 /tmp/noise
    arrived
    figure "cycle $cycle_us us: interval mean $mean_ns stdev $stdev_ns min $min_ns max $max_ns"
    check "at the packets' rate" [ "$mean_ns" -ge 124990 -a "$mean_ns" -le 125010 ]
done
finish
