#!/usr/bin/env python3
"""Layouts at the border of a model. `make FILE` writes one, `run FILE FOLDER` runs it with and without --io-layout, and verifies it against recorded tensors,
which have the model's layouts."""
import pathlib
import sys

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[3]))
import kiln_calls  # noqa: E402

TO_CALLER = {3: (0, 2, 1), 4: (0, 2, 3, 1)}


def make(path):
    weights = np.random.RandomState(3).uniform(-1, 1, (8, 3, 3, 3)).astype("f4")
    graph = helper.make_graph(
        [helper.make_node("Conv", ["x", "w"], ["c"], pads=[1, 1, 1, 1]), helper.make_node("Relu", ["c"], ["y"]), helper.make_node("Tanh", ["line"], ["r"])], "net",
        [helper.make_tensor_value_info("x", TensorProto.FLOAT, ["batch", 3, 6, 7]), helper.make_tensor_value_info("line", TensorProto.FLOAT, [2, 5, 9])],
        [helper.make_tensor_value_info("y", TensorProto.FLOAT, ["batch", 8, 6, 7]), helper.make_tensor_value_info("r", TensorProto.FLOAT, [2, 5, 9])],
        [numpy_helper.from_array(weights, "w")])
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8), path)


def run(model, folder, inputs, options=(), moved=()):
    """The outputs by name, in the model's layouts. `moved`: the tensors that the library has in the caller's."""
    folder.mkdir()
    words = []
    for name, array in inputs.items():
        np.save(folder / f"in_{name}.npy", np.ascontiguousarray(array.transpose(TO_CALLER[array.ndim])) if name in moved else array)
        words += ["--input", f"{name}={folder}/in_{name}.npy"]
    kiln_calls.run("run", model, "-q", "--output-dir", folder / "out", *options, *words)
    outputs = {path.stem: np.load(path) for path in (folder / "out").glob("*.npy")}
    return {name: array.transpose(np.argsort(TO_CALLER[array.ndim])) if name in moved else array for name, array in outputs.items()}


def write_set(folder, inputs, outputs):
    folder.mkdir()
    for kind, tensors in (("input", inputs), ("output", outputs)):
        for i, (name, array) in enumerate(tensors):
            (folder / f"{kind}_{i}.pb").write_bytes(numpy_helper.from_array(np.ascontiguousarray(array), name).SerializeToString())


def main():
    if sys.argv[1] == "make":
        return make(sys.argv[2])
    model, folder = sys.argv[2], pathlib.Path(sys.argv[3])
    random = np.random.RandomState(4)
    inputs = {"x": random.uniform(-1, 1, (2, 3, 6, 7)).astype("f4"), "line": random.uniform(-1, 1, (2, 5, 9)).astype("f4")}
    expected = run(model, folder / "plain", inputs)
    for number, (option, moved) in enumerate([("nhwc", ("x", "y")), ("x=nhwc", ("x",)), ("y=nhwc,line=nwc", ("y", "line"))]):
        found = run(model, folder / str(number), inputs, [f"--io-layout={word}" for word in option.split(",")], moved)
        for name, array in expected.items():
            if found[name].shape != array.shape or not np.allclose(found[name], array, rtol=1e-5, atol=1e-6):
                sys.exit(f"--io-layout={option}: {name} differs")
        print(f"same numbers with --io-layout={option}")
    write_set(folder / "set", inputs.items(), [(name, expected[name]) for name in ("y", "r")])
    kiln_calls.run("verify", model, "--io-layout=nhwc", "--data", folder / "set", "--nodes=kernels")
    print("verify --data agrees")


if __name__ == "__main__":
    main()
