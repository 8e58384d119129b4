#!/bin/sh
# A sound card on both sides (snd-aloop): what is captured from one is piped into the talker, what the listener records
# is piped into the other. No xrun, and bit-exact from card to card. For 10 s, or as the file seconds says.
. guest.sh

seconds=$(cat /project/seconds 2>/dev/null || echo 10)
raw="-q -t raw -f S16_LE -r 48000 -c 2"
wire
modprobe snd-aloop
alsa pace auto
mqprio_etf clockid CLOCK_TAI delta 500000
noise $((seconds * 1000)) >/tmp/noise
total=$((seconds + 2)) # the listener's end, whose memory the kernel clears away, lies behind the talker's

# shellcheck disable=SC2086 # words
{
    arecord -D hw:Loopback,1,1 $raw -d $((total + 2)) /tmp/recording 2>/tmp/said.recorder &
    recorder=$!
    at listener sh -c "arecord -D in $raw -d $((total + 1)) | aplay -D hw:Loopback,0,1 $raw" 2>/tmp/said.listener &
    listener=$!
    at talker sh -c "arecord -D hw:Loopback,1,0 $raw -d $total | aplay -D out $raw" 2>/tmp/said.talker &
    talker=$!
    sleep 0.5
    aplay -D hw:Loopback,0,0 $raw /tmp/noise 2>/tmp/said.player
    wait $talker $listener $recorder
}
for who in player talker listener recorder; do
    sed "s/^/# $who: /" /tmp/said.$who
    check "$who: no xrun" sh -c "! grep -q rrun /tmp/said.$who"
done
check "the talker counts none" [ "$(field xruns /tmp/talker.json)" = 0 ]
check "the listener counts none" [ "$(field xruns /tmp/listener.json)" = 0 ]
said=$(tactus equal --raw S16_LE,2 /tmp/noise /tmp/recording)
check "from card to card all is bit-exact" [ $? = 0 ]
figure "$seconds s: $said; PDUs sent $(field pdus_sent /tmp/talker.json), late $(field pdus_late /tmp/talker.json)," \
    "refused $(field pdus_refused /tmp/talker.json); frames lost $(field frames_lost /tmp/listener.json)"
check "etf lets go of no packet" [ "$(field pdus_refused /tmp/talker.json)" = 0 ]
finish
