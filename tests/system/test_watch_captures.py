#!/usr/bin/env python3
"""`tactus watch` on the captures says what a few lines over tshark's output compute.

usage: test_watch_captures.py TACTUS CAPTURES
Mean, population deviation, min, max, range and n exactly (mean and deviation to the printed 0.001 ns),
percentiles (nearest rank) within 0.1 %.
"""
import json
import math
import pathlib
import shutil
import subprocess
import sys
from fractions import Fraction


def tshark_figures(path):
    out = subprocess.run(["tshark", "-r", path, "-T", "fields", "-e", "frame.time_epoch"],
                         stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, check=True)
    times = [int(line.replace(".", "")) for line in out.stdout.split()]  # nine decimals, always
    gaps = sorted(b - a for a, b in zip(times, times[1:]))
    n = len(gaps)
    mean = Fraction(sum(gaps), n)
    variance = Fraction(n * sum(gap * gap for gap in gaps) - sum(gaps) ** 2, n * n)
    rank = {name: gaps[-(-n * per_mille // 1000) - 1]
            for name, per_mille in (("p50_ns", 500), ("p99_ns", 990), ("p99_9_ns", 999))}
    exact = {"n": n, "min_ns": gaps[0], "max_ns": gaps[-1], "range_ns": gaps[-1] - gaps[0]}
    printed = {"mean_ns": float(mean), "stdev_ns": math.sqrt(variance)}
    return len(times), exact, printed, rank


def faults_of(tactus, path):
    out = subprocess.run([tactus, "watch", "--json", path], stdout=subprocess.PIPE, check=True)
    seen = json.loads(out.stdout)
    packets, exact, printed, rank = tshark_figures(path)
    if seen["packets"] != packets or len(seen["streams"]) != 1 or seen["error"] is not None:
        return [f"{packets} packets of one stream became {out.stdout.decode()}"]
    stream = seen["streams"][0]
    interval = stream["interval_ns"]
    faults = [f"{name}: {interval[name]}, not {value}" for name, value in exact.items()
              if interval[name] != value]
    faults += [f"{name}: {interval[name]}, not {value}" for name, value in printed.items()
               if abs(interval[name] - value) > 0.0006]
    faults += [f"{name}: {interval[name]}, not {value}" for name, value in rank.items()
               if abs(interval[name] - value) > value / 1000]
    faults += [f"{name}: {stream[name]}" for name in ("lost", "duplicated", "reordered", "restarts")
               if stream[name] != 0]
    if stream["pdus"] != packets:
        faults.append(f"{stream['pdus']} PDUs in {packets} packets")
    return faults


def main(tactus, folder):
    if not shutil.which("tshark"):
        print("tshark is not installed: nothing to compare with")
        return 77
    captures = sorted(pathlib.Path(folder).glob("*.pcapng"))
    bad = 0
    for path in captures:
        for fault in faults_of(tactus, str(path)):
            print(f"{path.name}: {fault}")
            bad = 1
    print(f"{len(captures)} captures compared")
    return bad if captures else 1


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
