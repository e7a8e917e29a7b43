"""Builds models of the benchmark of byte kernels, runs them, and compares with NumPy. Usage: byte_kernels.py SCRIPT FOLDER"""

import importlib.machinery
import importlib.util
import pathlib
import subprocess
import sys

import numpy as np
import onnx
from onnx import numpy_helper

loader = importlib.machinery.SourceFileLoader("byte_kernels", sys.argv[1])
benchmark = importlib.util.module_from_spec(importlib.util.spec_from_loader("byte_kernels", loader))
loader.exec_module(benchmark)


def quantise(sums, factor):
    return np.clip(np.rint(sums * factor) + 128, 0, 255).astype(np.uint8)


def convolve(x, weights, bias, kernel, stride, groups):
    x = np.pad(x[0], [(kernel // 2, kernel // 2)] * 2 + [(0, 0)])
    out = (x.shape[0] - kernel) // stride + 1
    filters, depth = weights.shape[:2]
    sums = np.zeros((1, out, out, filters), np.int64)
    for f in range(filters):
        group = f // (filters // groups)
        for i in range(out):
            for j in range(out):
                window = x[i * stride:i * stride + kernel, j * stride:j * stride + kernel, group * depth:(group + 1) * depth]
                sums[0, i, j, f] = (window.transpose(2, 0, 1) * weights[f]).sum() + bias[f]
    return sums


for shape in ("static 7 16 24", "sums 7 16 24", "dynamic 7 16 24", "conv 8 6 16 3 1 1", "conv 16 6 16 3 2 16"):
    folder = pathlib.Path(sys.argv[2]) / shape.replace(" ", "_")
    folder.mkdir(parents=True, exist_ok=True)
    kind, *numbers = shape.split()
    numbers = list(map(int, numbers))
    values, operations = benchmark.build([kind, *numbers], folder / "kernel.onnx")
    np.save(folder / "x.npy", values["x0"])
    subprocess.run(["kiln", "run", folder / "kernel.onnx", "-q", "--input", f"x0={folder}/x.npy", "--output-dir", folder / "out"], check=True, stdout=subprocess.DEVNULL)
    got = np.load(next((folder / "out").glob("*.npy")))
    weights = {w.name: numpy_helper.to_array(w) for w in onnx.load(folder / "kernel.onnx").graph.initializer}
    matrix = next(w for w in weights.values() if w.dtype == np.int8 and w.ndim > 1).astype(np.int64)
    scales = [w for w in weights.values() if w.dtype == np.float32]
    x = values["x0"].astype(np.float64 if kind == "dynamic" else np.int64)
    if kind == "dynamic":
        scale = np.float32((max(values["x0"].max(), 0) - min(values["x0"].min(), 0)) / np.float32(255))
        want = x @ matrix * 0.01
        right = np.abs(got - want).max() < scale * 0.01 * np.abs(matrix).sum(0).max()
    else:
        sums = convolve(x - 128, matrix, next(w for w in weights.values() if w.dtype == np.int32), *numbers[3:]) if kind == "conv" else (x - 128) @ matrix
        want = sums if kind == "sums" else quantise(sums, 0.02 * 0.01 / float(scales[-1]))
        right = np.array_equal(got, want) if kind == "sums" else (np.abs(got.astype(int) - want) <= 1).all() and (got != want).mean() < 0.01
    print(f"{shape}: {operations} operations, {'right' if right else 'wrong'}")
