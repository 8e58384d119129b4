#!/bin/bash
# The main job, shown: aplay plays a file into the ALSA device in one network namespace, the sound crosses a veth pair
# as AVTP, arecord records it in another, and every frame is compared. Run it by ./dev demo [FILE].
# Environment: BUILD, the build folder; DEMO_OUT, the folder for what is left behind (./demo-out); DEMO_ROOTLESS,
# not empty: user namespaces even as root; DEMO_LARGEST_PDU, not empty: as many frames in a packet as fit.
# Exit codes: 0 every frame is equal; 4 not so, but the reports say which and why, or it cannot be told; 1 not so;
# 2 usage; 3 environment.
# Nothing is left behind: the namespaces live as long as two sleeping processes, which end with this script.
# shellcheck disable=SC2317 # some functions are called by trap and wait_for alone
set -euo pipefail

root=$(dirname "$(dirname "$(readlink -f "$0")")")
build=$(realpath -m -- "${BUILD:-$root/build}")
out=$(realpath -m -- "${DEMO_OUT:-$root/demo-out}")
tactus=$build/src/cli/tactus
demo_audio=$build/tools/demo_audio

offset_ms=100 # presentation offset: the two below, added
uncertainty_ms=2
transit_ms=98
margin_s=3 # recorded beyond the file's length
arecord_bytes=2147483648 # where it begins another file
setup_s=20 # for anything that has to come up

pids=()
scratch=
recording_found='' capture_found='' # the verdicts: exact, explained, different, inconclusive
file='' format='' rate='' channels='' frames='' frames_per_pdu='' frames_per_pdu_max='' words='' # of the source

say() { printf '%s\n' "$*"; }
die() {
    local code=$1
    shift
    printf 'demo: %s\n' "$*" >&2
    exit "$code"
}

usage="usage: ./dev demo [FILE]"

check_arguments() {
    case ${1-FILE} in
    -h | --help) say "$usage"; exit 0 ;;
    '') die 2 "the name of the file is empty. $usage" ;;
    -*) die 2 "there is no option $1. $usage" ;;
    esac
    [ $# -le 1 ] || die 2 "one file at a time. $usage"
}

cleanup() {
    local code=$? pid
    trap - EXIT
    trap '' INT TERM
    for pid in "${pids[@]}"; do
        kill "$pid" 2>/dev/null || true
    done
    for pid in "${pids[@]}"; do
        wait "$pid" 2>/dev/null || true
    done
    [ -z "$scratch" ] || rm -rf "$scratch"
    exit "$code"
}

# ---- namespaces

enter_user_namespace() {
    if [ "$(id -u)" = 0 ] && [ -z "${DEMO_ROOTLESS:-}" ] && unshare -n true 2>/dev/null; then
        return
    fi
    if [ -n "${DEMO_IN_USER_NAMESPACE:-}" ]; then
        unshare -n true 2>/dev/null ||
            die 3 "no network namespace can be made here, not even inside a user namespace"
        return
    fi
    unshare -Urn true 2>/dev/null ||
        die 3 "this user may not make namespaces (sysctl user.max_user_namespaces," \
            "kernel.unprivileged_userns_clone or kernel.apparmor_restrict_unprivileged_userns): run it as root"
    DEMO_IN_USER_NAMESPACE=1 exec unshare -Ur -- "$root/tools/demo.sh" "$@"
}

# hold_namespace: a process with a network namespace of its own, in $held.
hold_namespace() {
    local ours
    unshare -n sleep "$1" {lock}<&- &
    held=$!
    pids+=("$held")
    ours=$(readlink /proc/self/ns/net)
    wait_for "the network namespace" "$held" /dev/null namespace_differs "$held" "$ours"
}

namespace_differs() { [ "$(readlink "/proc/$1/ns/net" 2>/dev/null || echo "$2")" != "$2" ]; }

# What IPv6 announces on a new interface is noise here.
quiet_ipv6() {
    "$@" sh -c 'echo 1 >/proc/sys/net/ipv6/conf/default/disable_ipv6
        echo 1 >/proc/sys/net/ipv6/conf/all/disable_ipv6' 2>/dev/null || true
}

