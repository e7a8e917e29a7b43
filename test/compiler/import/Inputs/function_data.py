#!/usr/bin/env python3
"""A model and a library of functions in folders of their own, each with its w.bin: function_data.py FOLDER"""

import pathlib
import sys

import numpy as np
import onnx
from onnx import TensorProto, helper


def external(offset, length=None):
    """Two floats of w.bin."""
    tensor = TensorProto(name="w", data_type=TensorProto.FLOAT, dims=[2], data_location=TensorProto.EXTERNAL)
    entries = {"location": "w.bin", "offset": str(offset), **({"length": str(length)} if length else {})}
    tensor.external_data.extend(onnx.StringStringEntryProto(key=key, value=value) for key, value in entries.items())
    return tensor


def constant(name, tensor):
    return helper.make_node("Constant", [], [name], value=tensor)


def main():
    folder = pathlib.Path(sys.argv[1])
    float2 = lambda name: helper.make_tensor_value_info(name, TensorProto.FLOAT, [2])
    # The first length is given; the second one is not, and the file goes on; the third is in a body.
    branches = [helper.make_graph([constant(f"b{i}", external(16, 8)), helper.make_node("Mul", ["x", f"b{i}"], [f"r{i}"])], "branch", [], [float2(f"r{i}")]) for i in range(2)]
    nodes = [constant("a", external(0, 8)), constant("b", external(8)), helper.make_node("Constant", [], ["yes"], value=helper.make_tensor("t", TensorProto.BOOL, [], [1])),
             helper.make_node("If", ["yes"], ["c"], then_branch=branches[0], else_branch=branches[1]), helper.make_node("Sum", ["a", "b", "c"], ["y"])]
    function = helper.make_function("acme", "Add", ["x"], ["y"], nodes, [helper.make_opsetid("", 17)])
    empty = helper.make_graph([], "none", [], [])
    imports = [helper.make_opsetid("", 17), helper.make_opsetid("acme", 1)]
    graph = helper.make_graph([helper.make_node("Add", ["x"], ["y"], "n", domain="acme"), helper.make_node("Mul", ["y", "w"], ["z"])], "g", [float2("x")], [float2("z")],
                              [external(0, 8)])
    for name, given, functions, numbers in ("model", graph, [], [2, 3]), ("library", empty, [function], [10, 20, 100, 200, 1000, 2000]), ("bare", empty, [function], []):
        (folder / name).mkdir(parents=True)
        onnx.save(helper.make_model(given, ir_version=9, opset_imports=imports, functions=functions), str(folder / name / f"{name}.onnx"))
        if numbers:
            (folder / name / "w.bin").write_bytes(np.array(numbers, "f4").tobytes())
    np.save(folder / "x.npy", np.array([1, 1], "f4"))


main()
