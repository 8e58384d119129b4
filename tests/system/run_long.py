#!/usr/bin/env python3
"""A stream that goes on and on: aplay, 1 % random loss with reordering in the rig, arecord, and load on every core.

usage: run_long.py PLUGIN_CONF CLIENT SHIM RIG TACTUS SECONDS
At its end every frame from the first to the last is in its place or is silence; the silence is the PDUs that the rig
took, and what a busy machine dropped by its own account; the first and the last PDU stand where their presentation
times put them, to within one PDU. Resident memory of aplay and arecord, and the delay from the source's media time to
what arecord hands over, do not grow after the first minute, or quarter where that is shorter.
"""
import fcntl
import json
import os
import resource
import subprocess
import sys
import threading
import time

from fault_lab import APLAY, ARECORD, RATE, FaultLab, Stream, wait_for
from recording import FRAME_BYTES, source_bytes

RULES = "seed 3\nchance 1% drop\nchance 1% reorder\nchance 0.5% reorder 5\n"
PDU = 12  # frames: 250 µs, class B
BLOCK = 2400  # frames; whole PDUs, and one period
ATTEMPTS = 3
GROWTH_BYTES = 128 * 1024  # of resident memory, what is no growth
GROWTH_S = 1.5 * BLOCK / RATE  # of the delay: it goes by periods
SILENT_PDU = bytes(PDU * FRAME_BYTES)
PIPE_BYTES = 1 << 20
BUFFER = f"--buffer-size={5 * RATE}"  # with load on every core a program may not get to run for a second
LOAD = "import signal\nsignal.alarm({})\nwhile True: pass"


class Heard:
    """What comes out of arecord, block by block, against the source."""

    def __init__(self):
        self.kept = b""
        self.frame = 0  # in the recording, of `kept`
        self.alignment = None
        self.missing = []  # PDUs of the source, none of which was heard
        self.cut = 0  # frames of PDUs that were heard in part
        self.wrong = 0
        self.last_sound = 0  # PDU of the source
        self.first_sound = None

    def take(self, data):
        self.kept += data
        if self.alignment is None:
            self.find()
        while self.alignment is not None and len(self.kept) >= BLOCK * FRAME_BYTES:
            self.compare(self.kept[:BLOCK * FRAME_BYTES])
            self.drop(BLOCK)

    def drop(self, frames):
        self.kept = self.kept[frames * FRAME_BYTES:]
        self.frame += frames

    def find(self):
        """The first sound; from there on blocks are whole PDUs of the source."""
        silent = (len(self.kept) - len(self.kept.lstrip(b"\0"))) // FRAME_BYTES
        self.drop(silent)
        if len(self.kept) >= FRAME_BYTES:
            self.first_sound = int.from_bytes(self.kept[:4], "little") - 1
            self.alignment = self.frame - self.first_sound
            self.wrong += self.first_sound % PDU

    def compare(self, block):
        begin = self.frame - self.alignment
        source = source_bytes(BLOCK, begin)
        if block == source:
            self.last_sound = (begin + BLOCK) // PDU - 1
            return
        size = PDU * FRAME_BYTES
        for at in range(0, BLOCK * FRAME_BYTES, size):
            pdu, heard, expected = begin // PDU + at // size, block[at:at + size], source[at:at + size]
            if heard == SILENT_PDU:
                self.missing.append(pdu)
            else:
                self.last_sound = pdu
                self.compare_frames(heard, expected)

    def compare_frames(self, heard, expected):
        for at in range(0, len(heard), FRAME_BYTES):
            frame = heard[at:at + FRAME_BYTES]
            if frame != expected[at:at + FRAME_BYTES]:
                self.cut += not any(frame)
                self.wrong += any(frame)


