#!/usr/bin/env python3
"""Runs Winograd's convolution in both forms and sizes with `kiln run` and compares with numpy: winograd.py FOLDER TARGET..."""
import pathlib
import sys

import numpy as np
from contractions import Module, compare_on_threads, convolve, tensor


def add(module, image, out, tile, width=None, long=False):
    """`width`: columns of a panel of transformed filters; None when the kernel transforms them. `long`: many channels of positive numbers.
    Their products cancel in the inverse transform, so that chains of 256 of them, such as plain products have, would be off by more than is allowed."""
    image = module.positive(*image) if long else module.array(*image)
    if long:
        module.long_sums[len(module.expected)] = {2: 2.6e-8, 4: 4.5e-8}[tile]
    weight = module.array(out, image.shape[3], 3, 3) / np.float32(np.sqrt(9 * image.shape[3]))
    exact = convolve(image, weight, (1, 1), (1, 1), 1)
    module.finish(module.op(*call(module, module.input(image), image, module.constant(weight), weight, tile, width, exact)), exact)


def call(module, x, image, w, weight, tile, width, exact):
    """The operation, with the filters transformed before it if `width` says in which panels, and its type."""
    operands, types = f"{x}, {w}", f"{tensor(image)}, {tensor(weight)}"
    if width:
        packed = f"tensor<{(tile + 2) ** 2}x{-(-len(weight) // width)}x{image.shape[3] + 1}x{width}xf32>"
        filters = module.op(f"nn.winograd_filter {w} tile {tile} : {tensor(weight)}", packed)
        operands, types = f"{operands} transformed {filters}", f"{types}, {packed}"
    return f"nn.winograd_conv {operands} tile {tile} : {types}", tensor(exact)


def build():
    module = Module()
    for tile in (2, 4):
        add(module, (1, 30, 30, 32), 40, tile, 32)  # several blocks of tiles, the last panel narrow
        add(module, (2, 9, 12, 16), 64, tile, 32)  # tiles beyond the last line and pixel
        add(module, (1, 5, 6, 37), 33, tile, 32)  # fewer tiles than a register tile has rows; channels that are no whole vectors
        add(module, (1, 16, 16, 64), 32, tile)  # one panel, or several
        add(module, (2, 9, 10, 16), 83, tile)  # a narrow last panel
        add(module, (1, 9, 9, 288), 70, tile)  # several parts of the input channels
        add(module, (1, 10, 10, 1024), 40, tile, 32, long=True)
        add(module, (1, 10, 10, 1024), 40, tile, long=True)
    return module


if __name__ == "__main__":
    compare_on_threads(build(), "winograd", pathlib.Path(sys.argv[1]), sys.argv[2:], 2)
