"""aplay, the ALSA plugin, the fault rig, the ALSA plugin, arecord: one stream through two veth pairs.

Each Stream has interfaces of its own, so that several run side by side in the lab's namespace. The rig is the first
argument behind those of plugin_lab, `tactus` the second.
"""
import json
import pathlib
import signal
import subprocess
import sys
import threading
import time

from plugin_lab import Lab, need, skip
from recording import FRAME_BYTES, Spans, runs_of, segments_of, source_bytes

RATE = 48000
LIMIT_S = 180  # for anything that has to come
STREAM_ID = "02:00:00:00:00:01:0001"
SHAPE = ["-t", "raw", "-f", "S32_LE", "-r", str(RATE), "-c", "2", "--period-size=2400", "--buffer-size=48000"]
ARECORD = ["arecord", "-D", "record", *SHAPE]
APLAY = ["aplay", "-D", "play", *SHAPE]  # with --samples: without, it plays a period of silence at the end
SILENT = ("absent", "lost", "late")


class FaultLab(Lab):
    def __init__(self):
        need("aplay", "arecord")
        super().__init__()
        self.rig, self.tactus = (str(pathlib.Path(path).resolve()) for path in sys.argv[4:6])
        self.lock = threading.Lock()
        self.streams = 0

    def interfaces(self):
        """Two veth pairs: the talker's end, the rig's two, the listener's."""
        with self.lock:
            self.streams += 1
            names = [f"{end}{self.streams}" for end in ("talk", "rin", "rout", "hear")]
            for a, b in (names[:2], names[2:]):
                for command in (f"ip link add {a} type veth peer name {b}", f"ip link set {a} up",
                                f"ip link set {b} up"):
                    if subprocess.run(command.split(), capture_output=True).returncode != 0:
                        skip(f"no veth pair: `{command}` was refused")
            return names

    def stream_environment(self, text, shim_tai_s=None):
        with self.lock:
            return self.environment(text, [] if shim_tai_s is None else [self.shim],
                                    **({} if shim_tai_s is None else {"TACTUS_SHIM_TAI_S": str(shim_tai_s)}))


def wait_for(what, condition, process=None):
    end = time.monotonic() + LIMIT_S
    while not condition():
        if process is not None and process.poll() is not None:
            raise RuntimeError(f"{what}: it ended with {process.returncode}")
        if time.monotonic() > end:
            raise RuntimeError(f"{what} did not come")
        time.sleep(0.02)


