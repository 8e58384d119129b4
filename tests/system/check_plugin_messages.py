"""What a misconfiguration says: which key, what was given, what would do. And that nothing crashes."""

import os
import subprocess
import wave

from plugin_lab import Lab, TALKER, need

lab = Lab()
need("aplay", "arecord")
sound = lab.folder / "sound.wav"
with wave.open(str(sound), "wb") as file:
    file.setnchannels(2)
    file.setsampwidth(2)
    file.setframerate(48000)
    file.writeframes(bytes(4 * 4800))

PLAY = ["aplay", "-q", "-D", "x", str(sound)]
RECORD = ["arecord", "-q", "-D", "x", "-f", "S16_LE", "-c", "2", "-r", "48000", "-s", "4800", os.devnull]

# Keys, and what the message must hold.
CASES = [
    (dict(drop=["ifname"]), ["ifname is missing", "like eth0"]),
    (dict(drop=["addr"]), ["addr is missing", "91:E0:F0"]),
    (dict(drop=["streamid"]), ["streamid is missing", "AA:BB:CC:DD:EE:FF:0001"]),
    (dict(addr="91:E0:F0:00:FE"), ['addr "91:E0:F0:00:FE"', "MAC address", "like"]),
    (dict(addr="hello"), ['addr "hello"', "MAC address"]),
    (dict(streamid="1"), ['streamid "1"', "like AA:BB"]),
    (dict(ifname="nosuch0"), ['interface "nosuch0" does not exist', TALKER]),
    (dict(ifname="lo"), ['interface "lo"', "Ethernet"]),
    (dict(ifname="a-name-of-20-letters"), ['ifname "a-name-of-20-letters"', "15"]),
    (dict(frames_per_pdu="0"), ['frames_per_pdu "0"', "like 6"]),
    (dict(frames_per_pdu="-6"), ['frames_per_pdu "-6"', "negative"]),
    (dict(frames_per_pdu="six"), ['frames_per_pdu "six"']),
    (dict(frames_per_pdu="1000"), ["frames_per_pdu 1000", "MTU", "738"]),
    (dict(format="INT32", channels="64"), ["frames_per_pdu 6", "1560", "MTU", "61"]),
    (dict(mtt="99999999999999999999"), ["mtt", "too large"]),
    (dict(mtt="2 fortnights"), ["mtt", "unit"]),
    (dict(prio="16"), ['prio "16"', "0 to 15"]),
    (dict(vlan_id="5000"), ['vlan_id "5000"', "4094"]),
    (dict(frame_per_pdu="6"), ['"frame_per_pdu"', "frames_per_pdu?"]),
    (dict(pace="warp"), ['pace "warp"', "auto, kernel, software or xdp"]),
    (dict(rate="47999"), ['rate "47999"', "48000"]),
    (dict(format="U8"), ['format "U8"', "INT16"]),
    (dict(report=""), ["report", "path"]),
    (dict(streamid="\\e[2J"), ["streamid"]),
]
for keys, wanted in CASES:
    for command, role in ((PLAY, "play"), (RECORD, "record")):
        environment = lab.environment(lab.device("x", role, **keys))
        code, output, errors = lab.run(command, environment)
        what = f"{keys} in {command[0]}"
        lab.check(code == 1, f"{what}: exit {code}")
        for text in wanted:
            lab.check(text in errors, f"{what}: {text!r} is not in: {errors}")
        lab.check("\x1b" not in errors and output == "", f"{what}: on the terminal: {output!r} {errors!r}")

# Only a talker keeps launch times.
code, _, errors = lab.run(PLAY, lab.environment(lab.device("x", pace="kernel")))
lab.check(code == 1 and 'pace "kernel"' in errors and "auto" in errors, f"pace kernel: {errors}")

# A group in braces where a value belongs.
code, _, errors = lab.run(PLAY, lab.environment(lab.device("x", drop=["mtt"]).replace("}", "    mtt { a 1 }\n}")))
lab.check(code == 1 and "mtt" in errors and "braces" in errors, f"a group: {errors}")

# No permission for raw Ethernet.
dropped = ["setpriv", "--bounding-set", "-net_raw", "--inh-caps", "-net_raw"] + PLAY
if subprocess.run(dropped[:5] + ["true"], capture_output=True).returncode == 0:
    code, _, errors = lab.run(dropped, lab.environment(lab.device("x")))
    lab.check(code == 1, f"no CAP_NET_RAW: exit {code}")
    lab.check("CAP_NET_RAW" in errors and "setcap" in errors, f"no CAP_NET_RAW: {errors}")

# A report that cannot be written is said; the sound was played all the same.
code, _, errors = lab.run(PLAY, lab.environment(lab.device("x", report="/nonexistent/r.json")))
lab.check(code == 0 and '"/nonexistent/r.json"' in errors, f"report: exit {code}: {errors}")

# The configuration of 2018, word for word but for the interface.
OLD = f"""
pcm.aaf0 {{
    type aaf
    ifname {TALKER}
    addr 01:AA:AA:AA:AA:AA            # destination MAC
    prio 3                            # SO_PRIORITY, playback
    streamid AA:BB:CC:DD:EE:FF:0001
    mtt 2000                          # us, maximum transit time, playback
    time_uncertainty 125              # us, playback
    frames_per_pdu 6
    ptime_tolerance 100               # us either side, capture
}}
"""
for command in (PLAY, RECORD):
    code, output, errors = lab.run([word if word != "x" else "aaf0" for word in command], lab.environment(OLD))
    lab.check(code == 0 and output == "", f"the configuration of 2018 in {command[0]}: exit {code}: {errors}")
    lines = [line for line in errors.splitlines() if "xrun" not in line and "overrun" not in line]
    # A machine that is late for 2 ms says so, rightly; that is not what is asked here.
    lines = [line for line in lines if "TAI offset" not in line and "packets not sent" not in line
             and "did not write in time" not in line]
    if command is RECORD:
        lab.check(len(lines) == 1 and "no packet of stream AA:BB:CC:DD:EE:FF:0001" in lines[0],
                  f"that nobody talks is said: {errors}")
    else:
        lab.check(not lines, f"a guest is quiet: {errors}")

# What is lost is said where the program cannot know: every packet is too late for a transit time of 1 us.
code, output, errors = lab.run([word if word != "x" else "aaf0" for word in PLAY],
                               lab.environment(OLD.replace("mtt 2000", "mtt 1")))
lab.check(code == 0 and "packets not sent: " in errors and "presentation time" in errors,
          f"an mtt that cannot be met is said: exit {code}: {errors}")
lab.end()
