"""Sizes that data decide and that nothing bounds: the caller guesses a bound, which a run raises. Beside what NumPy computes.
Usage: raised_sizes.py runs|bounds FOLDER"""

import os
import pathlib
import sys

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

sys.path.insert(0, os.path.join(os.path.dirname(__file__), *[".."] * 3, "end-to-end"))
import library

FOLDER = pathlib.Path(sys.argv[2])
F32, F64, I32, I64, BOOL = TensorProto.FLOAT, TensorProto.DOUBLE, TensorProto.INT32, TensorProto.INT64, TensorProto.BOOL
TYPES = {"f4": F32, "f8": F64, "i4": I32, "i8": I64, "b1": BOOL}
OUT_OF_BOUNDS, MISMATCH = 3, 4


def save(name, nodes, inputs, outputs, weights=(), opset=17):
    """`inputs` and `outputs` are lists of (name, type, shape)."""
    values = [[helper.make_tensor_value_info(each, TYPES[kind], shape) for each, kind, shape in rows] for rows in (inputs, outputs)]
    tensors = [numpy_helper.from_array(np.asarray(value), each) for each, value in dict(weights).items()]
    path = FOLDER / f"{name}.onnx"
    onnx.save(helper.make_model(helper.make_graph(nodes, name, *values, tensors), ir_version=8, opset_imports=[helper.make_opsetid("", opset)]), str(path))
    return path


def node(op, inputs, outputs, **attributes):
    return helper.make_node(op, inputs.split(), outputs.split(), name=outputs.split()[0], **attributes)


def resized(x, sizes):
    """Nearest with asymmetric places that are rounded down."""
    for axis, size in enumerate(sizes):
        places = np.floor(np.arange(size, dtype="f4") * (np.float32(x.shape[axis]) / np.float32(max(size, 1)))).astype(int)
        x = np.take(x, np.minimum(places, x.shape[axis] - 1), axis)
    return x


def reshaped(x, shape):
    return x.reshape([x.shape[i] if size == 0 else size for i, size in enumerate(shape)])


def loop(x, counts):
    return np.stack([resized(x, (count, 3)).sum() for count in counts]).astype("f4")


def make_loop():
    """A step resizes x to a number of rows that data decide, which no result shows."""
    body = helper.make_graph([
        node("Gather", "counts i", "rows"), node("Unsqueeze", "rows axis", "row"), node("Concat", "row three", "to", axis=0),
        node("Resize", "x none none to", "big", mode="nearest", coordinate_transformation_mode="asymmetric", nearest_mode="floor"),
        node("ReduceSum", "big", "sum", keepdims=0), node("Identity", "c", "c_out")],
        "body", [helper.make_tensor_value_info("i", I64, []), helper.make_tensor_value_info("c", BOOL, [])],
        [helper.make_tensor_value_info("c_out", BOOL, []), helper.make_tensor_value_info("sum", F32, [])])
    for each in body.node:
        if each.op_type == "Resize":
            each.input[1] = each.input[2] = ""
    return helper.make_node("Loop", ["trips", "true"], ["y"], name="loop", body=body)


