"""Programs that people use, each playing to the device and recording from it: what it plays arrives bit for bit, it
ends by itself, and it says nothing of an error.

A machine that stands still may lose frames. Then, and only then, the reports of the devices say where.
"""

import json
import math
import pathlib
import re
import signal
import struct
import subprocess
import sys
import time

import sound
import side_by_side
from plugin_lab import Lab, need, skip

RATE = 48000
QUIET, NOISE, REST = 24000, 24000, 14400  # frames of the source
RECORD_S = (6, 20)  # where a player came too late for the first, the second
LIMIT_S = 60
# What is said although all is well: the clock of this machine; JACK looks for a mixer, which there is none of.
HARMLESS = r"TAI offset|Invalid CTL|control open|acquire_rt|^\[I\]"
# What JACK and PipeWire say when one of their clients came too late, of which the device knows nothing.
CLIENT_LATE = r"too slow|was not finished|Process error"
COMPLAINT = r"error|warn|fail|cannot|unable|invalid|xrun|underrun|overrun|broken|not sent|in time"


class Programs(Lab):
    def __init__(self):
        super().__init__()
        self.tactus, self.jack_client = sys.argv[4:6]
        noise = sound.noise("S16_LE", 2, NOISE)
        self.noise = noise
        self.raw = self.folder / "source.raw"
        self.raw.write_bytes(bytes(4 * QUIET) + noise + bytes(4 * REST))
        self.wav = sound.write_wav(self.folder / "source.wav", "S16_LE", RATE, 2, self.raw.read_bytes())
        self.take = self.folder / "take.wav"
        self.text = self.pair("play", "record", 1)
        self.said = []
        self.client_late = False

    def pair(self, play, record, number):
        text = ""
        for name, role in ((play, "play"), (record, "record")):
            text += self.device(
                name, role, mtt="400ms", frames_per_pdu="48", addr=f"91:E0:F0:00:FE:0{number}",
                streamid=f"02:00:00:00:00:01:000{number}", report=str(self.folder / f"{name}.json"),
            )
        return text

    def programs(self, *names, package):
        for name in names:
            need(name, package=package)

    def wait_for(self, what, condition):
        end = time.monotonic() + LIMIT_S
        while not condition():
            if time.monotonic() > end:
                self.check(False, f"{what} did not come")
                self.end()
            time.sleep(0.02)

    def listening(self, others=0):
        """One more packet socket that receives: the recording program has opened its device."""
        sockets = pathlib.Path("/proc/net/packet").read_text().splitlines()
        return [line.split()[3] for line in sockets].count("0003") > others

    def serve(self, command, environment):
        """A server, which may say more than a pipe holds."""
        said = self.folder / f"{command[0]}.said"
        with open(said, "w") as file:
            program = subprocess.Popen(command, env=environment, stdout=file, stderr=file)
        program.said = said
        return program

    def finish(self, program, code=(0,)):
        """A program that should end by itself."""
        try:
            output, errors = program.communicate(timeout=LIMIT_S)
        except subprocess.TimeoutExpired:
            program.kill()
            output, errors = program.communicate()
            self.check(False, f"{program.args[0]} hung")
        if hasattr(program, "said"):
            output, errors = "", program.said.read_text()
        self.check(program.returncode in code, f"{program.args[0]}: exit {program.returncode}: {output}{errors}")
        self.quiet(program.args[0], output + errors)
        return output

    def excused(self):
        """Whether a device has lost something, or a program was too slow, as it or the device says."""
        if self.client_late:
            return True
        for report in self.folder.glob("*.json"):
            counters = json.loads(report.read_text())["counters"]
            names = "xruns pdus_dropped pdus_refused frames_lost frames_late receive_drops"
            if any(counters.get(name) for name in names.split()):
                return True
        return False

    def quiet(self, program, said):
        lines = [line for line in said.splitlines() if re.search(COMPLAINT, line, re.I) and not re.search(HARMLESS, line)]
        self.said += [f"{program}: {line}" for line in lines]
        self.client_late = self.client_late or bool(re.search(CLIENT_LATE, said))

    def nothing_said(self):
        self.check(not self.said or self.excused(), f"it complains: {self.said}")

    def compare(self, take, noise=None):
        """The noise of the source is in the recording, bit for bit, or the reports say why not."""
        noise = noise or self.noise
        if take.suffix == ".raw":
            take = sound.write_wav(take.with_suffix(".wav"), "S16_LE", RATE, 2, take.read_bytes())
        exact = noise in take.read_bytes()
        print(f"{'all' if exact else 'not all'} of {len(noise) // 4} frames")
        if exact:
            return
        reports = [f"--report={path}" for path in self.folder.glob("*.json")]
        code, output, errors = self.run([self.tactus, "equal", str(self.wav), str(take), *reports], None)
        self.check(code in (0, 4) or self.client_late, f"the recording: exit {code}: {output}{errors}")

    def ended(self, take):
        """Whether silence follows the sound in a recording: it was not too short."""
        data = take.read_bytes()[44:]
        return bool(data.strip(b"\0")) and not data[-2 * RATE:].strip(b"\0")

    def record(self, recorder, record, player, play, take, others=0):
        """`recorder`, given a number of seconds, records so long what `player` plays meanwhile. `record` and `play` are
        their environments; `others` listen already."""
        for seconds in RECORD_S:
            take.unlink(missing_ok=True)
            recording = self.start(recorder(str(seconds)), record)
            self.wait_for("the recorder", lambda: self.listening(others))
            self.finish(self.start(player, play))
            self.finish(recording)
            if self.ended(take):
                break
            print(f"not over after {seconds} s")
        self.nothing_said()

    def cross(self, recorder, player, take, **more):
        environment = self.environment(self.text, **more)
        self.record(recorder, environment, player, environment, take)
        self.compare(take)


