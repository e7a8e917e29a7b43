#!/usr/bin/env python3
"""Quantised products and convolutions of all kinds are exact and never in plain loops: quantized_table.py FOLDER TARGET...

The table has the types of both sides, zero points of weights (none, in the middle of the range, another one, one for each column, computed ones), activations
that are static, quantised in the run or between QuantizeLinear and DequantizeLinear, constant and computed weights, transposed ones, batches, windows of one to
three dimensions, groups and depthwise ones. What a case does not vary takes turns.
"""
import itertools
import pathlib
import re
import sys

import numpy as np
from onnx import helper

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[3]))
from onnx_cases import Model, run_on_targets

random = np.random.default_rng(29)
LIMITS = {"u1": (0, 255), "i1": (-128, 127)}
TYPES = list(itertools.product(LIMITS, LIMITS))
ZEROS = ("none", "middle", "odd", "columns", "computed", "computed columns")
f32 = np.float32


def convolve(values, taps, strides, dilations, pads, group):
    """Of integers, in any number of dimensions, whose borders are zeros."""
    spatial, inside = values.ndim - 2, values.shape[1] // group
    padded = np.pad(values, ((0, 0), (0, 0), *zip(pads[:spatial], pads[spatial:])))
    reach = [(size - 1) * dilation + 1 for size, dilation in zip(taps.shape[2:], dilations)]
    windows = np.lib.stride_tricks.sliding_window_view(padded, reach, tuple(range(2, 2 + spatial)))
    windows = windows[(slice(None), slice(None), *(slice(None, None, s) for s in strides), *(slice(None, None, d) for d in dilations))]
    places, window = "xyz"[:spatial], "ijk"[:spatial]
    return np.concatenate([np.einsum(f"nc{places}{window},fc{window}->nf{places}", windows[:, g * inside:(g + 1) * inside], part, optimize=True)
                           for g, part in enumerate(np.split(taps, group))], 1)


def quantise_dynamically(x):
    """As DynamicQuantizeLinear does: (bytes, scale, zero point)."""
    most, least = f32(max(x.max(), 0)), f32(min(x.min(), 0))
    scale = f32((most - least) / f32(255))
    zero = np.clip(np.rint(-least / scale), 0, 255)
    return np.clip(np.rint(x / scale) + zero, 0, 255).astype("i8"), scale, int(zero)


