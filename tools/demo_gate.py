#!/usr/bin/env python3
"""The gates of user space, shown in 15 seconds: TCP through a schedule as Linux did it until 2021, and through `tactus
gate shape`. Run it by ./dev demo gate.

usage: demo_gate.py TACTUS. Exit codes: 0 shown; 1 the second is not better than the first; 3 the machine lacks something.
"""
import pathlib
import subprocess
import sys
import threading
import time

sys.path.insert(0, str(pathlib.Path(__file__).parent.parent / "tests" / "system"))

from shape_lab import FAR_ADDRESS, FAR, HALF, NEAR, Lab, Lacking  # pylint: disable=wrong-import-position

SECONDS = 4
LIMIT = 46.336  # 4 segments of 1448 bytes in each ms
PORT = 7000


class Counter:
    """Takes bytes at the far end, and knows how many."""

    def __init__(self, lab):
        self.bytes, self.time = 0, 0.0  # as of the last report, on the receiver's clock
        self.program = lab.start(FAR, "python3", "-c", RECEIVER, FAR_ADDRESS, PORT, stdout=subprocess.PIPE)
        self.program.stdout.readline()
        threading.Thread(target=self.read, daemon=True).start()

    def read(self):
        for line in self.program.stdout:
            at, count = line.split()
            self.bytes, self.time = int(count), float(at)


RECEIVER = """
import socket, sys, time
server = socket.create_server((sys.argv[1], int(sys.argv[2])))
print("ready", flush=True)
taker, _ = server.accept()
count, told = 0, 0
while part := taker.recv(1 << 16):
    count += len(part)
    if time.monotonic() > told + 0.05:
        told = time.monotonic()
        print(told, count, flush=True)
"""
SENDER = """
import socket, sys
sender = socket.create_connection((sys.argv[1], int(sys.argv[2])))
while True:
    sender.sendall(bytes(1 << 16))
"""


def mbps(start, end):
    """Between two reports of the receiver; 0 where there was none in between."""
    return 8 * (end[1] - start[1]) / (end[0] - start[0]) / 1e6 if end[0] > start[0] else 0.0


def show(tactus, title, *options):
    """Mbit/s in the last SECONDS - 1 seconds."""
    with Lab(tactus) as lab:
        print(f"\n{title}")
        lab.shape(HALF, *options)
        counter = Counter(lab)
        lab.start(NEAR, "python3", "-c", SENDER, FAR_ADDRESS, PORT, stderr=subprocess.DEVNULL)
        before, first, started = (0.0, 0), None, time.monotonic()
        for second in range(1, SECONDS + 1):
            time.sleep(max(0, started + second - time.monotonic()))
            now = counter.time, counter.bytes
            print(f"  second {second}: {mbps(before, now) if second > 1 else 8 * now[1] / 1e6:7.3f} Mbit/s", flush=True)
            before, first = now, first or now
        return mbps(first, before)


def main(tactus):
    print("100 Mbit/s, a gate that is open 500 us in every ms; TCP hands over packets of up to 64 KB.")
    try:
        whole = show(tactus, "Whole packets, as Linux did until 2021: they are longer than the window.", "--whole")
        cut = show(tactus, "tactus gate shape: cut to what fits the window that is left.")
    except Lacking as lacking:
        print(f"demo: {lacking}", file=sys.stderr)
        return 3
    print(f"\nBefore {whole:.2f}, after {cut:.2f}, and the limit is {LIMIT:.2f} Mbit/s of payload received "
          "(computed departures).")
    return 0 if cut > whole else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
