"""Each way to use the device that alsa_uses.c and its kin know, with what is heard of it.

A machine that stands still may lose frames. Then, and only then, the reports of the devices say so, and may as much be
missing; a frame that was not played, or was taken back, is always wrong.
"""

import json

import plugin_lab
import side_by_side
from plugin_lab import Lab

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
    "not_offered drain_xrun reopen_200 open_fails open_no_descriptors"
).split()
CASES = [*HEARD, *ASKED]


def devices(lab):
    """A pair, and the pairs of eight_devices, each stream with an address of its own."""
    text = ""
    for number in ("", *range(PAIRS)):
        for name, role in (("play", "play"), ("record", "record")):
            text += lab.device(
                f"{name}{number}", role, addr=f"91:E0:F0:00:FE:1{number or 9}", mtt="400ms", frames_per_pdu="48",
                streamid=f"02:00:00:00:00:01:001{number or 9}", report=str(lab.folder / f"{name}{number}.json"),
            )
    return text


def excuse(lab, number):
    """(how many frames may be missing, whether there may be silence): what the reports say."""
    play, record = lab.report(f"play{number}.json"), lab.report(f"record{number}.json")
    talker, listener = play["counters"], record["counters"]
    lost = (talker["pdus_dropped"] + talker["pdus_refused"]) * play["frames_per_pdu"]
    lost += listener["frames_lost"] + listener["frames_late"]
    if talker["xruns"] or listener["xruns"] or listener["receive_drops"]:
        lost = 1 << 30
    return lost


def judge(lab, case):
    environment = lab.environment(devices(lab))
    code, output, errors = lab.run([lab.client, "play", case], environment)
    lab.check(code == 0, f"exit {code}: {errors}")
    lab.check("ALSA lib" not in errors, f"what ALSA complains of: {errors}")
    print(output, end="")
    if code != 0 or case not in HEARD:
        return
    least, most = HEARD[case]
    lines = [json.loads(line) for line in output.splitlines()]
    numbers = range(PAIRS) if case == "eight_devices" else ("",)
    lab.check(len(lines) == len(numbers), f"it says what was heard: {output}")
    for number, heard in zip(numbers, lines):
        lost = excuse(lab, number)
        lab.check(heard["foreign"] == 0, f"frames that were not played: {heard}")
        lab.check(heard["missing"] <= lost, f"missing, and {lost} of it with a reason: {heard}")
        lab.check(least <= heard["silent"] <= most or lost > 0, f"silence: {heard}")


case = side_by_side.named(CASES)
if case is None:
    side_by_side.run(CASES, together=5)
plugin_lab.TIMEOUT_S = 180
lab = Lab()
judge(lab, case)
lab.end()
