"""Types and shapes that inputs and outputs declare."""

import onnx
from onnx import TensorProto, TypeProto, helper
from suite import FLOAT, INT64, model, node, value

T = TensorProto


def given(kind, name="x"):
    return onnx.ValueInfoProto(name=name, type=kind)


def tensor(element=FLOAT, dims=(2, 3)):
    return helper.make_tensor_type_proto(element, dims)


def add(suite):
    for element in (-1, 0, T.STRING, T.COMPLEX64, T.COMPLEX128, 200, (1 << 31) - 1):
        suite.add(f"input_type_{element}", model([node("Relu")], [value("x", (2, 3), element)]), say="type|string|complex")
    for name, dims in {"minus_2": (-2, 3), "int64_max": ((1 << 63) - 1,), "product_overflows": (1 << 32, 1 << 32), "bytes_overflow": (1 << 61,), "rank_33": (1,) * 33, "rank_2000": (1,) * 2000, "large": (1 << 20, 1 << 20)}.items():
        suite.add(f"input_dims_{name}", model([node("Relu")], [value("x", dims)]), say="dim|size|rank|negative|large|limit")
    suite.add("input_no_elements", model([node("Relu")], [value("x", (0, 3))]), "accept")
    suite.add("input_rank_0", model([node("Relu")], [value("x", ())]), "accept")
    suite.add("input_unranked", model([node("Relu")], [value("x", None)]), say="x")
    kinds = {"nothing": TypeProto(), "sequence": helper.make_sequence_type_proto(tensor()), "optional": helper.make_optional_type_proto(tensor()), "map": TypeProto(map_type=TypeProto.Map(key_type=T.STRING, value_type=tensor())),
             "sparse": TypeProto(sparse_tensor_type=TypeProto.SparseTensor(elem_type=FLOAT)), "sequence_of_nothing": TypeProto(sequence_type=TypeProto.Sequence())}
    deep = tensor()
    for _ in range(40):
        deep = helper.make_sequence_type_proto(deep)
    for name, kind in {**kinds, "sequence_40_deep": deep}.items():
        suite.add(f"input_{name}", model([node("Relu")], [given(kind)]), say="x|type")
        suite.add(f"output_{name}", model([node("Relu")], outputs=[given(kind, "y")]), "either" if name == "nothing" else "reject", "y|type")
    add_symbols(suite)
    add_operands(suite)


def add_symbols(suite):
    names = {"empty": "", "blank": " ", "code": "N); system(\"id\"); (", "comment": "/* N */ //", "unicode": "größe☃", "number": "12", "keyword": "int", "newline": "N\n#include <x>", "control": "N\x1b[31m", "long": "N" * 100000, "sum": "N + 1"}
    for name, text in names.items():
        suite.add(f"symbol_{name}", model([node("Relu")], [value("x", (text, 3))]), "either")
    both = value("x")
    both.type.tensor_type.shape.dim[0].dim_param = "N"
    suite.add("symbol_and_number", model([node("Relu")], [both]), "either")
    suite.add("symbol_means_two_sizes", model([node("Concat", ("x", "z"), axis=0)], [value("x", ("N", 3)), value("z", ("N", 3))], [value("y", ("N", 3))]), "either")
    suite.add("symbols_1000", model([node("Concat", [f"x{i}" for i in range(1000)], axis=0)], [value(f"x{i}", (f"N{i}",)) for i in range(1000)]), "either", seconds=30)
    suite.add("symbols_in_cube", model([node("Einsum", ("x", "x", "x"), equation="ij,kj,lj->ikl")], [value("x", ("N", "M"))]), "either")


def add_operands(suite):
    wrong = {"Relu": (T.BOOL,), "Sqrt": (INT64,), "And": (FLOAT, FLOAT), "Not": (INT64,), "BitwiseNot": (FLOAT,), "Conv": (INT64, INT64), "Softmax": (INT64,), "MatMul": (T.BOOL, T.BOOL), "IsNaN": (INT64,), "Sin": (T.INT32,),
             "Erf": (T.BOOL,), "Gelu": (INT64,), "CumSum": (FLOAT, FLOAT), "Pow": (T.BOOL, FLOAT), "DequantizeLinear": (FLOAT, FLOAT), "Not_": (FLOAT,)}
    for op, elements in wrong.items():
        op = op.rstrip("_")
        inputs = [value(f"x{index}", (2, 3), element) for index, element in enumerate(elements)]
        suite.add(f"operand_{op}_{elements[0]}", model([node(op, [entry.name for entry in inputs])], inputs), say=[op, "type|bool|int|f32|float|rank"], node="bad_node")
    mixed = [value("x"), value("z", (2, 3), T.DOUBLE)]
    for op in ("Add", "Sub", "Mul", "Less", "Max", "MatMul", "Pow_"):
        allowed = op.endswith("_")
        suite.add(f"mixed_{op.rstrip('_')}", model([node(op.rstrip("_"), ("x", "z"))], mixed), "either" if allowed else "reject", "type", None if allowed else "bad_node")
