#!/usr/bin/env python3
"""Kernels of rows between DequantizeLinear and QuantizeLinear against ONNX's text in f64: quantized_rows.py FOLDER TARGET..."""
import pathlib
import sys

import numpy as np
from onnx import helper

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[3]))
from onnx_cases import Model, finish, kiln

random = np.random.default_rng(5)
#: A result is the nearest integer; f32 may have put what lies halfway on the other side.
NEAREST = 0.501


def softmax(x, axis):
    e = np.exp(x - x.max(axis, keepdims=True))
    return e / e.sum(axis, keepdims=True)


def norm(x, scale, bias, axis, centered):
    axes = tuple(range(axis, x.ndim))
    x = x - x.mean(axes, keepdims=True) if centered else x
    return x / np.sqrt((x * x).mean(axes, keepdims=True) + 1e-5) * scale + bias


class Rows(Model):
    def add(self, label, op, shape, compute, more=(), dims=None, **attributes):
        """Op between DequantizeLinear and QuantizeLinear whose scale fits the results."""
        kind, name = random.choice(["u1", "i1"]), f"n{len(self.nodes)}"
        low, high = (0, 255) if kind == "u1" else (-128, 127)
        x, zero, scale = random.integers(low, high, shape, endpoint=True), random.integers(low, high), np.float32(random.choice([0.02, 0.125, 0.31]))
        exact = compute((x - zero) * scale.astype("f8"))
        own = np.float32(max(np.ptp(exact), 1e-3) / random.choice([200, 300]))
        own_zero = np.clip(np.rint(low - exact.min() / own), low, high)
        self.nodes.append(helper.make_node("DequantizeLinear", [self.input(x, kind, dims), self.weight(scale), self.weight(zero, kind)], [name + "d"]))
        self.nodes.append(helper.make_node(op, [name + "d", *more], [name + "r"], **attributes))
        quotient = np.clip(exact / own + own_zero, low, high)
        shape = dims and [dims[0], *exact.shape[1:]]
        self.case(label, "QuantizeLinear", [name + "r", self.weight(own), self.weight(own_zero, kind)], quotient, kind, dims=shape)

    def add_rows(self, dims=None):
        """Rows of any length, that lie in registers, in an array or in neither; along the last dimension and across it."""
        for shape, axis in (((3, 4, 7), 2), ((3, 5, 64), 2), ((2, 1, 1000), 2), ((2, 1, 17000), 2), ((2, 6, 40), 1), ((3, 3, 5), 1), ((2, 300, 70), 1)):
            given = dims and [f"{dims}{shape[0]}", *shape[1:]]
            self.add(f"softmax {shape} {axis}", "Softmax", shape, lambda x: softmax(x, axis), dims=given, axis=axis)
            self.add(f"log softmax {shape} {axis}", "LogSoftmax", shape, lambda x: np.log(softmax(x, axis)), dims=given, axis=axis)
        for shape, axis in (((4, 3, 9), 2), ((4, 3, 64), 2), ((4, 3, 64), 1), ((2, 2, 4500), 2)):
            given = dims and [f"{dims}{shape[0]}", *shape[1:]]
            scale, bias = random.uniform(0.5, 2, shape[axis:]).astype("f4"), random.standard_normal(shape[axis:]).astype("f4")
            factors = [self.weight(scale), self.weight(bias)]
            self.add(f"layer norm {shape} {axis}", "LayerNormalization", shape, lambda x: norm(x, scale, bias, axis, True), factors, given, axis=axis)
            self.add(f"rms norm {shape} {axis}", "RMSNormalization", shape, lambda x: norm(x, scale, 0, axis, False), factors[:1], given, axis=axis)

    def add_products(self):
        """Softmaxes in the epilogue of products: rows of one tile, of one strip and of several."""
        for columns in (7, 40, 300, 1000):
            x, w = random.standard_normal((9, 24)).astype("f4"), random.standard_normal((24, columns)).astype("f4")
            for op in ("Softmax", "LogSoftmax"):
                exact = softmax(x.astype("f8") @ w, 1)
                exact = exact if op == "Softmax" else np.log(exact)
                own, name = np.float32(np.ptp(exact) / 240), f"n{len(self.nodes)}"
                zero = np.clip(np.rint(-exact.min() / own), 0, 255)
                self.nodes.append(helper.make_node("MatMul", [self.input(x), self.weight(w)], [name + "p"]))
                self.nodes.append(helper.make_node(op, [name + "p"], [name + "r"], axis=1))
                self.case(f"product {op} {columns}", "QuantizeLinear", [name + "r", self.weight(own), self.weight(zero, "u1")],
                          np.clip(exact / own + zero, 0, 255), "u1")

    def add_reductions(self):
        kinds = {"ReduceMean": np.mean, "ReduceSum": np.sum, "ReduceMax": np.max, "ReduceMin": np.min}
        for op, function in kinds.items():
            for shape, axes in (((3, 5, 70), (2,)), ((3, 5, 70), (1,)), ((2, 3, 4, 40), (2, 3)), ((2, 3, 4, 40), (1, 2)), ((3, 50), (0, 1))):
                for keep in (0, 1):
                    self.add(f"{op} {shape} {axes} {keep}", op, shape, lambda x: function(x, axes, keepdims=bool(keep)),
                             [self.weight(np.array(axes), "i8")], keepdims=keep)

    def find_faults(self, folder, what):
        for name, (exact, dtype) in self.expected.items():
            got = np.load(folder / f"{name}.npy")
            if got.dtype != np.dtype(dtype) or got.shape != exact.shape:
                yield f"{name}{what}: {got.dtype} {got.shape}, expected {dtype} {exact.shape}"
            elif (off := np.abs(got.astype("f8") - exact).max()) > NEAREST:
                yield f"{name}{what}: off by {off} steps"


def main():
    folder, faults, right = pathlib.Path(sys.argv[1]), [], 0
    for name in ("static", "dynamic"):
        model = Rows()
        model.add_rows("rows" if name == "dynamic" else None)
        if name == "static":
            model.add_reductions()
            model.add_products()
        model.save(folder / f"{name}.onnx", 23)
        for target in sys.argv[2:]:
            kiln("run", folder / f"{name}.onnx", "--target", target, "--output-dir", folder / target, *model.save_inputs(folder))
            faults += model.find_faults(folder / target, f", {name}, {target}")
            right += len(model.expected)
    finish(faults, right)


if __name__ == "__main__":
    main()
