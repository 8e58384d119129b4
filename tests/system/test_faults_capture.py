#!/usr/bin/env python3
"""Every fault of a captured stream once, with the real aplay and arecord and the fault rig between them.

usage: test_faults_capture.py PLUGIN_CONF CLIENT SHIM RIG TACTUS [SCENARIO...]
       test_faults_capture.py --list
Of each scenario: arecord goes on to its end; every recorded frame is one of the source in its place or silence; the
silence is what the listener's report says, and what the rig did accounts for it; the first and the last frame stand
where their presentation times put them, to within one PDU; the counters say what happened. A busy machine may drop
packets or be late: that is in the reports, only so much may differ, and where more does the scenario is run again.
Scenarios mostly wait, so they run side by side.
"""
import concurrent.futures
import sys
import time

from fault_lab import RATE, SILENT, FaultLab, Stream
from recording import Spans

AT_ONCE = 8
ATTEMPTS = 3
PDU = 24  # frames: 500 µs
BEGIN = 1000  # where faults begin, in PDUs


class Scenario:
    """`rules` for the rig; `counts(stream)` the counters that must come out; `missing(stream)` the source's frames that
    must be silence; `jumps` how many frames later (or earlier) the stream goes on, in order; `ends` which PDU must
    stand where its presentation time says (none: nothing is heard); `more(stream)` yields what else is wrong. The rest
    goes to Stream.run."""

    def __init__(self, rules="", pdus=(3000,), frames_per_pdu=PDU, talker=None, listener=None, shim_tai_s=None,
                 counts=None, missing=Stream.swallowed, jumps=(), ends=("first", "last"), more=None,
                 stamp_offset_ns=0, ppm=0, **run):
        self.rules, self.pdus, self.frames_per_pdu = rules, pdus, frames_per_pdu
        self.talker, self.listener, self.shim_tai_s = talker or {}, listener or {}, shim_tai_s
        self.counts, self.missing, self.jumps, self.ends, self.more = counts, missing, jumps, ends, more
        self.stamp_offset_ns, self.ppm, self.run = stamp_offset_ns, ppm, run


# What every scenario must keep.

def faults_of_program(stream, scenario):
    if not stream.arecord_lived:
        yield f"arecord ended: {stream.listener_errors}"
    for line in stream.listener_errors.splitlines():
        expected = ("Recording", "record: ") + (("overrun",) if stream.counters["xruns"] else ())
        if not line.startswith(expected):
            yield f"arecord says: {line}"


def faults_of_content(stream, scenario):
    wrong = [run for run in stream.runs if run.kind == "wrong"]
    if wrong:
        yield f"frames that are neither the source's nor silence: {wrong[:3]}"
    breaks = stream.counters["xruns"] + sum(talker["counters"]["xruns"] for talker in stream.talkers)
    expected = len(scenario.jumps) + len(stream.plays) if scenario.ends else 0
    if not expected <= len(stream.segments) <= expected + breaks:
        yield f"{len(stream.segments)} alignments, not {expected}: {[a for a, _ in stream.segments]}"
    steps = [b - a for (a, _), (b, _) in zip(stream.segments, stream.segments[1:])]
    if len(stream.plays) == 1 and not breaks and any(abs(s - j) > 1 for s, j in zip(steps, scenario.jumps)):
        yield f"it went on {steps} frames later, not {scenario.jumps}"


def faults_of_silence(stream, scenario):
    """What is silent is in the report, no more and no less; and what the rig did accounts for it."""
    silence, said = stream.silence(), stream.events(*SILENT) & stream.recorded()
    if len(said - silence):
        yield f"said to be silent, and is not: {said - silence}"
    if len(silence - said) > sum(talker["counters"]["frames_padded"] for talker in stream.talkers):
        yield f"silent, and not said to be: {silence - said}"
    missing = Spans([(0, sum(stream.plays))]) - stream.heard()
    expected = scenario.missing(stream)
    if len(expected - missing):
        yield f"heard, and should not be: {expected - missing}"
    unexplained = missing - expected - stream.kept_back()
    if len(unexplained) and not stream.disturbances():
        yield f"missing without a reason: {unexplained}"
    if len(unexplained) > len(stream.events("late", "lost")):
        yield f"more is missing than is said: {unexplained}"


