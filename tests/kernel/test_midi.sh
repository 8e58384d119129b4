#!/bin/sh
# MIDI with the kernel's stamps, by snd-virmidi: events are sent straight to its sequencer port, which receives them as a
# driver does, so that each stamp has to lie between the times before and after its sending.
. guest.sh

modprobe snd-virmidi
export ALSA_CONFIG_PATH=/usr/share/alsa/alsa.conf
# seq_port DEVICE: of the virtual card's devices.
seq_port() { tactus midi list | sed -n "s/^\(seq:[0-9]*:0\) .*VirMIDI 0-$1\$/\1/p"; }
port=$(seq_port 0)
worker=$(seq_port 1)
tactus midi list | sed 's/^/# /'
check "the virtual card is listed" [ -n "$port" ]

# sender COUNT GAP_US: opened and waiting; `go` lets it send.
sender() {
    rm -f /tmp/go
    mkfifo /tmp/go
    midi_sender send "$port" "$1" "$2" /tmp/sent </tmp/go >/tmp/ready &
    sending=$!
    exec 9>/tmp/go
    until grep -q ready /tmp/ready; do usleep 10000; done
}
go() { echo go >&9; exec 9>&-; wait $sending; }

# recorder OPTION... OUT.mid
recorder() {
    rm -f /tmp/*.mid.raw
    : >/tmp/said
    tactus midi record "$@" >/tmp/said 2>&1 &
    recording=$!
    until grep -q "recording into" /tmp/said; do kill -0 $recording || break; usleep 10000; done
}
end() { kill -INT $recording; wait $recording; code=$?; sed 's/^/# /' /tmp/said; }

# found RECORDING [SENT]: sets lost, inside, worst_us …
found() {
    lost='' inside='' worst_us='' min_us='' max_us=''
    # shellcheck disable=SC1091 # written just now
    midi_sender check "${2:-/tmp/sent}" "$1" >/tmp/found && . /tmp/found
    sed "s/^/# ${1##*/}: /" /tmp/found
}

# The reader stands still for a second: the stamps do not mind.
sender 120 10000
recorder hw:VirMIDI,0,0 /tmp/a.mid
grep -E "Framing|Clock|Buffer size" /proc/asound/card0/midi0 | sed 's/^/# /'
check "another recorder is told who has the port" sh -c \
    "tactus midi record hw:0,0,0 /tmp/x.mid 2>&1 | grep -q 'hw:0,0,0 is in use by tactus (process $recording)'"
check "a port by two of its names is refused" sh -c \
    "tactus midi record hw:VirMIDI,1 /dev/snd/midiC0D1 /tmp/x.mid 2>&1 | grep -q 'are the same port'"
check "and by two names of the sequencer" sh -c \
    "tactus midi record $worker '${worker%:0}' /tmp/x.mid 2>&1 | grep -q 'are the same port'"
check "no such card, no such device" sh -c \
    "tactus midi record hw:9999 /tmp/x.mid 2>&1 | grep -q 'no sound card of hw:9999' &&
     tactus midi record hw:0,9 /tmp/x.mid 2>&1 | grep -q 'no port hw:0,9'"
check "the kernel says that it frames" grep -q "Framing *: tstamp" /proc/asound/card0/midi0
(usleep 50000; kill -STOP $recording; sleep 1; kill -CONT $recording) &
go
end
found /tmp/a.mid.raw
check "a reader that stands still: it ends well" [ $code = 0 ]
check "a reader that stands still: nothing is lost" [ "$lost" = 0 ]
check "a reader that stands still: every stamp is inside" [ "$inside" = 120 ]
check "every tick is the stamp rounded" [ "$(midi_sender ticks /tmp/a.mid.raw /tmp/a.mid)" = 120 ]
midi_sender sent /tmp/a.mid.raw /tmp/heard
check "the mode is reset afterwards" sh -c 'tactus midi record --no-kernel-stamps --weakest read --duration 50ms hw:VirMIDI,0,0 /tmp/r.mid >/dev/null 2>&1'

# Without the kernel's stamps: only where it is allowed.
check "weaker stamps are refused" sh -c '! tactus midi record --no-kernel-stamps hw:VirMIDI,0,0 /tmp/x.mid 2>/tmp/said'
check "and it is said why" grep -q "weaker stamps than asked for" /tmp/said

# What was recorded is played, and recorded again: by a thread's sleep, and by the sequencer's queue.
for queue in '' --queue; do
    recorder hw:VirMIDI,0,0 "/tmp/play$queue.mid"
    # shellcheck disable=SC2086 # no word where it is empty
    tactus midi play $queue /tmp/a.mid "$port" >/tmp/played
    check "play $queue ends well" [ $? = 0 ]
    end
    sed 's/^/# /' /tmp/played
    found "/tmp/play$queue.mid.raw" /tmp/heard
    check "play $queue: nothing is lost" [ "$lost" = 0 ]
    check "play $queue: at its time, within 5 ms" [ $((max_us - min_us)) -le 5000 ]
done

