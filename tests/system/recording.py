"""A recording whose every frame says where it comes from, taken apart.

A source has two channels of S32_LE: the frame's number (from 1) and a word that follows from it, never 0. So a frame
of a recording is one of the source, silence, or wrong.
"""
import array
import re

FRAME_BYTES = 8
SILENCE = re.compile(rb"(?:\0{8})+")


def source_bytes(frames, first=0):
    words = array.array("I", bytes(FRAME_BYTES * frames))
    words[0::2] = array.array("I", range(first + 1, first + frames + 1))
    words[1::2] = array.array("I", [number * 2654435761 & 0xFFFFFFFF | 1 for number in words[0::2]])
    return words.tobytes()


class Run:
    """Frames of one kind in a row: `kind` is sound, silence or wrong. Sound at `frame` is the source's at `source`."""

    def __init__(self, kind, frame, frames, source=None):
        self.kind, self.frame, self.frames, self.source = kind, frame, frames, source

    def __repr__(self):
        return f"{self.kind} {self.frame}+{self.frames}" + ("" if self.source is None else f" of {self.source}")


def equal_frames(recording, at, source, begin):
    """How many frames from `at` on are the source's from `begin` on."""
    most = min((len(recording) - at) // FRAME_BYTES, (len(source) - begin) // FRAME_BYTES)
    low, step = 0, 1
    while low < most and step:
        step = min(step, most - low)
        a, b = at + low * FRAME_BYTES, begin + low * FRAME_BYTES
        if recording[a:a + step * FRAME_BYTES] == source[b:b + step * FRAME_BYTES]:
            low += step
            step *= 2
        else:
            step //= 2
    return low


def runs_of(recording, source):
    runs, at, end = [], 0, len(recording) // FRAME_BYTES * FRAME_BYTES
    while at < end:
        silence = SILENCE.match(recording, at)
        if silence:
            frames, kind, begin = (silence.end() - at) // FRAME_BYTES, "silence", None
        else:
            begin = int.from_bytes(recording[at:at + 4], "little") - 1
            frames, kind = equal_frames(recording, at, source, begin * FRAME_BYTES) if begin >= 0 else 0, "sound"
            if frames == 0:
                frames, kind, begin = 1, "wrong", None
        runs.append(Run(kind, at // FRAME_BYTES, frames, begin))
        at += frames * FRAME_BYTES
    return runs


def segments_of(runs):
    """[(alignment, runs of sound)]: as long as the recording keeps the source's time it is one. The alignment is the
    place in the recording of the source's frame 0."""
    segments = []
    for run in runs:
        if run.kind == "sound":
            alignment = run.frame - run.source
            if not segments or segments[-1][0] != alignment:
                segments.append((alignment, []))
            segments[-1][1].append(run)
    return segments


class Spans:
    """A set of frame numbers as sorted, disjoint [begin, end)."""

    def __init__(self, spans=()):
        self.spans = []
        for begin, end in sorted(span for span in spans if span[0] < span[1]):
            if self.spans and begin <= self.spans[-1][1]:
                self.spans[-1] = (self.spans[-1][0], max(end, self.spans[-1][1]))
            else:
                self.spans.append((begin, end))

    def __len__(self):
        return sum(end - begin for begin, end in self.spans)

    def __eq__(self, other):
        return self.spans == other.spans

    def __repr__(self):
        shown = ", ".join(f"{begin}-{end - 1}" for begin, end in self.spans[:6])
        return f"{len(self)} frames [{shown}{', …' if len(self.spans) > 6 else ''}]"

    def __sub__(self, other):
        left = []
        for begin, end in self.spans:
            for a, b in other.spans:
                if b <= begin or a >= end:
                    continue
                if a > begin:
                    left.append((begin, a))
                begin = max(begin, b)
            left.append((begin, end))
        return Spans(left)

    def __or__(self, other):
        return Spans(self.spans + other.spans)

    def __and__(self, other):
        return self - (self - other)

    def moved(self, by):
        return Spans((begin + by, end + by) for begin, end in self.spans)
