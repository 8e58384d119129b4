"""What the tests of `tactus watch` and `extract` make: AVTP packets, captures of them, a folder for each case."""
import json
import os
import pathlib
import struct
import subprocess
import sys
import tempfile
import unittest

TACTUS = os.path.abspath(sys.argv[1])
SECOND = 10**9
INTERVAL = 125_000
START = 1_796_025_585 * SECOND
TAI = 37 * SECOND
STREAM = "02:00:00:00:00:01:0007"


def pdu(index, stamp, tv=True):
    """Six frames of stereo INT16 at 48 kHz: left counts frames, right is its complement."""
    frames = [6 * index + i for i in range(6)]
    payload = b"".join(struct.pack(">HH", f & 0xFFFF, ~f & 0xFFFF) for f in frames)
    return (struct.pack(">BBBB", 2, 0x80 | tv, index & 0xFF, 0) + bytes.fromhex("0200000000010007")
            + struct.pack(">IBHBHBB", stamp & 0xFFFFFFFF, 4, 5 << 12 | 2, 16, len(payload), 0, 0)
            + payload)


def packet(index, stamp, vlan=None, tv=True):
    tag = b"" if vlan is None else struct.pack(">HH", 0x8100, 3 << 13 | vlan)
    return (bytes.fromhex("91e0f000fe01020000000001") + tag + struct.pack(">H", 0x22F0)
            + pdu(index, stamp, tv))


def stream(indices, offset=TAI, vlan=2):
    """(arrival in UTC, packet) of PDUs that are due 2 ms after they arrive."""
    for i in indices:
        arrival = START + i * INTERVAL
        yield arrival, packet(i, arrival + offset + 2_000_000, vlan)


def pcap(packets, order="<", unit=1, link=1, snap=65535):
    magic = 0xA1B23C4D if unit == 1 else 0xA1B2C3D4
    out = struct.pack(order + "IHHiIII", magic, 2, 4, 0, 0, snap, link)
    for arrival, data in packets:
        kept = data[:snap]
        out += struct.pack(order + "IIII", arrival // SECOND, arrival % SECOND // unit, len(kept),
                           len(data)) + kept
    return out


def block(order, kind, body):
    body += bytes(-len(body) % 4)
    return struct.pack(order + "II", kind, len(body) + 12) + body + struct.pack(order + "I",
                                                                               len(body) + 12)


def pcapng(packets, order="<", link=1):
    out = block(order, 0x0A0D0D0A, struct.pack(order + "IHHq", 0x1A2B3C4D, 1, 0, -1))
    out += block(order, 1, struct.pack(order + "HHI", link, 0, 65535)
                 + struct.pack(order + "HHBxxxHH", 9, 1, 9, 0, 0))
    for arrival, data in packets:
        out += block(order, 6, struct.pack(order + "IIIII", 0, arrival >> 32, arrival & 0xFFFFFFFF,
                                           len(data), len(data)) + data)
    return out


MANY = 600


def many_streams():
    """Two packets of each of MANY streams, whose IDs are their numbers."""
    return pcap((START + (2 * i + n) * INTERVAL, packet(n, START + TAI + 2_000_000 + (2 * i + n) * INTERVAL)
                 .replace(bytes.fromhex("0200000000010007"), struct.pack(">Q", i + 1)))
                for i in range(MANY) for n in range(2))


class Case(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def file(self, name, content):
        path = self.folder / name
        path.write_bytes(content)
        return str(path)

    def tactus(self, code, *arguments):
        done = subprocess.run([TACTUS, *arguments], capture_output=True, text=True, timeout=60,
                              check=False)
        self.assertEqual(done.returncode, code, done.stdout + done.stderr)
        return done

    def watch(self, code, path):
        done = self.tactus(code, "watch", "--json", path)
        return json.loads(done.stdout), done.stderr
