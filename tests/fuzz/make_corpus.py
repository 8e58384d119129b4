"""Writes the corpora packet (a frame for each named reason and each good shape), listener and crf (a script for
each thing that can befall a stream, or a clock), observer (traffic of a link), ptp (answers of ptp4l) and records (capture files).
usage: make_corpus.py CORPUS-FOLDER"""

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
    "crf-type": crf()[:3] + b"\2" + crf()[4:],
    "crf-pull": crf()[:12] + b"\xC0" + crf()[13:],
    "crf-none": crf(length=0, payload=b""),
    "adp": bytes([0xFA]) + bytes(67),
    "subtype-reserved": bytes([0x42, 0, 0, 0]),
}

TV, MR, TU, TALKER, FORMAT, CORRUPT, STEP, NOTHING = (1 << bit for bit in range(8))


def pdu(flags=TV, sequence=1, step=12, off=0):
    """One step of a listener's script; PDUs are 125 us apart: 12 and 13 steps of 10 us by turns."""
    return struct.pack(">BBHi", flags, sequence & 255, step, off)


RUN = (pdu(step=12) + pdu(step=13)) * 10
SCRIPTS = {
    "clean": RUN * 4,
    "absent": pdu(NOTHING, step=20000) + RUN + pdu(NOTHING, step=0xFFFF) * 4 + RUN,
    "lost": RUN + pdu(sequence=3, step=37) + RUN,
    "lost-256": RUN + pdu(sequence=1, step=3212) + RUN,
    "late": RUN + pdu(step=500, off=-4875000) + RUN,
    "reordered": RUN + pdu(sequence=2, step=25) + pdu(sequence=-1, off=-250000) + pdu(sequence=2) + RUN,
    "duplicate": RUN + pdu(sequence=0, step=0) + RUN,
    "stamp-off": RUN + pdu(off=1000000) + RUN,
    "jump": RUN + b"".join(pdu(off=3000000) for _ in range(20)),
    "unplaced": RUN + pdu(sequence=100, off=500000000) + RUN,
    "early": pdu(off=500000000) + RUN,
    "restart": RUN + pdu(TV | MR, sequence=77, step=5000) + RUN.replace(b"\x01\x01\x00", b"\x03\x01\x00"),
    "uncertain": RUN + pdu(TV | TU) * 5 + RUN,
    "unstamped": RUN + pdu(0) * 5 + RUN,
    "other-talker": RUN + pdu(TV | TALKER) + RUN,
    "other-format": RUN + pdu(TV | FORMAT) + RUN,
    "refused": RUN + pdu(TV | CORRUPT, off=0xFF00) + RUN,
    "clock-step": RUN + pdu(STEP, off=1500000000) + RUN,
    "many-holes": RUN + b"".join(pdu(sequence=2, step=25, off=40000000) for _ in range(100)),
}

folder = pathlib.Path(sys.argv[1]) / "listener"
for name, script in SCRIPTS.items():
    (folder / name).write_bytes(script)
CRF_MR, CRF_TU, CRF_TALKER, CRF_FORMAT, CRF_CORRUPT, CRF_STEP, CRF_NOTHING, CRF_FAR = (1 << bit for bit in range(8))


def stamps(flags=0, sequence=1, step=300, off=2000000):
    """One step of a clock's script; PDUs are 30 ms apart."""
    return struct.pack(">BBHi", flags, sequence & 255, step, off)


