#!/bin/sh
# Sound cards at both ends whose clocks are not the network's: snd-aloop, its clock set off by its control. The
# commands resample from the one card to the stream and from the stream to the other: both lock, say the ratio, hold
# the level, and have no xrun from then on. 500 ppm, since 1000 is the most that is followed.
. guest.sh

seconds=$(cat /project/seconds 2>/dev/null || echo 16)
raw="-q -t raw -f S16_LE -r 48000 -c 2"
keys="--stream-id 02:00:00:00:00:01:0001 --dest 91:E0:F0:00:FE:01 --rate 48000 --channels 2 --format INT16
    --quality medium --level 40ms --duration ${seconds}s --json"
wire
modprobe snd-aloop

# shift_clock SUBDEVICE RATE: of both devices of the loopback.
shift_clock() {
    for device in 0 1; do
        amixer -q -D hw:Loopback cset "iface=PCM,name='PCM Rate Shift 100000',device=$device,subdevice=$1" "$2"
    done
}

# card FILE: a line for each line of JSON, of the card's figures: state level target ratio xruns slips
card() {
    sed -n 's/.*"card": *{\([^}]*\)}.*/\1/p' "$1" | awk -F'[:,]' '{
        for (i = 1; i < NF; i += 2) { gsub(/[ "]/, "", $i); gsub(/[ "]/, "", $(i + 1)); value[$i] = $(i + 1) }
        print value["state"], value["level_ns"], value["target_ns"], value["ratio_ppb"], value["xruns"], value["slips"]
    }'
}

check "the clocks can be set off" shift_clock 0 100050
check "both" shift_clock 1 99970
# shellcheck disable=SC2086 # words
{
    head -c 100000000 /dev/zero | aplay -D hw:Loopback,0,0 $raw 2>/dev/null &
    player=$!
    arecord -D hw:Loopback,1,1 $raw /dev/null 2>/dev/null &
    recorder=$!
    at listener tactus listen -i listener0 $keys alsa:hw:Loopback,0,1 >/tmp/listen.json 2>/tmp/said.listener &
    listener=$!
    at talker tactus talk -i talker0 $keys --class B alsa:hw:Loopback,1,0 >/tmp/talk.json 2>/tmp/said.talker
    wait $listener
    kill $player $recorder
}
# judge WHO PPB: from the third second after it locked.
judge() {
    card "/tmp/$1.json" >"/tmp/$1.card"
    sed "s/^/# $1: /" "/tmp/$1.card"
    awk -v want="$2" '
        $1 == "locked" { n++ }
        n == 3 { xruns = $5; slips = $6 }
        n >= 3 {
            off = $2 - $3; off = off < 0 ? -off : off; most = off > most ? off : most
            ratio = $4; same = $5 == xruns && $6 == slips && $1 == "locked"; all = n == 3 ? same : all && same
        }
        END {
            print "lines=" n + 0, "most_ns=" most + 0, "ratio_ppb=" ratio + 0, "steady=" all + 0, \
                "off_ppb=" (ratio > want ? ratio - want : want - ratio)
        }' "/tmp/$1.card" >"/tmp/$1.judged"
    lines='' most_ns='' ratio_ppb='' steady='' off_ppb=''
    # shellcheck disable=SC1090 # written just now
    . "/tmp/$1.judged"
    check "$1: locked, and for a while" [ "$lines" -ge 4 ]
    check "$1: no xrun, no slip from then on" [ "$steady" = 1 ]
    check "$1: the level is held within 0.5 ms" at_most "$most_ns" 500000
    check "$1: the ratio is the clocks'" at_most "$off_ppb" 20000
    figure "$1: level off by $most_ns ns at most, ratio $ratio_ppb ppb where $2 is expected"
}
for who in talker listener; do sed "s/^/# $who: /" /tmp/said.$who; done
# A shift above 100000 is a slower clock: the one card delivers too few, the other takes too many.
judge talk 500000
judge listen 300000
finish
