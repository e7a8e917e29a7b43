#!/usr/bin/env python3
"""The time of 1 % of a layer's columns that a gather picks, as a part of the time of the whole layer: shortlist_time.py FOLDER [BOUND].

Both are outputs of one model, so each run measures one after the other. Prints a line for f32, bytes and blocks of 4 bits; with a bound in percent, ends with
status 1 if one is above it."""
import json
import pathlib
import subprocess
import sys

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

DEPTH, COLUMNS, PICKED, BLOCK = 256, 32000, 320, 32


def make(kind, path):
    random = np.random.default_rng(3)
    if kind == "f32":
        weights, nodes, table = [numpy_helper.from_array(random.standard_normal((DEPTH, COLUMNS)).astype("f4"), "w")], [], "w"
    else:
        low, high = (-128, 128) if kind == "bytes" else (-8, 8)
        scales = random.uniform(0.01, 0.02, (DEPTH // BLOCK, COLUMNS) if kind == "blocks" else COLUMNS).astype("f4")
        weights = [numpy_helper.from_array(random.integers(low, high, (DEPTH, COLUMNS)).astype("i1"), "q"), numpy_helper.from_array(scales, "s")]
        attributes = {"axis": 0, "block_size": BLOCK} if kind == "blocks" else {"axis": 1}
        nodes, table = [helper.make_node("DequantizeLinear", ["q", "s"], ["w"], **attributes)], "w"
        if kind == "blocks":  # scales in blocks along the sum: picked like the numbers
            nodes.append(helper.make_node("Gather", ["q", "ids"], ["gq"], axis=1))
            nodes.append(helper.make_node("Gather", ["s", "ids"], ["gs"], axis=1))
            nodes.append(helper.make_node("DequantizeLinear", ["gq", "gs"], ["g"], **attributes))
    if kind != "blocks":
        nodes.append(helper.make_node("Gather", [table, "ids"], ["g"], axis=1))
    nodes += [helper.make_node("MatMul", ["x", table], ["full"], "full"), helper.make_node("MatMul", ["x", "g"], ["short"], "short")]
    values = [helper.make_tensor_value_info(name, type, shape) for name, type, shape in (
        ("x", TensorProto.FLOAT, [1, DEPTH]), ("ids", TensorProto.INT64, [PICKED]), ("full", TensorProto.FLOAT, [1, COLUMNS]), ("short", TensorProto.FLOAT, [1, PICKED]))]
    graph = helper.make_graph(nodes, "layer", values[:2], values[2:], weights)
    onnx.save(helper.make_model(graph, ir_version=10, opset_imports=[helper.make_opsetid("", 21)]), str(path))


def main():
    folder, slow = pathlib.Path(sys.argv[1]), []
    ids = np.random.default_rng(4).choice(COLUMNS, PICKED, replace=False)
    np.save(folder / "ids.npy", ids.astype("i8"))
    for kind in ("f32", "bytes", "blocks"):
        make(kind, folder / f"{kind}.onnx")
        least = {"full": np.inf, "short": np.inf}
        for _ in range(3):
            done = subprocess.run(["kiln", "bench", folder / f"{kind}.onnx", "--threads", "1", "--min-time", "0.5", "--json", "--input", f"ids={folder}/ids.npy"],
                                  capture_output=True, check=True)
            sums = {"full": 0.0, "short": 0.0}
            for kernel in json.loads(done.stdout)["kernels"]:
                sums["full" if "full(MatMul)" in kernel["nodes"] else "short"] += kernel["ms"]
            least = {name: min(least[name], sums[name]) for name in least}
        percent = 100 * least["short"] / least["full"]
        print(f"{kind}: {least['short']:.4f} ms of {least['full']:.4f} ms, {percent:.2f} %")
        if len(sys.argv) > 2 and percent > float(sys.argv[2]):
            slow.append(kind)
    sys.exit(f"slower than {sys.argv[2]} % of the layer: {', '.join(slow)}" if slow else 0)


if __name__ == "__main__":
    main()
