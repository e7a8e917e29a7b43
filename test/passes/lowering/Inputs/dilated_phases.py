#!/usr/bin/env python3
"""Runs dilated convolutions that are computed by phases with `kiln run` and compares with numpy: dilated_phases.py FOLDER TARGET..."""
import pathlib
import sys

from contractions import Module, add_padded_convolution, compare_on_threads

#: Image, weight, strides, dilations, elements before and after each dimension, groups.
CASES = [((1, 28, 28, 64), (64, 64, 3, 3), (1, 1), (2, 2), [(2, 2), (2, 2)], 1),  # whole phases
         ((2, 27, 30, 32), (64, 32, 3, 3), (1, 1), (2, 3), [(2, 2), (3, 3)], 1),  # other phases along either side, lines and pixels that are cut off
         ((1, 20, 20, 64), (64, 64, 3, 3), (1, 1), (4, 4), [(4, 4), (4, 4)], 1),  # tiles of F(2x2) that reach into the border
         ((1, 31, 33, 32), (64, 32, 3, 3), (1, 1), (1, 2), [(3, 0), (0, 1)], 1)]  # uneven padding


if __name__ == "__main__":
    module = Module()
    for case in CASES:
        add_padded_convolution(module, *case)
    compare_on_threads(module, "phases", pathlib.Path(sys.argv[1]), sys.argv[2:], 3)
