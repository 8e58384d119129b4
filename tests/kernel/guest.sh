# For guest tests: results as TAP, and the places that they need. Sourced.
# shellcheck shell=sh
# A script that sources it ends with `finish`; without that the run fails.

results=0

# check WHAT COMMAND...: one result.
check() {
    _what=$1
    shift
    results=$((results + 1))
    if "$@"; then
        echo "ok $results - $_what"
    else
        echo "not ok $results - $_what"
        echo "# false: $*"
    fi
}

# skip WHAT WHY: a result that cannot be had here.
skip() {
    results=$((results + 1))
    echo "ok $results - $1 # SKIP $2"
}

figure() { echo "# $*"; }

finish() { echo "1..$results"; }

# wire: namespaces talker and listener, joined by a veth pair of eight queues a side. Etf lets go of packets in a softirq,
# and kernels before 6.5 leave that to ksoftirqd whenever it is awake: at no real-time priority it waits for any program.
wire() {
    chrt -f -p 60 "$(sed -n 's/^\([0-9]*\) (ksoftirqd.*/\1/p' /proc/[0-9]*/stat)"
    modprobe -a veth sch_etf sch_mqprio sch_taprio
    for side in talker listener; do
        ip netns add $side
        ip netns exec $side sh -c 'echo 1 >/proc/sys/net/ipv6/conf/default/disable_ipv6' 2>/dev/null
    done
    ip link add talker0 netns talker numtxqueues 8 numrxqueues 8 type veth \
        peer name listener0 netns listener numtxqueues 8 numrxqueues 8
    ip -n talker link set talker0 up txqueuelen 5000
    ip -n listener link set listener0 up
}

# Priority 3 goes to a queue of its own, 100:1.
CLASSES="num_tc 3 map 2 2 1 0 2 2 2 2 2 2 2 2 2 2 2 2 queues 1@0 1@1 2@2"

# mqprio_etf ETF-OPTION...
mqprio_etf() {
    no_qdisc
    # shellcheck disable=SC2086 # words
    tc -n talker qdisc replace dev talker0 root handle 100: mqprio $CLASSES hw 0 &&
        tc -n talker qdisc replace dev talker0 parent 100:1 etf "$@"
}

no_qdisc() { tc -n talker qdisc del dev talker0 root 2>/dev/null; }

at() {
    _side=$1
    shift
    ip netns exec "$_side" "$@"
}

# alsa KEY VALUE...: devices `out` and `in`, class A, with further lines for both.
alsa() {
    _keys='addr 91:E0:F0:00:FE:01
    streamid 02:00:00:00:00:01:0001
    mtt 50ms'
    cat >/tmp/alsa.conf <<END_OF_CONF
pcm_type.tactus { lib /project/libasound_module_pcm_tactus.so }
pcm.out {
    type tactus
    ifname talker0
    prio 3
    report /tmp/talker.json
    $_keys
    $*
}
pcm.in {
    type tactus
    ifname listener0
    report /tmp/listener.json
    $_keys
}
END_OF_CONF
    export ALSA_CONFIG_PATH=/usr/share/alsa/alsa.conf:/tmp/alsa.conf
}

# field NAME FILE: a number of a report, the last of that name.
field() { sed -n 's/.*"'"$1"'": *\(-\{0,1\}[0-9.]*\).*/\1/p' "$2" | tail -n 1; }

# noise MILLISECONDS: raw audio of 48 kHz, two channels, 16 bits.
noise() { head -c $(($1 * 192)) /dev/urandom; }

# measure: starts to measure what arrives; `arrived` ends that behind the last packet, for reading what came would hold up
# others, and sets packets, gaps, mean_ns …
measure() {
    ip netns exec listener arrivals listener0 >/tmp/arrivals &
    arrivals_pid=$!
    # Its memory takes a while to be had.
    for _ in $(seq 100); do
        grep -q ready /tmp/arrivals && break
        usleep 20000
    done
}

arrived() {
    # shellcheck disable=SC2034 # for the test
    packets='' gaps='' mean_ns='' stdev_ns='' min_ns='' p50_ns='' max_ns=''
    sleep 0.1
    kill "$arrivals_pid"
    wait "$arrivals_pid"
    # shellcheck disable=SC1091 # written just now
    . /tmp/arrivals
}

# at_most A B: as numbers.
at_most() { awk -v a="$1" -v b="$2" 'BEGIN { exit !(a != "" && b != "" && a <= b) }'; }
