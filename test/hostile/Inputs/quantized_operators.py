#!/usr/bin/env python3
"""Operators with scales of 0, below 0, infinite, NaN and subnormal compute what the arithmetic of their text does: quantized_operators.py FOLDER

QLinearMatMul, QLinearConv, pairs of QuantizeLinear and DequantizeLinear beside element-wise operations, blocks of DequantizeLinear, MatMulNBits,
GatherBlockQuantized, and DynamicQuantizeLinear of such data, on every target, whole and decomposed. NaN becomes the least integer, as in quantized_scales.py.
"""
import itertools
import pathlib
import sys

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper
from quantized_scales import SCALES, run

random = np.random.default_rng(23)
f32 = np.float32
KINDS = {"u1": TensorProto.UINT8, "i1": TensorProto.INT8, "f4": TensorProto.FLOAT, "i8": TensorProto.INT64}


class Model:
    def __init__(self):
        self.nodes, self.inputs, self.outputs, self.weights, self.arrays, self.expected, self.what = [], [], [], [], {}, {}, {}

    def weight(self, array, kind="f4"):
        self.weights.append(numpy_helper.from_array(np.asarray(array).astype(kind), f"w{len(self.weights)}"))
        return self.weights[-1].name

    def given(self, array, kind):
        name = f"x{len(self.inputs)}"
        self.arrays[name] = np.asarray(array).astype(kind)
        self.inputs.append(helper.make_tensor_value_info(name, KINDS[kind], array.shape))
        return name

    def node(self, op, inputs, domain="", **attributes):
        name = f"n{len(self.nodes)}"
        self.nodes.append(helper.make_node(op, inputs, [name], name, domain=domain, **attributes))
        return name

    def output(self, name, exact, what):
        exact = np.asarray(exact)
        self.outputs.append(helper.make_tensor_value_info(name, KINDS[exact.dtype.str[1:]], None))
        self.expected[name], self.what[name] = exact, what

    def save(self, path):
        graph = helper.make_graph(self.nodes, "hostile", self.inputs, self.outputs, self.weights)
        imports = [helper.make_opsetid("", 21), helper.make_opsetid("com.microsoft", 1)]
        onnx.save(helper.make_model(graph, ir_version=10, opset_imports=imports), str(path))


def to_bytes(real, zero):
    whole = np.clip(np.rint(real) + zero, 0, 255)
    return np.where(np.isnan(whole), 0, whole).astype("u1")


def products(m, label, place, scale):
    """The factor is the product of both scales over the third, in f32, as kernels of QLinear operators compute it."""
    scales = [f32(0.5), f32(0.25), f32(32)]
    scales[place] = f32(scale)
    factor = scales[0] * scales[1] / scales[2]
    a, b = random.integers(0, 100, (3, 16)), random.integers(-9, 9, (16, 5))
    names = [m.weight(scales[0]), m.weight(3, "u1"), m.weight(scales[1]), m.weight(0, "i1"), m.weight(scales[2]), m.weight(9, "u1")]
    total = ((a - 3) @ b).astype("f4") * factor
    for right in (m.weight(b, "i1"), m.given(b, "i1")):
        m.output(m.node("QLinearMatMul", [m.given(a, "u1"), *names[:2], right, *names[2:]]), to_bytes(total, 9), f"QLinearMatMul, {label}, place {place}")
    x, w, bias = random.integers(0, 100, (1, 6, 9)), random.integers(-9, 9, (4, 6, 3)), random.integers(-500, 500, 4)
    windows = np.lib.stride_tricks.sliding_window_view(x - 3, 3, 2)
    sums = (np.einsum("nclk,fck->nfl", windows, w) + bias[:, None]).astype("f4") * factor
    name = m.node("QLinearConv", [m.given(x, "u1"), *names[:2], m.weight(w, "i1"), *names[2:], m.weight(bias, "i4")])
    m.output(name, to_bytes(sums, 9), f"QLinearConv, {label}, place {place}")


def pairs(m, label, scale):
    """What is element-wise between dequantised and quantised numbers: a table of one input, and a sum of two."""
    scale, x, y = f32(scale), random.integers(0, 255, (3, 20)), random.integers(0, 255, (3, 20))
    dequantized = lambda name, s: m.node("DequantizeLinear", [name, m.weight(s), m.weight(7, "u1")])
    quantized = lambda name, s: m.node("QuantizeLinear", [name, m.weight(s), m.weight(9, "u1")])
    real = lambda whole, s: (whole - 7).astype("f4") * s
    first, second = m.given(x, "u1"), m.given(y, "u1")
    for before, behind in ((scale, f32(0.5)), (f32(0.5), scale)):
        relu = np.where(np.isnan(real(x, before)), np.nan, np.maximum(real(x, before), 0))
        m.output(quantized(m.node("Relu", [dequantized(first, before)]), behind), to_bytes((relu.astype("f4") / behind).astype("f4"), 9), f"Relu, {label}")
        added = real(x, before) + real(y, f32(0.25))
        name = quantized(m.node("Add", [dequantized(first, before), dequantized(second, f32(0.25))]), behind)
        m.output(name, to_bytes((added / behind).astype("f4"), 9), f"Add, {label}")


