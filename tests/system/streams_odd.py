"""Cases of test_streams.py: `tactus talk` and `tactus listen` with ends that are odd, missing or full."""
import fcntl
import json
import os
import pty
import select
import signal
import socket
import subprocess
import termios
import time

from sound import noise, write_wav
from streams_lab import EASY, LISTENER, TALKER, Program, check, options, stream, write_streams


def case_closed_descriptors(lab):
    """Without standard descriptors the commands work as they do with them, and what they print goes nowhere, which
    their exit codes tell: above all not into a socket that has the number of one."""
    shape = ["--format", "INT16", "--rate", "48000", "--channels", "2"]
    commands = [["talk", "-i", TALKER, *options(), *EASY, "--json", "--duration", "1200ms", "tone:440"],
                ["listen", "-i", LISTENER, *options(), *shape, "--duration", "300ms", "-"],
                ["watch", LISTENER, "--json", "--duration", "300ms"]]
    with socket.socket(socket.AF_PACKET, socket.SOCK_RAW, socket.htons(3)) as wire:
        running = [subprocess.Popen(["sh", "-c", 'exec "$@" <&- >&- 2>&-', "sh", lab.tactus, *words]) for words in commands]
        codes = [process.wait(timeout=90) for process in running]
        check(codes[0] == 3 and codes[1] in (0, 1, 3) and codes[2] == 3, codes)
        wire.setblocking(False)
        packets = []
        while len(packets) < 100000:
            try:
                packets.append(wire.recvfrom(2000)[0])
            except BlockingIOError:
                break
    check(sum(packet[12:14] == b"\x22\xf0" for packet in packets) > 100, len(packets), "packets")
    strange = [packet for packet in packets if packet[12:14] not in (b"\x22\xf0", b"\x86\xdd", b"\x81\x00")]
    check(not strange, strange[:1])


def case_full_output(lab):
    """What cannot be printed is no good end; a reader that has left is none of ours."""
    source = write_wav(lab.folder / "in.wav", "S16_LE", 48000, 2, noise("S16_LE", 2, 4800))
    one = ["-i", TALKER, *options()]
    with open("/dev/full", "w", encoding="ascii") as full:
        for words in (["--help"], ["watch", "--help"], ["equal", source, source], ["watch", LISTENER, "--duration", "100ms"],
                      ["talk", *one, *EASY, source], ["listen", *one, "--for", "100ms", lab.folder / "out.wav"]):
            done = subprocess.run([lab.tactus, *map(str, words)], stdout=full, stderr=subprocess.PIPE, text=True, check=False,
                                  timeout=90)
            check(done.returncode == 3 and "standard output could not be written" in done.stderr, words, done)
    reader, writer = os.pipe()
    os.close(reader)
    done = subprocess.run([lab.tactus, "talk", *one, *EASY, "--json", source], stdout=writer, stderr=subprocess.PIPE, text=True,
                          check=False, timeout=90)
    os.close(writer)
    check(done.returncode == 0 and "output" not in done.stderr and "figures" not in done.stderr, done)


def case_fifo(lab):
    """A FIFO as source and as sink: its end is the end, all of it is sent, and nobody is waited for at either."""
    form = "S16_LE"
    data = noise(form, 2, 30000)
    paths = [lab.folder / name for name in ("in.fifo", "out.fifo", "lonely.fifo")]
    for path in paths:
        os.mkfifo(path)
    shape = ["--format", "INT16", "--rate", "48000", "--channels", "2", "--raw", form]
    lonely = lab.listen(*options(), *shape, paths[2])
    reader = os.open(paths[1], os.O_RDONLY | os.O_NONBLOCK)
    heard = []
    listener = lab.listen(*options(), *shape, paths[1])
    talker = lab.talk(*options(), *EASY, "--raw", f"{form},2,48000", paths[0], wait=False)
    with open(paths[0], "wb") as writer:
        writer.write(data)

    def is_all_heard():
        try:
            while part := os.read(reader, 65536):
                heard.append(part)
        except BlockingIOError:
            pass
        return data in b"".join(heard)

    check(talker.end()["streams"][0]["frames"] == 30000, talker.lines)
    until = time.monotonic() + 90
    while not is_all_heard():
        check(time.monotonic() < until, sum(map(len, heard)), "bytes came")
        time.sleep(0.02)
    os.close(reader)
    check(listener.process.wait(timeout=90) in (0, 1), listener.errors())
    lonely.end(code=3, number=signal.SIGHUP)
    check("nobody has opened for reading" in lonely.errors(), lonely.errors())


