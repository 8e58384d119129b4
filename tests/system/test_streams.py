#!/usr/bin/env python3
"""`tactus talk` and `tactus listen`, each case in a network namespace of its own, several at a time.

usage: test_streams.py TACTUS PLUGIN_CONF DECODE_FIELDS [rootless]

Exit 77 where no namespace can be made.
"""
import concurrent.futures
import json
import math
import os
import pathlib
import shutil
import signal
import struct
import subprocess
import sys
import time

import check_decode
from sound import FORMATS, noise, write_wav
from streams_clocks import (case_cards, case_cards_refused, case_crf, case_crf_refused, case_crf_successor,  # among the cases, by their names
                            case_crf_uncertain)
from streams_odd import (case_closed_descriptors, case_ends_without, case_fifo, case_full_output,
                         case_interface_deleted_early, case_never_comes, case_options_without_effect, case_ragged_pipe,
                         case_refused_at_the_start, case_stream_file_places, case_too_many_files, case_unread_output,
                         case_very_short)
from streams_xdp import case_xdp, case_xdp_down_and_up
from streams_lab import (EASY, LISTENER, TALKER, Failure, Lab, Program, check, options, plugin_environment, stream,
                         wav_parts, write_streams)

TACTUS, PLUGIN_CONF, DECODE_FIELDS = sys.argv[1:4]
AT_A_TIME = 4
WIRE = {"S16_LE": "INT16", "S24_3LE": "INT24", "S32_LE": "INT32", "FLOAT_LE": "FLOAT32"}


