#!/usr/bin/env python3
"""Models of old operator sets compute the same numbers after kiln quantize has raised them, and what cannot be raised is refused: raise_opset.py FOLDER

Each case is a node of the old set with a product behind it, whose weights are exact as integers of 4 bits.
"""
import pathlib
import sys

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[3]))
import kiln_calls  # noqa: E402

random = np.random.default_rng(3)
f32, i64 = TensorProto.FLOAT, TensorProto.INT64


class Old:
    """A model of one operator set."""

    def __init__(self, opset):
        self.opset, self.nodes, self.inputs, self.outputs, self.weights, self.arrays = opset, [], [], [], [], {}

    def input(self, *shape, least=-2.0):
        name = f"x{len(self.inputs)}"
        self.inputs.append(helper.make_tensor_value_info(name, f32, shape))
        self.arrays[name] = random.uniform(least, 2, shape).astype("f4")
        return name

    def weight(self, array):
        name = f"w{len(self.weights)}"
        self.weights.append(numpy_helper.from_array(array, name))
        return name

    def case(self, op, inputs, last, outputs=1, used=0, **attributes):
        """The node, and the product of its output `used`, whose rows have `last` numbers, with weights."""
        names = [f"n{len(self.nodes)}_{i}" for i in range(outputs)]
        self.nodes.append(helper.make_node(op, inputs, names, f"node{len(self.nodes)}", **attributes))
        values = random.integers(-7, 8, (last, 3)).astype("f4")
        values[::8] = 7  # of each block
        product = f"y{len(self.outputs)}"
        self.nodes.append(helper.make_node("MatMul", [names[used], self.weight(values)], [product], product))
        self.outputs.append(helper.make_tensor_value_info(product, f32, None))

    def save(self, path):
        graph = helper.make_graph(self.nodes, "old", self.inputs, self.outputs, self.weights)
        onnx.save(helper.make_model(graph, ir_version=6, opset_imports=[helper.make_opsetid("", self.opset)]), str(path))


def build(opset):
    m = Old(opset)
    if opset <= 9:
        m.case("Slice", [m.input(4, 6)], 4, starts=[1], ends=[5], axes=[1])
        m.case("TopK", [m.input(3, 8)], 5, outputs=2, k=5, axis=1)
    if opset == 9:
        m.case("Upsample", [m.input(1, 2, 3, 4), m.weight(np.array([1, 1, 2, 3], "f4"))], 12, mode="nearest")
    if opset <= 8:
        weights = [m.weight(np.abs(random.standard_normal(3)).astype("f4")) for _ in range(4)]
        m.case("BatchNormalization", [m.input(2, 3, 4), *weights], 4)
    if opset == 9:
        m.case("Scatter", [m.input(3, 4), m.weight(np.array([[0, 2]], "i8")), m.weight(np.array([[5, 6]], "f4"))], 4, axis=1)
    if opset == 10:
        m.case("Resize", [m.input(1, 2, 3, 4), m.weight(np.array([1, 1, 2, 3], "f4"))], 12, mode="linear")
        m.case("RoiAlign", [m.input(1, 2, 6, 6, least=0.0), m.weight(np.array([[0, 0, 5, 5]], "f4")), m.weight(np.array([0], "i8"))], 2, output_height=2, output_width=2, sampling_ratio=2)
    if opset <= 10:
        m.case("Clip", [m.input(2, 5)], 5, min=-0.5, max=1.0)
        m.case("Clip", [m.input(2, 5)], 5, max=1.0)
        m.case("Pad", [m.input(2, 3)], 6, pads=[0, 1, 1, 2], value=0.5)
        m.case("Dropout", [m.input(2, 5)], 5, ratio=0.25)
    if opset <= 12:
        m.case("Squeeze", [m.input(2, 1, 5)], 5, axes=[1])
        m.case("Unsqueeze", [m.input(2, 5)], 5, axes=[0, 2])
        m.case("Split", [m.input(2, 7)], 4, outputs=2, used=1, axis=1, split=[3, 4])
        m.case("Split", [m.input(2, 8)], 4, outputs=2, axis=1)
        m.case("ReduceSum", [m.input(2, 3, 5)], 5, axes=[1])
        m.case("Hardmax", [m.input(2, 3, 5)], 5, axis=1)
        for op in ("Softmax", "LogSoftmax"):
            m.case(op, [m.input(2, 3, 5)], 5, axis=1)
            m.case(op, [m.input(2, 3, 5)], 5, axis=2)
            m.case(op, [m.input(2, 5)], 5)
    for op in ("ReduceMax", "ReduceMin", "ReduceMean", "ReduceProd", "ReduceL1", "ReduceL2", "ReduceLogSum", "ReduceLogSumExp", "ReduceSumSquare"):
        if opset <= 17:
            m.case(op, [m.input(2, 3, 5, least=0.1)], 5, axes=[1], keepdims=0)
    if opset >= 16:
        for mode in ("bilinear", "bicubic", "nearest"):
            m.case("GridSample", [m.input(1, 2, 5, 5), m.input(1, 3, 4, 2, least=-1.0)], 4, mode=mode)
        m.case("Split", [m.input(2, 8)], 4, outputs=2, axis=1)
    return m