def case_never_comes(lab):
    """A clock and a pipe that give nothing are named, and that is no good end."""
    clock = "crf:02:00:00:00:00:01:00CF,91:E0:F0:00:FE:CF"
    reader, writer = os.pipe()
    piped = lab.talk(*options(1), "--raw", "S16_LE,2,48000", "-", stdin=reader, wait=False)
    clocked = lab.talk(*options(2), "--clock", clock, "tone:440", wait=False)
    ended = lab.talk(*options(3), "--clock", clock, "--duration", "200ms", "tone:440", wait=False)
    check(ended.end(code=1)["streams"][0]["state"] == "ended", ended.lines)  # by itself
    clocked.wait_line("an alarm", lambda line: line["clock"]["followed"]["alarm"])
    check(not select.select([clocked.socket], [], [], 0)[0], "a service manager was told that a talker without clock is ready")
    piped.wait_line("some lines", lambda line: line["elapsed_ns"] > 6 * 10**9)
    for program, words in ((piped, "- gives nothing"), (clocked, "ALARM: no packet has come in of the CRF stream 02:00")):
        program.end(code=1, number=signal.SIGINT)
        check(words in program.errors(), program.errors())
    os.close(reader)
    os.close(writer)


def case_ends_without(lab):
    """A duration ends what waits: for a clock that does not come, for a pipe that gives nothing, or too little to start,
    or no more."""
    clock = "crf:02:00:00:00:00:01:00CF,91:E0:F0:00:FE:CF"
    pipes = []
    talkers = [lab.talk(*options(9), "--clock", clock, "--duration", "1s", "tone:440", wait=False)]
    for number, frames in enumerate((0, 100, 30000), 1):
        pipes += os.pipe()
        os.write(pipes[-1], noise("S16_LE", 1, frames))
        talkers.append(lab.talk(*options(number), "--mtt", "900ms", "--raw", "S16_LE,1,48000", "--duration", "1s", "-",
                                stdin=pipes[-2], wait=False))
    for talker, frames in zip(talkers[1:], (0, 100, 30000)):
        last = talker.end(code=1)["streams"][0]
        check(last["frames"] == frames and last["counters"]["frames_sent"] >= frames, last)
        check((last["counters"]["pdus_sent"] > 0) == (frames > 0), last)
    last = talkers[0].end(code=1)["streams"][0]
    check(last["state"] == "ended" and last["counters"]["pdus_sent"] == 0, last)
    for end in pipes:
        os.close(end)


def case_very_short(lab):
    """A source shorter than a packet, and a duration shorter than a frame: what is there is sent, and nothing else."""
    source = write_wav(lab.folder / "in.wav", "S16_LE", 48000, 2, noise("S16_LE", 2, 4))
    last = lab.talk(*options(), *EASY, source, wait=False).end()["streams"][0]
    check(last["counters"]["pdus_sent"] == 1 and last["frames"] == 4 and last["xruns"] == last["frames_silence"] == 0, last)
    last = lab.talk(*options(), *EASY, "--rate", "192000", "--duration", "1ns", "tone:440", wait=False).end(code=1)
    check(last["streams"][0]["counters"]["pdus_sent"] == last["streams"][0]["xruns"] == 0, last)
    shown, _ = lab.run("talk", "-i", TALKER, *options(), "--duration", "1ns", "--loop", source, code=1)
    check("1: nothing was sent" in shown and "nothing came in" not in shown, shown)  # the file is not at fault


