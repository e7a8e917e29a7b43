#!/usr/bin/env python3
"""Products of quantized tensors are exact to the last bit, also where their sums leave what f32 counts: quantized_products.py FOLDER TARGET..."""
import pathlib
import sys

import numpy as np

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[3]))
from onnx_cases import Model, finish, kiln

random = np.random.default_rng(5)
LIMITS = {"u1": (0, 255), "i1": (-128, 127)}


def draw(dtype, *shape):
    """Mostly near the upper end, so that sums are large."""
    low, high = LIMITS[dtype]
    return np.where(random.random(shape) < 0.8, random.integers(high - 40, high + 1, shape), random.integers(low, high + 1, shape))


def requantize(total, left, right, scale, zero, dtype):
    factor = (np.float32(left) * np.float32(right)) / np.float32(scale)
    return np.clip(np.rint(total.astype("f4") * factor.astype("f4")) + zero, *LIMITS[dtype])


def add_matmul(model, rows, depth, columns, left_type, right_type, apart):
    """With `apart`, a scale for each row and column."""
    # Rows of all sizes, so that results are.
    a, b = np.rint(draw(left_type, rows, depth) * random.random((rows, 1))).astype("i8"), draw(right_type, depth, columns)
    a_zero, b_zero = (int(random.integers(*LIMITS[kind])) // 4 for kind in (left_type, right_type))
    total = (a - a_zero) @ (b - b_zero)
    a_scale, b_scale = (np.float32(random.uniform(0.01, 0.02, size)) for size in (rows if apart else None, columns if apart else None))
    scale, zero = np.float32(np.abs(total).max() * 0.02 * 0.02 / 200), 3
    exact = requantize(total, a_scale[:, None] if apart else a_scale, b_scale, scale, zero, left_type)
    operands = [model.input(a, left_type), model.weight(a_scale), model.weight(np.array(a_zero), left_type), model.weight(b, right_type),
                model.weight(b_scale), model.weight(np.array(b_zero), right_type), model.weight(scale), model.weight(np.array(zero), left_type)]
    model.case(f"QLinearMatMul {depth}", "QLinearMatMul", operands, exact, left_type)
    whole = [operands[0], operands[3], operands[2], operands[5]]
    model.case(f"MatMulInteger {depth}", "MatMulInteger", whole, total, "i4")


def add_conv(model, channels, filters, size):
    """3x3, padded with zero points; a weight scale and a bias for each filter."""
    x, w = draw("u1", 1, channels, size, size), draw("i1", filters, channels, 3, 3)
    zero, bias = 7, random.integers(-2**20, 2**20, filters)
    padded = np.pad(x - zero, ((0, 0), (0, 0), (1, 1), (1, 1)))
    windows = np.lib.stride_tricks.sliding_window_view(padded, (3, 3), (2, 3))
    total = np.einsum("nchwij,fcij->nfhw", windows, w)
    x_scale, w_scale = np.float32(0.02), random.uniform(0.001, 0.002, filters).astype("f4")
    scale = np.float32(np.abs(total).max() * 0.02 * 0.002 / 200)
    exact = requantize(total + bias[:, None, None], x_scale, w_scale[:, None, None], scale, 5, "u1")
    operands = [model.input(x, "u1"), model.weight(x_scale), model.weight(np.array(zero), "u1"), model.weight(w, "i1"), model.weight(w_scale),
                model.weight(np.array(0), "i1"), model.weight(scale), model.weight(np.array(5), "u1"), model.weight(bias, "i4")]
    model.case(f"QLinearConv {channels}", "QLinearConv", operands, exact, "u1", pads=[1, 1, 1, 1])
    model.case(f"ConvInteger {channels}", "ConvInteger", [operands[0], operands[3], operands[2]], total, "i4", pads=[1, 1, 1, 1])


def main():
    folder, faults = pathlib.Path(sys.argv[1]), []
    model = Model()
    for depth, apart in ((16, False), (258, True), (259, False), (1500, True), (4100, False)):
        add_matmul(model, 5, depth, 33, "u1", "i1" if apart else "u1", apart)
        add_matmul(model, 1, depth, 7, "i1", "i1", False)
    add_conv(model, 3, 8, 9)
    add_conv(model, 128, 6, 8)
    model.save(folder / "products.onnx", 21)
    for target in sys.argv[2:]:
        kiln("run", folder / "products.onnx", "--target", target, "--output-dir", folder / target, *model.save_inputs(folder))
        faults += model.compare(folder / target, {}, f", {target}")
    finish(faults, len(model.expected) * len(sys.argv[2:]))


if __name__ == "__main__":
    main()
