#!/usr/bin/env python3
"""Holds the arrows between the rooms: which room may include which, and who may use which library.

usage: arrows.py ROOT. The table is doc/design.md's drawing. Every include between quotes names its
room ("audio/talker.h"), so that each arrow stands at the top of a file.
"""
import pathlib
import re
import sys

PURE = ["audio", "midi", "meter", "gate"]
ALLOWED = {
    "base": [],
    **{room: ["base"] for room in PURE},
    "os": ["base"],
    "run": [*PURE, "os", "base"],
    "report": ["run", *PURE, "base"],  # plain values of run (counters), never the other way
    "plugin": ["run", "report", *PURE, "os", "base"],
    "cli": ["run", "report", *PURE, "os", "base"],
}
LIBRARIES = [  # header, the rooms that may use it
    (r"alsa/", ["os", "plugin"]),
    (r"libmnl/", ["os"]),
    (r"samplerate\.h", ["run"]),
    (r"jansson\.h", ["report", "cli"]),
    (r"(sndfile|curses|ncurses|microhttpd|argp)\.h|(pcap|ncurses)[./]", ["cli"]),
]
INCLUDE = re.compile(r'^\s*#\s*include\s*([<"])([^>"]+)[>"]')


def fault_of(room, mark, header):
    """What is wrong with one include, or None."""
    if mark == "<":
        for pattern, rooms in LIBRARIES:
            if re.match(pattern, header) and room not in rooms:
                return f"<{header}> belongs in {' and '.join(rooms)}, not in {room}"
        return None
    target, slash, _ = header.partition("/")
    if not slash or target not in ALLOWED:
        return f'"{header}" names no room; write "ROOM/file.h"'
    if target != room and target not in ALLOWED[room]:
        return f'"{header}": {room} may not look into {target} (may: {", ".join(ALLOWED[room]) or "nothing"})'
    return None


def main(root):
    src = pathlib.Path(root) / "src"
    faults, files, includes = [], 0, 0
    for path in sorted([*src.rglob("*.c"), *src.rglob("*.h")]):
        room = path.relative_to(src).parts[0]
        files += 1
        if room not in ALLOWED:
            faults.append(f"{path}: no room is called {room}")
            continue
        for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
            match = INCLUDE.match(line)
            if match:
                includes += 1
                fault = fault_of(room, *match.groups())
                if fault:
                    faults.append(f"{path}:{number}: {fault}")
    print(*faults, f"arrows: {includes} includes in {files} files, {len(faults)} wrong", sep="\n")
    return 1 if faults or not includes else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
