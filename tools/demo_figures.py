"""Puts the figures of a demonstration into one file and says in words what fell back and what it cost.

demo_figures.py SCRATCH OUT: reads SCRATCH/{recording,capture,watch}.json, SCRATCH/source.txt and
OUT/{talker,listener}.json; writes OUT/figures.json.
"""
import json
import pathlib
import sys


def load(path):
    try:
        return json.loads(path.read_text())
    except (OSError, ValueError):
        return None


def load_last_line(path):
    lines = path.read_text().splitlines()
    return json.loads(lines[-1]) if lines else None


def load_source(path):
    pairs = dict(line.split("=", 1) for line in path.read_text().splitlines())
    numbers = ("rate", "channels", "frames", "frames_per_pdu")
    figures = {key: int(pairs[key]) for key in numbers}
    names = {"rate": "rate_hz"}
    return {"format": pairs["format"], **{names.get(k, k): v for k, v in figures.items()}}


def counted(counters, names):
    """'3 late, 12 dropped': only what happened."""
    return ", ".join(f"{counters[key]} {word}" for key, word in names if counters.get(key))


TALKER = (("pdus_late", "sent late"), ("pdus_dropped", "dropped as too late"),
          ("pdus_refused", "refused by the link"), ("xruns", "interruptions by aplay (xrun)"))
LISTENER = (("frames_late", "frames late"), ("frames_lost", "frames lost"),
            ("receive_drops", "packets dropped in the socket"), ("resyncs", "resynchronisations"),
            ("xruns", "interruptions by arecord (xrun)"))


def say_device(label, report, names, sums):
    if report is None:
        print(f"{label:<10} no report: the device was not opened, or did not close in order")
        return
    counters = report["counters"]
    happened = counted(counters, names)
    print(f"{label:<10} {sums(counters)}; {happened or 'nothing late, nothing lost'}")


def say_notes(reports):
    """The same note of both ends is said once."""
    ends = {}
    for report in reports:
        for note in (report or {}).get("notes", ()):
            ends.setdefault(note, []).append(report["role"])
    for i, (note, roles) in enumerate(ends.items()):
        print(f"{'Fell back' if i == 0 else '':<10} {note} ({' and '.join(roles)})")
    if not ends:
        print("Fell back  nothing")


def main(scratch, out):
    talker = load(out / "talker.json")
    listener = load(out / "listener.json")
    figures = {
        "source": load_source(scratch / "source.txt"),
        "presentation_offset_ns": 100_000_000,
        "recording": load(scratch / "recording.json"),
        "capture": load(scratch / "capture.json"),
        "watch": load_last_line(scratch / "watch.json"),
        "talker": talker,
        "listener": listener,
    }
    (out / "figures.json").write_text(json.dumps(figures, indent=2) + "\n")
    print()
    say_device("Talker", talker, TALKER, lambda c: f"{c['pdus_sent']} packets sent")
    say_device("Listener", listener, LISTENER, lambda c: f"{c['pdus']} packets received")
    say_notes((talker, listener))


if __name__ == "__main__":
    main(pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2]))
