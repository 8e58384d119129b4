#!/usr/bin/env python3
"""`tactus midi dump` and `tactus midi convert`: files made by hand, read by a reader of the test's own.

usage: test_midi_files.py TACTUS CORPUS (of the fuzz target smf: a file with each fault there is)"""

import json
import os
import pathlib
import random
import resource
import signal
import subprocess
import sys
import tempfile
import time
import unittest

import midi

TACTUS, CORPUS = sys.argv[1], pathlib.Path(sys.argv[2])
NOTE = b"\x90\x3c\x40"
S = 10**9


def run(*arguments, **options):
    done = subprocess.run([TACTUS, "midi", *map(str, arguments)], capture_output=True, text=True, timeout=60,
                          check=False, **options)
    assert done.returncode >= 0, done
    return done.returncode, done.stdout, done.stderr


class Files(unittest.TestCase):
    def setUp(self):
        scratch = tempfile.TemporaryDirectory()
        self.addCleanup(scratch.cleanup)
        self.path = pathlib.Path(scratch.name)

    def write(self, name, data):
        path = self.path / name
        path.write_bytes(data)
        return path

    def convert(self, data, code=0, *options):
        log = self.write("take.raw", data)
        (self.path / "take.mid").unlink(missing_ok=True)
        got, out, err = run("convert", log, self.path / "take.mid", *options)
        self.assertEqual(got, code, out + err)
        return out + err

    def test_ticks_are_the_stamps_rounded(self):
        rng = random.Random(1)
        stamps = sorted(rng.randrange(1 * S, 3600 * S) for _ in range(2000))
        self.convert(midi.header(S) + b"".join(midi.frame(t, NOTE) for t in stamps) + midi.frame(3601 * S, kind=midi.END))
        division, tracks = midi.read_smf(self.path / "take.mid")
        self.assertEqual(division, 25000)
        self.assertEqual(tracks[0][0], (0, b"\xff\x51\x07\xa1\x20"))
        self.assertIn(b"recorded from 2026-01-01T00:00:00.000000000Z", tracks[0][1][1])
        ticks = [tick for tick, data in tracks[1] if data == NOTE]
        self.assertEqual(ticks, [(t - S + 10000) // 20000 for t in stamps])
        self.assertEqual(tracks[1][-1][0], 3600 * S // 20000)
        code, out, _ = run("dump", "--json", self.path / "take.mid")
        shown = json.loads(out)
        times = [event["time_ns"] for event in shown["events"] if event["kind"] == "message"]
        self.assertEqual(code, 0)
        self.assertEqual(times, [tick * 20000 for tick in ticks])

    def test_ports_losses_and_gaps(self):
        log = (midi.header() + midi.frame(S, b"left", midi.NAME, 1) + midi.frame(S, bytes([midi.KERNEL]), midi.STAMP, 1)
               + midi.frame(S, b"right", midi.NAME, 7) + midi.frame(2 * S, b"\xf0" + bytes(15), port=1)
               + midi.frame(2 * S + 20000, NOTE, port=7) + midi.frame(2 * S + 40000, b"\xf8\x01\xf7", port=1)
               + midi.loss(3 * S, 3 * S + 40000, 5, 1) + midi.frame(4 * S, NOTE, port=1)
               + midi.frame(5 * S, kind=midi.GONE, port=7) + midi.frame(6 * S, kind=midi.BACK, port=7)
               + midi.frame(7 * S, kind=midi.END))
        said = self.convert(log, 1)
        self.assertIn("1 loss in recording", said)
        _, tracks = midi.read_smf(self.path / "take.mid")
        self.assertEqual(len(tracks), 3)
        self.assertEqual(tracks[1], [
            (0, b"\xff\x03left"), (0, b"\xff\x01stamps: kernel framing"),
            (50000, b"\xf0" + bytes(15) + b"\x01\xf7"), (50002, b"\xf7\xf8"),
            (100000, b"\xff\x06lost: 5 bytes between 2.000000000 s and 2.000040000 s"),
            (150000, NOTE), (300000, b"\xff\x2f")])
        self.assertEqual(tracks[2], [
            (0, b"\xff\x03right"), (0, b"\xff\x01stamps: unknown"), (50001, NOTE),
            (200000, b"\xff\x06port gone at 4.000000000 s"), (250000, b"\xff\x06port back at 5.000000000 s"),
            (300000, b"\xff\x2f")])
        code, out, err = run("dump", self.path / "take.raw")
        self.assertEqual(code, 1, err)
        for text in ("LOST: 5 bytes", 'port 1: "left", stamps: kernel framing', "the port is gone",
                     "last byte 0.000040000 s later"):
            self.assertIn(text, out)
        code, out, _ = run("dump", "--json", self.path / "take.raw")
        shown = json.loads(out)
        self.assertEqual((code, shown["lost"], shown["ended"]), (1, True, True))
        self.assertEqual([e["kind"] for e in shown["events"]],
                         ["message", "sysex", "message", "loss", "message", "gone", "back"])
        self.assertEqual((shown["events"][1]["first_ns"], shown["events"][1]["last_ns"]), (S, S + 40000))

    def test_a_log_that_was_cut_off(self):
        whole = midi.header() + b"".join(midi.frame(S + i, NOTE) for i in range(100))
        self.assertIn("not ended by its recorder", self.convert(whole, 0))
        self.assertIn("the last one is not whole", self.convert(whole[:-7], 1))
        _, tracks = midi.read_smf(self.path / "take.mid")
        self.assertEqual(sum(data == NOTE for _, data in tracks[1]), 99)
        said = self.convert(whole + bytes(32), 1)
        self.assertIn("1 frame cannot be read", said)
        self.assertIn("1 times: a blank frame", said)
        self.assertEqual(run("dump", self.path / "take.raw")[0], 1)

    def test_a_damaged_frame_makes_no_port(self):
        """Any bit of its type, port or length: counted and located, and what it held is in no track of another."""
        names = midi.frame(S, b"left", midi.NAME) + midi.frame(S, bytes([midi.READ]), midi.STAMP)
        log = bytearray(midi.header() + names + b"".join(midi.frame(S + i * 20000, NOTE) for i in range(100)))
        at = 64 + 32 * 50
        for byte, value in ((0, 0x40), (0, 0x87), (1, 0x83), (2, 0xFF), (2, 0x01), (2, 0x20)):
            with self.subTest(byte=byte, value=value):
                damaged = bytearray(log)
                damaged[at + byte] = value
                said = self.convert(bytes(damaged), 1)
                self.assertIn("1 frame cannot be read", said)
                _, tracks = midi.read_smf(self.path / "take.mid")
                self.assertEqual(len(tracks), 2)
                self.assertEqual(sum(data == NOTE for _, data in tracks[1]), 99)
                code, out, _ = run("dump", self.path / "take.raw")
                self.assertEqual(code, 1)
                self.assertEqual(out.count(f"warning at byte {at}: "), 1)
                self.assertEqual(out.count("\nport "), 1)
        for byte, value in ((32 + 2, 0xFF), (2, 0xFF)):  # its stamp or its name
            damaged = bytearray(log)
            damaged[64 + byte] = value
            self.assertIn("1 times: a frame of a port that the log does not have", self.convert(bytes(damaged), 1))
            _, tracks = midi.read_smf(self.path / "take.mid")
            self.assertEqual([sum(data == NOTE for _, data in track) for track in tracks], [0, 100])

    def test_a_damaged_stamp_moves_no_other(self):
        """One flipped bit of a time: that frame is left out, counted and located, and no other is moved."""
        log = bytearray(midi.header() + b"".join(midi.frame(S + i * S // 100, NOTE) for i in range(100))
                        + midi.frame(3 * S, kind=midi.END))
        for at, byte, bit in ((20, 7, 4), (50, 8, 1), (50, 11, 5), (99, 11, 5)):  # 0.27 s, 2 s, 17 years
            with self.subTest(frame=at, byte=byte):
                damaged = bytearray(log)
                damaged[64 + 32 * at + byte] ^= 1 << bit
                self.assertIn("1 times: a stamp that the frames around it contradict", self.convert(bytes(damaged), 1))
                _, tracks = midi.read_smf(self.path / "take.mid")
                self.assertEqual([tick for tick, data in tracks[1] if data == NOTE], [i * 500 for i in range(100) if i != at])
                self.assertEqual(tracks[1][-1][0], 100000)
                code, out, _ = run("dump", self.path / "take.raw")
                self.assertEqual(code, 1)
                self.assertIn(f"warning at byte {64 + 32 * at}: a stamp that the frames around it contradict", out)
        # The last of all, with nothing behind it: 30 years are no silence.
        self.assertIn("contradict", self.convert(midi.header() + midi.frame(S, NOTE) + midi.frame(10**9 * S, NOTE), 1))

    def test_a_damaged_start(self):
        """The header has its times twice. All is where it was in the file, and it is said that the start may be off."""
        times = midi.header(S)[16:40]
        good = midi.header(S)[:40] + times + midi.frame(S + 1000, b"p", midi.NAME) + midi.frame(3 * S, NOTE) * 2
        self.assertIn("2 events", self.convert(good))
        kept = midi.read_smf(self.path / "take.mid")
        for bit in (8 * 16 + 43, 8 * 40 + 43, 8 * 20):
            bad = bytearray(good)
            bad[bit // 8] ^= 1 << bit % 8
            self.assertIn("the times in the header", self.convert(bytes(bad), 1))
            self.assertEqual(midi.read_smf(self.path / "take.mid")[1][1], kept[1][1])
            code, out, _ = run("dump", self.path / "take.raw")
            self.assertEqual(code, 1)
            self.assertIn("warning at byte 16: the header's times are damaged", out)
            self.assertIn(" 2.000000000    0  note on", out)

    def test_a_time_before_the_start(self):
        """A loss can begin before the log does, as one that the port's buffer already had."""
        log = self.write("take.raw", midi.header() + midi.frame(S, NOTE) + midi.loss(S - 47419, 2 * S, 5))
        self.assertIn("1.000000000    0  LOST: 5 bytes since       -0.000047419\n", run("dump", log)[1])

    def test_names_that_are_no_utf_8(self):
        """Nothing is left out of JSON for a name."""
        log = self.write("take.raw", midi.header() + midi.frame(S, b"l\xe9ft", midi.NAME) +
                         midi.frame(S, bytes([midi.READ]), midi.STAMP) + midi.frame(S, NOTE))
        folder = os.fsencode(self.path)
        name, out = folder + b"/t\xe9.raw", folder + b"/\xff.mid"
        os.link(log, name)
        for arguments, key, value in ((["dump"], "source", r"t\xE9.raw"), (["convert"], "output", r"\xFF.mid")):
            done = subprocess.run([TACTUS, "midi", *arguments, "--json", name, *([out] if arguments == ["convert"] else [])],
                                  capture_output=True, check=False, timeout=60)
            shown = json.loads(done.stdout)
            self.assertTrue(shown[key].endswith("/" + value), shown[key])
        self.assertEqual(json.loads(run("dump", "--json", log)[1])["ports"][0]["name"], r"l\xE9ft")
        done = subprocess.run([TACTUS, "midi", "dump", "--json", out], capture_output=True, check=False, timeout=60)
        self.assertTrue(json.loads(done.stdout)["source"].endswith(r"/\xFF.mid"))

    def test_what_is_printed_is_there_or_not_all_is_well(self):
        log = self.write("take.raw", midi.header() + midi.frame(S, NOTE) + midi.frame(2 * S, kind=midi.END))
        for arguments in (["dump", log], ["dump", "--json", log], ["--help"], ["dump", "--help"], ["list", "--json"],
                          ["convert", log, self.path / "x.mid"], ["convert", "--json", log, self.path / "y.mid"]):
            for end in (">/dev/full", ">&-"):
                with self.subTest(arguments=arguments, end=end):
                    for made in self.path.glob("*.mid"):
                        made.unlink()
                    done = subprocess.run(["sh", "-c", f'exec "$@" {end}', "sh", TACTUS, "midi", *map(str, arguments)],
                                          stderr=subprocess.PIPE, text=True, check=False, timeout=60)
                    self.assertEqual(done.returncode, 3, done.stderr)
                    self.assertRegex(done.stderr, "^(.*no MIDI port here.*\n)?[^\n]*standard output[^\n]*\n$")  # one reason

    def test_takes_are_split_after_silence(self):
        times = [2 * S, 2 * S + 5, 9 * S, 9 * S + 7 * 20000, 13 * S, 40 * S]
        notes = [NOTE, b"\x3c\x00", b"\x3e\x40", b"\x3e\x00", b"\x40\x40", b"\x40\x00"]  # one running status through all
        said = self.convert(midi.header() + b"".join(map(midi.frame, times, notes)) + midi.frame(41 * S, kind=midi.END),
                            0, "--split", "5s")
        self.assertIn("6 events of 1 port in 3 files", said)
        heard = [[event for event in midi.read_smf(self.path / f"take-0{i}.mid")[1][1] if event[1][0] == 0x90]
                 for i in (1, 2, 3)]
        self.assertEqual(heard, [[(0, NOTE), (0, b"\x90\x3c\x00")],
                                 [(0, b"\x90\x3e\x40"), (7, b"\x90\x3e\x00"), (200000, b"\x90\x40\x40")],
                                 [(0, b"\x90\x40\x00")]])

    def test_no_message_is_split(self):
        """A message that a silence lies in stays whole, and where its first byte was; the next silence splits."""
        times = [2 * S, 3 * S, 12 * S, 12 * S + 20000, 30 * S]
        said = self.convert(midi.header() + b"".join(map(midi.frame, times, [NOTE, b"\xf0\x01", b"\x02\xf7", NOTE, NOTE])) +
                            midi.frame(41 * S, kind=midi.END), 0, "--split", "5s")
        self.assertIn("4 events of 1 port in 2 files", said)
        heard = [[event for event in midi.read_smf(self.path / f"take-0{i}.mid")[1][1] if event[1][0] != 0xFF]
                 for i in (1, 2)]
        self.assertEqual([[tick for tick, _ in one] for one in heard], [[0, 50000, 500001], [0]])
        self.assertEqual(heard[0][1][1][0], 0xF0)

    def test_no_file_is_written_over(self):
        log = self.write("take.raw", midi.header() + b"".join(midi.frame(i * 10 * S, NOTE) for i in (1, 2, 3)))
        mine = self.write("mine.mid", b"mine")
        code, _, err = run("convert", log, mine)
        self.assertEqual((code, mine.read_bytes()), (2, b"mine"))
        self.assertIn("mine.mid is there already", err)
        third = self.write("take-03.mid", b"mine")
        code, _, err = run("convert", log, self.path / "take.mid", "--split", "5s")
        self.assertEqual((code, third.read_bytes()), (2, b"mine"))
        self.assertEqual(sorted(path.name for path in self.path.iterdir()), ["mine.mid", "take-03.mid", "take.raw"])
        third.unlink()
        code, out, _ = run("convert", log, self.path / "take.mid", "--split", "5s", "--json")
        shown = json.loads(out)
        self.assertEqual((code, shown["files"], shown["events"], shown["ports"], shown["ended"]), (0, 3, 3, 1, False))

    def test_names_at_their_limits(self):
        log = self.write("take.raw", midi.header() + midi.frame(2 * S, NOTE))
        nowhere = self.path / "nowhere.mid"
        nowhere.symlink_to(self.path / "none")
        for name, code, said in (("nowhere.mid", 2, "is there already"), ("x" * 256, 2, "File name too long"), ("x" * 255, 0, "")):
            with self.subTest(name):
                self.assertEqual((run("convert", log, self.path / name)[0], said in run("convert", log, self.path / name)[2]),
                                 (code, True))
        self.assertEqual(len(list(self.path.iterdir())), 3)

    @staticmethod
    def has_open(process, path):
        folder = f"/proc/{process.pid}/fd"
        try:
            return any(os.path.samefile(f"{folder}/{name}", path) for name in os.listdir(folder))
        except OSError:  # one that is gone by now
            return False

    def test_interrupted(self):
        """At any time: there is the whole file or none, and nothing beside it."""
        log = self.write("take.raw", midi.header() + b"".join(midi.frame(i * S // 10000, NOTE) for i in range(200000)))
        out, chance, caught = self.path / "take.mid", random.Random(1), 0
        start = time.monotonic()
        self.assertEqual(run("convert", log, out)[0], 0)
        takes = time.monotonic() - start
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP) * 50:
            if caught >= 6:
                break
            out.unlink(missing_ok=True)
            process = subprocess.Popen([TACTUS, "midi", "convert", log, out], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
            while process.poll() is None and not self.has_open(process, log):
                pass  # until then it has not even begun
            time.sleep(takes * chance.uniform(0, 0.9))
            process.send_signal(number)
            err = process.communicate(timeout=60)[1]
            self.assertEqual(sorted(path.name for path in self.path.iterdir()), ["take.mid"] * out.exists() + ["take.raw"])
            if out.exists():
                self.assertEqual((process.returncode, len(midi.read_smf(out)[1][1])), (0, 200003), err)
                takes *= 0.7  # it is quicker now
            else:
                self.assertEqual((process.returncode, "interrupted" in err), (4, True), err)
                caught += 1
        self.assertGreater(caught, 0)

    def test_a_gap_longer_than_a_delta(self):
        self.convert(midi.header() + midi.frame(S, NOTE) + midi.frame(20000 * S, NOTE), 0)
        _, tracks = midi.read_smf(self.path / "take.mid")
        ticks = [tick for tick, data in tracks[1] if data == NOTE]
        self.assertEqual(ticks, [0, 19999 * S // 20000])
        self.assertEqual(sum(data == b"\xff\x01" for _, data in tracks[1]), 3)

    def test_a_riff_container(self):
        self.assertIn("is a RIFF container (.rmi)", run("dump", self.write("a.rmi", b"RIFF\x20\0\0\0RMIDdata"))[2])

    def test_each_fault_is_shown_with_its_offset(self):
        for path in sorted(CORPUS.iterdir()):
            with self.subTest(path.name):
                code, out, err = run("dump", path)
                self.assertNotIn("Sanitizer", err)
                if code == 2:
                    self.assertIn("neither a raw MIDI log nor a Standard MIDI File", err)
                    continue
                code2, as_json, _ = run("dump", "--json", path)
                shown = json.loads(as_json)
                self.assertEqual(code, code2)
                self.assertEqual(code, 1 if shown["lost"] else 0)
                for warning in shown["warnings"]:
                    self.assertIn(f"warning at byte {warning['offset']}: {warning['text']}", out)
                self.assertEqual(out.count("warning at byte"), len(shown["warnings"]))
                self.assertLessEqual(max((w["offset"] for w in shown["warnings"]), default=0), path.stat().st_size)

    def test_text_is_no_danger_to_a_terminal(self):
        text = b'\x1b[2J"\\\xff\n'
        track = b"\0\xff\x01" + bytes([len(text)]) + text + b"\0\xff\x2f\0"
        path = self.write("x.mid", b"MThd\0\0\0\6\0\1\0\1\0\x60MTrk" + len(track).to_bytes(4, "big") + track)
        code, out, _ = run("dump", path)
        self.assertEqual(code, 0)
        self.assertIn(r'text "\x1B[2J\"\\\xFF\x0A"', out)

    def test_full_disk_leaves_no_half_file(self):
        log = self.write("take.raw", midi.header() + b"".join(midi.frame(S + i, NOTE) for i in range(5000)))

        def limit():
            resource.setrlimit(resource.RLIMIT_FSIZE, (8192, 8192))
            signal.signal(signal.SIGXFSZ, signal.SIG_DFL)  # Python ignores it

        code, _, err = run("convert", log, self.path / "take.mid", preexec_fn=limit)
        self.assertEqual(code, 3, err)
        self.assertIn("cannot write", err)
        self.assertEqual([path.name for path in self.path.iterdir()], ["take.raw"])

    def test_wrong_usage(self):
        log = self.write("take.raw", midi.header())
        smf = next(CORPUS.glob("nothing-wrong"))
        for arguments, text in (
                ((), "Usage: tactus midi COMMAND"), (("dmup", "x"), "no command `dmup`"),
                (("dump",), "give a Standard MIDI File or a raw log"), (("dump", self.path / "none"), "No such file"),
                (("dump", "a", "b"), "what is b?"), (("dump", self.write("empty", b"")), "is empty: neither"),
                (("dump", self.write("short", midi.header()[:20])), "it ends at byte 20, within its header of 64"),
                (("dump", self.write("one", midi.header()[:1])), "it ends at byte 1, within its header of 64"),
                (("dump", self.write("later", midi.header()[:8] + b"\2" + midi.header()[9:])), "of a later version of Tactus"),
                (("dump", self.write("junk", b"\x90\x3c\x40" * 40)), "it does not begin with MThd (at byte 0 of 120)"),
                (("dump", self.write("cut", b"MThd\0\0\0\6\0")), "it ends within its header (at byte 9 of 9)"),
                (("dump", self.path), "it is a folder"), (("dump", "/dev/null"), "it is no regular file"), (("dump", ""), "without a name"),
                (("convert", log, ""), "has no name"), (("convert", log, self.path), "is a folder"),
                (("convert", log, "/nowhere/at/all.mid"), "the folder is not there"),
                (("convert", log), "give a raw log and the file to write"),
                (("convert", log, log), "is the log itself"), (("convert", smf, "x.mid"), "is a Standard MIDI File already"),
                (("convert", log, "x.mid", "--split", "5"), "give a number with a unit")):
            with self.subTest(arguments=arguments):
                code, out, err = run(*arguments)
                self.assertEqual(code, 2, out + err)
                self.assertIn(text, err)


if __name__ == "__main__":
    program = unittest.main(argv=sys.argv[:1], exit=False)
    bad = len(program.result.failures) + len(program.result.errors)
    print(f"{program.result.testsRun - bad} passed, {bad} failed")
    sys.exit(1 if bad else 0)
