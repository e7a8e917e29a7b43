#!/usr/bin/env python3
"""Graphs that exporters write against the letter of ONNX: exporter_graphs.py FOLDER. Prints what kiln says of each, and how many computed what they should."""

import os
import pathlib
import sys

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[3]))
import kiln_calls

X = np.array([[1.5, -2, 3], [-4, 5, 6]], "f4")
right = []


def floats(name, dims=(2, 3)):
    return helper.make_tensor_value_info(name, TensorProto.FLOAT, dims)


def save(path, nodes, inputs, outputs, weights=()):
    graph = helper.make_graph(nodes, path.stem, inputs, outputs, list(weights))
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 18)], ir_version=9)
    onnx.save(model, str(path))
    return model


def run(name, path, *arguments, **expected):
    """Runs a model, prints its warning or error, and compares the outputs that are expected."""
    out = path.parent / f"out_{name}"
    done = kiln_calls.call("run", path, "--target=generic", "--output-dir", out, *arguments)
    if said := done.stderr.strip():
        print(f"{name}:", said.split(".onnx: ")[-1].split("warning: ")[-1])
    if expected and not done.returncode and all(np.array_equal(np.load(out / f"{key}.npy"), want) for key, want in expected.items()):
        right.append(name)


def run_orders(folder, x):
    first, second = helper.make_node("Relu", ["b"], ["y"], "first"), helper.make_node("Neg", ["x"], ["b"], "second")
    save(folder / "unsorted.onnx", [first, second], [floats("x")], [floats("y")])
    run("unsorted", folder / "unsorted.onnx", *x, y=np.maximum(-X, 0))
    # The body of an If reads what a later node of the graph around it makes, and its own nodes are not in order.
    then = helper.make_graph([helper.make_node("Neg", ["d"], ["t"], "inner"), helper.make_node("Abs", ["late"], ["d"], "outer")], "then", [], [floats("t")])
    other = helper.make_graph([helper.make_node("Identity", ["x"], ["e"])], "other", [], [floats("e")])
    choice = helper.make_node("If", ["c"], ["y"], "choice", then_branch=then, else_branch=other)
    condition = helper.make_tensor_value_info("c", TensorProto.BOOL, [1, 1])
    save(folder / "body.onnx", [choice, helper.make_node("Neg", ["x"], ["late"], "last")], [floats("x"), condition], [floats("y")])
    run("body", folder / "body.onnx", *x, "--input", "c=1", y=-np.abs(X))
    run("condition", folder / "body.onnx", *x, "--input", "c=0", y=X)
    save(folder / "cycle.onnx", [first, helper.make_node("Neg", ["y"], ["b"], "second")], [floats("x")], [floats("y")])
    run("cycle", folder / "cycle.onnx", *x)


def run_links(folder, x):
    model = save(folder / "plain.onnx", [helper.make_node("Add", ["x", "w"], ["y"])], [floats("x")], [floats("y")], [numpy_helper.from_array(np.ones(3, "f4"), "w")])
    (folder / "elsewhere").mkdir()
    weights = folder / "elsewhere" / "weights"
    weights.write_bytes(np.ones(3, "f4").tobytes())
    os.symlink(weights, folder / "link")
    (folder / "hard").write_bytes(weights.read_bytes())
    os.link(folder / "hard", folder / "elsewhere" / "hard")
    for place in "link", "hard":
        tensor = model.graph.initializer[0]
        tensor.ClearField("raw_data")
        tensor.ClearField("external_data")
        tensor.data_location = TensorProto.EXTERNAL
        tensor.external_data.add(key="location", value=place)
        (folder / f"{place}.onnx").write_bytes(model.SerializeToString())
        run(place, folder / f"{place}.onnx", *x)
        run(place, folder / f"{place}.onnx", *x, "--follow-links", y=X + 1)


def main():
    folder = pathlib.Path(sys.argv[1])
    np.save(folder / "x.npy", X)
    x = "--input", f"x={folder}/x.npy"
    run_orders(folder, x)
    run_links(folder, x)
    save(folder / "twice.onnx", [helper.make_node("Neg", ["x"], ["y"])], [floats("x")], [floats("y"), floats("y")])
    run("twice", folder / "twice.onnx", *x, y=-X, y_2=-X)
    save(folder / "default.onnx", [helper.make_node("Mul", ["x", "w"], ["y"])], [floats("x"), floats("w", [3])], [floats("y")],
         [numpy_helper.from_array(np.ones(3, "f4"), "w")])
    run("default", folder / "default.onnx", *x, "--bind", "w=2,3,4", y=X * np.array([2, 3, 4], "f4"))
    np.save(folder / "w.npy", np.array([5, -6, 7], "f4"))
    run("given", folder / "default.onnx", *x, "--bind", "w=?", "--input", f"w={folder}/w.npy", y=X * np.array([5, -6, 7], "f4"))
    run("constant", folder / "default.onnx", *x, "--input", f"w={folder}/w.npy")
    run("none", folder / "default.onnx", *x, "--bind", "x=?")
    # The default has a length, the input does not.
    save(folder / "length.onnx", [helper.make_node("Mul", ["x", "w"], ["y"])], [floats("x"), floats("w", ["n"])], [floats("y")],
         [numpy_helper.from_array(np.ones(3, "f4"), "w")])
    np.save(folder / "one.npy", np.array([5], "f4"))
    run("length", folder / "length.onnx", *x, "--bind", "w=?", "--input", f"w={folder}/one.npy", y=X * 5)
    print(len(right), "graphs right")


main()
