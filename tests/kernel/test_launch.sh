#!/bin/sh
# Launch times: the talker through a software etf, beside the least program that uses SO_TXTIME. Class A, 10,000 PDUs.
# Its batch, its lead and its priority are ours (run/launch.c): batches of 4, handed over 10 us behind a release.
. guest.sh

PDUS=10000
wire
alsa pace auto
noise 1240 >/tmp/noise # aplay fills the last period of 125 ms

ours() {
    measure
    at talker aplay -q -D out -t raw -f S16_LE -r 48000 -c 2 /tmp/noise
    arrived
    refused=$(field pdus_refused /tmp/talker.json)
    figure "tactus: $packets of $PDUS received, $refused refused, interval stdev $stdev_ns ns, $min_ns to $max_ns"
}

# bare BATCH: sets bare_refused, bare_stdev_ns and bare_max_ns. In our phase: the kernel's tick, whose period is
# a multiple of 125 us, falls between the same two moments of either.
bare() {
    measure
    bare_refused=$(at talker bare_talker talker0 3 $PDUS "$1" $((4500000 + (delta + 115000) % 125000)) "$phase_ns")
    arrived
    bare_stdev_ns=$stdev_ns
    figure "bare, batches of $1: $packets of $PDUS received, $bare_refused refused, interval stdev $stdev_ns ns," \
        "$min_ns to $max_ns"
}

no_worse() { awk -v ours="$1" -v bare="$2" 'BEGIN { exit !(ours != "" && bare > 0 && ours <= 1.05 * bare + 20) }'; }

for delta in 5000 500000; do
    figure "etf with delta $delta ns"
    mqprio_etf clockid CLOCK_TAI delta $delta
    # Where the kernel's tick meets a release (some 10 us of the 125), packets are late, and some us this way or that decide
    # about it: then another phase is taken, three at most.
    for attempt in 1 2 3; do
        usleep "${attempt}3037"
        ours
        our_stdev_ns=$stdev_ns
        arrived_of_ours=$packets
        our_gaps=$gaps
        # Due 1 ms, the delta and time_uncertainty (125 us) after the start.
        phase_ns=$((($(field time_tai_ns /tmp/talker.json) + delta) % 125000))
        bare 4
        if at_most "$refused" "$bare_refused" && no_worse "$our_stdev_ns" "$bare_stdev_ns"; then
            break
        fi
    done
    check "delta $delta ns: every PDU is sent" [ "$(field pdus_sent /tmp/talker.json)" = $PDUS ]
    check "delta $delta ns: all arrive, or the error queue tells" [ $((arrived_of_ours + refused)) = $PDUS ]
    check "delta $delta ns: in order" [ "$our_gaps" -le "$refused" ]
    check "delta $delta ns: no more refused than of the bare program" at_most "$refused" "$bare_refused"
    check "delta $delta ns: intervals as even as the bare program's" no_worse "$our_stdev_ns" "$bare_stdev_ns"
    for batch in 20 8 1; do
        bare $batch
    done
done
finish
