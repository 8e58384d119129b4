#!/usr/bin/env python3
"""`tactus watch` and `tactus extract` on made captures, and on bad ones.

usage: test_watch.py TACTUS
"""
import json
import os
import pathlib
import random
import struct
import subprocess
import unittest
import wave

from watch_lab import (INTERVAL, MANY, SECOND, START, STREAM, TACTUS, TAI, Case, block, many_streams, packet, pcap,
                       pcapng, stream)


class Files(Case):
    def test_every_kind_of_capture(self):
        packets = list(stream(range(300)))
        for order in "<>":
            for name, content in (("ns", pcap(packets, order)), ("us", pcap(packets, order, 1000)),
                                  ("ng", pcapng(packets, order)), ("cut", pcap(packets, order,
                                                                               snap=64))):
                seen, _ = self.watch(0, self.file(name, content))
                row = seen["streams"][0]
                want = {"stream_id": STREAM, "vlan_id": 2, "pcp": 3, "format": "INT16",
                        "rate_hz": 48000, "channels": 2, "frames_per_pdu": 6, "pdus": 300,
                        "lost": 0, "src": "02:00:00:00:00:01", "dest": "91:E0:F0:00:FE:01"}
                self.assertEqual(want, {key: row[key] for key in want}, name)
                self.assertEqual(row["findings"], [], name)
                self.assertEqual((row["interval_ns"]["min_ns"], row["interval_ns"]["max_ns"]),
                                 (INTERVAL, INTERVAL))

    def test_table(self):
        text = self.tactus(0, "watch", self.file("a.pcap", pcap(stream(range(9), vlan=None)))).stdout
        for word in (STREAM, "91:E0:F0:00:FE:01", "INT16", "48,000", "125,000.0", "Findings\n",
                     "untagged"):
            self.assertIn(word, text)
        row = next(line for line in text.splitlines() if STREAM in line).split()
        self.assertEqual(row[4:6], ["-", "-"])  # no tag: not VLAN 0

    def test_a_name_does_not_reach_the_terminal(self):
        """A file may be called what a terminal obeys."""
        bad = "a\033[2Jb\x07.pcap"
        whole, cut = pcap(stream(range(300))), pcap(stream(range(300)))[:-9]
        good = self.file("good.pcap", whole)
        for code, content, arguments in ((0, whole, ("watch",)), (4, cut, ("watch",)), (2, b"", ("watch",)),
                                         (2, whole[:9], ("watch",)), (0, whole, ("watch", "--compare", good)),
                                         (0, whole, ("extract", good))):
            done = self.tactus(code, *arguments, self.file(bad, content))
            text = done.stdout + done.stderr
            self.assertEqual([c for c in text if not c.isprintable() and c != "\n"], [], (arguments, text))
            self.assertIn("?[2J", text)
        self.assertIn("a?[2Jb?.pcap` is neither", self.tactus(2, "watch", bad).stderr)

    def test_lateness_and_margin(self):
        """One PDU is 300 us late; the line through the others does not mind."""
        packets = [(arrival + 300_000 * (i == 5000), data)
                   for i, (arrival, data) in enumerate(stream(range(9000)))]
        row = self.watch(0, self.file("a.pcap", pcap(packets)))[0]["streams"][0]
        lateness, margin = row["lateness_ns"], row["margin_ns"]
        self.assertEqual((lateness["n"], lateness["p50_ns"], lateness["p99_9_ns"]), (8200, 0, 0))
        self.assertEqual(lateness["max_ns"], 300_000)
        self.assertGreater(lateness["min_ns"], -300)
        self.assertEqual((margin["n"], margin["min_ns"], margin["max_ns"]), (9000, 1_700_000, 2_000_000))
        self.assertEqual((row["margin_scale"], row["class"], row["nominal_pdus_per_s"]), ("TAI", "A", 8000))
        self.assertEqual((row["measured_pdus_per_s"], row["grid_moves"]), (8000, 0))

    def test_filters(self):
        other = [(arrival, data.replace(bytes.fromhex("0200000000010007"), bytes(7) + b"\5"))
                 for arrival, data in stream(range(10), vlan=None)]
        path = self.file("a.pcap", pcap(sorted([*stream(range(10)), *other])))
        for options, rows in (([], 2), (["--vlan", "2"], 1), (["--vlan", "none"], 1), (["--vlan", "3"], 0),
                              (["--stream-id", STREAM], 1), (["--address", "91:e0:f0:00:fe:01"], 2),
                              (["--address", "91:e0:f0:00:fe:02"], 0),
                              (["--stream-id", STREAM, "--vlan", "none"], 0)):
            seen = json.loads(self.tactus(0 if rows else 1, "watch", "--json", path, *options).stdout)
            self.assertEqual(len(seen["streams"]), rows, options)
            self.assertEqual(seen["filtered"], 20 - 10 * rows, options)
        for option, value in (("--vlan", "4095"), ("--vlan", ""), ("--stream-id", "7"), ("--address", "x")):
            self.assertIn(f"{option} {value}: give", self.tactus(2, "watch", path, option, value).stderr)

    def test_what_else_is_on_the_link(self):
        """gPTP's Announce with its grandmaster, MSRP; and what AVTP takes of each priority."""
        announce = bytearray(64)
        announce[0], announce[7], announce[44:46], announce[53:61] = 0x1B, 4, b"\0\x25", bytes(range(1, 9))
        frames = [bytes.fromhex("0180c200000e020000000001") + bytes.fromhex(kind) + body
                  for kind, body in (("88f7", bytes(announce)), ("88f7", bytes(44)), ("22ea", bytes(46)))]
        seen, _ = self.watch(0, self.file("a.pcap", pcap([*stream(range(8)), *((START + SECOND, f) for f in frames)])))
        traffic = seen["traffic"]
        self.assertEqual((traffic["gptp"], traffic["gptp_announce"], traffic["gptp_sync"]), (2, 1, 1))
        self.assertEqual((traffic["grandmaster"], traffic["gptp_utc_offset_s"]), ("0102030405060708", 37))
        self.assertEqual((traffic["msrp"], traffic["mvrp"]), (1, 0))
        self.assertEqual(traffic["avtp_by_priority"],
                         [{"pcp": 3, "packets": 8, "wire_bytes": 8 * (len(packet(0, 0, 2)) + 24)}])
        self.assertEqual(seen["span_ns"], SECOND)

    def compare(self, code, before, after, *options):
        paths = [self.file(name, pcap(packets)) for name, packets in (("a.pcap", before), ("b.pcap", after))]
        done = self.tactus(code, "watch", "--json", "--compare", *paths, *options)
        return json.loads(done.stdout) if done.stdout else done.stderr

    def test_before_and_after(self):
        """Jitter of 40 us and of 4 us; and a capture against itself."""
        def jittered(seed, most):
            chance = random.Random(seed)
            return [(arrival + chance.randrange(most), data) for arrival, data in stream(range(16000))]
        clean, rough, again = jittered(1, 4000), jittered(2, 40_000), jittered(3, 40_000)
        for code, before, after, answer in ((0, rough, clean, "better"), (1, clean, rough, "worse"),
                                            (0, rough, again, "not distinguishable")):
            found = self.compare(code, before, after)
            for figure in ("interval_stdev_ns", "interval_range_ns", "lateness_p99_over_p50_ns"):
                self.assertEqual(found["comparison"][figure]["answer"], answer, (figure, found))
            self.assertEqual(found["comparison"]["pdus_lost"]["answer"], "not distinguishable")
            self.assertEqual((found["before"]["pdus"], found["after"]["lost"]), (16000, 0))
        self.assertEqual(found["comparison"]["interval_stdev_ns"]["windows"], 40)

    def test_a_page_takes_the_place_of_no_other_file(self):
        """Who forgets the name of the page names a capture, the first of a ring."""
        content = pcap(stream(range(300)))
        paths = [self.file(name, content) for name in ("a.pcap", "b.pcap")]
        for arguments in (["--html", *paths], ["--compare", "--html", paths[0], *paths], ["--html", "-", paths[0]],
                          ["--write", "new", "--html", "new", paths[0]]):
            self.assertIn("--html", self.tactus(2, "watch", *arguments).stderr)
        self.assertEqual([pathlib.Path(path).read_bytes() for path in paths], [content, content])
        page = self.file("page.html", b"")
        for _ in range(2):  # an empty file, then a page
            self.tactus(0, "watch", "--html", page, paths[0])
            self.assertTrue(pathlib.Path(page).read_bytes().startswith(b"<!DOCTYPE html>"))

    def test_what_cannot_be_compared(self):
        few, none = list(stream(range(9))), [(START, bytes(12) + b"\x08\x00" + bytes(46))]
        found = self.compare(4, few, few)
        self.assertEqual(found["comparison"]["interval_stdev_ns"]["answer"], "not enough data")
        self.assertIn("there is no stream in", self.compare(1, few, none))
        two = sorted([*few, *((arrival, data.replace(bytes.fromhex("0007"), b"\0\5", 1)) for arrival, data in few)])
        self.assertIn("choose one that is in both captures, such as with --stream-id 02:00:00:00:00:01:0005",
                      self.compare(2, few, two))
        other = [(arrival, data.replace(bytes.fromhex("0007"), b"\0\5", 1)) for arrival, data in few]
        self.assertIn("give an option that both streams fit", self.compare(1, few, other, "--stream-id", STREAM))
        crf = [(arrival, data.replace(b"\x22\xf0\x02", b"\x22\xf0\x04", 1)) for arrival, data in few]
        self.assertIn("is AAF and that in", self.compare(2, few, crf))
        self.compare(4, few, two, "--stream-id", STREAM)
        self.assertIn("takes two captures", self.tactus(2, "watch", "--compare", "a").stderr)
        whole = self.file("c.pcap", pcap(few))
        cut = self.file("d.pcap", pcap(few)[:-5])
        self.assertIn("nothing is compared", self.tactus(4, "watch", "--compare", whole, cut).stderr)

    def test_one_is_singular(self):
        other = (START, bytes(12) + b"\x08\x00" + bytes(46))
        short = (START, bytes(12) + b"\x22\xf0" + bytes(2))
        text = self.tactus(0, "watch", self.file("a.pcap", pcap([*stream([0]), other, short]))).stdout
        self.assertIn("3 packets.", text)
        self.assertIn("1 packet is not AVTP.", text)
        self.assertIn("1 packet has AVTP's EtherType but is too short", text)
        self.assertIn("1 packet. ", self.tactus(0, "watch", self.file("b.pcap", pcap(stream([0])))).stdout)
        whole = pcap(stream(range(2)))
        self.assertIn("the figures are of 1 packet that", self.tactus(4, "watch", self.file("c.pcap", whole[:-9])).stderr)

    def test_findings(self):
        clean = self.tactus(0, "watch", self.file("clean.pcap", pcap(stream(range(99))))).stdout
        self.assertIn("\nFindings: none\n", clean)
        seen, _ = self.watch(0, self.file("utc.pcap", pcap(stream(range(99), offset=0))))
        self.assertEqual(seen["tai_offset_ns"], TAI)
        found = seen["streams"][0]["findings"]
        self.assertEqual([(f["code"], f["severity"], f["figures"], f["reason"]) for f in found],
                         [("stamps_utc", "fault", {"offset_ns": TAI}, None)])
        self.assertIn("37 s off", found[0]["text"])

    def test_one_packet_has_no_interval(self):
        seen, _ = self.watch(0, self.file("one.pcap", pcap(stream([0]))))
        self.assertEqual(seen["streams"][0]["interval_ns"]["n"], 0)
        self.assertIsNone(seen["streams"][0]["interval_ns"]["mean_ns"])

    def test_bad_files(self):
        whole = pcap(stream(range(10)))
        for name, content, code, word in (
                ("empty.pcap", b"", 2, "empty"),
                ("text.pcap", b"this is a letter, not a capture", 2, "unknown file format"),
                ("header.pcap", whole[:20], 2, "truncated"),
                ("wifi.pcap", pcap(stream(range(3)), link=105), 2, "IEEE802_11"),
                ("cooked.pcapng", pcapng(stream(range(3)), link=113), 2, "LINUX_SLL")):
            done = self.tactus(code, "watch", self.file(name, content))
            self.assertIn(word, done.stderr)
            self.assertIn(name, done.stderr)
        self.assertIn("directory", self.tactus(2, "watch", str(self.folder)).stderr)

    def test_pcapng_with_a_fault_inside(self):
        """What was read until then is shown; and two interfaces with stamps of their own are one capture."""
        good = pcapng(stream(range(10)))
        other_unit = block("<", 1, struct.pack("<HHI", 1, 0, 65535))  # us, as without an option
        (arrival, data), = stream([10])
        short = struct.pack("<IIIII", 0, 0, 0, 500, 500) + data
        for name, more, word in (("length", block("<", 6, short), "too short"),
                                 ("block", struct.pack("<III", 6, 7, 0), "block"), ("cut", good[-80:-40], "")):
            seen, said = self.watch(4, self.file(f"{name}.pcapng", good + more))
            self.assertEqual((seen["packets"], seen["streams"][0]["pdus"]), (10, 10), name)
            self.assertIn(word, seen["error"])
            self.assertIn("the figures are of 10 packets", said)
        microseconds = arrival // 1000
        packet_in_us = block("<", 6, struct.pack("<IIIII", 1, microseconds >> 32, microseconds & 0xFFFFFFFF, len(data),
                                                 len(data)) + data)
        row = self.watch(0, self.file("units.pcapng", good + other_unit + packet_in_us))[0]["streams"][0]
        self.assertEqual((row["pdus"], row["interval_ns"]["max_ns"]), (11, INTERVAL))

    def test_several_link_types(self):
        """What is Ethernet is read, wherever the other interface is described; the rest is counted."""
        def frame(order, interface, arrival, data):
            return block(order, 6, struct.pack(order + "IIIII", interface, arrival >> 32, arrival & 0xFFFFFFFF, len(data),
                                               len(data)) + data)
        packets = list(stream(range(300)))
        for order in "<>":
            section = block(order, 0x0A0D0D0A, struct.pack(order + "IHHq", 0x1A2B3C4D, 1, 0, -1))
            kinds = {1: block(order, 1, struct.pack(order + "HHIHHBxxxHH", 1, 0, 65535, 9, 1, 9, 0, 0)),
                     113: block(order, 1, struct.pack(order + "HHI", 113, 0, 96))}
            note = block(order, 5, struct.pack(order + "III", 0, 1, 2))
            other = frame(order, 1, 0, bytes(40))
            halves = [b"".join(frame(order, 0, *one) for one in part) for part in (packets[:100], packets[100:])]
            for name, content in (
                    ("at first", section + kinds[1] + kinds[113] + halves[0] + other + note + other + halves[1]),
                    ("later", section + kinds[1] + halves[0] + note + kinds[113] + other + halves[1] + other),
                    ("after a third", section + kinds[1] + note + kinds[1] + kinds[113] + halves[0] + halves[1]
                     + 2 * frame(order, 2, 0, bytes(40))),
                    ("before", section + kinds[113] + kinds[1] + b"".join(frame(order, 1, *one) for one in packets)
                     + 2 * frame(order, 0, 0, bytes(40)))):
                seen, said = self.watch(4, self.file(f"{name}.pcapng", content))
                self.assertEqual((seen["packets"], seen["streams"][0]["pdus"], seen["streams"][0]["lost"]),
                                 (300, 300, 0), name)
                self.assertIn("2 packets are left out: not Ethernet, but link type LINUX_SLL (113)", seen["error"])
                self.assertIn(seen["error"] + "; the figures are of 300 packets that could", said)
                for cut, words in ((content[:-50], "truncated"), (content + block(order, 2, bytes(40)), "unusual block")):
                    self.assertIn(words, self.watch(4, self.file("cut.pcapng", cut))[0]["error"], name)
            unused = section + kinds[1] + kinds[113] + halves[0] + halves[1]
            self.assertIsNone(self.watch(0, self.file("unused.pcapng", unused))[0]["error"])

    def test_sections_of_either_byte_order(self):
        packets = list(stream(range(300)))
        parts = [packets[:100], packets[100:150], packets[150:250], packets[250:]]
        note = {order: block(order, 5, struct.pack(order + "III", 0, 1, 2)) for order in "<>"}
        for orders in ("<><>", "><><", "<<>>", ">><<", "<>><"):
            sections = [pcapng(part, order) + note[order] for part, order in zip(parts, orders)]
            for empty in (b"", pcapng([], orders[0]), pcapng([], orders[3])):
                seen, said = self.watch(0, self.file("a.pcapng", sections[0] + empty + b"".join(sections[1:])))
                row = seen["streams"][0]
                self.assertEqual((row["pdus"], row["lost"], row["interval_ns"]["max_ns"], row["findings"], said),
                                 (300, 0, INTERVAL, [], ""), orders)
            seen, _ = self.watch(4, self.file("cut.pcapng", b"".join(sections)[:-50]))
            self.assertEqual(seen["packets"], 299)
            self.assertIn("truncated", seen["error"])

    def test_stamps_that_are_no_time(self):
        """A fraction of a second or more, and a year that is none: the record is damaged, its PDU is not lost."""
        packets = list(stream(range(301)))
        for order in "<>":
            for unit in (1, 1000):
                good = pcap(packets[:298], order, unit)
                for words, seconds, fraction in (("its fraction is a second or more", START // SECOND, SECOND // unit),
                                                 ("beyond the year 2096", 4_000_000_001, 0)):
                    bad = b"".join(struct.pack(order + "IIII", seconds, fraction, len(data), len(data)) + data
                                   for _, data in packets[298:300])
                    last = pcap(packets[300:], order, unit)[24:]
                    seen, said = self.watch(4, self.file("a.pcap", good + bad + last))
                    row = seen["streams"][0]
                    self.assertEqual((row["pdus"], row["interval_ns"]["max_ns"], row["lost"], row["findings"]),
                                     (299, INTERVAL, 0, []))
                    self.assertIn("2 packets are left out: ", seen["error"])
                    self.assertIn(words, seen["error"])
                    self.assertIn(words, said)

    def test_arrivals_set_back(self):
        """Halves of a capture that were swapped are the capture's fault, and nobody else's."""
        packets = list(stream(range(4000)))
        row = self.watch(0, self.file("a.pcapng", pcapng(packets[2000:] + packets[:2000])))[0]["streams"][0]
        self.assertEqual([(finding["code"], finding["figures"]) for finding in row["findings"]],
                         [("arrivals_set_back", {"count": 1, "of": 4000, "worst_ns": 3999 * INTERVAL})])
        self.assertEqual((row["lost"], row["interval_ns"]["min_ns"], row["interval_ns"]["max_ns"],
                          row["lateness_ns"]["max_ns"]), (0, INTERVAL, INTERVAL, 0))

    def test_no_packets(self):
        for content in (pcap([]), pcapng([])):
            seen, said = self.watch(1, self.file("none", content))
            self.assertEqual((seen["packets"], seen["streams"], seen["error"], said), (0, [], None, ""))
            self.assertIn("0 packets. No AVTP.", self.tactus(1, "watch", self.file("none", content)).stdout)

    def test_truncated_files_show_what_was_read(self):
        for name, content in (("a.pcap", pcap(stream(range(10)))),
                              ("a.pcapng", pcapng(stream(range(10))))):
            seen, said = self.watch(4, self.file(name, content[:-30]))
            self.assertEqual(seen["streams"][0]["pdus"], 9)
            self.assertIn("truncated", seen["error"])
            self.assertIn("cannot be read whole", said)

    def test_several_files_are_one_capture(self):
        """The files of a ring, in any order; and two that overlap, packet by packet."""
        whole = list(stream(range(900)))
        one = self.watch(0, self.file("whole.pcap", pcap(whole)))[0]
        ring = [self.file(f"ring{i}.pcapng", pcapng(whole[300 * i:300 * (i + 1)])) for i in range(3)]
        empty = self.file("empty.pcapng", pcapng([]))
        apart = [self.file(f"apart{i}.pcap", pcap(whole[i::2])) for i in range(2)]
        for files in ([ring[2], empty, ring[0], ring[1]], apart):
            seen = json.loads(self.tactus(0, "watch", "--json", *files).stdout)
            self.assertEqual(seen.pop("source"), f"{files[0]} and {len(files) - 1} more")
            self.assertEqual(seen.pop("sources"), files)
            self.assertEqual(seen, {key: value for key, value in one.items() if not key.startswith("source")})

    def test_standard_input(self):
        """From a pipe, whose bytes come once only."""
        for make in (pcap, pcapng):
            done = subprocess.run([TACTUS, "watch", "--json", "-"], input=make(stream(range(900))), capture_output=True,
                                  timeout=60, check=True)
            self.assertEqual(json.loads(done.stdout)["streams"][0]["pdus"], 900)

    def test_a_broken_file_among_several(self):
        whole = list(stream(range(900)))
        parts = [pcapng(whole[300 * i:300 * (i + 1)]) for i in range(3)]
        ring = [self.file("ring0.pcapng", parts[0]), self.file("cut.pcapng", parts[1][:-30]),
                self.file("wifi.pcap", pcap(stream(range(3)), link=105)), self.file("ring2.pcapng", parts[2])]
        done = self.tactus(4, "watch", "--json", *ring)
        seen = json.loads(done.stdout)
        self.assertEqual((seen["packets"], seen["streams"][0]["lost"]), (899, 1))
        self.assertTrue(seen["error"].startswith(f"{ring[1]}: "), seen["error"])
        self.assertIn("cut.pcapng cannot be read whole: ", done.stderr)
        self.assertIn("are of 299 packets", done.stderr)
        self.assertIn("wifi.pcap has link type IEEE802_11", done.stderr)
        self.assertIn("no regular file", self.tactus(4, "watch", "/dev/null", ring[0]).stderr)
        self.assertIn("is an interface", self.tactus(2, "watch", ring[0], "lo").stderr)
        self.tactus(2, "watch", ring[2], ring[2])
        self.assertIn("two captures", self.tactus(2, "watch", "--compare", *ring).stderr)

    def test_nothing_of_avtp(self):
        seen, _ = self.watch(1, self.file("ip.pcap", pcap([(START, bytes(12) + b"\x08\x00" + bytes(46))])))
        self.assertEqual((seen["packets"], seen["not_avtp"], seen["streams"]), (1, 1, []))

    def watch_memory(self, path):
        """What it says, and the most memory that it had, in KB."""
        # MALLOC_PERTURB_, of meson's, would touch all that is allocated.
        with subprocess.Popen([TACTUS, "watch", "--json", path], stdout=subprocess.PIPE, text=True,
                              env={**os.environ, "MALLOC_PERTURB_": "0"}) as process:
            seen = json.loads(process.stdout.read())
            _, status, used = os.wait4(process.pid, 0)
            process.returncode = os.waitstatus_to_exitcode(status)
        self.assertEqual(process.returncode, 0)
        return seen, used.ru_maxrss

    def test_many_streams_take_little_memory(self):
        path = self.file("many.pcap", many_streams())
        _, little = self.watch_memory(self.file("one.pcap", pcap(stream([0]))))
        seen, much = self.watch_memory(path)
        self.assertEqual((len(seen["streams"]), seen["beyond"]), (512, 2 * (MANY - 512)))
        self.assertLess(much - little, 160_000)  # 134 MB, and what a sanitizer adds
        self.assertIn(f"{2 * (MANY - 512)} packets belong to streams beyond the first 512",
                      self.tactus(0, "watch", path).stdout)

    def test_neither_file_nor_interface(self):
        said = self.tactus(2, "watch", "no-such-thing").stderr
        self.assertIn("neither a file", said)
        self.assertIn("interfaces here are: ", said)

    def test_usage(self):
        self.assertIn("did you mean `tactus watch`", self.tactus(2, "wach").stderr)
        for wrong in ("10", "1e3ms", "0x10s", "infs", "-1s", "10 fortnights", "0s", "9000000h"):
            self.assertIn("unit", self.tactus(2, "watch", f"--duration={wrong}", "lo").stderr)
        self.assertIn("Example", self.tactus(0, "watch", "--help").stdout)
        self.assertIn("Example", self.tactus(0, "help", "extract").stdout)
        self.tactus(2)
        self.tactus(2, "watch")
        self.assertTrue(self.tactus(0, "--version").stdout.startswith("tactus "))


class Extract(Case):
    def extract(self, code, packets, *options):
        path = self.file("in.pcap", pcap(packets))
        done = self.tactus(code, "extract", "--json", path, str(self.folder / "out"), *options)
        return json.loads(done.stdout) if done.stdout else done.stderr

    def left(self):
        with wave.open(str(self.folder / "out")) as out:
            self.assertEqual((out.getframerate(), out.getnchannels()), (48000, 2))
            samples = out.readframes(out.getnframes())
        return [sample[0] for sample in struct.iter_unpack("<HH", samples)]

    def test_all_there_in_either_scale(self):
        for offset, scale in ((TAI, "TAI"), (0, "UTC")):
            seen = self.extract(0, stream(range(1000), offset))
            self.assertEqual((seen["timescale"], seen["frames"], seen["missing"]), (scale, 6000, []))
            self.assertEqual(self.left(), list(range(6000)))

    def test_losses_are_silence_of_their_length(self):
        kept = [i for i in range(2000) if i not in (7, 8) and not 1000 <= i < 1400]
        seen = self.extract(1, stream(kept))
        self.assertEqual(seen["missing"], [{"kind": "lost", "frame": 42, "frames": 12},
                                           {"kind": "lost", "frame": 6000, "frames": 2400}])
        self.assertEqual(self.left(), [f if f // 6 in set(kept) else 0 for f in range(12000)])

    def test_what_is_printed_about_losses(self):
        odd = self.file("odd.pcap", pcap(stream(range(0, 41, 2))))
        text = self.tactus(1, "extract", odd, str(self.folder / "out")).stdout
        self.assertIn("120 frames are missing, silence in the output:", text)
        self.assertEqual(text.count(" 6 frames lost"), 20)
        self.assertNotIn("not all", text)
        more = self.file("more.pcap", pcap(stream(range(0, 43, 2))))
        self.assertIn("not all", self.tactus(1, "extract", more, str(self.folder / "out")).stdout)
        one = self.file("one.pcap", pcap(stream([0])))
        self.assertIn("1 PDU, 1 placed", self.tactus(0, "extract", one, str(self.folder / "out")).stdout)

    def test_long_pause(self):
        seen = self.extract(1, stream([*range(100), *range(80100, 80200)]))  # ten seconds
        self.assertEqual(seen["frames"], 80200 * 6)
        self.assertEqual(seen["frames_missing"], 80000 * 6)
        got = self.left()
        self.assertEqual(got[:600], list(range(600)))
        self.assertFalse(any(got[600:-600]))
        self.assertEqual(got[-600:], [f & 0xFFFF for f in range(80100 * 6, 80200 * 6)])

    def test_raw(self):
        self.extract(0, stream(range(10)), "--raw", "S16_BE")
        want = b"".join(struct.pack(">HH", f, ~f & 0xFFFF) for f in range(60))
        self.assertEqual((self.folder / "out").read_bytes(), want)
        self.assertIn("would do", self.extract(2, stream(range(10)), "--raw", "S24_LE"))

    def test_the_capture_is_never_the_output(self):
        path = self.file("in.pcap", pcap(stream(range(10))))
        before = pathlib.Path(path).read_bytes()
        os.symlink(path, self.folder / "symbolic")
        os.link(path, self.folder / "hard")
        for output in (path, f"{self.folder}/./in.pcap", str(self.folder / "symbolic"), str(self.folder / "hard")):
            for options in ([], ["--raw", "S16_LE"]):
                said = self.tactus(2, "extract", *options, path, output).stderr
                self.assertIn("same file", said)
                self.assertEqual(pathlib.Path(path).read_bytes(), before)
        self.assertIn("same file", self.tactus(2, "extract", str(self.folder / "hard"), path).stderr)

    def test_the_figures_and_the_sound_are_not_one_file(self):
        path = self.file("in.pcap", pcap(stream(range(10))))
        both = self.folder / "both"
        for arguments in (["extract", path, str(both)], ["watch", "lo", "--duration", "1ms", "--write", str(both)]):
            with open(both, "w", encoding="utf-8") as out:
                done = subprocess.run([TACTUS, *arguments], stdout=out, stderr=subprocess.PIPE, text=True,
                                      timeout=60, check=False)
            self.assertEqual(done.returncode, 2, done.stderr)
            self.assertIn("standard output", done.stderr)
            self.assertEqual(both.read_bytes(), b"")

    def test_what_gives_no_sound_leaves_an_existing_file_alone(self):
        unstamped = ((START + i * INTERVAL, packet(i, 0, tv=False)) for i in range(10))
        good = pcap(stream(range(10)))
        out = self.file("out", b"dear")
        for content, code, options in (
                (b"this is no capture", 2, []), (b"", 2, []), (pcap([]), 2, []), (good[:20], 2, []),
                (good, 2, ["--stream-id", "02:00:00:00:00:01:0009"]), (good, 2, ["--raw", "S24_LE"]),
                (pcap(unstamped), 4, []), (pcap(stream(range(10)), snap=50), 4, [])):
            for raw in ([], ["--raw", "S16_LE"]) if "--raw" not in options else ([],):
                self.tactus(code, "extract", *options, *raw, self.file("in.pcap", content), out)
                self.assertEqual(pathlib.Path(out).read_bytes(), b"dear")
        self.tactus(2, "extract", str(self.folder / "none.pcap"), out)
        self.assertEqual(pathlib.Path(out).read_bytes(), b"dear")

    def test_an_output_that_cannot_be_written(self):
        for options in ([], ["--raw", "S16_LE"]):
            said = self.tactus(3, "extract", *options, self.file("in.pcap", pcap(stream(range(10)))),
                               str(self.folder / "no such/out")).stderr
            self.assertIn("No such file or directory", said)

    def test_a_stream_beyond_those_that_are_listed(self):
        path, out = self.file("many.pcap", many_streams()), str(self.folder / "out")
        self.tactus(0, "extract", path, out, "--stream-id", f"00:00:00:00:00:00:{MANY:04X}")
        for options in ([], ["--stream-id", "00:00:00:00:00:00:FFFF"]):
            said = self.tactus(2, "extract", path, out, *options).stderr
            self.assertIn(f"{2 * (MANY - 512)} packets are of streams beyond the first 512", said)

    def test_no_such_stream(self):
        said = self.extract(2, stream(range(10)), "--stream-id", "02:00:00:00:00:01:0009")
        self.assertIn(STREAM, said)

    def test_no_stamps(self):
        packets = ((START + i * INTERVAL, packet(i, 0, tv=False)) for i in range(10))
        self.assertIn("cannot be told", self.extract(4, packets))

    def test_snap_length(self):
        path = self.file("in.pcap", pcap(stream(range(10)), snap=50))
        said = self.tactus(4, "extract", path, str(self.folder / "out")).stderr
        self.assertIn("snap length", said)


if __name__ == "__main__":
    unittest.main(argv=["test_watch"])
