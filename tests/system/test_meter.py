#!/usr/bin/env python3
"""`tactus meter` as a person uses it: wrong input, short runs, their sums, comparisons, a soak; no figure of time is asserted.

usage: test_meter.py TACTUS"""

import html.parser
import json
import os
import pathlib
import pty
import signal
import subprocess
import sys
import tempfile
import time
import tty
import unittest

TACTUS = os.path.abspath(sys.argv[1])
LIMIT_S = 120
SHORT = ("--time", "200ms", "--compute", "10", "--no-trace")
NOBODY = ("setpriv", "--reuid", "65534", "--clear-groups", "--inh-caps=-all")
EXPECTED = 200 * 48 // 64  # periods of 64 frames


class Meter(unittest.TestCase):
    def setUp(self):
        scratch = tempfile.TemporaryDirectory()
        self.addCleanup(scratch.cleanup)
        self.path = pathlib.Path(scratch.name)

    def start(self, *arguments, before=(), **options):
        process = subprocess.Popen([*before, TACTUS, "meter", *map(str, arguments)], text=True,
                                   **{"cwd": self.path, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE, **options})
        self.addCleanup(self.end, process)
        return process

    def end(self, process):
        if process.poll() is None:
            process.kill()
            process.communicate()

    def ended(self, process, codes=(0, 1, 4)):
        out, said = process.communicate(timeout=LIMIT_S)
        self.assertIn(process.returncode, codes, f"{out}{said}")
        return out, said

    def meter(self, *arguments, codes=(0, 1, 4), **options):
        return self.ended(self.start(*arguments, **options), codes)

    def saved(self, name, *arguments):
        out, _ = self.meter(*SHORT, "--json", *arguments)
        (self.path / name).write_text(out)
        return json.loads(out)


