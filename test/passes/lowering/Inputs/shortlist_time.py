#!/usr/bin/env python3
"""The work and the time of 1 % of a layer's columns that a gather picks, as parts of those of the whole layer: shortlist_time.py FOLDER [SECONDS].

Both are outputs of one model, so each run measures one after the other. Prints a line for f32, bytes and blocks of 4 bits, and ends with status 1 where the
kernels' operations or bytes are more than 2 %, or the time is more than a third: what computes or copies all columns takes longer, on a busy machine, too.
"""
import json
import pathlib
import subprocess
import sys

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

DEPTH, COLUMNS, PICKED, BLOCK = 256, 32000, 320, 32
#: In percent of the layer.
BOUNDS = {"flops": 2, "bytes": 2, "ms": 33}


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


def measure(folder, kind, seconds):
    """{what is counted: percent of the layer}"""
    done = subprocess.run(["kiln", "bench", folder / f"{kind}.onnx", "--threads", "1", "--min-time", seconds, "--json", "--input", f"ids={folder}/ids.npy"],
                          capture_output=True, check=True)
    sums = {side: {"flops": 0, "bytes": 0, "ms": 0} for side in ("full", "short")}
    for kernel in json.loads(done.stdout)["kernels"]:
        side = sums["full" if "full(MatMul)" in kernel["nodes"] else "short"]
        for key in side:
            side[key] += kernel[key]
    return {key: 100 * sums["short"][key] / sums["full"][key] for key in BOUNDS}


def main():
    folder, seconds, faults = pathlib.Path(sys.argv[1]), sys.argv[2] if len(sys.argv) > 2 else "0.5", []
    ids = np.random.default_rng(4).choice(COLUMNS, PICKED, replace=False)
    np.save(folder / "ids.npy", ids.astype("i8"))
    for kind in ("f32", "bytes", "blocks"):
        make(kind, folder / f"{kind}.onnx")
        parts = [measure(folder, kind, seconds) for _ in range(3)]
        least = {key: min(part[key] for part in parts) for key in BOUNDS}
        print(f"{kind}: {least['flops']:.2f} % of the operations, {least['bytes']:.2f} % of the bytes, {least['ms']:.2f} % of the time")
        faults += [f"{kind}: {key} {least[key]:.2f} %, {bound} allowed" for key, bound in BOUNDS.items() if not least[key] <= bound]
    sys.exit("\n".join(faults) if faults else 0)


if __name__ == "__main__":
    main()
