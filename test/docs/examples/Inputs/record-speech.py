"""Makes a recording of two sentences between silences, and checks where speech was found in it.

Usage: record-speech.py FOLDER            joins FOLDER/one.wav and two.wav to speech.wav, and writes noise.wav
       record-speech.py FOLDER check      reads the program's lines from the standard input
"""
import pathlib
import re
import sys
import wave

import numpy as np

SILENCE = 1.5  # seconds before, between and behind the sentences


def read(path):
    with wave.open(str(path)) as file:
        return file.getframerate(), np.frombuffer(file.readframes(file.getnframes()), "<i2")


def write(path, rate, samples):
    with wave.open(str(path), "wb") as file:
        file.setnchannels(2)
        file.setsampwidth(2)
        file.setframerate(rate)
        file.writeframes(np.repeat(samples.astype("<i2"), 2).tobytes())


def spoken(samples):
    """The first and the last sample that is loud."""
    loud = np.flatnonzero(np.abs(samples.astype(int)) > 600)
    return loud[0], loud[-1]


def main():
    folder = pathlib.Path(sys.argv[1])
    rate, one = read(folder / "one.wav")
    two = read(folder / "two.wav")[1]
    noise = np.random.default_rng(1).normal(0, 30, int(SILENCE * rate))
    parts = [noise, one, noise, two, noise]
    if sys.argv[2:] != ["check"]:
        write(folder / "speech.wav", rate, np.concatenate(parts))
        write(folder / "noise.wav", rate, np.random.default_rng(2).normal(0, 300, 2 * rate))
        return
    expected = []
    for number in (1, 3):
        start = sum(len(part) for part in parts[:number])
        expected.append([(start + at) / rate for at in spoken(parts[number])])
    found = [[float(number) for number in re.findall(r"[0-9.]+", line)] for line in sys.stdin]
    ok = len(found) == 2 and all(abs(f - e) < 0.3 for pair in zip(found, expected) for f, e in zip(*pair))
    sys.exit(0 if ok else f"expected speech at {expected}, found {found}")


main()