class WrongInput(Meter):
    def save(self, name, content):
        (self.path / name).write_text(json.dumps(content))

    def refused(self, *arguments, says, code=2):
        out, said = self.meter(*arguments, codes=(code,))
        self.assertEqual(out, "")
        self.assertIn(says, said)

    def test_buffers(self):
        for buffer in ("64", "64x", "1x64", "64x17", "8x3", "64x3@", "64x3@999", "64x3x2", "x", "", "-64x3", "64x3,"):
            with self.subTest(buffer):
                self.refused("--buffer", buffer, says="is no buffer")

    def test_options(self):
        self.refused("--load", "disk", says="idle, proc, write")
        self.refused("compare", "cpu=4000", "cpu=0", says="there is no processor 4000; this machine has 0 to")
        self.refused("compare", "cpu=0", "run=", says="run= takes a command")
        _, said = self.meter("--device", "null", "--time", "1s", "--load", "idle", codes=(3,))
        self.assertIn("keeps no time", said)
        self.refused("--policy", "batch", says="fifo, rr, deadline or other")
        self.refused("--compute", "100", says="from 0 to 99")
        self.refused("--cpu", "4096", says="give a number from 0")
        self.refused("--time", "5", says="with a unit")
        self.refused("--for", "0s", says="with a unit")
        self.refused("--round-trip", "hw:0", says="needs --device")
        self.refused("--log", "x", says="belongs to --for")
        self.refused("64x3", says="given by --buffer")
        self.refused("--full", "--buffer", "64x3", says="give one of them")
        self.refused("--require", "64x3", "--full", says="give one of them")
        self.refused("--for", "1s", "--full", says="leave out --full")
        self.refused("--for", "1s", "--time", "1s", says="leave out --full, --tuned and --time")
        self.refused("--for", "1s", "--load", "idle,proc", says="under one load")
        self.refused("--for", "1s", "--buffer", "64x3,timer", says="gives 2")
        self.refused("compare", "--buffer", "64x3,timer", "default", "default", says="give one buffer")
        self.refused("--require", "many", says="is no buffer")
        self.refused("--policy", "other", "--priority", "5", says="--priority belongs to")
        self.refused("--policy", "deadline", "--priority", "5", says="--priority belongs to")
        self.refused("compare", "default", "policy=other,priority=5", says="a priority belongs to")
        self.refused("compare", "--priority", "5", "policy=other", "policy=deadline", says="neither has it")

    def test_times(self):
        self.refused("--for", "1ms", says="--for 1 ms is shorter than 3x64 (4 ms)")
        self.refused("--time", "1s", "--buffer", "64x3,16384x4", says="--time 1 s is shorter than 4x16384 (1.37 s)")
        self.refused("compare", "--time", "100ms", "--buffer", "16384x2", "default", "default", says="(683 ms)")

    def test_pages_before_time_is_spent(self):
        self.refused("--for", "8h", "--log", "one", "--html", "./one", says="--log and --html are one file")
        (self.path / "link").symlink_to("target")
        self.refused("--for", "8h", "--log", "target", "--html", "link", says="--log and --html are one file")
        (self.path / "link").unlink()
        self.refused("--for", "8h", "--log", "-", says="--log takes the name of a file")
        self.refused("--html", "", says="--html takes the name of a file, and this one is empty")
        self.refused("--folder", "/etc/passwd", says="--folder /etc/passwd is a file and not a folder")
        for page in ("no/such/page.html", "."):
            with self.subTest(page):
                self.refused("--for", "8h", "--html", page, says=f"cannot write {page}: ", code=3)
        self.refused("--for", "8h", "--log", "no/such.jsonl", says="cannot write no/such.jsonl: ", code=3)
        self.assertEqual(os.listdir(self.path), [])

    def test_what_is_not_there(self):
        self.refused("--midi", "/nonexistent/port", says="there is no port", code=3)
        self.refused("--midi", "nonsense", says="is no MIDI port")
        for arguments, words in ((("--load", "idle", "--device", "hw:99"), "cannot open hw:99"),
                                 (("--load", "write", "--folder", "/nonexistent"), "No such file")):
            self.assertIn(words, self.meter(*SHORT, *arguments, codes=(3,))[1])

    def test_comparisons(self):
        self.refused("compare", says="give two settings")
        self.refused("compare", "default", says="give two settings")
        self.refused("compare", "a", "b", "c", says="what is c? Give two settings")
        self.refused("compare", "priority=0", "default", says="what is `priority=0`")
        self.refused("compare", "policy=", "default", says="what is `policy=`")
        self.refused("compare", "--pairs", "3", "default", "default", says="--pairs 3")
        (self.path / "x.json").write_text("{}")
        (self.path / "bad.json").write_text("{")
        (self.path / "lines.json").write_text('{"elapsed_ns": 1}\n{"elapsed_ns": 2}\n')
        (self.path / "empty.json").write_text("")
        again = "Measure again, with `tactus meter --json > "
        self.refused("compare", "x.json", "x.json", says="x.json: not what `tactus meter --json` makes")
        self.refused("compare", "x.json", "bad.json", says=again + "x.json`")
        self.refused("compare", "bad.json", "x.json", says="bad.json: no whole JSON object, in line 1: ")
        self.refused("compare", "lines.json", "x.json", says="lines.json: no whole JSON object, in line 2: ")
        self.refused("compare", "empty.json", "x.json", says=again + "empty.json`")
        self.refused("compare", "x.json", "none.json", says="x.json is a file, and there is no file none.json")
        self.refused("compare", "tuned", "x.json", says="x.json is a file, and there is no file tuned")
        (self.path / "y.json").write_text('{"rows": []}')
        self.refused("compare", "y.json", "y.json", says="measured nothing in common")
        self.refused("compare", "y.json", "y.json", "--load", "idle", says="no option but --json")

    def test_damaged_results(self):
        good = {"length_ns": 10**8, "median_late_ns": [5] * 12, "misses": [0] * 12}
        for damage, says in (({"median_late_ns": [1.5] * 12}, "median_late_ns is no time"),
                             ({"median_late_ns": ["x"] * 12}, "median_late_ns is no time"),
                             ({"median_late_ns": [-5] * 12}, "median_late_ns is no time"),
                             ({"median_late_ns": [2**62] * 12}, "median_late_ns is no time"),
                             ({"misses": [-1] * 12}, "misses is no count"),
                             ({"misses": [0] * 11}, "not as many misses"), ({"misses": {}}, "not as many misses"),
                             ({"length_ns": 0}, "no length_ns"), ({"length_ns": 2**62}, "no length_ns"),
                             ({"median_late_ns": [5] * 2000, "misses": [0] * 2000}, "more windows than")):
            with self.subTest(says):
                self.save("odd.json", {"rows": [{"buffer": "3x64", "loads": [{"load": "write", "windows": good | damage}]}]})
                self.save("good.json", {"rows": [{"buffer": "3x64", "loads": [{"load": "write", "windows": good}]}]})
                self.refused("compare", "good.json", "odd.json",
                             says="odd.json: the result 3x64 under disk write is damaged: ")
                self.refused("compare", "odd.json", "good.json", says=says)
        for cell in ({"windows": good}, {}, 3, {"load": "idle"}):
            self.save("odd.json", {"rows": [{"loads": [cell]}, 7, {"loads": "x"}]})
            self.refused("compare", "odd.json", "odd.json", says="the result ? under ")

    def test_a_capture_without_end(self):
        """ALSA's null always has more."""
        self.meter("--device", "null", "--round-trip", "null", "--load", "idle", "--time", "200ms", codes=(3,))


