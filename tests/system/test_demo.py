#!/usr/bin/env python3
"""The main job, end to end: aplay through the plugin, a veth pair and the plugin to arecord, as `./dev demo` does it.

usage: test_demo.py SOURCE_ROOT BUILD_ROOT [--all]
Short noise in every rate, format and number of channels at the largest PDU that fits the MTU: a selection in which each
value comes twice; --all: every combination. A machine may be too busy, which is exit code 4: every frame that differs
lies where the reports say late, lost, dropped or xrun. What must never be is a frame that differs without a reason.
"""
import concurrent.futures
import itertools
import json
import os
import pathlib
import signal
import struct
import subprocess
import sys
import tempfile
import time
import unittest

from sound import FORMATS, noise, write_wav

ROOT, BUILD = map(pathlib.Path, sys.argv[1:3])
ALL = "--all" in sys.argv
DEMO = ROOT / "tools/demo.sh"
AT_ONCE = 2

RATES, CHANNELS = (8000, 44100, 96000, 192000), (1, 2, 8, 32)
SELECTION = (
    (8000, "S16_LE", 1), (8000, "S24_3LE", 32), (44100, "S24_LE", 2), (44100, "FLOAT_LE", 8),
    (44100, "S32_LE", 32), (96000, "S32_LE", 1), (96000, "S16_LE", 8), (192000, "S24_3LE", 2),
    (192000, "S24_LE", 8), (192000, "FLOAT_LE", 32),
)


def demo(out, *arguments, **environment):
    return subprocess.run([DEMO, *arguments], capture_output=True, text=True, timeout=120, check=False,
                          env={**os.environ, "BUILD": str(BUILD), "DEMO_OUT": str(out), **environment})


def namespaces_refused():
    run = subprocess.run(["unshare", "-Urn", "true"], capture_output=True, text=True, check=False)
    return run.stderr.strip() if run.returncode else None


class Demo(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.path = pathlib.Path(folder.name)

    def assert_honest(self, run, out, frames):
        """Equal, or every difference accounted for; and the files and figures are there."""
        self.assertIn(run.returncode, (0, 4), run.stdout + run.stderr)
        figures = json.loads((out / "figures.json").read_text())
        verdicts = {figures["recording"]["verdict"], figures["capture"]["verdict"]}
        self.assertLessEqual(verdicts, {"exact"} if run.returncode == 0 else {"exact", "explained"})
        self.assertEqual(figures["recording"]["source_frames"], frames)
        if run.returncode == 0:
            self.assertEqual(run.stdout.count(f"bit-exact: {frames} of {frames} frames"), 2, run.stdout)
            self.assertEqual(figures["capture"]["equal_frames"], frames)
            self.assertGreater(figures["watch"]["streams"][0]["pdus"], 0)
        for name in ("source.wav", "recording.wav", "capture.pcap", "extracted.wav", "talker.json",
                     "listener.json"):
            self.assertTrue((out / name).exists(), name)

    def cell(self, rate, form, channels):
        name = f"{rate}-{form}-{channels}"
        out = self.path / name
        out.mkdir()
        source = write_wav(self.path / f"{name}.wav", form, rate, channels, noise(form, channels, rate))
        run = demo(out, source, DEMO_LARGEST_PDU="1")
        self.assert_honest(run, out, rate)
        for file in out.iterdir():
            file.unlink()
        return run.returncode

    def test_matrix(self):
        cells = list(itertools.product(RATES, FORMATS, CHANNELS)) if ALL else SELECTION
        with concurrent.futures.ThreadPoolExecutor(AT_ONCE) as pool:
            runs = [(cell, pool.submit(self.cell, *cell)) for cell in cells]
            for cell, run in runs:
                with self.subTest(cell):
                    print(*cell, "bit-exact" if run.result() == 0 else "explained", flush=True)

    def test_rootless(self):
        out = self.path / "out"
        source = write_wav(self.path / "a.wav", "S16_LE", 48000, 2, noise("S16_LE", 2, 48000))
        run = demo(out, source, DEMO_ROOTLESS="1")
        self.assert_honest(run, out, 48000)
        self.assertIn("real-time priority is refused", run.stdout)

    def test_what_aplay_cannot_play_is_converted_and_that_is_said(self):
        data = noise("S24_3LE", 2, 24000)
        big = b"".join(data[i:i + 3][::-1] for i in range(0, len(data), 3))
        sun = self.path / "sun.au"
        sun.write_bytes(struct.pack(">4sIIIII", b".snd", 24, len(big), 4, 48000, 2) + big)
        out = self.path / "out"
        run = demo(out, sun)
        self.assert_honest(run, out, 24000)
        self.assertIn("converted exactly to a WAV of S24_3LE", run.stdout)
        self.assertTrue((out / "source.wav").read_bytes().endswith(data))

    def test_what_cannot_be_sent_is_refused_in_words(self):
        frames = noise("S16_LE", 1, 3000)
        slow = write_wav(self.path / "slow.wav", "S16_LE", 11025, 1, frames)
        wide = write_wav(self.path / "wide.wav", "S16_LE", 48000, 300, frames)
        empty = write_wav(self.path / "empty.wav", "S16_LE", 48000, 1, b"")
        text = self.path / "text.wav"
        text.write_text("no sound at all")
        for path, words in ((slow, "176.4 and 192 kHz"), (wide, "1 to 256"), (empty, "no sound"),
                            (text, "cannot read"), (self.path / "none.wav", "cannot read")):
            run = demo(self.path / "out", path)
            self.assertEqual(run.returncode, 2, run.stdout + run.stderr)
            self.assertIn(words, run.stderr)

    def test_an_interrupt_leaves_nothing_running(self):
        out = self.path / "out"
        mark = f"demo-{os.getpid()}-{time.monotonic_ns()}"
        run = subprocess.Popen([DEMO], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                               env={**os.environ, "BUILD": str(BUILD), "DEMO_OUT": str(out), "MARK": mark})
        deadline = time.monotonic() + 30
        while not (out / "recording.wav").exists() and time.monotonic() < deadline:
            time.sleep(0.05)
        run.send_signal(signal.SIGINT)
        text, _ = run.communicate(timeout=30)
        self.assertEqual(run.returncode, 130, text)
        self.assertEqual(marked(mark), [])


def marked(mark):
    """Command lines of the processes that have this in their environment."""
    found = []
    for process in pathlib.Path("/proc").glob("[0-9]*"):
        try:
            if mark.encode() in (process / "environ").read_bytes():
                found.append((process / "cmdline").read_bytes().replace(b"\0", b" ").decode())
        except OSError:
            continue
    return found


if __name__ == "__main__":
    refused = namespaces_refused()
    if refused:
        print(f"no namespaces can be made here: {refused}")
        sys.exit(77)
    program = unittest.main(argv=sys.argv[:1], exit=False)
    bad = len(program.result.failures) + len(program.result.errors)
    print(f"{max(0, program.result.testsRun - bad)} passed, {bad} failed")
    sys.exit(1 if bad else 0)
