#!/usr/bin/env python3
"""Forms that exporters write and others seldom do, against numpy: exporter_forms.py FOLDER TARGET..."""

import pathlib
import sys

import numpy as np
from onnx import helper

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[3]))
from onnx_cases import Model, run_on_targets

BOUNDS = {"f4": (1e-5, 1e-6)}
RANDOM = np.random.default_rng(3)


def old_opset():
    """Statistics for each element of an image."""
    model = Model()
    x, (scale, bias, mean) = RANDOM.standard_normal((2, 3, 4, 5)), RANDOM.standard_normal((3, 3, 4, 5))
    variance = RANDOM.uniform(0.5, 2, (3, 4, 5))
    parameters = [model.weight(array) for array in (scale, bias, mean, variance)]
    model.case("elements", "BatchNormalization", [model.input(x), *parameters], (x - mean) / np.sqrt(variance + 1e-5) * scale + bias, spatial=0)
    return model, 7, [], []


def new_opset():
    model = Model()
    # A call that leaves out inputs of its function, which hands them on to an operator and to another function.
    x = RANDOM.standard_normal((2, 6))
    low, high = np.array(-0.5), np.array(0.25)
    for label, bounds, want in (("both", (low, high), np.clip(x, low, high)), ("no low", (None, high), np.minimum(x, high)), ("no high", (low,), np.maximum(x, low)),
                                ("none", (), x)):
        given = [model.input(x), *("" if bound is None else model.weight(bound) for bound in bounds)]
        model.case(label, "Bounded", given, want, domain="local")
    opset = [helper.make_opsetid("", 18), helper.make_opsetid("local", 1)]
    inner = helper.make_function("local", "Inner", ["x", "low", "high"], ["y"], [helper.make_node("Clip", ["x", "low", "high"], ["y"])], opset)
    outer = helper.make_function("local", "Bounded", ["x", "low", "high"], ["y"], [helper.make_node("Inner", ["x", "low", "high"], ["y"], domain="local")], opset)
    # Four spatial dimensions.
    small, whole = np.arange(1.0, 17).reshape(1, 1, 2, 2, 2, 2), np.zeros(256)
    places = RANDOM.permutation(256)[:16]
    whole[places] = small.ravel()
    model.case("unpool", "MaxUnpool", [model.input(small), model.weight(places.reshape(small.shape), "i8")], whole.reshape(1, 1, 4, 4, 4, 4),
               kernel_shape=[2] * 4, strides=[2] * 4)
    # A value for what lies outside of the image means nothing where nothing does.
    image = RANDOM.standard_normal((1, 1, 4, 8))
    sizes = model.weight(np.array([1, 1, 2, 4]), "i8")
    weights = np.array([1, 3, 3, 1])
    rows = lambda array: np.stack([(array[..., max(2 * i - 1, 0):2 * i + 3] * part).sum(-1) / part.sum() for i, part in
                                   enumerate([weights[1:], *[weights] * (array.shape[-1] // 2 - 2), weights[:3]])], -1)
    model.case("antialias", "Resize", [model.input(image), "", "", sizes], np.swapaxes(rows(np.swapaxes(rows(image), 2, 3)), 2, 3), antialias=1, exclude_outside=1, mode="linear",
               extrapolation_value=-7.0)
    # Four numbers of two bits in a byte, the first in the lowest bits.
    numbers, scale, zero = RANDOM.integers(0, 4, (5, 64)), RANDOM.uniform(0.5, 1, (5, 4)), RANDOM.integers(0, 4, (5, 4))
    pack = lambda array: (array.reshape(5, -1, 4) << np.array([0, 2, 4, 6])).sum(-1)
    table = ((numbers - zero.repeat(16, 1)) * scale.repeat(16, 1))
    rows_taken = np.array([4, 0, 2])
    model.case("two bits", "GatherBlockQuantized", [model.weight(pack(numbers), "u1"), model.input(rows_taken, "i8"), model.weight(scale), model.weight(pack(zero), "u1")],
               table[rows_taken], domain="com.microsoft", bits=2, block_size=16, gather_axis=0, quantize_axis=1)
    return model, 18, [("local", 1), ("com.microsoft", 1)], [inner, outer]


def main():
    run_on_targets(sys.argv[1], sys.argv[2:], {"old": old_opset(), "new": new_opset()}, BOUNDS)


main()
