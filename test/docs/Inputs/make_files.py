#!/usr/bin/python3
"""Writes what the commands of the guides name, small: make_files.py FOLDER"""

import pathlib
import sys

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

out = pathlib.Path(sys.argv[1])
random = np.random.default_rng(1)


def tensor(name, *shape):
    return helper.make_tensor_value_info(name, TensorProto.FLOAT, shape)


def weight(name, *shape):
    return numpy_helper.from_array(random.normal(size=shape).astype(np.float32) / 4, name)


def save(name, nodes, inputs, outputs, weights=(), domains=()):
    graph = helper.make_graph(nodes, name.split(".")[0], inputs, outputs, weights)
    opsets = [helper.make_opsetid("", 17), *(helper.make_opsetid(domain, 1) for domain in domains)]
    onnx.save(helper.make_model(graph, opset_imports=opsets, ir_version=8), out / name)


def write_samples(folder, **arrays):
    for name, array in arrays.items():
        (out / folder).mkdir(parents=True, exist_ok=True)
        (out / folder / f"{name}.pb").write_bytes(numpy_helper.from_array(array).SerializeToString())


out.mkdir(parents=True, exist_ok=True)
node = helper.make_node
convolution = [node("Conv", ["x", "w"], ["c"], "conv_7", pads=[1, 1, 1, 1]), node("Relu", ["c"], ["r"], "relu"), node("Flatten", ["r"], ["f"], "flat"),
               node("MatMul", ["f", "v"], ["m"], "product"), node("Softmax", ["m"], ["y"], "softmax")]
save("model.onnx", convolution, [tensor("x", "batch", 3, 4, 4)], [tensor("y", "batch", 6)], [weight("w", 4, 3, 3, 3), weight("v", 64, 6)])
image = random.normal(size=(2, 3, 4, 4)).astype(np.float32)
write_samples("samples", input_0=image)

# A model whose results are known without an engine.
save("relu.onnx", [node("Relu", ["x"], ["y"], "conv_7")], [tensor("x", 2, 3)], [tensor("y", 2, 3)])
numbers = random.normal(size=(2, 3)).astype(np.float32)
write_samples("test_data_set_0", input_0=numbers, output_0=np.maximum(numbers, 0))

save("resnet18.onnx", [node("GlobalAveragePool", ["input"], ["p"]), node("Flatten", ["p"], ["logits"])], [tensor("input", 1, 3, 8, 8)], [tensor("logits", 1, 3)])
np.save(out / "photo.npy", random.normal(size=(1, 3, 8, 8)).astype(np.float32))
save("softmax.onnx", [node("Softmax", ["x"], ["y"])], [tensor("x", 32, 64)], [tensor("y", 32, 64)])

# Operators of one's own: the definitions of docs/Operators.md, and a model that calls one of them.
(out / "acme.kiln").write_text('domain "com.acme" version 1\ngate(x, w; alpha = 1.0)[...] = x[...] * sigmoid(alpha * w[...])\nrowsum(x)[n] += x[n, k]\n')
save("gated.onnx", [node("gate", ["x", "w"], ["y"], domain="com.acme")], [tensor("x", 2, 3), tensor("w", 2, 3)], [tensor("y", 2, 3)], domains=["com.acme"])
for name in "xw":
    np.save(out / f"{name}.npy", random.normal(size=(2, 3)).astype(np.float32))

parts = [node("Relu", ["x"], ["r"]), node("Conv", ["r", "w"], ["c"]), node("Sigmoid", ["c"], ["y"])]
save("delegated.onnx", parts, [tensor("x", 1, 2, 5, 5)], [tensor("y", 1, 2, 3, 3)], [weight("w", 2, 2, 3, 3)])
(out / "my.target.json").write_text('{ "name": "acme", "base": "x86-64-v3", "without": ["nn.softmax"] }\n')
