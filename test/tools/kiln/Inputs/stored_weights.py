#!/usr/bin/env python3
"""Weights stored in fewer bits, against numpy: stored_weights.py FOLDER TARGET..."""
import json
import pathlib
import sys

import numpy as np

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[3]))
from onnx_cases import Model, finish, kiln
from rounded_factors import convolve, to_bf16

random = np.random.default_rng(5)


def to_bytes(weight, axis):
    """One scale for each index of dimension `axis`."""
    others = tuple(i for i in range(weight.ndim) if i != axis)
    scale = np.max(np.abs(weight), others, keepdims=True) / np.float32(127)
    return np.rint(weight / np.where(scale > 0, scale, 1)).astype("f8") * scale


def to_blocks(weight, axis, block=32):
    rows = np.moveaxis(weight, axis, -1)
    blocks = rows.reshape(*rows.shape[:-1], -1, block)
    extreme = np.take_along_axis(blocks, np.argmax(np.abs(blocks), -1)[..., None], -1)
    scale = (extreme / np.float32(-8)).astype("f2").astype("f4")
    return np.moveaxis((np.clip(np.rint(blocks / scale), -8, 7).astype("f8") * scale).reshape(rows.shape), -1, axis)


class Weights:
    """What becomes of a weight: `channel` is the dimension with a scale for each index (None: none has), `sum` that of a product's sum in blocks."""

    def __init__(self, array, channel, sum_dim=None):
        self.array, self.channel, self.sum = array, channel, sum_dim

    def stored(self, kind):
        if kind == "int4" and self.sum is not None and self.array.shape[self.sum] % 32 == 0:
            return to_blocks(self.array, self.sum)
        if kind in ("int8", "int4"):
            return to_bytes(self.array, self.channel) if self.channel is not None else self.array
        return to_bf16(self.array) if kind == "bf16" else self.array.astype("f2") if kind == "f16" else self.array


def build(kind):
    """The model, whose outputs are those of the stored weights."""
    model = Model()
    normal = lambda *shape: random.standard_normal(shape).astype("f4")

    def add(label, op, x, weights, compute, is_first=False, dtype="f4", rows=None, **attributes):
        operands = [model.input(x, dtype, dims=rows and [rows, *x.shape[1:]]), model.weight(weights.array)]
        exact = compute(x.astype("f8") if dtype == "f4" else x, weights.stored(kind).astype("f8"))
        model.case(label, op, operands[::-1] if is_first else operands, exact, dims=rows and [rows, *exact.shape[1:]], **attributes)

    product = lambda x, w: x @ w
    for label, rows, depth, columns in (("product", 40, 96, 70), ("row", 1, 256, 300), ("uneven", 13, 50, 33), ("column", 9, 64, 1)):
        add(label, "MatMul", normal(rows, depth), Weights(normal(depth, columns), 1, 0), product)
    add("turned", "Gemm", normal(13, 96), Weights(normal(33, 96), 0, 1), lambda x, w: x @ w.T, transB=1)
    add("batch", "MatMul", normal(3, 7, 36), Weights(normal(36, 20), 1, 0), product)
    add("batches", "MatMul", normal(3, 20, 36), Weights(normal(3, 36, 20), None), product)
    for shape in ((16, 24, 1, 1, 0, 1, 9), (3, 18, 3, 2, 1, 1, 9), (16, 16, 3, 1, 1, 16, 9), (8, 12, 3, 1, 1, 2, 9), (32, 32, 3, 1, 1, 1, 28), (6, 8, 5, 1, 2, 1, 9)):
        channels, filters, kernel, stride, pad, groups, size = shape
        add(f"conv {channels} {filters} {kernel} {groups}", "Conv", normal(1, channels, size, size), Weights(normal(filters, channels // groups, kernel, kernel), 0),
            lambda x, w, stride=stride, pad=pad, groups=groups: convolve(x, w, stride, pad, groups), strides=[stride] * 2, pads=[pad] * 4, group=groups)
    table = Weights(normal(50, 24) * np.exp(normal(50, 1)), 0)
    add("embedding", "Gather", random.integers(-50, 50, (2, 7)), table, lambda i, t: t[i], is_first=True, dtype="i8", axis=0)
    add("columns", "Gather", random.integers(0, 24, 5), Weights(table.array, None), lambda i, t: t[:, i], is_first=True, dtype="i8", axis=1)
    # Rows that share what is widened, in several parts of the sum and tasks; some that only run time knows, fewer than a tile has and more.
    for label, rows, depth, columns in (("many", 250, 600, 33), ("few", 5, 300, 70), ("more", 222, 300, 70)):
        add(label, "MatMul", normal(rows, depth), Weights(normal(depth, columns), 1, 0), product, rows=None if label == "many" else label)
    return model


def main():
    folder, faults, right = pathlib.Path(sys.argv[1]), [], 0
    for kind in ("f16", "bf16", "int8", "int4", "f32"):
        model = build(kind)
        source = folder / f"weights_{kind}.onnx"
        model.save(source, 17)
        inputs = model.save_inputs(folder)
        for target in sys.argv[2:]:
            kiln("run", source, "--target", target, f"--weights-type={kind}", "--output-dir", folder, *inputs)
            wrong = model.compare(folder, {"f4": (2e-5, 1e-4)}, f" as {kind} on {target}")
            faults += wrong
            right += len(model.expected) - len(wrong)
        sizes = json.loads(kiln("inspect", source, f"--weights-type={kind}", "--json"))
        print(kind, sizes["weights_bytes"], *sizes["rounding"])
    finish(faults, right)


if __name__ == "__main__":
    main()
