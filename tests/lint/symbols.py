#!/usr/bin/env python3
"""Holds what the static libraries of the rooms may contain, from their objects.

usage: symbols.py BUILD. Looks at BUILD/src/ROOM/libtt_ROOM.a, built without sanitizers.
- All rooms: every symbol they export starts with tt_.
- base and the pure rooms: they call nothing outside the list below and the rooms they may see,
  and they keep no writable static.
"""
import pathlib
import re
import subprocess
import sys

PURE = ["base", "audio", "midi", "meter", "gate"]
CALLS = set("""
    memcpy memmove memset memcmp memchr strlen strnlen strcmp strncmp strcasecmp strncasecmp strchr
    strrchr strstr strspn strcspn strpbrk strtok_r strtol strtoul strtoll strtoull strtoimax strtoumax
    snprintf vsnprintf sscanf bsearch tolower toupper abort __assert_fail __errno_location
""".split())
COMPILER = re.compile(  # what the compiler itself puts in: stack protector, PIC, 64- and 128-bit arithmetic
    r"__stack_chk_fail(_local)?|_GLOBAL_OFFSET_TABLE_|__x86\.get_pc_thunk\.\w+|__ctype_\w+_loc"
    r"|__(u?div|u?mod|u?divmod|mul|ashl|ashr|lshr|ffs|clz|ctz|popcount)[sdt]i[234]"
    r"|__(float|fix)(un)?s?[sdt][fi]([sdt][fi])?")
HEAP = {"malloc", "calloc", "realloc", "free"}
MATHS = set("""
    floor ceil round trunc rint nearbyint lround llround lrint llrint fabs sqrt fma fmin fmax ldexp frexp
""".split())
# Object file (without its suffix): what it may call besides. Each says so in its header.
EXTRA = {
    "observer": HEAP,
    "list": HEAP,
    "goodput": HEAP,
    "shaper": HEAP,
    "simulate": HEAP,
    "plan": HEAP,
    "plan_slots": HEAP,
    "bound": HEAP,
    "compare": MATHS,
    "media_clock": MATHS,
    "hist": MATHS,
    "pcm_float": MATHS,
    "servo": MATHS,
}
UNDEFINED = "*UND*"
WRITABLE = re.compile(r"\.data(?!\.rel\.ro)|\.bss|\.tdata|\.tbss|\*COM\*")
MEMBER = re.compile(r"^(?:.*[/(])?([^/()]+\.o)\)?:\s+file format")
SYMBOL = re.compile(r"^[0-9a-f]+ (.{7}) (\S+)\s+([0-9a-f]+)\s+(?:\.(?:hidden|internal|protected)\s+)?(\S+)$")


def symbols_of(library):
    """(object name without suffix, flags, section, size, name) of every symbol in an archive."""
    text = subprocess.run(["objdump", "-t", library], check=True, capture_output=True, text=True).stdout
    name = "?"
    for line in text.splitlines():
        member, symbol = MEMBER.match(line), SYMBOL.match(line)
        if member:
            name = re.sub(r"(\.c)?\.o$", "", member.group(1)).split("_src_")[-1]
        elif symbol:
            flags, section, size, what = symbol.groups()
            yield name, flags, section, int(size, 16), what


def may_call(name, symbol):
    fortified = re.fullmatch(r"__(\w+)_chk", symbol)
    plain = re.sub(r"^__isoc\d+_", "", fortified.group(1) if fortified else symbol)
    return (symbol.startswith("tt_") or plain in CALLS or plain in EXTRA.get(name, ())
            or COMPILER.fullmatch(symbol))


def faults_of(room, library):
    for name, flags, section, size, symbol in symbols_of(library):
        where = f"{room}/{name}.c"
        if section == UNDEFINED:
            if room in PURE and not may_call(name, symbol):
                yield f"{where}: calls {symbol}, which is on no list of tests/lint/symbols.py"
            continue
        if flags[0] in "gu!" and not symbol.startswith("tt_"):
            yield f"{where}: exports {symbol}, which does not start with tt_"
        if room in PURE and size > 0 and WRITABLE.match(section):
            yield f"{where}: {symbol} is a writable static of {size} bytes (section {section})"


def main(build):
    libraries = {path.parent.name: path for path in sorted(pathlib.Path(build).glob("src/*/libtt_*.a"))}
    faults = [fault for room, path in libraries.items() for fault in faults_of(room, path)]
    for room in ("base", "audio"):
        if room not in libraries or not any(symbols_of(libraries[room])):
            faults.append(f"{build}: no library of the room {room} to look at")
    print(*faults, f"symbols: {', '.join(libraries)}: {len(faults)} wrong", sep="\n")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
