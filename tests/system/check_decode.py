"""Compares, packet by packet, the fields that the parsers find with those that tshark prints.

usage: check_decode.py DECODE_FIELDS CAPTURES_FOLDER

The captures hold what other talkers sent, which is one shape each; so a capture made here adds every format,
rate, flag and tag. Exit 77 (skipped) where tshark is not installed.
"""

import pathlib
import random
import shutil
import struct
import subprocess
import sys
import tempfile

FIELDS = (
    ["frame.number", "eth.dst", "eth.src", "vlan.id", "vlan.priority"]
    + ["ieee1722." + f for f in ("subtype", "svfield", "verfield")]
    + ["aaf." + f for f in ("mrfield", "tvfield", "seqnum", "tufield", "stream_id", "avtp_timestamp")]
    + ["aaf." + f for f in ("format_info", "nominal_sample_rate", "channels_per_frame", "bit_depth")]
    + ["aaf." + f for f in ("stream_data_len", "sparse_timestamp", "evtfield", "data")]
    + ["crf." + f for f in ("mrfield", "fsfield", "tufield", "seqnum", "type", "stream_id", "pull")]
    + ["crf." + f for f in ("base_frequency", "data_len", "timestamp_interval", "timestamp")]
)
TEXT = {"eth.dst", "eth.src", "aaf.data"}
SAMPLE_BYTES = {1: 4, 2: 4, 3: 3, 4: 2}


def normal(name, text):
    """The value of a field, whichever way it was written."""
    if name in TEXT:
        return text.lower()
    return [int(part, 0) for part in text.split(",")]


def from_tshark(capture):
    command = ["tshark", "-n", "-r", str(capture), "-T", "fields", "-E", "separator=/t"]
    for field in FIELDS:
        command += ["-e", field]
    done = subprocess.run(command, check=True, capture_output=True, text=True)
    for line in done.stdout.splitlines():
        yield {f: normal(f, v) for f, v in zip(FIELDS, line.split("\t")) if v != ""}


def from_parsers(program, capture):
    done = subprocess.run([program, str(capture)], check=True, capture_output=True, text=True)
    for line in done.stdout.splitlines():
        if "refused=" in line:
            raise SystemExit(f"{capture}: {line}")
        yield {f: normal(f, v) for f, v in (pair.split("=", 1) for pair in line.split())}


def compare(program, capture):
    theirs = list(from_tshark(capture))
    ours = list(from_parsers(program, capture))
    if len(theirs) != len(ours) or not ours:
        raise SystemExit(f"{capture}: tshark sees {len(theirs)} packets, we see {len(ours)}")
    for a, b in zip(theirs, ours):
        if a != b:
            names = [f for f in FIELDS if a.get(f) != b.get(f)]
            raise SystemExit(f"{capture}, packet {a['frame.number']}: {names}\n{a}\n{b}")
    fields = sum(len(packet) for packet in ours)
    print(f"{capture.name}: {fields} fields of {len(ours)} packets are equal")


def header(rng, tagged):
    tag = struct.pack(">HH", 0x8100, rng.getrandbits(16) & ~0x1000) if tagged else b""
    return bytes.fromhex("01aaaaaaaaaa001b21010203") + tag + b"\x22\xf0"


def aaf_frame(rng, form, nsr, channels, depth):
    """One AAF frame with random flags; form is the format's code."""
    frames = rng.randint(1, max(1, 1400 // (channels * SAMPLE_BYTES[form])))
    payload = rng.randbytes(frames * channels * SAMPLE_BYTES[form])
    return header(rng, rng.random() < 0.5) + struct.pack(
        ">BBBBQIBHBHBB",
        2, 0x80 | rng.choice((0, 8)) | rng.choice((0, 1)), rng.getrandbits(8), rng.choice((0, 1)),
        rng.getrandbits(64), rng.getrandbits(32), form, nsr << 12 | channels, depth, len(payload),
        rng.choice((0, 16)) | rng.getrandbits(4), 0,
    ) + payload  # fmt: skip


def crf_frame(rng):
    stamps = rng.randbytes(8 * rng.randint(1, 12))
    return header(rng, rng.random() < 0.5) + struct.pack(
        ">BBBBQIHH",
        4, 0x80 | rng.choice((0, 8)) | rng.choice((0, 2)) | rng.choice((0, 1)), rng.getrandbits(8),
        rng.randint(0, 5), rng.getrandbits(64), rng.randint(0, 5) << 29 | rng.randint(1, 2**29 - 1),
        len(stamps), rng.randint(1, 65535),
    ) + stamps  # fmt: skip


def write_capture(path, frames):
    with open(path, "wb") as out:
        out.write(struct.pack("<IHHiIII", 0xA1B2C3D4, 2, 4, 0, 0, 65535, 1))
        for frame in frames:
            out.write(struct.pack("<IIII", 0, 0, len(frame), len(frame)) + frame)


def every_shape():
    rng = random.Random(1)
    for form, width in SAMPLE_BYTES.items():
        for nsr in range(1, 11):
            for channels in (1, 2, 8, 32, 300):
                depth = 8 * width if form == 1 else rng.randint(1, 8 * width)
                yield aaf_frame(rng, form, nsr, channels, depth)
    for _ in range(100):
        yield crf_frame(rng)


def main():
    program, folder = sys.argv[1:]
    captures = sorted(pathlib.Path(folder).glob("*.pcapng"))
    if not captures:
        raise SystemExit(f"no captures in {folder}")
    if not shutil.which("tshark"):
        print("skipped: tshark is not installed (Debian: apt-get install tshark)")
        return 77
    for capture in captures:
        compare(program, capture)
    with tempfile.TemporaryDirectory() as scratch:
        made = pathlib.Path(scratch, "every-shape.pcap")
        write_capture(made, every_shape())
        compare(program, made)
    return 0


if __name__ == "__main__":
    sys.exit(main())
