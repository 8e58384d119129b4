#!/usr/bin/env python3
"""The fault rig between two interfaces: what goes in comes out as the script says, tags too; a capture is replayed.

usage: test_rig.py PLUGIN_CONF CLIENT SHIM RIG TACTUS CAPTURE
"""
import json
import signal
import socket
import struct
import subprocess
import sys

from fault_lab import FaultLab

SOL_PACKET, PACKET_AUXDATA, ETH_P_ALL = 263, 8, 3
ATTEMPTS = 5  # a small socket buffer may overflow where the machine is busy
HEADER = bytes.fromhex("91e0f000fe01" "020000000001" "22f0")
TAGGED = bytes.fromhex("91e0f000fe01" "020000000001" "81006002" "22f0")
SCRIPT = """
pdu 3 drop            # 3 is gone
pdu 5 duplicate 2
copy set source 02:00:00:00:00:09
pdu 7 reorder 2       # behind 9
pdu 12-14 burst 3
pdu 16 truncate 12
pdu 17- set tu 1
pdu 18 delay 500ms    # behind 19
"""
ORDER = [0, 1, 2, 4, 5, 5, 5, 6, 8, 9, 7, 10, 11, 12, 13, 14, 15, 16, 17, 19, 18]


def pdu(number):
    return struct.pack(">BBBBQI8xI20x", 2, 0x81, number, 0, 0x0200000000010001, 1000 * number, number)


class Rig:
    """Runs for the length of a `with`; its totals are in `totals` afterwards."""

    def __init__(self, lab, script, *arguments, log=None):
        path = lab.folder / "script"
        path.write_text(script)
        self.program = lab.start([lab.rig, "--script", path, *(["--log", log] if log else []), *arguments], None)

    def __enter__(self):
        assert json.loads(self.program.stdout.readline()) == {"ready": True}
        return self

    def __exit__(self, *_):
        if "--replay" not in self.program.args:
            self.program.send_signal(signal.SIGINT)
        out, err = self.program.stdout.read(), self.program.stderr.read()  # communicate() loses what readline() kept
        self.program.wait(timeout=60)
        assert self.program.returncode == 0, err
        self.totals = json.loads(out.splitlines()[-1])


def open_socket(ifname):
    packets = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, socket.htons(ETH_P_ALL))
    packets.bind((ifname, ETH_P_ALL))
    packets.setsockopt(SOL_PACKET, PACKET_AUXDATA, 1)
    packets.settimeout(5)
    return packets


def receive(packets, count):
    """[(frame without its tag, the tag or None)] of AVTP: so many, or what there is."""
    received = []
    while len(received) < count:
        try:
            frame, control, _, _ = packets.recvmsg(2048, 256)
        except TimeoutError:
            break
        if frame[12:14] == b"\x22\xf0":
            status, _, _, _, _, tag, _ = struct.unpack("IIIHHHH", control[0][2][:20])
            received.append((frame, tag if status & 16 else None))
    return received


