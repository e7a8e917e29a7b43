"""Sizes that constants decide by any operator and any element type, and sizes that real arithmetic on dimensions decides, beside what NumPy computes in the same
types. Usage: constant_sizes.py constants|reals|values|data FOLDER"""

import os
import pathlib
import sys

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

sys.path.insert(0, os.path.join(os.path.dirname(__file__), *[".."] * 3, "end-to-end"))
import library

FOLDER = pathlib.Path(sys.argv[2])
F32, F64, I32, I64 = TensorProto.FLOAT, TensorProto.DOUBLE, TensorProto.INT32, TensorProto.INT64


class Model:
    """A graph whose outputs are parts of x, as long as the sizes that are asked for."""

    def __init__(self, opset=18):
        self.nodes, self.weights, self.outputs, self.opset = [], {}, [], opset

    def constant(self, value, dtype=None):
        array = np.asarray(value, dtype) if dtype else np.asarray(value)
        name = f"c{len(self.weights)}"
        self.weights[name] = numpy_helper.from_array(array, name)
        return name

    def node(self, op, *inputs, outputs=1, domain="", **attributes):
        names = [f"v{len(self.nodes)}_{i}" for i in range(outputs)]
        inputs = [given if isinstance(given, str) else self.constant(given) for given in inputs]
        self.nodes.append(helper.make_node(op, inputs, names, name=names[0], domain=domain, **attributes))
        return names[0] if outputs == 1 else names

    def part(self, name, size):
        """The first elements of x, as many as the size, a tensor of one number of any type."""
        whole = self.node("Reshape", self.node("Cast", size, to=I64), np.array([1]))
        self.nodes.append(helper.make_node("Slice", ["x", self.constant([0]), whole], [name]))
        self.outputs.append(helper.make_tensor_value_info(name, F32, [None]))

    def value(self, name, given, kind):
        self.nodes.append(helper.make_node("Identity", [given], [name]))
        self.outputs.append(helper.make_tensor_value_info(name, kind, [None]))

    def compile(self, name, dim="40", options=()):
        inputs = [helper.make_tensor_value_info("x", F32, [int(dim) if dim.isdigit() else dim])]
        graph = helper.make_graph(self.nodes, name, inputs, self.outputs, list(self.weights.values()))
        path = FOLDER / f"{name}.onnx"
        onnx.save(helper.make_model(graph, ir_version=8, opset_imports=[helper.make_opsetid("", self.opset)]), str(path))
        return library.Library(path, [*options], FOLDER / name)


