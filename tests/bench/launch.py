#!/usr/bin/env python3
"""The experiment of 2018: the same stream with launch times kept by software, then by the interface.

usage: launch.py TACTUS IF [RECEIVER [MINUTES]]
IF sends; RECEIVER, an interface of this machine on the other end of the wire, is watched. Without it the other machine
has to watch, and this says with which command. IF gets queues and an etf qdisc for the second half, offloaded to the
hardware where that is possible, and is put back as it was at the end. What could not be had is said. Ends with 0 when both halves
were measured, 1 when the second is no better than the first, 3 when something is missing.
"""
import json
import signal
import subprocess
import sys

STREAM = ["--stream-id", "02:00:00:00:00:01:2018", "--dest", "91:E0:F0:00:FE:18", "--class", "A"]
STREAM_ID = "02:00:00:00:00:01:2018"
COLUMNS = ("mean", "stdev", "min", "p50", "p99", "max", "range")
# Intel i210 to i210, class A, arrivals stamped by the receiver's hardware, as published then.
IN_2018 = {"before": dict(mean=125000, stdev=1154, min=75311, max=172144, range=96833),
           "after": dict(mean=125000, stdev=18, min=None, max=None, range=None)}
DELTA_NS = 500000
SETTLE_S = 2


def say(text):
    print("bench launch:", text, flush=True)


def run(*command):
    return subprocess.run(command, capture_output=True, text=True, check=False)


def missing(text):
    say(text)
    raise SystemExit(3)


def etf_commands(ifname, queues, offload):
    """Priority 3, which class A's packets have, goes to the first queue, which keeps launch times."""
    others = ["queues", "1@0"] + ([f"{queues - 1}@1"] if queues > 1 else [])
    prio_map = ["0" if priority == 3 else "1" for priority in range(16)] if queues > 1 else ["0"] * 16
    yield ["tc", "qdisc", "replace", "dev", ifname, "parent", "root", "handle", "6666:", "mqprio", "num_tc",
           "2" if queues > 1 else "1", "map", *prio_map, *others, "hw", "0"]
    yield ["tc", "qdisc", "replace", "dev", ifname, "parent", "6666:1", "etf", "clockid", "CLOCK_TAI", "delta",
           str(DELTA_NS)] + (["offload"] if offload else [])


def set_up(ifname):
    """Returns what could not be had, as text, or None where there is no etf at all."""
    out = run("ip", "-j", "-d", "link", "show", "dev", ifname)
    if out.returncode != 0:
        missing(f"there is no interface {ifname}: {out.stderr.strip()}")
    queues = json.loads(out.stdout)[0].get("num_tx_queues", 1)
    refusals = []
    for offload in (True, False):
        for command in etf_commands(ifname, queues, offload):
            out = run(*command)
            if out.returncode != 0:
                refusals.append((" ".join(command), (out.stderr or out.stdout).strip().splitlines()[-1:]))
                break
        else:
            return [] if offload else [
                f"launch times by the hardware: {ifname} does not offload etf, so a timer of the kernel keeps them"]
        run("tc", "qdisc", "del", "dev", ifname, "root")
    for command, why in refusals:
        say(f"refused: {command}: {' '.join(why)}")
    say(f"{ifname} takes no etf qdisc: the kernel needs CONFIG_NET_SCH_ETF and CONFIG_NET_SCH_MQPRIO, and this "
        "CAP_NET_ADMIN")
    return None


def talk(tactus, ifname, pace, seconds):
    return subprocess.Popen([tactus, "talk", "-i", ifname, *STREAM, "--pace", pace, "--json", "tone:440", "--for",
                             f"{seconds}s"], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)


def watch(tactus, receiver, seconds):
    """The intervals between arrivals, or None."""
    out = run(tactus, "watch", receiver, "--json", "--duration", f"{seconds}s")
    for line in reversed(out.stdout.splitlines()):
        for stream in json.loads(line)["streams"]:
            if stream["stream_id"] == STREAM_ID:
                figures = stream["interval_ns"]
                return {column: figures[column + "_ns"] for column in COLUMNS} | {
                    "n": figures["n"], "lost": stream["lost"]}
    say(f"nothing of the stream arrived on {receiver}: {out.stderr.strip() or 'is it on the other end of the wire?'}")
    return None


def half(tactus, ifname, receiver, pace, seconds):
    say(f"{seconds} s with launch times kept by {'software' if pace == 'software' else 'the qdisc'}")
    talker = talk(tactus, ifname, pace, seconds + SETTLE_S)
    signal.signal(signal.SIGINT, lambda *_: (talker.terminate(), sys.exit(130)))
    try:
        return watch(tactus, receiver, seconds) if receiver else talker.wait() and None
    finally:
        talker.wait(timeout=seconds + 30)
        if talker.returncode not in (0, 1):
            say(talker.stderr.read().strip())


def row(name, figures):
    cells = [f"{figures[c]:>12,.0f}" if figures.get(c) is not None else f"{'-':>12}" for c in COLUMNS]
    return f"{name:<28}" + "".join(cells)


def main(arguments):
    if not 2 <= len(arguments) <= 4:
        print(__doc__.strip(), file=sys.stderr)
        return 2
    tactus, ifname = arguments[:2]
    receiver = arguments[2] if len(arguments) > 2 else None
    try:
        seconds = int(float(arguments[3]) * 30) if len(arguments) > 3 else 150
    except ValueError:
        say(f"MINUTES is a number, not '{arguments[3]}'")
        return 2
    if seconds < 1:
        say("MINUTES is too small; give 0.1 or more")
        return 2
    if not receiver:
        say(f"no RECEIVER here: on the other machine run  tactus watch IF2 --duration {seconds}s  in each half")
    before = half(tactus, ifname, receiver, "software", seconds)
    lacking = set_up(ifname)
    after = None
    if lacking is None:
        lacking = ["the second half, with launch times: see above"]
    else:
        try:
            after = half(tactus, ifname, receiver, "kernel", seconds)
        finally:
            run("tc", "qdisc", "del", "dev", ifname, "root")
    lacking.append("stamps by the receiver's hardware: the kernel's are used, with its interrupts' lateness in them")
    print("\nIntervals between packets, ns\n" + " " * 28 + "".join(f"{c:>12}" for c in COLUMNS))
    for name, figures in (("software", before), ("launch times", after)):
        print(row(name, figures or {}))
    for name, figures in IN_2018.items():
        print(row(f"2018, {name}", figures))
    for text in lacking:
        print("Could not be had:", text)
    return 3 if not (before and after) else 0 if after["stdev"] < before["stdev"] else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
