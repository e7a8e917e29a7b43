#!/usr/bin/env python3
"""Runs products of gathered rows with `kiln run` and compares with numpy: gathered.py FOLDER TARGET..."""
import pathlib
import sys

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[3]))
import kiln_calls  # noqa: E402

folder, targets = pathlib.Path(sys.argv[1]), sys.argv[2:]
rng = np.random.default_rng(7)
# Shape of the indices, rows of the table, depth, columns; negative indices count from the end.
CASES = [((1,), 9, 32, 48), ((1,), 1000, 700, 300), ((3,), 5, 17, 1), ((4,), 64, 64, 100), ((2, 3), 50, 128, 33), ((6,), 20, 1, 16), ((5,), 300, 1024, 96), ((2, 2), 7, 40, 20)]


def model(cases, name):
    nodes, inputs, outputs, weights, want, feeds = [], [], [], [], {}, {}
    for i, (shape, rows, depth, columns) in enumerate(cases):
        table, right = rng.standard_normal((rows, depth)).astype(np.float32), rng.standard_normal((depth, columns)).astype(np.float32)
        bias = rng.standard_normal(columns).astype(np.float32)
        index = rng.integers(-rows, rows, shape)
        kind = TensorProto.INT32 if i % 2 else TensorProto.INT64
        index = index.astype(np.int32 if i % 2 else np.int64)
        inputs.append(helper.make_tensor_value_info(f"i{i}", kind, shape))
        outputs.append(helper.make_tensor_value_info(f"y{i}", TensorProto.FLOAT, (*shape, columns)))
        weights += [numpy_helper.from_array(right, f"w{i}"), numpy_helper.from_array(bias, f"b{i}")]
        # A table of weights, or one that the caller gives.
        if i % 3 == 2:
            inputs.append(helper.make_tensor_value_info(f"t{i}", TensorProto.FLOAT, table.shape))
            feeds[f"t{i}"] = table
        else:
            weights.append(numpy_helper.from_array(table, f"t{i}"))
        nodes += [helper.make_node("Gather", [f"t{i}", f"i{i}"], [f"g{i}"]), helper.make_node("MatMul", [f"g{i}", f"w{i}"], [f"p{i}"]),
                  helper.make_node("Add", [f"p{i}", f"b{i}"], [f"s{i}"]), helper.make_node("Relu", [f"s{i}"], [f"y{i}"])]
        feeds[f"i{i}"] = index
        want[f"y{i}"] = np.maximum(table[index].astype(np.float64) @ right + bias, 0)
    graph = helper.make_graph(nodes, name, inputs, outputs, weights)
    made = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)])
    made.ir_version = 8
    onnx.save(made, folder / f"{name}.onnx")
    return feeds, want


def add_refused():
    """Products of gathered rows that no kernel reads where they lie: along another axis, for two users, with a computed right side, of a table of any size."""
    value = lambda name, dims, kind=TensorProto.FLOAT: helper.make_tensor_value_info(name, kind, dims)
    random = lambda *shape: rng.standard_normal(shape).astype(np.float32)
    weights = {"ta": random(24, 9), "wa": random(2, 32), "tb": random(9, 24), "wb": random(24, 32), "tc": random(9, 24), "wd": random(24, 32)}
    feeds = {"ia": np.array([3, -1]), "ib": np.array([0, -9]), "ic": np.array([8, 1]), "id": np.array([2, -2]), "xc": random(24, 32), "td": random(5, 24)}
    gather = lambda case, axis=0: helper.make_node("Gather", [f"t{case}", f"i{case}"], [f"g{case}"], axis=axis)
    right = {"a": "wa", "b": "wb", "c": "xc", "d": "wd"}
    nodes = [node for case in "abcd" for node in (gather(case, int(case == "a")), helper.make_node("MatMul", [f"g{case}", right[case]], [f"y{case}"]))]
    nodes.append(helper.make_node("Neg", ["gb"], ["yn"]))
    dims = {"xc": [24, 32], "td": ["rows", 24]}
    inputs = [value(name, dims.get(name, array.shape), TensorProto.INT64 if name[0] == "i" else TensorProto.FLOAT) for name, array in feeds.items()]
    outputs = [value(name, None) for name in ("ya", "yb", "yc", "yd", "yn")]
    graph = helper.make_graph(nodes, "refused", inputs, outputs, [numpy_helper.from_array(array, name) for name, array in weights.items()])
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8), folder / "refused.onnx")
    all_ = {**weights, **feeds}
    want = {f"y{case}": np.take(all_[f"t{case}"], all_[f"i{case}"], axis=int(case == "a")).astype(np.float64) @ all_[right[case]] for case in "abcd"}
    return feeds, {**want, "yn": -all_["tb"][all_["ib"]]}


def run(target, feeds, expected=0, model="gathered"):
    arguments = []
    for name, value in feeds.items():
        np.save(folder / f"{name}.npy", value)
        arguments += ["--input", f"{name}={folder / name}.npy"]
    done = kiln_calls.call("run", folder / f"{model}.onnx", f"--target={target}", "--output-dir", folder / "out-run", *arguments)
    assert done.returncode == expected, done.stderr
    return done.stderr


feeds, want = model(CASES, "gathered")
for target in targets:
    run(target, feeds)
    for name, exact in want.items():
        got = np.load(folder / "out-run" / f"{name}.npy")
        error = np.abs(got - exact).max() / np.abs(exact).max()
        assert got.shape == exact.shape and error < 2e-6, (target, name, error)
    for fault in (20, -21):
        text = run(target, feeds | {"i5": np.full((6,), fault, np.int32)}, 1)
        assert "an index in the input data is out of bounds" in text, text
model([((200,), 30, 64, 512)], "many")
feeds, want = add_refused()
for target in targets:
    run(target, feeds, model="refused")
    for name, exact in want.items():
        error = np.abs(np.load(folder / "out-run" / f"{name}.npy") - exact).max() / np.abs(exact).max()
        assert error < 2e-6, (target, name, error)
print(f"{len(CASES)} products on {len(targets)} targets: right, faults found")