def case_bit_exact_by_stream_file(lab):
    """Every format, 1 to 8 channels, three rates, side by side from one file each."""
    shapes = [("S16_LE", 44100, 1), ("S24_3LE", 48000, 2), ("S32_LE", 48000, 8), ("FLOAT_LE", 96000, 2),
              ("S16_LE", 48000, 2)]
    talk, listen = [], []
    for number, (form, rate, channels) in enumerate(shapes, 1):
        frames = noise(form, channels, rate // 2, seed=number)
        write_wav(lab.folder / f"in{number}.wav", form, rate, channels, frames)
        talk.append({**stream(number), "source": f"in{number}.wav"})
        listen.append({**stream(number), "sink": f"out{number}.wav", "format": WIRE[form], "rate": rate,
                       "channels": channels, "report": f"{lab.folder}/report{number}.json"})
    listener = lab.listen("--streams", write_streams(lab, "listen.json", listen, buffer="10s"))
    last = lab.talk("--streams", write_streams(lab, "talk.json", talk, mtt="900ms", buffer="10s"), "--cpu", "0").end()
    for number, (form, rate, channels) in enumerate(shapes, 1):
        sent = last["streams"][number - 1]
        check((sent["format"], sent["rate_hz"], sent["channels"]) == (WIRE[form], rate, channels), sent)
        check((sent["frames"], sent["counters"]["frames_sent"]) == (rate // 2, rate // 2), sent)
    lab.end_listener(listener)
    for number, (form, rate, channels) in enumerate(shapes, 1):
        out, _ = lab.run("equal", lab.folder / f"in{number}.wav", lab.folder / f"out{number}.wav", "--report",
                         lab.folder / f"report{number}.json")
        check("bit-exact" in out, out)
        tag, got_channels, got_rate, bits, _ = wav_parts((lab.folder / f"out{number}.wav").read_bytes())
        check((tag, got_channels, got_rate, bits) == (FORMATS[form][0], channels, rate, 8 * FORMATS[form][2]),
              form, tag, got_channels, got_rate, bits)


def case_conversion(lab):
    """A mono float file as 24 bits in two channels, into a FLAC whose shape the first packet tells: that one and those
    behind it are in it too."""
    frames = 24000
    values = [round(0.5 * math.sin(i / 7) * (1 << 23)) / (1 << 23) for i in range(frames)]
    write_wav(lab.folder / "in.wav", "FLOAT_LE", 48000, 1, struct.pack(f"<{frames}f", *values))
    write_wav(lab.folder / "want.wav", "S24_3LE", 48000, 2, b"".join(
        2 * round(v * (1 << 23)).to_bytes(3, "little", signed=True) for v in values))
    out = lab.folder / "out.flac"
    listener = lab.listen(*options(), out)
    talker = lab.talk(*options(), *EASY, "--format", "INT24", "--channels", "2", lab.folder / "in.wav")
    talker.end()
    check("32-bit floats become 24-bit integers" in talker.errors(), talker.errors())
    last = lab.end_listener(listener)["streams"][0]
    check((last["format"], last["rate_hz"], last["channels"]) == ("INT24", 48000, 2), last)
    check(last["peak_dbfs"] == [-6.02, -6.02], last["peak_dbfs"])
    said, _ = lab.run("equal", lab.folder / "want.wav", out)
    check("bit-exact" in said, said)


def case_tone(lab):
    """Frequency and level as asked for, and nothing else in it; --class B; an end by --duration."""
    out = lab.folder / "out.wav"
    listener = lab.listen(*options(), "--format", "INT32", "--rate", "44100", "--channels", "2", out)
    sent = lab.talk(*options(), *EASY, "--class", "B", "--rate", "44100", "--duration", "700ms", "tone:997,-6").end()
    sent = sent["streams"][0]
    check((sent["frames"], sent["frames_per_pdu"], sent["format"]) == (30870, 12, "INT32"), sent)
    check(sent["peak_dbfs"] == [-6.0, -6.0], sent["peak_dbfs"])
    lab.end_listener(listener)
    samples = [v[0] / (1 << 31) for v in struct.iter_unpack("<ii", wav_parts(out.read_bytes())[4])]
    first = next(i for i, v in enumerate(samples) if v != 0) - 1
    worst = max(abs(samples[first + i] - 10 ** (-6 / 20) * math.sin(2 * math.pi * 997 * i / 44100))
                for i in range(30870))
    check(worst < 2 ** -30, "off by", worst)


def case_pipes(lab):
    """Bare samples in and out; looks at nothing but the bytes."""
    data = noise("S24_LE", 2, 24000)
    reader, writer = os.pipe()
    with open(lab.folder / "out.raw", "wb") as out:
        listener = lab.listen(*options(), "--format", "INT24", "--rate", "48000", "--channels", "2", "--raw", "S24_LE",
                              lab.folder / "unused.raw")
        piped = Program(lab, [TACTUS, "listen", "-i", LISTENER, *options(), "--format", "INT24", "--rate", "48000",
                              "--channels", "2", "--raw", "S24_LE", "--buffer", "10s", "-"], stdout=out)
        talker = lab.talk(*options(), *EASY, "--raw", "S24_LE,2,48000", "-", stdin=reader, wait=False)
        os.close(reader)
        os.write(writer, data[:1001])  # a part of a frame
        with os.fdopen(writer, "wb") as rest:
            rest.write(data[1001:])
        check(talker.end()["streams"][0]["frames"] == 24000, talker.lines)
        lab.end_listener(listener)
        piped.end(number=signal.SIGTERM)
        check("Arrival - presentation" in piped.errors(), piped.errors())
    for name in ("out.raw", "unused.raw"):
        check(data in (lab.folder / name).read_bytes(), name, "does not hold what was sent")


def case_slow_source(lab):
    """A pipe that stalls costs silence, is counted, and goes on."""
    form = "S16_LE"
    first, second = noise(form, 2, 54000, seed=1), noise(form, 2, 12000, seed=2)  # more than half the buffer
    reader, writer = os.pipe()
    out = lab.folder / "out.wav"
    listener = lab.listen(*options(), "--format", "INT16", "--rate", "48000", "--channels", "2", out)
    talker = lab.talk(*options(), *EASY, "--raw", f"{form},2,48000", "--buffer", "2s", "-", stdin=reader, wait=False)
    os.close(reader)
    with os.fdopen(writer, "wb") as pipe:
        pipe.write(first)
        pipe.flush()
        talker.wait_line("an xrun", lambda line: line["streams"][0]["xruns"] > 0)
        pipe.write(second)
    last = talker.end(code=1)["streams"][0]
    check(last["frames"] == 66000 and last["frames_silence"] > 0, last)
    lab.end_listener(listener)
    samples = wav_parts(out.read_bytes())[4]
    check(first in samples and second in samples, "parts are missing")
    check(samples.index(second) >= samples.index(first) + len(first), "the order is wrong")


def case_slow_sink(lab):
    """Nobody reads the pipe: it is counted, and an interrupt still ends it."""
    shape = ["--format", "INT32", "--rate", "192000", "--channels", "8", "--buffer", "50ms"]
    reader, writer = os.pipe()
    both = lab.listen(*options(), *shape, "-", stdout=writer, wait=False)
    both.end(code=2)
    check("cannot have both" in both.errors(), both.errors())
    command = [TACTUS, "listen", "-i", LISTENER, *options(), *shape]
    interrupted = Program(lab, [*command, "-"], stdout=writer)
    # A pipe holds 11 ms of that; the device runs by the clock, so half a second after the start it is too much.
    time.sleep(0.5)
    interrupted.end(code=1, number=signal.SIGINT)
    ended = Program(lab, [*command, "--duration", "300ms", "-"], stdout=writer)  # by itself
    ended.end(code=1)
    for program in (interrupted, ended):
        check("- was too slow" in program.errors(), program.errors())
    os.close(writer)
    os.close(reader)


def case_killed_listener(lab):
    """What SIGKILL leaves is a file whose header is right, and so is a FLAC."""
    talker = lab.talk(*options(), *EASY, "--loop", "tone:440")
    for name in ("out.wav", "out.flac"):
        listener = lab.listen(*options(), "--format", "INT32", "--rate", "48000", "--channels", "2", lab.folder / name)
        listener.wait_line("a second of sound", lambda line: line["streams"][0]["frames"] > 48000)
        listener.process.kill()
        listener.process.wait()
    data = (lab.folder / "out.wav").read_bytes()
    tag, channels, rate, bits, samples = wav_parts(data)
    check((tag, channels, rate, bits) == (1, 2, 48000, 32), tag, channels, rate, bits)
    check(len(samples) >= 48000 * 8 and len(samples) % 8 == 0, len(samples))
    check(len(data) - len(samples) < 4096 * 8 + 1000, "all but the last block:", len(data), len(samples))
    check(any(samples), "silence")
    said, _ = lab.run("equal", lab.folder / "out.wav", lab.folder / "out.wav")
    check("bit-exact" in said, said)
    # 24 bits of the tone: found within what the FLAC holds.
    lab.run("equal", lab.folder / "out.flac", lab.folder / "out.flac")
    talker.end(number=signal.SIGINT)


def case_interrupts(lab):
    """SIGINT and SIGTERM end both with a summary; the manager is told."""
    for number in (signal.SIGINT, signal.SIGTERM):
        listener = lab.listen(*options(), "--overwrite", lab.folder / "out.wav", WATCHDOG_USEC="200000")
        write_wav(lab.folder / "in.wav", "S16_LE", 48000, 2, noise("S16_LE", 2, 4800))
        talker = lab.talk(*options(), *EASY, "--loop", lab.folder / "in.wav", WATCHDOG_USEC="200000")
        for program in (talker, listener):
            program.wait_told("WATCHDOG=1", times=3)
            check("STATUS=1 stream at work" in program.told, program.told)
        listener.wait_line("sound", lambda line: line["streams"][0]["peak_dbfs"])
        sent = talker.end(number=number)["streams"][0]
        check(sent["frames"] > 4800, "looped", sent["frames"])
        last = listener.end(number=number)["streams"][0]
        check(last["counters"]["pdus"] > 0 and last["margin_min_ns"] > 0, last)
        talker.wait_told("STOPPING=1")
    text = subprocess.Popen([TACTUS, "talk", "-i", TALKER, *options(), "--duration", "100ms", "tone:440"],
                            stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    out, errors = text.communicate(timeout=90)
    check("Departure - due, ns" in out and "1 stream, 0:00:0" in out, out)
    check("peak dBFS\n" in out and "-20.0 -20.0\n" in out, out)
    check("the kernel's TAI offset" in errors or "launch times are kept by software" in errors, errors)


def case_cpu(lab):
    talker = lab.talk(*options(), *EASY, "--cpu", "0", "tone:440")
    lists = [next(line.split()[1] for line in (task / "status").read_text().splitlines()
                  if line.startswith("Cpus_allowed_list"))
             for task in pathlib.Path(f"/proc/{talker.process.pid}/task").iterdir()]
    check("0" in lists, lists)
    talker.end(number=signal.SIGTERM)


def case_no_talker(lab):
    """Nothing came: said, and no good end; a file that is there stays as it was until something is to be written."""
    out = lab.folder / "out.wav"
    out.write_bytes(b"dear")
    last = lab.listen(*options(), "--overwrite", "--duration", "300ms", out).end(code=1)
    check(last["streams"][0]["state"] == "ended" and last["streams"][0]["format"] is None, last)
    check(out.read_bytes() == b"dear", "the file was touched")
    last = lab.listen(*options(), "--overwrite", "--format", "INT16", "--rate", "48000", "--channels", "1", "--for", "300ms",
                      out).end(code=1)
    check(last["streams"][0]["frames"] == 14400, last)
    check(wav_parts(out.read_bytes())[4] == bytes(2 * 14400), "300 ms of silence")


def case_other_rate(lab):
    """What came in another format than was asked for did come in."""
    talker = lab.talk(*options(), *EASY, "tone:440")
    for words, shape in (("another format than 44100 Hz: ", ["--rate", "44100"]),
                         ("another format than INT16, channels: 3: ", ["--format", "INT16", "--channels", "3"])):
        waiting = lab.listen(*options(), *shape, lab.folder / "out.wav", wait=False)
        waiting.wait_line("a packet", lambda line: line["streams"][0]["counters"]["pdus_other_format"] > 0)
        check(waiting.end(code=1, number=signal.SIGINT)["streams"][0]["format"] in (None, "INT16"), waiting.lines)
        for seconds in (1, 10, 60):  # a busy machine may send nothing for a while
            out, _ = lab.run("listen", "-i", LISTENER, *options(), "--duration", f"{seconds}s", *shape,
                             lab.folder / "out.wav", code=1)
            if "no packet" not in out:
                break
        check(words in out and "no packet" not in out, out)
    talker.end(number=signal.SIGINT)


def case_talker_goes(lab):
    """--on-absence xrun: the end of the stream is the end of the recording, and a good one."""
    out = lab.folder / "out.wav"
    listener = lab.listen(*options(), "--on-absence", "xrun", out)
    lab.talk(*options(), *EASY, "--duration", "1s", "tone:440").end()
    last = listener.end()["streams"][0]
    check(last["counters"]["frames_lost"] == 0 and last["xruns"] == 0 and last["frames"] > 40000, last)


def case_interface_deleted(lab):
    """Both ends say so and end; what was recorded is there."""
    out = lab.folder / "out.wav"
    listener = lab.listen(*options(), out)
    talker = lab.talk(*options(), *EASY, "tone:440")
    listener.wait_line("sound", lambda line: (line["streams"][0]["peak_dbfs"] or [None])[0])
    subprocess.run(["ip", "link", "del", TALKER], check=True)
    for program in (talker, listener):
        last = program.end(3)["streams"][0]
        check(last["frames"] > 0 and "is gone: deleted" in program.errors(), last, program.errors())
    check(wav_parts(out.read_bytes())[4].strip(bytes(1)), "nothing was recorded")


def case_messages(lab):
    write_wav(lab.folder / "22k.wav", "S16_LE", 22050, 2, bytes(400))
    write_wav(lab.folder / "48k.wav", "S16_LE", 48000, 6, bytes(1200))
    write_wav(lab.folder / "0k.wav", "S16_LE", 0, 2, bytes(400))
    (lab.folder / "text.wav").write_text("no sound at all")
    (lab.folder / "there.wav").write_bytes(bytes(3000))
    (lab.folder / "bad.json").write_text('{"interface": "va",\n "streams": [{"mtt": "2 ells"}]}')
    two = write_streams(lab, "two.json", [{**stream(n), "source": "-"} for n in (1, 2)], raw="S16_LE,2,48000")
    one = ["-i", TALKER, *options()]
    for code, words, arguments in (
            (2, "give -i IF", ["talk", "tone:440"]),
            (2, "give --stream-id", ["talk", "-i", "va", "tone:440"]),
            (2, "give --dest", ["talk", "-i", "va", "--stream-id", "02:00:00:00:00:01:0001", "tone:440"]),
            (2, "give a source", ["talk", *one]),
            (2, "give a sink", ["listen", *one]),
            (2, "one source: what is", ["talk", *one, "tone:440", "tone:441"]),
            (2, "has a unit that is not", ["talk", *one, "--mtt", "2ells", "tone:440"]),
            (2, "leaves no time", ["talk", *one, "--mtt", "0", "tone:440"]),
            (2, "is no class", ["talk", *one, "--class", "C", "tone:440"]),
            (2, "is no clock; give tai, or a CRF stream", ["talk", *one, "--clock", "gps", "tone:440"]),
            (2, "is no stream ID, comma, address", ["talk", *one, "--crf", "02:00:00:00:00:01:0002", "tone:440"]),
            (2, "neither of 44.1 nor of 48 kHz", ["talk", *one, "--crf", "02:00:00:00:00:01:0002,91:E0:F0:00:FE:02,8000",
                                                 "tone:440"]),
            (2, "--crf \"02:00:00:00:00:01:0001\" is the ID of the stream too", [
                "talk", *one, "--crf", "02:00:00:00:00:01:0001,91:E0:F0:00:FE:02", "tone:440"]),
            (2, "give best or medium", ["talk", *one, "--quality", "fine", "alsa:null"]),
            (2, "give a number with a unit", ["talk", *one, "--duration", "3", "tone:440"]),
            (2, "0k.wav cannot be played: its header gives 0 Hz", ["talk", *one, lab.folder / "0k.wav"]),
            (2, "at most 277777h", ["talk", *one, "--duration", "876000h", "tone:440"]),
            (2, "--cpu one: give a number from 0", ["talk", *one, "--cpu", "one", "tone:440"]),
            (2, "there is no such processor", ["talk", *one, "--cpu", "4000", "tone:440"]),
            (2, "--mtt \"2ells\"", ["talk", *one, "--mtt", "2ells", "tone:440"]),
            (2, "-i \"much-too-long-a-name\" is", ["talk", "-i", "much-too-long-a-name", "tone:440"]),
            (2, "--pcp \"5\" is the priority in a VLAN tag, and packets have none", ["talk", *one, "--pcp", "5", "tone:440"]),
            (2, "--stream-id \"x\"", ["talk", *one, "--stream-id", "x", "tone:440"]),
            (2, "stands in the file", ["talk", *one, "--streams", two]),
            (2, "there is one standard input", ["talk", "-i", "va", "--streams", two]),
            (2, "bad.json:2:22: mtt \"2 ells\" has a unit", ["talk", "--streams", lab.folder / "bad.json"]),
            (2, "No such file", ["talk", "--streams", lab.folder / "none.json"]),
            (2, "none.wav cannot be played: No such file", ["talk", *one, lab.folder / "none.wav"]),
            (2, "text.wav cannot be played", ["talk", *one, lab.folder / "text.wav"]),
            (2, "has 22050 Hz, which AAF does not carry; convert", ["talk", *one, lab.folder / "22k.wav"]),
            (2, "stream's rate is 44100; leave rate out", ["talk", *one, "--rate", "44100", lab.folder / "48k.wav"]),
            (2, "has 6 channels, and the stream 2", ["talk", *one, "--channels", "2", lab.folder / "48k.wav"]),
            (2, "say what it is, like --raw", ["talk", *one, "-"]),
            (2, "need all of format, channels and rate", ["talk", *one, "--raw", "S16_LE", lab.folder / "text.wav"]),
            (2, "is no tone", ["talk", *one, "tone:low"]),
            (2, "less than half the rate", ["talk", *one, "tone:24000"]),
            (2, "the MTU of va is 1500", ["talk", *one, "--channels", "300", "tone:440"]),
            (2, "Give a name in .wav", ["listen", *one, "out.mp3"]),
            (2, "is there already and holds 3000 bytes; give another name, or say overwrite", [
                "listen", *one, lab.folder / "there.wav"]),
            (3, "cannot be written", ["listen", *one, lab.folder / "none" / "out.wav"]),
            (3, "interface \"vx\" does not exist", ["talk", "-i", "vx", *options(), "tone:440"]),
            (3, "alsa:nobody cannot be opened", ["talk", *one, "alsa:nobody"])):
        _, said = lab.run(*arguments, code=code)
        check(words in said, arguments, "said:", said)
        check(len(said.strip().split("\n")) <= 3 or "alsa" in arguments[-1], said)
    for command in ("talk", "listen"):
        out, _ = lab.run(command, "--help")
        check("Examples:" in out and "--streams" in out, out)


def case_alsa_programs(lab):
    """aplay and arecord through the plugin at the other end."""
    environment = plugin_environment(lab, PLUGIN_CONF)
    source = write_wav(lab.folder / "in.wav", "S16_LE", 48000, 2, noise("S16_LE", 2, 24000))
    listener = lab.listen(*options(1), "--format", "INT16", "--rate", "48000", "--channels", "2", lab.folder / "out.wav")
    subprocess.run(["aplay", "-q", "-D", "play", source], env={**os.environ, **environment}, check=True, timeout=90)
    lab.end_listener(listener)
    recorder = subprocess.Popen(["arecord", "-q", "-D", "record", "-f", "S16_LE", "-r", "48000", "-c", "2",
                                 lab.folder / "recorded.wav"], env={**os.environ, **environment})
    until = time.monotonic() + 90
    while not (lab.folder / "recorded.wav").exists() or (lab.folder / "recorded.wav").stat().st_size <= 44:
        check(time.monotonic() < until and recorder.poll() is None, "arecord records nothing")
        time.sleep(0.02)
    sent = lab.talk(*options(2), *EASY, source).end()["streams"][0]["frames"]
    # It runs in the talker's time: what was sent is recorded when so much more is there.
    size = (lab.folder / "recorded.wav").stat().st_size + 4 * (sent + 48000)
    while (lab.folder / "recorded.wav").stat().st_size < size:
        check(time.monotonic() < until and recorder.poll() is None, "arecord has stopped")
        time.sleep(0.02)
    recorder.send_signal(signal.SIGINT)
    recorder.wait(timeout=90)
    for name in ("out.wav", "recorded.wav"):
        said, _ = lab.run("equal", source, lab.folder / name)
        check("bit-exact" in said, name, said)


def case_decode(lab):
    """tshark reads our packets as we do, and they say what was asked for."""
    if not shutil.which("tshark"):
        return "tshark is not installed (Debian: apt-get install tshark)"
    capture = lab.folder / "talk.pcap"
    watch = subprocess.Popen([TACTUS, "watch", LISTENER, "--json", "--write", str(capture)], stdout=subprocess.PIPE)
    talker = lab.talk(*options(), "--class", "A", "--sparse", "tone:440", "--format", "INT24", "--channels", "8")
    while json.loads(watch.stdout.readline())["packets"] < 100:
        pass
    talker.process.send_signal(signal.SIGINT)
    talker.process.wait(timeout=90)
    watch.send_signal(signal.SIGINT)
    watch.communicate(timeout=90)
    check_decode.compare(DECODE_FIELDS, capture)
    packet = next(check_decode.from_tshark(capture))
    wanted = {"vlan.id": [2], "vlan.priority": [3], "aaf.channels_per_frame": [8], "aaf.bit_depth": [24],
              "aaf.stream_data_len": [144], "aaf.sparse_timestamp": [1]}
    check({key: packet[key] for key in wanted} == wanted, packet)
    return None


CASES = {name[5:]: function for name, function in globals().items() if name.startswith("case_")}


def run_case(name):
    """In its namespace. 0, 1, or 77 with the reason in the last line."""
    lab = Lab(TACTUS)
    try:
        reason = CASES[name](lab)
    except Failure as failure:
        print(f"FAILED {name}: {failure}")
        return 1
    finally:
        lab.close()
    if reason:
        print(reason)
        return 77
    return 0


def start_case(name, unshare):
    done = subprocess.run([*unshare, sys.executable, __file__, *sys.argv[1:4]], env={**os.environ, "TT_CASE": name},
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False)
    return name, done.returncode, done.stdout


def main():
    if os.environ.get("TT_CASE"):
        return run_case(os.environ["TT_CASE"])
    rootless = sys.argv[4:] == ["rootless"]
    unshare = ["unshare", "-rn" if rootless or os.geteuid() != 0 else "-n"]
    if subprocess.run([*unshare, "true"], check=False).returncode != 0:
        print(f"no namespace can be made here ({' '.join(unshare)})")
        return 77
    # Without root everything else is the same: a few cases tell.
    names = ["conversion", "interrupts", "pipes"] if rootless else list(CASES)
    failed = 0
    with concurrent.futures.ThreadPoolExecutor(AT_A_TIME) as pool:
        for name, code, said in pool.map(lambda n: start_case(n, unshare), names):
            if code == 77:
                print(f"{said.strip()}\n[  SKIPPED ] {name}")
            else:
                print(f"{'good' if code == 0 else 'FAILED'}: {name}\n{said if code else ''}", end="")
                failed += code != 0
    print(f"{len(names) - failed} of {len(names)} cases are good")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
