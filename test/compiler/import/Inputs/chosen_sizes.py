"""Sizes of which one run or another has a 0 or a 1: broadcasts of them, and shapes in which a 0 copies a dimension. Resize by scales of a run. Beside what
NumPy computes.
Usage: chosen_sizes.py broadcasts|shapes|scales|errors|joins FOLDER [OPTION...]"""

import itertools
import os
import pathlib
import sys

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

sys.path.insert(0, os.path.join(os.path.dirname(__file__), *[".."] * 3, "end-to-end"))
import library

FOLDER, OPTIONS = pathlib.Path(sys.argv[2]), sys.argv[3:]
F32, BOOL = TensorProto.FLOAT, TensorProto.BOOL


def save(name, nodes, inputs, weights=()):
    """`inputs` are (name, type, shape)."""
    rows = [helper.make_tensor_value_info(*row) for row in inputs]
    tensors = [numpy_helper.from_array(np.asarray(value), each) for each, value in dict(weights).items()]
    graph = helper.make_graph(nodes, name, rows, [helper.make_empty_tensor_value_info("y")], tensors)
    path = FOLDER / f"{name}.onnx"
    onnx.save(helper.make_model(graph, ir_version=8, opset_imports=[helper.make_opsetid("", 18)]), str(path))
    return path


def node(op, inputs, outputs="y", **attributes):
    return helper.make_node(op, inputs.split(), outputs.split(), name=outputs.split()[0], **attributes)


def numbers(shape, seed):
    return np.random.default_rng(seed).integers(-9, 9, shape).astype("f4")


def list_broadcasts():
    """(name, nodes, shapes of inputs with names of dimensions, reference)"""
    pair, grid = [["n", 2], ["m", 2]], [["n", 3], ["m", "k"]]
    binary = {"Add": np.add, "Sub": np.subtract, "Mul": np.multiply, "Max": np.maximum, "Min": np.minimum, "Sum": np.add, "Mean": lambda a, b: (a + b) / 2}
    for op, of in binary.items():
        yield op, [node(op, "a b")], pair, of
    yield "grid", [node("Add", "a b")], grid, np.add
    yield "Less", [node("Less", "a b", "l"), node("Cast", "l", to=F32)], pair, lambda a, b: (a < b).astype("f4")
    yield "three", [node("Sum", "a b c")], [["n", 2], ["m", 2], ["k", 2]], lambda a, b, c: a + b + c
    yield "six", [node("Sum", "a b c d e f")], [["n"], ["m"], ["n"], ["k"], ["m"], ["j"]], lambda *given: sum(given)
    yield "chain", [node("Add", "a b", "s"), node("Add", "s c", "t"), node("Mul", "t a")], [["n"], ["m"], ["k"]], lambda a, b, c: (a + b + c) * a
    yield "choice", [node("Cast", "a", "x", to=BOOL), node("Where", "x b c")], [["n", 2], ["m", 2], ["k", 1]], lambda a, b, c: np.where(a != 0, b, c)
    yield "product", [node("MatMul", "a b")], [["n", 2, 3], ["m", 3, 2]], np.matmul
    yield "slope", [node("PRelu", "a b")], [["n", 2], [1, 2]], lambda a, b: np.where(a < 0, a * b, a)
    yield "expand", [node("Shape", "b", "s"), node("Expand", "a s")], pair, lambda a, b: np.broadcast_to(a, np.broadcast_shapes(a.shape, b.shape))
    yield "empty", [node("Add", "a b")], [["n", 2], [0, 2]], np.add
    yield "reduced", [node("Add", "a b", "s"), node("ReduceSum", "s", keepdims=0)], pair, lambda a, b: np.asarray((a + b).sum(dtype="f4"))
    yield "joined", [node("Add", "a b", "s"), node("Concat", "s a", axis=0)], pair, lambda a, b: np.concatenate([a + b, a])


def fits(shapes):
    try:
        np.broadcast_shapes(*shapes)
        return True
    except ValueError:
        return False


def judge(name, model, given, want, wrong):
    try:
        got = dict(model.run(dict(zip("abcdef", given)), 2))["y"]
        if got.shape == want.shape and np.allclose(got, want, 1e-5, 1e-5):
            return 1
        wrong.append(f"{name} of {[each.shape for each in given]}: {got.shape} {got.ravel()[:4].tolist()}, expected {want.shape} {want.ravel()[:4].tolist()}")
    except RuntimeError as error:
        wrong.append(f"{name} of {[each.shape for each in given]}: {error}, expected {want.shape}")
    return 0


def report(right, wrong):
    print(*wrong[:8], f"{right} of {right + len(wrong)} runs right", sep="\n")


def broadcasts():
    right, wrong = 0, []
    for name, nodes, shapes, reference in list_broadcasts():
        names = sorted({dim for shape in shapes for dim in shape if isinstance(dim, str)})
        model = library.Library(save(name, nodes, [(each, F32, shape) for each, shape in zip("abcdef", shapes)]), OPTIONS, FOLDER / name)
        for sizes in itertools.product((0, 1, 3), repeat=len(names)):
            at = dict(zip(names, sizes))
            known = [[at.get(dim, dim) for dim in shape] for shape in shapes]
            batches = [shape[:1] for shape in known] if name in ("product", "joined") else known
            if not fits(batches):
                continue
            given = [numbers(shape, i) for i, shape in enumerate(known)]
            right += judge(name, model, given, np.asarray(reference(*given)), wrong)
    report(right, wrong)


