"""Each way to use the device that alsa_uses.c and its kin know, with what is heard of it.

A machine that stands still may lose frames. Then, and only then, the reports of the devices say so, and may as much be
missing; a frame that was not played, or was taken back, is always wrong.
"""

import concurrent.futures
import json
import subprocess
import sys

import plugin_lab
from plugin_lab import Lab

TOGETHER = 6  # cases that run side by side, each on interfaces of its own
PAIRS = 4  # of eight_devices
# What is heard is judged; with the frames of silence that belong in between, where some do.
HEARD = {case: (0, 0) for case in (
    "mmap_calls avail_min_1 avail_min_odd avail_min_half timer nonblock_later small_buffer drain_partial "
    "drain_partial_nonblock drain_one_frame rewind_heard eight_devices fork_ends fork_closes fork_uses fork_drops "
    "fork_drains fork_opens signals threads"
).split()}
HEARD.update(
    drop_unheard=(0, 480000), drain_paused=(0, 480000), pause_heard=(0, 480000), forward_silent=(4800, 480000),
    silence=(4800, 480000),
)
ASKED = (
    "drain_capture rewind_far rewind_capture start_threshold stop_threshold avail_min_over wait_timeouts status_stamps "
    "not_offered drain_xrun open_fails open_no_descriptors"
).split()
CASES = ["reopen_200", *HEARD, *ASKED]  # the longest first


def devices(lab, case, folder):
    """A pair, and the pairs of eight_devices, each stream with an address of its own."""
    interfaces = {"play": f"a{CASES.index(case)}", "record": f"b{CASES.index(case)}"}
    subprocess.run(["ip", "link", "add", interfaces["play"], "type", "veth", "peer", "name", interfaces["record"]], check=True)
    for interface in interfaces.values():
        subprocess.run(["ip", "link", "set", interface, "up"], check=True)
    text = ""
    for number in ("", *range(PAIRS)):
        for role, interface in interfaces.items():
            text += lab.device(
                f"{role}{number}", role, ifname=interface, addr=f"91:E0:F0:00:FE:1{number or 9}", mtt="400ms",
                streamid=f"02:00:00:00:00:01:001{number or 9}", frames_per_pdu="48", report=str(folder / f"{role}{number}.json"),
            )
    return text


def excuse(folder, number):
    """How many frames may be missing: what the reports say."""
    play, record = (json.loads((folder / f"{role}{number}.json").read_text()) for role in ("play", "record"))
    talker, listener = play["counters"], record["counters"]
    lost = (talker["pdus_dropped"] + talker["pdus_refused"]) * play["frames_per_pdu"]
    lost += listener["frames_lost"] + listener["frames_late"]
    if talker["xruns"] or listener["xruns"] or listener["receive_drops"]:
        lost = 1 << 30
    return lost


def judge(lab, case):
    """(what it says, what is wrong with it)"""
    folder = lab.folder / case
    folder.mkdir()
    code, output, errors = lab.run([lab.client, "play", case], lab.environment(devices(lab, case, folder)))
    wrong = [f"exit {code}: {errors}"] if code != 0 else []
    wrong += [f"ALSA complains: {errors}"] if "ALSA lib" in errors else []
    if code != 0 or case not in HEARD:
        return output, wrong
    least, most = HEARD[case]
    lines = [json.loads(line) for line in output.splitlines()]
    numbers = range(PAIRS) if case == "eight_devices" else ("",)
    wrong += [f"it says what was heard {len(lines)} times"] if len(lines) != len(numbers) else []
    for number, heard in zip(numbers, lines):
        lost = excuse(folder, number)
        wrong += [f"frames that were not played: {heard}"] if heard["foreign"] else []
        wrong += [f"missing, {lost} of it with a reason: {heard}"] if heard["missing"] > lost else []
        wrong += [f"silence: {heard}"] if not least <= heard["silent"] <= most and not lost else []
    return output, wrong


plugin_lab.TIMEOUT_S = 180
lab = Lab()
passed = 0
with concurrent.futures.ThreadPoolExecutor(TOGETHER) as pool:
    for case, (output, wrong) in zip(CASES, pool.map(lambda case: judge(lab, case), CASES)):
        print(f"{'FAILED' if wrong else 'good'}: {case}", output.rstrip(), *wrong, sep="\n")
        passed += not wrong
print(f"{passed} passed, {len(CASES) - passed} failed")
sys.exit(0 if passed == len(CASES) else 1)
