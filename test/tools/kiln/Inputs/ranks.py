"""Writes small models whose best cuts differ: two products, two blocks of such, attention with heads and an open length, a broadcast column, convolutions that are cut into strips,
recurrent layers, a transposed convolution between images, and strings."""

import pathlib
import sys

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

FOLDER = pathlib.Path(sys.argv[1])
RANDOM = np.random.default_rng(22)


def weight(name, *shape):
    scale = 1 / np.sqrt(np.prod(shape[1:]) if len(shape) == 4 else shape[0])
    return numpy_helper.from_array((RANDOM.standard_normal(shape) * scale).astype(np.float32), name)


def save(name, nodes, inputs, outputs, weights):
    infos = [[helper.make_tensor_value_info(key, TensorProto.FLOAT, shape) for key, shape in tensors.items()] for tensors in (inputs, outputs)]
    graph = helper.make_graph(nodes, name, *infos, weights)
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
    onnx.checker.check_model(model)
    onnx.save(model, FOLDER / f"{name}.onnx")


def node(op, inputs, outputs, name, **attributes):
    return helper.make_node(op, inputs, outputs, name, **attributes)


save("mlp", [node("MatMul", ["x", "w1"], ["h"], "first"), node("Relu", ["h"], ["r"], "relu"), node("MatMul", ["r", "w2"], ["y"], "second")],
     {"x": [64, 256]}, {"y": [64, 256]}, [weight("w1", 256, 4096), weight("w2", 4096, 256)])

# Nodes with the names of their results, which is what exporters make.
save("named", [node("MatMul", ["x", "w1"], ["h"], "h"), node("Relu", ["h"], ["r"], "r"), node("MatMul", ["r", "w2"], ["y"], "y")],
     {"x": [16, 32]}, {"y": [16, 64]}, [weight("w1", 32, 128), weight("w2", 128, 64)])

# Three groups of two channels each, which two ranks cannot share.
save("groups", [node("Conv", ["x", "w"], ["y"], "conv", group=3)], {"x": [1, 6, 7, 7]}, {"y": [1, 12, 7, 7]}, [weight("w", 12, 2, 1, 1)])

# Sums of six numbers each, of which two ranks have three.
save("sums", [node("ReduceSum", ["x", "axes"], ["y"], "sum", keepdims=1)], {"x": [4096, 6]}, {"y": [4096, 1]},
     [numpy_helper.from_array(np.array([1], np.int64), "axes")])

blocks, value = [], "x"
for i in range(2):
    blocks += [node("MatMul", [value, f"u{i}"], [f"h{i}"], f"up_{i}"), node("Relu", [f"h{i}"], [f"r{i}"], f"relu_{i}"),
               node("MatMul", [f"r{i}", f"d{i}"], [f"d{i}y"], f"down_{i}"), node("Add", [f"d{i}y", value], [f"y{i}"], f"add_{i}")]
    value = f"y{i}"
save("blocks", blocks, {"x": [16, 128]}, {"y1": [16, 128]},
     [weight(f"{name}{i}", *shape) for i in range(2) for name, shape in (("u", (128, 2048)), ("d", (2048, 128)))])

heads = []
for part in "qkv":
    heads += [node("MatMul", ["x", f"w{part}"], [f"{part}0"], f"{part}_product"), node("Reshape", [f"{part}0", "split"], [f"{part}1"], f"{part}_split"),
              node("Transpose", [f"{part}1"], [part], f"{part}_heads", perm=[0, 2, 3, 1] if part == "k" else [0, 2, 1, 3])]
save("attention", heads + [
    node("MatMul", ["q", "k"], ["scores"], "scores"), node("Mul", ["scores", "scale"], ["scaled"], "scale"), node("Softmax", ["scaled"], ["shares"], "softmax"),
    node("MatMul", ["shares", "v"], ["z0"], "sums"), node("Transpose", ["z0"], ["z1"], "rows", perm=[0, 2, 1, 3]),
    node("Reshape", ["z1", "join"], ["z"], "join"), node("MatMul", ["z", "wo"], ["y"], "out")],
     {"x": [1, "seq", 64]}, {"y": [1, "seq", 64]},
     [*(weight(f"w{part}", 64, 64) for part in "qkvo"), numpy_helper.from_array(np.array([0, 0, 4, 16], np.int64), "split"),
      numpy_helper.from_array(np.array([0, 0, 64], np.int64), "join"), numpy_helper.from_array(np.float32(0.25), "scale")])

# A choice of two products, each of which is the sum of what the ranks have.
def product(branch):
    result = helper.make_tensor_value_info(f"{branch}_y", TensorProto.FLOAT, [16, 32])
    return helper.make_graph([node("MatMul", ["x", branch], [f"{branch}_y"], f"{branch}_product")], branch, [], [result])


choice = helper.make_graph([node("If", ["c"], ["y"], "choice", then_branch=product("yes"), else_branch=product("no"))], "choice",
                           [helper.make_tensor_value_info("x", TensorProto.FLOAT, [16, 64]), helper.make_tensor_value_info("c", TensorProto.BOOL, [])],
                           [helper.make_tensor_value_info("y", TensorProto.FLOAT, [16, 32])], [weight("yes", 64, 32), weight("no", 64, 32)])
onnx.save(helper.make_model(choice, opset_imports=[helper.make_opsetid("", 17)], ir_version=8), FOLDER / "choice.onnx")

# One column, which is broadcast along the rows.
save("column", [node("Add", ["x", "b"], ["s"], "sum"), node("Mul", ["s", "c"], ["y"], "product")],
     {"x": [2, 1], "b": [2, 1], "c": [1, 2]}, {"y": [2, 2]}, [])