def constants():
    m, x, expected = Model(), np.arange(40, dtype="f4"), {}

    def add(name, size, value):
        m.part(name, size)
        expected[name] = value

    vector, square = np.array([3, 9, 5, 7]), np.array([[1, 2], [3, 4]])
    largest = m.node("ReduceMax", vector)
    add("reduce_max", largest, 9)
    add("reduce_min", m.node("ReduceMin", vector.astype("f4")), 3)
    add("reduce_prod", m.node("ReduceProd", np.array([1.5, 4, 5], "f4")), 30)
    add("reduce_l2", m.node("ReduceL2", np.array([3, 4], "f8")), 5)
    add("reduce_u8", m.node("ReduceMax", np.array([3, 200], "u1")), 40)
    add("absolute", m.node("Abs", np.array([-12], "f4")), 12)
    add("clipped", m.node("Clip", np.array([99.5], "f4"), np.float32(0), np.float32(17)), 17)
    add("remainder", m.node("Mod", np.array([-7.5], "f4"), np.array([4], "f4"), fmod=1), -3)
    add("power", m.node("Pow", np.array([3]), np.array([3])), 27)
    add("square_root", m.node("Sqrt", np.array([2.0], "f8")), 1)
    add("rounded", m.node("Round", np.array([2.5], "f4")), 2)
    add("sign", m.node("Sign", np.array([3.5], "f4")), 1)
    add("shifted", m.node("BitShift", np.array([3], "u4"), np.array([2], "u4"), direction="LEFT"), 12)
    add("exclusive", m.node("BitwiseXor", np.array([12]), np.array([10])), 6)
    add("half", m.node("Mul", np.array([1.5], "f2"), np.array([8], "f2")), 12)
    add("product", m.node("ReduceMax", m.node("MatMul", square, square)), 22)
    add("equation", m.node("Einsum", vector, vector, equation="i,i->"), 164)
    add("running", m.node("Gather", m.node("CumSum", vector, np.array(0)), np.array([2])), 17)
    values, places = m.node("TopK", np.array([5, 31, 8], "f4"), np.array([2]), outputs=2)
    add("second", m.node("Gather", values, np.array([1])), 8)
    add("place", m.node("Gather", places, np.array([0])), 1)
    add("count", m.node("Gather", m.node("Shape", m.node("NonZero", np.array([0, 1, 0, 1, 1]))), np.array([1])), 3)
    add("kept", m.node("Gather", m.node("Compress", vector, np.array([False, True, False, True]), axis=0), np.array([1])), 7)
    add("different", m.node("Shape", m.node("Unique", np.array([4, 4, 6]), outputs=1)), 2)
    add("hot", m.node("ReduceSum", m.node("OneHot", np.array([1, 2]), np.array(4), np.array([0, 5]))), 10)
    add("scattered", m.node("Gather", m.node("ScatterElements", vector, np.array([1]), np.array([21])), np.array([1])), 21)
    add("picked", m.node("GatherElements", vector, np.array([3])), 7)
    add("nested", m.node("GatherND", square, np.array([[1, 0]])), 3)
    add("looked_up", m.node("Where", np.array([False]), np.array([1]), np.array([14])), 14)
    add("repeated", m.node("Shape", m.node("Range", np.array(0), m.node("Squeeze", m.node("TopK", vector, np.array([1]), outputs=2)[0]), np.array(2))), 5)
    kiln = m.compile("constants")
    got = dict(kiln.run({"x": x}, 2))
    wrong = [f"{name}: {len(got[name])} elements, expected {value}" for name, value in expected.items()
             if not np.array_equal(got[name], x[:value])]
    print(*wrong, f"{len(expected) - len(wrong)} of {len(expected)} sizes right", sep="\n")


def reals():
    f4, f8 = np.float32, np.float64
    m, cases = Model(), {}
    size = m.node("Shape", "x")
    single, double = m.node("Cast", size, to=F32), m.node("Cast", size, to=F64)

    def add(name, given, expected):
        m.part(name, given)
        cases[name] = expected

    add("half_down", m.node("Floor", m.node("Mul", single, np.array([0.5], f4))), lambda n: np.floor(f4(n) * f4(0.5)))
    add("third_up", m.node("Ceil", m.node("Div", single, np.array([3], f4))), lambda n: np.ceil(f4(n) / f4(3)))
    add("seventh_down", m.node("Floor", m.node("Div", single, np.array([7], f4))), lambda n: np.floor(f4(n) / f4(7)))
    add("more_than_half", m.node("Mul", m.node("Add", single, np.array([1.5], f4)), np.array([0.25], f4)), lambda n: np.trunc((f4(n) + f4(1.5)) * f4(0.25)))
    add("double", m.node("Ceil", m.node("Div", double, np.array([1.5], f8))), lambda n: np.ceil(f8(n) / f8(1.5)))
    add("larger", m.node("Max", m.node("Mul", single, np.array([0.75], f4)), np.array([2.5], f4)), lambda n: np.trunc(max(f4(n) * f4(0.75), f4(2.5))))
    add("clamped", m.node("Clip", m.node("Mul", single, np.array([0.5], f4)), np.array(1.5, f4), np.array(20, f4)),
        lambda n: np.trunc(np.clip(f4(n) * f4(0.5), 1.5, 20)))
    add("chosen", m.node("Where", m.node("Greater", single, np.array([9.5], f4)), m.node("Mul", single, np.array([0.5], f4)), np.array([4.5], f4)),
        lambda n: np.trunc(f4(n) * f4(0.5) if f4(n) > 9.5 else f4(4.5)))
    add("with_constants", m.node("Sub", size, m.node("ReduceMax", np.array([2, 3]))), lambda n: n - 3 if n >= 3 else max(n + (n - 3), 0))
    add("squared", m.node("Div", m.node("Pow", single, np.array([2], f4)), np.array([4], f4)), lambda n: np.trunc(f4(n) * f4(n) / f4(4)))
    kiln = m.compile("reals", "n", ["--dim", "n=0..4000"])
    right, wrong = 0, []
    for n in [*range(0, 130), 999, 1000, 3999, 4000]:
        x = np.arange(n, dtype="f4")
        got = dict(kiln.run({"x": x}, 2))
        for name, expected in cases.items():
            length = min(int(expected(n)), n)
            if np.array_equal(got[name], x[:length]):
                right += 1
            else:
                wrong.append(f"{name} of {n}: {len(got[name])} elements, expected {length}")
    print(*wrong[:5], f"{right} of {right + len(wrong)} sizes right", sep="\n")


