#!/usr/bin/env python3
"""Runs inverted residual blocks with `kiln run` and compares with numpy: strips.py FOLDER TARGET..."""
import pathlib
import sys

import numpy as np
from contractions import Module, compare_on_threads, convolve, tensor


#: By name: what follows the sums, and the attributes of the operation.
ACTIVATIONS = {"relu": (lambda x: np.maximum(x, 0), ""), "swish": (lambda x: x / (1 + np.exp(-x)), " {alpha = 1.0}")}


def convolution(module, value, image, out, size, stride, groups, activation="relu"):
    """activation(conv + bias) of channels_last `image`, which is `value` in the module."""
    weight = module.array(out, image.shape[3] // groups, size, size) / np.float32(np.sqrt(size * size * image.shape[3] / groups))
    bias = module.array(out)
    exact = convolve(image, weight, (stride, stride), (1, 1), groups)
    text = f"nn.conv {value}, {module.constant(weight)} strides [{stride}, {stride}] dilations [1, 1] pads [0, 0, 0, 0] groups {groups} layout channels_last"
    result = module.op(f"{text} : {tensor(image)}, {tensor(weight)}", tensor(exact))
    spread = module.op(f"nn.broadcast_to {module.constant(bias)} : {tensor(bias)}", tensor(exact))
    total = module.op(f"nn.add {result}, {spread} : {tensor(exact)}", None)
    function, attributes = ACTIVATIONS[activation]
    return module.op(f"nn.{activation} {total}{attributes} : {tensor(exact)}", None), function(exact + bias)


def pad(module, value, image, low, high):
    exact = np.pad(image, [(0, 0), (low, high), (low, high), (0, 0)])
    zero = module.op("nn.splat 0.000000e+00 : f32 -> tensor<f32>", None)
    amounts = [f"affine_map<() -> (0, {amount}, {amount}, 0)>" for amount in (low, high)]
    text = f"nn.pad {value}, {zero} low {amounts[0]} high {amounts[1]} interior [0, 0, 0, 0] mode constant : {tensor(image)}, tensor<f32>"
    return module.op(text, tensor(exact)), exact


def add(module, shape, wide, size, stride, border, out, shares=False, activation="relu"):
    """Expansion, depthwise convolution and, when `out` is not 0, projection; with the input added when the shapes allow. `shares`: the expansion is a result, too."""
    image = module.array(*shape)
    value = source = module.input(image)
    value, exact = convolution(module, value, image.astype(np.float64), wide, 1, 1, 1, activation)
    if shares:
        module.expected.append((value, exact))
    if any(border):
        value, exact = pad(module, value, exact, *border)
    value, exact = convolution(module, value, exact, wide, size, stride, wide, activation)
    if out:
        value, exact = convolution(module, value, exact, out, 1, 1, 1, activation)
    if exact.shape == image.shape:
        value, exact = module.op(f"nn.add {value}, {source} : {tensor(exact)}", None), exact + image
    module.expected.append((value, exact))


def build():
    module = Module()
    add(module, (1, 62, 65, 9), 72, 3, 1, (1, 1), 9)
    add(module, (2, 61, 57, 8), 84, 5, 2, (1, 2), 40)
    add(module, (1, 70, 71, 5), 60, 3, 2, (0, 1), 0)
    add(module, (1, 60, 64, 16), 96, 3, 1, (0, 0), 20)
    # No chains: what lies between fits the cache; a window of too many taps; lines between the windows; an expansion that is needed by itself.
    add(module, (1, 20, 22, 8), 40, 3, 1, (1, 1), 8)
    add(module, (1, 60, 64, 9), 80, 7, 1, (3, 3), 9)
    add(module, (1, 62, 65, 9), 72, 2, 3, (0, 0), 9)
    add(module, (1, 60, 64, 9), 80, 3, 1, (1, 1), 9, shares=True)
    return module


if __name__ == "__main__":
    compare_on_threads(build(), "strips", pathlib.Path(sys.argv[1]), sys.argv[2:], 3)
