#!/usr/bin/env python3
"""Runs products with constants, which go by parts of the depth, on one and on two threads, and compares with numpy: products_in_parts.py FOLDER TARGET..."""
import pathlib
import sys

import numpy as np
from contractions import Module, compare_on_threads, tensor

# Rows, depth, columns: whole tiles and panels, rests of each, parts of unequal length, more blocks of rows than a task has.
SIZES = [(24, 32, 16), (25, 33, 17), (31, 48, 40), (44, 61, 50), (250, 40, 9), (491, 29, 33)]


def add_product(module, name, left, right):
    """The product of an operand of that name, which has the values `left`, with a constant."""
    exact = left.astype(np.float64) @ right
    module.finish(module.op(f"nn.matmul {name}, {module.constant(right)} : {tensor(left)}, {tensor(right)}", tensor(exact)), exact)


def build():
    module = Module()
    for rows, depth, columns in SIZES:
        left = module.array(rows, depth)
        add_product(module, module.input(left), left, module.array(depth, columns))
    # A constant for each batch, and rows that are read across.
    left = module.array(3, 26, 37)
    add_product(module, module.input(left), left, module.array(3, 37, 21))
    source = module.array(35, 28)
    turned = module.op(f"nn.transpose {module.input(source)} [1, 0] : {tensor(source)}", tensor(source.T))
    add_product(module, turned, source.T, module.array(35, 19))
    return module


if __name__ == "__main__":
    compare_on_threads(build(), "parts", pathlib.Path(sys.argv[1]), sys.argv[2:], 2)