SHAPE = "-f S16_LE -r 48000 -c 2".split()


def arecord(device, take):
    return lambda seconds: ["arecord", "-q", "-D", device, *SHAPE, "-d", seconds, str(take)]


def alsa_utils(lab):
    lab.programs("aplay", "arecord", package="alsa-utils")
    lab.cross(arecord("record", lab.take), ["aplay", "-D", "play", str(lab.wav)], lab.take)


def sox(lab):
    lab.programs("sox", "play", "rec", package="sox, libsox-fmt-alsa")
    environment = lab.environment(lab.text, AUDIODRIVER="alsa", AUDIODEV="record")
    shape = ["-r", "48000", "-c", "2", "-b", "16"]
    recorder = lambda seconds: ["rec", "-q", *shape, str(lab.take), "trim", "0", seconds]
    lab.record(recorder, environment, ["play", "-q", str(lab.wav)], dict(environment, AUDIODEV="play"), lab.take)
    lab.compare(lab.take)


def ffmpeg(lab):
    lab.programs("ffmpeg", package="ffmpeg")
    quietly = ["ffmpeg", "-nostdin", "-hide_banner", "-loglevel", "warning"]
    source = ["-f", "alsa", "-channels", "2", "-sample_rate", "48000", "-i", "record"]
    lab.cross(
        lambda seconds: [*quietly, *source, "-t", seconds, str(lab.take)],
        [*quietly, "-i", str(lab.wav), "-f", "alsa", "play"],
        lab.take,
    )


def gstreamer(lab):
    lab.programs("gst-launch-1.0", package="gstreamer1.0-tools")
    for element, package in (("alsasink", "gstreamer1.0-alsa"), ("rawaudioparse", "gstreamer1.0-plugins-base")):
        if subprocess.run(["gst-inspect-1.0", "--exists", element], capture_output=True).returncode != 0:
            skip(f"GStreamer's {element} is not installed ({package})")
    take = lab.folder / "take.raw"
    shape = "use-sink-caps=false format=pcm pcm-format=s16le sample-rate=48000 num-channels=2"
    # Buffers of 10 ms, as latency-time asks for.
    lab.cross(
        lambda seconds: f"gst-launch-1.0 -q alsasrc device=record latency-time=10000 num-buffers={int(seconds) * 100} ! "
                        f"audio/x-raw,format=S16LE,rate=48000,channels=2 ! filesink location={take}".split(),
        f"gst-launch-1.0 -q filesrc location={lab.raw} ! rawaudioparse {shape} ! alsasink device=play".split(),
        take,
        GST_REGISTRY=str(lab.folder / "registry.bin"),
    )


def jack(lab):
    """JACK takes floats, which cross unchanged: a client plays and records numbers."""
    lab.programs("jackd", "jack_lsp", package="jackd2")
    if not lab.jack_client:
        skip("the JACK client was not built (libjack-jackd2-dev)")
    environment = lab.environment(lab.text, JACK_NO_AUDIO_RESERVATION="1", JACK_DEFAULT_SERVER=f"tactus{lab.folder.name}")
    server = lab.serve("jackd -r -d alsa -P play -C record -r 48000 -p 4096 -n 3 -i 2 -o 2".split(), environment)
    ports = ["jack_lsp", "system:playback_2"]
    lab.wait_for("JACK", lambda: ports[1] in lab.run(ports[:1], environment)[1] or server.poll() is not None)
    client = lab.start([lab.jack_client], environment)
    output = lab.finish(client)
    server.terminate()
    lab.finish(server)
    lab.nothing_said()
    print(output, end="")
    if client.returncode != 0:
        return
    heard = json.loads(output)
    # A client that is late leaves its last samples in its ports, and JACK plays them again.
    lab.check(heard["foreign"] == 0 or lab.client_late, f"samples that were never played: {heard}")
    lab.check(heard["missing"] == 0 or lab.excused(), f"missing without a reason: {heard}")


