"""Each behaviour of alsa_behaviour.c, on a device whose shape is open and on one that is fixed."""

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

# A program that changes its parameters has done several streams, each with a report.
for name, rate in (("report.json", 48000), ("report.json.2", 96000)):
    lab.check(lab.report(name)["rate_hz"] == rate, f"the report {name} is of {rate} Hz")
lab.end()
