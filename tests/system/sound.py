"""Sound files for tests: WAVs as aplay and arecord know them, in every format that AAF carries."""
import random
import struct

WAV_PCM, WAV_FLOAT = 1, 3

# ALSA's name: (WAV tag, bits in the header, bytes of a sample)
FORMATS = {
    "S16_LE": (WAV_PCM, 16, 2),
    "S24_3LE": (WAV_PCM, 24, 3),
    "S24_LE": (WAV_PCM, 24, 4),
    "S32_LE": (WAV_PCM, 32, 4),
    "FLOAT_LE": (WAV_FLOAT, 32, 4),
}


def sample(form, value):
    """A sample from 32 random bits."""
    if form == "S24_LE":
        return struct.pack("<i", (value >> 8) - (1 << 24 if value >> 31 else 0))
    if form == "FLOAT_LE":
        return struct.pack("<f", (value - (1 << 31)) / (1 << 31))
    size = FORMATS[form][2]
    return (value >> (32 - 8 * size)).to_bytes(size, "little")


def noise(form, channels, frames, seed=1):
    """Frames of noise, none silent; the channels repeat a pool of samples so that this is quick."""
    draw = random.Random(f"{form} {channels} {seed}")
    pool = [sample(form, draw.randrange(1 << 16, 1 << 32)) for _ in range(4099)]
    offset = draw.randrange(4099)
    count = frames * channels
    body = b"".join(pool) * ((count + offset) // 4099 + 1)
    size = FORMATS[form][2]
    counter = [sample(form, (frame * 2654435761) % (1 << 32) | 1 << 16) for frame in range(frames)]
    mixed = bytearray(body[offset * size:(offset + count) * size])
    for frame in range(frames):
        mixed[frame * channels * size:(frame * channels + 1) * size] = counter[frame]
    return bytes(mixed)


def wav(form, rate, channels, data):
    tag, bits, size = FORMATS[form]
    block = size * channels
    return (b"RIFF" + struct.pack("<I", 36 + len(data)) + b"WAVEfmt "
            + struct.pack("<IHHIIHH", 16, tag, channels, rate, rate * block, block, bits)
            + b"data" + struct.pack("<I", len(data)) + data)


def write_wav(path, form, rate, channels, data):
    path.write_bytes(wav(form, rate, channels, data))
    return path
