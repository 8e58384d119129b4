"""What one client plays, another records: every access type and format, blocking and with poll.

A machine that stands still may lose frames. Then, and only then, the reports of the two devices count what is
missing, and a frame that is neither what was sent nor silence is always wrong.
"""

import concurrent.futures
import json

from plugin_lab import Lab

ACCESSES = ("RW_INTERLEAVED", "RW_NONINTERLEAVED", "MMAP_INTERLEAVED", "MMAP_NONINTERLEAVED")
FORMATS = "S16_LE S16_BE S24_3LE S24_3BE S24_LE S24_BE S32_LE S32_BE FLOAT_LE FLOAT_BE".split()
FRAMES = 24000
AT_A_TIME = 4

lab = Lab()
exact = []
crossings = []


def accounted(play, record):
    """Frames that the reports say did not get through."""
    talker, listener = play["counters"], record["counters"]
    lost = (talker["pdus_dropped"] + talker["pdus_refused"]) * play["frames_per_pdu"]
    lost += listener["frames_lost"] + listener["frames_late"]
    if talker["xruns"] or listener["xruns"] or listener["receive_drops"] or listener["resyncs"] > 1:
        return FRAMES
    return lost


def cross(what, play_options, record_options, **keys):
    """To be done, as a stream of its own."""
    number = len(crossings) + 1
    stream = {"addr": f"91:E0:F0:00:FE:{number:02X}", "streamid": f"02:00:00:00:00:01:{number:04X}"}
    crossings.append((what, f"{number}", play_options, record_options, {**stream, **keys}))


def do(crossing):
    what, name, play_options, record_options, keys = crossing
    devices = lab.device("play", report=str(lab.folder / f"play{name}.json"), **keys)
    devices += lab.device("record", "record", report=str(lab.folder / f"record{name}.json"), **keys)
    environment = lab.environment(devices)
    frames = f"frames={FRAMES}"
    recorder = lab.start([lab.client, "record", "record", frames] + record_options, environment)
    recorder.stdout.readline()
    code, played, errors = lab.run([lab.client, "play", "play", frames] + play_options, environment)
    lab.check(code == 0, f"{what}: player: {errors}")
    seen, errors = recorder.stdout.read(), recorder.stderr.read()  # communicate() leaves out what readline() kept
    recorder.wait(timeout=60)
    if not lab.check(recorder.returncode == 0, f"{what}: recorder: {errors}") or code != 0:
        return
    seen, played = json.loads(seen), json.loads(played)
    play, record = lab.report(f"play{name}.json"), lab.report(f"record{name}.json")
    lab.check(played["frames"] == FRAMES, f"{what}: played {played}")
    exact.append(seen["frames"] == FRAMES)
    lab.check(seen["foreign"] == 0, f"{what}: frames that were never sent: {seen}")
    lab.check(seen["missing"] <= accounted(play, record), f"{what}: missing without a reason: {seen}")
    lab.check(play["counters"]["frames_sent"] + FRAMES * play["counters"]["xruns"]
              + play["frames_per_pdu"] * play["counters"]["pdus_dropped"] >= FRAMES, f"{what}: not everything was sent: {play}")


for access in ACCESSES:
    for nonblock in ("0", "1"):
        options = [f"access={access}", f"nonblock={nonblock}"]
        cross(f"{access} nonblock={nonblock}", options, options)
for format in FORMATS:
    cross(format, [f"format={format}"], [f"format={format}", "access=MMAP_INTERLEAVED"])
# The wire has one byte order: programs on both sides may differ.
cross("S32_LE to S32_BE", ["format=S32_LE"], ["format=S32_BE"])
cross("S24_LE to S24_3BE", ["format=S24_LE"], ["format=S24_3BE"])
cross("8 channels", ["channels=8"], ["channels=8"])
fast = ["rate=192000", "channels=8", "format=S32_LE", "buffer=96000", "period=9600"]
cross("192 kHz, the largest PDU", fast, fast, frames_per_pdu="46", format="INT32", rate="192000", channels="8")
cross("44.1 kHz", ["rate=44100"], ["rate=44100"])
cross("odd PDUs and periods", ["period=777", "buffer=7000"], ["period=501"], frames_per_pdu="7")
cross("sparse, tagged", [], [], sparse="yes", vlan_id="2")
with concurrent.futures.ThreadPoolExecutor(AT_A_TIME) as pool:
    for _ in pool.map(do, crossings):  # what it raises is raised here
        pass
print(f"{sum(exact)} of {len(exact)} crossings without a missing frame")
lab.end()
