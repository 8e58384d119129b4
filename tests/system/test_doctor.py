#!/usr/bin/env python3
"""`tactus doctor` on a made network: what it finds is what is there, before and after each fault.

usage: test_doctor.py TACTUS PLUGIN [rootless]
In a network namespace of its own, with a real ptp4l (software stamps; free_running, so that no clock is touched).
"""
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import time
import unittest

TACTUS, PLUGIN = sys.argv[1], sys.argv[2]
RANK = ["good", "note", "unknown", "warning", "fault"]


def run(command):
    return subprocess.run(command.split(), capture_output=True, text=True, check=True).stdout


class Doctor(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        self.environment = {**os.environ, "HOME": folder.name}
        run("ip link add va numtxqueues 4 type veth peer name vb numtxqueues 1")
        self.addCleanup(subprocess.run, "ip link del va".split(), capture_output=True, check=False)
        run("ip link set va up")
        run("ip link set vb up")

    def skip(self, reason):
        print(f"{reason}\n[  SKIPPED ] {self.id()}")
        self.skipTest(reason)

    def ask(self, *arguments, prefix=(), says=""):
        done = subprocess.run([*prefix, TACTUS, "doctor", "--json", "--ptp-socket", str(self.folder / "va"), *arguments],
                              capture_output=True, text=True, timeout=60, check=False, env=self.environment)
        self.assertIn(says, done.stderr)
        self.assertTrue(says or not done.stderr, done.stderr)
        said = json.loads(done.stdout)
        worst = max((check["status"] for check in said["checks"]), key=RANK.index)
        self.assertEqual(said["worst"], worst)
        self.assertEqual(done.returncode, {"warning": 1, "fault": 1, "unknown": 4}.get(worst, 0))
        for check in said["checks"]:
            if check["status"] in ("warning", "fault"):
                self.assertTrue(check["costs"] and check["mend"], check)
            for command in re.split(" && | [|] ", check["mend"] or ""):  # one that takes root says so
                self.assertRegex(command, "^$|^(sudo|echo|man|aplay) |^ethtool (-T )?[^- ]+$|^ip link   #")
        return {check["check"]: check for check in said["checks"]}

    def test_a_link_as_it_is_and_with_faults(self):
        found = self.ask("va")
        self.assertEqual({name: found[name]["status"] for name in ("link", "speed", "mtu", "multicast", "queues")},
                         dict.fromkeys(("link", "speed", "mtu", "multicast", "queues"), "good"))
        self.assertIn("driver veth", found["link"]["found"])
        self.assertTrue(found["queues"]["found"].startswith("4 queues"), found["queues"])
        self.assertEqual((found["phc"]["status"], found["stamps"]["status"]), ("note", "note"))
        one = self.ask("vb")
        self.assertEqual((one["queues"]["status"], one["queues"]["found"].split(",")[0]), ("note", "1 queue to send"))
        self.assertIsNone(one["launch_times"]["mend"])  # what is proposed takes three
        self.assertIn("three queues", one["launch_times"]["costs"])
        for command, name, status, mend in (
                ("ip link set va mtu 600", "mtu", "warning", "sudo ip link set dev va mtu 1500"),
                ("ip link set va multicast off", "multicast", "fault", "sudo ip link set dev va multicast on"),
                ("ip link set vb down", "link", "fault", "ethtool va"),
                ("ip link set va down", "link", "fault", "sudo ip link set dev va up")):
            run(command)
            found = self.ask("va")[name]
            self.assertEqual((found["status"], found["mend"]), (status, mend))
        for command, name in (("mtu 1500", "mtu"), ("multicast on", "multicast"), ("up", "link")):
            run(f"ip link set vb {command}")
            run(f"ip link set dev va {command}")  # what it says itself
            self.assertEqual(self.ask("va")[name]["status"], "good")

    def test_the_tools_say_the_same(self):
        found = self.ask("va")
        self.assertIn(f"{json.loads(run('ip -j link show va'))[0]['mtu']} bytes", found["mtu"]["found"])
        if shutil.which("ethtool"):
            speed = re.search(r"Speed: (\d+)Mb/s", run("ethtool va")).group(1)
            self.assertIn(f"{speed} Mbit/s, full duplex", found["speed"]["found"])
            self.assertIn("none", re.search(r"PTP Hardware Clock: (\S+)", run("ethtool -T va")).group(1))

    def test_a_vlan_and_its_priorities(self):
        try:
            run("ip link add link va name va.2 type vlan id 2")
        except subprocess.CalledProcessError as refused:
            self.skip(f"this kernel makes no VLAN: {refused.stderr.strip()}")
        found = self.ask("va.2")["vlan"]
        self.assertEqual((found["status"], found["mend"]),
                         ("warning", "sudo ip link set dev va.2 type vlan egress-qos-map 3:3"))
        run(found["mend"].removeprefix("sudo "))
        found = self.ask("va.2")["vlan"]
        self.assertEqual((found["status"], found["found"]), ("good", "VLAN 2; priority 3 goes out with PCP 3"))
        self.assertEqual(self.ask("va.2", "--priority", "2")["vlan"]["status"], "warning")

    def test_a_qdisc_tree(self):
        run("tc qdisc replace dev va root pfifo")
        found = self.ask("va")["launch_times"]
        self.assertEqual(found["status"], "note")
        self.assertIn("(qdiscs: pfifo)", found["found"])

    def start_ptp4l(self, interface, priority):
        config = self.folder / f"{interface}.cfg"
        config.write_text(f"""[global]
free_running 1
uds_address {self.folder}/{interface}
priority1 {priority}
transportSpecific 0x1
network_transport L2
time_stamping software
delay_mechanism P2P
logAnnounceInterval -3
logSyncInterval -3
announceReceiptTimeout 10
neighborPropDelayThresh 2000000000
""")
        self.run_ptp4l("-i", interface, "-f", str(config))

    def run_ptp4l(self, *options):
        process = subprocess.Popen(["ptp4l", *options], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        self.addCleanup(process.wait)
        self.addCleanup(process.terminate)

    def wait_for(self, word, socket, interface="va"):
        """The answer on ptp4l once it holds the word."""
        for _ in range(300):
            found = self.ask(interface, "--ptp-socket", str(self.folder / socket))
            if word in found["ptp4l"]["found"]:
                return found
            time.sleep(0.1)
        self.fail(f"{word} never came: {found['ptp4l']}")
        return None

    def test_ptp4l(self):
        if not shutil.which("ptp4l"):
            self.skip("ptp4l is not installed")
        found = self.ask("va")["ptp4l"]
        self.assertEqual((found["status"], found["mend"][:16]), ("warning", "sudo ptp4l -i va"))
        self.run_ptp4l(*found["mend"].split()[2:], "--free_running=1", f"--uds_address={self.folder}/mended")
        self.wait_for("port 1 is ", "mended")  # what is proposed runs, without hardware that stamps
        self.start_ptp4l("va", 100)
        found = self.wait_for("port 1 is MASTER", "va")
        self.assertEqual(found["ptp4l"]["status"], "good")
        self.assertIn("(this machine)", found["ptp4l"]["found"])
        self.assertNotIn("gptp_offset", found)
        self.assertEqual(found["gptp_utc_offset"]["status"], "warning")
        mend = found["gptp_utc_offset"]["mend"]
        self.assertNotIn("#", mend)
        if os.access("/var/run", os.W_OK):  # pmc has its own socket there
            said = subprocess.run(mend.removeprefix("sudo "), shell=True, capture_output=True, text=True, check=False)
            self.assertRegex(said.stdout, r"RESPONSE [^$]*currentUtcOffsetValid +1", said.stderr)
            self.assertEqual(self.wait_for("MASTER", "va")["gptp_utc_offset"]["status"], "good")
        self.start_ptp4l("vb", 200)
        self.wait_for("runs on vb, port 1 is ", "vb", "vb")
        elsewhere = self.wait_for("runs on vb, and not on va", "vb")["ptp4l"]
        self.assertEqual((elsewhere["status"], elsewhere["mend"][:16]), ("warning", "sudo ptp4l -i va"))
        grandmaster = re.search(r"grandmaster (\w{16})", found["ptp4l"]["found"]).group(1)
        found = self.wait_for(grandmaster, "vb", "vb")  # with free_running a port stays UNCALIBRATED
        self.assertIn(grandmaster, found["ptp4l"]["found"])
        if "UNCALIBRATED" in found["ptp4l"]["found"]:
            self.assertRegex(found["ptp4l"]["mend"], "^sudo ptp4l -i vb .*--step_threshold=1 # in place of the one that runs")
        self.assertNotIn("(this machine)", found["ptp4l"]["found"])
        self.assertIn("from the grandmaster", found["gptp_offset"]["found"])
        if found["gptp_utc_offset"]["status"] == "warning":
            self.assertIn("# on the grandmaster", found["gptp_utc_offset"]["mend"])

    def test_alsa(self):
        self.assertEqual(self.ask()["alsa_config"]["status"], "warning")
        for interface, status in (("va", "good"), ("nowhere", "fault")):
            (self.folder / ".asoundrc").write_text(
                f'pcm_type.tactus {{ lib "{PLUGIN}" }}\npcm.stage {{ type tactus ifname {interface} }}\n')
            found = self.ask()
            self.assertEqual(found["alsa_config"]["status"], "good", found)
            self.assertEqual(found["alsa_device"]["status"], status)
            self.assertIn("stage", found["alsa_device"]["found"])
        (self.folder / ".asoundrc").write_text('pcm_type.tactus { lib "/no/such.so" }\n')
        self.assertIn("/no/such.so", self.ask()["alsa_config"]["found"])
        (self.folder / ".asoundrc").write_text("pcm.stage {\n")
        self.assertEqual(self.ask(says=".asoundrc")["alsa_config"]["status"], "fault")  # ALSA names the place

    def test_rights(self):
        self.assertEqual(self.ask()["cap_net_raw"]["status"], "good")
        found = self.ask(prefix=["setpriv", "--bounding-set", "-net_raw", "--inh-caps", "-net_raw"])
        self.assertEqual((found["cap_net_raw"]["status"], found["cap_net_admin"]["status"]), ("warning", "good"))
        self.assertIn("setcap cap_net_raw", found["cap_net_raw"]["mend"])

    def test_text_and_usage(self):
        done = subprocess.run([TACTUS, "doctor", "va"], capture_output=True, text=True, check=False)
        self.assertRegex(done.stdout, r"(?m)^good     mtu                an MTU of 1500 bytes$")
        self.assertRegex(done.stdout, r"(?m)^ {27} mend:  ")
        for arguments, word in ((["no"], "there are: lo"), (["va", "vb"], "one interface at a time"),
                                (["--priority", "16", "va"], "from 0 to 15")):
            done = subprocess.run([TACTUS, "doctor", *arguments], capture_output=True, text=True, check=False)
            self.assertEqual(done.returncode, 2)
            self.assertIn(word, done.stderr)


def main():
    if os.environ.get("TT_DOCTOR_INSIDE"):
        return 0 if unittest.main(argv=sys.argv[:1], exit=False).result.wasSuccessful() else 1
    unshare = ["unshare", "-rn" if os.geteuid() != 0 or sys.argv[3:] else "-n"]
    if subprocess.run([*unshare, "true"], check=False).returncode != 0:
        print(f"no namespace can be made here ({' '.join(unshare)})")
        return 77
    return subprocess.run([*unshare, sys.executable, *sys.argv], check=False,
                          env={**os.environ, "TT_DOCTOR_INSIDE": "1"}).returncode


if __name__ == "__main__":
    sys.exit(main())
