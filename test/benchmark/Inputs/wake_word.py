"""A wake word in int8 on emulated microcontrollers: speech, its spectrogram, a convolutional network of 20 layers, and a classifier.

Usage: wake_word.py MODELS FOLDER LEAST TARGET... [-- OPTION...]
MODELS holds melspectrogram.onnx, speech_embedding.onnx and hello_deepa.onnx (tools/dev/install-models). espeak-ng speaks, the network and the classifier are
quantised on another voice and other sentences. Every target must hear the words where they are spoken and nowhere else, with the numbers of this machine, and the network must
take at least LEAST times fewer instructions in int8 than in f32 with the same options.
"""
import json
import pathlib
import subprocess
import sys
import wave

import numpy as np

WORDS = "hello deepa"
CALIBRATION = [WORDS, "the weather is fine today", "play some music in the kitchen", "hello peter, how are you"]
OTHERS = ["what time is it", "turn on the light, please"]
#: Samples a second; rows of the spectrogram that the network sees, and by how many it moves on; numbers in a row.
RATE, ROWS, STEP, BANDS = 16000, 76, 8, 32
#: What the classifier sees of the network.
STEPS, FEATURES = 25, 96
SINGLE = "--dim=unk__314=1"


def run(*words):
    done = subprocess.run([str(word) for word in words], capture_output=True, text=True)
    assert done.returncode == 0, f"{words}: {done.stderr}"
    return done.stdout


class Models:
    def __init__(self, models, folder):
        self.models, self.folder = models, folder

    def compute(self, model, name, value, target, *options):
        np.save(self.folder / "input.npy", value)
        output = self.folder / f"{model.stem}-{target}"
        run("kiln", "run", model, f"--target={target}", "--input", f"{name}={self.folder}/input.npy", "--output-dir", output, *options)
        (result,) = output.glob("*.npy")
        return np.load(result)

    def spectrogram(self, text, voice):
        """f32[windows, ROWS, BANDS, 1] of a sentence between two silences."""
        sound = self.folder / "sound.wav"
        run("espeak-ng", "-v", voice, "-s", 150, "-w", sound, text)
        with wave.open(str(sound)) as file:
            rate, samples = file.getframerate(), np.frombuffer(file.readframes(file.getnframes()), "<i2").astype(np.float32)
        samples = np.interp(np.arange(0, len(samples) * RATE // rate) * (rate / RATE), np.arange(len(samples)), samples)
        samples = np.concatenate([np.zeros(2 * RATE), samples, np.zeros(RATE // 2)]).astype(np.float32)
        rows = self.compute(self.models / "melspectrogram.onnx", "input", samples[None], "native").reshape(-1, BANDS) / 10 + 2
        return np.stack([rows[at:at + ROWS] for at in range(0, len(rows) - ROWS + 1, STEP)])[..., None].astype(np.float32)

    def embed(self, model, windows, target):
        return self.compute(model, "input_1", windows, target, f"--run-dim=unk__314={len(windows)}").reshape(-1, FEATURES)

    def classify(self, model, features, target):
        """The classifier's scores, one for each place where it sees enough."""
        at = range(len(features) - STEPS + 1)
        return np.array([self.compute(model, "onnx::Flatten_0", features[i:i + STEPS][None], target).item() for i in at], np.float32)


def quantize(kit, folder):
    """The network and the classifier in int8, calibrated on another voice."""
    for name in ("windows", "features"):
        (folder / name).mkdir(parents=True)
    for number, text in enumerate(CALIBRATION):
        windows = kit.spectrogram(text, "en-gb")
        features = kit.embed(kit.models / "speech_embedding.onnx", windows, "native")
        for i in range(0, len(windows), 2):
            np.save(folder / f"windows/{number}-{i:02}.npy", windows[i:i + 1])
        for i in range(len(features) - STEPS + 1):
            np.save(folder / f"features/{number}-{i:02}.npy", features[i:i + STEPS][None])
    network, classifier = folder / "network.onnx", folder / "classifier.onnx"
    run("kiln", "quantize", kit.models / "speech_embedding.onnx", "--data", folder / "windows", SINGLE, "-o", network)
    run("kiln", "quantize", kit.models / "hello_deepa.onnx", "--data", folder / "features", "-o", classifier)
    return network, classifier


def main():
    words = sys.argv[1:]
    at = words.index("--") if "--" in words else len(words)
    (models, folder, least, *targets), options = words[:at], words[at + 1:]
    kit, least = Models(pathlib.Path(models), pathlib.Path(folder)), float(least)
    network, classifier = quantize(kit, kit.folder)

    def count(path, target):
        return round(json.loads(run("kiln", "bench", path, SINGLE, *options, f"--target={target}", "--min-time", "0", "--json"))["min_ms"] * 1e6)

    for text in OTHERS:
        score = kit.classify(classifier, kit.embed(network, kit.spectrogram(text, "en-us"), "native"), "native").max()
        assert score < 0.1, f"'{text}' scores {score}"
    windows = kit.spectrogram(WORDS, "en-us")
    features = kit.embed(network, windows, "native")
    scores = kit.classify(classifier, features, "native")
    best = scores.argmax()
    assert scores[best] > 0.9, f"'{WORDS}' scores {scores}"
    for target in targets:
        heard = kit.embed(network, windows[best:best + STEPS], target)
        np.testing.assert_array_equal(heard, features[best:best + STEPS], target)
        # The last bits of exp are open.
        (score,) = kit.classify(classifier, heard, target)
        np.testing.assert_allclose(score, scores[best], rtol=2e-6)
        real, integer = count(kit.models / "speech_embedding.onnx", target), count(network, target)
        print(f"{target}: heard, {real} instructions in f32, {integer} in int8, {real / integer:.2f} times fewer")
        assert real >= least * integer, "expected fewer"


main()
