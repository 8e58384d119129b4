#!/usr/bin/env python3
"""Holds how the files read: size, width, the opening comment, and nothing of one machine in them.

usage: text.py ROOT. Looks at the files that git tracks, or, without git, at all but build folders.
"""
import pathlib
import re
import subprocess
import sys

LINES, COLUMNS = 500, 100
CODE = {".c", ".h"}
OPENING = {".c": "/*", ".h": "/*", ".py": ("#", '"""'), ".sh": "#"}
IGNORED = re.compile(r"(^|/)(\.git|build(-[^/]*)?|demo-out|fuzz-out|__pycache__)(/|$)")
UNFINISHED = re.compile(r"\b(TO" r"DO|FIX" r"ME|X" r"XX)\b")
# Somebody's folders, and the hosts that packages come from.
MACHINE = re.compile(r"(?<![\w.])/(home|root|work)/|/tmp/w" r"t\b"
                     r"|\b(deb|security|snapshot|ftp)\.debian\.org|\bregistry\.npmjs\.|\bpypi\.org"
                     r"|\bhttps?_proxy=", re.IGNORECASE)


def files_of(root):
    git = subprocess.run(["git", "-C", root, "ls-files", "-z"], capture_output=True, check=False) \
        if (root / ".git").exists() and have_git() else None
    if git and git.returncode == 0:
        names = [name.decode() for name in git.stdout.split(b"\0") if name]
    else:
        names = [str(path.relative_to(root)) for path in root.rglob("*")]
    return [root / name for name in sorted(names)
            if not IGNORED.search(name) and (root / name).is_file()]


def have_git():
    try:
        return subprocess.run(["git", "--version"], capture_output=True, check=False).returncode == 0
    except FileNotFoundError:
        return False


def faults_of(path, root, text):
    name = path.relative_to(root)
    lines = text.splitlines()
    if path.suffix in CODE:
        if len(lines) > LINES and name.parts[0] == "src":
            yield f"{name}: {len(lines)} lines; a file stays under {LINES}"
        for number, line in enumerate(lines, 1):
            if len(line.expandtabs(8)) > COLUMNS:
                yield f"{name}:{number}: {len(line)} columns; a line has at most {COLUMNS}"
    if path.suffix in OPENING and not text.startswith(OPENING[path.suffix]):
        yield f"{name}:1: opens without a comment that says what the file is for"
    for number, line in enumerate(lines, 1):
        if UNFINISHED.search(line):
            yield f"{name}:{number}: a mark of unfinished work"
        found = MACHINE.search(line)
        if found:
            yield f"{name}:{number}: '{found.group(0)}' is of one machine or network"


def main(root):
    root = pathlib.Path(root)
    faults, looked_at = [], 0
    for path in files_of(root):
        data = path.read_bytes()
        if b"\0" in data:  # a capture, a corpus file
            continue
        looked_at += 1
        faults += faults_of(path, root, data.decode("utf-8", errors="replace"))
    print(*faults, f"text: {looked_at} files, {len(faults)} wrong", sep="\n")
    return 1 if faults or not looked_at else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
