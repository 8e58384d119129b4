#!/bin/sh
# The kernel's TAI offset unset, 37 and changed while a stream runs, and CLOCK_REALTIME stepped: the rate stays
# nominal, the stream goes on on both ends, and it is said once.
. guest.sh

wire
noise 1240 >/tmp/noise

# stream WHAT CLOCK-COMMAND...: both ends, three seconds; the command when it has run for a while.
stream() {
    what=$1
    shift
    rm -f /tmp/recording
    mqprio_etf clockid CLOCK_TAI delta 500000 # anew: after a step back, etf refuses all that is earlier than its last
    TACTUS_VERBOSE=1 at listener arecord -q -D in -t raw -f S16_LE -r 48000 -c 2 -d 3 /tmp/recording 2>/tmp/heard &
    recorder=$!
    read -r before _ </proc/uptime
    measure
    (sleep 0.8 && "$@") &
    TACTUS_VERBOSE=1 at talker aplay -q -D out -t raw -f S16_LE -r 48000 -c 2 /tmp/noise 2>/tmp/said
    arrived
    wait $recorder
    read -r after _ </proc/uptime
    figure "$what: $packets of 10000 arrived, interval median $p50_ns min $min_ns; refused" \
        "$(field pdus_refused /tmp/talker.json), steps $(field clock_steps /tmp/talker.json)" \
        "and $(field clock_steps /tmp/listener.json); frames lost $(field frames_lost /tmp/listener.json)," \
        "late $(field frames_late /tmp/listener.json), restarts $(field restarts /tmp/listener.json);" \
        "recorded $(stat -c %s /tmp/recording) bytes in $(awk "BEGIN { print $after - $before }") s"
    sed 's/^/# talker: /' /tmp/said
    sed 's/^/# listener: /' /tmp/heard
    check "$what: the rate is nominal" [ "$p50_ns" -ge 124750 -a "$p50_ns" -le 125250 -a "$packets" -le 10000 ]
    check "$what: the stream goes on" [ "$packets" -ge 9800 ]
    check "$what: so does the recording" [ "$(stat -c %s /tmp/recording)" = 576000 ]
    check "$what: and its rate is nominal" awk "BEGIN { exit !($after - $before > 2.9 && $after - $before < 3.6) }"
}

# said TEXT TIMES: by the talker.
said() { [ "$(grep -c "$1" /tmp/said)" = "$2" ]; }
steps() { [ "$(field clock_steps /tmp/talker.json)" = "$1" ]; }

alsa pace auto
stream "TAI unset" true
check "TAI unset: said once" said "TAI offset is 0" 1
check "TAI unset: no step" steps 0

set_clock tai 37
stream "TAI 37 s" true
check "TAI 37 s: nothing to say" said "TAI" 0
check "TAI 37 s: no step" steps 0

# change CLOCK-COMMAND...
change() {
    stream "set_clock $*" set_clock "$@"
    check "set_clock $*: said once by the talker" said "TAI stepped" 1
    check "set_clock $*: and by the listener" [ "$(grep -c "TAI stepped" /tmp/heard)" = 1 ]
    check "set_clock $*: counted" steps 1
}

# Forward: what waited for its launch is late and lost; the kernel goes on with the rest.
for forward in "tai 60" "step 5000" "step 40"; do
    # shellcheck disable=SC2086 # words
    change $forward
    check "set_clock $forward: the kernel still keeps launch times" said "refused most" 0
done
# Back: etf refuses what is earlier than the last packet that it sent; software takes over.
for back in "tai 37" "step -5000"; do
    # shellcheck disable=SC2086 # words
    change $back
    check "set_clock $back: software takes over, and that is said" said "refused most" 1
done
finish
