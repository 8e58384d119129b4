"""The cases of test_streams.py in which two clocks meet: a sound card's and the network's, or two machines'."""
import contextlib
import multiprocessing
import os
import signal
import socket
import struct
import sys
import time

from streams_lab import EASY, LISTENER, TALKER, check, options, plugin_environment, stream, write_streams

PLUGIN_CONF = sys.argv[2]
CRF_ID, CRF_DEST = "02:00:00:00:00:01:00CF", "91:E0:F0:00:FE:CF"


def send_crf(interval_samples, uncertain):
    """By a process of its own, and with priority where that is granted: a busy machine is no lost clock."""
    with contextlib.suppress(PermissionError):
        os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(50))
    period_ns = interval_samples * 10**9 // 48000
    with socket.socket(socket.AF_PACKET, socket.SOCK_RAW) as wire:
        wire.bind((LISTENER, 0x22F0))
        head = bytes.fromhex(CRF_DEST.replace(":", "") + "0200000000CF" + "22F0")
        number = time.clock_gettime_ns(time.CLOCK_TAI) // period_ns
        while True:
            while number * period_ns <= time.clock_gettime_ns(time.CLOCK_TAI):
                wire.send(head + struct.pack(">BBBB8sIHHQ", 4, 0x80 | uncertain, number % 256, 1,
                                             bytes.fromhex(CRF_ID.replace(":", "")), 48000, 8, interval_samples,
                                             number * period_ns))
                number += 1
            time.sleep(0.003)


@contextlib.contextmanager
def crf_master(interval_samples=96, uncertain=False):
    """A CRF talker of 48 kHz on the listener's end, other than ours and as its clock is said to be."""
    master = multiprocessing.get_context("fork").Process(target=send_crf, args=(interval_samples, uncertain), daemon=True)
    master.start()
    try:
        yield
    finally:
        master.kill()
        master.join()


def case_cards(lab):
    """An ALSA device as sink and as source; the plugin stands in for a sound card, whose clock is the machine's.
    tone -> 1 -> card -> 3 and 2 -> card -> 4: each bridge locks, and says how the clocks are."""
    environment = plugin_environment(lab, PLUGIN_CONF)
    final = [lab.listen(*options(n), "--format", "INT16", "--rate", "48000", "--channels", "2", lab.folder / f"{n}.wav")
             for n in (3, 4)]
    shape = ["--format", "INT16", "--rate", "48000", "--channels", "2", "--level", "60ms"]
    sink = lab.listen(*options(1), *shape, "--quality", "medium", "alsa:card_out", **environment)
    source = lab.talk(*options(4), *EASY, *shape, "alsa:card_in", wait=False, **environment)
    tones = lab.talk("--streams", write_streams(lab, "tones.json", [
        {**stream(n), "source": "tone:1000,-6", "format": "INT16"} for n in (1, 2)], mtt="900ms"))
    for listener in final:
        # Resampled, so to the last digit or so.
        listener.wait_line("the tone", lambda line: abs((line["streams"][0]["peak_dbfs"][0] or -99) + 6) < 0.1)
    for program in (sink, source):
        card = program.wait_line("a lock", lambda line: line["streams"][0]["card"]["state"] == "locked")
        card = card["streams"][0]["card"]
        check(card["target_ns"] == 60_000_000 and abs(card["level_ns"] - 60_000_000) <= 250_000, card)
        check(abs(card["ratio_ppb"]) < 100_000 and card["frames_in"] > 0, card)
    for program in (tones, sink, source, *final):
        program.process.send_signal(signal.SIGINT)
    for program in (tones, sink, source, *final):
        check(program.process.wait(timeout=90) in (0, 1), program.errors())  # a busy machine may starve a card
    for program in (sink, source):
        program.reader.join()
        check(program.lines[-1]["final"] and program.lines[-1]["streams"][0]["card"]["level_ns"], program.lines[-1])


