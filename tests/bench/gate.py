#!/usr/bin/env python3
"""`./dev bench gate [SECONDS|soak [MINUTES]]`: iperf3 through `tactus gate shape` between two network namespaces, the
receiver's figure beside the limit.

usage: gate.py TACTUS [SECONDS | soak [MINUTES]]. Exit code 1: a figure is not what it should be; 3: the machine lacks
something.
"""
import hashlib
import json
import os
import pathlib
import random
import signal
import socket
import statistics
import struct
import subprocess
import sys
import threading
import time

HERE = pathlib.Path(__file__).parent
sys.path[:0] = [str(HERE.parent / "system"), str(HERE.parent / "sim")]

import departures  # pylint: disable=wrong-import-position
from gate_where import where
from shape_lab import (FAR, FAR_ADDRESS, FAR_WIRE, HALF, NEAR, SO_TIMESTAMPNS, WIRE, Lab, Lacking,
                       frames_of_log, schedule)

TACTUS = sys.argv[1]
WINDOW_360, WINDOW_125 = schedule((2, 640), (1, 360)), schedule((2, 875), (1, 125))
HALF_1G = schedule((2, 250), (1, 250))
PACKET_OUTGOING, SO_RCVBUFFORCE = 4, 33
RUNS, RUNS_FEW = 5, 3


def limit_of(gates, rate_mbps, ipv6=False):
    """Mbit/s of TCP payload: as many whole segments as fit the one window of class 0, by hand."""
    entries = gates[0]["options"]["schedule"]
    window_ns = sum(one["interval"] for one in entries if int(one["gatemask"], 16) & 1)
    payload = 1500 - (40 if ipv6 else 20) - 32
    segments = window_ns * rate_mbps // ((1514 + 24) * 8000)
    return segments * payload * 8000 / gates[0]["options"]["cycle_time"]


class Stamps:
    """What arrives at the far end, with the kernel's stamps, as a log for the checker."""

    def __init__(self, lab):
        self.socket = lab.socket_in(FAR, lambda: socket.socket(socket.AF_PACKET, socket.SOCK_RAW, socket.htons(3)))
        self.socket.bind((FAR_WIRE, 3))
        self.socket.setsockopt(socket.SOL_SOCKET, SO_TIMESTAMPNS, 1)
        self.socket.setsockopt(socket.SOL_SOCKET, SO_RCVBUFFORCE, 64 << 20)
        self.socket.settimeout(0.2)
        self.tai_offset_ns = round((time.clock_gettime(time.CLOCK_TAI) - time.time())) * 10**9
        self.frames, self.over = [], False
        self.thread = threading.Thread(target=self.take)
        self.thread.start()

    def take(self):
        while not self.over:
            try:
                data, control, _, address = self.socket.recvmsg(64, 64, socket.MSG_TRUNC)
            except TimeoutError:
                continue
            length = self.length_of(data)
            if address[2] != PACKET_OUTGOING and length:
                seconds, ns = struct.unpack("qq", control[0][2])
                self.frames.append((seconds * 10**9 + ns + self.tai_offset_ns, length))

    @staticmethod
    def length_of(head):
        """Of the frame, from its IPv4 header; others are not asked for here."""
        return 14 + int.from_bytes(head[16:18], "big") if head[12:14] == b"\x08\x00" else 0

    def faults(self, head):
        self.over = True
        self.thread.join()
        self.socket.close()
        log = departures.read(head + [f"frame {at} 0 {length}" for at, length in self.frames])[0]
        return len(log.faults), log.frames


class Stolen:
    """What the machine below took of the processors' time since this was made."""

    def __init__(self):
        self.before = self.read()

    @staticmethod
    def read():
        fields = pathlib.Path("/proc/stat").read_text(encoding="ascii").split("\n", 1)[0].split()[1:]
        return int(fields[7]), sum(map(int, fields[:8]))

    def percent(self):
        stolen, whole = (now - before for now, before in zip(self.read(), self.before))
        return 100 * stolen / max(whole, 1)


def received(report):
    return report.get("end", {}).get("sum_received", {}).get("bits_per_second", 0) / 1e6


def show(what, mode, limit, got, figures, faults, stolen, shares=None):
    """One run, as a line."""
    late, busy = figures["actual_minus_computed"], figures["cpu_ns"] / figures["elapsed_ns"]
    parts = " ".join(f"{100 * shares[key]:6.2f}" if shares else f"{'':6}" for key in ("sent", "short", "late", "empty"))
    lost = sum(one["dropped_full"] + one["dropped_delay"] for one in figures["classes"])
    print(f"{what:27} {mode:8} {limit:7.2f} {got:8.2f} {100 * got / limit:6.1f} {parts} {stolen.percent():6.2f} {lost:5}"
          f" {late['p99_ns'] / 1000:8.1f} {late['max_ns'] / 1000:8.1f} {100 * busy / max(got, 0.01):6.2f}"
          f" {sum(one['overruns'] for one in figures['classes']):8,} {faults:6}", flush=True)


