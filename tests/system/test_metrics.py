#!/usr/bin/env python3
"""--metrics of watch, talk, listen and gate shape over a veth pair: promtool finds nothing to say about them, the figures
are those of the JSON, the manual page has every name, and the dashboard in share/ asks for what there is.

usage: test_metrics.py TACTUS SOURCE-ROOT
In a network namespace of its own.
"""
import json
import os
import pathlib
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import unittest
import urllib.error
import urllib.request

TACTUS, ROOT = sys.argv[1], pathlib.Path(sys.argv[2])
STREAM = ["-i", "va", "--stream-id", "02:00:00:00:00:01:0001", "--dest", "91:E0:F0:00:FE:01"]


def get(port, path="/metrics"):
    with urllib.request.urlopen(f"http://127.0.0.1:{port}{path}", timeout=10) as answer:
        return answer.headers["Content-Type"], answer.read().decode()


def samples(text):
    """{name: {labels: value}}"""
    found = {}
    for line in text.splitlines():
        match = re.fullmatch(r"(\w+)(\{.*\})? (\S+)", line)
        if match:
            found.setdefault(match[1], {})[match[2] or ""] = float(match[3])
    return found


class Metrics(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def start(self, *arguments):
        process = subprocess.Popen([TACTUS, *arguments], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
        self.addCleanup(process.stdout.close)
        self.addCleanup(process.wait)
        self.addCleanup(process.kill)
        return process

    def scrape(self, port, wanted):
        """The page once it has a sample of that name that is above 0."""
        for _ in range(600):
            try:
                kind, text = get(port)
                if any(value > 0 for value in samples(text).get(wanted, {}).values()):
                    self.assertIn("version=0.0.4", kind)
                    return text
            except urllib.error.URLError:
                pass
            time.sleep(0.05)
        self.fail(f"{wanted} never came on port {port}")
        return None

    def check(self, text):
        if not shutil.which("promtool"):
            print(f"promtool is not installed\n[  SKIPPED ] {self.id()}: promtool check metrics")
            return
        done = subprocess.run(["promtool", "check", "metrics"], input=text, capture_output=True, text=True, check=False)
        self.assertEqual((done.returncode, done.stdout + done.stderr), (0, ""))

    def check_histogram(self, found, name):
        """Buckets only grow, and the last is the count."""
        buckets = list(found[f"{name}_bucket"].values())
        self.assertEqual(buckets, sorted(buckets))
        self.assertEqual([buckets[-1]], list(found[f"{name}_count"].values()))
        self.assertGreater(buckets[-1], 0)

    def test_all(self):
        watch = self.start("watch", "vb", "--json", "--metrics", "9801")
        listen = self.start("listen", "-i", "vb", *STREAM[2:], "--json", "--metrics", "127.0.0.1:9802",
                            str(self.folder / "out.wav"))
        self.start("talk", *STREAM, "--metrics", "9803", "tone:440")
        pages = {port: self.scrape(port, name) for port, name in (
            (9801, "tactus_watch_lateness_seconds_count"), (9802, "tactus_listen_pdus_placed_total"),
            (9803, "tactus_talk_pdus_sent_total"))}
        for text in pages.values():
            self.check(text)
        seen = {port: samples(self.scrape(port, name)) for port, name in (
            (9801, "tactus_watch_lateness_seconds_count"), (9802, "tactus_listen_lateness_seconds_count"),
            (9803, "tactus_talk_lateness_seconds_count"))}
        for port, name in ((9801, "tactus_watch_lateness_seconds"), (9801, "tactus_watch_interval_seconds"),
                           (9801, "tactus_watch_margin_seconds"), (9802, "tactus_listen_lateness_seconds"),
                           (9803, "tactus_talk_lateness_seconds")):
            self.check_histogram(seen[port], name)
        shaped = self.shaped()
        if shaped:
            self.page_has_every_name("\n".join([*pages.values(), shaped]))
            self.dashboard_asks_for_what_there_is({name for found in (*seen.values(), samples(shaped)) for name in found})
        for process in (watch, listen):
            process.send_signal(signal.SIGINT)
        last = json.loads(watch.communicate(timeout=60)[0].splitlines()[-1])
        labels, pdus = next(iter(seen[9801]["tactus_watch_pdus_total"].items()))
        self.assertIn('stream_id="02:00:00:00:00:01:0001"', labels)
        self.assertLessEqual(pdus, last["streams"][0]["pdus"])
        counters = json.loads(listen.communicate(timeout=60)[0].splitlines()[-1])["streams"][0]["counters"]
        for key, value in counters.items():
            if isinstance(value, int) and not isinstance(value, bool) and key != "drift_ppb":
                before = next(iter(seen[9802][f"tactus_listen_{key}_total"].values()))
                self.assertLessEqual(before, value, key)

    def page_has_every_name(self, text):
        """The manual page has all families and no other, and none is explained by its name alone."""
        served = dict(re.findall(r"# HELP (\w+) (.*)", text))
        told = re.findall(r"^\*(tactus_\w+)\*$", (ROOT / "doc/tactus-metrics.7.scd").read_text(), re.M)
        self.assertEqual(sorted(told), sorted(served))
        self.assertEqual([name for name, help in served.items() if " " not in help], [])


    def shaped(self):
        """Of gate shape; what the machine sends of itself, neighbour discovery, is traffic enough."""
        if not os.path.exists("/dev/net/tun"):
            print(f"there is no /dev/net/tun here\n[  SKIPPED ] {self.id()}: gate shape")
            return None
        shaper = self.start("gate", "shape", "--schedule", str(ROOT / "doc/examples/gate-2021.json"), "--to", "va", "--json",
                            "--metrics", "9807")
        text = self.scrape(9807, "tactus_shape_wait_seconds_count")
        self.check(text)
        found = samples(text)
        self.check_histogram(found, "tactus_shape_lateness_seconds")
        shaper.send_signal(signal.SIGINT)
        last = json.loads(shaper.communicate(timeout=60)[0].splitlines()[-1])
        for key in ("packets", "frames", "bytes"):
            seen = sum(value for name in found if name.startswith(f"tactus_shape_{key}_total") for value in found[name].values())
            self.assertGreater(seen, 0)
            self.assertLessEqual(seen, sum(one[key] for one in last["classes"]), key)
        return text

    def dashboard_asks_for_what_there_is(self, names):
        board = json.loads((ROOT / "share/grafana/tactus.json").read_text())
        asked = set(re.findall(r"tactus_\w+", json.dumps([panel["targets"] for panel in board["panels"]])))
        self.assertTrue(asked)
        self.assertLessEqual(asked, names)
        self.assertEqual(len({panel["id"] for panel in board["panels"]}), len(board["panels"]))

    def test_other_questions(self):
        self.start("watch", "vb", "--json", "--metrics", "[::1]:9804")
        self.start("watch", "vb", "--json", "--metrics", "9805")
        self.scrape_any(9805)
        with self.assertRaises(urllib.error.HTTPError) as refused:
            get(9805, "/secrets")
        self.assertEqual(refused.exception.code, 404)
        refused.exception.close()
        self.assertIn("/metrics", get(9805, "/")[1])
        with self.assertRaises(urllib.error.HTTPError) as refused:
            urllib.request.urlopen("http://127.0.0.1:9805/metrics", data=b"x" * 100, timeout=10)
        self.assertEqual(refused.exception.code, 405)
        refused.exception.close()
        for code, where, word in ((2, "nonsense", "give ADDRESS:PORT"), (2, "127.0.0.1:0", "give"), (2, "1.2.3:80", "give"),
                                  (2, "[::1:80", "give"), (3, "9805", "Address already in use"),
                                  (3, "203.0.113.9:9806", "annot assign")):
            done = subprocess.run([TACTUS, "watch", "vb", "--metrics", where, "--duration", "1s"], capture_output=True,
                                  text=True, timeout=60, check=False)
            self.assertEqual(done.returncode, code, done.stderr)
            self.assertIn(word, done.stderr)

    def scrape_any(self, port):
        for _ in range(600):
            try:
                return get(port)
            except urllib.error.URLError:
                time.sleep(0.05)
        self.fail(f"nobody answers on port {port}")
        return None


def main():
    if os.environ.get("TT_METRICS_INSIDE"):
        for command in ("ip link set lo up", "ip link add va type veth peer name vb", "ip link set va up", "ip link set vb up"):
            subprocess.run(command.split(), check=True)
        return 0 if unittest.main(argv=sys.argv[:1], exit=False).result.wasSuccessful() else 1
    unshare = ["unshare", "-rn" if os.geteuid() != 0 else "-n"]
    if subprocess.run([*unshare, "true"], check=False).returncode != 0:
        print(f"no namespace can be made here ({' '.join(unshare)})")
        return 77
    return subprocess.run([*unshare, sys.executable, *sys.argv], check=False,
                          env={**os.environ, "TT_METRICS_INSIDE": "1"}).returncode


if __name__ == "__main__":
    sys.exit(main())
