#!/usr/bin/env python3
"""A product with constant weights: product_model.py FILE ROWS DEPTH COLUMNS"""
import sys

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

rows, depth, columns = map(int, sys.argv[2:])
weights = numpy_helper.from_array(np.random.default_rng(1).standard_normal((depth, columns)).astype(np.float32), "w")
graph = helper.make_graph([helper.make_node("MatMul", ["x", "w"], ["y"])], "product", [helper.make_tensor_value_info("x", TensorProto.FLOAT, [rows, depth])],
                          [helper.make_tensor_value_info("y", TensorProto.FLOAT, [rows, columns])], [weights])
onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 13)], ir_version=8), sys.argv[1])
