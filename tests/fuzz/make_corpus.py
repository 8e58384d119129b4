"""Writes corpus/packet: a frame for each named reason and for each good shape. usage: make_corpus.py FOLDER"""

import pathlib
import struct
import sys

ETH = bytes.fromhex("01aaaaaaaaaa001b21010203")
AVTP = b"\x22\xf0"
TAG = bytes.fromhex("81006002")
STREAM = 0xAABBCCDDEEFF0001


def aaf(flags=0x81, form=4, rate_channels=0x5002, depth=16, length=24, last=0, payload=bytes(24)):
    head = struct.pack(">BBBBQIBHBHBB", 2, flags, 9, 0, STREAM, 1, form, rate_channels, depth, length, last, 0)
    return head + payload


def crf(flags=0x80, length=8, payload=bytes(8)):
    return struct.pack(">BBBBQIHH", 4, flags, 9, 1, STREAM, 48000, length, 96) + payload


PDUS = {
    "aaf-short": aaf()[:23],
    "aaf-version": aaf(flags=0x91),
    "aaf-no-stream": aaf(flags=0x01),
    "aaf-format-aes3": aaf(form=5),
    "aaf-format-user": aaf(form=0),
    "aaf-rate-user": aaf(rate_channels=0x0002),
    "aaf-rate-reserved": aaf(rate_channels=0xB002),
    "aaf-channels": aaf(rate_channels=0x5000),
    "aaf-bit-depth-0": aaf(depth=0),
    "aaf-bit-depth-17": aaf(depth=17),
    "aaf-truncated": aaf(length=28),
    "aaf-empty": aaf(length=0),
    "aaf-ragged": aaf(length=22),
    "aaf-int16": aaf(),
    "aaf-int24": aaf(form=3, depth=20),
    "aaf-int32": aaf(form=2, depth=24),
    "aaf-float32": aaf(form=1, depth=32),
    "aaf-sparse-unstamped": aaf(flags=0x80, last=0x10),
    "aaf-restart-event": aaf(flags=0x89, last=0x0F),
    "aaf-1023-channels": aaf(rate_channels=0x53FF, length=2046, payload=bytes(2046)),
    "aaf-padded": aaf(length=4),
    "crf-short": crf()[:19],
    "crf-version": crf(flags=0xF0),
    "crf-no-stream": crf(flags=0x00),
    "crf-truncated": crf(length=16),
    "crf-ragged": crf(length=7),
    "crf-one": crf(),
    "crf-six": crf(flags=0x8B, length=48, payload=bytes(48)),
    "crf-none": crf(length=0, payload=b""),
    "adp": bytes([0xFA]) + bytes(67),
    "subtype-reserved": bytes([0x42, 0, 0, 0]),
}

folder = pathlib.Path(sys.argv[1])
for name, pdu in PDUS.items():
    (folder / name).write_bytes(ETH + AVTP + pdu)
(folder / "eth-short").write_bytes(ETH + b"\x22")
(folder / "eth-tag-short").write_bytes(ETH + TAG + b"\x22")
(folder / "eth-other").write_bytes(ETH + b"\x08\x00" + bytes(46))
(folder / "eth-tagged-aaf").write_bytes(ETH + TAG + AVTP + aaf())
(folder / "eth-tagged-crf").write_bytes(ETH + TAG + AVTP + crf())