def check_rules(lab):
    talk, rig_in, rig_out, hear = lab.interfaces()
    sender, receiver = open_socket(talk), open_socket(hear)
    log = lab.folder / "log"
    with Rig(lab, SCRIPT, rig_in, rig_out, log=log) as rig:
        for number in range(20):
            sender.send((TAGGED if number == 2 else HEADER) + pdu(number))
        received = receive(receiver, len(ORDER))
    numbers = [frame[16] for frame, _ in received]
    lab.check(numbers == ORDER, f"the order is {numbers}")
    lab.check([tag for frame, tag in received if frame[16] == 2] == [0x6002], "the tag of 2 is lost")
    lab.check(sum(tag is not None for _, tag in received) == 1, "a tag too many")
    for number, (frame, _) in zip(numbers, received):
        lab.check(len(frame) == (26 if number == 16 else 14 + len(pdu(0))), f"{number} has {len(frame)} bytes")
        lab.check(number == 16 or frame[17] == (number >= 17), f"{number} has tu {frame[17]}")
    lab.check(sorted(frame[11] for frame, _ in received if frame[16] == 5) == [1, 9, 9], "the copies' source")
    applied = [rule["applied"] for rule in rig.totals["rules"]]
    lab.check(applied == [1, 1, 2, 1, 3, 1, 3, 1], f"applied: {applied}")
    lab.check((rig.totals["packets"], rig.totals["sent"], rig.totals["dropped"]) == (20, 21, 1), f"{rig.totals}")
    lab.check((rig.totals["first"]["payload"], rig.totals["last"]["payload"]) == (0, 19), f"{rig.totals}")
    lines = [json.loads(line) for line in log.read_text().splitlines()]
    lab.check([line["index"] for line in lines] == [3, 5, 7, 12, 13, 14, 16, 17, 18, 19], f"the log: {lines}")
    lab.check(lines[0]["packets"][0]["dropped"] and lines[0]["packets"][0]["payload"] == 3, f"the log: {lines[0]}")
    lab.check(len(lines[1]["packets"]) == 3 and lines[1]["lines"] == [3, 4], f"the log: {lines[1]}")


def replay(lab, capture, restamp, pdus):
    for _ in range(ATTEMPTS):
        _, _, rig_out, hear = lab.interfaces()
        with open_socket(hear) as receiver, Rig(lab, "", "--replay", capture, *restamp, rig_out) as rig:
            frames = [frame for frame, _ in receive(receiver, pdus)]
        if len(frames) == pdus:
            break
    lab.check(rig.totals["packets"] == rig.totals["sent"] == len(frames) == pdus, f"{len(frames)} of {rig.totals}")
    return frames


def check_replay(lab, capture):
    """All of it, in order; with --restamp the stamps are moved, all by the same."""
    out = subprocess.run([lab.tactus, "watch", "--json", capture], stdout=subprocess.PIPE, check=True)
    (stream,) = json.loads(out.stdout)["streams"]
    runs = [replay(lab, capture, restamp, stream["pdus"]) for restamp in ([], ["--restamp"])]
    sequences = [frame[16] for frame in runs[0]]
    lab.check(all((b - a) % 256 == 1 for a, b in zip(sequences, sequences[1:])), f"the order is {sequences[:20]} …")
    lab.check([f[:26] + f[30:] for f in runs[0]] == [f[:26] + f[30:] for f in runs[1]], "more than stamps differ")
    shifts = {(stamp_of(b) - stamp_of(a)) % 2**32 for a, b in zip(*runs)}
    lab.check(len(shifts) == 1 and 0 not in shifts, f"restamped by {sorted(shifts)[:5]}")


def stamp_of(frame):
    return int.from_bytes(frame[26:30], "big")


def check_refusals(lab):
    talk, rig_in, rig_out, _ = lab.interfaces()
    script = lab.folder / "wrong"
    for text, arguments, code, says in (
            ("pdu 5\n", [rig_in, rig_out], 2, "wrong, line 1: an action is missing; give drop"),
            ("\n\nset tu 2", [rig_in, rig_out], 2, "wrong, line 3: tu \"2\" will not do"),
            ("", [rig_in], 2, "usage: rig"),
            ("", ["--restamp", rig_in, rig_out], 2, "usage: rig"),
            ("", ["nobody", rig_out], 3, "cannot receive from nobody: No such device"),
            ("", ["--replay", "/dev/null", rig_out], 2, "/dev/null")):
        script.write_text(text)
        got, _, errors = lab.run([lab.rig, "--script", script, *arguments], None)
        lab.check(got == code and says in errors, f"{text!r} {arguments}: {got} {errors}")
    got, _, errors = lab.run([lab.rig, "--script", lab.folder / "none", rig_in, rig_out], None)
    lab.check(got == 2 and "cannot read" in errors, f"no script: {got} {errors}")


lab = FaultLab()
check_rules(lab)
check_replay(lab, sys.argv[6])
check_refusals(lab)
lab.end()