def faults_of_time(stream, scenario):
    """The frames from the device's start to the first and the last PDU are the media time that passed."""
    if stream.counters["xruns"] or any(talker["counters"]["xruns"] for talker in stream.talkers):
        return
    for end in scenario.ends:
        packet, alignment = stream.totals[end], stream.segments[0 if end == "first" else -1][0]
        source = packet["payload"] - 1
        frame = source + alignment + source * scenario.ppm / 1e6
        place = stream.place_by_stamp(packet, packet["arrival_tai_ns"], scenario.stamp_offset_ns)
        if abs(frame - place) > stream.frames_per_pdu:
            yield f"the {end} PDU stands at {frame}, and its presentation time is that of frame {place:.1f}"


def faults_of_counters(stream, scenario):
    most = stream.disturbances()
    for counter, expected in (scenario.counts(stream) if scenario.counts else {}).items():
        value = stream.counters[counter] if isinstance(counter, str) else stream.counters[counter[0]][counter[1]]
        if abs(value - expected) > most * (stream.frames_per_pdu if "frames" in counter else 1):
            yield f"{counter} is {value}, not {expected} (give or take {most})"


def faults_of(stream, scenario):
    if not stream.segments and scenario.ends:
        yield "nothing was recorded"
        return
    for part in (faults_of_program, faults_of_content, faults_of_silence, faults_of_time, faults_of_counters):
        yield from part(stream, scenario)
    if scenario.more:
        yield from scenario.more(stream)


# The scenarios.

def loss(pdus, sparse="no"):
    return Scenario(f"pdu {BEGIN}-{BEGIN + pdus - 1} drop", talker={"sparse": sparse},
                    counts=lambda stream: {"frames_lost": pdus * PDU, "resyncs": 0, "pdus_unplaced": 0})


def stamps_off(by, off):
    """`off`: beyond ptime_tolerance. On its edge it may count or not."""
    return Scenario(f"pdu 400- every 16 stamp {by}",
                    counts=(lambda stream: {"stamps_off": stream.applied(1), "resyncs": 0}) if off else
                    lambda stream: {"resyncs": 0})


def pause(length, pdus):
    return Scenario(f"pdu {BEGIN} pause {length}", pdus=(pdus,),
                    counts=lambda stream: {"frames_lost": 0, "resyncs": 1})


def jump(by, frames, pdus=3000, begin=BEGIN, **keys):
    return Scenario(f"pdu {begin}- stamp {by}", pdus=(pdus,), jumps=(frames,), missing=overwritten(frames),
                    counts=lambda stream: {"resyncs": 1}, more=resynchronised(begin), tail_ms=3000, **keys)


def out_of_reach(by):
    return Scenario(f"pdu {BEGIN}- stamp {by}", ends=("first",), counts=lambda stream: {
        "frames_lost": 0, "frames_late": 0, "pdus_placed": stream.totals["packets"], "resyncs": 1, "stamps_off": 8})


def overwritten(frames):
    """A jump back takes the place of what was to come; a jump ahead takes nothing."""
    def missing(stream):
        begin = stream.segments[-1][1][0].source
        return Spans([(begin + min(frames, 0), begin)])
    return missing


def resynchronised(begin):
    """Within eight stamps the stream stands in its new place."""
    def in_time(stream):
        first = stream.segments[-1][1][0].source
        if not begin * PDU <= first <= (begin + 8) * PDU:
            yield f"the new place begins at the source's frame {first}, not behind {begin * PDU}"
    return in_time


def drift(ppm):
    def followed(stream):
        if abs(stream.counters["drift_ppb"] - ppm * 1000) > 20000:
            yield f"the drift is {stream.counters['drift_ppb']} ppb"
    # A clock that is fast has its stamps closer together.
    return Scenario(f"stamp drift {-ppm}", pdus=(8000,), ppm=-ppm, more=followed,
                    counts=lambda stream: {"stamps_off": 0, "resyncs": 0})


def crossed_the_wrap(stream):
    first = stream.totals["first"]["stamp"]
    if first + stream.plays[0] * 10**9 // RATE < 1 << 32:
        yield f"no wrap behind the stamp {first}"


def late_but_in_time(stream):
    if stream.listener["lateness_ns"]["p50_ns"] <= 0:
        yield f"nothing was late: {stream.listener['lateness_ns']}"


def named_utc(stream):
    lines = stream.beside.printed.read_text().splitlines()
    if '"stamps_utc"' not in (lines or [""])[-1]:
        yield f"tactus watch does not name it: {lines[-1:] or stream.beside.said.read_text()}"


def stopped_once(stream):
    kinds = [event["kind"] for event in stream.listener["events"]]
    if kinds.count("xrun") < 1 or kinds.count("start") < 2:
        yield f"no xrun and start again: {kinds}"