# Windows of several sizes and steps, padding that is not zero, channels in groups, and a mean over the image.
save("strips", [
    node("Conv", ["x", "c1"], ["a"], "wide", pads=[2, 2, 2, 2]), node("Relu", ["a"], ["b"], "relu"),
    node("MaxPool", ["b"], ["c"], "pool", kernel_shape=[3, 3], strides=[2, 2], pads=[1, 1, 1, 1]),
    node("Conv", ["c", "c2"], ["d"], "depthwise", pads=[2, 2, 2, 2], dilations=[2, 2], group=8), node("Add", ["c", "d"], ["e"], "residual"),
    node("AveragePool", ["e"], ["f"], "average", kernel_shape=[2, 2], strides=[2, 2]),
    node("GlobalAveragePool", ["f"], ["g"], "mean"), node("Flatten", ["g"], ["h"], "flatten"), node("MatMul", ["h", "fc"], ["y"], "classes")],
     {"x": [1, 3, 48, 40]}, {"y": [1, 6]}, [weight("c1", 8, 3, 5, 5), weight("c2", 8, 1, 3, 3), weight("fc", 8, 6)])

# Windows of every kind of kernel, over images with enough work beside the exchange of their borders, and over one that leaves each rank one row.
def windows(name, height, width, channels):
    save(name, [node("Conv", ["x", "c1"], ["a"], "three", pads=[1, 1, 1, 1]), node("Relu", ["a"], ["b0"], "relu"),
                node("Conv", ["b0", "c1"], ["b"], "again", pads=[1, 1, 1, 1]), node("Conv", ["b", "c2"], ["c"], "five", pads=[2, 2, 2, 2] if height > 4 else [0, 2, 0, 2]),
                node("MaxPool", ["c"], ["d"], "pool", kernel_shape=[3, 3], pads=[1, 1, 1, 1]),
                node("Conv", ["d", "c3"], ["y"], "depthwise", pads=[1, 1, 1, 1], group=channels),
                node("GlobalAveragePool", ["x"], ["f"], "mean"), node("Flatten", ["f"], ["g"], "flatten"), node("MatMul", ["g", "w"], ["z"], "wide")],
         {"x": [1, channels, height, width]}, {"y": [1, channels, height, width], "z": [1, 8192]},
         # Most of the weights are cut, so those of the convolutions need not be.
         [weight("w", channels, 8192), weight("c1", channels, channels, 3, 3), weight("c2", channels, channels, 5 if height > 4 else 1, 5),
          weight("c3", channels, 1, 3, 3)])


windows("borders", 96, 128, 8)
windows("rows", 4, 2048, 8)

# Recurrent layers: their units are cut, or their directions. Lengths, peepholes and both forms of a reset gate.
def recurrent(name, op, gates, directions=1, lengths=False, peephole=False, **attributes):
    units, size, steps, batch = 64, 32, 6, 2
    inputs = ["x", "w", "r", "b", "lengths" if lengths else ""] + (["", "", "p"] if peephole else [])
    weights = [weight("w", directions, gates * units, size), weight("r", directions, gates * units, units), weight("b", directions, 2 * gates * units)]
    weights += [weight("p", directions, 3 * units)] if peephole else []
    weights += [numpy_helper.from_array(np.array([steps, 3], np.int32), "lengths")] if lengths else []
    outputs = {"y": [steps, directions, batch, units], "h": [directions, batch, units]} | ({"c": [directions, batch, units]} if op == "LSTM" else {})
    save(name, [node(op, inputs, list(outputs), "layer", hidden_size=units, **attributes)], {"x": [steps, batch, size]}, outputs, weights)


recurrent("lstm", "LSTM", 4, lengths=True, peephole=True, clip=1.5)
recurrent("lstm_two", "LSTM", 4, directions=2, direction="bidirectional")
recurrent("gru", "GRU", 3, lengths=True, direction="reverse")
recurrent("gru_linear", "GRU", 3, linear_before_reset=1)
recurrent("rnn", "RNN", 1, directions=2, direction="bidirectional")

# Halves of an image on the way down and up.
save("up", [node("Conv", ["x", "d1"], ["a"], "down", pads=[1, 1, 1, 1], strides=[2, 2]), node("Relu", ["a"], ["b"], "relu"),
            node("Conv", ["b", "d2"], ["c"], "wide", pads=[1, 1, 1, 1]), node("ConvTranspose", ["c", "u"], ["d"], "up", strides=[2, 2]),
            node("Concat", ["d", "x"], ["e"], "join", axis=1), node("Conv", ["e", "o"], ["y"], "out", pads=[1, 1, 1, 1])],
     {"x": [1, 4, 32, 32]}, {"y": [1, 4, 32, 32]}, [weight("d1", 16, 4, 3, 3), weight("d2", 64, 16, 3, 3), weight("u", 64, 8, 2, 2), weight("o", 4, 12, 3, 3)])

# Strings that each rank puts together in its own memory.
texts = [helper.make_tensor_value_info(name, TensorProto.STRING, [2]) for name in "xyz"]
strings = helper.make_graph([node("StringConcat", ["x", "y"], ["z"], "concat")], "strings", texts[:2], texts[2:])
onnx.save(helper.make_model(strings, opset_imports=[helper.make_opsetid("", 20)], ir_version=9), FOLDER / "strings.onnx")
for name, values in ("x", ["a", "b"]), ("y", ["cd", "ef"]):
    (FOLDER / f"{name}.pb").write_bytes(numpy_helper.from_array(np.array(values, object), name).SerializeToString())
