#!/bin/sh
# Gates: what tactus says beforehand, and what the kernel does. On TAPs of eight queues that say 100 Mbit/s.
. guest.sh

modprobe -a tun sch_etf sch_mqprio sch_taprio sch_cbs
for side in talker listener; do
    ip netns add $side
    ip netns exec $side sh -c 'echo 1 >/proc/sys/net/ipv6/conf/default/disable_ipv6' 2>/dev/null
done
mkdir -p /dev/net
[ -e /dev/net/tun ] || mknod /dev/net/tun c 10 200
tap_pair >/tmp/tap_pair &
for _ in $(seq 100); do
    grep -q ready /tmp/tap_pair && break
    usleep 20000
done
ip -n talker addr add 10.9.0.1/24 dev talker0
ip -n listener addr add 10.9.0.2/24 dev listener0
ip -n talker link set talker0 up
ip -n listener link set listener0 up

newer() { [ "$(printf '%s\n' "$1" "$(uname -r)" | sort -V | head -n 1)" = "$1" ]; }

# taprio CLASSES MAP QUEUES OPTION...: a list of qdiscs as tc prints it, in /tmp/gates.json; further qdiscs in $below.
below=''
taprio() {
    _tc=$1 _map=$2 _queues=$3
    shift 3
    echo "[{\"kind\":\"taprio\",\"handle\":\"100:\",\"root\":true,\"options\":{\"tc\":$_tc,\"map\":[$_map]," \
        "\"queues\":[$_queues],$*}}$below]" >/tmp/gates.json
}
queues() { for q in "$@"; do printf '%s{"offset":%s,"count":1}' "$sep" "$q" && sep=,; done; }
MAP3=2,2,1,0,2,2,2,2,2,2,2,2,2,2,2,2
MAP2=0,0,0,0,0,0,1,0,0,0,0,0,0,0,0,0
entry() { printf '{"cmd":"S","gatemask":"%s","interval":%s}' "$1" "$2"; }

clear_gates() { tc -n talker qdisc del dev talker0 root 2>/dev/null; true; }

# answer WHAT SAID TAKEN: whether tactus has nothing against it (yes, no), and whether the kernel takes it.
answer() {
    clear_gates
    said=yes taken=no
    at talker tactus gate apply -i talker0 --force --json /tmp/gates.json >/tmp/taken 2>&1 && taken=yes
    grep -q '"severity":"\(wrong\|refused\)"' /tmp/taken && said=no
    check "$1: tactus says $2" [ $said = "$2" ]
    check "$1: the kernel says $3" [ $taken = "$3" ]
    if [ $taken != "$3" ]; then sed 's/^/# /' /tmp/taken; fi
}

# ---- what the kernel takes and refuses
sep=''; q000=$(queues 0 0 0); sep=''; q01=$(queues 0 1); sep=''; q012=$(queues 0 1 2); sep=''; q9=$(queues 0 9)
TAI='"clockid":"TAI","base_time":1000000000'
three="$(entry 0x1 300000),$(entry 0x3 300000),$(entry 0x4 400000)"

taprio 3 $MAP3 "$q000" "$TAI,\"flags\":\"0x1\",\"schedule\":[$(entry 0x7 300000)]"
answer 'overlapping queues, txtime-assist' yes yes
taprio 3 $MAP3 "$q000" "$TAI,\"flags\":\"0x1\",\"txtime_delay\":500000,\"schedule\":[$three]"
answer 'three entries, txtime-delay' yes yes
taprio 3 $MAP3 "$q000" "$TAI,\"schedule\":[$three]"
answer 'overlapping queues without it' no no
taprio 3 $MAP3 "$q012" "\"base_time\":0,\"schedule\":[$three]"
answer 'no clock' no no
taprio 3 $MAP3 "$q012" "$TAI,\"schedule\":[]"
answer 'no entry' no no
taprio 2 $MAP2 "$q9" "$TAI,\"schedule\":[$(entry 0x1 300000),$(entry 0x2 300000)]"
answer 'a queue that is not there' no no
taprio 3 $MAP3 "$q012" "\"flags\":\"0x2\",\"schedule\":[$three]"
answer 'gates in hardware' no no
# 6.1 does not know the speed when it checks; what tactus says is stricter there.
old_takes=no; newer 6.10 || old_takes=yes
taprio 2 $MAP2 "$q01" "$TAI,\"schedule\":[$(entry 0x1 300),$(entry 0x2 1700)]"
answer 'entries too short for a frame' no $old_takes
taprio 2 $MAP2 "$q01" "$TAI,\"cycle_time\":100,\"schedule\":[$(entry 0x1 200000),$(entry 0x2 200000)]"
answer 'a cycle too short for a frame' no $old_takes

