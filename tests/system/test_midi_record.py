#!/usr/bin/env python3
"""`tactus midi record` from ptys: nothing is lost, and what befalls a recording stands in it.

usage: test_midi_record.py TACTUS"""

import contextlib
import fcntl
import json
import os
import pathlib
import pty
import random
import re
import resource
import signal
import struct
import subprocess
import sys
import tempfile
import termios
import threading
import time
import tty
import unittest

import midi

TACTUS = sys.argv[1]
LIMIT_S = 60
KILLS = 12


def numbered(n):
    """A note on that says which it is."""
    return bytes([0x90, n >> 7 & 127, n & 127])


def namespace(case):
    """How to run a program that may mount."""
    for option in ("-m", "-Urm") if os.geteuid() == 0 else ("-Urm",):
        if subprocess.run(["unshare", option, "true"], capture_output=True, check=False).returncode == 0:
            return "unshare", option
    case.skipTest("this machine makes no mount namespace")


class Pty:
    """A serial port whose other end is ours."""

    def __init__(self):
        self.master, slave = pty.openpty()
        tty.setraw(slave)
        self.path = os.ttyname(slave)
        self.slave = slave

    def write(self, data):
        """(time before, time after)"""
        before = time.monotonic_ns()
        os.write(self.master, data)
        return before, time.monotonic_ns()

    def close(self):
        for end in (self.slave, self.master):
            os.close(end)