LOCK = stamps() * 25
CLOCKS = {
    "clean": LOCK,
    "lost": LOCK + stamps(sequence=4, step=1200) + LOCK,
    "holdover": LOCK + stamps(CRF_NOTHING, step=20000) * 3 + LOCK,
    "duplicate": LOCK + stamps(sequence=0, step=0) + LOCK,
    "reordered": LOCK + stamps(sequence=2, step=600) + stamps(sequence=-1, step=0, off=-28000000) + stamps(sequence=2),
    "off": LOCK + stamps(off=2300000) + LOCK,
    "moved": LOCK + stamps(off=5300000) * 20,
    "far": LOCK + stamps(CRF_FAR) * 3 + stamps(CRF_FAR, off=-1) * 20 + LOCK,
    "negative": stamps(CRF_FAR, off=-2147483648) + LOCK,
    "wobble": b"".join(stamps(off=2000000 + 90000 * (-1) ** i) for i in range(60)),
    "drift": b"".join(stamps(off=2000000 + 30000 * i) for i in range(60)),
    "restart": LOCK + stamps(CRF_MR, off=7777777) * 10,
    "uncertain": LOCK + stamps(CRF_TU) * 3 + stamps(),
    "other-talker": LOCK + stamps(CRF_TALKER) + stamps(CRF_NOTHING, step=60000) + stamps(CRF_TALKER) * 30,
    "other-format": LOCK + stamps(CRF_FORMAT) + LOCK,
    "refused": LOCK + stamps(CRF_CORRUPT, off=0x1F03) + stamps(CRF_CORRUPT, off=0x4001) + LOCK,
    "stamp-off": LOCK + stamps(CRF_CORRUPT, off=0x1E8021) + LOCK,
    "clock-step": LOCK + stamps(CRF_STEP, off=1500000000) + LOCK,
}

folder = pathlib.Path(sys.argv[1]) / "crf"
for name, script in CLOCKS.items():
    (folder / name).write_bytes(script)
folder = pathlib.Path(sys.argv[1]) / "packet"
for name, bytes_of in PDUS.items():
    (folder / name).write_bytes(ETH + AVTP + bytes_of)
(folder / "eth-short").write_bytes(ETH + b"\x22")
(folder / "eth-tag-short").write_bytes(ETH + TAG + b"\x22")
(folder / "eth-other").write_bytes(ETH + b"\x08\x00" + bytes(46))
(folder / "eth-tagged-aaf").write_bytes(ETH + TAG + AVTP + aaf())
(folder / "eth-tagged-crf").write_bytes(ETH + TAG + AVTP + crf())


def seen(frame, step=125, cut=False):
    """One frame of a link's traffic, so many us after the one before."""
    return struct.pack(">iH", step, len(frame) | cut << 15) + frame


def counted(number, **more):
    return seen(ETH + TAG + AVTP + aaf(**more)[:2] + bytes([number & 255]) + aaf(**more)[3:])


def other(kind, body):
    return seen(ETH + bytes.fromhex(kind) + body)


ANNOUNCE = b"\x1b\x02" + bytes(51) + bytes(range(1, 9)) + bytes(3)
LINK = {
    "stream": b"".join(counted(i) for i in range(1200)),
    "stall": b"".join(counted(i, last=i == 900 and 0x10) for i in range(900)) + seen(ETH + AVTP + aaf(), step=2000000),
    "backwards": counted(1) + seen(ETH + TAG + AVTP + aaf(), step=-2147483648) * 3 + counted(2),
    "far": (counted(1) + seen(ETH + TAG + AVTP + aaf(), step=2147483647)) * 40,
    "crf": b"".join(seen(ETH + AVTP + crf()[:2] + bytes([i]) + crf()[3:], step=2000) for i in range(200)),
    "many": b"".join(seen(ETH[:11] + bytes([i]) + AVTP + aaf()) for i in range(9)),
    "cut": seen(ETH + AVTP + aaf()[:5], cut=True) + seen(ETH + AVTP + aaf()[:24], cut=True),
    "malformed": other("22f0", b"\2"),
    "network": other("88f7", ANNOUNCE) + other("88f7", bytes(44)) + other("88f7", bytes(9))
    + other("22ea", bytes(46)) + other("88f5", bytes(46)),
}
folder = pathlib.Path(sys.argv[1]) / "observer"
for name, traffic in LINK.items():
    (folder / name).write_bytes(traffic)


def answer(what, data, action=2):
    head = b"\x1d\x02" + struct.pack(">H", 54 + len(data)) + bytes(30) + bytes(12) + bytes([action, 0])
    return head + struct.pack(">HHH", 1, 2 + len(data), what) + data


