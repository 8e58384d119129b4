#!/usr/bin/env python3
"""Random packets through the shaper in virtual time; the log of departures goes through the checker, and the checker
finds what is wrong in logs that are made wrong.

usage: test_shaper_random.py SHAPER_RANDOM [ARRIVALS]. TAP on standard output.
"""
import itertools
import pathlib
import random
import subprocess
import sys
import tempfile

import departures


def faults(lines):
    return sum(len(log.faults) for log in departures.read(lines))


def spoil(lines, rng, kind):
    """One frame at random a little longer, or a little earlier, so that it must collide; or a gate shut."""
    lines = list(lines)
    at = [n for n, line in enumerate(lines) if line.startswith("frame")]
    n = rng.choice(at[1:])
    word, launch, traffic_class, size = lines[n].split()
    if kind == "overlap":
        lines.insert(n, lines[n])
    elif kind == "class":
        lines[n] = f"{word} {launch} 31 {size}"  # no list opens it
    else:
        lines[n] = f"{word} {launch} {traffic_class} 900000"
    return lines


def main(program, arrivals):
    good = True
    with tempfile.TemporaryDirectory() as folder:
        log = pathlib.Path(folder) / "log"
        done = subprocess.run([program, str(arrivals), str(log)], capture_output=True, text=True, check=False)
        print(f"{'ok' if done.returncode == 0 else 'not ok'} - {arrivals} random arrivals # {done.stdout}{done.stderr}".strip())
        good &= done.returncode == 0
        with open(log, encoding="ascii") as lines:
            wrong = faults(lines)
        with open(log, encoding="ascii") as lines:
            head = list(itertools.islice(lines, 4000))
    print(f"{'not ok' if wrong else 'ok'} - no frame overlaps a closed gate or another frame")
    good &= not wrong
    rng = random.Random(1)
    for kind in ("overlap", "class", "long"):
        found = all(faults(spoil(head, rng, kind)) > 0 for _ in range(5))
        print(f"{'ok' if found else 'not ok'} - the checker finds: {kind}")
        good &= found
    print("1..5")
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1], int(sys.argv[2]) if len(sys.argv) > 2 else 20000))
