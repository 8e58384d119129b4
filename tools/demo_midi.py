#!/usr/bin/env python3
"""MIDI with exact times, shown in ten seconds on any machine, without hardware: ./dev demo midi.

usage: demo_midi.py TACTUS FOLDER [STEPS]. A made-up piece is played by `tactus midi play` into one pty, goes by way of this script
(which keeps the true time of every byte) into another, and is recorded there by `tactus midi record`. Then every event's
recorded time is compared with the true one. Exit codes: 0 all notes are there; 1 not so; 3 environment.
"""

import json
import os
import pathlib
import pty
import select
import signal
import struct
import subprocess
import sys
import time
import tty

PPQ, BEAT_TICKS = 96, 24  # a step is an eighth of a second at 120 BPM
STEPS = int(sys.argv[3]) if len(sys.argv) > 3 else 32
LIMIT_S = 20
PICTURE = """
  take.mid ──► tactus midi play ──► pty ──► this script ──► pty ──► tactus midi record ──► recorded.mid
               (a thread's sleep)           (true times)            (stamps)               recorded.mid.raw (ns)
"""


def piece():
    """A C major walk with a chord on every eighth step, a clock (F8) beside it, and one system exclusive message."""
    scale = (60, 62, 64, 65, 67, 69, 71, 72)
    notes, clock = [], []
    for step in range(STEPS):
        chord = (0, 2, 4) if step % 8 == 0 else (0,)
        for up in chord:
            key = scale[(step + up) % 8]
            notes += [(step * BEAT_TICKS, bytes([0x90, key, 100])), (step * BEAT_TICKS + 20, bytes([0x80, key, 64]))]
        clock += [(step * BEAT_TICKS + i * 4, b"\xf7\x01\xf8") for i in range(BEAT_TICKS // 4)]
    notes.append((STEPS // 2 * BEAT_TICKS + 1, b"\xf0\x06\x7d\x01\x02\x03\x04\xf7"))
    return sorted(notes, key=lambda event: event[0]), clock


def number(value):
    made = [value & 127]
    while value := value >> 7:
        made.append(value & 127 | 128)
    return bytes(reversed(made))


def track(events):
    data, last = b"", 0
    for tick, event in events:
        data += number(tick - last) + event
        last = tick
    data += b"\0\xff\x2f\0"
    return b"MTrk" + struct.pack(">I", len(data)) + data


def write_piece(path):
    tracks = piece()
    path.write_bytes(b"MThd" + struct.pack(">IHHH", 6, 1, len(tracks), PPQ) + b"".join(map(track, tracks)))
    return sum(map(len, tracks))


def raw_pty():
    master, slave = pty.openpty()
    tty.setraw(slave)
    return master, slave, os.ttyname(slave)


def relay(source, target, player):
    """Passes on what comes, until the player is done and all is through. [(time, byte)]"""
    passed, end = [], None
    while end is None or time.monotonic() < end:
        if end is None and player.poll() is not None:
            end = time.monotonic() + 0.3
        if select.select([source], [], [], 0.05)[0]:
            data = os.read(source, 4096)
            passed += [(time.monotonic_ns(), byte) for byte in data]
            os.write(target, data)
    return passed


def run(tactus, folder):
    piece_path, out = folder / "take.mid", folder / "recorded.mid"
    for path in (out, folder / "recorded.mid.raw"):
        path.unlink(missing_ok=True)
    count = write_piece(piece_path)
    source, _, played_to = raw_pty()
    target, _, recorded_from = raw_pty()
    recorder = subprocess.Popen([tactus, "midi", "record", recorded_from, out], text=True, stdout=subprocess.PIPE,
                                stderr=subprocess.STDOUT)
    end = time.monotonic() + LIMIT_S
    while not (folder / "recorded.mid.raw").exists() and recorder.poll() is None and time.monotonic() < end:
        time.sleep(0.01)
    print(PICTURE)
    print(f"Playing    and recording a piece of {STEPS // 8} s, {count} events ...", flush=True)
    player = subprocess.Popen([tactus, "midi", "play", piece_path, played_to], text=True, stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT)
    passed = relay(source, target, player)
    recorder.send_signal(signal.SIGINT)
    print("Player     " + player.communicate(timeout=LIMIT_S)[0].replace("\n", "\n           ").rstrip())
    print("Recorder   " + recorder.communicate(timeout=LIMIT_S)[0].replace("\n", "\n           ").rstrip())
    return passed, player.returncode or recorder.returncode


def compare(tactus, folder, passed):
    """Every recorded byte against the true one; what the relay passed on is the truth."""
    shown = subprocess.run([tactus, "midi", "dump", "--json", folder / "recorded.mid.raw"], capture_output=True, text=True,
                           check=False)
    events = [event for event in json.loads(shown.stdout)["events"] if "bytes" in event]
    heard = sorted(byte for event in events for byte in bytes.fromhex(event["bytes"]))
    clocks = [(stamp, event["first_mono_ns"]) for (stamp, byte), event in zip(
        [item for item in passed if item[1] == 0xF8], [event for event in events if event["bytes"] == "F8"])]
    late = sorted((recorded - true) / 1000 for true, recorded in clocks)
    print(f"Compared   {len(heard)} of {len(passed)} bytes recorded. A clock byte's stamp is {late[len(late) // 2]:.0f} us"
          f" (median) to {late[-1]:.0f} us (worst) behind the time")
    print("           at which the script passed it on: that is what a stamp taken by reading costs. A stamp of the"
          " kernel's costs nothing")
    print("           (./dev lab midi shows it on a real kernel).")
    return heard == sorted(byte for _, byte in passed)


def main(tactus, folder):
    folder = pathlib.Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    passed, code = run(tactus, folder)
    equal = compare(tactus, folder, passed)
    print("\nHow far stamps by reading are off, idle and under load (tactus midi jitter):", flush=True)
    jitter = subprocess.run([tactus, "midi", "jitter", "--count", "100"], check=False).returncode
    print(f"\nLeft in    {folder}: take.mid recorded.mid recorded.mid.raw")
    if equal and code == 0 and jitter == 0:
        print("Every byte that was played was recorded, with its time.")
        return 0
    print("NOT all that was played was recorded; the lines above say more.")
    return 1


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:3]))
