"""What the kinds of hostile models share: the manifest, and short ways to write a model, an operator on constants, raw protobuf."""

import collections

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

FLOAT, INT64 = TensorProto.FLOAT, TensorProto.INT64


def value(name, dims=(2, 3), element=FLOAT):
    return helper.make_tensor_value_info(name, element, dims)


def node(op, inputs=("x",), outputs=("y",), name="bad_node", **attributes):
    return helper.make_node(op, list(inputs), list(outputs), name, **attributes)


def model(nodes, inputs=None, outputs=None, weights=(), opset=21, functions=(), domains=(), ir_version=10):
    """x[2, 3] -> y, unless said otherwise."""
    graph = helper.make_graph(list(nodes), "g", [value("x")] if inputs is None else list(inputs), [value("y", None)] if outputs is None else list(outputs), list(weights))
    imports = [helper.make_opsetid("", opset), *(helper.make_opsetid(domain, 1) for domain in domains)]
    return helper.make_model(graph, opset_imports=imports, functions=list(functions), ir_version=ir_version)


def weight(name, array):
    return numpy_helper.from_array(np.asarray(array), name)


def varint(number):
    number &= (1 << 64) - 1
    data = bytearray()
    while number > 127:
        data.append(number & 127 | 128)
        number >>= 7
    return bytes(data + bytes([number]))


def field(number, content):
    """A protobuf field: bytes are length-delimited, integers are varints."""
    if isinstance(content, int):
        return varint(number << 3) + varint(content)
    return varint(number << 3 | 2) + varint(len(content)) + content


class Suite:
    def __init__(self, folder):
        self.folder, self.kind, self.manifest, self.counts = folder, "", [], collections.Counter()
        folder.mkdir(parents=True, exist_ok=True)

    def path(self, name):
        (self.folder / self.kind).mkdir(exist_ok=True)
        return self.folder / self.kind / name

    def entry(self, name, expect, say=(), node=None, seconds=10, mebibytes=512, is_import=False):
        """`is_import`: judged after the import, by `run --forks`, and an incomplete message is a fault."""
        self.counts[self.kind] += 1
        self.manifest.append({"import": is_import, "file": f"{self.kind}/{name}", "expect": expect, "say": [say] if isinstance(say, str) else list(say), "node": node,
                              "max_s": seconds, "max_rss_mib": mebibytes})

    def add(self, name, content, expect="reject", say=(), node=None, **budget):
        """A file: a model, bytes, or text."""
        if isinstance(content, onnx.ModelProto):
            content = content.SerializeToString()
        name = name if "." in name else name + ".onnx"
        self.path(name).write_bytes(content.encode() if isinstance(content, str) else content)
        self.entry(name, expect, say, node, **budget)

    def operator(self, name, op, inputs, expect="reject", say=(), opset=21, outputs=1, node=None, **attributes):
        """One node: inputs are (element type, dims) of the graph's inputs, arrays that become constants, or None for one left out."""
        names, values, weights = [], [], []
        for index, given in enumerate(inputs):
            if given is None:
                names.append("")
                continue
            names.append(f"i{index}")
            if isinstance(given, tuple):
                values.append(value(f"i{index}", given[1], given[0]))
            else:
                weights.append(weight(f"i{index}", given))
        results = ["y"] + [f"y{index}" for index in range(1, outputs)]
        bad = helper.make_node(op, names, results, "bad_node", **attributes)
        given = [helper.make_value_info(result, onnx.TypeProto()) for result in results]
        self.add(name, model([bad], values, given, weights, opset), expect, say, "bad_node" if expect == "reject" else node)