def quantize(model, to):
    return kiln_calls.call("quantize", str(model), "--weights", "int4", "--block", "8", "-o", str(to), "-q")


def outputs(model, path, folder):
    folder.mkdir()
    arguments = ["run", str(path), "--output-dir", str(folder)]
    for name, array in model.arrays.items():
        np.save(folder / f"{name}.npy", array)
        arguments += ["--input", f"{name}={folder / name}.npy"]
    done = kiln_calls.call(*arguments)
    if done.returncode:
        sys.exit(f"{path.name}: {done.stderr}")
    return [np.load(folder / f"{value.name}.npy") for value in model.outputs]


def check_numbers(folder):
    count = 0
    for opset in (7, 8, 9, 10, 12, 17):
        model, old, new = build(opset), folder / f"old{opset}.onnx", folder / f"new{opset}.onnx"
        model.save(old)
        if (done := quantize(old, new)).returncode:
            sys.exit(f"operator set {opset}: {done.stderr}")
        raised = onnx.load(str(new))
        assert raised.opset_import[0].version == 21, raised.opset_import
        assert sum(node.op_type == "DequantizeLinear" for node in raised.graph.node) == len(model.outputs)
        for value, before, after in zip(model.outputs, outputs(model, old, folder / f"o{opset}"), outputs(model, new, folder / f"n{opset}")):
            if before.shape != after.shape or not np.allclose(before, after, 1e-5, 1e-5):
                sys.exit(f"operator set {opset}: {value.name} differs: {before} {after}")
            count += 1
    return count


def check_refusals(folder):
    """Each with what its message says."""
    def model(opset, op, shapes, last, constants=(), **attributes):
        m = Old(opset)
        m.case(op, [*[m.input(*shape) for shape in shapes], *map(m.weight, constants)], last, **attributes)
        return m

    ones = np.ones(4, "f4")
    cases = [
        (model(8, "Upsample", [(1, 1, 2, 2)], 4, mode="nearest", scales=[1.0, 1.0, 2.0, 2.0]), "but the factors are not an input"),
        (model(10, "Resize", [(1, 1, 4, 4)], 2, [np.array([1, 1, 0.5, 0.5], "f4")], mode="nearest"), "but the factors are not known to be at least 1"),
        (model(8, "BatchNormalization", [(2, 4, 4)], 4, [np.ones((4, 4), "f4")] * 4, spatial=0), "but spatial=0 has no counterpart"),
        (model(18, "GroupNormalization", [(1, 4, 4)], 4, [np.ones(2, "f4")] * 2, num_groups=2), "but the operator means something else there"),
        (model(17, "DFT", [(1, 4, 2)], 2, axis=1), "but the operator means something else there"),
    ]
    for i, (m, text) in enumerate(cases):
        path, none = folder / f"refused{i}.onnx", folder / "none.onnx"
        m.save(path)
        done = quantize(path, none)
        if done.returncode != 1 or text not in done.stderr or "node 'node0'" not in done.stderr or none.exists():
            sys.exit(f"case {i}: {done.returncode}, {done.stderr}")
    return len(cases)


def main():
    folder = pathlib.Path(sys.argv[1])
    print(f"{check_numbers(folder)} outputs the same, {check_refusals(folder)} refusals")


if __name__ == "__main__":
    main()
