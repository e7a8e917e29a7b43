#!/usr/bin/python3
"""Writes the models of a test: each section `//--- NAME` in ONNX's textual syntax becomes OUT/NAME.onnx, and `//--- NAME.textproto` is
written as it stands. A section without a header gets IR 8 and opset 17. Nodes are named after their first output.

Usage: models.py TEST OUT
"""

import pathlib
import re
import sys

import onnx

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[3]))
import onnx_types

HEADER = '<ir_version: 8, opset_import: ["" : 17]>\n'


def name_nodes(nodes):
    for node in nodes:
        node.name = node.output[0]
        for attribute in node.attribute:
            if attribute.HasField("g"):
                name_nodes(attribute.g.node)


def main():
    test, out = map(pathlib.Path, sys.argv[1:])
    out.mkdir(parents=True, exist_ok=True)
    sections = re.split(r"^//--- (\S+)\n", test.read_text(), flags=re.M)[1:]
    for name, body in zip(sections[::2], sections[1::2]):
        text = "".join(line for line in body.splitlines(True) if not line.startswith("//"))
        if name.endswith(".textproto"):
            (out / name).write_text(text)
            continue
        model = onnx_types.parse_model(text if text.lstrip().startswith("<") else HEADER + text)
        name_nodes(model.graph.node)
        onnx.save(model, out / (name + ".onnx"))


if __name__ == "__main__":
    main()
