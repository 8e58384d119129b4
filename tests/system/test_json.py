#!/usr/bin/env python3
"""Every JSON output is what its schema in doc/json says; and in the schemas a number has its unit in its name, or is
a count that has a description or a name of a thing that is counted.

usage: test_json.py TACTUS SOURCE-ROOT
Live outputs come from a network namespace of its own.
"""
import json
import os
import pathlib
import pty
import re
import signal
import struct
import subprocess
import sys
import tempfile
import time
import tty

import jsonschema

TACTUS, ROOT = os.path.abspath(sys.argv[1]), pathlib.Path(sys.argv[2]).resolve()
STREAM = ["--stream-id", "02:00:00:00:00:01:0001", "--dest", "91:E0:F0:00:FE:01"]
UNIT = re.compile(r"(_(ns|us|s|hz|ppb|bytes|dbfs|depth|per_s|ms)|\.p|\.n)$")
# What is counted, or a number that has no unit: PDUs, frames, packets, numbers of IEEE 802.1Q and 1722.
COUNTED = re.compile(r"subtypes|pdu|frame|packet|stamp|step|restart|change|xrun|event|lost|late|dropped|refused|resync|absence|"
                     r"drop|launch|underrun|clip|channel|vlan_id|pcp|gptp|msrp|mvrp|crf_type|pull|timestamp|moves|"
                     r"duplicated|reordered|uncertain|sparse|malformed|cut|beyond|filtered|avtp|windows|count|"
                     r"source|recording|ranges|segments|before|after|difference|floor|figures")


