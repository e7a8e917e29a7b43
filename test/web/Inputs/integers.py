"""FOLDER/m.onnx, quantised convolutions with activations between them, and an input x.npy for it."""

import sys

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

folder = sys.argv[1]
random = np.random.RandomState(7)
nodes, weights = [], []


def constant(name, array):
    weights.append(numpy_helper.from_array(array, name))
    return name


def quantized(name, scale, zero):
    """Rounds a tensor to bytes and back."""
    arguments = [constant(f"{name}_scale", np.float32(scale)), constant(f"{name}_zero", np.uint8(zero))]
    nodes.append(helper.make_node("QuantizeLinear", [name, *arguments], [f"{name}_q"]))
    nodes.append(helper.make_node("DequantizeLinear", [f"{name}_q", *arguments], [f"{name}_d"]))
    return f"{name}_d"


def conv(name, source, shape, group=1):
    scale = constant(f"{name}_ws", random.uniform(0.001, 0.01, shape[0]).astype(np.float32))
    zero = constant(f"{name}_wz", np.zeros(shape[0], np.int8))
    weight = constant(f"{name}_w", random.randint(-128, 128, shape).astype(np.int8))
    nodes.append(helper.make_node("DequantizeLinear", [weight, scale, zero], [f"{name}_wd"], axis=0))
    nodes.append(helper.make_node("Conv", [source, f"{name}_wd"], [name], group=group, pads=[shape[2] // 2] * 4))
    return name


nodes_in = quantized("x", 0.02, 128)
first = conv("a", nodes_in, [24, 3, 3, 3])
nodes.append(helper.make_node("HardSwish", [first], ["b"]))
second = conv("c", quantized("b", 0.03, 12), [24, 1, 3, 3], group=24)
third = conv("y", quantized("c", 0.08, 131), [20, 24, 1, 1])
nodes.append(helper.make_node("GlobalAveragePool", [quantized("y", 0.25, 117)], ["z"]))
shapes = {"x": [1, 3, 19, 23], "y_q": [1, 20, 19, 23], "z": [1, 20, 1, 1]}
graph = helper.make_graph(nodes, "m", [helper.make_tensor_value_info("x", TensorProto.FLOAT, shapes["x"])],
                          [helper.make_tensor_value_info("y_q", TensorProto.UINT8, shapes["y_q"]), helper.make_tensor_value_info("z", TensorProto.FLOAT, shapes["z"])],
                          weights)
onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8), f"{folder}/m.onnx")
np.save(f"{folder}/x.npy", random.normal(0, 1, shapes["x"]).astype(np.float32))
