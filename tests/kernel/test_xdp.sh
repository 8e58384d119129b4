#!/bin/sh
# Packets by AF_XDP on a stock kernel: all arrive, in time; what falls into the time without a link is refused and counted,
# and nothing of it leaves later; a second program is told who has the queue.
. guest.sh

keys="-i talker0 --stream-id 02:00:00:00:00:01:0001 --dest 91:E0:F0:00:FE:01 --mtt 50ms --pace xdp --json"
wire

# talk FOR [OPTION...]: said is in /tmp/said, the last line of JSON in /tmp/talk.json.
talk() {
    # shellcheck disable=SC2086 # words
    at talker tactus talk $keys --duration "$@" tone:440 >/tmp/talk.json 2>/tmp/said
    sed 's/^/# said: /' /tmp/said
}

account() {
    figure "$packets arrived of $(field pdus_sent /tmp/talk.json) sent; refused $(field pdus_refused /tmp/talk.json)," \
        "dropped $(field pdus_dropped /tmp/talk.json), late $(field pdus_late /tmp/talk.json)"
}
all_arrived() { [ "$packets" = "$(field pdus_sent /tmp/talk.json)" ]; }
sum_is() { [ "$(($(field pdus_sent /tmp/talk.json) + $(field pdus_refused /tmp/talk.json)))" = "$1" ]; }

measure
talk 1s
arrived
account
check "all are sent" sum_is 8000
check "all arrive" all_arrived
check "their intervals are those of class A" at_most "$max_ns" 1000000

for end in talker listener; do
    measure
    (sleep 0.5 && ip -n $end link set ${end}0 down && sleep 0.3 && ip -n $end link set ${end}0 up) &
    talk 2s
    arrived
    account
    check "$end's interface down and up: what is not sent is refused" sum_is 16000
    check "… and that is what was due meanwhile" at_most 1600 "$(field pdus_refused /tmp/talk.json)"
    # The kernel tells of a carrier up to a second late, and is asked each 10 ms.
    check "… and no more" at_most "$(field pdus_refused /tmp/talk.json)" $((1600 + 800 + 8000))
    check "… and nothing leaves later" at_most "$packets" $(($(field pdus_sent /tmp/talk.json) + 80))
    check "… and it is said" grep -q 'was down or without carrier' /tmp/said
done

# shellcheck disable=SC2086 # words
at talker tactus talk $keys --duration 2s tone:440 >/dev/null 2>&1 &
sleep 0.5
talk 1s
check "one program has the queue, and the other hears of it" grep -q 'another program has its first queue' /tmp/said
wait
finish
