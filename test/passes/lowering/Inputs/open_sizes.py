#!/usr/bin/env python3
"""Runs convolutions and products whose sizes only run time knows at many sizes, and compares with numpy: open_sizes.py FOLDER TARGET..."""
import pathlib
import sys

import numpy as np
import onnx
from contractions import convolve
from onnx import TensorProto, helper, numpy_helper

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[3]))
import kiln_calls  # noqa: E402

folder, targets = pathlib.Path(sys.argv[1]), sys.argv[2:]
rng = np.random.default_rng(11)
CHANNELS = 64
# Images: smaller than a tile, a single line or column, whole tiles, and what leaves each number of rows over.
SIZES = [(1, 1, 1), (1, 1, 9), (1, 7, 1), (2, 3, 2), (1, 4, 4), (1, 5, 3), (3, 8, 16), (1, 17, 19), (1, 13, 30), (2, 33, 31)]


def weight(*shape):
    return (rng.standard_normal(shape) / np.sqrt(np.prod(shape[1:]))).astype(np.float32)


FILTERS, BIAS = weight(CHANNELS, CHANNELS, 3, 3), weight(CHANNELS, 1)[:, 0]
STRIDED, POINTWISE = weight(40, CHANNELS, 3, 3), weight(CHANNELS, CHANNELS, 1, 1)


def model():
    names = {"f": FILTERS, "b": BIAS, "s": STRIDED, "p": POINTWISE}
    nodes = [helper.make_node("Conv", ["x", "f", "b"], ["c"], pads=[1] * 4), helper.make_node("Relu", ["c"], ["r"]),
             # The sum may be stored in the place of an operand: no row may be computed twice.
             helper.make_node("Conv", ["r", "p"], ["q"]), helper.make_node("Add", ["q", "r"], ["y"]),
             helper.make_node("Conv", ["y", "s"], ["z"], strides=[2, 2], pads=[1] * 4)]
    value = lambda name, dims: helper.make_tensor_value_info(name, TensorProto.FLOAT, dims)
    graph = helper.make_graph(nodes, "open", [value("x", ["n", CHANNELS, "h", "w"])], [value("y", None), value("z", None)],
                              [numpy_helper.from_array(array, name) for name, array in names.items()])
    made = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
    onnx.save(made, folder / "open.onnx")


def exact(x):
    pad = lambda image: np.pad(image, [(0, 0), (1, 1), (1, 1), (0, 0)])
    image = np.moveaxis(x, 1, -1).astype(np.float64)
    first = np.maximum(convolve(pad(image), FILTERS, (1, 1), (1, 1), 1) + BIAS, 0)
    y = convolve(first, POINTWISE, (1, 1), (1, 1), 1) + first
    return [np.moveaxis(value, -1, 1) for value in (y, convolve(pad(y), STRIDED, (2, 2), (1, 1), 1))]


model()
for size in SIZES:
    x = rng.standard_normal((size[0], CHANNELS, *size[1:])).astype(np.float32)
    np.save(folder / "x.npy", x)
    want = exact(x)
    for target in targets:
        kiln_calls.run("run", folder / "open.onnx", f"--target={target}", f"--input=x={folder}/x.npy", "--threads=2", "--output-dir", folder / "out")
        for name, values in zip("yz", want):
            got = np.load(folder / "out" / f"{name}.npy")
            error = np.abs(got - values).max() / np.abs(values).max()
            assert got.shape == values.shape and error < 2e-5, (target, size, name, error)
print(f"{len(SIZES)} sizes right on {len(targets)} targets")
