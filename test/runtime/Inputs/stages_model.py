"""stages_model.py FILE [BATCH]: four products with Relu in between, and a sum that needs the first one at the end."""
import sys

import numpy
from onnx import TensorProto, helper, numpy_helper, save

batch = sys.argv[2] if len(sys.argv) > 2 else 4
random = numpy.random.default_rng(3)
size, nodes, weights, value = 48, [], [], "x"
for i in range(4):
    weights.append(numpy_helper.from_array((random.standard_normal((size, size)) / 7).astype(numpy.float32), f"w{i}"))
    weights.append(numpy_helper.from_array(random.standard_normal(size).astype(numpy.float32), f"b{i}"))
    nodes.append(helper.make_node("Gemm", [value, f"w{i}", f"b{i}"], [f"g{i}"], name=f"gemm_{i}"))
    if i < 3:
        nodes.append(helper.make_node("Relu", [f"g{i}"], [f"r{i}"], name=f"relu_{i}"))
    value = f"r{i}"
nodes.append(helper.make_node("Add", ["g3", "r0"], ["y"], name="add"))
tensors = [helper.make_tensor_value_info(name, TensorProto.FLOAT, [batch, size]) for name in "xy"]
graph = helper.make_graph(nodes, "net", tensors[:1], tensors[1:], weights)
save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8), sys.argv[1])