def list_cases():
    """(name, nodes, inputs, type and rank of y, constants, reference, several lists of inputs)"""
    x = np.arange(12, dtype="f4").reshape(4, 3)
    ints = lambda *values: np.array(values, "i8")
    shape = ("s", "i8", [2])
    matrix = ("x", "f4", [4, 3])
    yield "filled", [node("ConstantOfShape", "s", "y")], [shape], "f4", 2, {}, lambda s: np.zeros(s, "f4"), [[ints(2, 3)], [ints(0, 4)], [ints(700, 1)], [ints(1, 0)]]
    yield "spread", [node("Expand", "x s", "y")], [("x", "f4", [1, 3]), shape], "f4", 2, {}, lambda x, s: np.broadcast_to(x, np.broadcast_shapes(x.shape, s)), \
        [[x[:1], ints(5, 3)], [x[:1], ints(2, 1)], [x[:1], ints(0, 1)]]
    yield "stretched", [node("Expand", "x s", "y")], [("x", "f4", ["n", 3]), shape], "f4", 2, {}, lambda x, s: np.broadcast_to(x, np.broadcast_shapes(x.shape, s)), \
        [[x[:1], ints(5, 3)], [x, ints(4, 1)], [x, ints(1, 3)], [x[:1], ints(0, 1)], [x[:0], ints(1, 3)]]
    yield "tiled", [node("Tile", "x s", "y")], [matrix, shape], "f4", 2, {}, np.tile, [[x, ints(2, 3)], [x, ints(0, 1)], [x, ints(1, 40)]]
    pads = ("p", "i8", [4])
    crop = lambda x, p: np.pad(x, [(max(p[0], 0), max(p[2], 0)), (max(p[1], 0), max(p[3], 0))])[
        max(-p[0], 0):None if p[2] >= 0 else p[2], max(-p[1], 0):None if p[3] >= 0 else p[3]]
    yield "padded", [node("Pad", "x p", "y")], [matrix, pads], "f4", 2, {}, crop, [[x, ints(1, 2, 3, 0)], [x, ints(-1, 0, 9, -2)], [x, ints(-2, 5, -1, -1)], [x, ints(0, 0, 0, 0)]]
    yield "mirrored", [node("Pad", "x p", "y", mode="reflect")], [matrix, pads], "f4", 2, {}, lambda x, p: np.pad(x, [(p[0], p[2]), (p[1], p[3])], mode="reflect"), \
        [[x, ints(1, 2, 3, 0)], [x, ints(3, 0, 0, 2)]]
    resize = node("Resize", "x a a s", "y", mode="nearest", coordinate_transformation_mode="asymmetric", nearest_mode="floor")
    resize.input[1] = resize.input[2] = ""
    yield "grown", [resize], [matrix, shape], "f4", 2, {}, lambda x, s: resized(x, s), [[x, ints(8, 9)], [x, ints(2, 3)], [x, ints(1, 1)]]
    yield "shaped", [node("Reshape", "x s", "y")], [matrix, shape], "f4", 2, {}, reshaped, [[x, ints(2, 6)], [x, ints(0, 3)], [x, ints(-1, 2)], [x, ints(12, -1)], [x, ints(0, -1)]]
    yield "flat", [node("Reshape", "x s", "y")], [matrix, ("s", "i8", [1])], "f4", 1, {}, reshaped, [[x, ints(12)], [x, ints(-1)]]
    mask = [node("ReduceMax", "n", "most", keepdims=0), node("Range", "zero most one", "r"), node("Unsqueeze", "n axis", "column"), node("Less", "r column", "l"),
            node("Cast", "l", "y", to=F32)]
    yield "mask", mask, [("n", "i8", [3])], "f4", 2, {"zero": np.array(0), "one": np.array(1), "axis": ints(1)}, \
        lambda n: (np.arange(n.max()) < n[:, None]).astype("f4"), [[ints(4, 1, 6)], [ints(0, 0, 0)], [ints(33, 2, 1)]]
    ends = [("a", "f4", []), ("b", "f4", []), ("d", "f4", [])]
    real = lambda *values: [np.array(value, "f4") for value in values]
    yield "reals", [node("Range", "a b d", "y")], ends, "f4", 1, {}, lambda a, b, d: a + d * np.arange(max(int(np.ceil(np.float64(b - a) / np.float64(d))), 0), dtype="f4"), \
        [real(0, 5.5, 1), real(7, 0.5, -0.5), real(1, 0, 1), real(0, 1, 0.25)]
    yield "steps", [node("Range", "a b d", "y")], [(name, "i8", []) for name in "abd"], "i8", 1, {}, lambda a, b, d: np.arange(a, b, d), \
        [[np.array(value) for value in values] for values in ((0, 9, 2), (9, -4, -3), (5, 5, 1), (-3, 3, 1))]
    yield "hot", [node("OneHot", "i d v", "y")], [("i", "i8", [3]), ("d", "i8", [1])], "f4", 2, {"v": np.array([0, 1], "f4")}, \
        lambda i, d: (i[:, None] == np.arange(d[0])).astype("f4"), [[ints(0, 2, 1), ints(5)], [ints(0, 0, 0), ints(1)]]
    # A size that follows from another one: durations that are summed, and as many numbers that are summed again.
    twice = [node("Ceil", "w", "whole"), node("Cast", "whole", "c", to=I64), node("ReduceSum", "c", "t", keepdims=0), node("Range", "zero t one", "r"),
             node("ReduceSum", "r", "sum"), node("ConstantOfShape", "sum", "z"), node("Cast", "r", "f", to=F32), node("Concat", "f z", "y", axis=0)]
    yield "twice", twice, [("w", "f4", ["n"])], "f4", 1, {"zero": np.array(0), "one": np.array(1)}, \
        lambda w: np.concatenate([np.arange(t := int(np.ceil(w).sum())), np.zeros(t * (t - 1) // 2)]).astype("f4"), \
        [[np.array([0.5, 2.5, 1.0], "f4")], [np.array([3.5], "f4")], [np.zeros(2, "f4")]]
    constants = {"trips": np.array(3), "true": np.array(True), "axis": ints(0), "three": ints(3)}
    yield "looped", [make_loop()], [matrix, ("counts", "i8", [3])], "f4", 1, constants, loop, [[x, ints(2, 9, 1)], [x, ints(40, 4, 4)]]
    body = helper.make_graph([node("Add", "s s", "t"), node("Identity", "t", "u"), node("Identity", "c", "c_out")], "body",
                             [helper.make_tensor_value_info(*row) for row in (("i", I64, []), ("c", BOOL, []), ("s", F32, [2]))],
                             [helper.make_tensor_value_info(*row) for row in (("c_out", BOOL, []), ("t", F32, [2]), ("u", F32, [2]))])
    collect = [helper.make_node("Loop", ["n", "", "x"], ["last", "y"], name="collect", body=body)]
    yield "collected", collect, [("n", "i8", []), ("x", "f4", [2])], "f4", 2, {}, \
        lambda n, x: np.stack([x * np.float32(2) ** (i + 1) for i in range(n)]) if n > 0 else np.zeros((0, 2), "f4"), [[np.array(n), x[0, :2]] for n in (4, 0, 90, -1)]
    # Data decide, whatever is declared.
    yield "declared", [node("TopK", "v k", "y i", axis=0)], [("v", "f4", [9]), ("k", "i8", [1])], "f4", [5], {}, lambda v, k: np.sort(v)[::-1][:k[0]], \
        [[np.arange(9, dtype="f4"), ints(5)], [np.arange(9, dtype="f4"), ints(2)]]


def runs():
    right, wrong = 0, []
    options = sys.argv[3:]
    for name, nodes, inputs, kind, rank, weights, reference, given in list_cases():
        model = library.Library(save(name, nodes, inputs, [("y", kind, [None] * rank if isinstance(rank, int) else rank)], weights), options, FOLDER / name)
        for values in given:
            want = reference(*values)
            got = dict(model.run({each: value for (each, _, _), value in zip(inputs, values)}, 2))["y"]
            if got.shape == want.shape and np.allclose(got, want, 1e-6, 1e-6):
                right += 1
            else:
                wrong.append(f"{name} of {[value.tolist() for value in values]}: {got.tolist()}, expected {want.tolist()}")
    print(*wrong[:8], f"{right} of {right + len(wrong)} runs right", sep="\n")


def refuses(model, inputs, status):
    try:
        model.run(inputs, 1)
    except RuntimeError as error:
        return str(error).endswith(f"status {status}")
    return False


def bounds():
    """A bound that an option makes static or limits ends runs beyond it, and negative sizes end a run in any case."""
    fill = [node("ConstantOfShape", "s", "y")]
    path = save("fixed", fill, [("s", "i8", [2])], [("y", "f4", [None, None])])
    free = library.Library(path, [], FOLDER / "free")
    print("negative", refuses(free, {"s": np.array([-1, 2])}, MISMATCH), "far", refuses(free, {"s": np.array([1, 2**40])}, OUT_OF_BOUNDS))
    limited = library.Library(path, ["--dim=y_size0_most=0..6", "--dim=y_size1_most=0..5"], FOLDER / "limited")
    print("within", dict(limited.run({"s": np.array([6, 5])}, 1))["y"].shape, "beyond", refuses(limited, {"s": np.array([7, 5])}, OUT_OF_BOUNDS))
    fixed = library.Library(path, ["--dim=y_size0_most=6", "--dim=y_size1_most=5"], FOLDER / "static")
    print("names", *fixed.symbols(), "within", dict(fixed.run({"s": np.array([6, 5])}, 1))["y"].shape, "beyond", refuses(fixed, {"s": np.array([7, 5])}, MISMATCH))
    path = save("counted", [node("Range", "zero t one", "y")], [("t", "i8", [])], [("y", "i8", [None])], {"zero": np.array(0), "one": np.array(1)})
    counted = library.Library(path, ["--dim=y_count_most=20"], FOLDER / "counted")
    print("counts", dict(counted.run({"t": np.array(20)}, 1))["y"].shape, "beyond", refuses(counted, {"t": np.array(21)}, MISMATCH))


FOLDER.mkdir(parents=True, exist_ok=True)
{"runs": runs, "bounds": bounds}[sys.argv[1]]()
