#!/usr/bin/env python3
"""Sizes that only data decide, where the model declares the results' shapes: declared_shapes.py FOLDER

Data that give the declared shapes give numpy's results. Others give those of the data, or end with a status. Where data decide a rank, a run with another one than the declared
one ends with a status that names the value and the node.
"""

import pathlib
import sys

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

sys.path[:0] = [str(pathlib.Path(__file__).resolve().parents[3]), str(pathlib.Path(__file__).resolve().parents[4] / "runtime/python")]
import kiln_calls  # noqa: E402
from kiln_model import KilnError, Model  # noqa: E402

TYPES = {np.dtype("f4"): TensorProto.FLOAT, np.dtype("i8"): TensorProto.INT64}
image, matrix = np.arange(16, dtype="f4").reshape(1, 1, 4, 4), np.arange(12, dtype="f4").reshape(2, 6)
line, column = np.arange(5, dtype="f4"), np.array([[1], [2], [3]], "f4")
ints = lambda *values: np.array(values, "i8")
scalar = np.int64

# Operator, attributes, data (None: a weight of the model), what the results are, data of the last or a named input that give other shapes.
CASES = {
    "fill": ("ConstantOfShape", {}, {"s": ints(2, 3)}, [np.zeros((2, 3), "f4")], {"s": [ints(3, 2), ints(2, 4)]}),
    "count": ("Range", {}, {"a": scalar(1), "b": scalar(10), "c": scalar(2)}, [np.arange(1, 10, 2)], {"b": [scalar(9), scalar(12), scalar(0)], "c": [scalar(-2)]}),
    "part": ("Range", {}, {"a": np.float32(0), "b": np.float32(1), "c": np.float32(0.25)}, [np.arange(0, 1, 0.25, dtype="f4")], {"b": [np.float32(1.01), np.float32(0.75)]}),
    "hot": ("OneHot", {}, {"i": ints(1, 3), "d": scalar(4), "v": np.array([0, 1], "f4")}, [np.eye(4, dtype="f4")[[1, 3]]], {"d": [scalar(5), scalar(3)]}),
    "sizes": ("Resize", {"coordinate_transformation_mode": "asymmetric", "nearest_mode": "floor"}, {"x": image, "r": None, "k": None, "s": ints(1, 1, 8, 4)},
              [image.repeat(2, 2)], {"s": [ints(1, 1, 9, 4), ints(1, 1, 8, 3)]}),
    "parts": ("Split", {}, {"x": line, "s": ints(2, 3)}, [line[:2], line[2:]], {"s": [ints(3, 2), ints(2, 2)]}),
    "tiles": ("Tile", {}, {"x": matrix, "r": ints(2, 1)}, [np.tile(matrix, (2, 1))], {"r": [ints(1, 1), ints(2, 2), ints(2, 0)]}),
    "sums": ("ReduceSum", {"keepdims": 0}, {"x": matrix, "a": ints(0)}, [matrix.sum(0)], {"a": [ints(1), ints(-1)]}),
    "most": ("TopK", {}, {"x": line, "k": ints(2)}, [line[[4, 3]], ints(4, 3)], {"k": [ints(3), ints(0), ints(-1)]}),
    "shape": ("Reshape", {}, {"x": matrix, "s": ints(3, 4)}, [matrix.reshape(3, 4)], {"s": [ints(4, 3), ints(0, 6), ints(-1, 3)]}),
    "squeezed": ("Squeeze", {}, {"x": column[None], "a": ints(0)}, [column], {"a": [ints(2), ints(-1)]}),
    "unsqueezed": ("Unsqueeze", {}, {"x": line, "a": ints(-1)}, [line[:, None]], {"a": [ints(0), ints(-2)]}),
    "expanded": ("Expand", {}, {"x": column, "s": ints(3, 4)}, [np.broadcast_to(column, (3, 4))], {"s": [ints(3, 5), ints(3, 1), ints(2, 4)]}),
}
# Of the operators whose axes data decide: which dimensions the results have, that is, the declared ones.
RANKS = {"sums", "squeezed", "unsqueezed"}
resized = lambda x, s: x[:, :, np.arange(s[2]) * 4 // s[2]][:, :, :, np.arange(s[3]) * 4 // s[3]]
# The results of other data; None: a status, as no result is valid.
BY_DATA = {
    "fill": lambda s: [np.zeros(s, "f4")],
    "count": lambda a, b, c: [np.arange(a, b, c)],
    "part": lambda a, b, c: [np.arange(a, b, c, dtype="f4")],
    "hot": lambda i, d, v: [(i[:, None] == np.arange(d)).astype("f4")],
    "sizes": lambda x, r, k, s: [resized(x, s)],
    "parts": lambda x, s: [x[:s[0]], x[s[0]:]] if sum(s) == len(x) else None,
    "tiles": lambda x, r: [np.tile(x, r)],
    "most": lambda x, k: [np.sort(x)[::-1][:k[0]], np.argsort(-x)[:k[0]]] if k[0] >= 0 else None,
    "shape": lambda x, s: [x.reshape([x.shape[i] if size == 0 else size for i, size in enumerate(s)])],
    "expanded": lambda x, s: [np.broadcast_to(x, np.broadcast_shapes(x.shape, s))] if s[0] in (1, 3) else None,
}
# Other data that give the declared shapes.
SAME = {"shape": {"s": [ints(3, -1), ints(-1, 4)]}, "expanded": {"s": [ints(1, 4)]}, "squeezed": {"a": [ints(-3)]}, "unsqueezed": {"a": [ints(1)]},
        "sums": {"a": [ints(-2)]}, "count": {"b": [scalar(11)]}}


def build(path):
    nodes, inputs, outputs, between, given = [], [], [], [], {}
    for name, (op, attributes, data, results, _) in CASES.items():
        for at, array in data.items():
            if array is not None:
                array = np.asarray(array)
                given[f"{name}_{at}"] = array
                inputs.append(helper.make_tensor_value_info(f"{name}_{at}", TYPES[array.dtype], array.shape))
        made = [f"{name}{i}" for i in range(len(results))]
        nodes.append(helper.make_node(op, [f"{name}_{at}" if array is not None else "" for at, array in data.items()], made, name, **attributes))
        for value, result in zip(made, results):
            info = lambda value: helper.make_tensor_value_info(value, TYPES[result.dtype], result.shape)
            # Some are values between nodes.
            if name in ("tiles", "shape"):
                between.append(info(value))
                nodes.append(helper.make_node("Abs", [value], [value + "_abs"]))
                value += "_abs"
            outputs.append(info(value))
    graph = helper.make_graph(nodes, "declared", inputs, outputs, value_info=between)
    onnx.save(helper.make_model(graph, ir_version=10, opset_imports=[helper.make_opsetid("", 21)]), str(path))
    return given


def main():
    folder = pathlib.Path(sys.argv[1])
    folder.mkdir(parents=True)
    given = build(folder / "declared.onnx")
    kiln_calls.run(folder / "declared.onnx", "--emit=so", "--target=generic", "-o", folder)
    model, faults, right, refused = Model(folder / "libdeclared.so"), [], 0, 0
    runs = [("as declared", given)] + [(f"{name} {at} {array}", {**given, f"{name}_{at}": array}) for name, more in SAME.items() for at, arrays in more.items() for array in arrays]
    for label, arrays in runs:
        try:
            results = model(arrays)
        except KilnError as error:
            faults.append(f"{label}: {error}")
            continue
        for name, (_, _, _, expected, _) in CASES.items():
            for i, want in enumerate(expected):
                got = results[f"{name}{i}" if f"{name}{i}" in results else f"{name}{i}_abs"]
                if not np.array_equal(got, want):
                    faults.append(f"{label}: {name} gives {got.tolist()}, expected {want.tolist()}")
        right += 1
    for name, (op, _, data, _, wrong) in CASES.items():
        for at, arrays in wrong.items():
            for array in arrays:
                want = None if name in RANKS else BY_DATA[name](**{**data, at: array})
                try:
                    results = model({**given, f"{name}_{at}": array})
                except KilnError as error:
                    named = error.status == 4 and f"{name}0_not_as_declared == 0 ({op} '{name}')" in str(error)
                    refused, faults = refused + 1, faults + ([] if want is None and (named or name not in RANKS) else [f"{name}: {at} {array}: {error}"])
                    continue
                got = [results[f"{name}{i}" if f"{name}{i}" in results else f"{name}{i}_abs"] for i in range(len(want or []))]
                right += 1
                if not want or not all(np.array_equal(*pair) for pair in zip(got, want)):
                    faults.append(f"{name}: {at} {array} gives {[each.tolist() for each in got]}, expected {want and [each.tolist() for each in want]}")
    for name, array in {**given, "most_k": ints(3)}.items():
        np.save(folder / f"{name}.npy", array)
    if faults:
        sys.exit("\n".join(faults))
    print(f"{right} runs right, {refused} refused")


main()
