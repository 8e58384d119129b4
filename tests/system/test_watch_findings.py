#!/usr/bin/env python3
"""`tactus watch` finds in the captures what their README says of them, and the manual names all findings.

usage: test_watch_findings.py TACTUS SOURCE_ROOT
"""
import json
import pathlib
import re
import subprocess
import sys

UNPACED = {"bursts", "untagged"}  # all of them were
EXPECTED = {
    "aaf-float-2ch-96k-12": {"late"},
    "aaf-s16-2ch-44k1-6": {"late", "period_cut"},
    "aaf-s16-2ch-48k-6": {"late"},
    "aaf-s32-8ch-48k-6": {"late"},
    "alsa-aaf-period600": {"late"},
    "gst-avtp-aaf-f32be-192k": {"late", "stamps_utc", "sparse_misused"},
    "gst-avtp-aaf-s16be": {"late", "stamps_utc"},
    "libavtp-aaf-talker": {"stamps_utc", "stamps_follow_sending"},
    "open1722-crf-talker": {"stamps_utc"},
}
FIGURES = [  # what the README puts a number to
    ("aaf-s16-2ch-48k-6", "bursts", "longest_pdus", 100),
    ("aaf-s16-2ch-44k1-6", "period_cut", "step_ns", 42),
    ("aaf-s16-2ch-44k1-6", "period_cut", "every_pdus", 100),
    ("gst-avtp-aaf-s16be", "stamps_utc", "offset_ns", 37 * 10**9),
    ("gst-avtp-aaf-f32be-192k", "sparse_misused", "count", 1999),
]


def findings_of(tactus, path):
    out = subprocess.run([tactus, "watch", "--json", path], stdout=subprocess.PIPE, check=True)
    (stream,) = json.loads(out.stdout)["streams"]
    return {finding["code"]: finding["figures"] for finding in stream["findings"]}


def faults_of_captures(tactus, folder):
    found = {path.stem: findings_of(tactus, path) for path in sorted(folder.glob("*.pcapng"))}
    if found.keys() != EXPECTED.keys():
        yield f"captures: {sorted(found)}"
    for name, expected in EXPECTED.items():
        if found.get(name, {}).keys() != expected | UNPACED:
            yield f"{name}: found {sorted(found.get(name, {}))}, not {sorted(expected | UNPACED)}"
    for name, code, figure, value in FIGURES:
        got = found.get(name, {}).get(code, {}).get(figure)
        if got != value:
            yield f"{name}: {code}: {figure} is {got}, not {value}"


def faults_of_manual(root):
    source = (root / "src/report/finding_text.c").read_text(encoding="utf-8")
    manual = (root / "doc/tactus-watch.1.scd").read_text(encoding="utf-8").replace("\\", "")
    codes = set(re.findall(r'\{\s*"([a-z_]+)",\s*"[^"]{20}', source))
    described = set(re.findall(r"^\*([a-z_]+)\* \(", manual, re.MULTILINE))
    if not codes or codes != described:
        yield f"doc/tactus-watch.1.scd: {sorted(codes ^ described)} only in the manual or only in the code"


def main(tactus, root):
    root = pathlib.Path(root)
    faults = [*faults_of_captures(tactus, root / "tests/data/captures"), *faults_of_manual(root)]
    print(*faults, f"{len(EXPECTED)} captures, {len(faults)} wrong", sep="\n")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
