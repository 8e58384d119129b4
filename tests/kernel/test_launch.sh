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

# bare BATCH: sets bare_refused and bare_stdev_ns. In our phase of the kernel's tick of 4 ms, which is eight batches: it
# meets the same moments of either.
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
    # Where the tick meets a release (in one of ten phases), either loses packets, and chance says who loses one more: then
    # another phase is taken, three at most.
    for attempt in 1 2 3; do
        usleep "${attempt}3037"
        ours
        our_stdev_ns=$stdev_ns
        arrived_of_ours=$packets
        our_gaps=$gaps
        # Due 1 ms, time_uncertainty (125 us) and the delta after the start, which is the first event.
        started_ns=$(sed -n 's/.*"time_tai_ns": \([0-9]*\).*/\1/p' /tmp/talker.json | head -n 1)
        phase_ns=$(((started_ns + 1125000 + delta) % 4000000))
        bare 4
        if at_most "$refused" "$bare_refused" && no_worse "$our_stdev_ns" "$bare_stdev_ns"; then
            break
        fi
    done
    check "delta $delta ns: every PDU is sent, or said not to be" \
        [ $(($(field pdus_sent /tmp/talker.json) + refused)) = $PDUS ]
    check "delta $delta ns: all arrive, or the error queue tells" [ $((arrived_of_ours + refused)) = $PDUS ]
    check "delta $delta ns: in order" [ "$our_gaps" -le "$refused" ]
    check "delta $delta ns: no more refused than of the bare program" at_most "$refused" "$bare_refused"
    check "delta $delta ns: intervals as even as the bare program's" no_worse "$our_stdev_ns" "$bare_stdev_ns"
    for batch in 20 8 1; do
        bare $batch
    done
done
finish
