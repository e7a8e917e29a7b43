#!/usr/bin/env python3
"""Makes a model-local function of each few nodes of a graph: cut_into_functions.py MODEL OUT SIZE... cuts with each size, the next around the last."""
import sys

import onnx
from onnx import helper


def make_function(name, nodes, read_later, imports):
    """The function and the node that calls it; what the nodes read is its inputs, what others read its outputs."""
    made = {output for node in nodes for output in node.output}
    inputs = list(dict.fromkeys(value for node in nodes for value in node.input if value and value not in made))
    outputs = [output for node in nodes for output in node.output if output in read_later]
    function = helper.make_function("cut", name, inputs, outputs, nodes, imports)
    return function, helper.make_node(name, inputs, outputs, name=f"call_{name}", domain="cut")


def cut(model, size):
    graph, nodes, calls = model.graph, list(model.graph.node), []
    if all(entry.domain != "cut" for entry in model.opset_import):
        model.opset_import.append(helper.make_opsetid("cut", 1))
    for start in range(0, len(nodes), size):
        read_later = {value for node in nodes[start + size:] for value in node.input} | {output.name for output in graph.output}
        function, call = make_function(f"F{len(model.functions)}", nodes[start:start + size], read_later, model.opset_import)
        model.functions.append(function)
        calls.append(call)
    del graph.node[:]
    graph.node.extend(calls)


def main():
    model = onnx.load(sys.argv[1])
    for size in sys.argv[3:]:
        cut(model, int(size))
    onnx.save(model, sys.argv[2])


if __name__ == "__main__":
    main()