def case_cards_refused(lab):
    """What a card lacks is named with what to do, before anything is sent."""
    conf = lab.folder / "cards.conf"
    conf.write_text("pcm.ulaw { type mulaw\n slave { pcm null\n format S16_LE } }\n"
                    "pcm.two { type multi\n slaves.a { pcm null\n channels 2 }\n"
                    " bindings.0 { slave a\n channel 0 }\n bindings.1 { slave a\n channel 1 } }\n"
                    "pcm.cd { type plug\n slave { pcm null\n rate 44100 } }\n")
    environment = {"ALSA_CONFIG_PATH": f"/usr/share/alsa/alsa.conf:{conf}"}
    for words, device, more in (
            ("has no sample format of 16, 24 or 32 bits; alsa:plug:ulaw converts", "ulaw", []),
            ("does not have 3 channels (it has 2 to 2); give the stream so many", "two", ["--channels", "3"]),
            ("cannot be opened: No such file or directory; `arecord -L` lists", "nobody", []),
            ("the level does not fit into the buffer of 500.0 ms; give a smaller level", "null", ["--level", "900ms"])):
        program = lab.talk(*options(), *more, "alsa:" + device, wait=False, **environment)
        program.process.wait(timeout=90)
        check(words in program.errors() and program.process.returncode in (2, 3), device, program.errors())
    program = lab.talk(*options(), "--rate", "48000", "alsa:cd", **environment)
    program.process.send_signal(signal.SIGINT)
    check(program.process.wait(timeout=90) in (0, 1), program.errors())
    check("alsa:cd runs at 44100 Hz: resampled" in program.errors(), program.errors())


def case_crf(lab):
    """A clock is told from one end and followed by three talkers at the other, at 48, 96 and 44.1 kHz. Its talker goes:
    tu on the wire and an alarm; it comes back: neither."""
    clock = "02:00:00:00:00:01:00CF,91:E0:F0:00:FE:CF"
    rates = [48000, 96000, 44100]

    def master(last=9):
        return lab.talk("-i", LISTENER, *options(last), "--mtt", "900ms", "--tu", "never", "--crf", clock, "tone:440")

    def uncertain(line):
        return [s["counters"]["pdus_uncertain"] for s in line["streams"]]

    listener = lab.listen("--streams", write_streams(lab, "listen.json", [
        {**stream(n), "sink": f"out{n}.wav", "format": "INT16", "rate": rate, "channels": 1}
        for n, rate in enumerate(rates, 1)]))
    talker = lab.talk("--streams", write_streams(lab, "talk.json", [
        {**stream(n), "source": "tone:1000,-6", "format": "INT16", "rate": rate, "channels": 1}
        for n, rate in enumerate(rates, 1)], mtt="900ms", tu="never", clock="crf:" + clock), wait=False)
    check(all(s["counters"]["pdus_sent"] == 0 for s in talker.wait_line("a line", lambda line: True)["streams"]), talker.lines)
    first = master()

    def follows(line):
        return line["clock"]["followed"]["state"] == "locked" and not line["clock"]["followed"]["alarm"]

    talker.wait_line("a lock", lambda line: follows(line) and all(s["counters"]["pdus_sent"] for s in line["streams"]))
    first.process.send_signal(signal.SIGKILL)
    first.process.wait(timeout=90)
    lost = talker.wait_line("an alarm", lambda line: line["clock"]["followed"]["alarm"] and
                            line["clock"]["followed"]["state"] == "holdover")
    check(lost["clock"]["followed"]["state"] == "holdover" and lost["clock"]["followed"]["holdovers"] >= 1, lost)
    before = uncertain(listener.lines[-1])
    listener.wait_line("tu", lambda line: all(now > was for now, was in zip(uncertain(line), before)))
    until = len(talker.lines)
    second = master()
    talker.wait_line("its return", lambda line: talker.lines.index(line) >= until and follows(line))
    until = len(listener.lines)
    listener.wait_line("no more tu", lambda line: listener.lines.index(line) > until and uncertain(line) == uncertain(
        listener.lines[listener.lines.index(line) - 1]))
    for program in (talker, second, listener):
        program.process.send_signal(signal.SIGINT)
    for program in (talker, second, listener):
        check(program.process.wait(timeout=90) in (0, 1), program.errors())
        program.reader.join()
    said = talker.errors()
    check(said.count("ALARM") >= 1 and "the media clock is found" in said and "the media clock is back" in said, said)
    check(second.lines[-1]["clock"]["told"]["pdus_sent"] > 0, second.lines[-1])


