#!/usr/bin/env python3
"""Runs depthwise convolutions with `kiln run` and compares with numpy: depthwise.py FOLDER TARGET..."""
import pathlib
import sys

import numpy as np
from contractions import Module, compare_on_threads, convolve, tensor


def add(module, shape, size, strides, dilations, after=None):
    """Convolution of each channel of a channels_last image by itself; `after` it nothing, `swish`, or `swish` and the `sum` with another image."""
    image, channels = module.array(*shape), shape[-1]
    weight = module.array(channels, 1, *size) / np.float32(np.sqrt(np.prod(size)))
    exact = convolve(image, weight, strides, dilations, channels)
    attributes = f"strides {list(strides)} dilations {list(dilations)} pads {[0] * (2 * len(size))} groups {channels} layout channels_last"
    value = module.op(f"nn.conv {module.input(image)}, {module.constant(weight)} {attributes} : {tensor(image)}, {tensor(weight)}", tensor(exact))
    if not after:
        return module.finish(value, exact)
    value, exact = module.op(f"nn.swish {value} {{alpha = 1.0}} : {tensor(exact)}", None), exact / (1 + np.exp(-exact))
    if after == "sum":
        other = module.array(*exact.shape)
        value, exact = module.op(f"nn.add {value}, {module.input(other)} : {tensor(exact)}", None), exact + other
    module.expected.append((value, exact))


def build():
    module = Module()
    add(module, (2, 8, 21, 32), (3, 3), (1, 1), (1, 1))  # pairs of lines
    add(module, (2, 9, 13, 36), (3, 3), (1, 1), (1, 1), "swish")  # a line left over, channels left over
    add(module, (1, 19, 18, 19), (5, 5), (2, 2), (1, 1), "swish")
    add(module, (1, 15, 40, 48), (7, 7), (1, 1), (1, 1), "sum")
    add(module, (1, 12, 12, 16), (3, 3), (2, 1), (2, 1))  # the lines of two pixels share an input line although the window is spread
    add(module, (1, 12, 12, 16), (3, 3), (1, 1), (2, 2), "swish")
    add(module, (1, 11, 11, 16), (3, 3), (3, 3), (1, 1))  # no line in common
    add(module, (1, 11, 11, 16), (2, 3), (3, 1), (2, 1))
    add(module, (1, 20, 12, 24), (9, 3), (1, 1), (1, 1))  # 27 taps
    add(module, (1, 20, 12, 24), (9, 9), (1, 1), (1, 1))  # too many for pairs
    add(module, (2, 3, 5), (3,), (1,), (1,))
    add(module, (2, 100, 40), (5,), (2,), (3,), "swish")
    add(module, (1, 5, 7, 9, 17), (3, 3, 3), (1, 1, 1), (1, 1, 1), "swish")
    add(module, (2, 6, 8, 9, 20), (2, 3, 5), (2, 2, 1), (1, 1, 1))
    add(module, (1, 4, 60, 480), (3, 3), (1, 1), (1, 1), "swish")  # few lines and many channels, which are split
    add(module, (1, 5, 60, 480), (3, 3), (1, 1), (1, 1))
    return module


if __name__ == "__main__":
    compare_on_threads(build(), "depthwise", pathlib.Path(sys.argv[1]), sys.argv[2:], 3)
