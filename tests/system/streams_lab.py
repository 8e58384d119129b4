"""What a case of test_streams.py has: a network namespace with a veth pair, commands in it, their JSON lines, and
the socket on which they tell a service manager how they are.

Nothing here waits for a time: a case goes on when a program says that it is so far, and TIMEOUT_S only ends what
hangs.
"""
import json
import os
import pathlib
import select
import signal
import socket
import struct
import subprocess
import tempfile
import threading
import time

TALKER, LISTENER = "va", "vb"
TIMEOUT_S = 180
signal.signal(signal.SIGHUP, signal.SIG_DFL)  # under nohup(1) it would be ignored by what is started here
# A busy machine is neither late nor too slow to read or write.
EASY = ["--mtt", "900ms", "--buffer", "10s"]


class Failure(Exception):
    pass


def check(condition, *what):
    if not condition:
        raise Failure(" ".join(map(str, what)))


def stream(number=1):
    return {"stream_id": f"02:00:00:00:00:01:{number:04X}", "dest": f"91:E0:F0:00:FE:{number:02X}"}


def options(number=1, **more):
    """The options of stream `number`; mtt 900ms, so that a busy machine is not late, is not among them."""
    keys = {**stream(number), **more}
    return [word for key, value in keys.items() for word in ("--" + key.replace("_", "-"), str(value))]


def write_streams(lab, name, streams, **common):
    path = lab.folder / name
    path.write_text(json.dumps({**common, "streams": streams}, indent=1))
    return path


def alsa_environment(folder, plugin_conf, devices):
    """In which the plugin of the build tree is found, and PCM definitions, {name: {key: value}}; nothing of the user's."""
    conf = folder / "plugin.conf"
    conf.symlink_to(pathlib.Path(plugin_conf).resolve())
    mine = folder / "mine.conf"
    mine.write_text("".join("\n".join([f"pcm.{name} {{ type tactus", *(f' {key} "{value}"' for key, value in keys.items()),
                                       "}\n"]) for name, keys in devices.items()))
    plugin = pathlib.Path(plugin_conf).parent / "libasound_module_pcm_tactus.so"
    asan = [w for w in subprocess.run(["ldd", plugin], capture_output=True, text=True, check=True).stdout.split()
            if w.startswith("/") and "libasan" in w]
    return {"ALSA_CONFIG_PATH": f"/usr/share/alsa/alsa.conf:{conf}:{mine}", "HOME": str(folder),
            "LD_PRELOAD": " ".join(asan), "ASAN_OPTIONS": "detect_leaks=0:verify_asan_link_order=0"}


def plugin_environment(lab, plugin_conf):
    return alsa_environment(lab.folder, plugin_conf, {
        name: {"ifname": ifname, "addr": stream(number)["dest"], "streamid": stream(number)["stream_id"], "mtt": "900ms",
               "format": "S16_LE", "rate": 48000, "channels": 2}
        for name, ifname, number in (("play", TALKER, 1), ("record", LISTENER, 2), ("card_out", TALKER, 3),
                                     ("card_in", LISTENER, 2))})


def wav_parts(data):
    """(format tag, channels, rate, bits, samples) of a WAV as its header says; it must fit the file."""
    check(data[:4] == b"RIFF" and data[8:12] == b"WAVE", "no RIFF WAVE:", data[:12])
    at, fmt = 12, None
    while True:
        name, size = data[at:at + 4], struct.unpack("<I", data[at + 4:at + 8])[0]
        check(at + 8 + size <= len(data), name, "claims", size, "bytes of", len(data) - at - 8)
        if name == b"fmt ":
            fmt = data[at + 8:at + 8 + size]
        if name == b"data":
            break
        at += 8 + size + size % 2
    tag, channels, rate, _, _, bits = struct.unpack("<HHIIHH", fmt[:16])
    if tag == 0xFFFE:
        tag = struct.unpack("<H", fmt[24:26])[0]
    return tag, channels, rate, bits, data[at + 8:at + 8 + size]


