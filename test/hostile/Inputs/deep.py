"""Writes what nests deeply: models, IR, JSON and messages to the language server, into the folder of the first argument."""

import json
import pathlib
import sys

import onnx
from onnx import helper

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "benchmark"))
from growing_models import Graph, elementwise_chain  # noqa: E402

BRACKETS = 200000
folder = pathlib.Path(sys.argv[1])


def functions(depth):
    """Each function calls the one before twice."""
    opsets = [helper.make_opsetid("", 17), helper.make_opsetid("own", 1)]
    call = lambda i, x, y: helper.make_node(f"F{i}", [x], [y], domain="own")  # noqa: E731
    g = Graph()
    g.functions.append(helper.make_function("own", "F0", ["x"], ["y"], [helper.make_node("Add", ["x", "x"], ["y"])], opsets))
    for i in range(depth):
        g.functions.append(helper.make_function("own", f"F{i + 1}", ["x"], ["y"], [call(i, "x", "t"), call(i, "t", "y")], opsets))
    g.output(g.several(f"F{depth}", [g.input([4])], 1, domain="own")[0])
    return g.model()


def message(text):
    return f"Content-Length: {len(text)}\r\n\r\n{text}"


onnx.save(functions(15), folder / "functions.onnx")
onnx.save(elementwise_chain(100000), folder / "chain.onnx")
onnx.save(elementwise_chain(2), folder / "small.onnx")
(folder / "deep.json").write_text("[" * BRACKETS + "]" * BRACKETS)
(folder / "deep.mlir").write_text("module attributes {a = " + "[" * BRACKETS + "]" * BRACKETS + "} {}\n")
(folder / "deep.rpc").write_text(message("[" * BRACKETS + "]" * BRACKETS))
start = {"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": {"processId": 1, "rootUri": "a:///", "capabilities": {}, "trace": "[" * 1000}}
ends = [{"jsonrpc": "2.0", "id": 1, "method": "shutdown"}, {"jsonrpc": "2.0", "method": "exit"}]
# Brackets that a message leaves open are not those of the next one.
(folder / "fine.rpc").write_text("".join(message(text) for text in ["[" * 200, "[" * 200, json.dumps(start)] + [json.dumps(end) for end in ends]))