has_carrier() { "${at_listener[@]}" ip -o link show listener0 | grep -q LOWER_UP; }

join_namespaces() {
    local problem
    hold_namespace "$1"
    at_talker=(nsenter -t "$held" -n --)
    hold_namespace "$1"
    at_listener=(nsenter -t "$held" -n --)
    quiet_ipv6 "${at_talker[@]}"
    quiet_ipv6 "${at_listener[@]}"
    problem=$("${at_talker[@]}" ip link add talker0 type veth peer name listener0 netns "$held" 2>&1 &&
        "${at_talker[@]}" ip link set talker0 up 2>&1 &&
        "${at_listener[@]}" ip link set listener0 up 2>&1) ||
        die 3 "cannot make a veth pair: $problem"
    wait_for "the link" "$held" /dev/null has_carrier
}

# ---- waiting

# wait_for WHAT PID LOG COMMAND...: until the command succeeds; not longer than PID lives.
wait_for() {
    local what=$1 pid=$2 log=$3 i
    shift 3
    for ((i = 0; i < setup_s * 20; i++)); do
        if "$@"; then return; fi
        kill -0 "$pid" 2>/dev/null || break
        sleep 0.05
    done
    [ ! -s "$log" ] || cat "$log" >&2
    die 3 "$what did not come up"
}

grows() { [ "$(stat -c %s "$1" 2>/dev/null || echo 0)" -gt "$2" ]; }

# ---- the parts

# own_folder: what is left behind is of one demonstration. The lock ends with this and with all that writes there.
own_folder() {
    mkdir -p "$out" || die 3 "cannot make the folder $out"
    exec {lock}<"$out"
    flock -n "$lock" ||
        die 3 "another demonstration is writing into $out; wait for it to end, or name another folder in DEMO_OUT"
}

# In ALSA's double quotes.
quoted() {
    local text=${1//\\/\\\\}
    printf '"%s"' "${text//\"/\\\"}"
}

write_configuration() {
    local common="ifname %s
    addr 91:E0:F0:00:FE:01
    streamid 02:00:00:00:00:01:0001
    frames_per_pdu $frames_per_pdu
    format $format
    rate $rate
    channels $channels
    vlan_id 2
    pcp 3"
    # shellcheck disable=SC2059 # the format is ours
    {
        printf "# As used by ./dev demo. Times are in us.\n"
        printf "pcm.tactus_out {\n    type tactus\n    $common\n" talker0
        # Both ends go by the clock of this machine, whatever it is worth.
        printf "    time_uncertainty %d000\n    mtt %d000\n    tu never\n    report %s\n}\n" \
            "$uncertainty_ms" "$transit_ms" "$(quoted "$out/talker.json")"
        printf "pcm.tactus_in {\n    type tactus\n    $common\n" listener0
        printf "    report %s\n}\n" "$(quoted "$out/listener.json")"
    } >"$out/asound.conf"
    # ALSA splits the list at colons and spaces, which the names of folders may have: so it gets names of ours.
    ln -s "$build/src/plugin/tactus.conf" "$scratch/tactus.conf"
    ln -s "$out/asound.conf" "$scratch/asound.conf"
    export ALSA_CONFIG_PATH=/usr/share/alsa/alsa.conf:$scratch/tactus.conf:$scratch/asound.conf
    export HOME=$scratch # without the .asoundrc that is merged last
}

sample_bytes() {
    case $format in
    S16_*) echo 2 ;;
    S24_3*) echo 3 ;;
    *) echo 4 ;;
    esac
}