def blocks(m, label, scale):
    """Blocks of 16 among which one has the scale."""
    depth, columns = 48, 5
    scales = np.exp2(random.integers(-3, 2, (columns, 3))).astype("f4")
    scales[2, 1] = scale
    weights, zeros = random.integers(0, 16, (columns, depth)), np.full((columns, 3), 8)
    real = (weights - zeros.repeat(16, 1)).astype("f4") * scales.repeat(16, 1)
    packed = (weights[:, 0::2] | weights[:, 1::2] << 4).reshape(columns, 3, 8)
    for rows in (1, 9):
        a = random.integers(-4, 4, (rows, depth)).astype("f4")
        x = m.given(a, "f4")
        exact = (a.astype("f8") @ real.T.astype("f8")).astype("f4")
        name = m.node("MatMulNBits", [x, m.weight(packed, "u1"), m.weight(scales)], "com.microsoft", K=depth, N=columns, block_size=16, bits=4)
        m.output(name, exact, f"MatMulNBits of {rows} rows, {label}")
        table = m.node("DequantizeLinear", [m.weight(weights.T, "u1"), m.weight(scales.T), m.weight(zeros.T, "u1")], axis=0, block_size=16)
        m.output(m.node("MatMul", [x, table]), exact, f"blocks of {rows} rows, {label}")
    name = m.node("GatherBlockQuantized", [m.weight(packed.reshape(columns, -1), "u1"), m.given(np.array([2, -1, 0]), "i8"), m.weight(scales)], "com.microsoft",
                  block_size=16, quantize_axis=1)
    m.output(name, real[[2, -1, 0]], f"GatherBlockQuantized, {label}")


def dynamic(m):
    """DynamicQuantizeLinear of data that no scale fits."""
    line = np.linspace(-1, 1, 39)
    data = {"zeros": 0 * line, "infinite": np.r_[np.inf, line], "below infinite": np.r_[-np.inf, line], "both": np.r_[-np.inf, np.inf, line], "nan": np.r_[line, np.nan],
            "subnormal": line * 2.0**-140, "huge": line * 3e38, "one side": -1 - abs(line)}
    for label, array in data.items():
        x = array.astype("f4")
        # NaN among the data makes both ends NaN.
        least, most = np.minimum(x.min(), f32(0)), np.maximum(x.max(), f32(0))
        scale = (most - least) / f32(255) if most > least or np.isnan(most) else f32(1)
        zero = to_bytes(-least / scale, 0)
        name = f"n{len(m.nodes)}"
        outputs = [f"{name}_{part}" for part in ("bytes", "scale", "zero")]
        m.nodes.append(helper.make_node("DynamicQuantizeLinear", [m.given(x, "f4")], outputs, name))
        for output, exact in zip(outputs, (to_bytes(x / scale, int(zero)), scale, zero)):
            m.output(output, exact, f"DynamicQuantizeLinear, {label}, {output}")


def main():
    np.seterr(all="ignore")
    folder, model, faults = pathlib.Path(sys.argv[1]), Model(), 0
    for label, scale in SCALES.items():
        for place in range(3):
            products(model, label, place, scale)
        pairs(model, label, scale)
        blocks(model, label, scale)
    dynamic(model)
    model.save(folder / "operators.onnx")
    for target, form in itertools.product(("generic", "x86-64-v3", "native"), ("auto", "all")):
        for name, values in run(folder / "operators.onnx", folder / f"{target}-{form}", model, f"--target={target}", f"--decompose={form}").items():
            exact = model.expected[name]
            same = np.array_equal(values, exact) if exact.dtype == np.uint8 else np.allclose(values, exact, 1e-5, 1e-6, equal_nan=True)
            if not same:
                faults += 1
                print(f"{model.what[name]}, {target}, --decompose={form}: {values.ravel()[:8]}, expected {exact.ravel()[:8]}")
    print(f"{len(model.outputs)} results, {faults} faults")


if __name__ == "__main__":
    sys.exit(main())
