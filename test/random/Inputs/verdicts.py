#!/usr/bin/env python3
"""The judge of random models is right: a model recorded rightly, wrongly, and by float32 numbers in float64. Usage: verdicts.py FOLDER [TARGET]"""

import json
import pathlib
import subprocess
import sys

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

RUN = pathlib.Path(__file__).resolve().parents[1] / "run"
X = np.float64([-1.5, 0.1, 2])
#: case: (what is recorded, exact, atol, rtol, words of the complaint); "cast" computes in float32, "cancelled..." gives exp(x) times 1e-8
CASES = {
    "right": (np.exp(X), False, 1e-9, 1e-6, ""),
    "precise": (np.exp(X) + 1e-7, False, 1e-9, 1e-9, "wrong precise fused: y: 3 of 3 values are off"),
    "wrong": (np.exp(X) * [1, 1, 1.1], False, 1e-9, 1e-6, "wrong wrong fused: y: 1 of 3 values are off by up to 0.7"),
    "infinite": (np.exp(X) * [1, 1, np.inf], False, 1e-9, 1e-3, "wrong infinite fused: y: 1 of 3"),
    "not_exact": (np.exp(X) + 1e-12, True, 0, 0, "wrong not_exact fused: y: 3 of 3 values differ from exact ones"),
    "cast": (np.exp(X) + 2.0 ** -20, False, 0, 0, ""),
    "cancelled": (np.zeros(3), False, 1e-9, 1e-6, ""),
    "cancelled_not": (np.full(3, 1e-6), False, 1e-9, 1e-6, "wrong cancelled_not fused: y: 3 of 3 values are off"),
    "cancelled_to_nan": (np.full(3, np.nan), False, 1e-9, 1e-6, ""),
    "shape": (np.zeros((3, 1)), False, 1, 1, "wrong shape fused: y: float64[3] instead of float64[3, 1]"),
}


def write(folder, recorded, exact, atol, rtol):
    data = folder / "test_data_set_0"
    data.mkdir(parents=True)
    cast = folder.name == "cast"
    scale = numpy_helper.from_array(np.array(1e-8 if folder.name.startswith("cancelled") else 1, "f4" if cast else "f8"), "scale")
    nodes = [helper.make_node("Exp", ["x"], ["f"]), helper.make_node("Mul", ["f", "scale"], ["e"]), helper.make_node("Cast" if cast else "Identity", ["e"], ["y"], **({"to": TensorProto.DOUBLE} if cast else {}))]
    graph = helper.make_graph(nodes, "g", [helper.make_tensor_value_info("x", TensorProto.FLOAT if cast else TensorProto.DOUBLE, [3])], [helper.make_tensor_value_info("y", TensorProto.DOUBLE, None)], [scale])
    onnx.save(helper.make_model(graph, ir_version=8, opset_imports=[helper.make_opsetid("", 17)]), str(folder / "model.onnx"))
    (data / "input_0.pb").write_bytes(numpy_helper.from_array(X.astype("f4") if cast else X).SerializeToString())
    (data / "output_0.pb").write_bytes(numpy_helper.from_array(recorded).SerializeToString())
    (folder / "meta.json").write_text(json.dumps({"outputs": [{"name": "y", "type": "f8", "bound": 4, "exact": exact, "atol": atol, "rtol": rtol}]}))


def main():
    folder = pathlib.Path(sys.argv[1])
    for name, (recorded, *bounds, _) in CASES.items():
        write(folder / name, recorded, *bounds)
    ways = f"--target={sys.argv[2]}" if len(sys.argv) > 2 else "--ways=fused,threads"
    result = subprocess.run([RUN, folder, ways], capture_output=True, text=True)
    missing = [words for *_, words in CASES.values() if words not in result.stdout]
    good = result.returncode == 1 and "4 passed, 6 failed" in result.stdout and not missing
    sys.exit(None if good else f"{missing}\n{result.stdout}{result.stderr}")


if __name__ == "__main__":
    main()