def values():
    """Numbers beside sizes in one tensor, and sizes whose arithmetic rounds or wraps."""
    f4 = np.float32
    m, cases = Model(), {}
    size = m.node("Shape", "x")
    single = m.node("Cast", size, to=F32)

    def add(name, given, kind, expected):
        m.value(name, given, kind)
        cases[name] = expected

    add("beside", m.node("Concat", np.array([0.5, -1.25, 0.1], f4), single, axis=0), F32, lambda n: np.array([0.5, -1.25, 0.1, n], f4))
    add("infinite", m.node("Concat", np.array([np.inf, -0.0], f4), single, axis=0), F32, lambda n: np.array([np.inf, -0.0, n], f4))
    add("rounded", m.node("Cast", m.node("Mul", single, np.array([33], f4)), to=I64), I64, lambda n: np.array([int(f4(n) * f4(33))]))
    add("wrapped", m.node("Cast", m.node("Mul", m.node("Cast", size, to=I32), np.array([5000], "i4")), to=I64), I64,
        lambda n: (np.array([n], "i4") * np.array([5000], "i4")).astype("i8"))
    add("quotients", m.node("Mul", m.node("Concat", single, np.array([3], f4), axis=0), np.array([0.25, 0.3], f4)), F32,
        lambda n: np.array([n, 3], f4) * np.array([0.25, 0.3], f4))
    add("thirds", m.node("Div", single, np.array([3], f4)), F32, lambda n: np.array([n], f4) / f4(3))
    kiln = m.compile("values", "n")
    right, wrong = 0, []
    for n in (0, 1, 7, 100, 1048575):
        with np.errstate(over="ignore"):
            got = dict(kiln.run({"x": np.zeros(n, "f4")}, 2))
            for name, expected in cases.items():
                want = expected(n)
                if got[name].tobytes() == want.tobytes():
                    right += 1
                else:
                    wrong.append(f"{name} of {n}: {got[name]}, expected {want}")
    print(*wrong, f"{right} of {right + len(wrong)} values right", sep="\n")


