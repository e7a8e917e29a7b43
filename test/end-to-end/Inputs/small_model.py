#!/usr/bin/python3
"""Writes a model that has a bit of everything in odd sizes, small.onnx, and its entry for `sanitize`, small.json: small_model.py FOLDER"""

import json
import pathlib
import sys

import numpy as np
import onnx
from onnx import helper, numpy_helper

DIM, HEADS, HIDDEN = 20, 2, 7


class Graph:
    def __init__(self):
        self.random = np.random.RandomState(3)
        self.nodes, self.weights = [], []

    def weight(self, *shape):
        return self.constant((self.random.standard_normal(shape) / np.sqrt(shape[-1])).astype(np.float32))

    def constant(self, array):
        name = f"w{len(self.weights)}"
        self.weights.append(numpy_helper.from_array(np.asarray(array), name))
        return name

    def add(self, kind, *inputs, outputs=1, **attributes):
        names = [f"v{len(self.nodes)}_{index}" for index in range(outputs)]
        self.nodes.append(helper.make_node(kind, inputs, names, **attributes))
        return names[0]


def attention_block(g, x):
    def linear(x, size):
        return g.add("Add", g.add("MatMul", x, g.weight(DIM, size)), g.weight(size))

    def heads(x):
        split = g.add("Reshape", x, g.constant(np.array([0, 0, HEADS, DIM // HEADS])))
        return g.add("Transpose", split, perm=[0, 2, 1, 3])

    def norm(x):
        return g.add("LayerNormalization", x, g.weight(DIM), g.weight(DIM))

    q, k, v = (heads(linear(x, DIM)) for _ in range(3))
    scores = g.add("Div", g.add("MatMul", q, g.add("Transpose", k, perm=[0, 1, 3, 2])), g.constant(np.float32(3.2)))
    mixed = g.add("Transpose", g.add("MatMul", g.add("Softmax", scores, axis=-1), v), perm=[0, 2, 1, 3])
    x = norm(g.add("Add", x, linear(g.add("Reshape", mixed, g.constant(np.array([0, 0, DIM]))), DIM)))
    wide = g.add("Add", g.add("MatMul", x, g.weight(DIM, 33)), g.weight(33))
    erf = g.add("Add", g.add("Erf", g.add("Div", wide, g.constant(np.float32(np.sqrt(2))))), g.constant(np.float32(1)))
    gelu = g.add("Mul", g.add("Mul", wide, erf), g.constant(np.float32(0.5)))
    return norm(g.add("Add", x, g.add("MatMul", gelu, g.weight(33, DIM))))


def convolutions(g, x):
    x = g.add("Relu", g.add("Conv", x, g.weight(9, 3, 3, 3), g.weight(9), pads=[1, 1, 1, 1], strides=[2, 2]))
    x = g.add("HardSigmoid", g.add("Conv", x, g.weight(9, 1, 5, 5), pads=[2, 2, 2, 2], group=9))
    x = g.add("Concat", x, g.add("Conv", x, g.weight(14, 9, 1, 1)), axis=1)
    x = g.add("MaxPool", x, kernel_shape=[3, 3], strides=[2, 2], pads=[1, 1, 1, 1])
    x = g.add("Resize", x, "", g.constant(np.array([1, 1, 2, 2], np.float32)), mode="linear")
    return g.add("Mul", x, g.add("Sigmoid", g.add("ReduceMean", x, axes=[2, 3], keepdims=1)))


def data_sized(g, block, features):
    """Sizes that only the data tells: chosen elements, different words, boxes that do not overlap."""
    places = g.add("Transpose", g.add("NonZero", g.add("Greater", block, g.constant(np.float32(0.5)))), perm=[1, 0])
    boxes = g.add("Reshape", features, g.constant(np.array([1, -1, 4])))
    scores = g.add("Transpose", g.add("ReduceMean", boxes, axes=[2], keepdims=1), perm=[0, 2, 1])
    kept = g.add("NonMaxSuppression", boxes, scores, g.constant(np.array([20])), g.constant(np.float32(0.3)), g.constant(np.float32(0.1)), center_point_box=1)
    rows = g.add("Compress", block, g.add("Cast", g.add("Mod", g.add("Gather", "ids", g.constant(np.array(0)), axis=0), g.constant(np.array(2))), to=9), axis=1)
    return {"chosen": g.add("GatherND", block, places), "words": g.add("Unique", "ids", sorted=0), "kept": kept, "rows": rows}


def main():
    folder = pathlib.Path(sys.argv[1])
    g = Graph()
    words = g.add("Gather", g.weight(50, DIM), "ids")
    steps = g.add("Transpose", words, perm=[1, 0, 2])
    g.add("LSTM", steps, g.weight(2, 4 * HIDDEN, DIM), g.weight(2, 4 * HIDDEN, HIDDEN), g.weight(2, 8 * HIDDEN), outputs=3, hidden_size=HIDDEN, direction="bidirectional")
    results = {"tags": g.nodes[-1].output[0], "last": g.nodes[-1].output[1], "block": attention_block(g, words), "features": convolutions(g, "image")}
    g.add("TopK", results["block"], g.constant(np.array([3])), outputs=2)
    results["best"] = g.nodes[-1].output[1]
    results.update(data_sized(g, results["block"], results["features"]))
    for name, value in results.items():
        g.nodes.append(helper.make_node("Identity", [value], [name]))
    inputs = [helper.make_tensor_value_info("ids", onnx.TensorProto.INT64, ["batch", "seq"]),
              helper.make_tensor_value_info("image", onnx.TensorProto.FLOAT, [1, 3, 13, 19])]
    outputs = [helper.make_tensor_value_info(name, onnx.TensorProto.INT64 if name in ("best", "words", "kept") else onnx.TensorProto.FLOAT, None) for name in results]
    graph = helper.make_graph(g.nodes, "small", inputs, outputs, g.weights)
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)]), str(folder / "small.onnx"))
    entry = {"file": "small.onnx", "dims": {"batch": 2, "seq": 11}, "fill": {"ids": "randint:0:50"}, "sizes": [{"batch": 1, "seq": 17}, {"batch": 3, "seq": 1}]}
    (folder / "small.json").write_text(json.dumps({"small": entry}))


if __name__ == "__main__":
    main()
