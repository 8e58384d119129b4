"""The faults of playback (doc/faults.md) with the real aplay: each case in a network namespace of its own, side by side.

usage: test_faults_playback.py ALSA-CONF CLIENT SHIM [CASE]

What is played are frames that hold their own position, and what crosses the wire is recorded, so that content, order,
sequence numbers and stamps are judged by themselves: every frame goes out once and in order or the talker's report says
that it was lost, and silence is where it says so. No time of this machine is asserted.
"""
import concurrent.futures
import fcntl
import os
import random
import signal
import socket
import struct
import subprocess
import sys
import threading
import time

from plugin_lab import LISTENER, TALKER, Lab, need

AT_A_TIME = 8
RATE, FRAME_BYTES, PDU_FRAMES = 48000, 4, 48
PDU_NS = 1_000_000
ETHERTYPE, ETH_BYTES, AAF_BYTES = 0x22F0, 14, 24
SO_RCVBUFFORCE = 33
PATIENCE_S = 30
SHORT_BUFFER = ["--buffer-time=40000", "--period-time=10000"]


class Wire:
    """Records every packet of the stream that arrives."""

    def __init__(self):
        self.packets = []
        self.socket = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, socket.htons(ETHERTYPE))
        try:
            self.socket.setsockopt(socket.SOL_SOCKET, SO_RCVBUFFORCE, 64 << 20)
        except PermissionError:
            pass
        self.socket.bind((LISTENER, ETHERTYPE))
        self.socket.settimeout(0.05)
        self.ended = False
        self.thread = threading.Thread(target=self.record)
        self.thread.start()

    def record(self):
        while not self.ended:
            try:
                self.packets.append(self.socket.recv(2048))
            except (TimeoutError, OSError):  # nothing, or the interface is down or gone
                time.sleep(0.001)

    def wait(self, packets):
        """Until so many more have come."""
        until = len(self.packets) + packets
        end = time.monotonic() + PATIENCE_S
        while len(self.packets) < until and time.monotonic() < end:
            time.sleep(0.002)
        return len(self.packets) >= until

    def end(self, expected, patience_s):
        """Everything that came; so many are expected, and a busy machine may be behind with them."""
        end = time.monotonic() + patience_s
        while len(self.packets) < expected and time.monotonic() < end:
            time.sleep(0.01)
        self.ended = True
        self.thread.join()
        self.socket.close()
        return [Pdu(packet) for packet in self.packets]


class Pdu:
    def __init__(self, packet):
        aaf = packet[ETH_BYTES:]
        self.mr, self.sequence, self.tu = bool(aaf[1] & 8), aaf[2], bool(aaf[3] & 1)
        self.stamp = struct.unpack_from(">I", aaf, 12)[0]
        self.frames = struct.unpack_from(f">{PDU_FRAMES}I", aaf, AAF_BYTES)  # each its position, from 1; 0: silence


def sound(milliseconds):
    """Two channels of 16 bits: the upper and the lower half of the position."""
    frames = RATE * milliseconds // 1000
    return b"".join(struct.pack("<HH", position >> 16, position & 0xFFFF) for position in range(1, frames + 1))