def data():
    """Sizes that elements of inputs decide, within the dimension that is cut or a clamp."""
    m, cases = Model(), {}
    dice = np.random.default_rng(7)

    def add(name, given, kind, expected):
        m.value(name, given, kind)
        cases[name] = expected

    def cut(x, start, end, step=1):
        return x[slice(start, end, step)]

    p, q, k, parts = "p", "q", "k", "parts"
    axis, step = np.array([0]), np.array([2])
    add("ends", m.node("Slice", "x", np.array([1]), q, axis), F32, lambda x, p, q, k, parts: cut(x, 1, q))
    add("starts", m.node("Slice", "x", p, np.array([2**62]), axis), F32, lambda x, p, q, k, parts: x[max(p, -len(x)):] if p < 0 else x[p:])
    add("both", m.node("Slice", "x", p, q, axis, step), F32, lambda x, p, q, k, parts: cut(x, p, q, 2))
    add("place", m.node("Slice", "x", k, m.node("Add", k, np.array([4])), axis), F32, lambda x, p, q, k, parts: cut(x, k, k + 4))
    add("best", m.node("TopK", "x", k, axis=0, outputs=2)[0], F32, lambda x, p, q, k, parts: np.sort(x)[::-1][:k])
    first, second = m.node("Split", "x", parts, axis=0, outputs=2)
    add("first", first, F32, lambda x, p, q, k, parts: x[:parts[0]])
    add("second", second, F32, lambda x, p, q, k, parts: x[parts[0]:])
    scalar = m.node("Squeeze", k, axis)
    add("range", m.node("Range", np.array(0), m.node("Min", scalar, np.array(9)), np.array(1)), I64, lambda x, p, q, k, parts: np.arange(min(k, 9)))
    add("window", m.node("Range", scalar, m.node("Add", scalar, np.array(5)), np.array(2)), I64, lambda x, p, q, k, parts: np.arange(k, k + 5, 2))
    third = m.node("Resize", m.node("Reshape", "x", np.array([1, 1, -1])), "", np.array([1, 1, 1 / 41], "f4"), mode="nearest", coordinate_transformation_mode="asymmetric",
                   nearest_mode="floor")
    add("small", m.node("Reshape", third, np.array([-1])), F32, lambda x, p, q, k, parts: x[:int(np.floor(np.float32(len(x)) * np.float32(1 / 41))) * 41:41])
    byte = m.node("Cast", m.node("Cast", m.node("Min", p, np.array([5])), to=TensorProto.UINT8), to=I64)
    add("wrapped", m.node("Range", np.array(0), m.node("Squeeze", byte, axis), np.array(1)), I64, lambda x, p, q, k, parts: np.arange(min(p, 5) & 255))
    rows = m.node("Min", k, np.array([6]))
    add("repeated", m.node("Tile", np.array([1.5], "f4"), rows), F32, lambda x, p, q, k, parts: np.full(min(k, 6), 1.5, "f4"))
    add("spread", m.node("Reshape", m.node("Expand", np.array([[2.5]], "f4"), m.node("Concat", np.array([2]), rows, axis=0)), np.array([-1])), F32,
        lambda x, p, q, k, parts: np.full(2 * min(k, 6), 2.5, "f4"))
    add("filled", m.node("ConstantOfShape", rows), F32, lambda x, p, q, k, parts: np.zeros(min(k, 6), "f4"))
    grown = m.node("Resize", np.array([[[3.5]]], "f4"), "", "", m.node("Concat", np.array([1, 1]), rows, axis=0), mode="nearest")
    add("grown", m.node("Reshape", grown, np.array([-1])), F32, lambda x, p, q, k, parts: np.full(min(k, 6), 3.5, "f4"))
    inputs = [helper.make_tensor_value_info("x", F32, ["n"])] + [helper.make_tensor_value_info(name, I64, [size]) for name, size in (("p", 1), ("q", 1), ("k", 1), ("parts", 2))]
    graph = helper.make_graph(m.nodes, "data", inputs, m.outputs, list(m.weights.values()))
    path = FOLDER / "data.onnx"
    onnx.save(helper.make_model(graph, ir_version=8, opset_imports=[helper.make_opsetid("", m.opset)]), str(path))
    kiln = library.Library(path, [], FOLDER / "data")
    right, wrong = 0, []
    for n in (0, 1, 5, 17, 41, 82, 123):
        for _ in range(12):
            x = dice.permutation(n).astype("f4")
            p, q = (int(number) for number in dice.integers(-n - 3, n + 4, 2))
            k, head = int(dice.integers(0, n + 1)), int(dice.integers(0, n + 1))
            got = dict(kiln.run({"x": x, "p": np.array([p]), "q": np.array([q]), "k": np.array([k]), "parts": np.array([head, n - head])}, 2))
            for name, expected in cases.items():
                want = expected(x, p, q, k, [head, n - head])
                if np.array_equal(got[name], want):
                    right += 1
                else:
                    wrong.append(f"{name} of n {n}, p {p}, q {q}, k {k}: {got[name]}, expected {want}")
    for k, parts in (([9], [2, 3]), ([-1], [2, 3]), ([2], [3, 3])):
        try:
            kiln.run({"x": np.zeros(5, "f4"), "p": np.array([0]), "q": np.array([1]), "k": np.array(k), "parts": np.array(parts)}, 2)
            wrong.append(f"k {k}, parts {parts}: the run has not ended with a status, which was expected")
        except RuntimeError:
            right += 1
    print(*wrong[:8], f"{right} of {right + len(wrong)} runs right", sep="\n")


FOLDER.mkdir(parents=True, exist_ok=True)
{"constants": constants, "reals": reals, "values": values, "data": data}[sys.argv[1]]()
