"""Writes the corpora smf, midi_log and midi_parser: a file for each fault that tests/unit/test_smf.c names, for each
thing that can befall a recording, and for each way in which bytes make a message. usage: make_midi_corpus.py CORPUS-FOLDER"""

import pathlib
import re
import struct
import sys

HEADER = "4D546864 00000006 0001 0001 0060 "
END = "00FF2F00 "
NOTE = "00903C40 "


def smf_files():
    """The vectors of the unit test, from its text."""
    text = (pathlib.Path(__file__).parents[1] / "unit/test_smf.c").read_text(encoding="utf-8")
    table = text[text.index("vectors[] = {"):text.index("static void test_faults")]
    for what, code in re.findall(r'\{"([^"]*)",\s*((?:HEADER|END|NOTE|TRACK\("[^"]*"\)|"[^"]*"|\s)+),', table):
        code = re.sub(r'TRACK\("([^"]*)"\)', r'"4D54726B 000000\1 "', code)
        code = code.replace("HEADER", f'"{HEADER}"').replace("END", f'"{END}"').replace("NOTE", f'"{NOTE}"')
        yield what, bytes.fromhex("".join(re.findall(r'"([^"]*)"', code)))


def frame(kind=0, data=b"", port=0, time_ns=10**9):
    return struct.pack("<BBBBIQ16s", kind, len(data), port, 0, time_ns % 10**9, time_ns // 10**9, data)


def header(magic=b"\x89TTMID\r\n", version=1, size=64, frame_bytes=32):
    return struct.pack("<8sHHHHqqq24x", magic, version, size, frame_bytes, 0, 10**9, 1767225600 * 10**9, 700)


LOGS = {
    "empty": header(),
    "magic": header(magic=b"\x89TTMID\n\n"),
    "short": header()[:40],
    "version": header(version=2),
    "layout": header(size=32),
    "start-damaged": header()[:40] + struct.pack("<qqq", 10**9 + 2**44, 1767225600 * 10**9, 700) + frame(data=b"\xf8"),
    "notes": header() + frame(data=b"\x90\x3c\x40") + frame(data=b"\x3c\x00", time_ns=2 * 10**9) + frame(0x86),
    "sysex": header() + frame(data=b"\xf0" + bytes(15)) + frame(data=bytes(16)) * 5 + frame(data=b"\xf8\xf7"),
    "length": header() + frame(data=b"\xf8").replace(b"\0\x01", b"\0\x11", 1),
    "nsec": header() + struct.pack("<BBBBIQ16s", 0, 1, 0, 0, 10**9, 1, b"\xf8"),
    "seconds": header() + struct.pack("<BBBBIQ16s", 0, 1, 0, 0, 0, 2**62, b"\xf8"),
    "blank": header() + bytes(64) + frame(data=b"\xf8"),
    "cut": header() + frame(data=b"\xf8") + frame(data=b"\xf8")[:20],
    "loss": header() + frame(data=b"\x90\x3c") + frame(0x81, struct.pack("<qQ", 10**9, 37), time_ns=2 * 10**9)
    + frame(data=b"\x40"),
    "loss-short": header() + frame(0x81, b"\1\2\3") + frame(0x80, b"\1") + frame(0x85, b"\x09") + frame(0x85),
    "gone-and-back": header() + frame(0x82, port=3) + frame(0x83, port=3) + frame(data=b"\xfe", port=3),
    "names": header() + frame(0x84, b"a name of a port") * 40 + frame(0x85, b"\2") + frame(0x84, b"x", port=9),
    "clock": header() + frame(0x80, struct.pack("<qq", 1767225600 * 10**9, 500)),
    "unknown": header() + frame(0x33, b"\x90") + frame(0xFF, b"\x90"),
    "lone-port": header() + frame(0x84, b"a") + frame(0x85, b"\2") + frame(data=b"\xf8") + frame(data=b"\xf8", port=255),
    "far": header() + frame(data=b"\xf8", time_ns=2**62) + frame(data=b"\xf8", time_ns=0),
}


def in_frames(data, size):
    return b"".join(bytes([size - 1]) + data[i:i + size] for i in range(0, len(data), size))


PARSED = {
    "running": in_frames(bytes.fromhex("903C40 3C00 3E40 C005 06"), 3),
    "realtime": in_frames(bytes.fromhex("90F83CF84080F0F8F7"), 1),
    "sysex": in_frames(bytes.fromhex("F0010203F7 90 3C 40"), 2),
    "sysex-long": in_frames(b"\xf0" + bytes(100) + b"\xf7", 16),
    "cut-off": in_frames(bytes.fromhex("F00102903C803C40F7"), 4),
    "stray": in_frames(bytes.fromhex("3C40F63C90"), 1),
    "clocks-in-sysex": in_frames(b"\xf0\1" + b"\xf8" * 600 + b"\xf7", 16),
    "clocks-in-a-note": in_frames(b"\x90\1" + b"\xf8" * 300 + b"\x40", 16),
    "common": in_frames(bytes.fromhex("F105F20102F304F4F5F9FDFF"), 5),
}


def main(root):
    for name, files in (("smf", dict(smf_files())), ("midi_log", LOGS), ("midi_parser", PARSED)):
        folder = pathlib.Path(root) / name
        folder.mkdir(exist_ok=True)
        for what, data in files.items():
            (folder / re.sub(r"[^\w-]+", "-", what)).write_bytes(data)


main(sys.argv[1])
