"""Products of bytes by steps of several rows on emulated boards, against numpy: every number of rows of a tile, and sums of every number of steps.

Usage: row_steps.py FOLDER TARGET...
"""
import pathlib
import sys

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[3]))
import kiln_calls  # noqa: E402

#: Input channels, height, width, output channels, kernel, strides, groups.
CONVOLUTIONS = [
    (8, 5, 7, 12, (1, 1), (1, 1), 1),
    (24, 5, 6, 16, (3, 1), (1, 1), 1),
    (4, 5, 7, 8, (3, 3), (1, 1), 1),
    (16, 7, 7, 10, (3, 3), (2, 2), 1),
    (32, 3, 4, 16, (1, 1), (1, 1), 2),
    (16, 1, 6, 8, (1, 5), (1, 1), 1),
    (16, 6, 7, 16, (3, 3), (1, 1), 16),
    (8, 9, 8, 8, (5, 4), (2, 2), 8),
    (24, 8, 9, 24, (3, 3), (1, 2), 24),
    (8, 5, 3, 8, (3, 3), (2, 2), 8),
]
#: Rows, products of a sum, columns.
PRODUCTS = [(7, 20, 9), (3, 64, 8), (2, 28, 16), (5, 44, 11), (6, 16, 33), (4, 40, 8)]


def convolve(x, w, strides, groups):
    shape = [(x.shape[i + 2] - w.shape[i + 2]) // strides[i] + 1 for i in range(2)]
    y = np.zeros((1, w.shape[0], *shape), np.int32)
    each, columns = w.shape[1], w.shape[0] // groups
    for o in range(w.shape[0]):
        part = x[0, o // columns * each:(o // columns + 1) * each].astype(np.int32)
        for i in range(shape[0]):
            for j in range(shape[1]):
                at = (i * strides[0], j * strides[1])
                y[0, o, i, j] = (part[:, at[0]:at[0] + w.shape[2], at[1]:at[1] + w.shape[3]] * w[o]).sum()
    return y


def main():
    folder, targets = pathlib.Path(sys.argv[1]), sys.argv[2:]
    random = np.random.default_rng(5)

    def draw(shape, low, high, dtype):
        values = random.integers(low, high + 1, shape).astype(dtype)
        # A part of each tensor is at the ends of the range.
        ends = random.integers(0, 4, shape)
        return np.where(ends == 0, dtype(high), np.where(ends == 1, dtype(low), values))

    nodes, inputs, outputs, weights, expected, words = [], [], [], [], {}, []

    def add(operator, x, w, y, **attributes):
        name = str(len(nodes))
        nodes.append(helper.make_node(operator, ["x" + name, "w" + name], ["y" + name], name=operator + name, **attributes))
        inputs.append(helper.make_tensor_value_info("x" + name, TensorProto.UINT8, x.shape))
        outputs.append(helper.make_tensor_value_info("y" + name, TensorProto.INT32, y.shape))
        weights.append(numpy_helper.from_array(w, "w" + name))
        np.save(folder / f"x{name}.npy", x)
        words.extend(["--input", f"x{name}={folder}/x{name}.npy"])
        expected["y" + name] = y

    for channels, height, width, out, kernel, strides, groups in CONVOLUTIONS:
        x, w = draw((1, channels, height, width), 0, 255, np.uint8), draw((out, channels // groups, *kernel), -128, 127, np.int8)
        add("ConvInteger", x, w, convolve(x, w, strides, groups), strides=strides, group=groups)
    for rows, depth, columns in PRODUCTS:
        x, w = draw((rows, depth), 0, 255, np.uint8), draw((depth, columns), -128, 127, np.int8)
        add("MatMulInteger", x, w, x.astype(np.int32) @ w.astype(np.int32))
    graph = helper.make_graph(nodes, "rows", inputs, outputs, weights)
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 13)], ir_version=8), folder / "rows.onnx")
    for target in targets:
        kiln_calls.run("run", folder / "rows.onnx", f"--target={target}", *words, "--output-dir", folder / target)
        for name, want in expected.items():
            np.testing.assert_array_equal(np.load(folder / target / f"{name}.npy"), want, f"{target}: {name}")
        print(f"{target}: {len(expected)} products are exact")


main()