class Program:
    """A running command. `lines` are the JSON lines so far."""

    def __init__(self, lab, arguments, stdin=None, stdout=None, wait=True, **environment):
        self.socket = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
        self.told = []
        path = lab.folder / f"notify{len(lab.programs)}"
        self.socket.bind(str(path))
        self.errors_path = lab.folder / f"errors{len(lab.programs)}"
        self.arguments = [str(a) for a in arguments]
        with open(self.errors_path, "wb") as errors:
            self.process = subprocess.Popen(
                self.arguments, stdin=stdin if stdin is not None else subprocess.DEVNULL,
                stdout=subprocess.PIPE if stdout is None else stdout, stderr=errors,
                env={**os.environ, "NOTIFY_SOCKET": str(path), **environment})
        lab.programs.append(self)
        self.lines, self.text = [], b""
        self.reader = None
        if stdout is None:
            self.reader = threading.Thread(target=self.read)
            self.reader.start()
        if wait:
            self.wait_told("READY=1")

    def read(self):
        for line in self.process.stdout:
            self.text += line
            if line.startswith(b'{"final"'):
                self.lines.append(json.loads(line))

    def errors(self):
        return self.errors_path.read_text()

    def wait_told(self, word, times=1):
        until = time.monotonic() + TIMEOUT_S
        while sum(word in told for told in self.told) < times:
            if select.select([self.socket], [], [], 0.05)[0]:
                self.told += self.socket.recv(4096).decode().split("\n")
            elif self.process.poll() is not None:
                raise Failure(f"{self.arguments}: ended with {self.process.returncode}: {self.errors()}")
            check(time.monotonic() < until, self.arguments, "never said", word, self.errors())

    def wait_line(self, what, is_it):
        """Until a JSON line is as it should; returns it."""
        until = time.monotonic() + TIMEOUT_S
        seen = 0
        while time.monotonic() < until:
            while seen < len(self.lines):
                if is_it(self.lines[seen]):
                    return self.lines[seen]
                seen += 1
            check(self.process.poll() is None or not self.reader or self.reader.is_alive() or seen < len(self.lines),
                  self.arguments, "ended before", what, self.errors())
            time.sleep(0.02)
        raise Failure(f"{self.arguments}: {what} did not come: {self.lines[-1:]}: {self.errors()}")

    def end(self, code=0, number=None):
        """The last JSON line, or what was printed."""
        if number is not None:
            self.process.send_signal(number)
        try:
            got = self.process.wait(timeout=TIMEOUT_S)
        except subprocess.TimeoutExpired:
            raise Failure(f"{self.arguments} hangs: {self.errors()}") from None
        if self.reader:
            self.reader.join()
        check(got == code, self.arguments, "ended with", got, "and not", code, self.errors(), self.text.decode())
        if self.lines:
            check([line["final"] for line in self.lines] == [False] * (len(self.lines) - 1) + [True], "final")
            return self.lines[-1]
        return self.text.decode()


class Lab:
    def __init__(self, tactus):
        self.tactus = tactus
        self.programs = []
        self.temporary = tempfile.TemporaryDirectory(dir="/tmp")
        self.folder = pathlib.Path(self.temporary.name)
        for command in (f"ip link add {TALKER} type veth peer name {LISTENER}", f"ip link set {TALKER} up",
                        f"ip link set {LISTENER} up"):
            subprocess.run(command.split(), check=True)

    def talk(self, *arguments, **more):
        return Program(self, [self.tactus, "talk", "-i", TALKER, "--json", *arguments], **more)

    def listen(self, *arguments, **more):
        return Program(self, [self.tactus, "listen", "-i", LISTENER, "--json", "--buffer", "10s", *arguments], **more)

    def run(self, *arguments, code=0):
        """A command that ends by itself; (standard output, standard error)."""
        done = subprocess.run([self.tactus, *map(str, arguments)], capture_output=True, text=True, check=False,
                              timeout=TIMEOUT_S, stdin=subprocess.DEVNULL)
        check(done.returncode == code, arguments, "ended with", done.returncode, "and not", code, done.stdout, done.stderr)
        return done.stdout, done.stderr

    def end_listener(self, listener, code=0):
        """Once the talkers are gone and all that they sent has been presented."""
        listener.wait_line("the end of the streams", lambda line: all(
            s["counters"].get("pdus", 0) > 0 and not s["counters"]["talker_present"] for s in line["streams"]))
        return listener.end(code, number=signal.SIGINT)

    def close(self):
        for program in self.programs:
            if program.process.poll() is None:
                program.process.kill()
                program.process.wait()
            if program.reader:
                program.reader.join()
            program.socket.close()
        self.temporary.cleanup()
