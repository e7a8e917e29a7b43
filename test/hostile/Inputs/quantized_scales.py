#!/usr/bin/env python3
"""Quantised models with scales that no converter writes compute what the arithmetic of ONNX's text does, and wrong parameters are refused: quantized_scales.py FOLDER"""
import itertools
import pathlib
import sys

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2]))
import kiln_calls  # noqa: E402

random = np.random.default_rng(17)
f32 = np.float32
KINDS = {"u1": TensorProto.UINT8, "i1": TensorProto.INT8, "f4": TensorProto.FLOAT, "i8": TensorProto.INT64}
SCALES = {"zero": 0.0, "negative": -0.5, "infinite": np.inf, "nan": np.nan, "subnormal": 2.0**-140, "least": 2.0**-149, "huge": 2.0**100}


def convolve(x, w):
    """[1, 6, 9] with three groups of two."""
    windows = np.lib.stride_tricks.sliding_window_view(x, 3, 2)
    return np.concatenate([np.einsum("nclk,fck->nfl", windows[:, 2 * g:2 * g + 2], w[2 * g:2 * g + 2]) for g in range(3)], 1)


def convolve_transposed(x, w):
    """With stride 2 for a kernel of 3: an element of the result is the sum of what reaches it, and of nothing else."""
    parts = np.einsum("ncl,cmk->nmlk", x, w)
    result = np.zeros((*parts.shape[:2], 2 * x.shape[2] + 1))
    reached = np.zeros(result.shape[2], bool)
    for tap in range(3):
        places = slice(tap, tap + 2 * x.shape[2], 2)
        result[..., places] = np.where(reached[places], result[..., places] + parts[..., tap], parts[..., tap])
        reached[places] = True
    return result


class Hostile:
    def __init__(self):
        self.nodes, self.inputs, self.outputs, self.weights, self.arrays, self.numbers, self.expected = [], [], [], [], {}, {}, {}

    def weight(self, array, kind="f4"):
        self.weights.append(numpy_helper.from_array(np.asarray(array).astype(kind), f"w{len(self.weights)}"))
        return self.weights[-1].name

    def constant(self, shape):
        values = random.integers(-9, 9, shape)
        name = self.weight(values, "i1")
        self.numbers[name] = values
        return name

    def node(self, op, inputs, **attributes):
        name = f"n{len(self.nodes)}"
        self.nodes.append(helper.make_node(op, inputs, [name], name, **attributes))
        return name

    def given(self, shape, kind="u1"):
        name = f"x{len(self.inputs)}"
        self.arrays[name] = random.integers(0, 100, shape).astype(kind)
        self.inputs.append(helper.make_tensor_value_info(name, KINDS[kind], shape))
        return name

    def real(self, integers, scale, zero, kind, **attributes):
        name = self.node("DequantizeLinear", [integers, self.weight(scale), self.weight(np.full(np.shape(scale), zero), kind)], **attributes)
        whole = self.arrays.get(integers, self.numbers.get(integers)).astype("i8") - zero
        line = [1] * whole.ndim
        if np.shape(scale):
            line[attributes["axis"]] = -1
        self.numbers[name] = (whole.astype("f4") * np.asarray(scale, "f4").reshape(line)).astype("f4")
        return name

    def output(self, name, kind, exact):
        self.outputs.append(helper.make_tensor_value_info(name, KINDS[kind], None))
        self.expected[name] = exact

    def bytes(self, op, left, right, compute, scale, **attributes):
        """A product, quantised; NaN is the least integer."""
        real = compute(self.numbers[left].astype("f8"), self.numbers[right].astype("f8")).astype("f4")
        whole = np.clip(np.rint(real / f32(scale)) + 9, 0, 255)
        name = self.node("QuantizeLinear", [self.node(op, [left, right], **attributes), self.weight(scale), self.weight(9, "u1")])
        self.output(name, "u1", np.where(np.isnan(whole), 0, whole).astype("u1"))

    def forms(self, scale, other, last):
        """A scale of the left side, of the right side, and of the result."""
        left = lambda *shape: self.real(self.given(shape), scale, 3, "u1")
        self.bytes("MatMul", left(2, 16), self.real(self.given((16, 5), "i1"), other, 0, "i1"), np.matmul, last)
        self.bytes("MatMul", left(2, 16), self.real(self.constant((16, 5)), np.full(5, other), 0, "i1", axis=1), np.matmul, last)
        self.bytes("Conv", left(1, 6, 9), self.real(self.constant((6, 2, 3)), np.full(6, other), 0, "i1", axis=0), convolve, last, group=3)
        self.bytes("ConvTranspose", left(1, 3, 7), self.real(self.constant((3, 4, 3)), other, 0, "i1"), convolve_transposed, last, strides=[2])

    def real_forms(self, scale):
        x, w = self.given((2, 16), "f4"), self.real(self.constant((16, 5)), np.full(5, scale), 0, "i1", axis=1)
        self.output(self.node("MatMul", [x, w]), "f4", (self.arrays[x].astype("f8") @ self.numbers[w].astype("f8")).astype("f4"))
        table = self.real(self.constant((6, 8)), np.full(6, scale), 2, "i1", axis=0)
        self.output(self.node("Gather", [table, self.weight([1, 3], "i8")]), "f4", self.numbers[table][[1, 3]])

    def save(self, path, opset=21):
        graph = helper.make_graph(self.nodes, "hostile", self.inputs, self.outputs, self.weights)
        onnx.save(helper.make_model(graph, ir_version=10, opset_imports=[helper.make_opsetid("", opset)]), str(path))


