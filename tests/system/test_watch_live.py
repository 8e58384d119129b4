#!/usr/bin/env python3
"""`tactus watch` live over a veth pair, also on a terminal.

usage: test_watch_live.py TACTUS [rootless]
In a network namespace of its own: a plain one as root, in a user namespace otherwise and for `rootless`.
"""
import fcntl
import json
import os
import pty
import select
import signal
import socket
import struct
import subprocess
import sys
import termios
import time
import unittest

from watch_lab import SECOND, STREAM, TACTUS, Case, packet


class Live(Case):
    """Needs the namespace that main() made, with the pair va - vb."""

    def start(self, *options):
        process = subprocess.Popen([TACTUS, "watch", "vb", "--json", *options],
                                   stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        self.addCleanup(process.stderr.close)
        self.addCleanup(process.stdout.close)
        self.addCleanup(process.wait)
        self.addCleanup(process.kill)
        return process

    def send(self, process, interface="va", vlan=None):
        """Until `process` has shown packets: nothing else says that it listens."""
        with socket.socket(socket.AF_PACKET, socket.SOCK_RAW) as sender:
            sender.bind((interface, 0))
            for index in range(100_000):
                sender.send(packet(index, 0, vlan, tv=False))
                time.sleep(0.001)
                if index % 100 == 0 and process.poll() is not None:
                    break
                if index % 100 == 0 and self.has_line(process):
                    shown = json.loads(process.stdout.readline())
                    if shown["streams"]:
                        return shown
        self.fail("it ended: " + process.stderr.read())
        return None

    @staticmethod
    def has_line(process):
        return bool(select.select([process.stdout], [], [], 0)[0])

    def end(self, process, number=signal.SIGINT):
        process.send_signal(number)
        # Not communicate(): it would pass by what the reader of lines has taken already.
        out, said = process.stdout.read(), process.stderr.read()
        process.wait(timeout=60)
        lines = [json.loads(line) for line in out.splitlines()]
        self.assertEqual([line["final"] for line in lines], [False] * (len(lines) - 1) + [True])
        return process.returncode, lines[-1], said

    def test_tags_and_interrupts(self):
        for vlan, number in ((None, signal.SIGINT), (2, signal.SIGTERM)):
            process = self.start()
            first = self.send(process, vlan=vlan)
            code, last, _ = self.end(process, number)
            self.assertEqual(code, 0)
            self.assertRegex(last["arrival_stamps"], r"^by the kernel, in UTC \(.+\)$")
            row = last["streams"][0]
            self.assertEqual((row["vlan_id"], row["pcp"]), (vlan, None if vlan is None else 3))
            self.assertEqual(row["stream_id"], STREAM)
            self.assertGreater(row["pdus"], row["lost"])  # a starved machine drops some before anybody sees them
            self.assertFalse(first["final"])
            self.assertGreaterEqual(last["packets_dropped"], row["lost"])
            self.assertLess(last["packets_dropped"], row["pdus"])  # a tag that no VLAN here takes is no drop
            self.assertEqual(last["tai_offset_ns"], self.kernel_tai_offset_ns())

    @staticmethod
    def kernel_tai_offset_ns():
        """None where nobody set it."""
        ahead = time.clock_gettime(time.CLOCK_TAI) - time.time()
        return round(ahead) * SECOND or None

    def test_what_came_while_the_interface_was_down(self):
        """It is missing, and no port on the way lost it."""
        process = self.start()
        self.send(process, vlan=2)
        with socket.socket(socket.AF_PACKET, socket.SOCK_RAW) as sender:
            sender.bind(("va", 0))
            subprocess.run("ip link set vb down".split(), check=True)
            time.sleep(0.1)
            subprocess.run("ip link set vb up".split(), check=True)
            last, row = None, {"lost": 0}
            for index in (100_050, *range(100_060, 200_000)):
                if sender.send(packet(index, 0, 2, tv=False)) and self.has_line(process):
                    last = json.loads(process.stdout.readline())
                    row = last["streams"][0]
                if row["lost"]:
                    break
                time.sleep(0.001)
        codes = {finding["code"] for finding in row["findings"]}
        self.assertIn("lost_down", codes)
        self.assertNotIn("lost", codes)
        self.assertEqual(last["interface_downs"], 1)

    def test_interface_goes_down_and_nothing_is_there(self):
        """Also without any stream it is said."""
        process = self.start()
        process.stdout.readline()
        for state in ("down", "up"):
            subprocess.run(f"ip link set vb {state}".split(), check=True)
        process.send_signal(signal.SIGINT)
        last = json.loads(process.stdout.read().splitlines()[-1])
        self.assertEqual((last["final"], last["interface_downs"], last["streams"]), (True, 1, []))

    def test_written_file_survives_a_kill(self):
        path = str(self.folder / "live.pcapng")
        process = self.start("--write", path)
        shown = self.send(process, vlan=5)
        process.kill()
        process.wait()
        seen, _ = self.watch(0, path)
        self.assertGreaterEqual(seen["streams"][0]["pdus"], shown["streams"][0]["pdus"])
        self.assertEqual(seen["streams"][0]["vlan_id"], 5)
        with open(path, "rb") as written:
            self.assertEqual(struct.unpack("=I", written.read(4))[0], 0x0A0D0D0A)
        stamps = {value for key, value in seen["streams"][0].items() if key.endswith("_utc_ns")}
        self.assertTrue(any(stamp % 1000 for stamp in stamps), stamps)  # ns, not us

    def test_only_what_the_filter_lets_through_is_written(self):
        path = str(self.folder / "live.pcapng")
        process = self.start("--write", path, "--vlan", "none", "--address", "91:E0:F0:00:FE:01")
        with socket.socket(socket.AF_PACKET, socket.SOCK_RAW) as sender:
            sender.bind(("va", 0))
            index = 0
            while not self.has_line(process):
                sender.send(packet(index, 0, 9, tv=False))
                time.sleep(0.01)
                index += 1
        self.send(process)
        _, last, _ = self.end(process)
        self.assertGreater(last["filtered"], 0)
        seen, _ = self.watch(0, path)
        self.assertEqual([row["vlan_id"] for row in seen["streams"]], [None])
        self.assertEqual(seen["streams"][0]["pdus"], last["streams"][0]["pdus"])

    def on_terminal(self, term, *options, size=(30, 110)):
        """(process, its terminal): `tactus watch vb` on a terminal of so many lines and columns."""
        ours, theirs = pty.openpty()
        fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", *size, 0, 0))
        process = subprocess.Popen([TACTUS, "watch", "vb", *options], stdin=theirs, stdout=theirs, cwd=self.folder,
                                   env={**os.environ, "TERM": term}, start_new_session=True)
        os.close(theirs)
        self.addCleanup(os.close, ours)
        self.addCleanup(process.wait)
        self.addCleanup(process.kill)
        return process, ours

    def until(self, terminal, word, sender=None):
        """Reads, and sends packets meanwhile, until the word stands there. All that was read."""
        out, index = b"", 0
        while word not in out:
            if sender and index < 100_000:
                sender.send(packet(index, 0, tv=False))
                index += 1
            if select.select([terminal], [], [], 0.001 if sender else 60)[0]:
                try:
                    out += os.read(terminal, 65536)
                except OSError:
                    break
            elif not sender:
                break
        self.assertIn(word, out)
        return out

    def test_picture_and_keys(self):
        process, terminal = self.on_terminal("xterm-256color")
        with socket.socket(socket.AF_PACKET, socket.SOCK_RAW) as sender:
            sender.bind(("va", 0))
            self.until(terminal, STREAM.encode(), sender)
            for key, word in ((b"s", b"lost"), (b"p", b"paused"), (b"p", b""), (b"j", b""), (b"x", b"")):
                os.write(terminal, key)
                self.until(terminal, word)
            os.write(terminal, b"w")
            self.until(terminal, b"saved as tactus-watch.html")
            self.assertIn(STREAM, (self.folder / "tactus-watch.html").read_text())
            fcntl.ioctl(terminal, termios.TIOCSWINSZ, struct.pack("HHHH", 3, 20, 0, 0))
            os.write(terminal, b"r")
            self.until(terminal, STREAM.encode()[:8], sender)
        os.write(terminal, b"q")
        last = self.until(terminal, b"Interval between arrivals, ns").rpartition(b"\x1b[?1049l")
        self.assertTrue(last[1], last)  # the screen is given back before the tables
        self.assertEqual(process.wait(60), 0)

    @staticmethod
    def resize(process, terminal, *size):
        fcntl.ioctl(terminal, termios.TIOCSWINSZ, struct.pack("HHHH", *size, 0, 0))
        process.send_signal(signal.SIGWINCH)  # it is no terminal that it is controlled by

    def test_a_picture_that_stands_still(self):
        """It is drawn again in another size, and goes on with a reset; and findings are there to their end."""
        process, terminal = self.on_terminal("xterm-256color", size=(40, 110))
        with socket.socket(socket.AF_PACKET, socket.SOCK_RAW) as sender:
            sender.bind(("va", 0))
            self.until(terminal, STREAM.encode(), sender)
            os.write(terminal, b"p")
            self.until(terminal, b"paused")
            for size in ((30, 60), (45, 120)):
                self.resize(process, terminal, *size)
                seen = self.until(terminal, b"paused")
                self.assertIn(STREAM.encode(), seen)
            os.write(terminal, b"r")
            self.until(terminal, STREAM.encode(), sender)
            self.resize(process, terminal, 45, 60)
            self.until(terminal, b"them", sender)
        os.write(terminal, b"q")
        self.until(terminal, b"Interval between arrivals, ns")
        self.assertEqual(process.wait(60), 0)

    def test_a_usual_terminal(self):
        """Eighty columns hold all; and what is served is not taken back."""
        process, terminal = self.on_terminal("xterm-256color", "--metrics", "9744", size=(24, 80))
        with socket.socket(socket.AF_PACKET, socket.SOCK_RAW) as sender:
            sender.bind(("va", 0))
            seen = self.until(terminal, b"w save", sender)
            for word in (b"stream ID", b"type", b"PDU/s", b"lost", b"late p99", b"intvl sd", b"margin min", STREAM.encode()):
                self.assertIn(word, seen)
            os.write(terminal, b"r")
            self.until(terminal, b"not reset", sender)
        os.write(terminal, b"q")
        self.until(terminal, b"Interval between arrivals, ns")
        self.assertEqual(process.wait(60), 0)

    def test_a_narrow_terminal(self):
        """All that matters is in 40 columns: what is lost and late, the order, and every key."""
        process, terminal = self.on_terminal("xterm-256color", size=(24, 40))
        with socket.socket(socket.AF_PACKET, socket.SOCK_RAW) as sender:
            sender.bind(("va", 0))
            seen = self.until(terminal, b"w save", sender)
            for word in (b"1 stream, by number", b"ID ends", b"lost", b"late p99", b"margin min", b"01:0007"):
                self.assertIn(word, seen)
            os.write(terminal, b"p")
            self.until(terminal, b"paused", sender)
            os.write(terminal, b"s")  # a picture that stands still is sorted too
            self.until(terminal, b"lost", sender)
        os.write(terminal, b"q")
        self.until(terminal, b"Interval between arrivals, ns")
        self.assertEqual(process.wait(60), 0)

    def test_a_terminal_of_a_few_cells(self):
        """Fewer than a line has characters, from the start."""
        for size in ((3, 10), (2, 3), (1, 1)):
            process, terminal = self.on_terminal("xterm", "--duration", "1500ms", size=size)
            self.until(terminal, b"No AVTP.")
            self.assertEqual(process.wait(timeout=60), 1, size)

    def test_a_terminal_that_cannot_be_drawn_on(self):
        process, terminal = self.on_terminal("dumb", "--duration", "1500ms")
        out = self.until(terminal, b"No AVTP.")
        self.assertNotIn(b"\x1b", out)
        self.assertEqual(process.wait(60), 1)

    def test_the_capture_gives_the_same_figures(self):
        path = str(self.folder / "live.pcapng")
        process = self.start("--write", path)
        self.send(process, vlan=2)
        _, last, _ = self.end(process)
        seen, _ = self.watch(0, path)
        for key in ("interval_ns", "lateness_ns", "margin_ns", "pdus", "lost", "stamps", "measured_pdus_per_s",
                    "clock_drift_ppb", "first_utc_ns", "last_utc_ns"):
            self.assertEqual(seen["streams"][0][key], last["streams"][0][key], key)
        self.assertEqual(seen["traffic"], last["traffic"])

    def test_own_packets_are_not_seen(self):
        process = self.start("--duration", "1500ms")
        with socket.socket(socket.AF_PACKET, socket.SOCK_RAW) as sender:
            sender.bind(("vb", 0))
            while process.poll() is None:
                sender.send(packet(0, 0))
                time.sleep(0.01)
        last = json.loads(process.stdout.read().splitlines()[-1])
        self.assertEqual((process.returncode, last["final"], last["streams"]), (1, True, []))

    def test_interface_that_is_down(self):
        subprocess.run("ip link add vc type veth peer name vd".split(), check=True)
        said = self.tactus(3, "watch", "vc", "--duration", "1s").stderr
        self.assertIn("ip link set", said)
        self.assertEqual(said.count("is not up"), 1, said)


def inside():
    for command in ("ip link add va type veth peer name vb", "ip link set va up",
                    "ip link set vb up"):
        subprocess.run(command.split(), check=True)
    return unittest.main(argv=sys.argv[:1], exit=False).result


def live(rootless):
    """The exit code; 77 where there can be no namespace."""
    unshare = ["unshare", "-rn" if rootless or os.geteuid() != 0 else "-n"]
    if subprocess.run([*unshare, "true"], check=False).returncode != 0:
        print(f"no namespace can be made here ({' '.join(unshare)})")
        return 77
    return subprocess.run([*unshare, sys.executable, *sys.argv], check=False,
                          env={**os.environ, "TT_WATCH_INSIDE": "1"}).returncode


def main():
    if os.environ.get("TT_WATCH_INSIDE"):
        return 0 if inside().wasSuccessful() else 1
    return live(rootless=bool(sys.argv[2:]))


if __name__ == "__main__":
    sys.exit(main())