choose_source() {
    local given=${1:-} line
    if [ -z "$given" ]; then
        given=$scratch/made.wav
        "$demo_audio" make "$given" || die 3 "cannot make the music"
        origin="music made for this"
    else
        [ -r "$given" ] || die 2 "cannot read $given: give a WAV file"
        origin=${2:-$given}
    fi
    "$demo_audio" prepare "$given" "$scratch/source.wav" >"$scratch/source.txt" || exit $?
    while IFS= read -r line; do
        case $line in
        file=* | format=* | rate=* | channels=* | frames=* | frames_per_pdu=* | frames_per_pdu_max=* | words=*)
            printf -v "${line%%=*}" '%s' "${line#*=}"
            ;;
        esac
    done <"$scratch/source.txt"
    [ -z "${DEMO_LARGEST_PDU:-}" ] || frames_per_pdu=$frames_per_pdu_max
    seconds=$(((frames + rate - 1) / rate + margin_s))
    [ $((seconds * rate * channels * $(sample_bytes))) -lt $arecord_bytes ] ||
        die 2 "$origin is too long: arecord begins another file after 2 GiB; give" \
            "$((arecord_bytes / (rate * channels * $(sample_bytes)) - margin_s)) s of it at most"
    # Here, and no earlier: what was left by the run before goes when there is something to run with.
    rm -f "$out"/{source,recording,extracted}.wav "$out"/capture.pcap "$out"/{figures,talker,listener}.json
    case $file in
    "$scratch"/*) mv "$file" "$out/source.wav" ;;
    *) cp "$file" "$out/source.wav" ;;
    esac
}

print_picture() {
    cat <<END

    source.wav                                      recording.wav
        |                                                 ^
      aplay                                            arecord
        |                                                 |
   ALSA: tactus_out                                ALSA: tactus_in
        |              AVTP audio packets                 |
     talker0 ================= veth ================> listener0
   (network namespace 1)                    |     (network namespace 2)
                                            v
                                       capture.pcap

END
}

plural() { if [ "$1" = 1 ]; then printf %s "$2"; else printf %ss "$2"; fi; }

print_clock() {
    local offset
    offset=$(python3 -c 'import time
print(round(time.clock_gettime(time.CLOCK_TAI) - time.clock_gettime(time.CLOCK_REALTIME)))')
    if [ "$offset" = 0 ]; then
        say "Clock      the kernel's TAI offset is 0: unset. Both ends are on this machine, so they agree nevertheless"
    else
        say "Clock      the kernel's TAI offset is $offset s: set"
    fi
}

print_before() {
    local length
    length=$(awk -v f="$frames" -v r="$rate" 'BEGIN { printf "%.1f", f / r }')
    print_picture
    say "Source     $origin: $format, $rate Hz, $channels $(plural "$channels" channel)," \
        "$frames $(plural "$frames" frame) ($length s)"
    say "           $words"
    say "Stream     $frames_per_pdu $(plural "$frames_per_pdu" frame) in each packet. Presentation offset $offset_ms ms:" \
        "so long a packet may take"
    say "           (time_uncertainty $uncertainty_ms ms + mtt $transit_ms ms)"
    if [ -n "${DEMO_IN_USER_NAMESPACE:-}" ]; then
        say "Rights     user namespaces (no root): real-time priority is refused, so other programs may delay packets"
    else
        say "Rights     root: plain network namespaces; real-time priority is asked for"
    fi
    print_clock
    say "Playing    and recording for $seconds s ..."
}

transmit() {
    local limit=$((seconds + setup_s)) status=0

    "${at_listener[@]}" "$tactus" watch listener0 --duration $((limit + setup_s))s \
        --write "$out/capture.pcap" --json >"$scratch/watch.json" 2>"$scratch/watch.log" &
    watch_pid=$!
    pids+=("$watch_pid")
    wait_for "the capture" "$watch_pid" "$scratch/watch.log" grows "$out/capture.pcap" 0

    "${at_listener[@]}" timeout -k 5 "$limit" arecord -D tactus_in -f "$format" -r "$rate" -c "$channels" \
        -d "$seconds" "$out/recording.wav" >"$scratch/arecord.log" 2>&1 &
    arecord_pid=$!
    pids+=("$arecord_pid")
    wait_for "arecord" "$arecord_pid" "$scratch/arecord.log" grows "$out/recording.wav" 100

    "${at_talker[@]}" timeout -k 5 "$limit" aplay -D tactus_out "$out/source.wav" >"$scratch/aplay.log" 2>&1 &
    aplay_pid=$!
    pids+=("$aplay_pid")
    wait "$aplay_pid" || status=$?
    if [ "$status" != 0 ]; then
        cat "$scratch/aplay.log" >&2
        die 3 "aplay ended with $status"
    fi
    wait "$arecord_pid" || status=$?
    if [ "$status" != 0 ]; then
        cat "$scratch/arecord.log" >&2
        die 3 "arecord ended with $status"
    fi
    kill -TERM "$watch_pid" 2>/dev/null || true
    wait "$watch_pid" || status=$?
    if [ "$status" != 0 ]; then
        cat "$scratch/watch.log" >&2
        die 3 "no stream was seen at listener0 (tactus watch ended with $status)"
    fi
}

# compare NAME FILE REPORT...: prints the verdict, and leaves its name in ${NAME}_found.
compare() {
    local name=$1 recorded=$2 reports=() report verdict
    shift 2
    for report; do
        [ ! -e "$report" ] || reports+=(--report "$report")
    done
    verdict=0
    "$tactus" equal "$out/source.wav" "$recorded" "${reports[@]}" --json >"$scratch/$name.json" || verdict=$?
    case $verdict in
    0 | 1 | 4) ;;
    *) die 1 "$recorded could not be compared" ;;
    esac
    printf -v "${name}_found" '%s' "$(python3 -c 'import json, sys
print(json.load(open(sys.argv[1]))["verdict"])' "$scratch/$name.json")"
    "$tactus" equal "$out/source.wav" "$recorded" "${reports[@]}" | sed '2,$s/^/           /' || true
}

# What the capture holds. Packets that the capturing itself lost are no fault of the stream's: said, and accounted for.
extract() {
    local status=0 lost
    "$tactus" extract "$out/capture.pcap" "$out/extracted.wav" --json >"$scratch/extract.json" \
        2>"$scratch/extract.log" || status=$?
    if [ "$status" -gt 1 ]; then
        cat "$scratch/extract.log" >&2
        die 1 "the sound could not be taken out of the capture"
    fi
    capture_reports=()
    lost=$(tail -n 1 "$scratch/watch.json" | sed -n 's/.*"packets_dropped": *\([0-9]*\).*/\1/p')
    if [ "${lost:-0}" -gt 0 ]; then
        say "           tactus watch was too slow for $lost $(plural "$lost" packet), missing in the capture"
        capture_reports=("$scratch/extract.json")
    fi
}

