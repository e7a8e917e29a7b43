"""Broadcasts that only run time decides, and gathers from what was broadcast: run by kiln, compared with NumPy. Usage: run_time_broadcast.py FOLDER"""

import pathlib
import sys

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[3]))
import kiln_calls  # noqa: E402

FOLDER = pathlib.Path(sys.argv[1])
RANDOM = np.random.RandomState(11)
THREE = np.float32([1, 2, 3])
# sizes of x[a, b] and y[c, d]; z[e] meets a dimension of size 3
CASES = [((3, 40), (3, 40), 3), ((3, 1), (1, 40), 1), ((1, 40), (3, 1), 3), ((3, 40), (3, 1), 1), ((1, 1), (5, 17), 3), ((2, 33), (1, 33), 1),
         ((0, 40), (1, 40), 3), ((1, 40), (0, 1), 1)]
WRONG = [((3, 40), (2, 40), 3), ((3, 40), (3, 40), 2)]


def build(path):
    nodes = [helper.make_node("Add", ["x", "y"], ["sum"]), helper.make_node("Relu", ["sum"], ["relu"]), helper.make_node("Sub", ["y", "relu"], ["again"]), helper.make_node("Mul", ["z", "three"], ["product"]),
             helper.make_node("Expand", ["z", "shape"], ["wide"]), helper.make_node("Gather", ["wide", "rows"], ["gathered"], axis=0)]
    symbols = {"x": ["a", "b"], "y": ["c", "d"], "z": ["e"]}
    inputs = [helper.make_tensor_value_info(name, TensorProto.FLOAT, dims) for name, dims in symbols.items()]
    outputs = [helper.make_tensor_value_info(name, TensorProto.FLOAT, None) for name in ("relu", "again", "product", "gathered")]
    weights = [numpy_helper.from_array(np.array(value), name) for name, value in (("three", THREE), ("shape", [4, 3]), ("rows", [2, 0, -1]))]
    model = helper.make_model(helper.make_graph(nodes, "g", inputs, outputs, weights), opset_imports=[helper.make_opsetid("", 17)])
    onnx.save(model, str(path))


def run(model, arrays):
    arguments = ["run", model, "--output-dir", FOLDER / "out"]
    for name, array in arrays.items():
        np.save(FOLDER / f"{name}.npy", array)
        arguments += ["--input", f"{name}={FOLDER}/{name}.npy"]
    return kiln_calls.call(*arguments)


def main():
    FOLDER.mkdir(parents=True, exist_ok=True)
    model = FOLDER / "model.onnx"
    build(model)
    for x, y, z in CASES + WRONG:
        arrays = {name: RANDOM.standard_normal(shape).astype(np.float32) for name, shape in (("x", x), ("y", y), ("z", (z,)))}
        done = run(model, arrays)
        if (x, y, z) in WRONG:
            assert done.returncode == 1 and ("dimensions do not fit each other" in done.stderr or "the model cannot run with " in done.stderr), (x, y, z, done.stderr)
            continue
        assert done.returncode == 0, done.stderr
        wide = np.broadcast_to(arrays["z"], (4, 3))
        relu = np.maximum(arrays["x"] + arrays["y"], 0)
        for name, want in (("relu", relu), ("again", arrays["y"] - relu), ("product", arrays["z"] * THREE), ("gathered", wide[[2, 0, -1]])):
            np.testing.assert_array_equal(np.load(FOLDER / "out" / f"{name}.npy"), want, err_msg=f"{name} of {x}, {y}, {z}")
    print(f"{len(CASES)} sizes right, {len(WRONG)} refused")


main()
