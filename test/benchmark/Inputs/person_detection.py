"""Writes a network of the shape of TensorFlow Lite Micro's person detection, MobileNet 0.25 for grey pictures of 96 x 96, with seeded weights.

Usage: person_detection.py MODEL.onnx
"""
import sys

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

#: Output channels of each pair of a depthwise convolution and one of single pixels, and the stride of the former.
PAIRS = [(16, 1), (32, 2), (32, 1), (64, 2), (64, 1), (128, 2), (128, 1), (128, 1), (128, 1), (128, 1), (128, 1), (256, 2), (256, 1)]
CLASSES = 2


def main():
    random = np.random.default_rng(7)
    nodes, weights = [], []

    def convolve(x, inputs, outputs, size, stride, groups):
        name = f"conv{len(weights)}"
        fan = inputs // groups * size * size
        w = random.standard_normal((outputs, inputs // groups, size, size)) * np.sqrt(2 / fan)
        b = random.standard_normal(outputs) * 0.1
        weights.extend([numpy_helper.from_array(w.astype(np.float32), name + "_w"), numpy_helper.from_array(b.astype(np.float32), name + "_b")])
        # As TensorFlow pads: what is odd goes behind.
        pads = [0, 0, size - 2, size - 2] if stride == 2 else [size // 2] * 4
        nodes.append(helper.make_node("Conv", [x, name + "_w", name + "_b"], [name], name=name, strides=[stride, stride], pads=pads, group=groups))
        nodes.append(helper.make_node("Clip", [name, "zero", "six"], [name + "_clip"], name=name + "_clip"))
        return name + "_clip"

    weights.extend([numpy_helper.from_array(np.float32(0), "zero"), numpy_helper.from_array(np.float32(6), "six")])
    value, channels = convolve("image", 1, 8, 3, 2, 1), 8
    for outputs, stride in PAIRS:
        value = convolve(value, channels, channels, 3, stride, channels)
        value, channels = convolve(value, channels, outputs, 1, 1, 1), outputs
    weights.append(numpy_helper.from_array((random.standard_normal((channels, CLASSES)) * 0.1).astype(np.float32), "classes_w"))
    nodes.append(helper.make_node("GlobalAveragePool", [value], ["pooled"], name="pool"))
    nodes.append(helper.make_node("Flatten", ["pooled"], ["flat"], name="flatten"))
    nodes.append(helper.make_node("MatMul", ["flat", "classes_w"], ["logits"], name="classes"))
    nodes.append(helper.make_node("Softmax", ["logits"], ["scores"], name="softmax", axis=1))
    graph = helper.make_graph(nodes, "person_detection", [helper.make_tensor_value_info("image", TensorProto.FLOAT, [1, 1, 96, 96])],
                              [helper.make_tensor_value_info("scores", TensorProto.FLOAT, [1, CLASSES])], weights)
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8), sys.argv[1])


main()
