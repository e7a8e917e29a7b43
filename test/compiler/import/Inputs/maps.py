"""Models whose input is a map, in a folder; `maps.test` says what becomes of each. Usage: maps.py DIR"""

import pathlib
import sys

import onnx
from onnx import TensorProto, helper

INT64, FLOAT, STRING = TensorProto.INT64, TensorProto.FLOAT, TensorProto.STRING


def given_map(key, value):
    given = onnx.ValueInfoProto(name="x")
    given.type.map_type.key_type = key
    if value is not None:
        given.type.map_type.value_type.tensor_type.elem_type = value
    return given


def model(operator, given, result, domain="ai.onnx.ml", more=(), **attributes):
    nodes = [helper.make_node(operator, ["x"], ["y"], "node", domain=domain, **attributes)]
    graph = helper.make_graph(nodes, "g", [given, *more], [helper.make_tensor_value_info("y", result, None)])
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17), helper.make_opsetid("ai.onnx.ml", 3)], ir_version=8)


MODELS = {
    "vector": model("DictVectorizer", given_map(STRING, FLOAT), FLOAT, string_vocabulary=["red", "green"]),
    # Names of the model are not taken twice.
    "taken": model("DictVectorizer", given_map(INT64, FLOAT), FLOAT, more=[helper.make_tensor_value_info("x_keys", FLOAT, [1])], int64_vocabulary=[1]),
    "both": model("DictVectorizer", given_map(STRING, FLOAT), FLOAT, string_vocabulary=["a"], int64_vocabulary=[1]),
    "other-keys": model("DictVectorizer", given_map(STRING, FLOAT), FLOAT, int64_vocabulary=[1]),
    "twice": model("DictVectorizer", given_map(STRING, FLOAT), FLOAT, string_vocabulary=["a", "a"]),
    "text-keys": model("CastMap", given_map(STRING, FLOAT), FLOAT),
    "digits": model("CastMap", given_map(INT64, FLOAT), STRING, cast_to="TO_STRING"),
    "no-places": model("CastMap", given_map(INT64, FLOAT), FLOAT, map_form="SPARSE", max_map=0),
    "tensor": model("CastMap", helper.make_tensor_value_info("x", FLOAT, [3]), FLOAT),
    "relu": model("Relu", given_map(INT64, FLOAT), FLOAT, domain=""),
    "bool": model("CastMap", given_map(INT64, TensorProto.BOOL), FLOAT),
    "nothing": model("CastMap", given_map(INT64, None), FLOAT),
    "output": model("Identity", given_map(INT64, FLOAT), FLOAT, domain=""),
}

folder = pathlib.Path(sys.argv[1])
folder.mkdir(parents=True, exist_ok=True)
for name, proto in MODELS.items():
    onnx.save(proto, str(folder / f"{name}.onnx"))
