"""Puts the figures of a demonstration into one file and says in words what fell back and what it cost.

demo_figures.py SCRATCH OUT: reads SCRATCH/{recording,capture,watch}.json, SCRATCH/source.txt and
OUT/{talker,listener}.json; writes OUT/figures.json.
"""
import json
import pathlib
import sys
import textwrap

WIDTH = 100


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
    return ", ".join(f"{counters[key]} {words}" for key, words in names if counters.get(key))


TALKER = (("pdus_late", "left more than an interval after they were due, but in time to be presented"),
          ("pdus_dropped", "dropped, as they would have come too late"),
          ("pdus_refused", "refused by the link"), ("xruns", "time(s) aplay was too slow (xrun)"))
LISTENER = (("frames_late", "frames late"), ("frames_lost", "frames lost"),
            ("receive_drops", "packets dropped in the socket"), ("resyncs", "resynchronisations"),
            ("xruns", "time(s) arecord was too slow (xrun)"))


def say(label, text):
    print(textwrap.fill(text, WIDTH, initial_indent=f"{label:<11}", subsequent_indent=" " * 11))


def say_device(label, report, names, did):
    if report is None:
        say(label, "no report: the device was not opened, or did not close in order")
        return
    happened = counted(report["counters"], names)
    say(label, f"{did(report['counters'])}; {happened or 'nothing late, nothing lost'}")


def say_notes(reports):
    """The same note of both ends is said once."""
    ends = {}
    for report in reports:
        for note in (report or {}).get("notes", ()):
            ends.setdefault(note, []).append(report["role"])
    for i, (note, roles) in enumerate(ends.items()):
        say("" if i else "Fell back", f"({' and '.join(roles)}) {note}")
    if not ends:
        say("Fell back", "nothing")


def main(scratch, out):
    talker = load(out / "talker.json")
    listener = load(out / "listener.json")
    source = load_source(scratch / "source.txt")
    recording = load(scratch / "recording.json")
    figures = {
        "source": source,
        "presentation_offset_ns": 100_000_000,
        "recording": recording,
        "capture": load(scratch / "capture.json"),
        "watch": load_last_line(scratch / "watch.json"),
        "talker": talker,
        "listener": listener,
    }
    (out / "figures.json").write_text(json.dumps(figures, indent=2) + "\n")
    print()
    say_device("Talker", talker, TALKER,
               lambda c: f"{c['pdus_sent']} packets with {c['frames_sent']} frames sent")
    say_device("Listener", listener, LISTENER,
               lambda c: f"{c['pdus']} packets received; {recording['recording_frames']} frames "
               "recorded, silence before and after included")
    say_notes((talker, listener))


if __name__ == "__main__":
    main(pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2]))
