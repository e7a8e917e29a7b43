#!/usr/bin/python3
"""Samples for tests of kiln quantize, and checks of what it writes.

    quantize.py data MODEL DIR N                      N seeded samples of the model's first input
    quantize.py cases DIR OUT                         the same samples as folders with input_0.pb
    quantize.py check MODEL QUANTISED REPORT DIR ERROR [conv=N] [weights=TYPE] [clipped]
    quantize.py variant MODEL KIND OUT                a model that is refused
    quantize.py better REPORT OTHER                   the first has the smaller error
    quantize.py budget REPORT                         half of its error
    quantize.py met MODEL QUANTISED REPORT DIR BUDGET
"""

import hashlib
import json
import pathlib
import sys
import tempfile

import numpy as np
import onnx
from onnx import numpy_helper

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[3] / "end-to-end"))
sys.dont_write_bytecode = True
import library  # noqa: E402  the tree's own


def run_all(model, folder):
    """The outputs of all samples, which one library computes; they are kept beside the samples for the next check of the same bytes."""
    kept = pathlib.Path(f"{folder}-{hashlib.sha256(pathlib.Path(model).read_bytes()).hexdigest()}.npz")
    if not kept.exists():
        name = onnx.load(model).graph.input[0].name
        with tempfile.TemporaryDirectory() as out:
            code = library.Library(model, [], out)
            results = [code.run({name: np.load(sample)}, 1) for sample in sorted(pathlib.Path(folder).glob("*.npy"))]
        np.savez(kept, **{f"{i}_{j}": array for i, outputs in enumerate(results) for j, (_, array) in enumerate(sorted(outputs, key=lambda output: output[0]))})
    return np.load(kept)


def error_of(model, other, folder):
    """rms of the difference over all samples, relative to that of the output."""
    exact, actual = run_all(model, folder), run_all(other, folder)
    difference = sum(((actual[key].astype("f8") - exact[key]) ** 2).sum() for key in exact)
    return float(np.sqrt(difference / sum((exact[key].astype("f8") ** 2).sum() for key in exact)))


def make_data(model, folder, count):
    shape = [dim.dim_value or 4 for dim in onnx.load(model).graph.input[0].type.tensor_type.shape.dim]
    pathlib.Path(folder).mkdir(parents=True)
    for i in range(int(count)):
        np.save(f"{folder}/{i}.npy", np.random.default_rng(i).standard_normal(shape).astype("f4"))


def make_cases(folder, out):
    for i, path in enumerate(sorted(pathlib.Path(folder).glob("*.npy"))):
        case = pathlib.Path(out) / f"test_data_set_{i}"
        case.mkdir(parents=True)
        onnx.save_tensor(numpy_helper.from_array(np.load(path)), case / "input_0.pb")


def check(model, quantised, report, folder, bound, *facts):
    written, said = onnx.load(quantised), json.load(open(report))
    if written.opset_import[0].version < 21:  # the checker at hand may be older than blocks
        onnx.checker.check_model(written, full_check=True)
    facts = dict(fact.split("=") if "=" in fact else (fact, "") for fact in facts)
    error = error_of(model, quantised, folder)
    assert 0 < error < float(bound), error
    if said["samples"]:
        assert abs(error - said["outputs"][0]["error"]) < 0.1 * error + 1e-6, (error, said["outputs"])
    types = {tensor.data_type for tensor in written.graph.initializer if tensor.name.endswith("_quantized")}
    assert (onnx.TensorProto.INT8 if facts["weights"] == "int8" else 22) in types, types
    convolutions = [node for node in written.graph.node if node.op_type == "Conv"]
    assert len(convolutions) == int(facts["conv"])
    producers = {name: node.op_type for node in written.graph.node for name in node.output}
    assert all(producers[node.input[1]] == "DequantizeLinear" for node in convolutions)
    assert ("clipped" in facts) <= any(value["clipped"] > 0 for layer in said["layers"] for value in layer["inputs"])
    assert all(layer["quantized"] and layer["reason"] == "" for layer in said["layers"])


def check_met(model, quantised, report, folder, budget):
    limit, said = float(open(budget).read()), json.load(open(report))
    assert 0 < error_of(model, quantised, folder) <= limit
    assert said["outputs"][0]["error"] <= limit and 0 < said["quantized_layers"] < len(said["layers"])
    left = [layer["error_alone"] for layer in said["layers"] if not layer["quantized"]]
    assert max(left) == max(layer["error_alone"] for layer in said["layers"])


def make_variant(model, kind, out):
    m = onnx.load(model)
    graph = m.graph
    if kind == "two-inputs":
        graph.input.append(onnx.helper.make_tensor_value_info("z", 1, [2, 8]))
        graph.node[0].input[0] = "s"
        graph.node.insert(0, onnx.helper.make_node("Add", ["x", "z"], ["s"], "s"))
    elif kind == "infinite":
        graph.node[0].input[0] = "h"
        graph.node.insert(0, onnx.helper.make_node("Div", ["x", "n"], ["h"], "h"))
        graph.initializer.append(numpy_helper.from_array(np.zeros((), "f4"), "n"))
    elif kind == "nan-weights":
        weights = numpy_helper.to_array(graph.initializer[0]).copy()
        weights[3, 2] = np.nan
        graph.initializer[0].CopyFrom(numpy_helper.from_array(weights, "w"))
    elif kind == "no-weights":
        graph.node[0].CopyFrom(onnx.helper.make_node("Relu", ["x"], ["y"]))
        graph.output[0].type.tensor_type.shape.dim[1].dim_value = 8
    elif kind == "old":
        m.opset_import[0].version = 6
    elif kind == "sequence":
        graph.node[0].input[0] = "h"
        graph.node.insert(0, onnx.helper.make_node("SequenceAt", ["x", "i"], ["h"], "h"))
        graph.initializer.append(numpy_helper.from_array(np.zeros((), "i8"), "i"))
        graph.input[0].CopyFrom(onnx.helper.make_tensor_sequence_value_info("x", onnx.TensorProto.FLOAT, [2, 8]))
    elif kind == "group-norm":
        m.opset_import[0].version = 18
        graph.node[0].input[0] = "g"
        graph.node.insert(0, onnx.helper.make_node("GroupNormalization", ["x", "o", "o"], ["g"], "g", num_groups=1))
        graph.initializer.append(numpy_helper.from_array(np.ones(1, "f4"), "o"))
    onnx.save(m, out)


def main():
    command, arguments = sys.argv[1], sys.argv[2:]
    if command == "better":
        first, other = (json.load(open(path))["outputs"][0]["error"] for path in arguments)
        assert first < other, (first, other)
    elif command == "budget":
        print(json.load(open(arguments[0]))["outputs"][0]["error"] / 2)
    else:
        {"data": make_data, "cases": make_cases, "check": check, "met": check_met, "variant": make_variant}[command](*arguments)


if __name__ == "__main__":
    main()