class Stream:
    """What is going on, and what is known of it afterwards. `plays` are the source's frames that aplay plays, one
    program after the other."""

    def __init__(self, lab, name, script, plays, frames_per_pdu, talker, listener, shim_tai_s=None):
        self.lab, self.name, self.script = lab, name, script
        self.plays, self.frames_per_pdu, self.shim_tai_s = plays, frames_per_pdu, shim_tai_s
        self.talker_keys, self.listener_keys = talker, listener
        self.source = source_bytes(sum(plays))
        self.folder = lab.folder / name
        self.folder.mkdir()
        self.programs = []

    def start(self, command, environment=None, pipe=None):
        """What it prints and says is in files; `pipe` names the one stream that is a pipe instead."""
        kind = pathlib.Path(command[0]).name
        printed, said = (self.folder / f"{len(self.programs)}-{kind}.{end}" for end in ("out", "err"))
        with open(printed, "w") as out, open(said, "w") as err:
            streams = {"stdin": subprocess.DEVNULL, "stdout": out, "stderr": err}
            if pipe:
                streams[pipe] = subprocess.PIPE
            program = subprocess.Popen(command, env=environment, **streams)
        program.said, program.printed = said, printed
        self.programs.append(program)
        return program

    def stop(self, program):
        if program.poll() is None:
            program.send_signal(signal.SIGINT)
        wait_for(f"the end of {program.args[0]}", lambda: program.poll() is not None)

    def device(self, role, ifname, keys, report):
        shape = {"format": "INT32", "rate": RATE, "channels": 2, "frames_per_pdu": self.frames_per_pdu,
                 "report": report, "streamid": STREAM_ID}
        if role == "play":
            shape["mtt"] = "500ms"
        return self.lab.device(role, role, ifname=ifname, **{**shape, **keys})

    def recorded_frames(self):
        return self.recording_path.stat().st_size // FRAME_BYTES if self.recording_path.exists() else 0

    def run(self, tail_ms=800, between_frames=0, beside=None):
        """Plays everything, with so many recorded frames between two programs, and records on for `tail_ms` of media
        time behind the last. `beside(stream)`: a command that runs beside it, ended at the end."""
        try:
            self.begin(beside)
            for number, frames in enumerate(self.plays):
                if number > 0:
                    self.record_on(between_frames)
                self.play(number, frames)
            self.record_on(tail_ms * RATE // 1000)
            self.end()
        finally:
            for program in self.programs:
                if program.poll() is None:
                    program.kill()
                    program.wait()
            self.remove_interfaces()
        self.read_results()

    def remove_interfaces(self):
        for ifname in (self.talk_if, self.hear_if):
            subprocess.run(["ip", "link", "del", ifname], capture_output=True, check=False)

    def begin_rig(self):
        self.talk_if, rig_in, rig_out, self.hear_if = self.lab.interfaces()
        script = self.folder / "script"
        script.write_text(self.script)
        self.log_path = self.folder / "rig.jsonl"
        self.rig = self.start([self.lab.rig, "--script", script, "--log", self.log_path, rig_in, rig_out])
        wait_for("the rig", lambda: "ready" in self.rig.printed.read_text(), self.rig)

    def listener_environment(self):
        self.listener_path = self.folder / "listener.json"
        return self.lab.stream_environment(
            self.device("record", self.hear_if, self.listener_keys, self.listener_path), self.shim_tai_s)

    def talker_environment(self, number):
        return self.lab.stream_environment(
            self.device("play", self.talk_if, self.talker_keys, self.folder / f"talker{number}.json"), self.shim_tai_s)

    def begin(self, beside):
        self.begin_rig()
        self.beside = None
        if beside:
            self.beside = self.start(beside(self), self.lab.stream_environment("", self.shim_tai_s))
        self.recording_path = self.folder / "recording.raw"
        self.arecord = self.start([*ARECORD, str(self.recording_path)], self.listener_environment())
        wait_for("arecord", lambda: self.recorded_frames() > 0, self.arecord)

    def play(self, number, frames):
        begin = sum(self.plays[:number])
        source = self.folder / f"source{number}.raw"
        source.write_bytes(self.source[begin * FRAME_BYTES:(begin + frames) * FRAME_BYTES])
        aplay = self.start([*APLAY, f"--samples={frames}", str(source)], self.talker_environment(number))
        wait_for("the end of aplay", lambda: aplay.poll() is not None)
        if aplay.returncode != 0:
            raise RuntimeError(f"aplay ended with {aplay.returncode}: {aplay.said.read_text()}")

    def record_on(self, frames):
        goal = self.recorded_frames() + frames
        wait_for("more of the recording", lambda: self.recorded_frames() >= goal, self.arecord)

    def end(self):
        self.arecord_lived = self.arecord.poll() is None
        self.listener_errors = self.arecord.said.read_text()  # before it is told to end, and may say so
        self.stop(self.arecord)
        self.stop(self.rig)
        if self.beside:
            self.stop(self.beside)

    def read_results(self):
        self.listener = json.loads(self.listener_path.read_text())
        self.counters = self.listener["counters"]
        self.talkers = [json.loads((self.folder / f"talker{number}.json").read_text())
                        for number in range(len(self.plays))]
        self.totals = json.loads(self.rig.printed.read_text().splitlines()[-1])
        self.log = [json.loads(line) for line in self.log_path.read_text().splitlines()]
        self.runs = runs_of(self.recording_path.read_bytes(), self.source)
        self.segments = segments_of(self.runs)

    # What the parts say, in frames.

    def events(self, *kinds):
        """Where in the recording."""
        return Spans((e["frame"], e["frame"] + e["frames"]) for e in self.listener["events"] if e["kind"] in kinds)

    def silence(self):
        return Spans((run.frame, run.frame + run.frames) for run in self.runs if run.kind == "silence")

    def recorded(self):
        return Spans([(0, self.runs[-1].frame + self.runs[-1].frames)])

    def heard(self):
        """Of the source."""
        return Spans((run.source, run.source + run.frames) for run in self.runs if run.kind == "sound")

    def kept_back(self):
        """Of the source: what the talker did not send, by its own account."""
        spans, begin = [], 0
        for frames, talker in zip(self.plays, self.talkers):
            spans += [(begin + e["frame"], begin + e["frame"] + e["frames"]) for e in talker["events"]
                      if e["kind"] in ("dropped", "refused")]
            begin += frames
        return Spans(spans)

    def swallowed(self, *lines):
        """Of the source: what these rules touched, by their line (none given: what any rule dropped)."""
        touched = [entry for entry in self.log
                   if (set(lines) & set(entry["lines"]) if lines else entry["packets"][0]["dropped"])]
        if all("payload" in entry["packets"][0] for entry in touched):
            spans = [(packet["payload"] - 1, packet["payload"] - 1 + self.frames_per_pdu)
                     for packet in (entry["packets"][0] for entry in touched)]
        else:  # of what was cut short only the index is left
            spans = [(entry["index"] * self.frames_per_pdu, (entry["index"] + 1) * self.frames_per_pdu)
                     for entry in touched]
        return Spans(spans) & Spans([(0, sum(self.plays))])

    def applied(self, line):
        return next(rule["applied"] for rule in self.totals["rules"] if rule["line"] == line)

    def disturbances(self):
        """What a busy machine may do to a stream beside the rig: so many packets or frames, and each is counted."""
        return (self.counters["pdus_late"] + self.counters["receive_drops"] + self.counters["xruns"]
                + self.totals["receive_drops"] + self.totals["refused"] + self.totals["overflowed"]
                + sum(t["counters"]["xruns"] + t["counters"]["pdus_dropped"] + t["counters"]["pdus_refused"]
                      + t["counters"]["frames_padded"] for t in self.talkers))

    def place_by_stamp(self, packet, arrival_tai_ns, stamp_offset_ns=0):
        """Where in the recording a packet's first frame belongs, by its presentation time alone: the device's media
        time since its first start."""
        start = next(e for e in self.listener["events"] if e["kind"] == "start")
        near_ns = arrival_tai_ns + (self.shim_tai_s or 0) * 10**9 - stamp_offset_ns
        stamp_ns = near_ns + (packet["stamp"] - near_ns + (1 << 31)) % (1 << 32) - (1 << 31) + stamp_offset_ns
        playout_ns = int(self.listener_keys.get("playout_latency", "0ms").removesuffix("ms")) * 10**6
        return start["frame"] + (stamp_ns + playout_ns - start["time_tai_ns"]) * RATE / 1e9