etf() { below=",{\"kind\":\"etf\",\"parent\":\"100:1\",\"options\":{$1}}"; }
cbs() { below=",{\"kind\":\"cbs\",\"parent\":\"100:2\",\"options\":{$1}}"; }
two="$TAI,\"schedule\":[$(entry 0x1 500000),$(entry 0x2 500000)]"
MAP10=1,1,1,1,1,1,0,1,1,1,1,1,1,1,1,1
etf '"clockid":"TAI","delta":100'; taprio 2 $MAP10 "$q01" "$two"; answer 'etf' yes yes
etf '"clockid":"TAI","delta":0'; taprio 2 $MAP10 "$q01" "$two"; answer 'etf without delta' no yes
etf '"clockid":"REALTIME","delta":100'; taprio 2 $MAP10 "$q01" "$two"; answer 'etf by another clock' no no
etf '"clockid":"TAI","delta":100,"offload":"on"'; taprio 2 $MAP10 "$q01" "$two"; answer 'etf in hardware' no no
cbs '"idleslope":20000,"sendslope":-80000,"hicredit":30,"locredit":-1470'
taprio 2 $MAP2 "$q01" "$two"; answer 'cbs' yes yes
cbs '"idleslope":0,"sendslope":0,"hicredit":0,"locredit":0'; taprio 2 $MAP2 "$q01" "$two"; answer 'cbs of nothing' no yes
cbs '"idleslope":20000,"sendslope":888,"hicredit":30,"locredit":75'
taprio 2 $MAP2 "$q01" "$two"; answer 'cbs of wrong signs' no yes
below=''