def case_ragged_pipe(lab):
    """A pipe that ends within a frame: the whole frames are sent, and what is left out is said."""
    raw = ["--raw", "S16_LE,2,48000"]
    words = "- ends within a frame: its last 3 bytes are left out"
    for count, code in ((4803, 0), (3, 2)):
        reader, writer = os.pipe()
        os.write(writer, bytes(count))
        os.close(writer)
        talker = lab.talk(*options(), *EASY, *raw, "-", stdin=reader, wait=False)
        check(talker.end(code)["streams"][0]["frames"] == count // 4, talker.lines)
        check(talker.errors().count(words) == 1, talker.errors())
        os.close(reader)


def case_refused_at_the_start(lab):
    """What cannot be written is said before a packet is waited for, and nothing else with it."""
    (lab.folder / "folder").mkdir()
    one = ["listen", "-i", LISTENER, *options()]
    for code, words, arguments in (
            (3, "alsa:nobody cannot be opened", [*one, "alsa:nobody"]),
            (2, "folder is a directory", [*one, lab.folder / "folder"]),
            (3, "none/x.json cannot be written", [*one, "--report", lab.folder / "none/x.json", lab.folder / "a.wav"]),
            (2, "is the sink too", [*one, "--report", f"{lab.folder}/./a.wav", lab.folder / "a.wav"]),
            (2, "a report replaces a file", [*one, "--report", "/dev/null", lab.folder / "a.wav"]),
            (2, "holds no frames", ["talk", "-i", TALKER, *options(), "--raw", "S16_LE,2,48000", "/dev/null"])):
        _, said = lab.run(*arguments, code=code)
        check(words in said and "no packet" not in said, arguments, "said:", said)
        check(not (lab.folder / "a.wav").exists(), "a file was made")


def case_stream_file_places(lab):
    """Ends, reports and interfaces that will not do are said with their place."""
    def refused(code, words, text, command="listen"):
        path = lab.folder / "streams.json"
        path.write_bytes(text)
        _, said = lab.run(command, "--streams", path, code=code)
        check(words in said.replace(f"{lab.folder}/", ""), text, "said:", said)

    first, second = (json.dumps(stream(n))[1:-1].encode() for n in (1, 2))
    head = b'{"interface": "vb",\n "streams": [{' + first
    refused(2, "streams.json:3:10: ./a.wav is the same file as that in line 2",
            head + b', "sink": "a.wav"},\n{"sink": "./a.wav", ' + second + b"}]}")
    refused(2, "streams.json:3:12: r.json is the same file as that in line 2",
            head + b', "sink": "a.wav", "report": "r.json"},\n{"report": "r.json", "sink": "b.wav",' + second + b"}]}")
    refused(3, "streams.json:3:10: none/a.wav cannot be written",
            head + b', "sink": "a.wav"},\n{"sink": "none/a.wav", ' + second + b"}]}")
    refused(2, "streams.json:3:12: a.wav cannot be played", head + b', "source": "tone:440"},\n{"source": "a.wav", '
            + second + b"}]}", "talk")
    refused(3, "streams.json:1:15: interface \"vx\" does not exist", head.replace(b"vb", b"vx") + b', "sink": "a.wav"}]}')
    refused(2, "streams.json:1:1: a stream file is an object in braces", b"[1]")
    refused(2, "did you mean interface", b"\xef\xbb\xbf" + b'{"interfaze": 1}')
    _, said = lab.run("listen", "--streams", lab.folder, code=2)
    check("Is a directory" in said, said)


def case_too_many_files(lab):
    """The limit of descriptors is named, in both directions."""
    for command, interface, end in (("talk", TALKER, "source"), ("listen", LISTENER, "sink")):
        path = write_streams(lab, "many.json", [
            {**stream(n), end: "tone:440" if end == "source" else f"{n}.wav", "format": "INT16", "rate": 48000, "channels": 1}
            for n in range(1, 41)], interface=interface)
        done = subprocess.run(["sh", "-c", 'ulimit -n 30; exec "$@"', "sh", lab.tactus, command, "--streams", path],
                              capture_output=True, text=True, check=False, timeout=90, stdin=subprocess.DEVNULL)
        check(done.returncode == 3 and "Too many open files" in done.stderr, command, done)


def case_options_without_effect(lab):
    """An option that nothing needs is said, with one stream and with a file; and one that the file overrules."""
    def said(*words, **common):
        path = write_streams(lab, "idle.json", [{**stream(n), "source": "tone:440", "mtt": "900ms"} for n in (1, 2)],
                             interface=TALKER, **common)
        _, errors = lab.run("talk", "--duration", "50ms", "--streams", path, *words)
        return errors.replace(f"{lab.folder}/", "")

    errors = said("-i", LISTENER, "--mtt", "5ms", "--level", "20ms", "--loop", "--raw", "S16_LE,2,48000", "--class", "B")
    for words in ("-i, --interface has no effect: idle.json says it for every stream", "--mtt has no effect: idle.json says it",
                  "--level has no effect: it is for a sound card (alsa:DEVICE), and idle.json has none",
                  "--loop has no effect: it is for a file, and", "--raw has no effect: it is for a file or pipe, and"):
        check(words in errors, words, "said:", errors)
    check("--class" not in errors, errors)
    errors = said("--class", "B", level="20ms", loop=True)  # in the file it is for those that need it
    check("no effect" not in errors, errors)
    _, errors = lab.run("talk", "-i", TALKER, *options(), *EASY, "--duration", "50ms", "--loop", "--quality", "best",
                        "tone:440")
    for words in ("--loop has no effect: it is for a file, and tone:440 is none",
                  "--quality has no effect: it is for a sound card (alsa:DEVICE), and tone:440 is none"):
        check(words in errors, words, "said:", errors)


def case_unread_output(lab):
    """A terminal that is stopped and a pipe that nobody reads cost what is shown, and nothing else: the manager hears of
    the streams, the time that was given ends them, and so does an interrupt."""
    shape = ["--format", "INT16", "--rate", "48000", "--channels", "2"]
    talk = [lab.tactus, "talk", "-i", TALKER, *EASY]
    listen = [lab.tactus, "listen", "-i", LISTENER, "--buffer", "10s", *shape]
    master, slave = pty.openpty()
    stopped = [Program(lab, words, stdout=slave, WATCHDOG_USEC="300000")
               for words in ([*talk, *options(1), "tone:440"], [*listen, *options(1), lab.folder / "out.wav"])]
    reader, writer = os.pipe()
    fcntl.fcntl(writer, fcntl.F_SETPIPE_SZ, 4096)
    unread = Program(lab, [*talk, *options(2), "--json", "--duration", "5s", "tone:440"], stdout=writer)
    termios.tcflow(slave, termios.TCOOFF)
    for program in stopped:
        program.told.clear()
        program.wait_told("WATCHDOG=1", times=20)
        program.process.send_signal(signal.SIGINT)
    for program in (*stopped, unread):  # that by itself
        program.end(3)
        check("not all there" in program.errors(), program.errors())
    for fd in (master, slave, reader, writer):
        os.close(fd)


def case_interface_deleted_early(lab):
    """Whoever waits for a talker, for a clock or for samples hears of it too."""
    os.mkfifo(lab.folder / "in.fifo")
    waiting = [lab.listen(*options(1), lab.folder / "out.wav", wait=False),
               lab.talk(*options(2), "--clock", "crf:02:00:00:00:00:01:00CF,91:E0:F0:00:FE:CF", "tone:440", wait=False),
               lab.talk(*options(3), "--raw", "S16_LE,2,48000", lab.folder / "in.fifo", wait=False)]
    for program in waiting:
        program.wait_line("a line", lambda line: True)
    subprocess.run(["ip", "link", "del", TALKER], check=True)
    for program in waiting:
        check(program.end(3)["streams"][0]["state"] == "ended", program.lines[-1:])
        check("is gone: deleted" in program.errors(), program.errors())
