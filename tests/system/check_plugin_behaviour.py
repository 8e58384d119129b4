"""Each behaviour of alsa_behaviour.c, on a device whose shape is open and on one that is fixed."""

import subprocess

from plugin_lab import Lab

BEHAVIOURS = (
    "pause pause_capture drop drain drain_nonblock delay xrun xrun_capture xrun_poll endless rewind reset "
    "reopen reopen_capture fork refit"
).split()

lab = Lab()
for behaviour in BEHAVIOURS:
    role = "record" if behaviour.endswith("_capture") else "play"
    environment = lab.environment(lab.device("open", role, mtt="20ms", report=str(lab.folder / "report.json")))
    code, _, errors = lab.run([lab.client, "open", behaviour], environment)
    lab.check(code == 0, f"{behaviour}: exit {code}: {errors}")

for keys in (dict(ifname="nosuch0"), dict(ifname="lo"), dict(frames_per_pdu="1000"), dict(mtt="x")):
    for stream, role in (("play", "play"), ("record", "record")):
        environment = lab.environment(lab.device("bad", role, **keys))
        code, _, errors = lab.run([lab.client, "bad", "refused", f"stream={stream}"], environment)
        lab.check(code == 0, f"refused {keys} {stream}: exit {code}: {errors[-500:]}")

# The host sees two entry points and their version marks, and nothing of ours by any other name.
symbols = subprocess.run(
    ["nm", "-D", "--defined-only", str(lab.plugin)], capture_output=True, text=True
).stdout.split()[2::3]
expected = [f"_snd_pcm_{type}_open" for type in ("aaf", "tactus")]
expected += [f"__snd_pcm_{type}_open_dlsym_pcm_001" for type in ("aaf", "tactus")]
lab.check(sorted(s for s in symbols if "asan" not in s) == sorted(expected), f"visible symbols: {symbols}")

# A program that changes its parameters has done several streams, each with a report.
for name, rate in (("report.json", 48000), ("report.json.2", 96000)):
    lab.check(lab.report(name)["rate_hz"] == rate, f"the report {name} is of {rate} Hz")
lab.end()