class Record(unittest.TestCase):
    def setUp(self):
        scratch = tempfile.TemporaryDirectory()
        self.addCleanup(scratch.cleanup)
        self.path = pathlib.Path(scratch.name)
        self.out = self.path / "take.mid"
        self.log = self.path / "take.mid.raw"

    def pty(self):
        made = Pty()
        self.addCleanup(lambda: made.master < 0 or made.close())
        return made

    def launch(self, command, **options):
        """Ended at the latest with the test."""
        process = subprocess.Popen(list(map(str, command)), text=True, **options)
        self.addCleanup(lambda: process.poll() is None and (process.kill(), process.wait()))
        return process

    def start(self, *arguments, **options):
        recorder = self.launch([TACTUS, "midi", "record", *arguments, self.out], stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                               **options)
        self.addCleanup(recorder.stderr.close)
        self.addCleanup(recorder.stdout.close)
        self.wait_for(lambda: recorder.poll() is not None or self.frames() > 0)
        return recorder

    def wait_for(self, condition):
        end = time.monotonic() + LIMIT_S
        while not condition():
            self.assertLess(time.monotonic(), end, "it does not come")
            time.sleep(0.005)

    def frames(self):
        """Whole frames in the log."""
        return (self.log.stat().st_size - 64) // 32 if self.log.exists() else 0

    def end(self, recorder, code=0):
        recorder.send_signal(signal.SIGINT)
        out, err = recorder.communicate(timeout=LIMIT_S)
        self.assertEqual(recorder.returncode, code, out + err)
        return out + err

    def dump(self):
        done = subprocess.run([TACTUS, "midi", "dump", "--json", self.log], capture_output=True, text=True, check=False)
        return json.loads(done.stdout)

    def wait_for_bytes(self, *counts):
        """Of each port, in the log: a pty may keep for a while what was written to it."""
        self.wait_for(lambda: [port["bytes"] for port in self.dump()["ports"]] == list(counts))

    def messages(self, port):
        return [event for event in self.dump()["events"] if event.get("port") == port and event["kind"] == "message"]

    def test_a_display_that_stands_still(self):
        """It costs what would have stood there, and is said."""
        for options in (("--live",), (), ("--json",)):
            with self.subTest(options=options):
                port, (reader, writer) = self.pty(), midi.full_pipe()
                recorder = self.launch([TACTUS, "midi", "record", *options, port.path, self.out], stdout=writer,
                                       stderr=subprocess.PIPE)
                self.record_400(port, recorder)
                err = recorder.communicate(timeout=LIMIT_S)[1]
                for end in (reader, writer):
                    os.close(end)
                self.assertEqual(recorder.returncode, 3, err)
                self.assertIn("standard output could not be written", err)
                self.assertTrue(self.whole(400))
                self.out.unlink()
                self.log.unlink()

    def record_400(self, port, recorder):
        """Notes, and tells it to end."""
        self.wait_for(lambda: self.frames() > 0)
        for number in range(400):
            port.write(bytes([0x90, number & 127, 64]))
        self.wait_for_bytes(3 * 400)
        recorder.send_signal(signal.SIGINT)

    def test_a_terminal_that_stands_still(self):
        """Ctrl-S holds up what is said on both standard output and standard error."""
        port, terminal = self.pty(), pty.openpty()
        self.addCleanup(lambda: [os.close(end) for end in terminal])
        recorder = self.launch([TACTUS, "midi", "record", port.path, self.out], stdout=terminal[1], stderr=terminal[1])
        self.wait_for(lambda: self.frames() > 0)
        os.write(terminal[0], b"\x13")
        self.record_400(port, recorder)
        self.assertEqual(recorder.wait(LIMIT_S), 3)
        self.assertTrue(self.whole(400))

    def tactus(self, *arguments, code):
        """What it says on standard error."""
        done = subprocess.run([TACTUS, "midi", *map(str, arguments)], capture_output=True, text=True, timeout=LIMIT_S,
                              check=False)
        self.assertEqual(done.returncode, code, done.stderr)
        return done.stderr

    def test_a_port_given_twice(self):
        port, other, link = self.pty(), self.pty(), self.path / "link"
        link.symlink_to(port.path)
        for again in (port.path, link, f"/dev/../{port.path}"):
            with self.subTest(again=again):
                said = self.tactus("record", port.path, other.path, again, self.out, code=2)
                self.assertIn(f"{port.path} and {again} are the same port", said)
                self.assertIn("are the same port", self.tactus("jitter", "--out", other.path, "--in", port.path, "--in",
                                                                f"read:{again}", code=2))
                self.assertFalse(self.log.exists())

    def test_a_port_that_another_reads(self):
        port, second = self.pty(), self.path / "second.mid"
        recorder = self.start(port.path)
        for arguments in (("record", port.path, second), ("jitter", "--clock", port.path)):
            said = self.tactus(*arguments, code=3)
            self.assertIn(f"{port.path} is in use by tactus (process {recorder.pid})", said)
        self.assertFalse(second.exists())
        self.end(recorder)

    def test_both_ways_of_a_port(self):
        """One plays where another records; the first to leave does not take the port's mode away from the other."""
        port, piece = self.pty(), self.path / "piece.mid"
        mode = termios.tcgetattr(port.slave)
        mode[0] |= termios.ICRNL
        termios.tcsetattr(port.slave, termios.TCSANOW, mode)
        piece.write_bytes(b"MThd\0\0\0\6\0\1\0\1\0\x60MTrk\0\0\0\x08\0\x90\x3c\x40\0\xff\x2f\0")
        recorder = self.start(port.path)
        done = subprocess.run([TACTUS, "midi", "play", piece, port.path], capture_output=True, text=True, check=False)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(os.read(port.master, 3), b"\x90\x3c\x40")
        port.write(b"\x90\x0d\x40")
        self.wait_for_bytes(3)
        self.assertEqual([event["bytes"] for event in self.messages(0)], ["900D40"])
        self.end(recorder)
        self.assertTrue(termios.tcgetattr(port.slave)[0] & termios.ICRNL)

    def test_who_watches_may_leave(self):
        port = self.pty()
        recorder = self.start("--live", port.path)
        recorder.stdout.close()
        for number in range(20):
            port.write(bytes([0x90, number, 64]))
            self.wait_for_bytes(3 * (number + 1))
        recorder.send_signal(signal.SIGINT)
        self.assertEqual(recorder.wait(LIMIT_S), 0)
        self.assertTrue(self.out.exists())

    def test_two_ports_and_their_times(self):
        ports = self.pty(), self.pty()
        recorder = self.start(*(port.path for port in ports))
        rng = random.Random(1)
        sent = [[], []]
        for i in range(300):
            which = rng.randrange(2)
            data = bytes([0x90 + which, i >> 7, i & 127])
            sent[which].append((ports[which].write(data)[0], data.hex().upper()))
            self.wait_for(lambda port=ports[which]: self.waiting(port) == 0)
            time.sleep(rng.random() / 1000)
        self.wait_for_bytes(*(3 * len(of) for of in sent))
        out = self.end(recorder)
        self.assertIn("300 events", out)
        _, tracks = midi.read_smf(self.out)
        start = self.dump()["start_mono_ns"]
        for which in range(2):
            seen = self.messages(which)
            self.assertEqual([event["bytes"] for event in seen], [data for _, data in sent[which]])
            for event, (before, _) in zip(seen, sent[which]):
                self.assertLessEqual(before, event["first_mono_ns"])
            self.assertEqual([tick for tick, data in tracks[1 + which] if data[0] == 0x90 + which],
                             [(event["first_mono_ns"] - start + 10000) // 20000 for event in seen])
            self.assertEqual(tracks[1 + which][0], (0, b"\xff\x03" + ports[which].path.encode()))
            self.assertEqual(tracks[1 + which][1], (0, b"\xff\x01stamps: time of reading"))

    @staticmethod
    def waiting(port):
        """Bytes in the pty that nobody has read yet."""
        return struct.unpack("i", fcntl.ioctl(port.slave, termios.FIONREAD, bytes(4)))[0]

    def test_nothing_is_lost_in_a_burst_with_a_reader_that_stands_still(self):
        port = self.pty()
        recorder = self.start(port.path)
        data = b"".join(map(numbered, range(8000)))
        os.set_blocking(port.master, True)
        recorder.send_signal(signal.SIGSTOP)
        writer = os.fork()
        if writer == 0:
            at = 0
            while at < len(data):
                at += os.write(port.master, data[at:at + 1000])
            os._exit(0)
        time.sleep(0.3)
        recorder.send_signal(signal.SIGCONT)
        os.waitpid(writer, 0)
        self.wait_for_bytes(len(data))
        self.end(recorder)
        self.assertEqual("".join(event["bytes"] for event in self.messages(0)), data.hex().upper())

    def test_killed(self):
        port = self.pty()
        recorder = self.start(port.path)
        for i in range(500):
            port.write(numbered(i))
        self.wait_for_bytes(1500)
        recorder.kill()
        recorder.wait()
        self.assertFalse(self.out.exists())
        self.assertFalse(self.dump()["ended"])
        done = subprocess.run([TACTUS, "midi", "convert", self.log, self.out], capture_output=True, text=True, check=False)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("500 events", done.stdout)
        again = self.start(port.path)
        _, err = again.communicate(timeout=LIMIT_S)
        self.assertEqual(again.returncode, 2)
        self.assertIn("never written over", err)

    def test_unplugged_and_back(self):
        first, other = self.pty(), self.pty()
        name = self.path / "port"
        name.symlink_to(first.path)
        recorder = self.start(name, other.path)
        first.write(b"\x90\x3c\x40\x90")
        self.wait_for(lambda: len(self.messages(0)) == 1)
        name.unlink()
        first.close()
        first.master = -1
        self.wait_for(lambda: "gone" in [event["kind"] for event in self.dump()["events"]])
        other.write(b"\xfe")
        second = self.pty()
        name.symlink_to(second.path)
        self.wait_for(lambda: "back" in [event["kind"] for event in self.dump()["events"]])
        second.write(b"\x3c\x00\x80\x3c\x40")  # the status of before the gap is not theirs
        self.wait_for(lambda: len(self.messages(0)) == 2)
        said = self.end(recorder)
        self.assertRegex(said, r"port +time of reading +9 +0 +1\n")
        _, tracks = midi.read_smf(self.out)
        data = [data for _, data in tracks[1]][2:]
        self.assertEqual([data[0], data[1]], [b"\x90\x3c\x40", b"\xf7\x90"])
        self.assertTrue(data[2].startswith(b"\xff\x06port gone at "))
        self.assertTrue(data[3].startswith(b"\xff\x06port back at "))
        self.assertEqual(data[4:], [b"\xf7\x3c", b"\xf7\x00", b"\x80\x3c\x40", b"\xff\x2f"])

    def test_killed_at_any_time(self):
        """While bytes come in, or while the file is made: what is there is whole, and goes on from the first."""
        rng, total = random.Random(1), 0
        for i in range(KILLS):
            port = self.pty()
            self.out = self.path / f"take-{i}.mid"
            self.log = self.path / f"take-{i}.mid.raw"
            recorder = self.start(port.path)
            with self.numbers_sent(port):
                time.sleep(rng.uniform(0, 0.1))
                if rng.random() < 0.5:
                    recorder.send_signal(signal.SIGINT)
                    time.sleep(rng.uniform(0, 0.03))
                recorder.kill()
                recorder.wait()
            with self.subTest(f"kill {i}"):
                heard = self.count_heard()
                if self.whole(heard):
                    self.out.unlink()
                self.tactus("convert", self.log, self.out, code=0)
                self.assertTrue(self.whole(heard))
                total += heard
        self.assertGreater(total, 0)

    def whole(self, count):
        """Whether there is a file; then it has so many notes."""
        if self.out.exists():
            notes = sum(data[0] == 0x90 for _, data in midi.read_smf(self.out)[1][1])
            self.assertEqual(notes, count)
        return self.out.exists()

    @contextlib.contextmanager
    def numbers_sent(self, port):
        """All the while."""
        end = threading.Event()
        sender = threading.Thread(target=self.send_numbers, args=(port, end))
        sender.start()
        yield
        end.set()
        sender.join()

    def count_heard(self):
        """How many numbered messages are in the log: all of them, from the first on."""
        heard = [event["bytes"] for event in self.messages(0)]
        self.assertEqual(heard, [numbered(n).hex().upper() for n in range(len(heard))])
        return len(heard)

    @staticmethod
    def send_numbers(port, end):
        os.set_blocking(port.master, False)
        at, data = 0, b"".join(map(numbered, range(1 << 14)))
        while at < len(data) and not end.is_set():
            try:
                at += os.write(port.master, data[at:at + 90])
            except BlockingIOError:
                pass
            time.sleep(0.0005)

    def test_full_disk(self):
        """A disk of its own, of a few pages."""
        port, kept, disk, said = self.pty(), self.path / "kept", self.path / "disk", self.path / "said"
        kept.mkdir()
        disk.mkdir()
        with said.open("w", encoding="utf-8") as err:
            recorder = self.launch(
                [*namespace(self), "sh", "-c", 'mount -t tmpfs -o size=24k none "$1" && "$2" midi record "$3" "$1/take.mid"; '
                 'code=$?; cp "$1"/* "$4"; exit $code', "sh", disk, TACTUS, port.path, kept], stderr=err)
        self.wait_for(lambda: recorder.poll() is not None or "recording into" in said.read_text(encoding="utf-8"))
        with self.numbers_sent(port):
            recorder.wait(LIMIT_S)
        err = said.read_text(encoding="utf-8")
        self.assertEqual(recorder.returncode, 3, err)
        self.assertRegex(err, r"cannot write .*take\.mid\.raw any more: No space left on device")
        self.assertIn("`tactus midi convert` makes a file of it", err)
        self.assertEqual([path.name for path in kept.iterdir()], ["take.mid.raw"])
        self.log = kept / "take.mid.raw"
        self.assertEqual((self.log.stat().st_size - 64) % 32, 0)
        self.assertGreaterEqual(self.log.stat().st_size, int(re.search(r"(\d+) bytes are confirmed", err).group(1)))
        heard = self.count_heard()
        self.assertGreater(heard, 100)
        self.tactus("convert", self.log, self.out, code=0)
        self.assertTrue(self.whole(heard))

    def test_a_limit_of_size(self):
        """A write that is cut within a frame: the log is cut back to whole ones."""
        port = self.pty()

        def limit():
            resource.setrlimit(resource.RLIMIT_FSIZE, (64 + 32 * 100 + 13, resource.RLIM_INFINITY))
            signal.signal(signal.SIGXFSZ, signal.SIG_DFL)  # Python ignores it

        recorder = self.start(port.path, preexec_fn=limit)
        with self.numbers_sent(port):
            _, err = recorder.communicate(timeout=LIMIT_S)
        self.assertEqual(recorder.returncode, 3, err)
        self.assertIn("cannot write", err)
        self.assertEqual(self.log.stat().st_size, 64 + 32 * 100)
        self.assertGreater(self.count_heard(), 90)

    def test_live_split_and_duration(self):
        port = self.pty()
        recorder = self.start(port.path, "--live", "--split", "200ms")
        port.write(b"\x90\x3c\x40")
        self.wait_for_bytes(3)
        time.sleep(0.3)
        port.write(b"\xfe\xfe\xf0\x01\xf7")
        self.wait_for(lambda: "sysex" in [event["kind"] for event in self.dump()["events"]])
        out = self.end(recorder)
        self.assertIn("  0  note on, channel 1, C4 (60), velocity 64\n", out)
        self.assertIn("  0  system exclusive: F0 01 F7\n", out)
        self.assertEqual(out.count("active sensing"), 1)
        self.assertEqual(sorted(path.name for path in self.path.glob("*.mid")), ["take-01.mid", "take-02.mid"])
        self.log.unlink()
        refused = self.start(port.path, "--split", "200ms")
        self.assertIn("take-01.mid is there already", refused.communicate(timeout=LIMIT_S)[1])
        self.assertEqual((refused.returncode, self.log.exists()), (2, False))
        timed = self.start(port.path, "--duration", "100ms")
        timed.communicate(timeout=LIMIT_S)
        self.assertEqual(timed.returncode, 0)

    def test_what_cannot_be(self):
        port = self.pty()
        text = self.path / "text"
        text.write_text("no port")
        for arguments, code, said in (
                ((port.path, "--weakest", "kernel"), 3, "gives weaker stamps than asked for: time of reading, not kernel"),
                (("hw:nosuch",), 3, "there is no sound card of hw:nosuch"), (("nonsense",), 2, "is no MIDI port"),
                (("hw:99999999999999999999",), 3, "there is no sound card of hw:999"), (("hw:77,0",), 3, "there is no sound card"),
                (("hw:0,x",), 2, "is no MIDI port"), (("hw:0,0,0,0",), 2, "is no MIDI port"), (("hw:",), 2, "is no MIDI port"),
                (("seq:",), 2, "is no MIDI port"), (("hw:0,",), 2, "is no MIDI port"), (("",), 2, "`` is no MIDI port"), (("/dev/nosuch",), 3, "there is no port"),
                ((text,), 2, "is no MIDI port"), (("/dev/null",), 2, "is no MIDI port"),
                ((), 2, "give a port"), ((port.path, "--json", "--live"), 2, "not together with --json"), ((port.path, "--weakest", "best"), 2, "give kernel, sequencer or read"),
                ((port.path, "--baud", "x"), 2, "--baud x: give a number")):
            with self.subTest(arguments=arguments):
                done = subprocess.run([TACTUS, "midi", "record", *map(str, arguments), self.out], capture_output=True,
                                      text=True, timeout=LIMIT_S, check=False)
                self.assertEqual(done.returncode, code, done.stderr)
                self.assertIn(said, done.stderr)
                self.assertFalse(self.log.exists())
        (self.path / "nowhere").symlink_to(self.path / "none")
        for name, said in (("", "has no name"), ("-", "needs a name"), (self.path, "is a folder"), (f"{self.path}/new/", "is a folder"),
                           (self.path / "none/take.mid", "none/take.mid: the folder is not there"),
                           (self.path / "nowhere", "is there already"), (self.path / ("x" * 252), "File name too long"),
                           (self.path / ("x" * 300), "File name too long")):
            with self.subTest(name=name):
                self.assertIn(said, self.tactus("record", "--duration", "10ms", port.path, name, code=2))
                self.assertEqual(sorted(path.name for path in self.path.iterdir()), ["nowhere", "text"])
        self.assertIn("none/take-01.mid: the folder is not there",
                      self.tactus("record", "--split", "1s", port.path, self.path / "none/take.mid", code=2))
        self.tactus("record", "--duration", "10ms", port.path, self.path / ("x" * 251), code=0)


if __name__ == "__main__":
    program = unittest.main(argv=sys.argv[:1], exit=False)
    bad = len(program.result.failures) + len(program.result.errors)
    for case, reason in program.result.skipped:
        print(f"{reason}\n[  SKIPPED ] {case}")
    skipped = len(program.result.skipped)
    print(f"{program.result.testsRun - bad - skipped} passed, {bad} failed, {skipped} skipped")
    sys.exit(1 if bad else 0)
