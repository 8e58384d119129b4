"""The cases of test_streams.py in which two clocks meet: a sound card's and the network's, or two machines'."""
import signal
import sys

from streams_lab import EASY, LISTENER, check, options, plugin_environment, stream, write_streams

PLUGIN_CONF = sys.argv[2]


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
        for n, rate in enumerate(rates, 1)], mtt="900ms", tu="never", clock="crf:" + clock))
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
