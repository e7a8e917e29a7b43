"""Writes small.onnx, a convolutional model with a block of attention, many.onnx, of 2,000 nodes, and resnet50.onnx with drawn weights: report_models.py FOLDER."""
import pathlib
import sys

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

folder = pathlib.Path(sys.argv[1])


class Graph:
    def __init__(self):
        self.nodes, self.weights, self.random = [], [], np.random.default_rng(1)

    def weight(self, name, *shape):
        self.weights.append(numpy_helper.from_array((self.random.standard_normal(shape) * 0.1).astype(np.float32), name))
        return name

    def node(self, name, operator, *inputs, **attributes):
        self.nodes.append(helper.make_node(operator, inputs, [name], name=name, **attributes))
        return name

    def save(self, name, source, shape, result, result_shape):
        value = lambda text, dims: helper.make_tensor_value_info(text, TensorProto.FLOAT, dims)
        graph = helper.make_graph(self.nodes, name, [value(source, shape)], [value(result, result_shape)], self.weights)
        model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)])
        model.ir_version = 8
        onnx.save(model, folder / f"{name}.onnx")


def make_small():
    g = Graph()
    x, channels = "image", 3
    for i, wide in enumerate((16, 32)):
        y = g.node(f"conv{i}", "Conv", x, g.weight(f"conv{i}.weight", wide, channels, 3, 3), g.weight(f"conv{i}.bias", wide), pads=[1] * 4, strides=[2, 2])
        x, channels = g.node(f"relu{i}", "Relu", y), wide
    x = g.node("pool", "MaxPool", x, kernel_shape=[2, 2], strides=[2, 2])
    g.weights.append(numpy_helper.from_array(np.array([1, 32, 16], np.int64), "shape"))
    rows = g.node("rows", "Transpose", g.node("flat", "Reshape", x, "shape"), perm=[0, 2, 1])
    scores = g.node("scores", "MatMul", rows, g.node("keys", "Transpose", rows, perm=[0, 2, 1]))
    mixed = g.node("mixed", "MatMul", g.node("attention", "Softmax", scores, axis=-1), rows)
    added = g.node("added", "Add", mixed, rows)
    normal = g.node("normal", "LayerNormalization", added, g.weight("gain", 32), g.weight("shift", 32), axis=-1)
    mean = g.node("mean", "ReduceMean", normal, axes=[1], keepdims=0)
    # A name that must not become markup.
    g.nodes[-1].name = "<img src=x onerror=alert(1)>"
    logits = g.node("logits", "Gemm", mean, g.weight("head.weight", 32, 10), g.weight("head.bias", 10))
    g.save("small", "image", ["batch", 3, 32, 32], g.node("probabilities", "Softmax", logits, axis=1), ["batch", 10])


def make_many():
    g = Graph()
    x, width = "x", 16
    for i in range(256):
        y = g.node(f"up{i}", "MatMul", x, g.weight(f"up{i}.weight", width, width))
        y = g.node(f"tanh{i}", "Tanh", y)
        z = g.node(f"gate{i}", "MatMul", x, g.weight(f"gate{i}.weight", width, width))
        y = g.node(f"mixed{i}", "Mul", y, g.node(f"sigmoid{i}", "Sigmoid", z))
        y = g.node(f"down{i}", "MatMul", y, g.weight(f"down{i}.weight", width, width))
        y = g.node(f"scaled{i}", "Mul", y, g.weight(f"scale{i}", width))
        x = g.node(f"added{i}", "Add", y, x)
        x = g.node(f"normal{i}", "LayerNormalization", x, g.weight(f"normal{i}.gain", width), g.weight(f"normal{i}.shift", width), axis=-1)
    g.save("many", "x", [8, width], x, [8, width])


def make_resnet50():
    """As He et al. describe it, with a normalisation behind each convolution."""
    g = Graph()

    def conv(name, x, into, out, kernel, stride=1, relu=True):
        weight = numpy_helper.from_array((g.random.random((out, into, kernel, kernel), np.float32) - 0.5) * np.float32(2 / np.sqrt(into * kernel)), f"{name}.weight")
        g.weights.append(weight)
        y = g.node(name, "Conv", x, f"{name}.weight", kernel_shape=[kernel] * 2, pads=[kernel // 2] * 4, strides=[stride] * 2)
        parts = [g.weight(f"{name}.{part}", out) for part in ("scale", "bias", "mean")]
        g.weights.append(numpy_helper.from_array(np.ones(out, np.float32), f"{name}.variance"))
        y = g.node(f"{name}.norm", "BatchNormalization", y, *parts, f"{name}.variance")
        return g.node(f"{name}.relu", "Relu", y) if relu else y

    x = g.node("pool", "MaxPool", conv("stem", "image", 3, 64, 7, 2), kernel_shape=[3, 3], strides=[2, 2], pads=[1] * 4)
    channels = 64
    for stage, (blocks, width) in enumerate(((3, 64), (4, 128), (6, 256), (3, 512))):
        for block in range(blocks):
            name, stride = f"layer{stage + 1}.{block}", 2 if stage and block == 0 else 1
            y = conv(f"{name}.conv1", x, channels, width, 1)
            y = conv(f"{name}.conv2", y, width, width, 3, stride)
            y = conv(f"{name}.conv3", y, width, 4 * width, 1, relu=False)
            x = x if block else conv(f"{name}.downsample", x, channels, 4 * width, 1, stride, relu=False)
            x, channels = g.node(f"{name}.relu", "Relu", g.node(f"{name}.added", "Add", y, x)), 4 * width
    flat = g.node("flat", "Flatten", g.node("mean", "GlobalAveragePool", x))
    logits = g.node("logits", "Gemm", flat, g.weight("head.weight", channels, 1000), g.weight("head.bias", 1000))
    g.save("resnet50", "image", [1, 3, 224, 224], logits, [1, 1000])


make_small()
make_many()
make_resnet50()