class LongRun(Stream):
    def __init__(self, lab, name, seconds):
        super().__init__(lab, name, RULES, [0], PDU, {}, {})
        self.blocks = seconds * RATE // BLOCK
        self.seconds = seconds
        self.delays_s = []  # (when, how long behind the media time of the source)
        self.resident = {"aplay": [], "arecord": []}  # (when, bytes)
        self.heard = Heard()

    def run(self):
        load = [subprocess.Popen([sys.executable, "-c", LOAD.format(self.seconds + 120)])
                for _ in range(os.cpu_count())]
        try:
            self.open_all()
            self.go_on()
            self.end()
        finally:
            for program in [*load, *self.programs]:
                if program.poll() is None:
                    program.kill()
                program.wait()
            self.remove_interfaces()
        self.load_s = resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime
        self.read_reports()

    def open_all(self):
        self.begin_rig()
        self.beside = None
        self.arecord = self.start([*ARECORD, BUFFER], self.listener_environment(), pipe="stdout")
        self.reader = threading.Thread(target=self.read, daemon=True)
        self.reader.start()
        wait_for("arecord", lambda: self.heard.frame > 0, self.arecord)
        self.aplay = self.start([*APLAY, BUFFER, f"--samples={self.blocks * BLOCK}"], self.talker_environment(0), pipe="stdin")
        self.writer = threading.Thread(target=self.write, daemon=True)
        self.writer.start()

    def write(self):
        fcntl.fcntl(self.aplay.stdin, fcntl.F_SETPIPE_SZ, PIPE_BYTES)
        try:
            for block in range(self.blocks):
                self.aplay.stdin.write(source_bytes(BLOCK, block * BLOCK))
            self.aplay.stdin.close()
        except OSError:
            pass  # aplay ended: its exit code is looked at

    def read(self):
        fcntl.fcntl(self.arecord.stdout, fcntl.F_SETPIPE_SZ, PIPE_BYTES)
        while data := self.arecord.stdout.read(BLOCK * FRAME_BYTES):
            self.heard.take(data)
            if self.heard.alignment is not None:
                now_s = time.monotonic()
                self.delays_s.append((now_s, now_s - (self.heard.frame - self.heard.alignment) / RATE))

    def go_on(self):
        while self.aplay.poll() is None:
            for name, program in (("aplay", self.aplay), ("arecord", self.arecord)):
                bytes_now = resident_bytes(program.pid)
                if bytes_now:
                    self.resident[name].append((time.monotonic(), bytes_now))
            if self.arecord.poll() is not None:
                raise RuntimeError(f"arecord ended: {self.arecord.said.read_text()}")
            time.sleep(0.5)
        if self.aplay.returncode != 0:
            raise RuntimeError(f"aplay ended with {self.aplay.returncode}: {self.aplay.said.read_text()}")
        goal = self.heard.frame + RATE
        wait_for("the rest of the recording", lambda: self.heard.frame >= goal, self.arecord)

    def read_reports(self):
        self.reader.join()
        self.listener = json.loads(self.listener_path.read_text())
        self.counters = self.listener["counters"]
        self.talkers = [json.loads((self.folder / "talker0.json").read_text())]
        self.totals = json.loads(self.rig.printed.read_text().splitlines()[-1])

    def taken(self):
        """PDUs that the rig took."""
        with open(self.log_path) as log:
            packets = (json.loads(line)["packets"][0] for line in log)
            return {(packet["payload"] - 1) // PDU for packet in packets if packet["dropped"]}

    def kept_back_pdus(self):
        return {pdu for event in self.talkers[0]["events"] if event["kind"] in ("dropped", "refused")
                for pdu in range(event["frame"] // PDU, (event["frame"] + event["frames"]) // PDU)}

    def settled(self, samples):
        """The first and the last third of the samples, without the first minute or quarter."""
        begin_s = samples[0][0] + min(60, self.seconds / 4)
        values = [value for when_s, value in samples if when_s >= begin_s]
        third = max(1, len(values) // 3)
        return values[:third], values[-third:]


def resident_bytes(pid):
    try:
        with open(f"/proc/{pid}/statm") as statm:
            return int(statm.read().split()[1]) * resource.getpagesize()
    except (OSError, IndexError):
        return 0  # it has just ended


def faults_of_frames(run):
    heard, last = run.heard, run.blocks * BLOCK // PDU - 1
    missing = {pdu for pdu in heard.missing if pdu <= last}
    taken = run.taken()
    if heard.wrong:
        yield f"{heard.wrong} frames that are neither the source's nor silence in its place"
    heard_all_the_same = {pdu for pdu in taken if heard.first_sound // PDU <= pdu <= last} - missing
    if heard_all_the_same:
        yield f"heard, though the rig took them: {sorted(heard_all_the_same)[:5]}"
    unexplained = missing - taken - run.kept_back_pdus()
    if len(unexplained) > run.counters["pdus_late"] + run.counters["receive_drops"] + run.totals["receive_drops"]:
        yield f"{len(unexplained)} PDUs are missing without a reason: {sorted(unexplained)[:5]}"
    silent = len(missing - {pdu for pdu in missing if pdu > heard.last_sound}) * PDU + heard.cut
    said = run.counters["frames_lost"] + run.counters["frames_late"]
    if abs(silent - said) > PDU * len([pdu for pdu in missing if pdu > heard.last_sound]):
        yield f"{silent} frames are silent, and {said} are said to be"
    for end in ("first", "last"):
        packet = run.totals[end]
        frame = packet["payload"] - 1 + heard.alignment
        place = run.place_by_stamp(packet, packet["arrival_tai_ns"])
        if abs(frame - place) > PDU:
            yield f"the {end} PDU stands at {frame}, and its presentation time is that of frame {place:.1f}"


def faults_of_growth(run):
    for name, samples in run.resident.items():
        first, last = run.settled(samples)
        if max(last) - max(first) > GROWTH_BYTES:
            yield f"the memory of {name} grew from {max(first)} to {max(last)} bytes"
    first, last = run.settled(run.delays_s)
    if min(last) - min(first) > GROWTH_S:
        yield f"the delay grew by {min(last) - min(first):.3f} s"


def figures(run):
    first, last = run.settled(run.delays_s)
    grown_ms = (min(last) - min(first)) * 1000
    print(f"    {run.totals['packets']} PDUs, {run.totals['dropped']} taken, {run.counters['pdus_reordered']} put in"
          f" order, {run.disturbances()} disturbances; frames lost {run.counters['frames_lost']}, late"
          f" {run.counters['frames_late']}; {run.load_s:.0f} s of load")
    for name, samples in run.resident.items():
        first, last = run.settled(samples)
        print(f"    {name}: {max(first) // 1024} kB resident, then {max(last) // 1024} kB")
    print(f"    the delay grew by {grown_ms:.1f} ms")


def main():
    lab = FaultLab()
    seconds = int(sys.argv[6])
    for number in range(1, ATTEMPTS + 1):
        run = LongRun(lab, f"long{number}", seconds)
        run.run()
        xruns = run.counters["xruns"] + run.talkers[0]["counters"]["xruns"]
        faults = [*faults_of_frames(run), *faults_of_growth(run)]
        print(f"{'FAILED' if faults else 'ok'} {seconds} s", *faults, sep="\n    ")
        figures(run)
        if not faults or not xruns:
            break
        print(f"    {xruns} times a program did not get to run for as long as its buffer: once more")
    sys.exit(1 if faults else 0)


if __name__ == "__main__":
    main()