folder = pathlib.Path(sys.argv[1]) / "ptp"
for name, message in {
    "time": answer(0xC000, bytes(range(50))), "time-short": answer(0xC000, bytes(49)),
    "properties": answer(0x2003, bytes([0, 37, 0x0C, 0xA0])), "properties-short": answer(0x2003, bytes(3)),
    "port": answer(0x2004, bytes(8) + b"\0\1\6"), "port-short": answer(0x2004, bytes(10)),
    "error": answer(0xC000, bytes(50), action=3), "other": answer(0x2000, bytes(20)), "short": answer(0, b"")[:53],
}.items():
    (folder / name).write_bytes(message)


def classic(order="<", magic=0xA1B23C4D, minor=4, lengths=(60, 61, 0)):
    file = struct.pack(order + "IHHIIII", magic, 2, minor, 0, 0, 65535, 1)
    return file + b"".join(struct.pack(order + "IIII", 1796025585, i, n, n) + bytes(n) for i, n in enumerate(lengths))


def block(order, kind, body):
    return struct.pack(order + "II", kind, len(body) + 12) + body + struct.pack(order + "I", len(body) + 12)


def section(order, *options):
    """A section of one interface, with these options."""
    return block(order, 0x0A0D0D0A, struct.pack(order + "IHHq", 0x1A2B3C4D, 1, 0, -1)) + interface(order, *options)


def interface(order, *options, link=1):
    return block(order, 1, struct.pack(order + "HHI", link, 0, 65535) + b"".join(
        struct.pack(order + "HH", code, len(value)) + value + bytes(-len(value) % 4) for code, value in options))


def packets(order, number=3, of=0):
    return b"".join(block(order, 6, struct.pack(order + "IIIII", of, i, 9, 60, 60) + bytes(60)) for i in range(number))


def read_up_to(size, file):
    return struct.pack("<H", size) + file


OTHER = block("<", 5, bytes(12))  # as long as the target says that libpcap reads on
COOKED = interface("<", link=113)
NS, OFFSET = (9, b"\x09"), (14, bytes(8))
folder = pathlib.Path(sys.argv[1]) / "records"
for name, file in {
    "us": read_up_to(24, classic(magic=0xA1B2C3D4)), "ns": read_up_to(24, classic()), "big": read_up_to(24, classic(">")),
    "version": read_up_to(24, classic(minor=3)), "long": read_up_to(24, classic(lengths=(60, 8))[:-8] + bytes([255] * 40)),
    "cut": read_up_to(24, classic()[:-7]), "elsewhere": read_up_to(40, classic()), "short": read_up_to(24, classic()[:20]),
    "blocks": read_up_to(len(section("<", NS)), section("<", NS) + packets("<")),
    "blocks-big": read_up_to(len(section(">")), section(">") + packets(">")),
    "offset": read_up_to(len(section("<", NS, OFFSET)), section("<", NS, OFFSET) + packets("<")),
    "other": read_up_to(len(section("<")), section("<") + packets("<") + OTHER + packets("<")),
    "second": read_up_to(len(section("<")), section("<") + packets("<") + interface("<", NS, (2, b"name")) + packets("<", of=1)),
    "sections": read_up_to(len(section("<")), section("<") + packets("<") + section("<") + packets("<")),
    "lengths": read_up_to(len(section("<")), section("<") + packets("<")[:-4] + bytes(4) + packets("<")),
    "many": read_up_to(len(section("<")), section("<") + OTHER * 70 + packets("<")),
    "mixed": read_up_to(len(section("<")), section("<") + COOKED + packets("<") + packets("<", of=1)),
    "mixed-later": read_up_to(len(section("<")), section("<") + packets("<") + OTHER + COOKED + packets("<") + OTHER),
    "turned": read_up_to(len(section("<")), section("<") + packets("<") + section(">") + packets(">") + section("<")),
    "mixed-cut": read_up_to(len(section("<")), (section("<") + COOKED + packets("<"))[:-9]),
    "mixed-sections": read_up_to(len(section("<")), section("<") + COOKED + packets("<") + section("<")),
}.items():
    (folder / name).write_bytes(file)
