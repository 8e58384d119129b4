#!/usr/bin/env python3
"""Holds that every test which doc/faults.md names exists, and that every case of theirs is named there.

usage: faults.py ROOT BUILD. In the tables of doc/faults.md the last column, `tests`, says who holds a line: parts
between semicolons, each PROGRAM, PROGRAM: case, case, or "guest test NAME". A program is a test of meson; a word
before it ("by name") is passed over. Programs that know --list are asked for their cases (those in C are in BUILD);
of others the case must stand in a source of the program's folder.
"""
import pathlib
import re
import subprocess
import sys

SOURCES = {".c", ".h", ".py", ".sh"}
UNIT = re.compile(r"[\w.+±-]+")


def rows_of(text):
    """(line number, text of the last cell) of every row in a table whose last column is headed `tests`."""
    inside = False
    for number, line in enumerate(text.splitlines(), 1):
        cells = [cell.strip() for cell in line.strip().strip("|").split("|")]
        if not line.startswith("|"):
            inside = False
        elif cells[-1] == "tests":
            inside = True
        elif inside and not re.fullmatch(r"[-: ]+", cells[-1]):
            yield number, cells[-1]


def parts_of(cell):
    """(programs, cases) of each part; a guest test is the program "guest NAME"."""
    for part in filter(None, (part.strip() for part in cell.split(";"))):
        guest = re.fullmatch(r"guest tests? (.+)", part)
        names, _, cases = part.partition(":")
        programs = [f"guest {name.strip()}" for name in guest.group(1).split(",")] if guest else \
            [name.split()[-1] for name in names.split(",") if name.strip()]
        yield programs, [case.strip().strip("`") for case in cases.split(",") if case.strip()]


class Programs:
    def __init__(self, root, build):
        self.tests, self.build, self.known = root / "tests", build, {}

    def source(self, program):
        """The file that a program is made of, or None."""
        if program.startswith("guest "):
            return next(iter(self.tests.glob(f"kernel/test_{program[6:]}.sh")), None)
        names = [f"test_{program}", f"check_{program}"]
        folder = "*"
        if program.startswith("sim_"):
            names, folder = [f"test_{program[4:]}"], "sim"
        for name in names:
            for path in sorted(self.tests.glob(f"{folder}/{name}.*")):
                if path.suffix in SOURCES:
                    return path
        return None

    def listed(self, program):
        """The cases that a program says it has; None where it cannot say."""
        if program not in self.known:
            source = self.source(program)
            cases = None
            if source and "--list" in source.read_text(encoding="utf-8"):
                command = [sys.executable, source] if source.suffix == ".py" else \
                    [self.build / "tests" / source.parent.name / f"test_{program}"]
                done = subprocess.run([*command, "--list"], capture_output=True, text=True, check=False)
                cases = done.stdout.split() if done.returncode == 0 else []
            self.known[program] = cases
        return self.known[program]

    def exists(self, program):
        return self.source(program) is not None or any(
            program in UNIT.findall(path.read_text(encoding="utf-8")) or made_of(program, path)
            for path in self.tests.rglob("meson.build"))

    def has(self, program, case):
        listed = self.listed(program)
        if listed is not None:
            return case in listed
        source = self.source(program)
        if source is None:
            return False
        return any(case in UNIT.findall(path.read_text(encoding="utf-8"))
                   for path in source.parent.iterdir() if path.suffix in SOURCES)


def made_of(program, path):
    """Whether a meson.build makes the name of a stem and a word: 'faults_long_' + name."""
    text = path.read_text(encoding="utf-8")
    return any(program.startswith(stem) and program[len(stem):] in UNIT.findall(text)
               for stem in re.findall(r"'(\w+_)' \+", text))


def main(root, build):
    root = pathlib.Path(root)
    programs = Programs(root, pathlib.Path(build))
    faults, named, rows = [], {}, 0
    for number, cell in rows_of((root / "doc/faults.md").read_text(encoding="utf-8")):
        rows += 1
        where = f"doc/faults.md:{number}"
        if not cell:
            faults.append(f"{where}: no test holds this line")
        for names, cases in parts_of(cell):
            for program in names:
                if not programs.exists(program):
                    faults.append(f"{where}: there is no test {program}")
                    continue
                named.setdefault(program, set()).update(cases)
                faults += [f"{where}: {program} has no case {case}"
                           for case in cases if not programs.has(program, case)]
    for program, cases in named.items():
        faults += [f"doc/faults.md: {program} has a case {case}, and no line names it"
                   for case in programs.listed(program) or [] if case not in cases]
    print(*faults, f"faults: {rows} lines, {sum(map(len, named.values()))} cases, {len(faults)} wrong", sep="\n")
    return 1 if faults or not rows else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1], sys.argv[2]))