class Table:
    def __init__(self):
        self.model = Model()

    def node(self, op, inputs, results=1, **attributes):
        names = [f"n{len(self.model.nodes)}_{i}" for i in range(results)]
        self.model.nodes.append(helper.make_node(op, inputs, names, names[0], **attributes))
        return names if results > 1 else names[0]

    def number(self, value, kind):
        return self.model.weight(np.array(value), kind)

    def zero_point(self, kind, zeros, columns):
        """(name or "", numbers for each column)"""
        low, high = LIMITS[kind]
        if zeros == "none":
            return "", np.zeros(columns, "i8")
        if zeros == "middle":
            return self.number((low + high + 1) // 2, kind), np.full(columns, (low + high + 1) // 2)
        give = self.model.input if zeros.startswith("computed") else self.model.weight
        numbers = random.integers(low, high, columns if zeros.endswith("columns") else (), endpoint=True) if zeros != "odd" else np.array(low + 117)
        return give(numbers, kind), np.broadcast_to(numbers, columns)

    def weights(self, kind, shape, is_constant):
        """The whole range, in every column."""
        values = random.integers(*LIMITS[kind], shape, endpoint=True)
        return (self.model.weight if is_constant else self.model.input)(values, kind), values

    def left(self, form, kind, shape):
        """(name of the bytes, of their scale or "", of the zero point or "", bytes without the zero point, scale)"""
        if form == "dynamic":
            x = random.standard_normal(shape).astype("f4")
            values, scale, zero = quantise_dynamically(x)
            return *self.node("DynamicQuantizeLinear", [self.model.input(x)], 3), values - zero, scale
        values = random.integers(*LIMITS[kind], shape, endpoint=True)
        zero = 0 if form == "zero" else int(random.integers(*LIMITS[kind], endpoint=True))
        name = "" if form == "zero" else self.model.input(np.array(zero), kind) if form == "computed" else self.number(zero, kind)
        return self.model.input(values, kind), self.model.weight(np.array(f32(0.0137))), name, values - zero, f32(0.0137)

    def finish(self, label, op, left, weight, sums, kinds, axis, **attributes):
        """A case of `op`; `sums` are exact, with the columns along dimension `axis`."""
        x, x_scale, x_zero, _, scale = left
        w, w_zero, columns = weight
        if op in ("MatMulInteger", "ConvInteger"):
            self.model.case(label, op, [x, w, x_zero, w_zero], sums, "i4", **attributes)
            return
        kind = "u1" if op.startswith("Q") and kinds[0] == "u1" else kinds[0]
        shape = [1] * sums.ndim
        shape[axis] = -1
        scales = (f32(2.0) ** random.integers(-9, -6, columns)).astype("f4")
        factor = (scale * scales).astype("f4").reshape(shape)
        result, zero = f32(np.abs(sums * factor).max() / 110), 119 if kind == "u1" else 5
        expected = np.clip(np.rint(sums.astype("f4") * (factor / result)) + zero, *LIMITS[kind])
        x_zero, w_zero = (name or self.number(0, k) for name, k in ((x_zero, kinds[0]), (w_zero, kinds[1])))
        s, r, z = self.model.weight(scales), self.model.weight(np.array(result)), self.number(zero, kind)
        if op.startswith("QLinear"):
            self.model.case(label, op, [x, x_scale, x_zero, w, s, w_zero, r, z], expected, kind, **attributes)
            return
        wide = w_zero if self.shape_of(w_zero) else self.node("Expand", [w_zero, self.number([columns], "i8")])
        real = self.node("DequantizeLinear", [w, s, wide], axis=0 if op == "Conv" or attributes.get("transB") else self.rank_of(w) - 1)
        product = self.node(op, [self.node("DequantizeLinear", [x, x_scale, x_zero]), real], **attributes)
        self.model.case(label, "QuantizeLinear", [product, r, z], expected, kind)

    def shape_of(self, name):
        of_inputs = {name: array.shape for name, array in self.model.arrays.items()}
        return of_inputs[name] if name in of_inputs else next(tuple(w.dims) for w in self.model.weights if w.name == name)

    def rank_of(self, name):
        return len(self.shape_of(name))

    def product(self, op, form, kinds, zeros, rows, depth, columns, is_constant=True, batch=(), shared=True):
        left = self.left(form, kinds[0], (*batch, rows, depth))
        is_turned = op == "Gemm"
        shape = (columns, depth) if is_turned else (depth, columns) if shared else (*batch, depth, columns)
        w, values = self.weights(kinds[1], shape, is_constant)
        w_zero, numbers = self.zero_point(kinds[1], zeros, columns)
        sums = left[3] @ ((values.T if is_turned else values) - numbers)
        label = f"{op} {form} {' '.join(kinds)} {zeros}"
        self.finish(label, op, left, (w, w_zero, columns), sums, kinds, sums.ndim - 1, **({"transB": 1} if is_turned else {}))

    def conv(self, op, form, kinds, zeros, channels, filters, kernel, size, group=1, stride=1, dilation=1, pads=None, is_constant=True, batch=1):
        spatial = len(kernel)
        left = self.left(form, kinds[0], (batch, channels, *size))
        w, values = self.weights(kinds[1], (filters, channels // group, *kernel), is_constant)
        w_zero, numbers = self.zero_point(kinds[1], zeros, filters)
        strides, dilations, pads = [stride] * spatial, [dilation] * spatial, pads or [side // 2 * dilation for side in kernel] * 2
        sums = convolve(left[3], values - numbers.reshape(-1, *[1] * (spatial + 1)), strides, dilations, pads, group)
        label = f"{op} {form} {' '.join(kinds)} {zeros} {group} {spatial}"
        self.finish(label, op, left, (w, w_zero, filters), sums, kinds, 1, strides=strides, dilations=dilations, pads=pads, group=group)


CONVOLUTIONS = [
    dict(channels=8, filters=20, kernel=(3, 3), size=(9, 10)),
    dict(channels=33, filters=17, kernel=(3, 3), size=(7, 8), stride=2, pads=[0, 1, 1, 0]),
    dict(channels=3, filters=16, kernel=(7, 7), size=(14, 13), stride=2, batch=2),
    dict(channels=40, filters=24, kernel=(1, 1), size=(5, 6), stride=2),
    dict(channels=16, filters=12, kernel=(3, 2), size=(8, 8), dilation=2),
    dict(channels=16, filters=16, kernel=(3, 3), size=(6, 7), group=2),
    dict(channels=6, filters=9, kernel=(3, 3), size=(6, 7), group=3),
    dict(channels=24, filters=24, kernel=(3, 3), size=(9, 9), group=24),
    dict(channels=16, filters=32, kernel=(5, 5), size=(9, 9), group=16, stride=2),
    dict(channels=12, filters=10, kernel=(5,), size=(21,)),
    dict(channels=18, filters=18, kernel=(9,), size=(30,), group=18),
    dict(channels=5, filters=8, kernel=(3, 3, 3), size=(5, 6, 5)),
    dict(channels=10, filters=10, kernel=(3, 3, 3), size=(5, 6, 5), group=10),
]
PRODUCTS = [
    dict(rows=9, depth=36, columns=50),
    dict(rows=1, depth=37, columns=33),
    dict(rows=6, depth=300, columns=16, batch=(2, 3)),
    dict(rows=7, depth=40, columns=20, batch=(3,), shared=False),
]


def fill(table):
    """Each shape with half of the kinds of zero points, which alternate; the rest takes turns, at lengths that have no common divisor with that."""
    types, forms = itertools.cycle([*TYPES, TYPES[0]]), itertools.cycle(("static", "zero", "static", "computed", "dynamic", "static", "computed"))

    def turn(operators):
        op, form, kinds = next(operators), next(forms), next(types)
        if op in ("Conv", "Gemm", "MatMul"):
            form = "static"
        if form == "dynamic":
            op, kinds = ("ConvInteger" if "Conv" in op else "MatMulInteger"), ("u1", kinds[1])
        return op, form, kinds

    convolutions = itertools.cycle(("QLinearConv", "ConvInteger", "QLinearConv", "Conv"))
    for at, shape in enumerate(CONVOLUTIONS):
        for zeros in ZEROS[at % 2::2]:
            table.conv(*turn(convolutions), zeros, **shape)
    products = itertools.cycle(("QLinearMatMul", "MatMulInteger", "Gemm", "MatMulInteger", "MatMul"))
    for shape, zeros in itertools.product(PRODUCTS, ZEROS):
        op, form, kinds = turn(products)
        op = "MatMul" if op == "Gemm" and shape.get("batch") else op
        table.product(op, form, kinds, zeros, **shape)
    for shape, zeros in itertools.product(PRODUCTS, ZEROS[::2]):
        table.product(*turn(itertools.cycle(("MatMulInteger",))), zeros, is_constant=False, **shape)
    for at, zeros in ((0, "none"), (1, "odd"), (4, "columns"), (5, "odd"), (7, "columns"), (9, "computed"), (11, "middle")):
        table.conv("ConvInteger", "static", next(types), zeros, is_constant=False, **CONVOLUTIONS[at])
    table.conv("ConvInteger", "computed", TYPES[0], "odd", 64, 20, (3, 3), (6, 7), group=2, is_constant=False)


def list_plain_loops(kernels):
    found = re.findall(r'kernel = "((?:matmul|conv)_loops)"', kernels)
    return [f"{len(found)} kernels are plain loops"] if found else []


def main():
    table = Table()
    fill(table)
    run_on_targets(sys.argv[1], sys.argv[2:], {"table": (table.model, 13)}, {}, list_plain_loops)


if __name__ == "__main__":
    main()