SCENARIOS = {
    "loss-1": loss(1),
    "loss-10": loss(10),
    "loss-255": loss(255),
    "loss-256": loss(256),
    "loss-257": loss(257),
    "loss-512": loss(512),
    "loss-1000": loss(1000),
    "loss-1-sparse": loss(1, "yes"),
    "loss-10-sparse": loss(10, "yes"),
    "loss-255-sparse": loss(255, "yes"),
    "loss-256-sparse": loss(256, "yes"),
    "loss-257-sparse": loss(257, "yes"),
    "loss-512-sparse": loss(512, "yes"),
    "loss-1000-sparse": loss(1000, "yes"),
    "duplicates": Scenario("every 5 duplicate\nevery 35 duplicate 2", counts=lambda stream: {
        "pdus_duplicate": stream.totals["sent"] - stream.totals["packets"], "frames_lost": 0}),
    "reorder-adjacent": Scenario("pdu 100- every 10 reorder", counts=lambda stream: {
        "pdus_reordered": stream.applied(1), "frames_lost": 0}),
    "reorder-5": Scenario("pdu 100- every 20 reorder 5", counts=lambda stream: {
        "pdus_reordered": stream.applied(1), "frames_lost": 0}),
    "stamp-off+20us": stamps_off("+20us", False),
    "stamp-off-20us": stamps_off("-20us", False),
    "stamp-off+100us": stamps_off("+100us", False),
    "stamp-off-100us": stamps_off("-100us", False),
    "stamp-off+1ms": stamps_off("+1ms", True),
    "stamp-off-1ms": stamps_off("-1ms", True),
    "stamp-wrap": Scenario("", pdus=(9200,), more=crossed_the_wrap, counts=lambda stream: {
        "frames_lost": 0, "stamps_off": 0, "resyncs": 0}),
    "tu-set": Scenario("pdu 500-999 set tu 1", talker={"tu": "never"}, counts=lambda stream: {
        "pdus_uncertain": stream.applied(1), "resyncs": 0}),
    "mr-set": Scenario(f"pdu {BEGIN}- set mr +1", counts=lambda stream: {"restarts": 1, "resyncs": 1}),
    "second-stream": Scenario("duplicate\ncopy set stream 02:00:00:00:00:01:0002\ncopy set payload 77",
                              counts=lambda stream: {"pdus": stream.totals["packets"], "pdus_other_talker": 0}),
    "second-talker": Scenario("pdu 200- duplicate\ncopy set source 02:00:00:00:00:09\ncopy set payload 77",
                              counts=lambda stream: {"pdus_other_talker": stream.applied(2), "resyncs": 0}),
    "wrong-format": Scenario("pdu 500-999 set format 4\npdu 1500-1599 set nsr 7\npdu 2000-2499 set channels 1\n"
                             "pdu 500-999 set depth 16",
                             missing=lambda stream: stream.swallowed(1, 2, 3),
                             counts=lambda stream: {"pdus_other_format": sum(map(stream.applied, (1, 2, 3))),
                                                    "frames_lost": PDU * sum(map(stream.applied, (1, 2, 3)))}),
    "foreign-subtypes": Scenario("duplicate\ncopy set payload 77\npdu 0-499 copy set subtype 0\n"
                                 "pdu 500-999 copy set subtype 3\npdu 1000-1499 copy set subtype 4\n"
                                 "pdu 1500-1999 copy set subtype 130\npdu 2000-2499 copy set subtype 250\n"
                                 "pdu 2500- copy set subtype 254",
                                 counts=lambda stream: {"pdus": stream.totals["packets"], "pdus_duplicate": 0}),
    "truncated": Scenario("pdu 100- every 50 truncate 40\npdu 110- every 50 truncate 20\npdu 120- every 50 truncate 8",
                          missing=lambda stream: stream.swallowed(1, 2, 3),
                          counts=lambda stream: {("pdus_refused", "truncated"): stream.applied(1),
                                                 ("pdus_refused", "short"): stream.applied(2),
                                                 "frames_lost": PDU * len(stream.log)}),
    "oversized": Scenario("every 50 extend 1200\npdu 125- every 50 set length 1400",
                          missing=lambda stream: stream.swallowed(2),
                          counts=lambda stream: {("pdus_refused", "truncated"): stream.applied(2),
                                                 "frames_lost": PDU * stream.applied(2)}),
    "pause-0.1s": pause("100ms", 3000),
    "pause-1s": pause("1s", 4000),
    "pause-10s": pause("10s", 22000),
    "restart": Scenario(pdus=(1500, 1500), counts=lambda stream: {"resyncs": 1, "frames_lost": 0}),
    "jump+3ms": jump("+3ms", 144),
    "jump-3ms": jump("-3ms", -144),
    # 37 s are 1.65 s less than nine times 2^32 ns: so far the 32 bits of the stamp go back.
    "jump+37s": jump("+37s", round((37 - 9 * 2**32 / 1e9) * RATE), pdus=7000, begin=5000,
                     talker={"mtt": "950ms"}, listener={"playout_latency": "1000ms"}),
    # So far back nothing could be presented any more, and nothing is due so far ahead: it goes on where it was.
    "jump+37s-past": out_of_reach("+37s"),
    "jump-37s": out_of_reach("-37s"),
    "drift+200ppm": drift(200),
    "drift-200ppm": drift(-200),
    "bursts": Scenario("burst 100", pdus=(8000,), frames_per_pdu=6, counts=lambda stream: {
        "pdus_placed": stream.totals["packets"], "pdus_reordered": 0, "frames_lost": 0, "frames_late": 0}),
    "utc": Scenario("stamp -37s", shim_tai_s=37, talker={"mtt": "200ms"}, more=named_utc, tail_ms=2500, ends=(),
                    missing=lambda stream: Spans([(0, sum(stream.plays))]),
                    beside=lambda stream: [stream.lab.tactus, "watch", stream.hear_if, "--json"],
                    counts=lambda stream: {"frames_lost": 0, "resyncs": 0, "pdus_placed": 0,
                                           "pdus_other_timescale": stream.totals["packets"]}),
    "utc-key": Scenario("stamp -37s", shim_tai_s=37, listener={"timescale": "utc"}, stamp_offset_ns=37 * 10**9,
                        counts=lambda stream: {"frames_lost": 0, "resyncs": 0}),
    "absence-silence": Scenario(pdus=(1500, 1500), between_frames=RATE * 2,
                                counts=lambda stream: {"resyncs": 1, "frames_lost": 0, "xruns": 0}),
    "absence-xrun": Scenario(pdus=(1500, 1500), between_frames=RATE * 2, listener={"on_absence": "xrun"},
                             more=stopped_once),
    "late-within-playout-latency": Scenario("stamp -600ms", listener={"playout_latency": "1000ms"},
                                            more=late_but_in_time, tail_ms=1300,
                                            counts=lambda stream: {"pdus_late": 0, "frames_late": 0, "frames_lost": 0}),
}


