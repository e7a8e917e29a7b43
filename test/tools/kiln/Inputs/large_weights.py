#!/usr/bin/env python3
"""Models whose weights no small type can hold: large_weights.py FOLDER writes large.onnx, and bytes.onnx with weights of integers."""
import pathlib
import sys

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

folder, random = pathlib.Path(sys.argv[1]), np.random.default_rng(2)


def save(name, nodes, weights, outputs, dtype):
    inputs = [helper.make_tensor_value_info("x", dtype, (4, 16))]
    graph = helper.make_graph(nodes, name, inputs, outputs, weights)
    onnx.save(helper.make_model(graph, ir_version=8, opset_imports=[helper.make_opsetid("", 17)]), str(folder / f"{name}.onnx"))


nodes, weights, outputs = [], [], []
for name, extreme in (("large", 7e4), ("infinite", np.inf), ("small", 6e4)):
    weight = random.standard_normal((16, 24)).astype("f4")
    weight[3, 5] = extreme
    weights.append(numpy_helper.from_array(weight, f"w_{name}"))
    nodes.append(helper.make_node("MatMul", ["x", f"w_{name}"], [f"y_{name}"], name))
    outputs.append(helper.make_tensor_value_info(f"y_{name}", TensorProto.FLOAT, (4, 24)))
save("large", nodes, weights, outputs, TensorProto.FLOAT)
whole = numpy_helper.from_array(random.integers(-9, 9, (16, 24)).astype("i1"), "w")
save("bytes", [helper.make_node("MatMulInteger", ["x", "w"], ["y"], "whole")], [whole], [helper.make_tensor_value_info("y", TensorProto.INT32, (4, 24))], TensorProto.INT8)