def judge(got, least, limit, faults):
    """Of several runs."""
    middle = statistics.median(got)
    good = middle >= least and faults == 0
    print(f"    median {middle:.2f}, from {min(got):.2f} to {max(got):.2f}, of {limit:.2f}; demanded {least:.2f}"
          f"{'' if good else '   NOT AS IT SHOULD BE'}", flush=True)
    return good


def checked(lab, figures):
    """Faults in the log of departures; one that is missing is one."""
    with open(lab.folder / "departures", encoding="ascii") as lines:
        return sum(len(log.faults) for log in departures.read(lines)) + figures["log_lost"]


def computed(what, gates, least, seconds, *options, rate=100, ipv6=False, limit=None, runs=RUNS_FEW):
    limit, got, wrong = limit or limit_of(gates, rate, ipv6), [], 0
    for _ in range(runs):
        with Lab(TACTUS) as lab:
            lab.shape(gates, *options, rate=f"{rate}M")
            stolen = Stolen()
            got.append(received(lab.iperf(seconds=seconds, ipv6=ipv6)))
            _, figures = lab.stop()
            faults = checked(lab, figures)
            show(what, "computed", limit, got[-1], figures, faults, stolen, where(lab.folder / "departures", gates, rate))
            wrong += faults
    return judge(got, least, limit, wrong)


def explained(lab, gates, before=()):
    done = lab.run(NEAR, *before, TACTUS, "gate", "shape", "--schedule", lab.write_schedule(gates), "--rate", "100M", "--to",
                   WIRE, "--explain", "--json")
    return json.loads(done.stdout)["classes"][0]


def strict_run(seconds):
    """(received, predicted, faults). The far end's work is kept off the shaper's processor, as on a wire it would be."""
    with Lab(TACTUS) as lab:
        first, *others = sorted(os.sched_getaffinity(0))
        before = ["taskset", "-c", first] if others else []
        if others:
            lab.receive_on(FAR, FAR_WIRE, others[-1])
            lab.receive_on(NEAR, WIRE, others[-1])
        predicted = explained(lab, HALF, before)["strict_bps"] / 1e6
        lab.shape(HALF, "--mode", "strict", before=before)
        stamps = Stamps(lab)
        stolen = Stolen()
        got = received(lab.iperf(seconds=seconds))
        _, figures = lab.stop()
        outside, frames = stamps.faults(frames_of_log(lab.folder / "departures")[0])
        faults = checked(lab, figures)
        show("500 + 500 us, IPv4", "strict", predicted, got, figures, faults, stolen)
        print(f"    by the receiver's stamps {outside} of {frames} frames are not where they should be "
              f"({100 * outside / max(frames, 1):.2f} %)")
        return got, predicted, faults


def strict(seconds):
    """What --explain says before a run, and what comes of it; the receiver's stamps go through the checker."""
    runs = [strict_run(seconds) for _ in range(RUNS_FEW)]
    ratio = statistics.median(got / predicted for got, predicted, _ in runs)
    good = 0.9 <= ratio <= 1.1 and not any(faults for *_, faults in runs)
    print(f"    median {ratio:.3f} of what --explain predicted just before; demanded 0.9 to 1.1"
          f"{'' if good else '   NOT AS IT SHOULD BE'}", flush=True)
    return good


