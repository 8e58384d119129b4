#!/usr/bin/env python3
"""`tactus equal`: what it calls equal, explained and different, and what it says to a person.

usage: test_equal.py TACTUS
"""
import json
import pathlib
import struct
import subprocess
import sys
import tempfile
import unittest

from sound import FORMATS, noise, sample, wav, write_wav

TACTUS = sys.argv[1] if len(sys.argv) > 1 else "tactus"
RATE, CHANNELS, FRAMES, LEAD = 48000, 2, 6000, 1234


class Equal(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)
        self.path = pathlib.Path(self.folder.name)
        self.frames = noise("S16_LE", CHANNELS, FRAMES)
        self.source = self.write("source.wav", self.frames)

    def write(self, name, data, form="S16_LE", rate=RATE, channels=CHANNELS):
        return write_wav(self.path / name, form, rate, channels, data)

    def recording(self, *parts):
        """S16 stereo after LEAD frames of silence: bytes, or a number of silent frames."""
        body = b"".join(p if isinstance(p, bytes) else bytes(4 * p) for p in parts)
        return self.write("recording.wav", bytes(4 * LEAD) + body + bytes(4 * 500))

    def report(self, role, *events, unkept=0, name=None):
        path = self.path / (name or f"{role}.json")
        path.write_text(json.dumps({
            "role": role, "events_unkept": unkept,
            "events": [{"kind": k, "frame": f, "frames": n, "time_tai_ns": 0} for k, f, n in events]}))
        return ["--report", str(path)]

    def equal(self, *arguments):
        run = subprocess.run([TACTUS, "equal", *map(str, arguments)], capture_output=True, text=True,
                             timeout=60, check=False)
        self.assertNotIn(run.returncode, (-6, -11), run.stderr)
        return run.returncode, run.stdout, run.stderr

    def assert_says(self, code, text, *arguments):
        got, out, err = self.equal(*arguments)
        self.assertEqual(got, code, out + err)
        self.assertIn(text, out + err)

    def cut(self, begin, end):
        return self.frames[4 * begin:4 * end]

    def test_every_format_bit_for_bit(self):
        for form, (_, _, size) in FORMATS.items():
            with self.subTest(form):
                data = noise(form, 3, 2000)
                source = self.write("a.wav", data, form, channels=3)
                recorded = self.write("b.wav", bytes(size * 3 * 77) + data, form, channels=3)
                self.assert_says(0, "bit-exact: 2000 of 2000 frames", source, recorded)
                wrong = bytearray(data)
                wrong[size * 3 * 1000 + 1] ^= 1
                recorded = self.write("b.wav", bytes(size * 3 * 77) + bytes(wrong), form, channels=3)
                self.assert_says(1, "1999 of 2000 frames are equal", source, recorded)
                self.assert_says(1, "source frames 1000-1000 (1): recording 1077-1077", source, recorded)

    def test_24_bits_in_three_and_in_four_bytes_are_the_same(self):
        values = [(i * 2654435761) % (1 << 32) | 256 for i in range(4000)]
        three = b"".join(sample("S24_3LE", v) for v in values)
        four = b"".join(sample("S24_LE", v) for v in values)
        unsigned = b"".join(struct.pack("<I", v >> 8) for v in values)
        a = self.write("a.wav", three, "S24_3LE")
        self.assert_says(0, "bit-exact: 2000 of 2000", a, self.write("b.wav", four, "S24_LE"))
        self.assert_says(0, "bit-exact: 2000 of 2000", a, self.write("b.wav", unsigned, "S24_LE"))

    def test_raw(self):
        little = self.path / "little.raw"
        little.write_bytes(bytes(400) + self.frames)
        big = self.path / "big.raw"
        big.write_bytes(b"".join(self.frames[i + 1:i + 2] + self.frames[i:i + 1]
                                 for i in range(0, len(self.frames), 2)))
        self.assert_says(0, "bit-exact: 6000 of 6000", self.source, little, "--raw", "S16_LE,2")
        self.assert_says(0, "bit-exact: 6000 of 6000", self.source, big, "--raw", "s16_be,2")
        self.assert_says(1, "no part of", self.source, big, "--raw", "S16_LE,2")
        self.assert_says(2, "needs --raw", self.source, big)

    def test_extensible_header(self):
        body = wav("S16_LE", RATE, CHANNELS, self.frames)[44:]
        guid = bytes.fromhex("000000001000800000aa00389b71")
        fmt = struct.pack("<HHIIHHHHIH", 0xFFFE, 2, RATE, RATE * 4, 4, 16, 22, 16, 3, 1) + guid
        path = self.path / "x.wav"
        path.write_bytes(b"RIFF" + struct.pack("<I", 60 + len(body)) + b"WAVEfmt "
                         + struct.pack("<I", len(fmt)) + fmt + b"data" + struct.pack("<I", len(body))
                         + body)
        self.assert_says(0, "bit-exact: 6000 of 6000", path, self.source)

    def test_lost_frames_are_explained_by_the_listener_alone_where_they_are(self):
        recorded = self.recording(self.cut(0, 2000), 60, self.cut(2060, FRAMES))
        self.assert_says(1, "5940 of 6000", self.source, recorded)
        for kind in ("late", "lost"):
            good = self.report("listener", (kind, LEAD + 2000, 60))
            self.assert_says(4, f"{kind} (60 frames)", self.source, recorded, *good)
        wide = self.report("listener", ("late", LEAD + 1900, 100), ("lost", LEAD + 2000, 200))
        self.assert_says(4, "account for every place", self.source, recorded, *wide)
        for frame, frames in ((LEAD + 2001, 60), (LEAD + 1999, 60), (2000, 60), (LEAD + 2000, 59)):
            bad = self.report("listener", ("late", frame, frames))
            self.assert_says(1, "NOT EXPLAINED", self.source, recorded, *bad)
        for kind in ("absent", "start", "resync", "clock", "xrun"):
            bad = self.report("listener", (kind, LEAD + 2000, 60))
            self.assert_says(1, "NOT EXPLAINED", self.source, recorded, *bad)

    def test_dropped_frames_are_explained_by_the_talker(self):
        recorded = self.recording(self.cut(0, 2000), 60, self.cut(2060, FRAMES))
        for kind in ("dropped", "refused"):
            good = self.report("talker", (kind, 2000, 60))
            self.assert_says(4, f"{kind} (60 frames)", self.source, recorded, *good)
        both = self.report("talker", ("dropped", 2000, 30)) + self.report(
            "listener", ("late", LEAD + 2030, 30))
        self.assert_says(4, "late (30 frames), dropped (30 frames)", self.source, recorded, *both)
        bad = self.report("talker", ("dropped", LEAD + 2000, 60))
        self.assert_says(1, "NOT EXPLAINED", self.source, recorded, *bad)

    def test_each_kind_of_event_has_its_own_sentence(self):
        recorded = self.recording(self.cut(0, 2000), 60, self.cut(2060, FRAMES))
        sentences = {"late": "after their presentation", "lost": "did not arrive", "dropped": "not be sent in time",
                     "refused": "interface did not take"}
        for kind, words in sentences.items():
            role, frame = ("listener", LEAD + 2000) if kind in ("late", "lost") else ("talker", 2000)
            _, out, _ = self.equal(self.source, recorded, *self.report(role, (kind, frame, 60)))
            for other, text in {**sentences, "xrun": "too slow"}.items():
                self.assertEqual(text in out, other == kind, out)
        shifted = self.recording(self.cut(0, 2000), 700, self.cut(2000, FRAMES))
        _, out, _ = self.equal(self.source, shifted, *self.report("talker", ("xrun", 2000, 0)))
        self.assertIn("xrun: a program was too slow", out)

    def test_one_is_singular(self):
        recorded = self.recording(self.cut(0, 2000), 1, self.cut(2001, FRAMES))
        bad = self.report("listener", unkept=1)
        self.assert_says(1, "5999 of 6000 frames are equal, 1 is not, in 1 place", self.source, recorded)
        self.assert_says(1, "1 of 1 place (1 frame) is not explained", self.source, recorded, *bad)
        self.assert_says(1, "1 event was not kept", self.source, recorded, *bad)
        good = self.report("listener", ("late", LEAD + 2000, 1))
        self.assert_says(4, "late (1 frame)", self.source, recorded, *good)
        mono = self.write("mono.wav", self.frames, channels=1)
        self.assert_says(2, "has 1 channel and", mono, self.source)
        one = self.write("one.wav", self.cut(0, 1))
        self.assert_says(0, "bit-exact: 1 of 1 frame\n", one, one)

    def test_a_sentence_has_one_end(self):
        text = self.path / "text.wav"
        text.write_text("no sound")
        self.assert_says(2, "recognised; a file without", text, self.source)

    def test_wrong_sound_is_not_explained_by_an_event_elsewhere(self):
        wrong = bytes(b ^ 1 for b in self.cut(2000, 2010))
        recorded = self.recording(self.cut(0, 2000), wrong, self.cut(2010, FRAMES))
        bad = self.report("listener", ("late", LEAD + 3000, 60))
        self.assert_says(1, "1 of 1 place (10 frames) is not explained", self.source, recorded, *bad)

    def test_a_slow_player_shifts_the_rest(self):
        recorded = self.recording(self.cut(0, 2000), 700, self.cut(2000, FRAMES))
        self.assert_says(1, "700 frames more in the recording", self.source, recorded)
        good = self.report("talker", ("xrun", 2000, 0))
        self.assert_says(4, "xrun", self.source, recorded, *good)
        for frame in (1999, 2001):
            bad = self.report("talker", ("xrun", frame, 0))
            self.assert_says(1, "NOT EXPLAINED", self.source, recorded, *bad)
        cut_short = self.recording(self.cut(0, 2000), 700, self.cut(2004, FRAMES))
        self.assert_says(4, "xrun", self.source, cut_short, *self.report("talker", ("xrun", 2000, 4)))
        self.assert_says(1, "NOT EXPLAINED", self.source, cut_short,
                         *self.report("talker", ("xrun", 2000, 0)))

    def test_silence_while_the_player_was_slow(self):
        recorded = self.recording(self.cut(0, 2000), 700, self.cut(2000, FRAMES))
        good = self.report("talker", ("silence", 2000, 700))
        self.assert_says(4, "silence: a program was too slow to write, and", self.source, recorded, *good)
        for frame, frames in ((1999, 700), (2001, 700), (2000, 699), (2000, 706)):
            bad = self.report("talker", ("silence", frame, frames))
            self.assert_says(1, "NOT EXPLAINED", self.source, recorded, *bad)
        # And packets in front of it that were not sent.
        recorded = self.recording(self.cut(0, 1994), 706, self.cut(2000, FRAMES))
        good = self.report("talker", ("refused", 1994, 6), ("silence", 2000, 700))
        self.assert_says(4, "refused (6 frames), silence", self.source, recorded, *good)

    def test_a_slow_recorder_leaves_frames_out(self):
        recorded = self.recording(self.cut(0, 2000), self.cut(2500, FRAMES))
        self.assert_says(1, "5500 of 6000", self.source, recorded)
        good = self.report("listener", ("xrun", LEAD + 2000, 300))
        self.assert_says(4, "xrun (500 frames)", self.source, recorded, *good)
        bad = self.report("listener", ("xrun", LEAD + 2500, 300))
        self.assert_says(1, "NOT EXPLAINED", self.source, recorded, *bad)

    def test_a_recorder_that_stops_through_the_end(self):
        recorded = self.recording(self.cut(0, 2000), 5000)
        report = self.report("listener", ("xrun", LEAD + 2000, 300))
        self.assert_says(4, "xrun (4000 frames)", self.source, recorded, *report)
        late = self.report("listener", ("late", LEAD + 2000, 60), ("xrun", LEAD + 2060, 300))
        self.assert_says(4, "late (60 frames), xrun (3940 frames)", self.source, recorded, *late)
        for frame in (LEAD + 1999, LEAD + 2001):
            bad = self.report("listener", ("xrun", frame, 300))
            self.assert_says(1, "NOT EXPLAINED", self.source, recorded, *bad)

    def test_a_recorder_that_stops_at_the_start(self):
        recorded = self.recording(self.cut(500, FRAMES))
        good = self.report("listener", ("xrun", LEAD, 600))
        self.assert_says(4, "xrun (500 frames)", self.source, recorded, *good)
        bad = self.report("listener", ("xrun", LEAD + 1, 600))
        self.assert_says(1, "NOT EXPLAINED", self.source, recorded, *bad)

    def test_events_that_were_not_kept_are_named(self):
        recorded = self.recording(self.cut(0, 2000), 60, self.cut(2060, FRAMES))
        bad = self.report("listener", unkept=7)
        self.assert_says(1, "7 events were not kept", self.source, recorded, *bad)

    def test_a_recording_that_ends_early(self):
        recorded = self.write("recording.wav", self.cut(0, 5000))
        self.assert_says(1, "source frames 5000-5999 (1000): not in the recording", self.source, recorded)

    def test_what_cannot_be_aligned(self):
        silent = self.write("silent.wav", bytes(4 * 1000))
        self.assert_says(4, "is silent, and silence can be found anywhere", silent, self.source)
        self.assert_says(1, "is silent: 0 of 6000", self.source, silent)
        self.assert_says(1, "no part of", self.source, self.write("x.wav", noise("S16_LE", 2, 6000, 2)))
        dropped = self.report("talker", ("dropped", 0, FRAMES))
        self.assert_says(4, "every one of its frames", self.source, silent, *dropped)

    def test_json(self):
        recorded = self.recording(self.cut(0, 2000), 60, self.cut(2060, FRAMES))
        report = self.report("listener", ("lost", LEAD + 2000, 60))
        code, out, _ = self.equal(self.source, recorded, "--json", *report)
        found = json.loads(out)
        self.assertEqual(code, 4)
        self.assertEqual(found["verdict"], "explained")
        self.assertEqual((found["source_frames"], found["equal_frames"]), (6000, 5940))
        self.assertEqual(found["unexplained_frames"], 0)
        self.assertEqual(found["explained_frames"], {"lost": 60})
        self.assertEqual(found["segments"], [{"source": 0, "recording": LEAD, "frames": 6000}])
        self.assertEqual(found["differences"], [{
            "source": 2000, "source_frames": 60, "recording": LEAD + 2000, "recording_frames": 60,
            "shift": False, "explained": True, "events": ["lost"]}])
        code, out, _ = self.equal(self.source, self.source, "--json")
        self.assertEqual((code, json.loads(out)["verdict"]), (0, "exact"))

    def test_wrong_usage_says_what_would_do(self):
        other_rate = self.write("rate.wav", self.frames, rate=44100)
        mono = self.write("mono.wav", self.frames, channels=1)
        real = self.write("float.wav", noise("FLOAT_LE", 2, 100), "FLOAT_LE")
        empty = self.write("empty.wav", b"")
        junk = self.path / "junk.json"
        junk.write_text("{}")
        self.assert_says(2, "a source and a recording")
        self.assert_says(2, "No such file", self.source, self.path / "none.wav")
        self.assert_says(2, "44100 Hz", self.source, other_rate)
        self.assert_says(2, "has 1: they cannot", self.source, mono)
        self.assert_says(2, "no bits in common", self.source, real)
        self.assert_says(2, "holds no frames", empty, self.source)
        self.assert_says(2, "not the report", self.source, self.source, "--report", junk)
        self.assert_says(2, "cannot use the report", self.source, self.source, "--report", self.source)
        self.assert_says(2, "such as S24_LE,8", self.source, self.source, "--raw", "S24")
        self.assert_says(2, "such as S24_LE,8", self.source, self.source, "--raw", "S16_LE,0")


if __name__ == "__main__":
    program = unittest.main(argv=sys.argv[:1], exit=False)
    bad = len(program.result.failures) + len(program.result.errors)
    print(f"{program.result.testsRun - bad} passed, {bad} failed")
    sys.exit(1 if bad else 0)
