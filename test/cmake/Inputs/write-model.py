"""y = x * w with w as external data beside the model: write-model.py FOLDER FACTOR."""
import os
import sys

import numpy as np
import onnx
from onnx import helper, numpy_helper

folder, factor = sys.argv[1], float(sys.argv[2])
w = (np.arange(1, 5) * factor).astype(np.float32)
value = lambda name: helper.make_tensor_value_info(name, onnx.TensorProto.FLOAT, [4])
graph = helper.make_graph([helper.make_node("Mul", ["x", "w"], ["y"], "scale")], "scale", [value("x")], [value("y")], [numpy_helper.from_array(w, "w")])
model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
if os.path.exists(folder + "/scale.data"):
    os.remove(folder + "/scale.data")  # it would be appended to
onnx.save_model(model, folder + "/scale.onnx", save_as_external_data=True, location="scale.data", size_threshold=0)
