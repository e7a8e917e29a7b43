#!/usr/bin/env python3
"""Runs products and convolutions by steps of several rows, in the form that any CPU computes and, where this one has AMX, by its instructions, and compares with
numpy: steps_of_tiles.py FOLDER

Bytes are of all sizes. Elements of bf16 are whole numbers up to 8, so that sums are exact in f32 in any order. Writes tiles.why, the reasons of the kernels.
"""
import json
import pathlib
import sys

import numpy as np
from steps_of_bf16 import add_convolution, add_product
from widths import Module, convolve, run, tensor

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[3]))
import kiln_calls  # noqa: E402
import machine  # noqa: E402


def spread(module, words, kind, shape):
    return module.op(f"nn.broadcast_to {module.constant(words, kind)} : {tensor(words.shape, kind)} -> {tensor(shape, kind)}")


def store_sums(module, sums, exact, what):
    """The sums themselves, and as quantised bytes behind a factor for each column and a relu."""
    module.exactly(sums, exact.astype("i4"), "i32", what)
    if exact.ndim != 2:
        return
    factor = (2.0 ** -module.random.integers(8, 12, exact.shape[-1])).astype("f4")
    real = module.op(f"nn.cast {sums} : {tensor(exact.shape, 'i32')} -> {tensor(exact.shape, 'f32')}")
    scaled = module.op(f"nn.mul {real}, {spread(module, factor, 'f32', exact.shape)} : {tensor(exact.shape, 'f32')}")
    scaled = module.op(f"nn.relu {scaled} : {tensor(exact.shape, 'f32')}")
    ones, zeros = (module.op(f"nn.splat {value} : {kind} -> {tensor(exact.shape, kind)}") for value, kind in (("1.0", "f32"), ("3", "ui8")))
    bytes_ = module.op(f"nn.quantize {scaled}, {ones}, {zeros} : {tensor(exact.shape, 'f32')}, {tensor(exact.shape, 'f32')} -> {tensor(exact.shape, 'ui8')}")
    expected = np.clip(np.rint(np.maximum(exact.astype("f4") * factor, 0)) + 3, 0, 255).astype("u1")
    module.exactly(bytes_, expected, "ui8", what + " as bytes")


def add_byte_product(module, rows, depth, columns, batch=()):
    x, w = module.numbers("ui8", *batch, rows, depth), module.numbers("i8", depth, columns)
    if depth == 64:  # the largest sums
        x[:], w[:] = 255, np.where(np.arange(columns) % 2, -128, 127)
    exact = x.astype("i8") @ w.astype("i8")
    sums = module.op(f"nn.matmul {module.input(x, 'ui8')}, {module.constant(w, 'i8')} : {tensor(x.shape, 'ui8')}, {tensor(w.shape, 'i8')} -> {tensor(exact.shape, 'i32')}")
    store_sums(module, sums, exact, f"product of {exact.shape} and depth {depth}")


def add_offset_product(module, rows, depth, columns):
    """The zero point is known at run time only: it takes a number from each column."""
    x, w, zero = module.numbers("ui8", rows, depth), module.numbers("i8", depth, columns), np.array(77, "u1")
    exact = (x.astype("i8") - zero) @ w.astype("i8")
    zeros = module.op(f"nn.broadcast_to {module.input(zero, 'ui8')} : {tensor((), 'ui8')} -> {tensor(x.shape, 'ui8')}")
    none = module.op(f"nn.splat 0 : i8 -> {tensor(w.shape, 'i8')}")
    sums = module.op(f"nn.quantized_matmul {module.input(x, 'ui8')}, {module.constant(w, 'i8')} zero_points {zeros}, {none} : {tensor(x.shape, 'ui8')}, "
                     f"{tensor(w.shape, 'i8')} -> {tensor(exact.shape, 'i32')}")
    store_sums(module, sums, exact, f"product of {exact.shape} and depth {depth} with a zero point")