main() {
    scratch=$(TMPDIR=/tmp mktemp -d) # a folder whose name ALSA can read in ALSA_CONFIG_PATH
    own_folder
    if [ $# = 1 ] && [ -r "$1" ] && [ "$(dirname "$(readlink -f "$1")")" = "$(readlink -f "$out")" ]; then
        cp "$1" "$scratch/given.wav" # what an earlier run left, which this one clears away
        set -- "$scratch/given.wav" "$1"
    fi
    choose_source "$@"
    write_configuration
    join_namespaces $((seconds + 4 * setup_s))
    print_before
    transmit

    printf 'Recording  '
    compare recording "$out/recording.wav" "$out/talker.json" "$out/listener.json"
    extract
    printf 'Capture    '
    compare capture "$out/extracted.wav" "$out/talker.json" "${capture_reports[@]}"
    say
    "$tactus" watch "$out/capture.pcap" || true
    python3 "$root/tools/demo_figures.py" "$scratch" "$out"
    say "Left in    $out:"
    say "           source.wav recording.wav capture.pcap extracted.wav figures.json talker.json listener.json"
    say
    conclude
}

# The last sentence: no more than the two verdicts say.
conclude() {
    case "$recording_found $capture_found" in
    *different*)
        say "NOT EQUAL: frames differ that nothing accounts for. This is a fault; the files above show where."
        exit 1
        ;;
    'exact exact')
        say "Every frame that was played was recorded, bit for bit, and crossed the network on the way."
        exit 0
        ;;
    *inconclusive*) say "Nothing is shown by this: the source is silent. Give a file with sound." ;;
    'exact explained')
        say "Every frame that was played was recorded, bit for bit. The capture differs: the lines above say where" \
            "and why."
        ;;
    'explained exact')
        say "Every frame that was played crossed the network, bit for bit. The recording differs: the lines above say" \
            "where and why."
        ;;
    *) say "Not bit-exact, but every place that differs is accounted for above." ;;
    esac
    exit 4
}

trap cleanup EXIT
trap 'exit 130' INT
trap 'exit 143' TERM
check_arguments "$@"
enter_user_namespace "$@"
main "$@"
