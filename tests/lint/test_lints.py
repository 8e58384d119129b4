#!/usr/bin/env python3
"""Shows that each lint fails on a deliberate violation, and passes what it ought to.

usage: test_lints.py CC…: the compiler with which to make the objects. Works in scratch folders.
"""
import pathlib
import subprocess
import sys
import tempfile
import unittest

LINTS = pathlib.Path(__file__).resolve().parent
CC = ["cc"]
HEADER = "/* A file of the test. */\n"


def lint(name, *arguments):
    """(exit code, output) of one lint."""
    done = subprocess.run([sys.executable, LINTS / f"{name}.py", *arguments],
                          capture_output=True, text=True, check=False)
    return done.returncode, done.stdout + done.stderr


class Scratch(unittest.TestCase):
    def setUp(self):
        scratch = tempfile.TemporaryDirectory()
        self.addCleanup(scratch.cleanup)
        self.root = pathlib.Path(scratch.name)

    def write(self, name, text):
        path = self.root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
        return path

    def arguments(self):
        return [self.root]

    def assert_fails(self, name, word):
        code, output = lint(name, *self.arguments())
        self.assertEqual(code, 1, output)
        self.assertIn(word, output)

    def assert_passes(self, name):
        code, output = lint(name, *self.arguments())
        self.assertEqual(code, 0, output)


class Arrows(Scratch):
    def setUp(self):
        super().setUp()
        self.write("src/base/ns.h", HEADER + "#include <stdint.h>\n")
        self.write("src/run/talk.c", HEADER + '#include "base/ns.h"\n#include "os/link.h"\n')

    def test_down_passes(self):
        self.assert_passes("arrows")

    def test_upward(self):
        self.write("src/audio/x.c", HEADER + '#include "run/talk.h"\n')
        self.assert_fails("arrows", "src/audio/x.c:2")

    def test_sideways(self):
        self.write("src/audio/x.c", HEADER + '#include "gate/plan.h"\n')
        self.assert_fails("arrows", "may not look into gate")

    def test_os_knows_no_audio(self):
        self.write("src/os/x.c", HEADER + '  #  include "audio/aaf.h"\n')
        self.assert_fails("arrows", "may not look into audio")

    def test_roomless(self):
        self.write("src/audio/x.c", HEADER + '#include "aaf.h"\n')
        self.assert_fails("arrows", "names no room")

    def test_library_in_a_wrong_room(self):
        for header in ("alsa/asoundlib.h", "jansson.h", "pcap/pcap.h", "pcap.h", "samplerate.h",
                       "libmnl/libmnl.h", "sndfile.h"):
            with self.subTest(header):
                self.write("src/audio/x.c", HEADER + f"#include <{header}>\n")
                self.assert_fails("arrows", f"<{header}> belongs in")

    def test_unknown_room(self):
        self.write("src/attic/x.c", HEADER)
        self.assert_fails("arrows", "no room")

    def test_nothing_to_look_at(self):
        for path in self.root.rglob("*.[ch]"):
            path.unlink()
        self.assert_fails("arrows", "0 includes")


class Symbols(Scratch):
    GOOD = HEADER + "int tt_one(void);\nint tt_one(void) { return 1; }\n"

    def setUp(self):
        super().setUp()
        for room in ("base", "audio"):
            self.room_library(room, "one", self.GOOD)

    def room_library(self, room, name, text):
        source = self.write(f"src/{room}/{name}.c", text)
        made = source.with_suffix(".c.o")
        subprocess.run([*CC, "-O1", "-fPIC", "-w", "-c", source, "-o", made], check=True)
        subprocess.run(["ar", "rcs", source.parent / f"libtt_{room}.a", made], check=True)

    def test_clean_passes(self):
        self.assert_passes("symbols")

    def test_clock(self):
        self.room_library("audio", "two", "#include <time.h>\n"
                     "void tt_two(struct timespec *t) { clock_gettime(CLOCK_MONOTONIC, t); }\n")
        self.assert_fails("symbols", "audio/two.c: calls clock_gettime")

    def test_heap(self):
        text = "#include <stdlib.h>\nvoid *tt_two(size_t n) { return malloc(n); }\n"
        self.room_library("base", "two", text)
        self.assert_fails("symbols", "base/two.c: calls malloc")

    def test_heap_where_a_header_allows_it(self):
        text = "#include <stdlib.h>\nvoid *tt_two(size_t n) { return malloc(n); }\n"
        self.room_library("audio", "observer", text)
        self.assert_passes("symbols")

    def test_log(self):
        self.room_library("audio", "two", '#include <stdio.h>\nvoid tt_two(int n) { printf("%d", n); }\n')
        self.assert_fails("symbols", "calls printf")

    def test_writable_statics(self):
        for what in ("static int count", "static int count = 7", "static _Thread_local int count",
                     "static const char *count[2]"):
            with self.subTest(what):
                self.room_library("base", "two", f"{what};\nvoid *tt_two(void) {{ return &count; }}\n")
                self.assert_fails("symbols", "count is a writable static")

    def test_tables_of_constants_pass(self):
        self.room_library("base", "two", 'static const char *const names[] = {"a", "b"};\n'
                     "const char *tt_two(int n) { return names[n]; }\n")
        self.assert_passes("symbols")

    def test_foreign_name(self):
        self.room_library("os", "two", "int two(void) { return 2; }\n")
        self.assert_fails("symbols", "os/two.c: exports two")

    def test_os_may_call_the_system(self):
        self.room_library("os", "two", "#include <unistd.h>\nint tt_two(void) { return getpid(); }\n")
        self.assert_passes("symbols")

    def test_no_library(self):
        (self.root / "src/base/libtt_base.a").unlink()
        self.assert_fails("symbols", "no library of the room base")


