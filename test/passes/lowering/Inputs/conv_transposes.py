#!/usr/bin/env python3
"""Runs transposed convolutions with `kiln run` and compares with numpy: conv_transposes.py FOLDER TARGET..."""
import pathlib
import sys

import numpy as np
from contractions import Module, compare_on_threads, tensor


def transposed(image, weight, strides, dilations, pads, extra, groups):
    """[N, C, x...] and [C, M / groups, k...], in double precision: each element of the image adds the kernel times itself."""
    spatial, inner, outer = len(strides), image.shape[1] // groups, weight.shape[1]
    sizes = [(size - 1) * s + (k - 1) * d + 1 + e for size, k, s, d, e in zip(image.shape[2:], weight.shape[2:], strides, dilations, extra)]
    result = np.zeros((image.shape[0], outer * groups, *sizes))
    for group in range(groups):
        channels = image[:, group * inner:(group + 1) * inner].astype(np.float64)
        for tap in np.ndindex(*weight.shape[2:]):
            window = tuple(slice(t * d, t * d + (size - 1) * s + 1, s) for t, d, size, s in zip(tap, dilations, image.shape[2:], strides))
            product = np.einsum("nc...,cm->nm...", channels, weight[(slice(group * inner, (group + 1) * inner), slice(None), *tap)])
            result[(slice(None), slice(group * outer, (group + 1) * outer), *window)] += product
    kept = tuple(slice(low, size - high) for size, low, high in zip(sizes, pads, pads[spatial:]))
    return result[(slice(None), slice(None), *kept)]


def add(module, image, weight, strides, pads=None, dilations=None, extra=None, groups=1, computed=False):
    spatial = len(strides)
    pads, dilations, extra = pads or [0] * 2 * spatial, dilations or [1] * spatial, extra or [0] * spatial
    image, weight = module.array(*image), module.array(*weight)
    exact = transposed(image, weight, strides, dilations, pads, extra, groups)
    attributes = f"strides {list(strides)} dilations {list(dilations)} pads {list(pads)} groups {groups} layout channels_first"
    filters = (module.input if computed else module.constant)(weight)
    value = module.op(f"nn.conv_transpose {module.input(image)}, {filters} {attributes} : {tensor(image)}, {tensor(weight)}", tensor(exact))
    module.expected.append((module.op(f"nn.relu {value} : {tensor(exact)}", None), np.maximum(exact, 0)))


def build():
    module = Module()
    add(module, (1, 8, 5, 6), (8, 12, 4, 4), (2, 2), [1, 1, 1, 1])  # all phases have as many elements of the kernel
    add(module, (2, 8, 5, 6), (8, 12, 3, 3), (2, 2), [1, 1, 1, 1], extra=[1, 1])  # the first phase has more
    add(module, (1, 5, 4, 7), (5, 3, 5, 5), (3, 3), [2, 0, 1, 3])  # two phases have more
    add(module, (1, 6, 6, 6), (6, 1, 9, 9), (3, 3), [4, 4, 4, 4])
    add(module, (1, 8, 4, 5), (8, 4, 2, 3), (2, 3))  # patches
    add(module, (1, 4, 3, 3), (4, 5, 16, 16), (8, 8), [4, 4, 4, 4])
    add(module, (1, 6, 5, 5), (6, 3, 4, 4), (2, 2), [1, 1, 1, 1], groups=2)
    add(module, (1, 16, 5, 5), (16, 1, 4, 4), (2, 2), [1, 1, 1, 1], groups=16)  # depthwise: a convolution for each phase
    add(module, (1, 16, 5, 5), (16, 1, 3, 3), (2, 2), [1, 1, 0, 0], groups=16)
    add(module, (1, 3, 3, 3), (3, 1, 16, 16), (8, 8), [4, 4, 4, 4], groups=3)  # too many phases for that
    add(module, (1, 4, 6, 5), (4, 3, 3, 4), (1, 2), [2, 1, 2, 1], dilations=[2, 1])  # only one dimension has phases
    add(module, (2, 4, 9), (4, 6, 8), (4,), [2, 2])
    add(module, (2, 4, 9), (4, 6, 7), (4,), [5, 0])  # more than a whole stride is cut off
    add(module, (1, 8, 33), (8, 1, 2), (2,), [2, 0], extra=[1], groups=8)  # as much is cut off on one side as there is more on the other
    add(module, (1, 4, 3, 4, 3), (4, 3, 3, 3, 3), (2, 2, 2), [1, 1, 1, 1, 1, 1])
    add(module, (1, 4, 5, 5), (4, 3, 2, 2), (3, 3))  # gaps between kernels: in one piece
    add(module, (1, 4, 5, 5), (4, 3, 3, 3), (2, 2), dilations=[2, 2])
    add(module, (1, 4, 5, 5), (4, 3, 3, 3), (1, 1))
    add(module, (1, 8, 5, 6), (8, 12, 3, 3), (2, 2), [1, 1, 1, 1], computed=True)
    add(module, (1, 16, 5, 5), (16, 1, 4, 4), (2, 2), [1, 1, 1, 1], groups=16, computed=True)
    return module


if __name__ == "__main__":
    compare_on_threads(build(), "transposes", pathlib.Path(sys.argv[1]), sys.argv[2:], 3)
