#!/usr/bin/env python3
"""`tactus midi play` and `tactus midi jitter` over ptys: what is sent, and that nothing goes on sounding.

usage: test_midi_play.py TACTUS DEMO (tools/demo_midi.py)"""

import json
import os
import pathlib
import pty
import re
import select
import signal
import struct
import subprocess
import sys
import tempfile
import time
import tty
import unittest

import midi

TACTUS, DEMO = sys.argv[1:3]
LIMIT_S = 60
signal.signal(signal.SIGHUP, signal.SIG_DFL)  # under nohup(1) it would be ignored by what is started here


def smf(*tracks, form=1, division=25000):
    chunks = b"".join(b"MTrk" + struct.pack(">I", len(track) + 4) + track + b"\0\xff\x2f\0" for track in tracks)
    return b"MThd" + struct.pack(">IHHH", 6, form, len(tracks), division) + chunks


def number(value):
    made = [value & 127]
    while value := value >> 7:
        made.append(value & 127 | 128)
    return bytes(reversed(made))


def sounding(data):
    """The notes {(channel, note)} that an instrument plays after these bytes: channel messages, also by running status."""
    on, status, held = set(), 0, []
    for byte in data:
        if 0x80 <= byte < 0xF8:
            status, held = byte, []
        elif byte < 0x80:
            held.append(byte)
            if status & 0xE0 == 0x80 and len(held) == 2:
                (on.add if status >= 0x90 and held[1] > 0 else on.discard)((status & 15, held[0]))
            held = held[len(held) // 2 * 2:]
    return on


class Play(unittest.TestCase):
    def setUp(self):
        scratch = tempfile.TemporaryDirectory()
        self.addCleanup(scratch.cleanup)
        self.path = pathlib.Path(scratch.name)
        self.master, slave = pty.openpty()
        tty.setraw(slave)
        self.port = os.ttyname(slave)
        self.addCleanup(os.close, self.master)
        self.addCleanup(os.close, slave)

    def start(self, data, *options):
        path = self.path / "x.mid"
        path.write_bytes(data)
        return subprocess.Popen([TACTUS, "midi", "play", *options, path, self.port], text=True, stdout=subprocess.PIPE,
                                stderr=subprocess.PIPE)

    def read(self, size):
        data, end = b"", time.monotonic() + LIMIT_S
        while len(data) < size and time.monotonic() < end:
            if select.select([self.master], [], [], 0.1)[0]:
                data += os.read(self.master, 4096)
        return data

    def play(self, data, *options, code=0, size):
        player = self.start(data, *options)
        got = self.read(size)
        out, err = player.communicate(timeout=LIMIT_S)
        self.assertEqual(player.returncode, code, out + err)
        return got, out + err

    def test_tracks_are_merged_and_notes_ended(self):
        first = b"\0\x90\x3c\x40" + number(1000) + b"\x90\x3c\x00" + b"\0\xf0\x03\x01\x02\xf7" + b"\0\xff\x01\x01x"
        second = b"\0\xff\x03\x01a" + number(500) + b"\xc1\x05" + number(700) + b"\x91\x40\x40" + b"\0\xf7\x01\xf8"
        expected = (b"\x90\x3c\x40\xc1\x05\x90\x3c\x00\xf0\x01\x02\xf7\x91\x40\x40\xf8"
                    b"\xb0\x40\0\xb0\x7b\0\x81\x40\x40\xb1\x40\0\xb1\x7b\0")
        got, said = self.play(smf(first, second), size=len(expected))
        self.assertEqual(got.hex(), expected.hex())
        self.assertIn("6 of 6 events sent", said)
        self.assertIn("sent - due", said)
        shown = json.loads(self.play(smf(first, second), "--json", size=len(expected))[1])
        self.assertEqual((shown["events"], shown["sent"], shown["queue"], shown["lateness"]["n"]), (6, 6, False, 6))

    def test_a_tempo_in_another_track(self):
        slow = number(12500) + b"\x90\x3c\x40" + number(12500) + b"\x80\x3c\x40"
        before = time.monotonic()
        self.play(smf(b"\0\xff\x51\x03" + (100000).to_bytes(3, "big"), slow), size=12)
        self.assertGreaterEqual(time.monotonic() - before, 0.1)

    def test_interrupted(self):
        for number_of_signal in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT, signal.SIGALRM, signal.SIGUSR1,
                                 signal.SIGUSR2, signal.SIGXCPU, signal.SIGVTALRM):
            with self.subTest(number_of_signal):
                player = self.start(smf(b"\0\x92\x3c\x40" + number(25000 * 1000) + b"\x92\x3c\x00"))
                self.assertEqual(self.read(3), b"\x92\x3c\x40")
                player.send_signal(number_of_signal)
                self.assertEqual(self.read(9), b"\x82\x3c\x40\xb2\x40\0\xb2\x7b\0")
                player.communicate(timeout=LIMIT_S)
                self.assertEqual(player.returncode, 4)

    def test_notes_in_escapes(self):
        """What sounds is told from the bytes, and not from how a file has them in events."""
        for name, events, notes in (
                ("several messages", (b"\xf7\x06\x90\x3c\x40\x92\x40\x40",), 2),
                ("running status inside", (b"\xf7\x07\x93\x3c\x40\x3d\x40\x3e\x40",), 3),
                ("running status across", (b"\x94\x3c\x40", b"\xf7\x02\x40\x40"), 2),
                ("a note in pieces", (b"\xf7\x01\x95", b"\xf7\x01\x3c", b"\xf7\x01\x40"), 1),
                ("a clock in its midst", (b"\xf7\x02\x96\x3c", b"\xf7\x01\xf8", b"\xf7\x01\x40"), 1),
                ("system exclusive before it", (b"\xf7\x07\xf0\x01\xf7\x97\x3c\x40\x3d", b"\xf7\x01\x40"), 2)):
            with self.subTest(name):
                piece = smf(b"".join(b"\0" + event for event in events))
                plain = sum(len(event) - 2 * (event[0] == 0xF7) for event in events)
                player = self.start(piece)
                sent = self.read(plain)
                self.assertEqual(len(sounding(sent[:plain])), notes)
                out, err = player.communicate(timeout=LIMIT_S)
                self.assertEqual(player.returncode, 0, out + err)
                while select.select([self.master], [], [], 0)[0]:
                    sent += os.read(self.master, 4096)
                self.assertEqual(sounding(sent), set(), sent.hex())

    def test_a_port_that_nobody_reads(self):
        """It is said what holds it up, and that does not keep it from ending."""
        player = self.start(smf(b"\0\x90\x3c\x40" * 20000), "--wire", "none")
        other = os.open(self.port, os.O_WRONLY | os.O_NOCTTY | os.O_NONBLOCK)
        self.addCleanup(os.close, other)
        self.wait_for(lambda: not select.select([], [other], [], 0)[1])
        full = self.sleeps(player)
        self.wait_for(lambda: self.sleeps(player) > full + 100)
        player.send_signal(signal.SIGINT)
        out, err = player.communicate(timeout=LIMIT_S)
        self.assertEqual(player.returncode, 4, out + err)
        self.assertRegex(out, "The port had no room [0-9]+ times?, and was tried again")
        self.assertIn(f"{self.port} took no more: 1 note may go on sounding", err)

    def wait_for(self, condition):
        end = time.monotonic() + LIMIT_S
        while not condition():
            self.assertLess(time.monotonic(), end, "it does not come")
            time.sleep(0.01)

    @staticmethod
    def sleeps(process):
        """How often its threads have gone to sleep."""
        texts = [path.read_text() for path in pathlib.Path(f"/proc/{process.pid}/task").glob("*/status")]
        return sum(int(re.search(r"\nvoluntary_ctxt_switches:\s*(\d+)", text).group(1)) for text in texts)

    def test_output_that_nobody_takes(self):
        """It ends all the same, and says that what it had to say is lost, whatever it did."""
        reader, writer = midi.full_pipe()
        self.addCleanup(lambda: [os.close(end) for end in (reader, writer)])
        piece = self.path / "x.mid"
        piece.write_bytes(smf(b"\0\x90\x01\x40"))
        for arguments in (("play", piece, self.port), ("play", "--json", piece, self.port), ("jitter", "--count", "2", "--load", "idle"),
                          ("jitter", "--json", "--clock", self.port, "--duration", "100ms")):
            with self.subTest(arguments=arguments):
                done = subprocess.run([TACTUS, "midi", *arguments], stdout=writer, stderr=subprocess.PIPE, text=True,
                                      timeout=LIMIT_S, check=False)
                self.assertEqual(done.returncode, 3, done.stderr)
                self.assertIn("standard output could not be written", done.stderr)

    def test_format_2_is_never_merged(self):
        pieces = smf(b"\0\x90\x01\x40", b"\0\x90\x02\x40", form=2)
        got, said = self.play(pieces, code=2, size=0)
        self.assertIn("format 2", said)
        _, said = self.play(pieces, "--track", "3", code=2, size=0)
        self.assertIn("has no track 3: it has 2", said)
        got, _ = self.play(pieces, "--track", "2", size=12)
        self.assertEqual(got[:3], b"\x90\x02\x40")

    def test_a_track_without_events(self):
        name = b"\0\xff\x03\x01a"
        piece = smf(name, b"\0\x90\x01\x40", name, b"\0\xf0\x02\x01\xf7")
        _, said = self.play(piece, "--track", "1", code=2, size=0)
        self.assertIn("track 1 of", said)
        self.assertIn("holds no events that can be played; those that do: 2, 4", said)
        self.assertIn("1 of 1 event sent", self.play(piece, "--track", "2", size=12)[1])
        self.assertIn("holds no events that can be played\n", self.play(smf(name), size=0)[1])

    def test_what_cannot_be(self):
        note = b"\0\x90\x01\x40"
        for data, options, code, said in ((smf(note, division=0), (), 2, "division of 0"), (b"junk", (), 2, "neither"),
                                          (smf(note), ("--wire", "x"), 2, "--wire x"),
                                          (smf(note), ("--queue",), 2, "has no queue"), (smf(note), ("more",), 2, "what is")):
            with self.subTest(said):
                self.assertIn(said, self.play(data, *options, code=code, size=0)[1])
        self.assertIn("something of", self.play(smf(note + b"\0\x90\x80\x01"), code=1, size=12)[1])

    def test_jitter(self):
        done = subprocess.run([TACTUS, "midi", "jitter", "--count", "50", "--gap", "2ms", "--json"], capture_output=True,
                              text=True, timeout=LIMIT_S, check=False)
        self.assertEqual(done.returncode, 0, done.stderr)
        rows = json.loads(done.stdout)["methods"]
        self.assertEqual([(row["method"], row["load"], row["sent"], row["lost"], row["duplicated"]) for row in rows],
                         [("pty: time of reading", load, 50, 0, 0) for load in ("idle", "loaded", "stopped")])
        self.assertTrue(all(row["error"]["n"] == 50 and row["clocks_lost"] == 0 and row["foreign"] == 0 for row in rows))
        # How late a reader is that stood still for a second depends on when the sender came up; the guest test knows.
        self.assertGreater(rows[2]["error"]["max_ns"], 0)
        table = subprocess.run([TACTUS, "midi", "jitter", "--count", "5", "--gap", "1ms", "--even", "--load", "idle"],
                               capture_output=True, text=True, timeout=LIMIT_S, check=False)
        self.assertRegex(table.stdout, r"pty: time of reading +idle +5 +0 ")

    def test_jitter_of_what_cannot_be(self):
        for arguments, code, said in ((("--out", self.port), 2, "--out needs an --in"), (("--in", self.port), 2, "--in needs an --out"),
                                      (("--clock", self.port, "--in", self.port), 2, "--clock only listens: not together with --in"),
                                      (("--clock", self.port, "--count", "9"), 2, "not together with --count"),
                                      (("--duration", "1s"), 2, "--duration is of --clock"),
                                      (("--load", "much"), 2, "give idle, loaded or stopped"),
                                      (("--count", "1"), 2, "give a number from 2 to"), (("--gap", "5"), 2, "give a number with a unit"),
                                      (("--out", self.port, "--in", "ticks:" + self.port), 2, "ticks: for the sequencer's"),
                                      (("--out", self.port, "--in", "hw:nosuch"), 3, "there is no sound card of hw:nosuch")):
            with self.subTest(arguments=arguments):
                done = subprocess.run([TACTUS, "midi", "jitter", *arguments], capture_output=True, text=True, timeout=LIMIT_S,
                                      check=False)
                self.assertEqual(done.returncode, code, done.stderr)
                self.assertIn(said, done.stderr)

    def test_demo(self):
        folder = self.path / "demo"
        folder.mkdir()
        for name in ("recorded.mid", "recorded.mid.raw"):  # left by an earlier one
            (folder / name).write_text("old")
        done = subprocess.run([sys.executable, DEMO, TACTUS, folder, "2"], capture_output=True, text=True, timeout=LIMIT_S,
                              check=False)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        self.assertIn("Every byte that was played was recorded, with its time.", done.stdout)
        self.assertEqual(sorted(path.name for path in folder.iterdir()), ["recorded.mid", "recorded.mid.raw", "take.mid"])

    def test_clock(self):
        listener = subprocess.Popen([TACTUS, "midi", "jitter", "--clock", self.port, "--duration", "1s", "--json"],
                                    text=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        while listener.poll() is None:
            os.write(self.master, b"\xf8\x90\xf8\x3c\x40")
            time.sleep(0.02)
        out, err = listener.communicate(timeout=LIMIT_S)
        self.assertEqual(listener.returncode, 0, err)
        found = json.loads(out)
        self.assertGreater(found["clocks"], 2)
        self.assertEqual(found["interval"]["n"] + found["pauses"], found["clocks"] - 1)
        self.assertGreater(found["bpm"], 0)

    def clock(self, *options):
        """Of a port that a listener has opened, which goes on until it is ended."""
        with (self.path / "said").open("w", encoding="utf-8") as err:
            listener = subprocess.Popen([TACTUS, "midi", "jitter", "--clock", self.port, "--json", *options], text=True,
                                        stdout=subprocess.PIPE, stderr=err)
        self.addCleanup(listener.kill)
        return listener

    def said(self):
        """By the listener, so far."""
        return (self.path / "said").read_text(encoding="utf-8")

    def heard(self, listener):
        """(exit code, its JSON)"""
        out = listener.communicate(timeout=LIMIT_S)[0]
        return listener.returncode, json.loads(out)

    def test_clock_from_before_the_start(self):
        """What waits in the port has no times that are known: it is left out, and said."""
        os.write(self.master, b"\xf8" * 100)
        found = self.heard(self.clock("--duration", "100ms"))[1]
        self.assertEqual((found["clocks"], found["bpm"], found["interval"]["n"], found["bytes_left_out"]), (0, None, 0, 100))
        self.assertIn("100 bytes that waited there from before the start are left out", self.said())
        self.assertIn("no MIDI clock", self.said())

    def started_clock(self):
        """It listens: a byte that was there before is gone."""
        os.write(self.master, b"\xf8")
        listener = self.clock("--duration", "10min")
        self.wait_for(lambda: listener.poll() is not None or "1 byte that waited" in self.said())
        return listener

    def test_clock_interrupted(self):
        listener = self.started_clock()
        listener.send_signal(signal.SIGINT)
        code, found = self.heard(listener)
        self.assertEqual((code, found["clocks"]), (4, 0), self.said())

    def test_clock_of_a_port_that_goes_away(self):
        self.master, slave = pty.openpty()
        tty.setraw(slave)
        self.port = os.ttyname(slave)
        listener = self.started_clock()
        os.close(slave)
        os.close(self.master)
        code, found = self.heard(listener)
        self.assertEqual((code, found["clocks"]), (3, 0), self.said())
        self.assertIn(f"{self.port} went away", self.said())

    def test_jitter_interrupted(self):
        """What was not sent is not lost."""
        sender = subprocess.Popen([TACTUS, "midi", "jitter", "--load", "idle", "--gap", "100ms", "--json"], text=True,
                                  stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        self.wait_for(lambda: len(list(pathlib.Path(f"/proc/{sender.pid}/task").iterdir())) > 2)
        time.sleep(0.2)
        sender.send_signal(signal.SIGINT)
        out, err = sender.communicate(timeout=LIMIT_S)
        self.assertEqual(sender.returncode, 4, err)
        row, = json.loads(out)["methods"]
        self.assertLess(row["sent"], 300)
        self.assertEqual(row["lost"], 0)


if __name__ == "__main__":
    program = unittest.main(argv=sys.argv[:1], exit=False)
    bad = len(program.result.failures) + len(program.result.errors)
    print(f"{program.result.testsRun - bad} passed, {bad} failed")
    sys.exit(1 if bad else 0)
