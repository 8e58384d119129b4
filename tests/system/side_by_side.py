"""Cases that mostly wait, each in a process and a network namespace of its own, several at a time.

A script calls run(cases) with all the names there are. Called again with one of them behind its other arguments,
it is that case: named() says which.
"""

import concurrent.futures
import os
import subprocess
import sys

SKIPPED = 77


def named(cases):
    """The case that this process is, or None."""
    return sys.argv[-1] if sys.argv[-1] in cases else None


def one(case):
    return case, subprocess.run([sys.executable] + sys.argv + [case], capture_output=True, text=True)


def run(cases, together):
    """Runs all of them and ends with what came of it. `together`: how many at a time."""
    count = {"passed": 0, "failed": 0, "skipped": 0}
    with concurrent.futures.ThreadPoolExecutor(together) as pool:
        for case, done in pool.map(one, cases):
            said = (done.stdout + done.stderr).rstrip()
            if done.returncode == SKIPPED:
                count["skipped"] += 1
                print(f"{said.splitlines()[-1]}\n[  SKIPPED ] {case}")
                continue
            count["failed" if done.returncode else "passed"] += 1
            print(f"{'FAILED' if done.returncode else 'good'}: {case}\n{said}")
    print(", ".join(f"{n} {what}" for what, n in count.items()))
    if count["skipped"] == len(cases):
        sys.exit(SKIPPED)
    sys.exit(1 if count["failed"] or not count["passed"] else 0)
