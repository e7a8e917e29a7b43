#!/usr/bin/env python3
"""Runs convolutions whose filters are inputs, or are computed from them, with `kiln run` and compares with numpy: computed_filters.py FOLDER TARGET..."""
import pathlib
import sys

import numpy as np
from contractions import Module, compare_on_threads, convolve, tensor


def add(module, image, weight, strides, dilations, groups, scaled=False):
    """A channels_last convolution; `scaled`: each filter is multiplied by a number of its own first, as in StyleGAN2."""
    image, weight = module.array(*image), module.array(*weight)
    filters, used = module.input(weight), weight
    if scaled:
        factors = module.array(weight.shape[0], *[1] * (weight.ndim - 1))
        spread = module.op(f"nn.broadcast_to {module.input(factors)} : {tensor(factors)}", tensor(weight))
        filters, used = module.op(f"nn.mul {filters}, {spread} : {tensor(weight)}", None), weight * factors
    exact = convolve(image, used, strides, dilations, groups)
    attributes = f"strides {list(strides)} dilations {list(dilations)} pads {[0] * (2 * len(strides))} groups {groups} layout channels_last"
    module.finish(module.op(f"nn.conv {module.input(image)}, {filters} {attributes} : {tensor(image)}, {tensor(weight)}", tensor(exact)), exact)


def build():
    module = Module()
    add(module, (1, 9, 9, 5), (33, 5, 3, 3), (1, 1), (1, 1), 1)  # lines of the image share a tile, and columns fill no vector
    add(module, (2, 7, 7, 40), (64, 40, 1, 1), (1, 1), (1, 1), 1)  # a plain product
    add(module, (1, 20, 20, 3), (20, 3, 7, 7), (2, 2), (1, 1), 1)
    add(module, (1, 11, 30, 8), (17, 8, 3, 3), (2, 1), (1, 2), 1, scaled=True)
    add(module, (1, 9, 9, 24), (36, 6, 3, 3), (1, 1), (1, 1), 4)
    add(module, (1, 9, 9, 24), (72, 12, 3, 3), (1, 1), (1, 1), 2, scaled=True)
    add(module, (2, 30, 6), (20, 6, 3), (2,), (1,), 1)
    add(module, (1, 6, 7, 8, 4), (18, 4, 3, 2, 3), (1, 1, 1), (1, 1, 1), 1)
    add(module, (1, 13, 13, 36), (36, 1, 3, 3), (1, 1), (1, 1), 36)  # depthwise, as templates that are looked for in an image
    add(module, (2, 19, 18, 19), (19, 1, 5, 5), (2, 2), (1, 1), 19, scaled=True)
    add(module, (1, 30, 6), (6, 1, 11), (1,), (1,), 6)
    add(module, (1, 9, 9, 6), (12, 1, 3, 3), (1, 1), (1, 1), 6)  # two results for each channel
    return module


if __name__ == "__main__":
    compare_on_threads(build(), "filters", pathlib.Path(sys.argv[1]), sys.argv[2:], 3)
