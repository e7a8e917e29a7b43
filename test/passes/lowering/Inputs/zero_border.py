#!/usr/bin/env python3
"""Runs convolutions whose taps lie in the zeros around the picture for some pixels with `kiln run` and compares with numpy: zero_border.py FOLDER TARGET..."""
import pathlib
import sys

from contractions import Module, add_padded_convolution, compare_on_threads

#: Image, weight, strides, dilations, elements before and after each dimension, groups.
CASES = [((1, 33, 33, 16), (40, 16, 3, 3), (1, 1), (12, 12), [(12, 12), (12, 12)], 1),
         ((2, 33, 33, 8), (20, 8, 3, 3), (1, 1), (24, 24), [(24, 24), (24, 24)], 1),
         ((1, 20, 31, 8), (32, 8, 3, 3), (2, 2), (6, 8), [(6, 6), (8, 8)], 1),
         ((1, 9, 7, 24), (32, 24, 5, 3), (1, 1), (3, 5), [(6, 6), (5, 5)], 1),  # lines share a tile
         ((1, 17, 20, 8), (24, 4, 3, 3), (1, 1), (9, 9), [(9, 9), (9, 9)], 2),
         ((1, 16, 40, 8), (20, 8, 3, 3), (1, 1), (10, 1), [(14, 3), (1, 1)], 1),  # results that see zeros alone, uneven padding
         ((1, 12, 16, 8), (20, 8, 3, 2), (1, 1), (5, 16), [(5, 5), (8, 8)], 1),  # the middle of the window falls beside the picture
         ((2, 50, 24), (32, 24, 3), (1,), (20,), [(20, 20)], 1),
         ((1, 6, 8, 20, 8), (20, 8, 3, 3, 3), (1, 1, 1), (4, 4, 7), [(4, 4), (4, 4), (7, 7)], 1)]


if __name__ == "__main__":
    module = Module()
    for case in CASES:
        add_padded_convolution(module, *case)
    compare_on_threads(module, "border", pathlib.Path(sys.argv[1]), sys.argv[2:], 3)
