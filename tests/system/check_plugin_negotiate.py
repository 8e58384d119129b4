"""Programs as people call them, without special flags, at the shapes that AAF carries."""

import concurrent.futures
import signal
import time
import wave

from plugin_lab import Lab, need

lab = Lab()
need("aplay", "arecord", "speaker-test", "alsaloop")

RATES = (8000, 16000, 24000, 32000, 44100, 48000, 88200, 96000, 176400, 192000)
FIXED = dict(format="INT16", rate="48000", channels="2")


def sound(rate, channels, width, seconds=0.2):
    path = lab.folder / f"{rate}-{channels}-{width}-{seconds}.wav"
    if path.exists():  # somebody may be playing it
        return str(path)
    with wave.open(str(path), "wb") as file:
        file.setnchannels(channels)
        file.setsampwidth(width)
        file.setframerate(rate)
        file.writeframes(bytes(int(rate * seconds) * channels * width))
    return str(path)


pool = concurrent.futures.ThreadPoolExecutor(4)
asked = []


def good(what, command, environment):
    """To be run beside others: each is alone with its sound, and who records hears none of them."""
    asked.append(pool.submit(run_good, what, command, environment))


def run_good(what, command, environment):
    code, _, errors = lab.run(command, environment)
    lab.check(code == 0, f"{what}: {' '.join(command)}: exit {code}: {errors}")


def pair(**keys):
    return lab.environment(lab.device("play", **keys) + lab.device("record", "record", addr="91:E0:F0:00:FE:03",
                                                                   streamid="02:00:00:00:00:01:0003", **keys))


open_shape = pair()
for rate in RATES:
    good(f"{rate} Hz", ["aplay", "-D", "play", sound(rate, 2, 2)], open_shape)
for channels, width in ((1, 2), (2, 3), (2, 4), (8, 4), (32, 4)):
    good(f"{channels} x {width} bytes", ["aplay", "-D", "play", sound(48000, channels, width)], open_shape)
for format in ("S16_LE", "S24_3LE", "S24_LE", "S32_LE", "FLOAT_LE", "S16_BE", "FLOAT_BE"):
    record = ["arecord", "-D", "record", "-t", "raw", "-f", format, "-c", "2", "-r", "48000", "-s", "4800", "/dev/null"]
    good(format, record, open_shape)
good("fixed", ["aplay", "-D", "play", sound(48000, 2, 2)], pair(**FIXED))
# What is not offered goes through ALSA's own conversion.
good("plug", ["aplay", "-D", "plug:play", sound(22050, 1, 1)], pair(**FIXED))
# The largest PDU at 8 kHz: 738 frames, 92 ms.
good("738 frames a PDU", ["aplay", "-D", "play", sound(8000, 1, 2, 0.5)], pair(frames_per_pdu="738"))
good("738 frames a PDU, fixed", ["aplay", "-D", "play", sound(8000, 1, 2, 0.5)],
     pair(frames_per_pdu="738", format="S16_LE", rate="8000", channels="1"))
for channels in ("1", "2"):
    good("speaker-test", ["speaker-test", "-D", "play", "-l", "1", "-c", channels], open_shape)
good("speaker-test", ["speaker-test", "-D", "play", "-l", "1", "-c", "2", "-t", "sine"], pair(**FIXED))

for future in asked:
    future.result()

# A loop from a listener to a talker of another stream, fed by a third.
environment = lab.environment(
    lab.device("feed")
    + lab.device("record", "record")
    + lab.device("play", addr="91:E0:F0:00:FE:02", streamid="02:00:00:00:00:01:0002", report=str(lab.folder / "loop.json"))
)
loop = lab.start(["alsaloop", "-C", "record", "-P", "play", "-t", "200000"], environment)
run_good("the loop's source", ["aplay", "-D", "feed", sound(48000, 2, 2, 2)], environment)
for _ in range(100):
    if loop.poll() is not None:
        break
    time.sleep(0.02)
lab.check(loop.poll() is None, "alsaloop goes on")
loop.send_signal(signal.SIGINT)
_, errors = loop.communicate(timeout=30)
lab.check((lab.folder / "loop.json").exists(), f"alsaloop closed its device: {errors}")
if (lab.folder / "loop.json").exists():
    lab.check(lab.report("loop.json")["counters"]["pdus_sent"] > 0, "alsaloop sent something")
lab.end()
