#!/bin/sh
# MIDI with the kernel's stamps, by snd-virmidi: events are sent straight to its sequencer port, which receives them as a
# driver does, so that each stamp has to lie between the times before and after its sending.
. guest.sh

modprobe snd-virmidi
export ALSA_CONFIG_PATH=/usr/share/alsa/alsa.conf
port=$(tactus midi list | sed -n 's/^\(seq:[0-9]*:0\) .*VirMIDI 0-0.*/\1/p')
tactus midi list | sed 's/^/# /'
worker=$(tactus midi list | sed -n 's/^\(seq:[0-9]*:0\) .*VirMIDI 0-1.*/\1/p')
check "the virtual card is listed" [ -n "$port" ]

# sender COUNT GAP_US [PORT]: opened and waiting; `go` lets it send.
sender() {
    rm -f /tmp/go
    mkfifo /tmp/go
    midi_sender send "${3:-$port}" "$1" "$2" /tmp/sent </tmp/go >/tmp/ready &
    sending=$!
    exec 9>/tmp/go
    until grep -q ready /tmp/ready; do usleep 1000; done
}
go() { echo go >&9; exec 9>&-; wait $sending; }

# recorder OPTION... OUT.mid
recorder() {
    rm -f /tmp/*.mid.raw
    : >/tmp/said
    tactus midi record "$@" >/tmp/said 2>&1 &
    recording=$!
    until grep -q "recording into" /tmp/said; do kill -0 $recording || break; usleep 1000; done
}
end() { kill -INT $recording; wait $recording; code=$?; sed 's/^/# /' /tmp/said; }

# found RECORDING [PORT]: sets lost, inside, worst_us …
found() {
    lost='' inside='' worst_us=''
    # shellcheck disable=SC1091 # written just now
    midi_sender check /tmp/sent "$@" >/tmp/found && . /tmp/found
    sed "s/^/# ${1##*/}: /" /tmp/found
}

# The reader stands still for a second: the stamps do not mind.
sender 200 10000
recorder hw:VirMIDI,0,0 /tmp/a.mid
grep -E "Framing|Clock|Buffer size" /proc/asound/card0/midi0 | sed 's/^/# /'
check "the kernel says that it frames" grep -q "Framing *: tstamp" /proc/asound/card0/midi0
(sleep 0.5; kill -STOP $recording; sleep 1; kill -CONT $recording) &
go
end
found /tmp/a.mid.raw
check "a reader that stands still: it ends well" [ $code = 0 ]
check "a reader that stands still: nothing is lost" [ "$lost" = 0 ]
check "a reader that stands still: every stamp is inside" [ "$inside" = 200 ]
check "every tick is the stamp rounded" [ "$(midi_sender ticks /tmp/a.mid.raw /tmp/a.mid)" = 200 ]
rm -f /tmp/r.mid*
check "the mode is reset afterwards" sh -c 'tactus midi record --no-kernel-stamps --weakest read --duration 50ms hw:VirMIDI,0,0 /tmp/r.mid 2>/dev/null'

# Without the kernel's stamps: only where it is allowed.
check "weaker stamps are refused" sh -c '! tactus midi record --no-kernel-stamps hw:VirMIDI,0,0 /tmp/x.mid 2>/tmp/said'
check "and it is said why" grep -q "weaker stamps than asked for" /tmp/said

# ticks WHAT FROM LOAD [PORT]: arecordmidi, at RR 15, beside 12 notes, sent at priority 80 every 100 ms.
ticks() {
    sender 12 100000 "${4:-}"
    chrt -f -p 80 $sending >/dev/null
    chrt -r 15 arecordmidi -p "$2" -t 10000 /tmp/ticks.mid &
    ticking=$!
    sleep 0.3
    if [ "$3" = loaded ]; then
        midi_sender load 5 10 &
        loading=$!
    fi
    go
    if [ "$3" = loaded ]; then kill "$loading"; fi
    kill -INT $ticking
    wait $ticking
    found /tmp/ticks.mid
    figure "arecordmidi, $1, $3: worst interval $worst_us us beyond 100 ms, $lost lost"
}

# Under real-time load: the recorder at RR 15, the load at RR 10, the sender above both.
recorder hw:VirMIDI,0,0 /tmp/b.mid
chrt -r -p 15 $recording >/dev/null
ticks "straight to the sequencer" tactus-out:0 loaded
end
found /tmp/b.mid.raw
check "under load: nothing is lost" [ "$lost" = 0 ]
check "under load: every stamp is inside" [ "$inside" = 12 ]
ticks "straight to the sequencer" tactus-out:0 idle

# The path of 2021: a worker of the kernel, of normal priority, takes the bytes of a raw MIDI device to the sequencer, and a
# real-time load keeps it waiting.
ticks "through a worker" "${worker#seq:}" idle hw:VirMIDI,1,0
ticks "through a worker" "${worker#seq:}" loaded hw:VirMIDI,1,0

# The table: methods side by side, idle and under load.
tactus midi jitter --out "$port" --in hw:VirMIDI,0,0 --in read:hw:VirMIDI,0,1 --in seq:tactus-out:0 \
    --count 6 --gap 100ms --even >/tmp/table
check "by all methods nothing is lost" [ $? = 0 ]
sed 's/^/# /' /tmp/table

# Overruns: 128 frames fit into 4096 bytes.
sender 300 100
recorder --buffer 4096 hw:VirMIDI,0,0 /tmp/c.mid
kill -STOP $recording
go
kill -CONT $recording
usleep 100000
end
found /tmp/c.mid.raw
tactus midi dump /tmp/c.mid.raw | grep -A1 -B1 LOST | sed 's/^/# /'
check "an overrun: what fits is there" [ "$lost" = 172 ]
check "an overrun: every stamp is inside" [ "$inside" = 128 ]
check "an overrun: the exit code tells" [ $code = 1 ]
# Behind the last that is there; two bytes of each that is lost, or three without running status.
check "an overrun: it is located" awk -v line="$(tactus midi dump /tmp/c.mid.raw | grep LOST)" \
    -v last="$(tactus midi dump /tmp/c.mid.raw | grep 'note on' | tail -n 1)" \
    'BEGIN { n = split(line, w); split(last, v); exit !(line ~ /LOST: (344|516) bytes/ && w[n] == v[1] && w[1] > w[n]) }'

sender 30000 0
recorder hw:VirMIDI,0,0 /tmp/d.mid
kill -STOP $recording
go
kill -CONT $recording
usleep 200000
end
found /tmp/d.mid.raw
check "a burst of 30000 frames: nothing is lost" [ "$lost" = 0 ]
check "a burst of 30000 frames: every stamp is inside" [ "$inside" = 30000 ]
finish
