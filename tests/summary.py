#!/usr/bin/env python3
"""Adds up what ./dev check did: every skip with its reason, every failure with the end of its output,
and one closing line.

usage: summary.py RESULTS. A line of RESULTS is, separated by tabs, one of
  tests NAME LOG.json      a run of `meson test`: its record, one JSON object per program
  failed NAME LOG          a stage that failed by itself
  skipped NAME REASON      a stage that this machine cannot run
Cases within a program count one by one where it is cmocka's or ends with 'N passed, N failed, N
skipped'; any other program is one case. Nothing passed counts as failure.
"""
import json
import pathlib
import re
import sys

TAIL_LINES = 40
CMOCKA = {kind: re.compile(r"^\[\s*%s\s*\] (\d+) test\(s\)" % kind, re.MULTILINE)
          for kind in ("PASSED", "FAILED", "SKIPPED")}
NINJA_STEP = re.compile(r"^\[\d+/\d+\].*\n", re.MULTILINE)
CLOSING = re.compile(r"^(\d+) passed, (\d+) failed(?:, (\d+) skipped)?$", re.MULTILINE)


class Tally:
    def __init__(self):
        self.passed = self.failed = self.skipped = 0

    def fail(self, name, output, count=1):
        self.failed += count
        print(f"FAILED {name}")
        print(*("    " + line for line in output.rstrip().splitlines()[-TAIL_LINES:]), sep="\n")

    def skip(self, name, reason, count=1):
        self.skipped += count
        print(f"SKIPPED {name}: {reason}")


def cases_in(output):
    """(passed, failed, skipped) as the program itself counted, or None."""
    closing = CLOSING.findall(output)
    if closing:
        return tuple(int(number or 0) for number in closing[-1])
    if CMOCKA["PASSED"].search(output):
        return tuple(sum(map(int, CMOCKA[kind].findall(output))) for kind in ("PASSED", "FAILED", "SKIPPED"))
    return None


def last_line(output):
    lines = [line.strip() for line in output.splitlines() if line.strip()]
    return lines[-1] if lines else "it gave no reason"


def add_program(tally, stage, record):
    name = f"{record['name']} ({stage})"
    output = (record.get("stdout") or "") + (record.get("stderr") or "")
    passed, failed, skipped = cases_in(output) or (0, 0, 0)
    tally.passed += passed
    if record["result"] == "OK":
        tally.passed += 0 if passed or skipped or failed else 1
        if skipped:
            tally.skip(name, "; ".join(skips_of(output)) or last_line(output), skipped)
        if failed:
            tally.fail(name, output + "\nit counts failures, but exits with 0", failed)
    elif record["result"] == "SKIP":
        tally.skip(name, last_line(output))
    else:
        how = f"{record['result'].lower()}, exit {record.get('returncode')}"
        tally.fail(name, f"{output}\n{how}", max(failed, 1))
        tally.skipped += skipped


def skips_of(output):
    """What a cmocka program says in the line before it marks a case as skipped."""
    lines = output.splitlines()
    return [lines[at - 1].strip() for at, line in enumerate(lines)
            if at and re.match(r"\[  SKIPPED \] (?!\d+ test)", line)]


def add_tests(tally, stage, log):
    try:
        records = [json.loads(line) for line in pathlib.Path(log).read_text(encoding="utf-8").splitlines()]
    except FileNotFoundError:
        records = []
    if not records:
        tally.fail(stage, "it ran no test")
    for record in records:
        add_program(tally, stage, record)


def main(results):
    tally = Tally()
    for line in pathlib.Path(results).read_text(encoding="utf-8").splitlines():
        kind, name, rest = line.split("\t", 2)
        if kind == "tests":
            add_tests(tally, name, rest)
        elif kind == "skipped":
            tally.skip(name, rest)
        else:
            text = pathlib.Path(rest).read_text(encoding="utf-8", errors="replace")
            tally.fail(name, NINJA_STEP.sub("", text))
    print(f"{tally.passed} passed, {tally.failed} failed, {tally.skipped} skipped")
    return 1 if tally.failed or not tally.passed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
