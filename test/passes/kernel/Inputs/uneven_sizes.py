#!/usr/bin/env python3
"""A model whose buffers grow with one symbol, with the other, or with both, at sizes that order them differently, against numpy: uneven_sizes.py FOLDER"""
import pathlib
import sys

import numpy as np
import onnx
from onnx import TensorProto, helper

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[3]))
import kiln_calls  # noqa: E402


def build(file):
    node = helper.make_node
    nodes = [
        node("Transpose", ["x"], ["t"], perm=[1, 0]),
        node("MatMul", ["x", "t"], ["p"]),
        node("MatMul", ["t", "x"], ["q"]),
        node("Softmax", ["p"], ["r"], axis=-1),
        node("MatMul", ["r", "x"], ["u"]),
        node("Softmax", ["q"], ["s"], axis=-1),
        node("MatMul", ["u", "s"], ["v"]),
        node("MatMul", ["p", "v"], ["w"]),
        node("MatMul", ["w", "q"], ["y"]),
    ]
    value = lambda name: helper.make_tensor_value_info(name, TensorProto.FLOAT, ["a", "b"])
    onnx.save(helper.make_model(helper.make_graph(nodes, "uneven", [value("x")], [value("y")]), ir_version=10, opset_imports=[helper.make_opsetid("", 17)]), str(file))


def softmax(x):
    e = np.exp(x - x.max(-1, keepdims=True))
    return e / e.sum(-1, keepdims=True)


def main():
    folder = pathlib.Path(sys.argv[1])
    build(folder / "uneven.onnx")
    random = np.random.default_rng(3)
    for rows, columns in ((1, 1), (2, 500), (500, 2), (61, 67), (480, 480)):
        x = (random.standard_normal((rows, columns)) / np.sqrt(max(rows, columns))).astype("f4")
        np.save(folder / "x.npy", x)
        kiln_calls.run("run", folder / "uneven.onnx", "--input", f"x={folder}/x.npy", "--output-dir", folder)
        wide = x.astype("f8")
        p, q = wide @ wide.T, wide.T @ wide
        exact = p @ (softmax(p) @ wide @ softmax(q)) @ q
        assert np.allclose(np.load(folder / "y.npy"), exact, rtol=1e-3, atol=1e-5 * np.abs(exact).max()), (rows, columns)
    print("5 sizes right")


if __name__ == "__main__":
    main()
