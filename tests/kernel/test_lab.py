#!/usr/bin/env python3
"""The lab itself: a guest test that fails, hangs, panics or ends early makes the run fail, and a good one passes;
and trees that share the cache leave each other what they boot from.

usage: test_lab.py LAB.PY
"""

import os
import pathlib
import subprocess
import sys
import tempfile

HEAD = "#!/bin/sh\n. guest.sh\n"
# What a guest test does, its script, seconds it may take, what the output must hold. None of them passes.
GUESTS = (
    ("fails", 'check "one" true\ncheck "two" at_most 2 1\nfigure "seen"\necho "why" >&2\nfinish\n', 60,
     ("ok 1 - one", "not ok 2 - two", "# seen", "    why", "1 passed, 1 failed, 0 skipped")),
    ("panics", 'check "one" true\nfinish\necho c >/proc/sysrq-trigger\n', 60,
     ("the end mark is missing", "Kernel panic")),
    ("hangs", 'check "one" true\nfinish\nsleep 1000000000\n', 15, ("the time of 15 s is up",)),
)
# What a test printed, and what is wrong with it.
OUTPUTS = (
    ("passes", "ok 1 - one\n# 2 ns\nok 2 - two # SKIP no card\n1..2\nlab-end 0\n", (1, 0, 1), None),
    ("fails", "not ok 1 - one\nok 2\n1..2\nlab-end 0\n", (1, 1, 0), None),
    ("ends with an error", "ok 1 - one\n1..1\nlab-end 3\n", (1, 0, 0), "ended with exit code 3"),
    ("stops half way", "ok 1 - one\n1..2\nlab-end 0\n", (1, 0, 0), "not the one that was planned"),
    ("forgets its plan", "ok 1 - one\nlab-end 0\n", (1, 0, 0), "not the one that was planned"),
    ("tests nothing", "1..0\nlab-end 0\n", (0, 0, 0), "there is no result"),
    ("powers off early", "ok 1 - one\n1..1\n", (1, 0, 0), "the end mark is missing"),
)


def outputs_are_judged(lab):
    sys.path.insert(0, str(pathlib.Path(lab).parent))
    judge = __import__("lab").judge
    for name, output, counts, wrong in OUTPUTS:
        *counted, found = judge(output, False, 60)
        yield f"the output of a test that {name}", tuple(counted) == counts and (
            any(wrong in text for text in found) if wrong else not found), f"{counted} {found}"


def trees_share(lab, folder):
    sys.path.insert(0, str(pathlib.Path(lab).parent))
    image = __import__("image")
    image.add_programs = lambda entries: None
    image.add_modules = lambda entries, tree: None
    image.unpack = lambda kernel, scratch: None
    made = []
    for name in ("ours", "theirs", "ours"):
        image.key = lambda name=name: name
        made.append(image.make_root(folder))
    yield "two trees have a root each", made[0].exists() and made[1].exists() and made[2] == made[0], made
    os.utime(made[1], (0, 0))
    image.make_root(folder)
    yield "one that is not used any more goes", made[0].exists() and not made[1].exists(), made


def guests_fail(lab, folder):
    for name, script, limit, expected in GUESTS:
        path = folder / "test_case.sh"
        path.write_text(HEAD + script)
        path.chmod(0o755)
        done = subprocess.run([sys.executable, lab, "--limit", str(limit), str(path)],
                              capture_output=True, text=True, check=False)
        if done.returncode == 77:
            print(done.stdout, end="")
            sys.exit(77)
        missing = [text for text in expected if text not in done.stdout]
        yield f"a guest test that {name}", done.returncode == 1 and not missing, (
            f"exit code {done.returncode}, missing {missing} in:\n{done.stdout}{done.stderr}")


def main(lab):
    passed = failed = 0
    with tempfile.TemporaryDirectory() as folder:
        for what, good, seen in (*outputs_are_judged(lab), *trees_share(lab, pathlib.Path(folder)),
                                 *guests_fail(lab, pathlib.Path(folder))):
            print(f"{'ok' if good else 'not ok'} - {what}")
            passed += good
            failed += not good
            if not good:
                print(seen)
    print(f"{passed} passed, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
