"""Cases of test_streams.py: `--pace xdp`, packets by AF_XDP."""
import signal
import socket
import subprocess

from sound import noise, write_wav
from streams_lab import EASY, TALKER, check, options, stream, write_streams

AF_XDP = 44


def no_xdp():
    """Why there is none here, or nothing."""
    try:
        socket.socket(AF_XDP, socket.SOCK_RAW).close()
    except OSError as error:
        return f"no AF_XDP here: {error.strerror}"
    return None


def case_xdp(lab):
    """Bit-exact, several streams by one socket, whatever their priorities; the second program hears who has it."""
    if no_xdp():
        return no_xdp()
    talk, listen = [], []
    for number in range(1, 5):
        write_wav(lab.folder / f"in{number}.wav", "S16_LE", 48000, 2, noise("S16_LE", 2, 24000, seed=number))
        talk.append({**stream(number), "source": f"in{number}.wav", "priority": number % 2})
        listen.append({**stream(number), "sink": f"out{number}.wav", "format": "INT16", "rate": 48000, "channels": 2,
                       "report": f"{lab.folder}/report{number}.json"})
    listener = lab.listen("--streams", write_streams(lab, "listen.json", listen, buffer="10s"))
    lab.talk("--pace", "xdp", "--streams", write_streams(lab, "talk.json", talk, mtt="900ms", buffer="10s")).end()
    lab.end_listener(listener)
    for number in range(1, 5):
        out, _ = lab.run("equal", lab.folder / f"in{number}.wav", lab.folder / f"out{number}.wav", "--report",
                         lab.folder / f"report{number}.json")
        check("bit-exact" in out, out)
    first = lab.talk(*options(), *EASY, "--pace", "xdp", "tone:440")
    _, said = lab.run("talk", "-i", TALKER, *options(2), *EASY, "--pace", "xdp", "tone:440", code=3)
    check(f'pace "xdp" on "{TALKER}" was refused' in said and "another program has its first queue" in said, said)
    lab.run("talk", "-i", TALKER, *options(2), *EASY, "--duration", "50ms", "tone:440")  # others are in nobody's way
    first.end(number=signal.SIGINT)
    return None


def case_xdp_down_and_up(lab):
    """What falls into the time without a link is refused and counted, and nothing leaves late; then it goes on, and
    ends when the interface does."""
    if no_xdp():
        return no_xdp()

    def counters(line):
        return line["streams"][0]["counters"]

    for end in (TALKER, "vb"):  # without an interface, and without a carrier
        talker = lab.talk(*options(), *EASY, "--pace", "xdp", "tone:440")
        talker.wait_line("packets", lambda line: counters(line)["pdus_sent"] > 0)
        subprocess.run(["ip", "link", "set", end, "down"], check=True)
        down = talker.wait_line("refusals", lambda line: counters(line)["pdus_refused"] > 0)
        subprocess.run(["ip", "link", "set", end, "up"], check=True)
        at = len(talker.lines)
        up = talker.wait_line("packets again", lambda line: line in talker.lines[at:] and
                              counters(line)["pdus_sent"] > counters(down)["pdus_sent"] + 4000)
        check(counters(up)["pdus_refused"] > 100, up)
        last = talker.end(1, number=signal.SIGINT)
        check("was down" in talker.errors(), talker.errors())
        check(counters(last)["pdus_sent"] > 4000, last)
    talker = lab.talk(*options(), *EASY, "--pace", "xdp", "tone:440")
    subprocess.run(["ip", "link", "del", TALKER], check=True)
    last = talker.end(3)["streams"][0]
    check("is gone: deleted" in talker.errors(), last, talker.errors())
    return None