def attempt(lab, name, number):
    scenario = SCENARIOS[name]
    stream = Stream(lab, f"{name}.{number}", scenario.rules, [n * scenario.frames_per_pdu for n in scenario.pdus],
                    scenario.frames_per_pdu, scenario.talker, scenario.listener, scenario.shim_tai_s)
    try:
        stream.run(**scenario.run)
        faults = list(faults_of(stream, scenario))
        if faults:
            faults.append(f"the rig says {stream.totals}")
            faults += [f"the {end['role']} counts {end['counters']}" for end in [*stream.talkers, stream.listener]]
        return faults, stream.disturbances()
    except RuntimeError as error:
        return [str(error)], 0
    finally:
        for path in stream.folder.glob("*.raw"):
            path.unlink()


def run(lab, name):
    """A run that was disturbed and fails is no verdict; it is made again."""
    begin = time.monotonic()
    for number in range(1, ATTEMPTS + 1):
        faults, disturbances = attempt(lab, name, number)
        if not faults or not disturbances:
            break
    disturbed = f"disturbed by {disturbances}" if disturbances else "undisturbed"
    return faults, f"{disturbed}, run {number}, {time.monotonic() - begin:.1f} s"


def main():
    if sys.argv[1:] == ["--list"]:
        print(*SCENARIOS, sep="\n")
        return
    lab = FaultLab()
    names = sys.argv[6:] or sorted(SCENARIOS, key=lambda name: -sum(SCENARIOS[name].pdus))
    failed = 0
    with concurrent.futures.ThreadPoolExecutor(AT_ONCE) as pool:
        runs = {pool.submit(run, lab, name): name for name in names}
        for future in concurrent.futures.as_completed(runs):
            faults, note = future.result()
            failed += bool(faults)
            print(f"{'FAILED' if faults else 'ok'} {runs[future]} ({note})", *faults, sep="\n    ", flush=True)
    print(f"{len(names) - failed} of {len(names)} scenarios passed")
    sys.exit(1 if failed or not names else 0)


if __name__ == "__main__":
    main()
