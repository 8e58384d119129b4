"""The TAI offset unset, 0 or 37: the packet rate is the media's, and what was found is said once.

Judged by the talker's own counters against the number of frames, so a slow machine changes nothing.
"""

from plugin_lab import Lab, need

lab = Lab()
need("speaker-test")
# So many frames for -l 1 of one channel of a test tone; all else follows from them.
TEST = ["speaker-test", "-D", "play", "-c", "2", "-t", "sine", "-l", "1"]

for offset in (None, "0", "37"):
    for flags in ([], ["-p", "20000"]):
        what = f"offset {offset}, speaker-test {' '.join(flags)}"
        more = {} if offset is None else {"TACTUS_SHIM_TAI_S": offset}
        text = lab.device("play", report=str(lab.folder / "tai.json"))
        code, _, errors = lab.run(TEST + flags, lab.environment(text, preload=[lab.shim], **more))
        lab.check(code == 0, f"{what}: exit {code}: {errors}")
        counters = lab.report("tai.json")["counters"]
        pdus = counters["pdus_sent"] + counters["pdus_dropped"] + counters["pdus_refused"]
        frames = counters["frames_sent"] + counters["frames_padded"]
        lab.check(counters["pdus_sent"] > 0, f"{what}: nothing was sent: {counters}")
        # One PDU for six frames of media, neither more nor less.
        lab.check(counters["pdus_sent"] * 6 == frames, f"{what}: {frames} frames in {counters}")
        # The media time is what the speaker test takes: within twice of it, however slow the machine.
        lab.check(pdus <= 2 * 8000 * lab.seconds, f"{what}: {pdus} PDUs in {lab.seconds} s")
        said = [line for line in errors.splitlines() if "TAI" in line]
        lab.check(len(said) == (0 if offset == "37" else 1), f"{what}: it says {said}")
lab.end()
