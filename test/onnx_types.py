"""Types that ONNX's textual syntax of older releases does not know: `seq(float[N]) x`, `optional(seq(float[N])) y`, `string[2] s`."""

import re

import onnx
from onnx import parser

LIST = re.compile(r"\b((?:(?:seq|optional)\()+)([^()]*?)\)+\s+(\w+)")
MARK = re.compile(r"^kiln_((?:seq_|optional_|string_)+)(\w+)$")


def mark(match):
    wrappers = re.findall(r"seq|optional", match[1])
    return f"{match[2]} kiln_{'_'.join(wrappers)}_{match[3]}"


def wrap(value):
    match = MARK.match(value.name)
    if not match:
        return
    value.name = match[2]
    for wrapper in reversed(match[1].split("_")[:-1]):
        held = onnx.TypeProto()
        held.CopyFrom(value.type)
        if wrapper == "string":
            value.type.tensor_type.elem_type = onnx.TensorProto.STRING
        elif wrapper == "seq":
            value.type.sequence_type.elem_type.CopyFrom(held)
        else:
            value.type.optional_type.elem_type.CopyFrom(held)


def wrap_all(graph):
    for value in [*graph.input, *graph.output]:
        wrap(value)
    for node in graph.node:
        for attribute in node.attribute:
            if attribute.HasField("g"):
                wrap_all(attribute.g)


def parse_model(text):
    text = re.sub(r"\bstring(\[[^\]]*\])? (\w+)", r"float\1 kiln_string_\2", text)
    model = parser.parse_model(LIST.sub(mark, text))
    wrap_all(model.graph)
    return model