# The card goes while it is recorded, and is back.
recorder hw:VirMIDI,0,0 "$worker" /tmp/u.mid
sender 5 1000
go
echo snd_virmidi.0 >/sys/bus/platform/drivers/snd_virmidi/unbind
usleep 50000
echo snd_virmidi.0 >/sys/bus/platform/drivers/snd_virmidi/bind
port=$(seq_port 0)
until grep -q "Framing *: tstamp" /proc/asound/card0/midi0; do kill -0 $recording || break; usleep 10000; done
sender 5 1000
go
end
tactus midi dump /tmp/u.mid.raw >/tmp/dumped
grep -E "gone|back" /tmp/dumped | sed 's/^/# /'
check "a card that goes and is back: its track goes on" [ "$(grep -E '^ .* 0  (note|the port)' /tmp/dumped |
    sed 's/.* 0  \(the port is [a-z]*\|note on\).*/\1/' | uniq -c | tr -s ' \n' ' ')" = " 5 note on 1 the port is gone 1 the port is back 5 note on " ]
check "and so does the sequencer's port" [ "$(grep -c ' 1  the port is' /tmp/dumped)" = 2 ]
check "and it ends well" [ $code = 0 ]
worker=$(seq_port 1)

# row METHOD PATH LOAD: of the recording that was found last, in a table like that of 2021.
row() { printf '# %-36s %-30s %-7s %14s us %3s lost\n' "$1" "$2" "$3" "$worst_us" "$lost" >>/tmp/rows; }

# timer NUMBER: of new sequencer queues. Debian's is 3, the high-resolution timer; 0 is the system timer, as in 2021.
timer() { echo "$1" >/sys/module/snd_seq/parameters/seq_default_timer_device; }

# Under real-time load: the recorder and arecordmidi at RR 15, the load at RR 10, the sender above both.
for run in idle,3 idle,0 loaded,0; do
    load=${run%,*}
    timer "${run#*,}"
    recorder hw:VirMIDI,0,0 "/tmp/$run.mid"
    chrt -a -r -p 15 $recording >/dev/null
    sender 8 50000
    chrt -f -p 80 $sending >/dev/null
    chrt -r 15 arecordmidi -p tactus-out:0 -t 10000 /tmp/ticks.mid &
    ticking=$!
    usleep 100000
    if [ "$load" = loaded ]; then midi_sender load 5 10 & loading=$!; fi
    go
    if [ "$load" = loaded ]; then kill "$loading"; fi
    kill -INT $ticking
    wait $ticking
    end
    found /tmp/ticks.mid
    row "arecordmidi, timer ${run#*,}" "straight to the sequencer" "$load"
    found "/tmp/$run.mid.raw"
    row "tactus midi record: kernel framing" "straight to the sequencer" "$load"
    check "$run: nothing is lost" [ "$lost" = 0 ]
    check "$run: every stamp is inside" [ "$inside" = 8 ]
done
timer 3

# The path of 2021, beside arecordmidi: a worker of the kernel, of normal priority, takes the bytes of a raw MIDI device to the
# sequencer, and a real-time load that comes in the middle keeps it waiting. No stamp of the sequencer is better than that.
midi_sender even 12 100000 /tmp/even
for load in idle loaded; do
    chrt -r 15 arecordmidi -p "${worker#seq:}" -t 10000 /tmp/ticks.mid &
    ticking=$!
    usleep 50000
    if [ $load = loaded ]; then (usleep 300000; midi_sender load 2 10) & loading=$!; fi
    tactus midi jitter --out hw:VirMIDI,1,0 --in "$worker" --in "ticks:$worker" --count 12 --gap 100ms --even --load idle \
        >/tmp/table
    check "through a worker, $load: nothing is lost" [ $? = 0 ]
    if [ $load = loaded ]; then
        wait "$loading"
        sed -i 's/ idle / loaded /; s/ load / load   /' /tmp/table # in columns still
    fi
    kill -INT $ticking
    wait $ticking
    sed 's/^/# /' /tmp/table
    found /tmp/ticks.mid /tmp/even
    row "arecordmidi, timer 3" "through a worker" $load
done

# The table: methods side by side.
tactus midi jitter --out "$port" --in hw:VirMIDI,0,0 --in read:hw:VirMIDI,0,1 --in seq:tactus-out:0 \
    --in ticks:seq:tactus-out:0 --count 6 --gap 50ms --even >/tmp/table
check "by all methods nothing is lost" [ $? = 0 ]
sed 's/^/# /' /tmp/table
figure "worst interval beyond that between the sendings, as in 2021:"
cat /tmp/rows

# Chords, bursts and system exclusive messages with clock bytes inside.
tactus midi jitter --out "$port" --in hw:VirMIDI,0,0 --in seq:tactus-out:0 --load idle --load stopped >/tmp/table
check "chords, bursts and system exclusive: nothing is lost" [ $? = 0 ]
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

# The sequencer keeps 2000 events for a reader, and throws all of them away when another comes.
sender 2100 0
recorder seq:tactus-out:0 /tmp/e.mid
kill -STOP $recording
go
kill -CONT $recording
usleep 100000
end
tactus midi dump /tmp/e.mid.raw | grep LOST | sed 's/^/# /'
check "an overrun of the sequencer: the exit code tells" [ $code = 1 ]
check "an overrun of the sequencer: it threw away what it had" [ "$(tactus midi dump /tmp/e.mid.raw | grep -c 'note on')" -lt 100 ]
check "an overrun of the sequencer: it is located" [ "$(tactus midi dump /tmp/e.mid.raw | grep -c 'LOST: .* since')" = 1 ]
finish
