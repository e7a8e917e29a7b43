"""Weights whose data, sizes and types do not fit each other."""

import numpy as np
from onnx import TensorProto, helper
from suite import FLOAT, INT64, model, node, value

T = TensorProto
#: name: (element type, bytes of four elements); Debian's onnx does not know the last ones by name
PACKED = {"float": (1, 16), "double": (11, 32), "float16": (10, 8), "bfloat16": (16, 8), "int8": (3, 4), "uint8": (2, 4), "int16": (5, 8), "uint16": (4, 8), "int32": (6, 16), "uint32": (12, 16),
          "int64": (7, 32), "uint64": (13, 32), "bool": (9, 4), "float8e4m3fn": (17, 4), "float8e5m2": (19, 4), "uint4": (21, 2), "int4": (22, 2)}
INT4 = 22


def using(tensor):
    """A model whose output is a cast of the weight `w`."""
    return model([node("Cast", ("w",), ("y",), to=FLOAT)], [], weights=[tensor])


def tensor(element=FLOAT, dims=(4,), **fields):
    return TensorProto(name="w", data_type=element, dims=dims, **fields)


def add(suite):
    for name, (element, size) in PACKED.items():
        suite.add(f"short_{name}", using(tensor(element, raw_data=bytes(size - 1))), say=["w", "size|byte|element|data"])
        suite.add(f"long_{name}", using(tensor(element, raw_data=bytes(size + 1))), say=["w", "size|byte|element|data"])
    for name, element in (("undefined", 0), ("string", T.STRING), ("complex", T.COMPLEX64), ("unknown", 99), ("negative", -1)):
        suite.add(f"type_{name}", using(tensor(element, raw_data=bytes(16))), say=["w", "type|string|complex"])
    fields = {"int64_in_float": tensor(INT64, float_data=[1, 2, 3, 4]), "float_in_int64": tensor(int64_data=[1, 2, 3, 4]), "double_in_float": tensor(T.DOUBLE, float_data=[1, 2, 3, 4]),
              "three_of_four": tensor(float_data=[1, 2, 3]), "five_of_four": tensor(float_data=[1, 2, 3, 4, 5]), "half_short": tensor(T.FLOAT16, int32_data=[1]), "int4_short": tensor(INT4, int32_data=[1]),
              "string_data": tensor(string_data=[b"1", b"2", b"3", b"4"])}
    for name, bad in fields.items():
        suite.add(f"field_{name}", using(bad), say=["w", "size|byte|element|data"])
    dims = {"negative": (-4,), "minus_and_minus": (-2, -2), "int64_min": (-1 << 63,), "huge": (1 << 62,), "wraps_to_4": (1 << 32, 1 << 32, 4), "wraps_to_16": (1 << 60, 1 << 60, 16), "rank_33": (1,) * 33, "rank_3000": (1,) * 3000}
    for name, sizes in dims.items():
        suite.add(f"dims_{name}", using(tensor(dims=sizes, raw_data=bytes(16))), say=["w", "dim|size|rank|large|byte|overflow|negative|element"])
    suite.add("dims_empty", using(tensor(dims=(0, 1 << 40), raw_data=b"")), "either")
    suite.add("segment", using(tensor(raw_data=bytes(16), segment=T.Segment(begin=0, end=4))), "either")
    suite.add("scalar_with_four", using(tensor(dims=(), raw_data=bytes(16))), say=["w", "size|byte|element|data"])
    suite.add("doc_1mib", using(tensor(raw_data=bytes(16), doc_string="d" * (1 << 20))), "accept")
    add_attribute_tensors(suite)
    add_sparse(suite)


def add_attribute_tensors(suite):
    def constant(bad):
        bad.name = "v"
        return model([node("Constant", (), ("y",), value=bad)], [])
    suite.add("attribute_short", constant(tensor(raw_data=bytes(15))), say="size|byte|element|data", node="bad_node")
    suite.add("attribute_huge", constant(tensor(dims=(1 << 40,), raw_data=bytes(16))), say="size|byte|element|data|large", node="bad_node")
    suite.add("attribute_negative", constant(tensor(dims=(-1,), raw_data=bytes(16))), say="dim|negative", node="bad_node")


def add_sparse(suite):
    def sparse(dims=(4,), values=(1.0, 2.0), indices=(0, 2), shape=None, element=INT64):
        kept = helper.make_tensor("w", FLOAT, [len(values)], values)
        places = helper.make_tensor("", element, shape or [len(indices)], indices)
        graph = helper.make_graph([node("Relu", ("w",))], "g", [], [value("y", None)], sparse_initializer=[helper.make_sparse_tensor(kept, places, list(dims))])
        return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 21)], ir_version=10)
    suite.add("sparse_good", sparse(), "accept")
    broken = {"index_out": sparse(indices=(0, 4)), "index_twice": sparse(indices=(2, 2)), "fewer_values": sparse(values=(1.0,)), "index_type": sparse(element=T.INT32), "huge": sparse(dims=(1 << 40, 1 << 40)),
              "negative_dim": sparse(dims=(-4,)), "rank_of_indices": sparse(dims=(2, 2), shape=[2, 1]), "indices_3d": sparse(dims=(2, 2), indices=(0, 1, 1, 0), shape=[1, 2, 2]), "rank_100": sparse(dims=(1,) * 100)}
    for name, bad in broken.items():
        suite.add(f"sparse_{name}", bad, say="sparse|ind|size|large|dim|limit|rank|element|value")
