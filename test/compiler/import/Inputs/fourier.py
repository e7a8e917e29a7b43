"""DFT and STFT of many lengths against numpy in f64, on two targets that must give the same bits.

Usage: fourier.py OUT
"""

import pathlib
import sys

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[3]))
import kiln_calls  # noqa: E402

LENGTHS = [*range(1, 18), 25, 30, 47, 64, 100, 127, 128, 360, 1000, 4096, 331, 509, 1018, 2027]
# Batches that leave lanes of vectors idle, and one that is a row alone.
BATCHES = [1, 5, 37]
TOLERANCE = {np.float16: 2e-3, np.float32: 4e-7, np.float64: 2e-15}
ONNX = {np.float16: TensorProto.FLOAT16, np.float32: TensorProto.FLOAT, np.float64: TensorProto.DOUBLE}


class Model:
    def __init__(self, out, name):
        self.path, self.nodes, self.inputs, self.given, self.expected = out / name, [], [], {}, {}
        self.weights = []

    def add(self, op, x, expected, element, extra=(), **attributes):
        name = f"y{len(self.nodes)}"
        self.given[f"x{len(self.nodes)}"] = x
        self.inputs.append(helper.make_tensor_value_info(f"x{len(self.nodes)}", ONNX[element], x.shape))
        operands = [f"x{len(self.nodes)}"]
        for value in extra:
            operands.append("" if value is None else f"w{len(self.weights)}")
            if value is not None:
                self.weights.append(numpy_helper.from_array(np.array(value), operands[-1]))
        self.nodes.append(helper.make_node(op, operands, [name], name, **attributes))
        self.expected[name] = (expected, element)

    def run(self, target):
        self.path.mkdir(exist_ok=True)
        outputs = [helper.make_empty_tensor_value_info(name) for name in self.expected]
        graph = helper.make_graph(self.nodes, "g", self.inputs, outputs, self.weights)
        onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8), str(self.path / "m.onnx"))
        for name, array in self.given.items():
            np.save(self.path / f"{name}.npy", array)
        arguments = [f"--input={name}={self.path}/{name}.npy" for name in self.given]
        kiln_calls.run("run", self.path / "m.onnx", f"--target={target}", "--threads=2", f"--output-dir={self.path}", *arguments)
        return {name: np.load(self.path / f"{name}.npy") for name in self.expected}

    def check(self, found):
        for name, (expected, element) in self.expected.items():
            assert found[name].shape == expected.shape and found[name].dtype == element, (name, found[name].shape, expected.shape)
            error = np.abs(found[name].astype(np.float64) - expected).max() / max(np.abs(expected).max(), 1e-30)
            assert error <= TOLERANCE[element], (name, error, expected.shape, element)


def parts(x):
    return np.stack([x.real, x.imag], -1)


def add_transforms(model, rng, length, batch, element):
    real = rng.standard_normal((batch, length, 1)).astype(element)
    both = rng.standard_normal((batch, length, 2)).astype(element)
    wide = both.astype(np.float64)
    complex_rows = wide[..., 0] + 1j * wide[..., 1]
    model.add("DFT", both, parts(np.fft.fft(complex_rows)), element)
    model.add("DFT", both, parts(np.fft.ifft(complex_rows)), element, inverse=1)
    model.add("DFT", real, parts(np.fft.rfft(real.astype(np.float64)[..., 0])), element, onesided=1)
    model.add("DFT", real, parts(np.fft.fft(real.astype(np.float64)[..., 0])), element)


def add_inverse_of_half(model, rng, length, element):
    half = rng.standard_normal((3, length // 2 + 1, 2)).astype(element)
    wide = half.astype(np.float64)
    expected = np.fft.irfft(wide[..., 0] + 1j * wide[..., 1], length)[..., None]
    model.add("DFT", half, expected, element, [np.int64(length)], inverse=1, onesided=1)


def add_frames(model, rng, element):
    signal = rng.standard_normal((2, 700, 1)).astype(element)
    for length, step in ((128, 40), (100, 7)):
        window = np.hanning(length).astype(element)
        frames = np.stack([signal[:, at:at + length, 0] for at in range(0, 700 - length + 1, step)], 1).astype(np.float64) * window.astype(np.float64)
        model.add("STFT", signal, parts(np.fft.rfft(frames)), element, [np.int64(step), window, np.int64(length)])
        model.add("STFT", signal, parts(np.fft.fft(frames)), element, [np.int64(step), window, np.int64(length)], onesided=0)


def add_axes(model, rng):
    x = rng.standard_normal((3, 4, 6, 2)).astype(np.float32)
    wide = x[..., 0].astype(np.float64) + 1j * x[..., 1]
    model.add("DFT", x, parts(np.fft.fft(wide, axis=2)), np.float32, axis=2)
    # Filled up with zeros, and cut off.
    model.add("DFT", x, parts(np.fft.fft(wide, 9, axis=1)), np.float32, [np.int64(9)], axis=1)
    model.add("DFT", x, parts(np.fft.fft(wide, 2, axis=1)), np.float32, [np.int64(2)], axis=1)
    # A spectrum of real numbers.
    spectrum = x[:, :, :5, :1]
    model.add("DFT", spectrum, np.fft.irfft(spectrum[..., 0].astype(np.float64), 8, axis=1)[..., None], np.float32, [np.int64(8)], inverse=1, onesided=1)


def main():
    out, rng, count = pathlib.Path(sys.argv[1]), np.random.default_rng(5), 0
    for element in (np.float32, np.float64, np.float16):
        model = Model(out, element.__name__)
        for length in LENGTHS if element is np.float32 else LENGTHS[2::5]:
            add_transforms(model, rng, length, BATCHES[length % 3] if length < 1000 else 2, element)
            if length > 1:
                add_inverse_of_half(model, rng, length, element)
        add_frames(model, rng, element)
        if element is np.float32:
            add_axes(model, rng)
        results = [model.run(target) for target in ("generic", "x86-64-v3")]
        model.check(results[0])
        for name in model.expected:
            assert np.array_equal(*[found[name] for found in results]), (name, "differs between targets")
        count += len(model.nodes)
    print(count, "transforms right on 2 targets")


if __name__ == "__main__":
    main()
