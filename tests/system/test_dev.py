#!/usr/bin/env python3
"""`./dev` asked for help and given what it does not take: it answers, and neither builds nor installs.

usage: test_dev.py SOURCE_ROOT. A copy of the script alone in a folder: what it would do besides fails there.
"""
import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest

ROOT = pathlib.Path(sys.argv[1])
VERBS = ("demo", "check", "lab", "run", "install", "fuzz")


class Dev(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.path = pathlib.Path(folder.name)
        shutil.copy(ROOT / "dev", self.path)

    def assert_says(self, code, *arguments):
        run = subprocess.run([self.path / "dev", *arguments], capture_output=True, text=True, timeout=60, check=False,
                             cwd=self.path, env={"PATH": "/usr/bin:/bin", "CI": "true"})
        self.assertEqual(run.returncode, code, run.stdout + run.stderr)
        self.assertEqual([path.name for path in self.path.iterdir()], ["dev"])
        return run.stdout if code == 0 else run.stderr

    def test_every_verb_has_help(self):
        usage = self.assert_says(0)
        for verb in VERBS:
            line = [line for line in usage.splitlines(True) if line.startswith(f"./dev {verb} ")]
            self.assertEqual(len(line), 1)
            for question in ([verb, "--help"], [verb, "-h"], ["help", verb]):
                self.assertEqual(self.assert_says(0, *question), line[0])

    def test_what_is_not_taken_is_refused(self):
        for verb in ("demo", "check", "lab", "install", "fuzz"):
            for wrong in (["--nonsense"], ["-x"], ["--"], [""], ["a", ""], ["a", "b", "c", "d"]):
                self.assertIn(f"./dev {verb} ", self.assert_says(2, verb, *wrong))
        for wrong in ([""], ["build"], ["--quick"], ["help", "build"]):
            self.assertIn("./dev", self.assert_says(2, *wrong))

    def test_help_wins_wherever_it_stands(self):
        self.assert_says(0, "install", "/nowhere", "--help")
        self.assert_says(0, "fuzz", "packet", "-h")

    def test_no_package_is_named_twice(self):
        text = (ROOT / "dev").read_text(encoding="utf-8")
        packages = text[text.index("build_packages=("):].split(")")[0].split("(")[1].split()
        self.assertEqual(len(packages), len(set(packages)))


if __name__ == "__main__":
    result = unittest.main(argv=sys.argv[:1], exit=False).result
    bad = len(result.failures) + len(result.errors)
    print(f"{result.testsRun - bad} passed, {bad} failed")
    sys.exit(1 if bad else 0)
