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


def varint(number):
    more, last = [], number
    while last >= 128:
        more.append(last % 128 + 128)
        last //= 128
    return bytes(more + [last])


def field(number, value):
    """Of a protobuf message: a message or text, or a number. onnx itself writes nothing so deep."""
    if isinstance(value, int):
        return varint(number * 8) + varint(value)
    value = value.encode() if isinstance(value, str) else value
    return varint(number * 8 + 2) + varint(len(value)) + value


def small_graph(type, node):
    value = lambda name: field(1, name) + field(2, type)  # noqa: E731
    return field(1, node) + field(2, "g") + field(11, value("x")) + field(12, value("y"))


def nested(depth, kind):
    """A graph in a branch of a graph, or a sequence of sequences, so deep."""
    identity = field(1, "x") + field(2, "y") + field(4, "Identity")
    type = field(1, field(1, 1) + field(2, field(1, field(1, 2))))
    graph = small_graph(type, identity)
    for _ in range(depth):
        if kind == "types":
            type = field(4, field(1, type))
        else:
            graph = small_graph(type, field(1, "x") + field(2, "y") + field(4, "If") + field(5, field(1, "then_branch") + field(6, graph) + field(20, 5)))
    graph = small_graph(type, identity) if kind == "types" else graph
    return field(1, 8) + field(8, field(1, "") + field(2, 17)) + field(7, graph)


for kind in "types", "graphs":
    (folder / f"{kind}.onnx").write_bytes(nested(1000, kind))
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
