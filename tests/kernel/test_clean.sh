#!/bin/sh
# A stream of our own, paced by launch times, as `tactus watch` sees it: once the machine's clock is what class A asks
# for, nothing is found in it, live or in the capture that was written meanwhile.
. guest.sh

wire
alsa 'vlan_id 2
    mtt 2ms'
noise 1440 >/tmp/noise

# watched: what watch shows live and in what it captured meanwhile. It gets its memory before the stream begins, and gives
# it back behind the end: the kernel holds up everybody for milliseconds over that.
watched() {
    at listener tactus watch --duration 2s --write /tmp/capture listener0 >/tmp/live &
    watcher=$!
    sleep 0.4
    at talker aplay -q -D out -t raw -f S16_LE -r 48000 -c 2 /tmp/noise
    wait $watcher
    tactus watch /tmp/capture >/tmp/captured
    sed 's/^/# /' /tmp/captured
}

# found CODE...: in the last table of either, and nothing else; each shows the stream, of which nothing is missing.
found() {
    for table in live captured; do
        [ "$(awk '/ AAF .* 12,000( +0)+$/ { stream = 1 } /^Findings/ { codes = "" }
            $1 == 1 && $2 ~ /^(note|warning|fault)$/ { codes = codes $3 } END { print stream, codes }' /tmp/$table)" = "1 $*" ] ||
            return
    done
}

mqprio_etf clockid CLOCK_TAI delta 500000
set_clock tai 37
watched
check "a stream by a clock that nobody keeps: that is found, and no more" found clock_uncertain
set_clock synchronised
watched
check "a stream by a clock that is kept: nothing is found" found ""
finish
