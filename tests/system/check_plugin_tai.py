"""The TAI offset unset, 0 or 37: the packet rate is the media's, and what was found is said once.

Judged by counters against the number of frames, the talker's own and the interface's, so a slow machine changes
nothing.
"""

import json
import subprocess

import side_by_side
from plugin_lab import LISTENER, Lab, need

# As this machine's clock is, without the shim; and with it.
OFFSETS = {"as-it-is": None, "unset": "0", "set": "37"}
case = side_by_side.named(OFFSETS)
if case is None:
    side_by_side.run(list(OFFSETS), together=len(OFFSETS))
offset = OFFSETS[case]
lab = Lab()
need("speaker-test")
TEST = ["speaker-test", "-D", "play", "-c", "1", "-t", "sine", "-l", "1"]

# What else the kernel sends on a new link: neighbours, multicast memberships.
OTHERS = 100


def arrived():
    shown = subprocess.run(["ip", "-s", "-j", "link", "show", LISTENER], capture_output=True, text=True, check=True)
    return json.loads(shown.stdout)[0]["stats64"]["rx"]["packets"]


for flags in ([], ["-p", "20000"]):
    what = f"offset {offset}, speaker-test {' '.join(flags)}"
    more = {} if offset is None else {"TACTUS_SHIM_TAI_S": offset}
    text = lab.device("play", report=str(lab.folder / "tai.json"))
    before = arrived()
    code, _, errors = lab.run(TEST + flags, lab.environment(text, preload=[lab.shim] if offset else [], **more))
    lab.check(code == 0, f"{what}: exit {code}: {errors}")
    packets = arrived() - before
    counters = lab.report("tai.json")["counters"]
    pdus = counters["pdus_sent"] + counters["pdus_dropped"] + counters["pdus_refused"]
    frames = counters["frames_sent"] + counters["frames_padded"]
    lab.check(counters["pdus_sent"] > 0, f"{what}: nothing was sent: {counters}")
    # One PDU for six frames of media, neither more nor less.
    lab.check(counters["pdus_sent"] * 6 == frames, f"{what}: {frames} frames in {counters}")
    lab.check(
        counters["pdus_sent"] <= packets <= counters["pdus_sent"] + OTHERS,
        f"{what}: {packets} packets arrived: {counters}",
    )
    # The media time is what the speaker test takes: within twice of it, however slow the machine.
    lab.check(pdus <= 2 * 8000 * lab.seconds, f"{what}: {pdus} PDUs in {lab.seconds} s")
    said = [line for line in errors.splitlines() if "TAI" in line]
    lab.check(len(said) in {"0": [1], "37": [0]}.get(offset, [0, 1]), f"{what}: it says {said}")
lab.end()