PIPEWIRE = """
context.properties = {
    core.daemon = true core.name = tactus support.dbus = false
    default.clock.rate = 48000 default.clock.quantum = 4096 default.clock.max-quantum = 8192
}
context.spa-libs = {
    audio.convert.* = audioconvert/libspa-audioconvert
    api.alsa.* = alsa/libspa-alsa
    support.* = support/libspa-support
}
context.modules = [
    { name = libpipewire-module-protocol-native }
    { name = libpipewire-module-metadata }
    { name = libpipewire-module-client-node }
    { name = libpipewire-module-access }
    { name = libpipewire-module-adapter }
    { name = libpipewire-module-link-factory }
]
context.objects = [
    { factory = adapter args = {
        factory.name = api.alsa.pcm.sink node.name = stage_out media.class = Audio/Sink api.alsa.path = play
        audio.channels = 2 audio.position = "FL,FR" adapter.auto-port-config = { mode = dsp position = preserve } } }
    { factory = adapter args = {
        factory.name = api.alsa.pcm.source node.name = stage_in media.class = Audio/Source api.alsa.path = record
        audio.channels = 2 audio.position = "FL,FR" adapter.auto-port-config = { mode = dsp position = preserve } } }
]
"""


def pipewire(lab):
    """PipeWire with a session manager that only links: no message bus, no session."""
    lab.programs("pipewire", "pw-cat", "pw-record", "pw-link", package="pipewire-bin")
    lab.programs("wireplumber", package="wireplumber")
    config = lab.folder / "pipewire.conf"
    config.write_text(PIPEWIRE)
    folder = str(lab.folder)
    environment = lab.environment(
        lab.text, PIPEWIRE_RUNTIME_DIR=folder, XDG_RUNTIME_DIR=folder, XDG_STATE_HOME=folder, PIPEWIRE_REMOTE="tactus")
    servers = [lab.serve(["pipewire", "-c", str(config)], dict(environment, PIPEWIRE_DEBUG="3"))]
    links = lambda: lab.run(["pw-link", "-iol"], environment)[1]
    lab.wait_for("PipeWire", lambda: "stage_in:capture_FR" in links() and "stage_out:playback_FR" in links())
    servers.append(lab.serve(["wireplumber", "-c", "policy.conf"], environment))
    recording = lab.start(
        ["pw-record", "--target", "stage_in", "--rate", "48000", "--channels", "2", "--format", "s16", str(lab.take)], environment)
    lab.wait_for("pw-record", lambda: "|-> pw-record:input_FR" in links() and lab.listening())
    lab.finish(lab.start(["pw-cat", "-p", "--target", "stage_out", str(lab.wav)], environment))
    played = lab.take.stat().st_size
    lab.wait_for("the rest", lambda: lab.take.stat().st_size > played + 4 * RATE)
    recording.send_signal(signal.SIGINT)
    lab.finish(recording, code=(0, 1))  # 1: so it ends when it is interrupted
    for server in reversed(servers):
        server.terminate()
        lab.finish(server)
    lab.nothing_said()
    lab.compare(lab.take)


def alsaloop(lab):
    """From a listener to a talker: aplay, alsaloop, arecord, three programs on two streams."""
    lab.programs("aplay", "arecord", "alsaloop", package="alsa-utils")
    environment = lab.environment(lab.text + lab.pair("play2", "record2", 2))
    loop = lab.serve(["alsaloop", "-C", "record", "-P", "play2", *SHAPE, "-t", "200000", "-S", "none"], environment)
    lab.wait_for("alsaloop", lab.listening)
    lab.record(arecord("record2", lab.take), environment, ["aplay", "-q", "-D", "play", str(lab.wav)], environment, lab.take,
               others=1)
    loop.send_signal(signal.SIGINT)
    lab.finish(loop, code=(0, 1, -signal.SIGINT))
    lab.compare(lab.take)


def speaker_test(lab):
    """A sine of 1000 Hz arrives as one."""
    lab.programs("speaker-test", "arecord", package="alsa-utils")
    environment = lab.environment(lab.text)
    command = "speaker-test -D play -c 2 -r 48000 -F S16_LE -t sine -f 1000 -s 1".split()
    lab.record(arecord("record", lab.take), environment, command, environment, lab.take)
    data = lab.take.read_bytes()[44:]
    left = struct.unpack(f"<{len(data) // 2}h", data)[::2]
    begin = next((i for i, value in enumerate(left) if value), len(left))
    window = left[begin + 4800:begin + 4800 + 24000]
    energy = sum(value * value for value in window)
    parts = [sum(value * part(2 * math.pi * i / 48) for i, value in enumerate(window)) for part in (math.sin, math.cos)]
    share = (parts[0] ** 2 + parts[1] ** 2) / (energy * len(window) / 2) if energy else 0
    print(f"{share:.4f} of the energy is at 1000 Hz")
    lab.check(share > 0.99 or lab.excused(), f"only {share} of the energy is at 1000 Hz")
    lab.check(max(window, default=0) > 8000, "it is hardly to be heard")


CASES = dict(
    alsa_utils=alsa_utils, sox=sox, ffmpeg=ffmpeg, gstreamer=gstreamer, jack=jack, pipewire=pipewire,
    alsaloop=alsaloop, speaker_test=speaker_test,
)
case = side_by_side.named(CASES)
if case is None:
    side_by_side.run(list(CASES), together=len(CASES))
lab = Programs()
CASES[case](lab)
lab.end()
