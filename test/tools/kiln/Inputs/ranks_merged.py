"""Writes a model with exchanges next to each other: the columns of two products, the sums of two others, and the borders of an image for two convolutions."""

import pathlib
import sys

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

RANDOM = np.random.default_rng(5)


def weight(name, *shape):
    return numpy_helper.from_array((RANDOM.standard_normal(shape) / np.sqrt(np.prod(shape[1:] if len(shape) > 2 else shape[:1]))).astype(np.float32), name)


def node(op, inputs, output, **attributes):
    return helper.make_node(op, inputs, [output], output, **attributes)


inputs = {"x": [4, 2048], "i": [1, 4, 16, 8]}
outputs = {"k": [4, 256], "v": [4, 192], "s": [4, 24], "t": [4, 16], "a": [1, 4, 16, 8], "b": [1, 4, 16, 8]}
nodes = [node("MatMul", ["x", "wk"], "k0"), node("MatMul", ["x", "wv"], "v0"), node("Relu", ["k0"], "k"), node("Relu", ["v0"], "v"),
         node("Sigmoid", ["x"], "x1"), node("MatMul", ["x1", "ws"], "s"), node("MatMul", ["x1", "wt"], "t"),
         node("Conv", ["i", "ca"], "a0", pads=[1, 1, 1, 1]), node("Conv", ["i", "cb"], "b0", pads=[2, 1, 2, 1]), node("Relu", ["a0"], "a"), node("Relu", ["b0"], "b")]
weights = [weight("wk", 2048, 256), weight("wv", 2048, 192), weight("ws", 2048, 24), weight("wt", 2048, 16), weight("ca", 4, 4, 3, 3), weight("cb", 4, 4, 5, 3)]
infos = [[helper.make_tensor_value_info(name, TensorProto.FLOAT, shape) for name, shape in tensors.items()] for tensors in (inputs, outputs)]
model = helper.make_model(helper.make_graph(nodes, "merged", *infos, weights), opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
onnx.checker.check_model(model)
onnx.save(model, pathlib.Path(sys.argv[1]) / "merged.onnx")
