"""Raw MIDI logs and Standard MIDI Files for tests: written and read by a second hand."""

import os
import struct

KERNEL, SEQUENCER, READ = range(3)  # stamps
UTC_NS = 1767225600 * 10**9
CLOCK, LOSS, GONE, BACK, NAME, STAMP, END = range(0x80, 0x87)


def header(mono_ns=10**9):
    return struct.pack("<8sHHHHqqq24x", b"\x89TTMID\r\n", 1, 64, 32, 0, mono_ns, UTC_NS, 700)


def frame(time_ns, data=b"", kind=0, port=0):
    return struct.pack("<BBBBIQ16s", kind, len(data), port, 0, time_ns % 10**9, time_ns // 10**9, data)


def loss(since_ns, until_ns, count, port=0):
    return frame(until_ns, struct.pack("<qQ", since_ns, count), LOSS, port)


def full_pipe():
    """(reader, writer): a pipe that nobody reads, and that takes no more."""
    reader, writer = os.pipe()
    fill = os.open(f"/proc/self/fd/{writer}", os.O_WRONLY | os.O_NONBLOCK)  # a description of its own
    try:
        while True:
            os.write(fill, bytes(4096))
    except BlockingIOError:
        os.close(fill)
    return reader, writer


def number(data, at):
    value = 0
    while True:
        value = value << 7 | data[at] & 127
        at += 1
        if data[at - 1] < 128:
            return value, at


def read_track(data):
    """[(tick, bytes)]: messages as they are, F0 and F7 events with that byte in front, meta events FF TYPE data."""
    events, at, tick = [], 0, 0
    while at < len(data):
        delta, at = number(data, at)
        tick += delta
        status = data[at]
        assert status >= 0x80, "running status"
        if status >= 0xF0:
            head = data[at:at + (2 if status == 0xFF else 1)]
            length, at = number(data, at + len(head))
            events.append((tick, head + data[at:at + length]))
            at += length
        else:
            length = 2 if 0xC0 <= status < 0xE0 else 3
            events.append((tick, data[at:at + length]))
            at += length
    assert events[-1][1] == b"\xff\x2f"
    return events


def read_smf(path):
    """(ticks a quarter, tracks)"""
    data = path.read_bytes()
    magic, size, form, count, division = struct.unpack_from(">4sIHHH", data)
    assert (magic, size, form) == (b"MThd", 6, 1), (magic, size, form)
    tracks, at = [], 14
    while at < len(data):
        magic, size = struct.unpack_from(">4sI", data, at)
        assert magic == b"MTrk"
        tracks.append(read_track(data[at + 8:at + 8 + size]))
        at += 8 + size
    assert len(tracks) == count
    return division, tracks
