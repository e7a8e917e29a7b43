#!/usr/bin/env python3
"""layout_conversions.py FOLDER [MODEL.onnx...]: counts the layout conversions of ResNet-50, MobileNetV2 and U-Net, or of the models given.

The three are written here node by node as PyTorch exports them, with a quarter of the channels: the conversions depend on the graph alone. Prints for each how
many conversions a compile has, and how many are left with --io-layout=nhwc. Ends with status 1 where there are more than inputs and outputs of rank 4."""
import collections
import pathlib
import re
import sys

import numpy as np
import onnx

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[3] / "end-to-end"))
from seeded.convolutional import conv  # noqa: E402
from seeded.graph import Graph  # noqa: E402

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[3]))
import kiln_calls  # noqa: E402


def bottleneck(g, x, inputs, inner, stride):
    y = g.add("Relu", conv(g, x, inputs, inner, 1))
    y = g.add("Relu", conv(g, y, inner, inner, 3, stride))
    y = conv(g, y, inner, 4 * inner, 1)
    return g.add("Relu", g.add("Add", y, conv(g, x, inputs, 4 * inner, 1, stride) if inputs != 4 * inner or stride > 1 else x))


def classify(g, x, channels):
    x = g.add("Flatten", g.add("GlobalAveragePool", x), axis=1)
    g.give("logits", g.add("Gemm", x, g.weight(1000, channels), g.weight(1000), transB=1), [1, 1000])


def resnet50():
    g = Graph(201)
    x = g.add("Relu", conv(g, g.input("input", np.float32, [1, 3, 224, 224]), 3, 16, 7, 2))
    x = g.add("MaxPool", x, kernel_shape=[3, 3], pads=[1, 1, 1, 1], strides=[2, 2])
    channels = 16
    for inner, blocks, stride in ((16, 3, 1), (32, 4, 2), (64, 6, 2), (128, 3, 2)):
        for block in range(blocks):
            x = bottleneck(g, x, channels, inner, 1 if block else stride)
            channels = 4 * inner
    classify(g, x, channels)
    return g.model("resnet50", 17), {"Conv": 53, "Relu": 49, "Add": 16, "MaxPool": 1, "GlobalAveragePool": 1, "Flatten": 1, "Gemm": 1}


def mobilenetv2():
    g = Graph(202)
    bounded = lambda x: g.add("Clip", x, g.scalar(0), g.scalar(6))  # noqa: E731
    x = bounded(conv(g, g.input("input", np.float32, [1, 3, 224, 224]), 3, 8, 3, 2))
    channels = 8
    for wider, outputs, blocks, stride in ((1, 4, 1, 1), (6, 6, 2, 2), (6, 8, 3, 2), (6, 16, 4, 2), (6, 24, 3, 1), (6, 40, 3, 2), (6, 80, 1, 1)):
        for block in range(blocks):
            wide, step = wider * channels, 1 if block else stride
            y = bounded(conv(g, x, channels, wide, 1)) if wider > 1 else x
            y = conv(g, bounded(conv(g, y, wide, wide, 3, step, group=wide)), wide, outputs, 1)
            x = g.add("Add", x, y) if step == 1 and channels == outputs else y
            channels = outputs
    classify(g, bounded(conv(g, x, channels, 320, 1)), 320)
    return g.model("mobilenetv2", 17), {"Conv": 52, "Clip": 35, "Add": 10, "GlobalAveragePool": 1, "Flatten": 1, "Gemm": 1}


def unet():
    g = Graph(203)

    def pair(x, inputs, outputs):
        return g.add("Relu", conv(g, g.add("Relu", conv(g, x, inputs, outputs, 3)), outputs, outputs, 3))

    levels = [pair(g.input("input", np.float32, [1, 3, 256, 256]), 3, 8)]
    for outputs in (16, 32, 64, 128):
        levels.append(pair(g.add("MaxPool", levels[-1], kernel_shape=[2, 2], strides=[2, 2]), outputs // 2, outputs))
    x = levels.pop()
    for outputs in (64, 32, 16, 8):
        up = g.add("ConvTranspose", x, g.weight(2 * outputs, outputs, 2, 2), g.weight(outputs), kernel_shape=[2, 2], strides=[2, 2])
        x = pair(g.add("Concat", levels.pop(), up, axis=1), 2 * outputs, outputs)
    g.give("mask", g.add("Sigmoid", conv(g, x, 8, 2, 1)), [1, 2, 256, 256])
    return g.model("unet", 17), {"Conv": 19, "Relu": 18, "MaxPool": 4, "ConvTranspose": 4, "Concat": 4, "Sigmoid": 1}


def count(path, *options):
    """(conversions, other transposes that move data): those that leave the innermost dimension where it is put the pixels of a ConvTranspose in their order."""
    done = kiln_calls.run(str(path), "--stop-after=target", "--why", *options)
    orders = [[int(place) for place in order.split(", ")] for order in re.findall(r"nn\.transpose [^\[]*\[([\d, ]+)\]", done.stdout)]
    others = sum(order[-1] == len(order) - 1 for order in orders)
    return int(re.search(r"layout conversions: (\d+)", done.stderr)[1]) - others, others


def main():
    folder, *paths = map(pathlib.Path, sys.argv[1:])
    for build in () if paths else (resnet50, mobilenetv2, unet):
        model, nodes = build()
        if collections.Counter(node.op_type for node in model.graph.node) != nodes:
            sys.exit(f"{build.__name__}: expected the nodes {nodes}")
        paths.append(folder / f"{build.__name__}.onnx")
        onnx.save(model, str(paths[-1]))
    for path in paths:
        graph = onnx.load(str(path), load_external_data=False).graph
        weights = {weight.name for weight in graph.initializer}
        given = [value for value in (*graph.input, *graph.output) if value.name not in weights and len(value.type.tensor_type.shape.dim) == 4]
        (conversions, others), (without, _) = count(path), count(path, "--io-layout=nhwc")
        print(f"{path.stem}: {conversions} for {len(given)} of rank 4 at the border, {without} with --io-layout; {others} other transposes")
        if conversions > len(given) or without > conversions:
            sys.exit(1)


if __name__ == "__main__":
    main()