class Runs(Meter):
    def check_sums(self, row):
        for cell in row["loads"]:
            self.assertEqual(cell["expected"], cell["on_time"] + cell["late"] + cell["skipped"])
            self.assertEqual(cell["lateness"]["n"], cell["on_time"] + cell["late"])
            self.assertLessEqual(cell["empty"], cell["late"])
            self.assertEqual(cell["cycles_left_out"], 0)
            self.assertIsNone(cell["lateness"]["p99_9_ns"])  # too few for that

    def test_every_load(self):
        report = self.saved("a.json")
        self.assertEqual([row["buffer"] for row in report["rows"]], ["3x64"])
        row = report["rows"][0]
        self.check_sums(row)
        self.assertEqual([cell["load"] for cell in row["loads"]],
                         ["idle", "proc", "write", "copy", "read", "scheduler", "memory", "network"])
        for cell in row["loads"]:
            self.assertEqual(cell["expected"], EXPECTED)
            self.assertIsNone(cell["load_error"])
        self.assertIn(row["verdict"]["kind"], ("not_safe", "not_enough_data", "too_noisy"))
        self.assertEqual(os.listdir(self.path), ["a.json"])

    def test_table_of_1999(self):
        out, _ = self.meter(*SHORT, "--load", "idle", "--buffer", "1999,timer")
        rows = [line.split()[0] for line in out.splitlines() if " ms)" in line]
        self.assertEqual(rows, ["2x256", "3x256", "4x256", "2x512", "timer"])
        self.assertIn("Each period accounted for".lower(), out.lower())
        self.assertIn("the meter itself", out)

    def test_page(self):
        self.meter(*SHORT, "--load", "idle,proc", "--html", "page.html")
        text = (self.path / "page.html").read_text()
        html.parser.HTMLParser().feed(text)
        self.assertEqual(text.count("<svg"), 4)  # curves and tail of each load
        for word in ("fragment", "buffer", "computation", "This machine", "real-time throttling"):
            self.assertTrue(word in text, word)
        self.assertNotIn("<script", text)

    def test_policies_and_tuned(self):
        for policy in ("fifo", "rr", "deadline", "other"):
            report = self.saved("x.json", "--load", "idle", "--policy", policy)
            self.check_sums(report["rows"][0])
            self.assertTrue(report["policy"].startswith(policy))
        report = self.saved("x.json", "--load", "idle", "--tuned")
        self.assertEqual([row["tuned"] for row in report["rows"]], [False, True])

    def test_tuned_takes_turns(self):
        """A B B A, load by load: a machine that drifts does so to both."""
        report = self.saved("x.json", "--load", "idle,proc,scheduler", "--buffer", "64x3,128x2", "--tuned")
        self.assertEqual([(row["buffer"], row["tuned"]) for row in report["rows"]],
                         [("3x64", False), ("3x64", True), ("2x128", False), ("2x128", True)])
        runs = sorted((cell["start_mono_ns"], row["tuned"], row["buffer"], cell["load"])
                      for row in report["rows"] for cell in row["loads"])
        self.assertEqual([tuned for _, tuned, *_ in runs], 2 * [False, True, True, False, False, True])
        self.assertEqual([load for *_, load in runs], 2 * ["idle", "idle", "proc", "proc", "scheduler", "scheduler"])

    def test_required(self):
        # A buffer of 1.3 s does not run empty where a loop runs at all; which so short a time does not show.
        _, said = self.meter("--time", "1500ms", "--compute", "1", "--load", "idle", "--require", "16384x4", codes=(4,))
        self.assertIn("not enough data to say that 4x16384 is held: no dropout, but in 1.", said)
        self.assertIn("13.7 s under each", said)

    def test_interrupted(self):
        """As a terminal does it, to all of its processes: a table ends at once, with what it has, in whichever row."""
        for after_s in (0.1, 0.4, 0.8, 1.3):
            process = self.start(*SHORT, "--buffer", ",".join(24 * ["64x3"]), "--load", "idle,memory,scheduler", "--json",
                                 "--html", "page.html", start_new_session=True)
            time.sleep(after_s)
            os.killpg(process.pid, signal.SIGINT)
            out, _ = self.ended(process, codes=(0, 1, 4, -signal.SIGINT))
            if process.returncode == -signal.SIGINT:
                continue  # it had not begun
            # Where this test is not let run for so long, the table is over by then.
            self.assertTrue(json.loads(out)["interrupted"] or len(json.loads(out)["rows"]) == 24)
            for row in json.loads(out)["rows"]:
                self.check_sums(row)
            self.assertIn("<svg", (self.path / "page.html").read_text())
            self.assertEqual(os.listdir(self.path), ["page.html"])

    def test_rootless(self):
        if os.geteuid() != 0:
            return  # all of the others were
        out, _ = self.meter(*SHORT, "--load", "idle,scheduler", "--json", before=NOBODY, cwd="/")
        report = json.loads(out)
        self.assertFalse(report["policy_granted"])
        self.check_sums(report["rows"][0])

    def test_folder_that_will_not_do(self):
        """All loads but those that need it; an environment that lacks something, unless something worse is found."""
        out, said = self.meter(*SHORT, "--json", before=NOBODY if os.geteuid() == 0 else (), cwd="/", codes=(1, 3, 4))
        self.assertEqual(said.count("files in this folder: Permission denied"), 3)
        loads = [cell["load"] for cell in json.loads(out)["rows"][0]["loads"]]
        self.assertEqual(loads, ["idle", "proc", "scheduler", "memory", "network"])
        out, said = self.meter("--folder", "/nonexistent", codes=(3,))
        self.assertEqual((out, said.count("No such file")), ("", 3))

    def test_midi(self):
        master, slave = pty.openpty()
        tty.setraw(slave)
        process = self.start("--time", "1s", "--compute", "10", "--load", "idle", "--midi", os.ttyname(slave), "--json")
        while process.poll() is None:
            os.write(master, b"\x90\x3c\x40")
            time.sleep(0.02)
        report = json.loads(self.ended(process)[0])
        latency = report["rows"][0]["loads"][0]["midi_to_audio"]
        self.assertGreater(latency["n"], 0)
        # Its sound begins when the fragments in front of it have been played: two, and fewer after a loss only.
        self.assertGreaterEqual(latency["max_ns"], 2 * 64 * 1e9 / 48000)
        self.assertGreaterEqual(latency["min_ns"], 0)
        os.close(master)
        os.close(slave)