def run(*command, code=(0,)):
    done = subprocess.run([TACTUS, *map(str, command)], capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode in code, (command, done.returncode, done.stderr)
    return [json.loads(line) for line in done.stdout.splitlines()]


def outputs(folder):
    """(schema, what was said)"""
    captures = sorted((ROOT / "tests/data/captures").glob("*.pcapng"))
    for path in captures:
        yield "watch", run("watch", "--json", path)
    yield "watch", run("watch", "--json", "--vlan", "7", captures[0], code=(1,))
    few = folder / "few.pcap"
    few.write_bytes(bytes.fromhex("4d3cb2a1020004000000000000000000ffff000001000000"))
    yield "watch", run("watch", "--json", few, code=(1,))
    others = folder / "others.pcap"
    # A PDU of each subtype that has a stream ID or may have one, and no shape that is known.
    frames = [bytes.fromhex("91e0f000fe01020000000001 22f0") + bytes([subtype, 0x80, 0, 0, 2, 0, 0, 0, 0, 1, 0, subtype]) +
              bytes(48) for subtype in range(256)]
    others.write_bytes(few.read_bytes() + b"".join(struct.pack("<4I", 1, n * 1000, len(one), len(one)) + one
                                                   for n, one in enumerate(frames)))
    yield "watch", run("watch", "--json", others, code=(0, 1))
    yield "watch-compare", run("watch", "--json", "--compare", captures[0], captures[1], code=(0, 1, 4))
    yield "doctor", run("doctor", "--json", code=(0, 1, 4))
    meter = ("meter", "--json", "--compute", "10", "--no-trace", "--folder", folder)
    done = run(*meter, "--time", "2500ms", "--load", "idle", "--buffer", "64x3,timer", code=(0, 1, 4))
    yield "meter", done
    (folder / "meter.json").write_text(json.dumps(done[0]))
    yield "meter-soak", run(*meter, "--for", "500ms", code=(0, 1, 4))
    yield "meter-compare", run("meter", "compare", "--json", "--time", "100ms", "--pairs", "10", "default", "default",
                               code=(0, 1))
    yield "meter-compare", run("meter", "compare", "--json", folder / "meter.json", folder / "meter.json", code=(4,))
    for name in ("a.wav", "b.wav"):
        yield "extract", run("extract", "--json", ROOT / "tests/data/captures/aaf-s16-2ch-48k-6.pcapng", folder / name)
    yield "equal", run("equal", "--json", folder / "a.wav", folder / "b.wav")
    planned = folder / "planned.json"
    yield "gate-plan", run("gate", "plan", "--json", "--output", planned, ROOT / "doc/examples/gate-stage.json")
    for example, code in (("gate-2021", 1), ("gate-stage", 0)):
        yield "gate-check", run("gate", "check", "--json", ROOT / f"doc/examples/{example}.json", code=(code,))
        yield "gate-simulate", run("gate", "simulate", "--json", "--linux", "--duration", "20ms",
                                   ROOT / f"doc/examples/{example}.json", code=(code,))
        yield "gate-show", run("gate", "show", "--json", planned if example == "gate-stage" else
                               ROOT / f"doc/examples/{example}.json")
    yield "gate-verify", run("gate", "verify", "--json", ROOT / "doc/examples/gate-2021.json", captures[0],
                             code=(0, 1))
    yield from midi_outputs(folder)
    data = bytearray((folder / "b.wav").read_bytes())
    data[5000:5400] = bytes(400)
    (folder / "b.wav").write_bytes(data)
    yield "equal", run("equal", "--json", folder / "a.wav", folder / "b.wav", code=(1,))


def whole(*command, code=(0,)):
    """Of a command that prints one object over several lines."""
    done = subprocess.run([TACTUS, *map(str, command)], capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode in code, (command, done.returncode, done.stderr)
    return [json.loads(done.stdout)]


def started(path, *command):
    """A recorder of a pty, and the pty's other end."""
    master, slave = pty.openpty()
    tty.setraw(slave)
    words = [word if word != "PORT" else os.ttyname(slave) for word in map(str, command)]
    process = subprocess.Popen([TACTUS, *words], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
    while path and not path.exists():
        assert process.poll() is None
        time.sleep(0.01)
    return process, master, slave


def midi_outputs(folder):
    """Of a recording that is played again; of logs with all that can befall them, and of files with every fault."""
    corpus = ROOT / "tests/fuzz/corpus"
    yield "midi-list", run("midi", "list", "--json", code=(0, 1))
    recorder, master, slave = started(folder / "take.mid.raw", "midi", "record", "--json", "PORT", folder / "take.mid")
    os.write(master, b"\x90\x3c\x40\xf0\x01\xf7")
    while not whole("midi", "dump", "--json", folder / "take.mid.raw")[0]["events"]:
        time.sleep(0.01)
    recorder.send_signal(signal.SIGINT)
    yield "midi-record", [json.loads(recorder.communicate(timeout=60)[0])]
    yield "midi-play", run("midi", "play", "--json", folder / "take.mid", os.ttyname(slave))
    yield "midi-jitter", run("midi", "jitter", "--json", "--count", "3", "--gap", "1ms", "--load", "idle")
    listener, clock, clock_slave = started(None, "midi", "jitter", "--clock", "PORT", "--duration", "1s", "--json")
    while listener.poll() is None:
        os.write(clock, b"\xf8")
        time.sleep(0.02)
    yield "midi-jitter-clock", [json.loads(listener.communicate(timeout=60)[0])]
    for end in (master, slave, clock, clock_slave):
        os.close(end)
    for path in (folder / "take.mid", folder / "take.mid.raw", *sorted(corpus.glob("smf/*")), *sorted(corpus.glob("midi_log/*"))):
        done = subprocess.run([TACTUS, "midi", "dump", "--json", path], capture_output=True, text=True, timeout=120, check=False)
        if done.returncode != 2:  # what is no such file
            yield "midi-dump", [json.loads(done.stdout)]
    yield "midi-convert", run("midi", "convert", "--json", corpus / "midi_log/loss", folder / "loss.mid", code=(1,))


def live_outputs(folder):
    """watch, listen and talk in a namespace; a listener that hears nothing too."""
    for command in ("ip link set lo up", "ip link add va type veth peer name vb", "ip link set va up",
                    "ip link set vb up"):
        subprocess.run(command.split(), check=True)
    yield "doctor", run("doctor", "--json", "va", code=(0, 1, 4))
    for option in ("--dry-run", "--force"):  # the kernel may not even know taprio
        yield "gate-apply", run("gate", "apply", "--json", "-i", "va", option, ROOT / "doc/examples/gate-2021.json", code=(0, 1))
    gates = ("gate", "shape", "--json", "--schedule", ROOT / "doc/examples/gate-2021.json", "--to", "va")
    yield "gate-shape-explain", run(*gates, "--explain")
    if os.path.exists("/dev/net/tun"):
        yield "gate-shape", run(*gates, "--duration", "1500ms")
    else:
        print("there is no /dev/net/tun here\n[  SKIPPED ] gate shape")
    reports = [folder / "talk.report", folder / "listen.report"]
    listeners = [subprocess.Popen([TACTUS, *arguments, "--json"], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
                 for arguments in (["watch", "vb"], ["listen", "-i", "vb", *STREAM, "--report", reports[1], folder / "c.wav"],
                                   ["listen", "-i", "va", *STREAM, folder / "d.wav"])]
    try:
        for process in listeners:
            assert process.stdout.readline()  # it is at work
        yield "talk", run("talk", "-i", "va", *STREAM, "--json", "--report", reports[0], "--for", "1500ms", "tone:440",
                          code=(0, 1))
        for process, schema in zip(listeners, ("watch", "listen", "listen")):
            process.send_signal(signal.SIGINT)
            # Not communicate(): it would pass by what the reader of lines has taken already.
            yield schema, [json.loads(line) for line in process.stdout.read().splitlines()]
    finally:
        for process in listeners:
            process.kill()
            process.wait()
    for path in reports:
        yield "talk-listen-report", [json.loads(path.read_text())]


def numbers_of(schema, name=""):
    """Names of the numbers of a schema, with those that they are in; what is in an array has the array's name."""
    kinds = schema.get("type", [])
    kinds = kinds if isinstance(kinds, list) else [kinds]
    if ("integer" in kinds or "number" in kinds) and "description" not in schema:
        yield name
    for key, part in schema.get("properties", {}).items():
        yield from numbers_of(part, f"{name}.{key}")
    for key in ("items", "additionalProperties"):
        if isinstance(schema.get(key), dict):
            yield from numbers_of(schema[key], name)
    for part in schema.get("$defs", {}).values():
        yield from numbers_of(part)


def main():
    schemas = {path.stem: json.loads(path.read_text()) for path in (ROOT / "doc/json").glob("*.json")}
    faults, used, said = [], set(), 0
    for name, schema in schemas.items():
        jsonschema.Draft202012Validator.check_schema(schema)
        faults += [f"{name}: {number} has no unit" for number in numbers_of(schema)
                   if not UNIT.search(number) and not COUNTED.search(number)]
    with tempfile.TemporaryDirectory() as folder:
        for name, values in (live_outputs if os.environ.get("TT_JSON_INSIDE") else outputs)(pathlib.Path(folder)):
            used.add(name)
            said += len(values)
            for value in values:
                faults += [f"{name}: {error.json_path}: {error.message}"
                           for error in jsonschema.Draft202012Validator(schemas[name]).iter_errors(value)]
            if not values:
                faults.append(f"{name}: nothing was said")
    print(*faults[:20], f"{said} outputs hold to {len(used)} schemas, {len(faults)} faults", sep="\n")
    if os.environ.get("TT_JSON_INSIDE"):
        return 1 if faults else 0
    unshare = ["unshare", "-rn" if os.geteuid() != 0 else "-n"]
    if subprocess.run([*unshare, "true"], check=False).returncode != 0:
        print(f"no namespace can be made here ({' '.join(unshare)})\n[  SKIPPED ] live outputs")
        return 1 if faults else 0
    live = subprocess.run([*unshare, sys.executable, *sys.argv], check=False,
                          env={**os.environ, "TT_JSON_INSIDE": "1"})
    return 1 if faults or live.returncode else 0


if __name__ == "__main__":
    sys.exit(main())
