#!/usr/bin/env python3
"""`tactus gate shape` between two network namespaces: TCP, UDP and pings through the gates, a stream beside them, and
what it says when it cannot.

usage: test_shape.py TACTUS PLUGIN-CONF. Every frame that leaves is held against the gates by sim/departures.py. Nothing is said
about times: on a busy machine all of this takes longer. Exit 77 where no namespace or no TAP can be made.
"""
import contextlib
import hashlib
import json
import os
import pathlib
import random
import re
import shutil
import signal
import socket
import subprocess
import sys
import threading
import time
import unittest

HERE = pathlib.Path(__file__).parent
sys.path.insert(0, str(HERE.parent / "sim"))
TACTUS, PLUGIN_CONF = sys.argv.pop(1), sys.argv.pop(1)

import departures  # pylint: disable=wrong-import-position
from shape_lab import FAR, FAR_ADDRESS, FAR_ADDRESS6, FAR_WIRE, HALF, NEAR, TIMEOUT_S, WIRE, Lab, Lacking, frames_of_log, schedule
from sound import noise, write_wav
from streams_lab import alsa_environment

PORT = 7000
ECT0, CE, IP_RECVTOS = 2, 3, 13
STREAM = {"streamid": "02:00:00:00:00:01:0001", "addr": "91:E0:F0:00:FE:01", "vlan_id": 2, "pcp": 3, "mtt": "900ms"}
# PCP 3, as class A has it, in the second class.
STREAM_GATES = schedule((2, 250), (1, 750))
STREAM_GATES[0]["options"]["map"][3] = 1


def data(bytes_, seed=1):
    return random.Random(seed).randbytes(bytes_)


class Transfer:
    """Bytes over TCP from one namespace to the other, once or, with `beside`, again and again while that program is at
    work; what came has to be what went."""

    def __init__(self, lab, sent, family=socket.AF_INET, there=NEAR, back=FAR, beside=None):
        address = FAR_ADDRESS if family == socket.AF_INET else FAR_ADDRESS6
        self.part, self.beside = sent, beside
        self.sent, self.got = hashlib.sha256(), hashlib.sha256()
        self.sent_bytes, self.bytes = 0, 0
        server = lab.socket_in(FAR, lambda: socket.socket(family, socket.SOCK_STREAM))
        server.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        server.bind((address, PORT))
        server.listen()
        self.sender = lab.socket_in(NEAR, lambda: socket.socket(family, socket.SOCK_STREAM))
        self.sender.settimeout(TIMEOUT_S)
        self.sender.connect((address, PORT))
        self.receiver, _ = server.accept()
        self.receiver.settimeout(TIMEOUT_S)
        server.close()
        if (there, back) == (FAR, NEAR):
            self.sender, self.receiver = self.receiver, self.sender
        self.threads = [threading.Thread(target=self.send), threading.Thread(target=self.receive)]
        for thread in self.threads:
            thread.start()

    def send(self):
        try:
            while True:
                self.sent.update(self.part)
                self.sent_bytes += len(self.part)
                self.sender.sendall(self.part)
                if not self.beside or self.beside.poll() is not None:
                    break
            self.sender.shutdown(socket.SHUT_WR)
        except OSError:
            pass  # seen by what has not come

    def receive(self):
        try:
            while part := self.receiver.recv(1 << 16):
                self.bytes += len(part)
                self.got.update(part)
        except OSError:
            pass

    def join(self):
        for thread in self.threads:
            thread.join(TIMEOUT_S)

    def is_whole(self):
        self.join()
        self.break_off()
        return self.bytes == self.sent_bytes and self.got.digest() == self.sent.digest()

    def break_off(self):
        for end in (self.sender, self.receiver):
            try:
                end.shutdown(socket.SHUT_RDWR)  # wakes the thread that waits in it
            except OSError:
                pass
        for thread in self.threads:
            thread.join()
        for end in (self.sender, self.receiver):
            end.close()