class Case:
    def __init__(self, name, silence=False, **keys):
        self.lab = Lab()
        self.name = name
        self.keys = dict(frames_per_pdu=str(PDU_FRAMES), mtt="200ms", report=str(self.lab.folder / "report.json"),
                         on_underrun="silence" if silence else "xrun", **keys)
        self.silence = silence
        self.wire = Wire()
        self.feeder = None

    def check(self, condition, what):
        return self.lab.check(condition, f"{self.name}: {what}")

    def play(self, milliseconds, *options, preload=(), feed=False, **more):
        """Starts aplay; with `feed` through a short pipe, by a program that can be stopped."""
        raw = self.lab.folder / "sound.raw"
        raw.write_bytes(sound(milliseconds))
        self.milliseconds = milliseconds
        environment = self.lab.environment(self.lab.device("play", **self.keys), preload=preload,
                                           TACTUS_VERBOSE="1", **more)
        command = ["aplay", "-D", "play", "-t", "raw", "-f", "S16_LE", "-r", str(RATE), "-c", "2", *options]
        source = None
        if feed:
            source, sink = os.pipe()
            fcntl.fcntl(sink, fcntl.F_SETPIPE_SZ, 4096)
            self.feeder = subprocess.Popen(["cat", str(raw)], stdout=sink)
            os.close(sink)
        else:
            command.append(str(raw))
        self.aplay = subprocess.Popen(command, env=environment, stdin=source, stderr=subprocess.PIPE, text=True)
        if feed:
            os.close(source)
        return self.check(self.wire.wait(100), "the stream begins")

    def stand(self, process, milliseconds):
        os.kill(process.pid, signal.SIGSTOP)
        time.sleep(milliseconds / 1000)
        os.kill(process.pid, signal.SIGCONT)

    def end(self, code=0, blind=False):
        """Waits for aplay and judges what every run must hold. `blind`: while an interface or its qdiscs change the
        kernel drops packets and says that they were sent, so not all that is missing is told."""
        try:
            self.errors = self.aplay.communicate(timeout=self.milliseconds / 1000 + PATIENCE_S)[1]
        except subprocess.TimeoutExpired:
            self.aplay.kill()
            self.errors = self.aplay.communicate()[1]
            self.check(False, f"aplay hangs: {self.errors}")
        if self.feeder:
            self.feeder.wait()
        self.check(self.aplay.returncode == code, f"aplay ends with {self.aplay.returncode}: {self.errors}")
        self.report = self.lab.report("report.json")
        self.counters = self.report["counters"]
        self.pdus = self.wire.end(self.counters["pdus_sent"], 1 if blind else PATIENCE_S)
        self.starts = sum(event["kind"] == "start" for event in self.report["events"])
        self.judge_content(blind)
        self.judge_numbers()
        self.check(not self.silence or self.counters["xruns"] == 0, "an xrun, and on_underrun is silence")

    def judge_content(self, blind):
        lost, silence = set(), {}
        for event in self.report["events"]:
            if event["kind"] in ("xrun", "dropped", "refused"):
                lost.update(range(event["frame"], event["frame"] + event["frames"]))
            elif event["kind"] == "silence":
                silence[event["frame"]] = silence.get(event["frame"], 0) + event["frames"]
        following, quiet = 0, 0
        for value in (value for pdu in self.pdus for value in pdu.frames):
            if value == 0:
                quiet += 1
                continue
            position = value - 1
            told = sum(silence.get(p, 0) for p in range(following, position + 1))
            missing = set() if blind else set(range(following, position)) - lost
            good = position >= following and (blind or position not in lost) and not missing and quiet <= told
            if not good:
                self.check(False, f"frame {position} after {following - 1}, {quiet} of silence (told {told}), "
                                  f"not told: {sorted(missing)[:10]}: {self.report['events']}")
                return
            following, quiet = position + 1, 0
        self.check(sum(silence.values()) == self.counters["frames_inserted"], "silence is counted as it is located")
        if self.aplay.returncode == 0:  # then all was played, or told
            rest = set(range(following, RATE * self.milliseconds // 1000)) - lost
            self.check(not rest, f"the end is missing: {len(rest)} frames from {following} on: {self.report} {self.errors}")

    def judge_numbers(self):
        toggles = 0
        for before, pdu in zip(self.pdus, self.pdus[1:]):
            if pdu.mr != before.mr:
                toggles += 1
                continue
            step_ns = (pdu.stamp - before.stamp) % 2**32
            numbers = (pdu.sequence - before.sequence) % 256
            # A gap may be longer than the numbers and the stamps reach.
            good = any((step_ns + turn * 2**32) % PDU_NS == 0
                       and (step_ns + turn * 2**32) // PDU_NS % 256 == numbers for turn in range(4))
            if not good:
                self.check(False, f"number +{numbers}, stamp +{step_ns} ns: off the grid")
                return
        steps = self.counters["clock_steps"]
        self.check(toggles <= self.starts - 1 + steps and (toggles > 0) == (self.starts + steps > 1),
                   f"mr toggled {toggles} times in {self.starts} starts and {steps} clock steps")

    def say_once(self, text):
        self.check(self.errors.count(text) == 1, f"{text!r} is said once: {self.errors}")


def ip(text):
    subprocess.run(["ip", *text.split()], check=True)


def tc(text):
    subprocess.run(["tc", *text.split()], check=True)


def stall(case, milliseconds):
    case.play(600, *SHORT_BUFFER, feed=True)
    case.stand(case.feeder, milliseconds)
    case.end()
    if milliseconds >= 1000:
        noticed = "underruns" if case.silence else "xruns"
        case.check(case.counters[noticed] > 0, f"nothing was noticed: {case.counters}")
        case.check(case.silence or "underrun!!!" in case.errors, f"aplay knows nothing of it: {case.errors}")
        case.check(not case.silence or case.counters["frames_inserted"] > 0, f"no silence: {case.counters}")


def late_thread(case):
    case.play(4000)
    for milliseconds in (10, 100, 1000, 5000):
        case.stand(case.aplay, milliseconds)
        case.check(case.wire.wait(50), f"the stream goes on after {milliseconds} ms")
    case.end()
    case.check(case.counters["pdus_dropped"] + case.counters["xruns"] > 0, f"nothing was noticed: {case.counters}")


def odd_sizes(case):
    draw = random.Random(1)
    case.play(500, "--period-size=37", "--buffer-size=2221", feed=True)
    for _ in range(20):  # the pipe is cut into pieces
        case.stand(case.feeder, draw.randrange(1, 5))
    case.end()


def link_down_up(case):
    case.play(1500)
    ip(f"link set {TALKER} down")
    time.sleep(0.3)
    ip(f"link set {TALKER} up")
    case.check(case.wire.wait(50), "the stream goes on by itself")
    case.end(blind=True)
    case.check(case.counters["pdus_refused"] > 0, f"nothing was noticed: {case.counters}")
    case.say_once("the interface was down or without carrier: what was sent then is lost")


def cable_pulled(case):
    case.play(2500)
    ip(f"link set {LISTENER} down")
    time.sleep(1.3)
    ip(f"link set {LISTENER} up")
    case.check(case.wire.wait(50), "the stream goes on by itself")
    case.end(blind=True)
    case.check(case.counters["pdus_refused"] > 0, f"nothing was noticed: {case.counters}")
    case.check("past the qdiscs" not in case.errors, f"a cable says nothing of qdiscs: {case.errors}")
    case.say_once("the interface was down or without carrier: what was sent then is lost")


def interface_deleted(case):
    case.play(60000)
    ip(f"link del {TALKER}")
    case.end(code=1)
    case.check("No such device" in case.errors, f"aplay says why: {case.errors}")
    case.say_once("the interface is gone: what came after that is lost")


def interface_of_recording_deleted(case):
    case.play(60000)
    recording = case.lab.folder / "recording.raw"
    arecord = subprocess.Popen(["arecord", "-D", "record", "-t", "raw", "-f", "S16_LE", "-r", str(RATE), "-c", "2",
                                str(recording)], stderr=subprocess.PIPE, text=True,
                               env=case.lab.environment(case.lab.device("record", "record", mtt="200ms"),
                                                        TACTUS_VERBOSE="1"))
    end = time.monotonic() + PATIENCE_S
    while not (recording.exists() and recording.read_bytes().strip(bytes(1))) and time.monotonic() < end:
        time.sleep(0.02)
    ip(f"link del {LISTENER}")
    try:
        errors = arecord.communicate(timeout=PATIENCE_S)[1]
    except subprocess.TimeoutExpired:
        arecord.kill()
        errors = arecord.communicate()[1]
    case.check(arecord.returncode == 1 and "No such device" in errors, f"arecord ends and says why: {errors}")
    case.check("the interface is gone" in errors, f"and so do we: {errors}")
    case.check(recording.read_bytes().strip(bytes(1)) != b"", "nothing was recorded")
    case.end(code=1)


def enobufs(case):
    case.play(5000)
    tc(f"qdisc add dev {TALKER} root bfifo limit 10b")
    time.sleep(0.02)
    tc(f"qdisc del dev {TALKER} root")
    case.check(case.wire.wait(50), "the stream goes on")
    case.end(blind=True)
    case.check(case.counters["pdus_refused"] > 0, f"nothing was noticed: {case.counters}")


def enobufs_for_good(case):
    case.play(5000)
    tc(f"qdisc add dev {TALKER} root bfifo limit 10b")
    case.check(case.wire.wait(50), "the stream goes on, past the qdisc")
    case.end(blind=True)
    case.check(case.counters["pdus_refused"] >= 32, f"nothing was noticed: {case.counters}")
    case.say_once("the kernel refused most packets while running")


def uncertain(case, unsynchronised, carried):
    case.play(300, preload=[case.lab.shim], TACTUS_SHIM_TAI_S="37", TACTUS_SHIM_UNSYNC=unsynchronised)
    case.end()
    case.check(all(pdu.tu == carried for pdu in case.pdus), "tu is set on other packets than it should be")
    if carried:
        case.say_once("the kernel says that its clock is not synchronised")
    else:
        case.check("synchronised" not in case.errors, f"it is said where it is not so: {case.errors}")


CASES = {
    **{f"{what}-{mode}": (run, mode == "silence", {})
       for mode in ("xrun", "silence")
       for what, run in {
           "stall-10ms": lambda case: stall(case, 10),
           "stall-100ms": lambda case: stall(case, 100),
           "stall-1s": lambda case: stall(case, 1000),
           "stall-5s": lambda case: stall(case, 5000),
           "late-thread": late_thread,
       }.items()},
    "odd-sizes": (odd_sizes, False, {}),
    "link-down-up": (link_down_up, False, {}),
    "cable-pulled": (cable_pulled, False, {}),
    "interface-deleted": (interface_deleted, False, {}),
    "interface-of-recording-deleted": (interface_of_recording_deleted, False, {}),
    "enobufs": (enobufs, False, {}),
    "enobufs-for-good": (enobufs_for_good, False, {}),
    "clock-unsynchronised": (lambda case: uncertain(case, "1", True), False, {}),
    "clock-synchronised": (lambda case: uncertain(case, "0", False), False, {}),
    "clock-trusted": (lambda case: uncertain(case, "1", False), False, {"tu": "never"}),
}


def run_case(name):
    run, silence, keys = CASES[name]
    case = Case(name, silence, **keys)
    try:
        run(case)
    finally:
        case.wire.ended = True
    case.lab.end()


def run_all():
    """The long ones first."""
    def start(name):
        return subprocess.run([sys.executable, *sys.argv, name], capture_output=True, text=True, check=False)

    names = sorted(CASES, key=lambda name: ("5s" not in name and "late" not in name, name))
    failed = []
    skipped = 0
    with concurrent.futures.ThreadPoolExecutor(AT_A_TIME) as pool:
        for name, done in zip(names, pool.map(start, names)):
            if done.returncode == 77:
                skipped += 1
                reason = done.stdout
            elif done.returncode != 0:
                failed.append(name)
                print(f"{name}: exit {done.returncode}\n{done.stdout}{done.stderr}")
    if skipped == len(names):
        print(reason.strip())
        sys.exit(77)
    print(f"{len(names) - len(failed)} passed, {len(failed)} failed")
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    need("aplay")
    run_case(sys.argv[4]) if len(sys.argv) > 4 else run_all()