def case_crf_refused(lab):
    """A clock of video frames comes under the name that is followed: that nothing can be followed is said, and why."""
    head = bytes.fromhex(CRF_DEST.replace(":", "") + "0200000000CF" + "22F0")
    talker = lab.talk("-i", TALKER, *options(), "--mtt", "900ms", "--clock", f"crf:{CRF_ID},{CRF_DEST}", "tone:440",
                      wait=False)
    with socket.socket(socket.AF_PACKET, socket.SOCK_RAW) as wire:
        wire.bind((LISTENER, 0))
        number = 0
        while "ALARM" not in talker.errors():
            check(number < 5000, "no alarm", talker.errors())
            wire.send(head + struct.pack(">BBBB8sIHHQ", 4, 0x80, number % 256, 2, bytes.fromhex(CRF_ID.replace(":", "")), 30,
                                         8, 1, time.clock_gettime_ns(time.CLOCK_TAI)))
            number += 1
            time.sleep(0.01)
    talker.wait_line("refusals", lambda line: line["clock"]["followed"]["alarm"] and
                     line["clock"]["followed"]["pdus_refused"] > 0)
    talker.process.send_signal(signal.SIGINT)
    talker.process.wait(timeout=90)
    check("ALARM: nothing that can be followed has come in (not a clock of audio samples) of the CRF stream" in
          talker.errors(), talker.errors())


def case_crf_uncertain(lab):
    """A master whose clock is not synchronised, by its own word (tu), is a clock all the same: no alarm, the streams
    carry tu too, and why is said once. Only a holdover is no good end (of a busy machine)."""
    with crf_master(uncertain=True):
        talker = lab.talk(*options(), *EASY, "--clock", f"crf:{CRF_ID},{CRF_DEST}", "--duration", "6500ms", "tone:440",
                          wait=False)
        said = talker.wait_line("a lock", lambda line: line["clock"]["followed"]["state"] == "locked" and
                                line["streams"][0]["counters"]["pdus_sent"] > 0)["clock"]["followed"]
        check(said["uncertain"] and not said["alarm"] and said["drift_ppb"] is not None, said)
        code = talker.process.wait(timeout=90)
    talker.reader.join()
    last = talker.lines[-1]["clock"]["followed"]
    check(last["pdus_uncertain"] == last["pdus"] > 0, last)
    check(code == (1 if last["holdovers"] else 0), code, last, talker.errors())
    check(("ALARM" in talker.errors()) <= (last["holdovers"] > 0), talker.errors())
    for words in ("the media clock is found", "master says that its clock is not synchronised", "give its talker tu never"):
        check(talker.errors().count(words) == 1, words, talker.errors())


def case_crf_successor(lab):
    """Who takes over a clock may tell it at other distances."""
    with crf_master(96):
        talker = lab.talk(*options(), *EASY, "--clock", f"crf:{CRF_ID},{CRF_DEST}", "tone:440", wait=False)
        talker.wait_line("a lock", lambda line: line["clock"]["followed"]["state"] == "locked")
    talker.wait_line("a holdover", lambda line: line["clock"]["followed"]["state"] == "holdover")
    until = len(talker.lines)
    with crf_master(160):
        talker.wait_line("its successor", lambda line: talker.lines.index(line) >= until and
                         line["clock"]["followed"]["state"] == "locked")
        last = talker.end(1, number=signal.SIGINT)["clock"]["followed"]
    check(last["pdus_refused"] == 0 and last["holdovers"] >= 1, last)
