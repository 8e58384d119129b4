#!/bin/sh
# The meter on a sound card: snd-aloop, whose pointer moves with the kernel's tick, so buffers are large. Each period is
# accounted for by the card's own frames; a mark comes back through the loopback; a stop is found, with its cause, and so
# is, from the kernel's record, who ran instead.
. guest.sh

modprobe snd-aloop
export ALSA_CONFIG_PATH=/usr/share/alsa/alsa.conf
cd /tmp || exit 1
card="--device hw:Loopback,0,0 --buffer 512x4 --compute 10 --load idle --json"

# sum_holds FILE: of the last cell in it.
sum_holds() {
    [ "$(field expected "$1")" = $(($(field on_time "$1") + $(field late "$1") + $(field skipped "$1"))) ]
}
# soak FILE WORD: a line with it is there.
told() { grep -q "\"cause\":\"$2\"" "$1"; }
# begun FILE: the soak has said what it measures, and runs for a second.
begun() {
    until grep -q plan_ns "$1"; do usleep 20000; done
    sleep 1
}
above() { awk -v a="$1" -v b="$2" 'BEGIN { exit !(a != "" && a > b) }'; }

# shellcheck disable=SC2086 # words
{
    tactus meter $card --time 1500ms >play.json 2>said
    code=$?
    sed 's/^/# /' said
    check "played, without a dropout" [ $code = 0 ]
    check "each period is accounted for" sum_holds play.json
    check "as many as the card's rate makes of 1.5 s" [ "$(field expected play.json)" = 140 ]
    figure "expected $(field expected play.json), late $(field late play.json), dropouts $(field dropouts play.json)"

    tactus meter $card --time 1500ms --round-trip hw:Loopback,1,0 >round.json 2>said
    sed 's/^/# /' said
    check "the round trip: each period is accounted for" sum_holds round.json
    sed 's/.*"round_trip":\({[^}]*}\).*/\1/' round.json >trip.json
    sed 's/^/# /' trip.json
    check "marks come back" above "$(field n trip.json)" 5
    # What is played now is behind three fragments of 10.7 ms; what is captured is taken once a fragment.
    check "not before the buffer is played" above "$(field min_ns trip.json)" 25000000
    check "and not much later" at_most "$(field p50_ns trip.json)" 80000000

    tactus meter $card --for 2s >stop.jsonl 2>said &
    meter=$!
    begun stop.jsonl
    kill -STOP $meter
    usleep 300000
    kill -CONT $meter
    wait $meter
    sed 's/^/# /' said
    grep cause stop.jsonl | sed 's/^/# /'
    check "a stop is a dropout" above "$(field dropouts stop.jsonl)" 0
    check "and is found" told stop.jsonl stopped
    check "each period is accounted for, with a card that stood still" sum_holds stop.jsonl
}

mount -t tracefs nodev /sys/kernel/tracing
printf '#!/bin/sh\nwhile :; do :; done\n' >busy_hog
chmod +x busy_hog
tactus meter --for 3s --compute 10 --json >hog.jsonl 2>said &
meter=$!
begun hog.jsonl
# It becomes busy_hog while it runs. This shell has no priority: throttling lets it in again, 950 ms later.
chrt -f 90 ./busy_hog &
hog=$!
usleep 300000
kill $hog
wait $meter
sed 's/^/# /' said
grep cause hog.jsonl | sed 's/^/# /'
check "a thread of higher priority is found" told hog.jsonl others
check "and named, from the kernel's record" grep -q '"ran_instead":"busy_hog"' hog.jsonl
check "nothing of the record is left" [ -z "$(ls /sys/kernel/tracing/instances)" ]
finish