def run(path, folder, model, *options):
    folder.mkdir()
    arguments = ["run", str(path), "--output-dir", str(folder), *options]
    for name, array in model.arrays.items():
        np.save(folder / f"{name}.npy", array)
        arguments += ["--input", f"{name}={folder / name}.npy"]
    done = kiln_calls.call(*arguments)
    if done.returncode:
        sys.exit(done.stderr)
    return {value.name: np.load(folder / f"{value.name}.npy") for value in model.outputs}


def check_numbers(folder):
    """As numpy computes them with the real numbers of the text."""
    np.seterr(all="ignore")
    model, what = Hostile(), {}
    for label, scale in SCALES.items():
        for place in range(4):
            scales = [0.5, 0.25, 32.0]
            first = len(model.outputs)
            if place < 3:
                scales[place] = scale
                model.forms(*scales)
            else:
                model.real_forms(scale)
            what.update({value.name: f"{label}, place {place}, form {i}" for i, value in enumerate(model.outputs[first:])})
    model.save(folder / "scales.onnx")
    for target, form in itertools.product(("generic", "x86-64-v3", "native"), ("auto", "all")):
        for name, values in run(folder / "scales.onnx", folder / f"{target}-{form}", model, f"--target={target}", f"--decompose={form}").items():
            exact = model.expected[name]
            same = np.array_equal(values, exact) if exact.dtype == np.uint8 else np.allclose(values, exact, 1e-5, 1e-6, equal_nan=True)
            if not same:
                sys.exit(f"{what[name]}, {target}, --decompose={form}: {values.ravel()[:8]}, expected {exact.ravel()[:8]}")
    return len(what)


def check_refusals(folder):
    count = 0
    for scales, attributes in (((5,), {"axis": 2}), ((4,), {"axis": 1}), ((16,), {"axis": -3}), ((1, 5), {"axis": 0, "block_size": -16}), ((3, 5), {"axis": 0, "block_size": 16}),
                               ((2, 2), {"axis": 1})):
        for op in ("MatMul", "Gather"):
            model = Hostile()
            weight = model.constant((16, 5))
            real = model.node("DequantizeLinear", [weight, model.weight(np.ones(scales))], **attributes)
            model.output(model.node(op, [model.given((2, 16), "f4"), real] if op == "MatMul" else [real, model.weight([1], "i8")]), "f4", None)
            path = folder / f"refused{count}.onnx"
            model.save(path)
            done = kiln_calls.call(str(path), "-o", str(folder / "none"))
            if done.returncode != 1 or "DequantizeLinear" not in done.stderr:
                sys.exit(f"{op} {scales} {attributes}: {done.returncode} {done.stderr}")
            count += 1
    return count


def main():
    folder = pathlib.Path(sys.argv[1])
    print(f"{check_numbers(folder)} results right, {check_refusals(folder)} refusals")


if __name__ == "__main__":
    main()
