#!/bin/sh
# The shaper and launch times: TCP through a TAP, each segment with its own SCM_TXTIME into a software etf. What comes out
# is held against what was computed.
. guest.sh

wire
modprobe tun
mkdir -p /dev/net
[ -e /dev/net/tun ] || mknod /dev/net/tun c 10 200
ip -n listener addr add 10.9.0.2/24 dev listener0
echo '[{"kind":"taprio","root":true,"options":{"tc":2,"map":[0,0,0,0,0,0,1,0,0,0,0,0,0,0,0,0],"clockid":"TAI",' \
    '"base_time":0,"cycle_time":1000000,"schedule":[{"cmd":"S","gatemask":"0x2","interval":500000},' \
    '{"cmd":"S","gatemask":"0x1","interval":500000}]}}]' >/tmp/gates.json

begin() {
    at listener departed listener0 /tmp/log >/tmp/departed &
    departed_pid=$!
    at talker tactus gate shape --schedule /tmp/gates.json --rate 100M --to talker0 --log /tmp/log --json "$@" \
        >/tmp/shape.json 2>/tmp/said &
    shape_pid=$!
    for _ in $(seq 200); do
        grep -q 'is there' /tmp/said && grep -q ready /tmp/departed && break
        usleep 20000
    done
    ip -n talker addr add 10.9.0.1/24 dev gate0
}

traffic() {
    at listener iperf3 -s -1 -D
    sleep 0.2
    at talker iperf3 -c 10.9.0.2 -n 1500K >/tmp/iperf 2>&1
    sed -n 's/^/# /;/receiver/p' /tmp/iperf
}

end() {
    kill -INT "$shape_pid"
    wait "$shape_pid"
    shape_code=$?
    sleep 0.1
    kill "$departed_pid"
    wait "$departed_pid"
    # shellcheck disable=SC2034 # for the test
    logged='' arrived='' matched='' min_ns='' p50_ns='' p99_ns='' max_ns=''
    # shellcheck disable=SC1091 # written just now
    . /tmp/departed
    refused=$(field launch_refused /tmp/shape.json)
    sed 's/^/# said: /' /tmp/said
    figure "$logged computed, $arrived arrived, $refused refused by the kernel;" \
        "actual - computed: $min_ns to $max_ns ns, median $p50_ns, p99 $p99_ns"
}

mqprio_etf clockid CLOCK_TAI delta 200000
begin --priority 3
traffic
end
check 'etf: it ends well' [ "$shape_code" = 0 ]
check 'etf: it is said who keeps the departures' grep -q 'kept by talker0 (etf in software)' /tmp/said
check 'etf: all bytes came' grep -q receiver /tmp/iperf
check 'etf: more than a thousand segments went' [ "$logged" -gt 1000 ]
check 'etf: each frame arrived, or is counted as refused' [ $((arrived + refused)) = "$logged" ]
check 'etf: hardly any was refused' [ $((refused * 100)) -le "$logged" ]
check 'etf: each that arrived was computed' [ "$matched" = "$arrived" ]
# A software etf lets a frame go its delta before the launch time, by a timer.
check 'etf: none before its time but for the delta' at_most -200100 "$min_ns"
check 'etf: half of them within 10 us of that' at_most "$p50_ns" -190000
check 'etf: 99 in 100 before the launch time' at_most "$p99_ns" 0

# Where no etf is on this priority's queue frames go past the qdiscs, when they are due.
begin
traffic
end
check 'no etf for this priority: it is said' grep -q 'etf qdisc is not on the queue' /tmp/said
check 'no etf for this priority: all arrive' [ "$arrived" = "$logged" ]
check 'no etf for this priority: none before its time' at_most 0 "$min_ns"
finish
