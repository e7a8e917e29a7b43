"""stages_model.py FILE: products in f32 and in f16, and the index of the largest value, which only the end needs: borders of two types."""
import sys

import numpy
from onnx import TensorProto, helper, numpy_helper, save

random = numpy.random.default_rng(3)


def weight(name, dtype):
    return numpy_helper.from_array((random.standard_normal((48, 48)) / 7).astype(dtype), name)


nodes = [
    helper.make_node("MatMul", ["x", "w0"], ["p0"], name="first"), helper.make_node("ArgMax", ["p0"], ["best"], name="best", axis=1, keepdims=0),
    helper.make_node("Cast", ["p0"], ["h0"], name="narrow", to=TensorProto.FLOAT16),
    helper.make_node("MatMul", ["h0", "w1"], ["h1"], name="second"), helper.make_node("Relu", ["h1"], ["r1"], name="relu"),
    helper.make_node("MatMul", ["r1", "w1"], ["h2"], name="third"),
    helper.make_node("Cast", ["h2"], ["p2"], name="widen", to=TensorProto.FLOAT), helper.make_node("MatMul", ["p2", "w2"], ["p3"], name="last"),
    helper.make_node("Gather", ["w0", "best"], ["row"], name="row"), helper.make_node("Add", ["p3", "row"], ["y"], name="add"),
]
tensors = [helper.make_tensor_value_info(name, TensorProto.FLOAT, [4, 48]) for name in "xy"]
graph = helper.make_graph(nodes, "net", tensors[:1], tensors[1:], [weight("w0", numpy.float32), weight("w1", numpy.float16), weight("w2", numpy.float32)])
save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8), sys.argv[1])