class Text(Scratch):
    def setUp(self):
        super().setUp()
        self.write("src/base/x.c", HEADER + "int x;\n")

    def test_clean_passes(self):
        self.assert_passes("text")

    def test_no_opening_comment(self):
        self.write("src/base/x.c", "int x;\n")
        self.assert_fails("text", "src/base/x.c:1: opens without a comment")

    def test_size_and_width(self):
        self.write("src/base/x.c", HEADER + "int x;\n" * 500)
        self.assert_fails("text", "501 lines")
        self.write("src/base/x.c", HEADER + "/* " + "x" * 100 + " */\n")
        self.assert_fails("text", "src/base/x.c:2: 106 columns")

    def test_unfinished_work(self):
        self.write("src/base/x.c", HEADER + "/* TO" "DO: all */\n")
        self.assert_fails("text", "unfinished work")

    def test_one_machine(self):
        for text in ("/ho" "me/somebody/tactus", "http:/" "/deb.deb" "ian.org/debian"):
            with self.subTest(text):
                self.write("README.md", text + "\n")
                self.assert_fails("text", "README.md:1")

    def test_build_folders_are_not_looked_at(self):
        self.write("build-check/x.c", "int x;\n")
        self.assert_passes("text")


class Faults(Scratch):
    HEAD = "| scenario | tests |\n| --- | --- |\n"

    def setUp(self):
        super().setUp()
        self.write("tests/system/test_play.py", '#!\nCASES = ["stall", "link-down"]\n')
        self.write("tests/system/meson.build", "test('long_' + name)  # 20s\n")
        self.write("tests/kernel/test_clocks.sh", "#\n")
        self.write("tests/sim/test_capture.c", "/* --list */\n")
        program = self.write("build/tests/sim/test_sim_capture", "#!/bin/sh\nprintf 'loss-1\\nloss-1-sparse\\n'\n")
        program.chmod(0o755)

    def arguments(self):
        return [self.root, self.root / "build"]

    def table(self, *cells):
        self.write("doc/faults.md", self.HEAD + "".join(f"| something | {cell} |\n" for cell in cells))

    def test_what_is_there_passes(self):
        self.table("sim_capture: loss-1, loss-1-sparse; play: stall", "guest test clocks", "by name long_20s")
        self.assert_passes("faults")

    def test_a_line_without_a_test(self):
        self.table("sim_capture: loss-1, loss-1-sparse", "")
        self.assert_fails("faults", "doc/faults.md:4: no test holds this line")

    def test_a_case_that_is_not_there(self):
        self.table("sim_capture: loss-1, loss-1-sparse, loss-2; play: link-up")
        self.assert_fails("faults", "sim_capture has no case loss-2")
        self.assert_fails("faults", "play has no case link-up")

    def test_a_case_that_no_line_names(self):
        self.table("sim_capture: loss-1")
        self.assert_fails("faults", "sim_capture has a case loss-1-sparse, and no line names it")

    def test_a_program_that_is_not_there(self):
        for cell in ("sim_playback: loss-1", "guest test time", "by name long_30s"):
            with self.subTest(cell):
                self.table("sim_capture: loss-1, loss-1-sparse", cell)
                self.assert_fails("faults", "there is no test")

    def test_no_table(self):
        self.write("doc/faults.md", "# What can go wrong\n")
        self.assert_fails("faults", "0 lines")


if __name__ == "__main__":
    CC = sys.argv[1:] or CC
    ran = unittest.TextTestRunner(stream=sys.stdout).run(
        unittest.defaultTestLoader.loadTestsFromModule(sys.modules["__main__"]))
    bad = len(ran.failures) + len(ran.errors)
    print(f"{ran.testsRun - bad} passed, {bad} failed, {len(ran.skipped)} skipped")
    sys.exit(0 if ran.wasSuccessful() else 1)
