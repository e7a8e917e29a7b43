#!/usr/bin/env python3
"""Runs padded convolutions whose taps lie outside of the picture with `kiln run` and compares with numpy: outside_taps.py FOLDER TARGET..."""
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "lowering" / "Inputs"))
from contractions import Module, add_padded_convolution, compare_on_threads  # noqa: E402

#: Image, weight, strides, dilations, elements before and behind each dimension, groups.
CASES = [((1, 33, 33, 16), (8, 16, 3, 3), (1, 1), (36, 36), [(36, 36), (36, 36)], 1),
         ((2, 9, 17, 8), (20, 8, 3, 3), (1, 1), (12, 12), [(12, 12), (12, 12)], 1),  # lines alone
         ((1, 9, 9, 8), (8, 8, 5, 3), (2, 1), (5, 3), [(10, 10), (3, 3)], 1),  # two lines on either side
         ((1, 8, 8, 8), (4, 8, 3, 3), (1, 1), (7, 1), [(7, 0), (1, 1)], 1),  # fewer lines behind than before
         ((1, 9, 9, 16), (16, 1, 3, 3), (1, 1), (9, 9), [(9, 9), (9, 9)], 16),
         ((2, 20, 8), (4, 8, 3), (1,), (24,), [(24, 24)], 1)]


if __name__ == "__main__":
    module = Module()
    for case in CASES:
        add_padded_convolution(module, *case)
    compare_on_threads(module, "taps", pathlib.Path(sys.argv[1]), sys.argv[2:], 3)
