"""Writes the corpus segment: a packet for each thing that can be done with one, and each reason to refuse it.
usage: make_segment_corpus.py CORPUS-FOLDER"""

import pathlib
import struct
import sys

MACS = bytes.fromhex("020000000001020000000002")


def claim(kind=0, size=0, start=0, offset=0, cut=255, checksum=False):
    return struct.pack(">BHHBB", kind + (129 if checksum else 0), size, start, offset, cut)


def tcp(payload, flags=0x10, options=b""):
    return struct.pack(">HHIIBBHHH", 1, 2, 3, 4, (20 + len(options)) // 4 << 4, flags, 9, 0, 0) + options + bytes(payload)


def udp(payload, source_port=1, port=9):
    return struct.pack(">HHHH", source_port, port, 8 + payload, 0) + bytes(payload)


def ipv4(protocol, body, tos=0, fragment=0x4000):
    return MACS + b"\x08\x00" + struct.pack(">BBHHHBBH8x", 0x45, tos, 20 + len(body), 7, fragment, 64, protocol, 0) + body


def ipv6(protocol, body, traffic_class=0):
    return MACS + b"\x86\xdd" + struct.pack(">IHBB32x", 6 << 28 | traffic_class << 20, len(body), protocol, 64) + body


def checksum(data):
    total = sum(struct.unpack(f">{(len(data) + 1) // 2}H", data + bytes(len(data) % 2)))
    while total >> 16:
        total = (total & 0xFFFF) + (total >> 16)
    return ~total & 0xFFFF


def summed(packet):
    """TCP with its checksums: what is cut to less has to be undamaged."""
    packet = bytearray(packet)
    if packet[12:14] == b"\x08\x00":
        packet[24:26] = struct.pack(">H", checksum(packet[14:34]))
        addresses, tcp_at = packet[26:34], 34
    else:
        addresses, tcp_at = packet[22:54], 54
    pseudo = addresses + struct.pack(">HI", 6, len(packet) - tcp_at)
    packet[tcp_at + 16:tcp_at + 18] = struct.pack(">H", checksum(pseudo + packet[tcp_at:]))
    return bytes(packet)


PACKETS = {
    "tcp4": claim(1, 1000) + ipv4(6, tcp(3500)),
    "tcp6": claim(1, 1000) + ipv6(6, tcp(3500)),
    "tcp4-tagged": claim(1, 1000) + MACS + b"\x81\x00\x60\x02" + ipv4(6, tcp(2500))[12:],
    "tcp6-extension": claim(1, 1000) + ipv6(0, bytes([6, 0, 1, 4, 0, 0, 0, 0]) + tcp(2500)),
    "udp4": claim(2, 1000) + ipv4(17, udp(3500)),
    "tcp-cut": claim(cut=12) + summed(ipv4(6, tcp(500))),
    "tcp-cut-marked": claim(cut=12) + summed(ipv6(6, tcp(500), traffic_class=2)),
    "tcp-marked": claim(cut=200) + ipv4(6, tcp(500), tos=1),
    "tcp-signed": claim(cut=12) + ipv4(6, tcp(500, options=bytes([19, 18] + [0] * 18))),
    "tcp-options-broken": claim(cut=12) + ipv4(6, tcp(500, options=bytes([8, 0, 1, 1]))),
    "checksum": claim(start=34, offset=6, checksum=True) + ipv4(17, udp(100)),
    "fragment": claim() + ipv4(17, udp(100), fragment=0x2000),
    "arp": claim() + MACS + b"\x08\x06" + bytes(46),
    "ptp": claim() + ipv4(17, udp(44, 319, 319)),
    "neighbour": claim() + ipv6(58, bytes([135]) + bytes(23)),
    "refused-short": claim() + MACS,
    "refused-headers": claim(1, 1000) + ipv4(17, udp(2500)),
    "refused-size": claim(1, 0) + ipv4(6, tcp(2500)),
    "refused-nothing-to-cut": claim(1, 1000) + ipv4(6, tcp(0)),
    "refused-checksum": claim(start=2000, offset=6, checksum=True) + ipv4(17, udp(100)),
}

if __name__ == "__main__":
    folder = pathlib.Path(sys.argv[1]) / "segment"
    folder.mkdir(exist_ok=True)
    for name, data in PACKETS.items():
        (folder / name).write_bytes(data)
