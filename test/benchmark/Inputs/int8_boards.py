"""Compares a trained model in int8, quantised on samples, with its f32 form on emulated microcontrollers.

Usage: int8_boards.py MODEL.onnx SAMPLES FOLDER LEAST TARGET... [-- OPTION...]
Every target must give the numbers of this machine, and take at least LEAST times fewer instructions than f32 does with the same options. SAMPLES is a picture
whose squares are samples (.pgm), or `seeded`.
"""
import json
import pathlib
import subprocess
import sys

import numpy as np
import onnx


def run(*words):
    done = subprocess.run([str(word) for word in words], capture_output=True, text=True)
    assert done.returncode == 0, f"{words}: {done.stderr}"
    return done.stdout


def write_samples(kind, shape, folder):
    folder.mkdir(parents=True)
    if kind == "seeded":
        samples = np.random.default_rng(1).standard_normal((32, *shape)).astype(np.float32)
    else:
        picture = pathlib.Path(kind).read_bytes()
        width, height = map(int, picture.split(None, 3)[1:3])
        samples = np.frombuffer(picture[-width * height:], np.uint8).reshape(-1, *shape)[::5][:64].astype(np.float32)
    for i, sample in enumerate(samples):
        np.save(folder / f"{i:03}.npy", sample)
    return samples[-1]


def main():
    words = sys.argv[1:]
    at = words.index("--") if "--" in words else len(words)
    (model, kind, folder, least, *targets), options = words[:at], words[at + 1:]
    folder = pathlib.Path(folder)
    tensor = onnx.load(model, load_external_data=False).graph.input[0]
    sample = write_samples(kind, [dim.dim_value or 1 for dim in tensor.type.tensor_type.shape.dim], folder / "samples")
    np.save(folder / "sample.npy", sample)
    sized = [f"--dim={dim.dim_param}=1" for dim in tensor.type.tensor_type.shape.dim if dim.dim_param]
    run("kiln", "quantize", model, "--data", folder / "samples", *sized, "-o", folder / "int8.onnx")

    def compute(target):
        run("kiln", "run", folder / "int8.onnx", *sized, f"--target={target}", "--input", f"{tensor.name}={folder}/sample.npy", "--output-dir", folder / target)
        return [np.load(path) for path in sorted((folder / target).glob("*.npy"))]

    def count(path, target):
        return round(json.loads(run("kiln", "bench", path, *sized, *options, f"--target={target}", "--min-time", "0", "--json"))["min_ms"] * 1e6)

    expected = compute("generic")
    assert expected
    for target in targets:
        # A sum that is off by one would change results by far more than the last bits that exp leaves open.
        for got, want in zip(compute(target), expected, strict=True):
            np.testing.assert_allclose(got, want, rtol=2e-6, atol=1e-7)
        real, integer = count(model, target), count(folder / "int8.onnx", target)
        print(f"{target}: {real} instructions in f32, {integer} in int8, {real / integer:.2f} times fewer")
        assert real >= float(least) * integer, "expected fewer"


main()