# ---- what is set up is what tc shows, and a refusal leaves what was there
clear_gates
taprio 2 $MAP2 "$q01" "\"clockid\":\"TAI\",\"base_time\":0,\"schedule\":[$(entry 0x2 500000),$(entry 0x1 500000)]"
check "a schedule is set up and read back the same" at talker tactus gate apply -i talker0 /tmp/gates.json
sleep 0.1
tc -n talker -j qdisc show dev talker0 >/tmp/tc.json
check "tc's words and the kernel's mean the same" [ "$(tactus gate show --json /tmp/tc.json | sed 's/"dev":"[^"]*"//')" = \
    "$(at talker tactus gate show --json talker0 | sed 's/"dev":"[^"]*"//')" ]
check "tc shows the entries" grep -q '"gatemask":"0x2","interval":500000' /tmp/tc.json
cp /tmp/gates.json /tmp/good.json
etf '"clockid":"REALTIME","delta":100'; taprio 2 $MAP10 "$q01" "$two"
check "a child that is refused makes the whole refused" sh -c '! ip netns exec talker tactus gate apply -i talker0 --force /tmp/gates.json 2>/tmp/refused'
sed 's/^/# /' /tmp/refused
check "the kernel's reason is shown" grep -q 'CLOCK_TAI must be used' /tmp/refused
check "what was there is there" [ "$(tc -n talker -j qdisc show dev talker0)" = "$(cat /tmp/tc.json)" ]
clear_gates
tc -n talker qdisc add dev talker0 root handle 7: pfifo limit 77
tc -n talker -j qdisc show dev talker0 >/tmp/other.json
check "another qdisc is put back after a refusal" sh -c '! ip netns exec talker tactus gate apply -i talker0 --force /tmp/gates.json 2>/dev/null'
check "... as tc shows" [ "$(tc -n talker -j qdisc show dev talker0)" = "$(cat /tmp/other.json)" ]
below=''
check "a schedule takes another qdisc's place" at talker tactus gate apply -i talker0 /tmp/good.json
tc -n talker -j qdisc show dev talker0 >/tmp/tc.json
tc -n talker qdisc add dev talker0 parent 100:1 taprio num_tc 2 map 0 1 queues 1@0 1@1 sched-entry S 1 500000 clockid CLOCK_TAI 2>/dev/null
check "apply repairs what a refused taprio below leaves" at talker tactus gate apply -i talker0 /tmp/good.json
check "... as tc shows" [ "$(tc -n talker -j qdisc show dev talker0)" = "$(cat /tmp/tc.json)" ]

# ---- TCP through the gates, what left, and the simulation of this kernel
kernel=$(uname -r | cut -d. -f1,2)
cat >/tmp/plan.json <<END
{"devices": {"talker": {"kernel": "$kernel", "queues": 8}, "listener": {}},
 "links": [{"between": ["talker", "listener"], "speed": "100M"}],
 "traffic": [{"name": "iperf3", "from": "talker", "to": "listener", "priority": 6}],
 "gates": [{"from": "talker", "to": "listener", "qdiscs": $(cat /tmp/good.json)}]}
END
ip netns exec listener iperf3 -s -1 >/tmp/server 2>&1 &
sleep 0.5
# A stamp is taken behind the kernel's decision, and by 15 us more where the timer of the gates comes between.
at talker tactus gate verify /tmp/good.json talker0 --speed 100M --tolerance 30us --duration 1800ms --json >/tmp/verified 2>&1 &
verify_pid=$!
at talker iperf3 -c 10.9.0.2 -t 1 -S 0x10 -f k >/tmp/iperf 2>&1
wait $verify_pid
outcome=$?
measured=$(awk '/receiver/ { print $7 }' /tmp/iperf)
tactus gate simulate --linux --json /tmp/plan.json >/tmp/simulated
# greatest NAME FILE: of all numbers of that name.
greatest() { tr , '\n' <"$2" | sed -n 's/.*"'"$1"'":\([0-9]*\).*/\1/p' | sort -n | tail -n 1; }
simulated=$(greatest payload_bits_per_s /tmp/simulated)
figure "iperf3 through 500 of 1000 us: $measured kbit/s received; simulated as this kernel: $simulated bit/s; limit 46336000"
within_10() { awk -v a="$1" -v b="$2" 'BEGIN { b /= 1000; exit !(a != "" && b > 0 && a > 0.9 * b && a < 1.1 * b) }'; }
check "the simulation of this kernel is within 10 %" within_10 "$measured" "$simulated"
figure "verify: $(cat /tmp/verified)"
check "no frame left outside its window but by what this kernel is known to do" [ $outcome = 0 ]
check "verify saw what iperf3 sent" at_most 2000 "$(greatest frames /tmp/verified)"
longest=$(greatest wire_busy_max_ns /tmp/verified)
bound=$(greatest overrun_bound_ns /tmp/simulated)
figure "the longest overrun: $longest ns; at most $bound ns"
check "overruns are no longer than the simulation of this kernel says" at_most "$longest" "$bound"

# ---- a kernel without one of the modules
tc -n talker qdisc del dev talker0 root
below=',{"kind":"cbs","parent":"100:2","options":{"idleslope":20000,"sendslope":-80000,"hicredit":30,"locredit":-1470}}'
taprio 2 $MAP2 "$q01" "$two"
modprobe -r sch_cbs
echo /bin/false >/proc/sys/kernel/modprobe
at talker tactus gate apply -i talker0 --force /tmp/gates.json >/tmp/missing 2>&1
outcome=$?
sed 's/^/# /' /tmp/missing
check "a module that is missing is a refusal" [ $outcome = 1 ]
# shellcheck disable=SC2016
check "... with the way to get it" grep -q 'this kernel has no cbs: `modprobe sch_cbs`' /tmp/missing
finish