def add_byte_convolution(module, channels, size, filters, kernel, stride, pad, dilation=1, groups=1):
    x, w = module.numbers("ui8", 1, channels, *size), module.numbers("i8", filters, channels // groups, kernel, kernel)
    wide = np.zeros((*w.shape[:2], *(dilation * (kernel - 1) + 1,) * 2))
    wide[:, :, ::dilation, ::dilation] = w
    exact = convolve(x, wide, stride, pad, groups)
    sums = module.op(f"nn.conv {module.input(x, 'ui8')}, {module.constant(w, 'i8')} strides [{stride}, {stride}] dilations [{dilation}, {dilation}] "
                     f"pads [{pad}, {pad}, {pad}, {pad}] groups {groups} layout channels_first : {tensor(x.shape, 'ui8')}, {tensor(w.shape, 'i8')} -> {tensor(exact.shape, 'i32')}")
    store_sums(module, sums, exact, f"convolution {channels, size, filters, kernel, stride, pad, dilation, groups}")


def main():
    folder, targets = pathlib.Path(sys.argv[1]), {"tiles": "x86-64-v3"}
    if "tile_u8s8" in machine.describe_targets("kiln")["native"]["steps"]:
        targets["amx"] = "native"
    module = Module()
    # Whole and partial tiles of rows and columns; long sums, those that are no multiple of 64, and some that no step fits.
    for rows, depth, columns in ((32, 64, 32), (33, 128, 40), (5, 256, 17), (100, 48, 70), (17, 192, 16), (64, 72, 3), (49, 320, 129), (40, 1216, 50), (8, 60, 33), (1, 64, 64), (50, 268, 20),
                                 (31, 66, 20)):
        add_byte_product(module, rows, depth, columns)
    add_byte_product(module, 7, 64, 20, batch=(3,))
    add_offset_product(module, 45, 96, 37)
    # Results of a panel are computed while the next one is summed: whole and partial tiles, one tile, a last panel that is narrow, fewer steps than rows and more.
    for rows, depth, columns in ((45, 576, 160), (16, 1088, 128), (23, 512, 140), (64, 768, 128)):
        add_byte_product(module, rows, depth, columns)
    add_offset_product(module, 37, 576, 133)
    add_byte_convolution(module, 64, (7, 7), 136, 3, 1, 1)
    for rows, depth, columns in ((40, 512, 130), (20, 288, 128)):
        add_product(module, rows, depth, columns)
    # Taps lie side by side, but what is multiplied together would be of two of them.
    add_byte_convolution(module, 6, (12, 12), 20, 4, 1, 0)
    for shape in ((7, 12, 20, 2, 1, 0), (3, 14, 24, 4, 1, 1)):
        add_convolution(module, *shape)
    # Lines that fill a tile, several of which fill one, and longer ones; taps that lie side by side; dilation, stride, groups.
    for shape in ((64, (7, 7), 40, 3, 1, 1), (32, (14, 14), 33, 3, 1, 1), (16, (9, 28), 20, 3, 1, 1), (64, (5, 56), 16, 1, 1, 0), (4, (32, 32), 24, 7, 2, 3), (20, (11, 12), 17, 5, 2, 2),
                  (32, (13, 13), 48, 3, 1, 2, 2), (64, (10, 10), 64, 3, 1, 1, 1, 2), (96, (9, 9), 24, 1, 2, 0), (8, (12, 40), 12, 3, 1, 0)):
        add_byte_convolution(module, *shape)
    for rows, depth, columns in ((32, 32, 32), (33, 128, 40), (13, 130, 33), (40, 768, 70), (100, 48, 5)):
        add_product(module, rows, depth, columns)
    add_product(module, 9, 15, 40)
    for shape in ((64, 7, 40, 3, 1, 1), (16, 9, 24, 1, 1, 0), (32, 14, 20, 3, 2, 1), (4, 32, 17, 5, 1, 2)):
        add_convolution(module, *shape)
    source = folder / "steps.mlir"
    source.write_text(module.text())
    bytes_ = {"lhs": "u8", "rhs": "i8", "sum": "i32", "shape": [16, 16, 64], "function": "tile_u8s8"}
    halves = {"lhs": "bf16", "rhs": "bf16", "sum": "f32", "shape": [16, 16, 32], "function": "tile_bf16"}
    for name, base in targets.items():
        file = folder / f"{name}.json"
        file.write_text(json.dumps({"name": name, "base": base, "steps": [bytes_, halves]}))
        if wrong := run(module, source, file, folder):
            sys.exit(f"on {name} {len(wrong)} of {len(module.outputs)} differ: {', '.join(wrong)}")
        why = kiln_calls.run(source, "--target", file, "--why", "--emit=cpp", "-o", folder / name)
        (folder / f"{name}.why").write_text(why.stdout + why.stderr)
    print(f"{len(module.outputs)} cases right")


if __name__ == "__main__":
    main()
