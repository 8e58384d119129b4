"""Cases of test_streams.py: `tactus talk` and `tactus listen` with ends that are odd, missing or full."""
import os
import socket
import subprocess

from sound import noise, write_wav
from streams_lab import EASY, LISTENER, TALKER, check, options


def case_closed_descriptors(lab):
    """Without standard descriptors the commands work as they do with them, and what they print goes nowhere: above
    all not into a socket that has the number of one."""
    shape = ["--format", "INT16", "--rate", "48000", "--channels", "2"]
    commands = [["talk", "-i", TALKER, *options(), *EASY, "--json", "--duration", "1200ms", "tone:440"],
                ["listen", "-i", LISTENER, *options(), *shape, "--duration", "300ms", "-"],
                ["watch", LISTENER, "--json", "--duration", "300ms"]]
    with socket.socket(socket.AF_PACKET, socket.SOCK_RAW, socket.htons(3)) as wire:
        running = [subprocess.Popen(["sh", "-c", 'exec "$@" <&- >&- 2>&-', "sh", lab.tactus, *words]) for words in commands]
        for process in running:
            check(process.wait(timeout=90) in (0, 1), process.args)
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
