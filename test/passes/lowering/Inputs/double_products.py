#!/usr/bin/env python3
"""Runs products and convolutions of f64 and compares with numpy: double_products.py FOLDER TARGET..."""
import pathlib
import sys

import numpy as np

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[3]))
from onnx_cases import Model, run_on_targets  # noqa: E402

random = np.random.default_rng(3)
# Rows, depth and columns.
SIZES = [(1, 300, 70), (3, 5, 1), (17, 33, 16), (40, 300, 130), (64, 600, 9), (100, 64, 64)]


def convolve(image, kernel, pad, groups):
    """[1, C, H, W] and [M, C / groups, K, K]."""
    image = np.pad(image, ((0, 0), (0, 0), (pad, pad), (pad, pad)))
    windows = np.lib.stride_tricks.sliding_window_view(image, kernel.shape[2:], (2, 3))[0]
    inputs, filters = np.split(windows, groups), np.split(kernel, groups)
    return np.concatenate([np.einsum("chwij,mcij->mhw", part, weight) for part, weight in zip(inputs, filters)])[None]


def build():
    model = Model()
    for rows, depth, columns in SIZES:
        a, b, bias = random.standard_normal((rows, depth)), random.standard_normal((depth, columns)), random.standard_normal(columns)
        x = model.input(a, "f8")
        model.case("constant", "MatMul", [x, model.weight(b, "f8")], a @ b, "f8")
        model.case("computed", "MatMul", [x, model.input(b, "f8")], a @ b, "f8")
        model.case("gemm", "Gemm", [*(model.input(np.ascontiguousarray(side.T), "f8") for side in (a, b)), model.weight(bias, "f8")], 0.5 * (a @ b) + 3 * bias, "f8", transA=1,
                   transB=1, alpha=0.5, beta=3.0)
    a, b = random.standard_normal((2, 3, 20, 37)), random.standard_normal((3, 37, 18))
    model.case("batches", "MatMul", [model.input(a, "f8"), model.input(b, "f8")], a @ b, "f8")
    model.case("einsum", "Einsum", [model.input(a[0], "f8"), model.input(b, "f8")], np.einsum("bij,bjk->bki", a[0], b), "f8", equation="bij,bjk->bki")
    # Cancellation that sums of f32 would lose.
    large = np.array([[1e12, 1.0, -1e12]] * 20)
    model.case("wide", "MatMul", [model.input(large, "f8"), model.weight(np.ones((3, 5)), "f8")], np.ones((20, 5)), "f8")
    for channels, groups, size in [(8, 1, 3), (16, 16, 3)]:
        image, kernel = random.standard_normal((1, 16, 9, 11)), random.standard_normal((channels, 16 // groups, size, size))
        model.case("convolution", "Conv", [model.input(image, "f8"), model.weight(kernel, "f8")], convolve(image, kernel, 1, groups), "f8", group=groups,
                   pads=[1] * 4)
    return model


if __name__ == "__main__":
    run_on_targets(sys.argv[1], sys.argv[2:], {"products": (build(), 17)}, {"f8": (1e-11, 1e-11)})
