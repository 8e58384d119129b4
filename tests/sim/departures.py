#!/usr/bin/env python3
"""Checks a log of departures: no frame overlaps a closed gate, and none overlaps another frame.

usage: departures.py LOG. Says how many frames there are and what is wrong, and ends with 1 where anything is.
Shares nothing with the shaper: it walks through the entries of the gate lists, with whole numbers only. The log is text:

    rate BITS_PER_SECOND               begins a log; several may follow each other in a file
    list BASE CYCLE EXTENSION FROM     a gate list, in force from FROM on (TAI ns; - always)
    entry MASK INTERVAL                its entries, in order
    frame LAUNCH CLASS BYTES [...]     in the order of departure; FCS not counted
"""
import sys

EXTRA_BYTES, BYTES_MIN = 24, 60


class GateList:
    def __init__(self, base, cycle, extension, start):
        self.base, self.cycle, self.extension, self.start, self.entries = base, cycle, extension, start, []

    def whole(self):
        """(mask, from, to) of the entries of a cycle: the last one lasts to its end, what is behind it is cut."""
        parts, at = [], 0
        for mask, interval in self.entries:
            if at < self.cycle:
                parts.append((mask, at, min(at + interval, self.cycle)))
            at += interval
        parts[-1] = (*parts[-1][:2], self.cycle)
        return parts


class Log:
    def __init__(self, rate):
        self.rate, self.lists, self.ready = rate, [], False
        self.frames = 0
        self.free = None  # when the wire is free, times the rate
        self.faults = []

    def prepare(self):
        self.parts = [one.whole() for one in self.lists]
        self.since, self.until, self.mask = 0, 0, 0  # of the last look at the gates: it holds for many frames
        self.ready = True

    def look(self, time):
        self.mask, self.until = self.gates(time)
        self.since = time

    def gates(self, time):
        """(mask, until when) at a time; with no list in force all gates are open."""
        number = max((n for n, one in enumerate(self.lists) if one.start is None or one.start <= time), default=None)
        if number is None:
            return ~0, self.lists[0].start
        one, parts = self.lists[number], self.parts[number]
        follower = self.lists[number + 1].start if number + 1 < len(self.lists) else None
        if follower is not None and one.extension:
            # The first cycle's end from which only the extension, or less, is left.
            last = one.base - (one.base - follower + one.extension) // one.cycle * one.cycle
            if last <= time:
                return parts[-1][0], follower
        phase = (time - one.base) % one.cycle
        for mask, start, end in parts:
            if phase < end:
                until = time - phase + end
                return mask, until if follower is None else min(until, follower)
        raise AssertionError

    def frame(self, launch, traffic_class, size):
        if not self.ready:
            self.prepare()
        self.frames += 1
        start = launch * self.rate
        if self.free is not None and self.free > start:
            self.faults.append(f"frame {self.frames} at {launch}: the one before it is on the wire for "
                               f"{(self.free - start) / self.rate:.3f} ns more")
        elif self.free is not None and start - self.free < self.rate:
            start = self.free  # right behind it; the log has whole ns
        end = start + ((size if size > BYTES_MIN else BYTES_MIN) + EXTRA_BYTES) * 8 * 10**9
        self.free = end
        if not self.since <= launch < self.until:
            self.look(launch)
        while self.mask >> traffic_class & 1:
            if self.until * self.rate >= end:
                return
            self.look(self.until)
        self.faults.append(f"frame {self.frames} at {launch}, class {traffic_class}: its gate is closed at "
                           f"{max(launch, self.since)}, and it lasts until {end / self.rate:.0f}")


def read(lines):
    logs = []
    for line in lines:
        word, *fields = line.split()
        if word == "frame":
            log.frame(int(fields[0]), int(fields[1]), int(fields[2]))
        elif word == "rate":
            log = Log(int(fields[0]))
            logs.append(log)
        elif word == "list":
            base, cycle, extension = map(int, fields[:3])
            log.lists.append(GateList(base, cycle, extension, None if fields[3] == "-" else int(fields[3])))
            log.ready = False
        elif word == "entry":
            log.lists[-1].entries.append((int(fields[0], 0), int(fields[1])))
        else:
            raise ValueError(f"what is {line!r}?")
    return logs


def main(path):
    with open(path, encoding="ascii") as lines:
        logs = read(lines)
    faults = [fault for log in logs for fault in log.faults]
    frames = sum(log.frames for log in logs)
    print(*faults[:20], f"departures: {frames} frames in {len(logs)} logs, {len(faults)} wrong", sep="\n")
    return 1 if faults or frames == 0 else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