def stall():
    with Lab(TACTUS) as lab:
        lab.shape(HALF, "--whole")
        server = lab.iperf_server()
        client = lab.start(NEAR, "iperf3", "-c", FAR_ADDRESS, "-t", 4, "-J", "--connect-timeout", 3000,
                           stdout=subprocess.PIPE)
        time.sleep(4.5)
        lab.stop()
        client.send_signal(signal.SIGINT)
        client.communicate(timeout=30)
        server.kill()
        frames = frames_of_log(lab.folder / "departures")[1]
        first = frames[0][0]
        bits = [sum(8 * size for at, _, size, *_ in frames if (at - first) // 10**9 == second) / 1000
                for second in range(4)]
        print(f"500 + 500 us, whole packets as until 2021: {', '.join(f'{b:.0f}' for b in bits)} kbit/s in the seconds "
              f"from the first, frames that left")
        return bits[0] < 2000 and sum(bits[1:]) < 500


def figures(seconds):
    control = pathlib.Path("/proc/sys/net/ipv4/tcp_congestion_control").read_text(encoding="ascii").strip()
    good = [stall()]
    print(f"TCP's congestion control here is {control}. A line is a run of {seconds} s.")
    print(f"{'schedule':27} {'mode':8} {'limit':>7} {'received':>8} {'%':>6} {'sent%':>6} {'short%':>6} {'late%':>6} {'empty%':>6}"
          f" {'stolen':>6} {'lost':>5} {'p99 us':>8} {'max us':>8} {'CPU%/M':>6} {'overruns':>8} {'faults':>6}")
    good += [
        computed("500 + 500 us, IPv4", HALF, 45.0, seconds, runs=RUNS),
        computed("500 + 500 us, IPv6", HALF, 44.4, seconds, ipv6=True, runs=RUNS),
        computed("360 us in 1 ms, IPv4", WINDOW_360, 22.5, seconds, "--cut", "off"),
        computed("125 us in 1 ms, IPv4", WINDOW_125, 11.2, seconds, "--cut", "off"),
    ]
    with Lab(TACTUS) as lab:
        cut = explained(lab, WINDOW_360)["cut_to_fit_bps"] / 1e6
    good += [
        computed("360 us in 1 ms, cut to fit", WINDOW_360, 0.95 * cut, seconds, limit=cut),
        computed("250 + 250 us at 1 Gbit/s", HALF_1G, 400.0, seconds, "--cut", "off", rate=1000),
        strict(seconds),
    ]
    print("Mbit/s of TCP's payload, by iperf3's receiver, its start included. limit: whole segments; strict: what --explain\n"
          "predicted. Of the time that the gate was open: sent; short, what was left was too short for the next frame; late, "
          "the\nshaper was behind and had not read; empty, nothing had come from TCP. stolen: % of the processors' time, by the "
          "machine\nthat this one runs in. lost: packets and frames that queues dropped. p99, max: handed over - computed "
          "(strict: - decided).\nCPU%/M: of one processor, the real-time thread, for each Mbit/s. faults: frames over a closed gate or another frame, in the log of departures.")
    return all(good)


def transfer(lab, seconds, result):
    """Random bytes from near to far until the time is over; `result` says how many and whether they are the same."""
    server = lab.socket_in(FAR, socket.socket)
    server.bind((FAR_ADDRESS, 7100))
    server.listen()
    sender = lab.socket_in(NEAR, socket.socket)
    sender.connect((FAR_ADDRESS, 7100))
    receiver, _ = server.accept()
    sent, got, rng = hashlib.sha256(), hashlib.sha256(), random.Random(1)
    block = rng.randbytes(1 << 20)

    def send():
        until = time.monotonic() + seconds
        while time.monotonic() < until:
            start = rng.randrange(1 << 19)
            part = block[start:start + rng.randrange(1, 1 << 18)]
            sender.sendall(part)
            sent.update(part)
        sender.close()

    thread = threading.Thread(target=send)
    thread.start()
    count = 0
    while part := receiver.recv(1 << 16):
        got.update(part)
        count += len(part)
    thread.join()
    receiver.close()
    server.close()
    result.update(bytes=count, equal=sent.digest() == got.digest())


def memory_kb(program):
    """Of the shaper, which nsenter became."""
    status = pathlib.Path(f"/proc/{program.pid}/status").read_text(encoding="ascii")
    return int(status.split("VmRSS:")[1].split()[0])


def soak(minutes):
    """TCP both ways, datagrams, pings and a checksummed transfer, for so long."""
    seconds = round(60 * minutes)
    with Lab(TACTUS) as lab:
        lab.shape(HALF)
        result, programs = {}, []
        for port, words in ((5201, ["--bidir", "-b", "15M"]), (5202, ["-u", "-b", "2M"])):
            lab.start(FAR, "iperf3", "-s", "-1", "-p", port, stdout=subprocess.DEVNULL)
            time.sleep(0.5)
            programs.append(lab.start(NEAR, "iperf3", "-c", FAR_ADDRESS, "-p", port, "-t", seconds, "-i", 1, *words,
                                      "--forceflush", stdout=subprocess.PIPE))
        programs.append(lab.start(NEAR, "ping", "-q", "-i", "0.1", "-w", seconds, FAR_ADDRESS,
                                  stdout=subprocess.PIPE))
        mover = threading.Thread(target=transfer, args=(lab, seconds, result))
        mover.start()
        time.sleep(min(10, seconds / 4))
        before = memory_kb(lab.shaper)
        texts = [program.communicate(timeout=seconds + 60)[0] for program in programs]
        mover.join(60)
        after = memory_kb(lab.shaper)
        _, shown = lab.stop()
        faults = checked(lab, shown)
        stalled = sum(" 0.00 bits/sec" in line for line in texts[0].splitlines())
        print(f"{seconds} s: {result.get('bytes', 0):,} bytes checksummed, {'equal' if result.get('equal') else 'NOT EQUAL'}; "
              f"{stalled} seconds without TCP; memory {before} kB, then {after} kB; {faults} faults in "
              f"{shown['classes'][0]['frames']:,} frames")
        print(*[line for line in texts[2].splitlines() if "packet" in line or "rtt" in line],
              *[line for text in texts[:2] for line in text.splitlines() if "receiver" in line], sep="\n")
        return bool(result.get("equal")) and stalled == 0 and after <= before * 1.02 + 64 and faults == 0


def main(arguments):
    try:
        if arguments and arguments[0] == "soak":
            return 0 if soak(float(arguments[1]) if len(arguments) > 1 else 10) else 1
        return 0 if figures(int(arguments[0]) if arguments else 5) else 1
    except Lacking as lacking:
        print(f"bench gate: {lacking}", file=sys.stderr)
        return 3
    except ValueError:
        print("bench gate: give SECONDS, or soak [MINUTES]", file=sys.stderr)
        return 2


if __name__ == "__main__":
    sys.exit(main(sys.argv[2:]))
