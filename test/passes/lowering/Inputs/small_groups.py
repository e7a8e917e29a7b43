#!/usr/bin/env python3
"""Runs convolutions of small groups of channels with `kiln run` and compares with numpy: small_groups.py FOLDER TARGET..."""
import pathlib
import sys

from contractions import Module, add_convolution, compare_on_threads

#: Image, channels of a group, window, strides, dilations.
CASES = [((2, 8, 21, 64), 4, (3, 3), (1, 1), (1, 1)),
         ((1, 9, 13, 36), 4, (3, 3), (1, 1), (1, 1)),  # a line left over, a group left over
         ((1, 9, 13, 44), 2, (3, 3), (2, 2), (1, 1)),
         ((1, 10, 11, 64), 8, (3, 3), (1, 1), (1, 1)),
         ((1, 12, 12, 24), 8, (5, 5), (1, 1), (1, 1)),  # too many taps for pairs of lines
         ((1, 12, 12, 32), 2, (3, 3), (1, 1), (2, 2)),
         ((1, 7, 9, 32), 4, (1, 1), (1, 1), (1, 1)),
         ((2, 40, 24), 4, (9,), (1,), (1,)),  # a line of the window in a loop
         ((1, 5, 6, 9, 16), 4, (2, 3, 3), (1, 1, 1), (1, 1, 1)),
         ((1, 6, 6, 30), 2, (3, 3), (1, 1), (1, 1))]  # pairs of channels alone at the end: tiles


if __name__ == "__main__":
    module = Module()
    for image, members, window, strides, dilations in CASES:
        add_convolution(module, image, (image[-1], members, *window), strides, dilations, image[-1] // members)
    compare_on_threads(module, "groups", pathlib.Path(sys.argv[1]), sys.argv[2:], 3)