class Comparisons(Meter):
    def test_settings(self):
        out, _ = self.meter("compare", *SHORT, "--pairs", "10", "--json", "policy=fifo", "policy=other,cpu=0,run=:",
                            codes=(0, 1))
        answer = json.loads(out)
        self.assertEqual(answer["pairs"], 10)
        for figure in ("median_late_ns", "misses"):
            self.assertIn(answer[figure]["answer"], ("better", "worse", "not distinguishable", "too rare to tell"))
            self.assertGreaterEqual(answer[figure]["aa_floor"], 0)
        out, _ = self.meter("compare", *SHORT, "--pairs", "10", "default", "tuned", codes=(0, 1))
        self.assertIn("A/A floor", out)
        self.meter("compare", *SHORT, "default", "run=false", codes=(3,))

    def test_interrupted(self):
        """Also while a command of a setting has the terminal's ear."""
        for setting in ("default", "run=touch began; sleep 60"):
            process = self.start("compare", *SHORT, "--json", "default", setting, start_new_session=True)
            end = time.monotonic() + LIMIT_S
            time.sleep(1)
            while setting != "default" and not (self.path / "began").exists() and time.monotonic() < end:
                time.sleep(0.05)
            os.killpg(process.pid, signal.SIGINT)
            out, _ = self.ended(process)  # enough windows, where this test was not let run
            self.assertLessEqual(json.loads(out)["pairs"], 40)

    def make(self, name, medians, misses=None, row=(), **top):
        windows = {"length_ns": 10**9, "median_late_ns": medians, "misses": misses or [0] * len(medians)}
        (self.path / name).write_text(json.dumps(
            {**top, "rows": [{"buffer": "3x64", "loads": [{"load": "write", "windows": windows}], **dict(row)}]}))

    def test_saved(self):
        self.make("a.json", [10000 + 10 * (i % 7) for i in range(30)])
        self.make("b.json", [13000 + 10 * (i % 5) for i in range(30)])
        self.make("few.json", [1, 2, 3])
        out, _ = self.meter("compare", "a.json", "b.json", codes=(1,))
        self.assertRegex(out, r"3x64 +disk write +lateness, us .* worse")
        self.assertRegex(out, r"missed periods .* not distinguishable")
        out, _ = self.meter("compare", "b.json", "a.json", "--json", codes=(0,))
        self.assertEqual(json.loads(out)["cells"][0]["median_late_ns"]["answer"], "better")
        self.meter("compare", "a.json", "a.json", codes=(0,))
        self.meter("compare", "a.json", "few.json", codes=(4,))

    def test_rare_misses(self):
        """Thousands in every sixth window are found, and shown; in a few windows they are too rare."""
        for count, code, answer, b in ((120, 1, "worse", "1416.67"), (30, 0, "too rare to tell", "1416.67")):
            steady = [10000 + 10 * (i % 7) for i in range(count)]
            self.make("a.json", steady)
            self.make("b.json", steady, [8500 if i % 6 == 3 else 0 for i in range(count)])
            out, _ = self.meter("compare", "a.json", "b.json", codes=(code,))
            self.assertRegex(out, rf"missed periods +0\.00 +{b} +\+{b} .* {count} +0 +{count // 6} +{answer}\n")
            out, _ = self.meter("compare", "a.json", "b.json", "--json", codes=(code,))
            self.assertEqual(json.loads(out)["cells"][0]["misses"]["b_windows_with_any"], count // 6)

    def test_cells_that_belong_together(self):
        """The same buffer at another rate, or tuned, is another one; windows of 1 and 4 s become alike."""
        steady = [10000 + 10 * (i % 7) for i in range(40)]
        self.make("a.json", steady, row={"rate_hz": 48000, "tuned": False})
        for row in ({"rate_hz": 96000, "tuned": False}, {"rate_hz": 48000, "tuned": True}):
            self.make("b.json", steady, row=row)
            _, said = self.meter("compare", "a.json", "b.json", codes=(2,))
            self.assertIn("measured nothing in common", said)
        for length_ns, windows in ((4 * 10**9, 10), (3 * 10**9, 0)):
            self.make("b.json", steady)
            report = json.loads((self.path / "b.json").read_text())
            report["rows"][0]["loads"][0]["windows"]["length_ns"] = length_ns
            (self.path / "b.json").write_text(json.dumps(report))
            self.make("a.json", steady)
            out, _ = self.meter("compare", "a.json", "b.json", "--json", codes=(0, 4))
            self.assertEqual(json.loads(out)["cells"][0]["misses"]["windows"], windows)

    def test_saved_of_two_machines(self):
        """What was not alike is said."""
        steady = [10000 + 10 * (i % 7) for i in range(30)]
        self.make("a.json", steady, compute_percent=80, cpu=0, machine=[{"name": "kernel", "value": "6.1", "advice": None}])
        self.make("b.json", steady, compute_percent=50, cpu=None, machine=[{"name": "kernel", "value": "6.12", "advice": None}])
        out, _ = self.meter("compare", "a.json", "b.json")
        for line in ("cpu: A 0, B does not say", "compute_percent: A 80, B 50", "kernel: A 6.1, B 6.12"):
            self.assertIn(f"Not alike: {line}\n", out)
        answer = json.loads(self.meter("compare", "a.json", "b.json", "--json")[0])
        self.assertEqual(answer["differences"][-1], {"name": "kernel", "a": "6.1", "b": "6.12"})
        self.assertEqual(json.loads(self.meter("compare", "a.json", "a.json", "--json")[0])["differences"], [])

    def test_saved_without_its_policy(self):
        better = [13000 + 10 * (i % 5) for i in range(30)], [10000 + 10 * (i % 7) for i in range(30)]
        for granted, policies, code, first in (
                ((True, True), ("fifo 70", "rr 70"), 0, "A  a.json, policy fifo 70\n"),
                ((False, True), ("fifo 70", "fifo 70"), 4, "Nothing can be said of A and B: policy fifo 70 was refused to A"),
                ((True, False), ("fifo 70", "rr 70"), 4, "Nothing can be said of A and B: policy rr 70 was refused to B"),
                ((False, False), ("fifo 70", "rr 70"), 4, "Nothing can be said"),
                ((False, False), ("fifo 70", "fifo 70"), 0, "Policy fifo 70 was refused to A and to B")):
            for name, medians, policy, has_it in zip("ab", better, policies, granted):
                self.make(name + ".json", medians, policy=policy, policy_granted=has_it)
            out, _ = self.meter("compare", "a.json", "b.json", codes=(code,))
            self.assertTrue(out.startswith(first), out)
            answer = json.loads(self.meter("compare", "a.json", "b.json", "--json", codes=(code,))[0])
            self.assertEqual((answer["policy_a_granted"], answer["policy_b_granted"]), granted)
            self.assertEqual(answer["warning"] is None, granted == (True, True))

    def test_refused_policy(self):
        """A comparison with a policy that one of them was refused is none; refused to both alike, it is said first."""
        short = ("compare", *SHORT, "--load", "idle", "--pairs", "10")
        nobody = {"before": NOBODY if os.geteuid() == 0 else (), "cwd": "/"}
        for settings in (("policy=fifo", "policy=other"), ("policy=other", "policy=deadline"), ("policy=rr", "policy=fifo")):
            out, said = self.meter(*short, *settings, codes=(3,), **nobody)
            self.assertEqual(out, "")
            self.assertRegex(said, r"policy (fifo|rr|deadline) was refused to [AB]: .* is not what was asked for")
        out, _ = self.meter(*short, "policy=fifo", "policy=fifo,cpu=0", codes=(0, 1), **nobody)
        self.assertTrue(out.startswith("Policy fifo was refused (Operation not permitted): A and B are compared without it"))
        out, _ = self.meter(*short, "--json", "default", "default", codes=(0, 1), **nobody)
        answer = json.loads(out)
        self.assertEqual((answer["policy_a_granted"], answer["policy_b_granted"]), (False, False))
        self.assertIn("was refused", answer["warning"])
        if not os.access("/dev/cpu_dma_latency", os.W_OK) or os.geteuid() == 0:
            out, said = self.meter(*short, "policy=other", "policy=other,tuned", codes=(0, 1), **nobody)
            self.assertTrue(out.startswith("`tuned` is without processors that are kept out of idle states"), out)
            self.assertEqual(said.count("idle states"), 1)

    def test_own_result(self):
        self.saved("own.json", "--load", "idle", "--time", "2500ms")
        _, said = self.meter("compare", "own.json", "own.json", codes=(4,))
        self.assertIn("measure longer", said)


class Soak(Meter):
    def test_lines_and_log(self):
        out, _ = self.meter("--for", "1s", "--compute", "10", "--json", "--log", "log.jsonl", "--html", "page.html")
        self.assertIn("<svg", (self.path / "page.html").read_text())
        lines = [json.loads(line) for line in out.splitlines()]
        self.assertTrue(lines[-1]["final"])
        self.assertEqual(lines, [json.loads(line) for line in (self.path / "log.jsonl").read_text().splitlines()])
        self.assertEqual((lines[0]["buffer"], lines[0]["load"], lines[0]["plan_ns"]), ("3x64", "idle", 10**9))
        sums = [line for line in lines if "elapsed_ns" in line]
        self.assertGreaterEqual(len(sums), 1)
        self.assertEqual(sums[-1]["expected"], 750)
        for line in sums:
            self.assertEqual(line["expected"], line["on_time"] + line["late"] + line["skipped"])

    def soak(self, *arguments):
        """A soak of which something is in the log."""
        log = self.path / "log.jsonl"
        before = log.stat().st_size if log.exists() else 0
        process = self.start("--for", "8h", "--compute", "10", "--json", "--log", "log.jsonl", *arguments)
        self.grows(log, before)
        return process

    def grows(self, log, before, by=lambda: None):
        end = time.monotonic() + LIMIT_S
        while not log.exists() or log.stat().st_size == before:
            self.assertLess(time.monotonic(), end)
            by()
            time.sleep(0.01)

    def stop_and_go(self, process):
        process.send_signal(signal.SIGSTOP)
        time.sleep(0.05)
        process.send_signal(signal.SIGCONT)

    def test_killed(self):
        """As by a power cut, at any time: lines are whole, and what is written later stands apart from a torn one."""
        log = self.path / "log.jsonl"
        for after_s in (0, 0.05, 0.3, 1):
            process = self.soak()
            time.sleep(after_s)
            self.stop_and_go(process)
            time.sleep(after_s)
            process.kill()
            out, _ = self.ended(process, codes=(-signal.SIGKILL,))
            logged = log.read_text().splitlines(keepends=True)
            self.assertEqual(logged[-1][-1], "\n")
            said = out.splitlines()[:len(out.splitlines()) - (not out.endswith("\n"))]
            self.assertEqual([json.loads(line) for line in logged[:len(said)]], [json.loads(line) for line in said])
            log.unlink()
        log.write_text('{"torn": ')
        process = self.soak()
        process.send_signal(signal.SIGINT)
        self.ended(process)
        logged = log.read_text().splitlines()
        self.assertEqual(logged[0], '{"torn": ')
        self.assertEqual(json.loads(logged[1])["load"], "idle")
        self.assertTrue(json.loads(logged[-1])["final"])

    def test_who_watches_leaves(self):
        process = self.soak("--load", "proc")
        process.stdout.close()
        process.stdout = None
        time.sleep(1)
        process.send_signal(signal.SIGTERM)
        self.ended(process)
        self.assertTrue(json.loads((self.path / "log.jsonl").read_text().splitlines()[-1])["final"])

    def test_who_watches_stands_still(self):
        """A pipe that nobody reads is full: the log goes on, an interrupt ends it, and what is lost is said."""
        ends = os.pipe()
        self.addCleanup(lambda: [os.close(end) for end in ends])
        os.set_blocking(ends[1], False)
        with self.assertRaises(BlockingIOError):
            while True:
                os.write(ends[1], b"full" * 1024)
        os.set_blocking(ends[1], True)
        process = self.start("--for", "8h", "--compute", "10", "--log", "log.jsonl", stdout=ends[1])
        log = self.path / "log.jsonl"
        for _ in range(2):
            self.grows(log, log.stat().st_size if log.exists() else 0, by=lambda: self.stop_and_go(process))
        process.send_signal(signal.SIGINT)
        self.assertIn("standard output could not be written", self.ended(process, codes=(3,))[1])
        self.assertTrue(json.loads(log.read_text().splitlines()[-1])["final"])

    def test_log_without_room(self):
        self.assertEqual(self.meter("--for", "1s", "--compute", "10", "--json", "--log", "/dev/full", codes=(3,))[1]
                         .count("the log lacks lines"), 1)
        self.meter("--for", "300ms", "--compute", "10", "--json", "--log", "/dev/null", codes=(0, 1, 4))

    def test_interrupt(self):
        process = self.soak()
        time.sleep(1)
        process.send_signal(signal.SIGINT)
        process.send_signal(signal.SIGINT)
        out, _ = self.ended(process)
        last = json.loads(out.splitlines()[-1])
        self.assertTrue(last["final"])
        cell = last["loads"][0]
        self.assertEqual(cell["expected"], cell["on_time"] + cell["late"] + cell["skipped"])
        self.assertGreater(cell["expected"], 0)
        logged = (self.path / "log.jsonl").read_text().splitlines()
        self.assertEqual(json.loads(logged[-1]), last)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1] + sys.argv[2:])
