"""Where the time of a class's open windows went, from a log of departures in computed mode: a frame had it, or what was
left was too short for the next frame, or nothing waited. The last is split: the shaper was behind with handing over, and
so with reading what came; or it was awake and nothing came, because the sender held back.
"""
from shape_lab import frames_of_log

EXTRA_BYTES, BYTES_MIN = 24, 60
DATA_BYTES = 200  # shorter frames are handshakes and questions of the stack


class Windows:
    """Of class 0, in one schedule."""

    def __init__(self, gates):
        options = gates[0]["options"]
        self.base, self.cycle, self.spans, at = options["base_time"], options["cycle_time"], [], 0
        for entry in options["schedule"]:
            if int(entry["gatemask"], 16) & 1:
                self.spans.append((at, at + entry["interval"]))
            at += entry["interval"]
        self.open = sum(end - start for start, end in self.spans)

    def until(self, time):
        cycles, phase = divmod(time - self.base, self.cycle)
        return cycles * self.open + sum(max(0, min(phase, end) - start) for start, end in self.spans)

    def within(self, start, end):
        return self.until(end) - self.until(start) if end > start else 0


def where(log, gates, rate_mbps):
    """{"sent", "short", "late", "empty"}: shares of the open time from the first frame of data to the last."""
    windows = Windows(gates)
    frames = [frame for frame in frames_of_log(log)[1] if frame[1] == 0]
    data = [frame[0] for frame in frames if frame[2] >= DATA_BYTES]
    sent = short = late = empty = 0
    free, handed = data[0], data[0]
    for launch, _, size, after, arrival in frames:
        if not data[0] <= launch <= data[-1]:
            continue
        came = min(max(arrival, free), launch)
        behind = min(max(handed, free), came)
        late += windows.within(free, behind)
        empty += windows.within(behind, came)
        short += windows.within(came, launch)
        wire_ns = (max(size, BYTES_MIN) + EXTRA_BYTES) * 8000 / rate_mbps
        sent += wire_ns
        free, handed = launch + round(wire_ns), after
    whole = sent + short + late + empty
    return {"sent": sent / whole, "short": short / whole, "late": late / whole, "empty": empty / whole}
