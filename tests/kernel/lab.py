#!/usr/bin/env python3
"""Runs one guest test in a stock Debian kernel under QEMU: software emulation, virtual time.

usage: lab.py [--kernel SERIES] [--limit SECONDS] TEST [FILE...]
TEST is a script or program that prints TAP; FILEs lie beside it in the guest, in /project, which is
in PATH. Exit codes: 0 all good; 1 not so; 77 this machine lacks something (the last line says what).

Time in the guest goes by instructions executed, so that a noisy host changes no verdict. The test's
output has a serial port of its own; the kernel's messages and standard error go to the other, whose
end is shown where the test fails. What fails a run: a `not ok`, an exit code, a plan that is missing
or does not match, the end mark missing (a panic, an early power-off), the time being up.
"""

import argparse
import os
import pathlib
import re
import subprocess
import sys
import tempfile

import image

HERE = pathlib.Path(__file__).parent
END_MARK = re.compile(r"^lab-end (\d+)$", re.MULTILINE)
RESULT = re.compile(r"^(not )?ok\b(.*)$")
PLAN = re.compile(r"^1\.\.(\d+)$", re.MULTILINE)
TAIL_LINES = 60
MACHINE = (
    "-accel tcg,thread=single -icount shift=1,sleep=off -rtc base=2026-01-01T00:00:00,clock=vm -seed 1 "
    "-cpu max,-rdrand,-rdseed -M q35 -m 512 -smp 1 -no-reboot -display none -nodefaults"
).split()
KERNEL_OPTIONS = (
    "console=ttyS0 quiet panic=-1 mitigations=off nokaslr random.trust_cpu=off tsc=reliable no_timer_check"
)


def project_archive(test, files):
    entries = {}
    for path in (HERE / "init", HERE / "guest.sh", test, *files):
        image.add_program(entries, "init" if path.name == "init" else f"project/{path.name}", path)
    return image.archive(entries)


def boot(series, limit, test, files):
    """Runs the guest; returns what the test printed, the serial log, and whether the time was up."""
    vmlinux, root = image.prepare(series)
    with tempfile.TemporaryDirectory() as scratch:
        scratch = pathlib.Path(scratch)
        (scratch / "initrd").write_bytes(root + project_archive(test, files))
        command = [
            "nice", "-n", "19", "qemu-system-x86_64", *MACHINE,
            "-kernel", str(vmlinux), "-initrd", str(scratch / "initrd"),
            "-append", f"{KERNEL_OPTIONS} LAB_TEST={test.name}",
            # To files: a pipe makes runs differ.
            "-serial", f"file:{scratch / 'serial'}", "-serial", f"file:{scratch / 'output'}",
        ]
        try:
            done = subprocess.run(command, timeout=limit, capture_output=True, text=True, check=False)
            trouble = done.stderr if done.returncode else ""
            expired = False
        except FileNotFoundError as error:
            raise image.Unavailable("qemu-system-x86_64 is not installed") from error
        except subprocess.TimeoutExpired:
            trouble, expired = "", True
        read = [path.read_text(encoding="utf-8", errors="replace").replace("\r", "") if path.exists() else ""
                for path in (scratch / "output", scratch / "serial")]
        return read[0], read[1] + trouble, expired


def judge(output, expired, limit):
    """(passed, failed, skipped, what is wrong beyond the results themselves)."""
    passed = failed = skipped = 0
    wrong = []
    for line in output.splitlines():
        found = RESULT.match(line)
        if found and found.group(1):
            failed += 1
        elif found and "# SKIP" in found.group(2).upper():
            skipped += 1
        elif found:
            passed += 1
    end = END_MARK.search(output)
    plan = PLAN.search(output)
    if expired:
        wrong.append(f"the time of {limit} s is up")
    elif not end:
        wrong.append("the guest ended early: the end mark is missing")
    elif end.group(1) != "0":
        wrong.append(f"the test ended with exit code {end.group(1)}")
    if end and (not plan or int(plan.group(1)) != passed + failed + skipped):
        wrong.append("the number of results is not the one that was planned")
    if end and passed + failed + skipped == 0:
        wrong.append("there is no result")
    return passed, failed, skipped, wrong


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--kernel", default=os.environ.get("TACTUS_LAB_KERNEL") or "6.1")
    parser.add_argument("--limit", type=int, default=120)
    parser.add_argument("test", type=pathlib.Path)
    parser.add_argument("files", type=pathlib.Path, nargs="*")
    arguments = parser.parse_args()
    if os.uname().machine != "x86_64":
        print("the kernel lab runs on x86_64 only")
        return 77
    try:
        output, serial, expired = boot(arguments.kernel, arguments.limit, arguments.test, arguments.files)
    except image.Unavailable as error:
        print(f"no kernel lab here: {error}")
        return 77
    print(END_MARK.sub("", output).rstrip())
    passed, failed, skipped, wrong = judge(output, expired, arguments.limit)
    for what in wrong:
        print(f"not ok - {what}")
    if failed or wrong:
        print("the end of the guest's serial log:", *("    " + line for line in serial.splitlines()[-TAIL_LINES:]),
              sep="\n")
    failed += len(wrong)
    print(f"{passed} passed, {failed} failed, {skipped} skipped")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