class Flood:
    """Datagrams as fast as they can be sent, by a socket that takes congestion marks (ECN) or not."""

    def __init__(self, lab, ecn):
        self.socket = lab.socket_in(NEAR, lambda: socket.socket(socket.AF_INET, socket.SOCK_DGRAM))
        self.socket.setsockopt(socket.IPPROTO_IP, socket.IP_TOS, ECT0 if ecn else 0)
        self.over = False
        self.thread = threading.Thread(target=self.send)
        self.thread.start()

    def send(self):
        while not self.over:
            try:
                self.socket.sendto(bytes(1400), (FAR_ADDRESS, PORT))
            except BlockingIOError:
                pass

    def end(self):
        self.over = True
        self.thread.join()
        self.socket.close()


class Shape(unittest.TestCase):
    def lab(self):
        try:
            lab = Lab(TACTUS)
        except Lacking as lacking:
            print(lacking)
            sys.exit(77)
        self.addCleanup(lab.close)
        return lab

    def check_log(self, lab):
        with open(lab.folder / "departures", encoding="ascii") as lines:
            logs = departures.read(lines)
        self.assertEqual([fault for log in logs for fault in log.faults], [])
        self.assertGreater(sum(log.frames for log in logs), 0)
        return logs

    def end(self, lab):
        code, figures = lab.stop()
        self.assertEqual(code, 0)
        self.assertEqual(figures["log_lost"], 0)
        self.check_log(lab)
        links = lab.run(NEAR, "ip", "-o", "link").stdout
        self.assertNotIn("gate0", links)
        return figures

    def test_traffic(self):
        """TCP both ways and over IPv6, datagrams and pings, all through gates; nothing is lost and nothing is wrong."""
        lab = self.lab()
        lab.shape(HALF)
        ping = lab.start(NEAR, "ping", "-q", "-c", 20, "-i", "0.02", FAR_ADDRESS, stdout=subprocess.PIPE)
        for family in (socket.AF_INET, socket.AF_INET6):
            self.assertTrue(Transfer(lab, data(1_000_000), family).is_whole())
        self.assertTrue(Transfer(lab, data(1_000_000, seed=2), there=FAR, back=NEAR).is_whole())
        receiver = lab.socket_in(FAR, lambda: socket.socket(socket.AF_INET, socket.SOCK_DGRAM))
        receiver.bind((FAR_ADDRESS, PORT))
        receiver.settimeout(TIMEOUT_S)
        sender = lab.socket_in(NEAR, lambda: socket.socket(socket.AF_INET, socket.SOCK_DGRAM))
        for number in range(50):
            sent = data(1 + 28 * number, seed=number)
            sender.sendto(sent, (FAR_ADDRESS, PORT))
            self.assertEqual(receiver.recv(65536), sent)
        sender.close()
        receiver.close()
        self.assertIn(" 0% packet loss", ping.communicate(timeout=TIMEOUT_S)[0])
        figures = self.end(lab)
        self.assertGreater(figures["classes"][0]["segmented"], 0)
        self.assertGreater(figures["returned"], 50)

    def flood(self, lab, ecn, key):
        """Until that counter of class 0 has grown; its lines of figures."""
        path = lab.folder / "figures"
        before = path.read_text().count("\n")
        flood = Flood(lab, ecn)
        self.addCleanup(flood.end)
        until = time.monotonic() + TIMEOUT_S
        while True:
            lines = [json.loads(line)["classes"][0] for line in path.read_text().splitlines(True)[before:] if line[-1] == "\n"]
            if len(lines) > 1 and lines[-1][key] > lines[0][key]:
                return flood, lines
            self.assertLess(time.monotonic(), until, (key, lines[-1:]))
            time.sleep(0.05)

    def test_congestion(self):
        """Who sends too much is told (ECN) or loses frames; the queue is bounded, and ARP does not wait behind it."""
        lab = self.lab()
        lab.shape(HALF)
        lab.ip(FAR, "address", "add", "10.77.0.3/24", "dev", FAR_WIRE)
        receiver = lab.socket_in(FAR, lambda: socket.socket(socket.AF_INET, socket.SOCK_DGRAM))
        receiver.setsockopt(socket.IPPROTO_IP, IP_RECVTOS, 1)
        receiver.settimeout(TIMEOUT_S)
        receiver.bind((FAR_ADDRESS, PORT))
        flood, lines = self.flood(lab, True, "marked")
        lab.run(NEAR, "ping", "-c", 1, "-W", 1, "10.77.0.3", check=False)
        until = time.monotonic() + TIMEOUT_S
        while "lladdr" not in lab.ip(NEAR, "neigh", "show", "10.77.0.3").stdout:
            self.assertLess(time.monotonic(), until, "ARP got no answer")
            lab.run(NEAR, "ping", "-c", 1, "-W", 1, "10.77.0.3", check=False)
        while receiver.recvmsg(2000, 64)[1][0][2][0] & CE != CE:
            pass
        flood.end()
        flood, more = self.flood(lab, False, "dropped_delay")
        flood.end()
        receiver.close()
        self.assertLessEqual(max(line["waiting_bytes"] for line in lines + more), 262144 + 65550)
        self.end(lab)

    def test_order_after_a_stall(self):
        """What has piled up in the device does not keep up a higher class, and what it had no room for is counted."""
        for mode in ("computed", "strict"):
            lab = self.lab()
            lab.shape(schedule((3, 1000)), "--mode", mode, "--class", f"port:{PORT + 1}=1", rate="1G")
            lab.run(NEAR, "ping", "-c", 1, FAR_ADDRESS)
            sender = lab.socket_in(NEAR, lambda: socket.socket(socket.AF_INET, socket.SOCK_DGRAM))
            lab.shaper.send_signal(signal.SIGSTOP)
            for size, n, port in ((1400, 900, PORT), (10, 1, PORT + 1), (10, 11000, PORT)):
                for _ in range(n):
                    try:
                        sender.sendto(bytes(size), (FAR_ADDRESS, port))
                    except (BlockingIOError, ConnectionRefusedError):
                        pass
            sender.close()
            lab.shaper.send_signal(signal.SIGCONT)
            until = time.monotonic() + TIMEOUT_S
            while (1,) not in [frame[1:2] for frame in frames_of_log(lab.folder / "departures")[1]]:
                self.assertLess(time.monotonic(), until)
            figures = self.end(lab)
            classes = [frame[1] for frame in frames_of_log(lab.folder / "departures")[1]]
            self.assertLess(classes.index(1), 600, mode)
            self.assertGreater(figures["tap_dropped"], 0)

    def test_strict(self):
        lab = self.lab()
        lab.shape(HALF, "--mode", "strict")
        self.assertTrue(Transfer(lab, data(500_000)).is_whole())
        figures = self.end(lab)
        self.assertEqual(figures["mode"], "strict")
        self.assertGreater(figures["margin_ns"], 0)

    def test_small_window(self):
        """No full segment fits: they are cut. What cannot be cut is dropped, counted, and the exit code says it."""
        lab = self.lab()
        lab.shape(schedule((2, 900), (1, 100)))
        self.assertTrue(Transfer(lab, data(200_000)).is_whole())
        sender = lab.socket_in(NEAR, lambda: socket.socket(socket.AF_INET, socket.SOCK_DGRAM))
        sender.sendto(bytes(1400), (FAR_ADDRESS, PORT))
        sender.close()
        self.assertTrue(Transfer(lab, data(1000)).is_whole())  # behind it in the queue
        code, figures = lab.stop()
        self.assertEqual(code, 1)
        self.assertGreater(figures["classes"][0]["cut"], 0)
        self.assertEqual(figures["classes"][0]["dropped_never"], 1)
        self.check_log(lab)

    def test_stall_of_2021(self):
        """Whole packets of TCP that no window is long enough for: hardly anything gets through, ever."""
        lab = self.lab()
        lab.shape(HALF, "--whole")
        transfer = Transfer(lab, data(3_000_000))
        time.sleep(1.5)
        self.assertLess(transfer.bytes, 300_000)
        lab.stop()
        transfer.break_off()
        self.check_log(lab)

    def test_stream_beside_tcp(self):
        """aplay through the plugin, class A, has its window, TCP the rest: bit-exact, and every PDU in its window."""
        if not shutil.which("aplay"):
            print("aplay is not installed (alsa-utils)")
            self.skipTest("no aplay")
        lab = self.lab()
        take, got = lab.folder / "take.wav", lab.folder / "got.wav"
        write_wav(take, "S16_LE", 48000, 2, noise("S16_LE", 2, 48000))
        lab.shape(STREAM_GATES)
        listener = lab.start(FAR, TACTUS, "listen", "-i", FAR_WIRE, "--stream-id", STREAM["streamid"], "--dest",
                             STREAM["addr"], "--format", "INT16", "--rate", 48000, "--channels", 2, "--buffer", "10s",
                             "--json", "--report", lab.folder / "report.json", got, stdout=subprocess.PIPE)
        listener.stdout.readline()  # it is at work
        talker = {**STREAM, "ifname": "gate0", "report": lab.folder / "talker.json"}
        alsa = alsa_environment(lab.folder, PLUGIN_CONF, {"play": talker})
        # All of it fits the buffer, so that aplay cannot be too slow.
        player = lab.start(NEAR, "aplay", "-q", "-D", "play", "--buffer-size=96000", "--period-size=2400", take,
                           env={**os.environ, **alsa})
        self.assertTrue(Transfer(lab, data(100_000), beside=player).is_whole())
        self.assertEqual(player.wait(TIMEOUT_S), 0)
        sent = json.loads((lab.folder / "talker.json").read_text())["counters"]["pdus_sent"]
        for line in listener.stdout:
            if json.loads(line)["streams"][0]["counters"]["pdus"] == sent:
                break
        for _ in range(2):  # a line a second: until all of it has been presented
            listener.stdout.readline()
        listener.send_signal(signal.SIGINT)
        listener.communicate(timeout=TIMEOUT_S)
        equal = subprocess.run([TACTUS, "equal", take, got, "--report", lab.folder / "report.json"],
                               capture_output=True, text=True, check=False)
        self.assertEqual(equal.returncode, 0, equal.stdout)
        figures = self.end(lab)
        self.assertGreaterEqual(sent, 8000)
        self.assertEqual(figures["classes"][1]["frames"], sent)
        frames = frames_of_log(lab.folder / "departures")[1]
        launches = [frame[0] for frame in frames if frame[1] == 1]
        beside = [frame for frame in frames if frame[1] == 0 and launches[0] < frame[0] < launches[-1]]
        self.assertGreater(len(beside), 100)

    def test_replaced_at_its_base_time(self):
        lab = self.lab()
        lab.shape(HALF)
        base_ns = time.clock_gettime_ns(time.CLOCK_TAI) + 300_000_000
        lab.write_schedule(schedule((2, 100), (1, 300), (3, 200), base=base_ns))
        lab.shaper.send_signal(signal.SIGHUP)
        self.assertTrue(Transfer(lab, data(1_000_000)).is_whole())
        while time.clock_gettime_ns(time.CLOCK_TAI) < base_ns:
            time.sleep(0.01)
        self.assertTrue(Transfer(lab, data(1_000_000)).is_whole())
        self.said(lab, f"gates.json is taken: its gates hold from {base_ns} ns")
        figures = self.end(lab)
        self.assertEqual((figures["schedules_replaced"], figures["schedule_start_tai_ns"]), (1, base_ns))
        logs = self.check_log(lab)
        self.assertEqual([one.start for one in logs[0].lists], [None, base_ns])
        # Half of the time before, five parts of six after it.
        share = figures["classes"][0]["open_ns"] / figures["elapsed_ns"]
        self.assertTrue(0.5 < share < 5 / 6, share)

    def test_replaced_often(self):
        """More often than there is room for lists; and SIGHUP before it is at work kills nothing."""
        lab = self.lab()
        early = lab.start(NEAR, TACTUS, "gate", "shape", "--schedule", lab.write_schedule(HALF), "--rate", "100M", "--to",
                          WIRE, "--mode", "strict", stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        until = time.monotonic() + TIMEOUT_S
        while int(re.search(rf"{WIRE}:(.*)", lab.run(NEAR, "cat", "/proc/net/dev").stdout)[1].split()[9]) < 100:  # it measures its margin
            self.assertLess(time.monotonic(), until)
        early.send_signal(signal.SIGHUP)
        while "gate0" not in lab.ip(NEAR, "-o", "link").stdout:
            self.assertIsNone(early.poll())
            self.assertLess(time.monotonic(), until)
        early.send_signal(signal.SIGINT)
        self.assertEqual(early.wait(TIMEOUT_S), 0)
        lab.shape(HALF)
        far_ns = time.clock_gettime_ns(time.CLOCK_TAI) + 10**15
        for number in range(12):
            base_ns = far_ns + number if number % 3 else 0
            lab.write_schedule(schedule((2, 500), (1, 500), base=base_ns))
            lab.shaper.send_signal(signal.SIGHUP)
            until = time.monotonic() + TIMEOUT_S
            while (lab.folder / "departures").read_text().count("list") < number + 2:
                self.assertLess(time.monotonic(), until)
                self.assertNotIn("try again", (lab.folder / "errors").read_text())
        self.assertTrue(Transfer(lab, data(100_000)).is_whole())
        self.assertEqual(self.end(lab)["schedules_replaced"], 12)

    def test_log_that_is_refused(self):
        """The log ends with a whole line; that is said and counted, and frames go on."""
        lab = self.lab()
        lab.shape(HALF, before=("sh", "-c", 'trap "" XFSZ; ulimit -f 128; exec "$@"', "sh"))
        self.assertTrue(Transfer(lab, data(3_000_000)).is_whole())
        self.said(lab, "cannot write .*departures: File too large; the log ends here")
        self.assertTrue(Transfer(lab, data(100_000)).is_whole())
        code, figures = lab.stop()
        self.assertEqual(code, 3)
        frames = self.check_log(lab)[0].frames
        self.assertEqual(frames + figures["log_lost"], sum(one["frames"] for one in figures["classes"]))

    def test_nobody_reads(self):
        """A display that stands still holds up nothing, and its end is told."""
        lab = self.lab()
        read_end, write_end = os.pipe()
        os.set_blocking(write_end, False)
        with contextlib.suppress(BlockingIOError):
            while True:
                os.write(write_end, bytes(4096))
        os.set_blocking(write_end, True)
        shaper = lab.start(NEAR, TACTUS, "gate", "shape", "--schedule", lab.write_schedule(HALF), "--rate", "100M", "--to",
                           WIRE, "--duration", "3s", stdout=write_end, stderr=subprocess.PIPE)
        os.close(write_end)
        said = shaper.communicate(timeout=TIMEOUT_S)[1]
        os.close(read_end)
        self.assertIn("standard output could not be written", said)
        self.assertEqual(shaper.returncode, 3)

    def test_clocks(self):
        """A base time of another clock becomes TAI; and a gate of a class that there is not is named."""
        lab = self.lab()
        for name, clock in (("REALTIME", time.CLOCK_REALTIME), ("MONOTONIC", time.CLOCK_MONOTONIC)):
            gates = schedule((6, 500), (1, 500), base=time.clock_gettime_ns(clock))
            gates[0]["options"]["clockid"] = name
            lab.shape(gates, "--duration", "0.1s")
            self.assertEqual(lab.ended()[0], 0)
            offset_ns = time.clock_gettime_ns(time.CLOCK_TAI) - time.clock_gettime_ns(clock)
            base_ns = int(frames_of_log(lab.folder / "departures")[0][1].split()[1])
            errors = (lab.folder / "errors").read_text()
            # Between two readings the test may be held up: only the clock's own second has to be the right one.
            self.assertAlmostEqual(base_ns - gates[0]["options"]["base_time"], offset_ns, delta=500_000_000)
            self.assertIn(f"by CLOCK_{name}; in TAI it is {base_ns} ns", errors)
            self.assertIn("(0x7) of classes that there are not", errors)

    def test_fragments(self):
        """The first fragment goes by its ports; the second has none."""
        lab = self.lab()
        lab.shape(HALF, "--class", f"port:{PORT}=1")
        for family, address in ((socket.AF_INET, FAR_ADDRESS), (socket.AF_INET6, FAR_ADDRESS6)):
            receiver, sender = (lab.socket_in(name, lambda: socket.socket(family, socket.SOCK_DGRAM)) for name in (FAR, NEAR))
            receiver.settimeout(TIMEOUT_S)
            receiver.bind((address, PORT))
            for number in range(20):
                sent = data(2000, seed=number)
                sender.sendto(sent, (address, PORT))
                self.assertEqual(receiver.recv(65536), sent)
            sender.close()
            receiver.close()
        classes = self.end(lab)["classes"]
        self.assertGreaterEqual(min(one["frames"] for one in classes), 40)

    def test_killed(self):
        lab = self.lab()
        lab.shape(HALF)
        lab.shaper.kill()
        lab.shaper.wait()
        self.assertNotIn("gate0", lab.run(NEAR, "ip", "-o", "link").stdout)

    def test_deleted(self):
        """The interface or the device is deleted under it: it ends, and says which."""
        for name in ("wire0", "gate0"):
            lab = self.lab()
            lab.shape(HALF)
            lab.ip(NEAR, "link", "delete", name)
            self.assertEqual(lab.ended()[0], 3)
            self.assertIn(f"{name} is gone", (lab.folder / "errors").read_text())
            self.assertNotIn("gate0", lab.run(NEAR, "ip", "-o", "link").stdout)

    def said(self, lab, pattern):
        """What it says on stderr, once it does."""
        until = time.monotonic() + TIMEOUT_S
        while not (found := re.search(pattern, (lab.folder / "errors").read_text())):
            self.assertLess(time.monotonic(), until, pattern)
            time.sleep(0.05)
        return found

    def test_interface_changes(self):
        """A lower MTU is followed, and what is lost while the interface is down is said."""
        lab = self.lab()
        lab.shape(HALF)
        lab.ip(NEAR, "link", "set", "wire0", "mtu", "600")
        self.said(lab, "wire0 takes 600 bytes now .*, 1500 before; gate0: its MTU is that, too")
        self.assertIn("mtu 600 ", lab.ip(NEAR, "link", "show", "gate0").stdout)
        self.assertTrue(Transfer(lab, data(100_000)).is_whole())
        lab.ip(NEAR, "link", "set", "wire0", "down")
        self.said(lab, "wire0 is down: frames are dropped")
        lab.run(NEAR, "ping", "-c", 1, "-W", 1, FAR_ADDRESS, check=False)
        lab.ip(NEAR, "link", "set", "wire0", "up")
        self.assertGreater(int(self.said(lab, r"wire0 is up now; (\d+) frames were dropped")[1]), 0)
        self.assertTrue(Transfer(lab, data(100_000)).is_whole())
        self.assertEqual((lab.folder / "errors").read_text().count("frames are dropped"), 1)
        lab.ip(NEAR, "link", "set", "gate0", "mtu", "2000")
        self.said(lab, "gate0 had an MTU of 2000, and wire0 takes 600: it is that again")
        lab.ip(NEAR, "link", "set", "gate0", "name", "gate1")
        for word in ("down", "name wirex", "up", "mtu 1500"):
            lab.ip(NEAR, "link", "set", WIRE if word != "up" and word != "mtu 1500" else "wirex", *word.split())
        self.said(lab, "wirex takes 1500 bytes now .*, 600 before; gate1: its MTU is that, too")
        self.assertIn("mtu 1500 ", lab.ip(NEAR, "link", "show", "gate1").stdout)
        figures = self.end(lab)
        refused = sum(one["dropped_refused"] for one in figures["classes"])
        self.assertGreater(refused, 0)
        self.assertEqual(refused, figures["send_refused"])
        self.assertEqual(len(frames_of_log(lab.folder / "departures")[1]), sum(one["frames"] for one in figures["classes"]))

    def test_longest_mtu(self):
        """A TAP takes less than an interface can have."""
        lab = self.lab()
        for name, wire in ((NEAR, WIRE), (FAR, FAR_WIRE)):
            lab.ip(name, "link", "set", wire, "mtu", "65535")
        lab.shape(HALF)
        self.assertIn("mtu 65521 ", lab.ip(NEAR, "link", "show", "gate0").stdout)
        self.assertTrue(Transfer(lab, data(100_000)).is_whole())
        lab.ip(NEAR, "link", "set", WIRE, "mtu", "1500")
        self.said(lab, "wire0 takes 1500 bytes now .*, 65535 before; gate0: its MTU is that, too")
        lab.ip(NEAR, "link", "set", WIRE, "mtu", "65535")
        self.said(lab, "wire0 takes 65535 bytes now .*, 1500 before; gate0: its MTU is that, too")
        self.end(lab)

    def test_other_classes(self):
        """A schedule whose classes are others than those that priorities have is not taken."""
        lab = self.lab()
        lab.shape(HALF)
        less = json.loads(json.dumps(HALF))
        less[0]["options"].update(tc=1, map=[0] * 16, queues=[{"offset": 0, "count": 1}],
                                  schedule=[{"cmd": "S", "gatemask": "0x1", "interval": 1000000}])
        lab.write_schedule(less)
        lab.shaper.send_signal(signal.SIGHUP)
        self.said(lab, r"has another number of classes \(1\) than at the start \(\d+\).*not taken")
        self.assertTrue(Transfer(lab, data(100_000)).is_whole())
        self.end(lab)

    def test_way_back_that_nobody_reads(self):
        """What comes in while there is no time to read it is counted."""
        lab = self.lab()
        lab.shape(HALF)
        lab.run(NEAR, "ping", "-c", 1, FAR_ADDRESS)
        with lab.socket_in(NEAR, lambda: socket.socket(socket.AF_PACKET, socket.SOCK_RAW)) as near:
            near.bind(("gate0", 0))
            address = near.getsockname()[4]
        far = lab.socket_in(FAR, lambda: socket.socket(socket.AF_PACKET, socket.SOCK_RAW))
        far.bind((FAR_WIRE, 0))
        lab.shaper.send_signal(signal.SIGSTOP)
        for _ in range(10000):
            far.send(address + far.getsockname()[4] + b"\x88\xb6" + bytes(1000))
        far.close()
        lab.shaper.send_signal(signal.SIGCONT)
        time.sleep(0.5)
        figures = self.end(lab)
        self.assertGreater(figures["return_lost"], 0)
        self.assertGreaterEqual(figures["returned"] + figures["return_lost"], 10000)

    def test_two(self):
        """Each interface takes one."""
        lab = self.lab()
        lab.shape(HALF)
        done = lab.run(NEAR, TACTUS, "gate", "shape", "--schedule", lab.write_schedule(HALF), "--rate", "100M", "--to", "wire0",
                       "--tap", "gate7", check=False)
        self.assertEqual(done.returncode, 3, done)
        self.assertIn("another one shapes to wire0 already", done.stderr)
        self.end(lab)

    def test_refusals(self):
        lab = self.lab()
        good = lab.write_schedule(HALF)
        bad = lab.folder / "bad.json"

        def refused(code, text, *words):
            done = lab.run(NEAR, TACTUS, "gate", "shape", *words, check=False)
            self.assertEqual(done.returncode, code, done)
            self.assertIn(text, done.stderr)

        fixed = ["--schedule", good, "--rate", "100M"]
        refused(2, "Give --schedule", "--to", "wire0")
        refused(2, "Give --to", *fixed)
        refused(2, "--margin is for --mode strict", *fixed, "--to", "wire0", "--margin", "5us")
        refused(2, "no segment is so long, the MTU is 1500", *fixed, "--to", "wire0", "--cut", 5000)
        refused(2, "is no speed", "--schedule", good, "--rate", "fast", "--to", "wire0")
        refused(2, "Give --rate", "--schedule", good, "--to", "wire0")
        refused(2, "is no rule", *fixed, "--to", "wire0", "--class", "colour:3=1")
        refused(2, "there is no class 5", *fixed, "--to", "wire0", "--class", "port:3=5")
        refused(2, "less is a length", *fixed, "--to", "wire0", "--class", "ethertype:5=1")
        refused(2, "without a %", *fixed, "--to", "wire0", "--tap", "tap%d")
        refused(3, "is no Ethernet interface", *fixed, "--to", "lo")
        log = lab.folder / "log"
        log.write_text("of yesterday")
        refused(3, "there is no interface nowhere", *fixed, "--to", "nowhere", "--log", log)
        self.assertEqual(log.read_text(), "of yesterday")
        refused(3, "another one by --tap", *fixed, "--to", "wire0", "--tap", "wire0")
        refused(3, "No such file", "--schedule", lab.folder / "none", "--rate", "100M", "--to", "wire0")
        for text in ("", "[]", "{", json.dumps(HALF).replace("500000", "-1")):
            bad.write_text(text)
            refused(2, "bad.json", "--schedule", bad, "--rate", "100M", "--to", "wire0")
        bad.write_text(json.dumps({"devices": {"a": {}, "b": {}}, "links": [{"between": ["a", "b"], "speed": "100M"}]}))
        refused(2, "the plan needs `gates`", "--schedule", bad, "--to", "wire0")
        bad.write_text(json.dumps(HALF).replace("TAI", "SUNDIAL"))
        refused(2, "MONOTONIC or BOOTTIME", "--schedule", bad, "--rate", "100M", "--to", "wire0")

    def test_explain(self):
        """The limits of the papers, from the shaper itself."""
        lab = self.lab()
        for gates, full in ((HALF, (46.336, 45.696)), (schedule((2, 640), (1, 360)), (23.168, 22.848)),
                            (schedule((2, 875), (1, 125)), (11.584, 11.424))):
            done = lab.run(NEAR, TACTUS, "gate", "shape", "--schedule", lab.write_schedule(gates), "--rate", "100M",
                           "--explain", "--json")
            shown = [one["full_segments_bps"] / 1e6 for one in json.loads(done.stdout)["classes"] if one["class"] == 0]
            for got, limit in zip(shown, full):
                self.assertAlmostEqual(got, limit, delta=0.002)
        shown = lab.run(NEAR, TACTUS, "gate", "shape", "--schedule", lab.write_schedule(HALF), "--rate", "100M", "--explain",
                        "--to", "wire0").stdout
        self.assertRegex(shown, r"just now[^.]*\. 1000 wake-ups.*: late by \d+ ns \(median\)")
        self.assertRegex(shown, r"of 1000\.")


if __name__ == "__main__":
    os.environ.pop("NOTIFY_SOCKET", None)
    unittest.main(verbosity=2)