def reshaped(x, shape):
    return x.reshape([x.shape[i] if size == 0 else size for i, size in enumerate(shape)])


def shapes():
    """Entries of a shape are sizes of another input."""
    sizes = [node("Shape", "b", "t"), node("Slice", "t zero one", "k")]
    weights = {"zero": np.array([0]), "one": np.array([1]), "open": np.array([-1]), "two": np.array([2])}
    right, wrong = 0, []
    for name, parts, of, runs in (("front", "k open", lambda k: [k, -1], ((4, 0), (4, 2), (4, 8), (1, 0), (3, 1))),
                                  ("behind", "open k", lambda k: [-1, k], ((4, 0), (4, 2), (4, 8), (1, 0))),
                                  ("middle", "two k open", lambda k: [2, k, -1], ((4, 0), (4, 2), (6, 3)))):
        path = save(name, [*sizes, node("Concat", parts, "s", axis=0), node("Reshape", "a s")], [("a", F32, ["n", 4]), ("b", F32, ["k", 1])], weights)
        model = library.Library(path, OPTIONS, FOLDER / name)
        for n, k in runs:
            given = [numbers((n, 4), n), numbers((k, 1), k)]
            right += judge(name, model, given, reshaped(given[0], of(k)), wrong)
    report(right, wrong)


def interpolated(x, axis, scale, mode, coordinates, nearest):
    size = x.shape[axis]
    count = int(np.floor(np.float32(size) * np.float32(scale)))
    at = np.arange(count, dtype="f8")
    at = at / scale if coordinates == "asymmetric" else (at + 0.5) / scale - 0.5
    if mode == "nearest":
        rounded = {"floor": np.floor(at), "ceil": np.ceil(at), "round_prefer_floor": np.ceil(at - 0.5), "round_prefer_ceil": np.floor(at + 0.5)}[nearest]
        return np.take(x, np.clip(rounded, 0, size - 1).astype(int), axis)
    low = np.floor(at)
    share = (at - low).reshape([-1 if i == axis else 1 for i in range(x.ndim)])
    left, right = (np.take(x, np.clip(place, 0, size - 1).astype(int), axis) for place in (low, low + 1))
    return (left * (1 - share) + right * share).astype("f4")


def scales():
    """Scales that an input gives, beside constant ones."""
    right, wrong = 0, []
    forms = [("nearest", "asymmetric", each) for each in ("floor", "ceil", "round_prefer_floor", "round_prefer_ceil")]
    forms += [("nearest", "half_pixel", "round_prefer_floor"), ("linear", "half_pixel", "floor"), ("linear", "asymmetric", "floor")]
    for mode, coordinates, nearest in forms:
        resize = node("Resize", "a a s", mode=mode, coordinate_transformation_mode=coordinates, nearest_mode=nearest)
        resize.input[1] = ""
        name = f"{mode}_{coordinates}_{nearest}"
        path = save(name, [node("Concat", "one b half", "s", axis=0), resize], [("a", F32, [2, "n", 6]), ("b", F32, [1])], {"one": np.ones(1, "f4"), "half": np.array([1.5], "f4")})
        model = library.Library(path, OPTIONS, FOLDER / name)
        for n, scale in ((4, 1.0), (4, 2.5), (9, 0.5), (5, 0.7), (3, 0.1)):
            given = [numbers((2, n, 6), n), np.array([scale], "f4")]
            steps = interpolated(given[0], 1, float(np.float32(scale)), mode, coordinates, nearest)
            right += judge(name, model, given, interpolated(steps, 2, 1.5, mode, coordinates, nearest), wrong)
    report(right, wrong)


def joins():
    """Concatenations of many sizes, two of which have a place in a larger one."""
    right, count = 0, 70
    names = [f"x{i}" for i in range(count)]
    for axis in (0, 1):
        inputs = [(name, F32, [f"n{i}", 3] if axis == 0 else [2, f"n{i}"]) for i, name in enumerate(names)]
        model = library.Library(save(f"join{axis}", [node("Concat", " ".join(names), axis=axis)], inputs), OPTIONS, FOLDER / f"join{axis}")
        for seed in range(4):
            sizes = np.random.default_rng(seed).integers(0, 20, count)
            given = [numbers((size, 3) if axis == 0 else (2, size), i) for i, size in enumerate(sizes)]
            right += np.array_equal(dict(model.run(dict(zip(names, given)), 3))["y"], np.concatenate(given, axis))
    print(f"{right} joins right")


def errors():
    for attributes, count in (({"antialias": 1}, 2), ({}, 3)):
        resize = node("Resize", "a a s", mode="linear", **attributes)
        resize.input[1] = ""
        try:
            library.Library(save("refused", [resize], [("a", F32, ["n", 6]), ("s", F32, [count])]), OPTIONS, FOLDER / "refused")
        except Exception as error:
            print(str(error).splitlines()[-1])


FOLDER.mkdir(parents=True, exist_ok=True)
globals()[sys.argv[1]]()
