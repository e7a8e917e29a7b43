#!/usr/bin/env python3
"""Runs NonZero, Compress, Unique and NonMaxSuppression, whose sizes only the data tells, against numpy: data_sized.py FOLDER."""
import itertools
import pathlib
import sys

import numpy as np
from onnx import helper

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[3]))
from onnx_cases import DTYPES, Model, finish, kiln

random = np.random.default_rng(7)
KINDS = {"f2": 9, "f4": 9, "f8": 9, "i1": 9, "u1": 9, "i4": 9, "i8": 9, "?": 2}


def few(dtype, *shape):
    """Numbers of which several are equal, zeros among them."""
    array = random.integers(0, KINDS[dtype], shape)
    return array if dtype in ("u1", "?") else array - 4


def pick(model, name, op, inputs, **attributes):
    model.nodes.append(helper.make_node(op, inputs, [name], name, **attributes))
    return name


def add_non_zero_cases(model):
    for dtype in KINDS:
        x = few(dtype, 3, 1, 5).astype(dtype)
        dims = ["N", 1, "M"] if dtype in ("f4", "?") else None
        model.case(f"NonZero {dtype}", "NonZero", [model.input(x, dtype, dims)], np.stack(np.nonzero(x)), "i8", [3, "k"])
    line = np.array([0, -0.0, np.nan, np.inf, 1e-40])
    model.case("NonZero of NaN", "NonZero", [model.input(line)], np.array([[2, 3, 4]]), "i8", [1, "k"])
    model.case("NonZero of nothing", "NonZero", [model.input(np.zeros((4, 2)))], np.zeros((2, 0)), "i8", [2, "k"])
    model.case("NonZero of no elements", "NonZero", [model.input(np.zeros((0, 2)), dims=["Z", 2])], np.zeros((2, 0)), "i8", [2, "k"])
    model.case("NonZero of everything", "NonZero", [model.input(np.ones((2, 2)))], np.indices((2, 2)).reshape(2, 4), "i8", [2, "k"])
    model.case("NonZero of a scalar", "NonZero", [model.input(np.array(3.0), dims=[])], np.zeros((0, 1)), "i8", [0, "k"])


def add_compress_cases(model):
    x, flags = random.standard_normal((4, 5)), np.array([True, False, True])
    condition = model.input(flags, "?", ["F"])
    model.case("Compress rows", "Compress", [model.input(x), condition], x[:3][flags], dims=["k", 5], axis=0)
    model.case("Compress columns", "Compress", [model.input(x, dims=["R", 5]), condition], x[:, :3][:, flags], dims=["k", "l"], axis=-1)
    model.case("Compress flat", "Compress", [model.input(x), condition], x.ravel()[[0, 2]], dims=["k"])
    model.case("Compress to nothing", "Compress", [model.input(x), model.input(np.zeros(4, bool), "?")], x[:0], dims=["k", 5], axis=0)


def unique(x, axis, is_sorted):
    """Values, first places, inverse, counts; NaN is one value."""
    values, first, inverse, counts = np.unique(x, True, True, True, axis)
    order = np.arange(len(first)) if is_sorted else np.argsort(first)
    return np.take(values, order, axis or 0), first[order], np.argsort(order)[inverse.ravel()], counts[order]


def add_unique_case(model, label, source, exact, dtype, **attributes):
    """All four outputs of one node."""
    names = [f"{label}_{at}_{len(model.nodes)}" for at in range(4)]
    model.nodes.append(helper.make_node("Unique", [source], names, names[0], **attributes))
    for at, (name, part) in enumerate(zip(names, exact)):
        kind = "i8" if at else dtype
        model.outputs.append(helper.make_tensor_value_info(name, DTYPES[kind], ["k"] * part.ndim))
        model.expected[name] = part, kind


def add_unique_cases(model):
    shapes = itertools.cycle([((23,), None), ((12, 2), 0), ((2, 9, 2), 1), ((3, 7), None)])
    for dtype, (shape, axis) in zip(KINDS, shapes):
        x = (few(dtype, *shape) % 3 if axis is not None else few(dtype, *shape)).astype(dtype)
        for is_sorted in (1, 0):
            attributes = {} if axis is None else {"axis": axis}
            add_unique_case(model, f"unique_{np.dtype(dtype).name}", model.input(x, dtype), unique(x, axis, is_sorted), dtype, sorted=is_sorted, **attributes)
    line = np.array([2, np.nan, -np.inf, 2, np.nan, np.inf, -0.0, 0])
    add_unique_case(model, "unique_nan", model.input(line, dims=["U"]), unique(line, None, 1), "f4")
    # More than are sorted by insertion, and bytes above 127.
    long = random.integers(0, 700, 2000)
    for x, axis in [(np.where(long == 3, np.nan, long / 7), None), (long % 256, None), (long[:900].reshape(300, 3) % 5, 0)]:
        dtype = "u1" if x.max() == 255 else "f8" if axis is None else "i8"
        for is_sorted in (1, 0):
            attributes = {} if axis is None else {"axis": axis}
            add_unique_case(model, "unique_long", model.input(x, dtype), unique(x.astype(dtype), axis, is_sorted), dtype, sorted=is_sorted, **attributes)
    model.case("Unique of no elements", "Unique", [model.input(np.zeros(0), dims=["Y"])], np.zeros(0), dims=["k"])


def suppress(boxes, scores, most, overlap, threshold, center):
    half = boxes[..., 2:] / 2
    corners = np.concatenate([boxes[..., :2] - half, boxes[..., :2] + half], -1) if center else \
        np.concatenate([np.minimum(boxes[..., :2], boxes[..., 2:]), np.maximum(boxes[..., :2], boxes[..., 2:])], -1)
    taken = []
    for batch, group in np.ndindex(scores.shape[:2]):
        row, kept = scores[batch, group], []
        for box in sorted(np.flatnonzero(row > threshold), key=lambda i: (-row[i], i)):
            a = corners[batch, box]
            b = corners[batch, kept]
            common = np.prod(np.clip(np.minimum(a[2:], b[:, 2:]) - np.maximum(a[:2], b[:, :2]), 0, None), -1)
            whole = np.prod(a[2:] - a[:2]) + np.prod(b[:, 2:] - b[:, :2], axis=-1) - common
            if len(kept) < most and not np.any((common > 0) & (common > overlap * whole)):
                kept.append(box)
        taken += [(batch, group, box) for box in kept]
    return np.array(taken, int).reshape(-1, 3)


def add_suppression_cases(model):
    boxes, scores = random.random((2, 40, 4)), random.random((2, 3, 40))
    scores[0, 1, :5] = 0.5  # equal ones: by place
    scores[1, 2] = 0
    limit, overlap, threshold = model.input(np.array([7]), "i8"), model.input(np.array([0.3])), model.input(np.array([0.2]))
    fixed = model.weight(np.array([4]), "i8")
    for center in (0, 1):
        for dims in (None, ["P", "Q", 4]):
            inputs = [model.input(boxes, dims=dims), model.input(scores, dims=dims and ["P", "C", "Q"])]
            model.case(f"NMS center {center}", "NonMaxSuppression", [*inputs, limit, overlap, threshold], suppress(boxes, scores, 7, 0.3, 0.2, center), "i8",
                       ["k", 3], center_point_box=center)
    inputs = [model.input(boxes), model.input(scores)]
    model.case("NMS fixed limit", "NonMaxSuppression", [*inputs, fixed, overlap], suppress(boxes, scores, 4, 0.3, -np.inf, 0), "i8", ["k", 3])
    model.case("NMS no limit", "NonMaxSuppression", inputs, np.zeros((0, 3)), "i8", ["k", 3])
    model.case("NMS no overlap", "NonMaxSuppression", [*inputs, fixed], suppress(boxes, scores, 4, 0, -np.inf, 0), "i8", ["k", 3])
    model.case("NMS high threshold", "NonMaxSuppression", [*inputs, limit, overlap, model.input(np.array([2.0]))], np.zeros((0, 3)), "i8", ["k", 3])
    # More boxes than are sorted at first: those suffice where boxes lie apart, and do not where nearly all overlap.
    many, worth = random.random((2, 500, 4)).astype("f4").astype("f8"), random.random((2, 2, 500)).astype("f4").astype("f8")
    many[1] = many[1] / 8 + [0, 0, 1, 1]
    inputs = [model.input(many), model.input(worth), model.weight(np.array([6]), "i8")]
    for most in (0.125, 0.75):
        exact = suppress(many, worth, 6, most, 0.25, 0)
        model.case("NMS of many", "NonMaxSuppression", [*inputs, model.input(np.array([most])), model.input(np.array([0.25]))], exact, "i8", ["k", 3])
    bad = scores[:1, :1].copy()
    bad[0, 0, ::2] = np.nan
    places = boxes[:1].copy()
    places[0, 1::4] = np.nan  # overlaps nothing
    exact = suppress(places, np.where(np.isnan(bad), -1, bad), 30, 0.3, 0, 0)
    model.case("NMS with NaN", "NonMaxSuppression", [model.input(places), model.input(bad), model.input(np.array([30]), "i8"), overlap], exact, "i8", ["k", 3])


def add_chains(model):
    """What follows counts with their size."""
    x = np.maximum(random.standard_normal((6, 7)), 0)
    source = model.input(x, dims=["A", 7])
    at = pick(model, "places", "NonZero", [source])
    rows = pick(model, "rows", "Transpose", [at], perm=[1, 0])
    chosen = pick(model, "chosen", "GatherND", [source, rows])
    values = x[np.nonzero(x)]
    model.case("chosen squared", "Mul", [chosen, chosen], values * values, dims=["k"])
    model.case("chosen sum", "ReduceSum", [chosen], values.sum(keepdims=True), keepdims=1)
    model.case("chosen twice", "Concat", [chosen, source_of(model, chosen)], np.concatenate([values, values]), dims=["k"], axis=0)
    model.case("shape", "Shape", [at], np.array([2, values.size]), "i8")
    size = pick(model, "size", "Shape", [chosen])
    model.case("zeros", "ConstantOfShape", [size], np.zeros(values.size), dims=["k"])
    model.case("put back", "ScatterND", [pick(model, "none", "Sub", [source, source]), rows, chosen], x, dims=["A", 7])
    model.case("sorted", "TopK", [chosen, size], np.sort(values)[::-1], dims=["k"])
    model.case("outer", "MatMul", [reshape(model, chosen, [-1, 1]), reshape(model, chosen, [1, -1])], np.outer(values, values), dims=["k", "l"])
    nested = pick(model, "nested", "NonZero", [pick(model, "large", "Greater", [chosen, model.weight(np.array(0.7))])])
    model.case("of a count", "Gather", [chosen, reshape(model, nested, [-1])], values[values > 0.7], dims=["m"])


def source_of(model, value):
    return pick(model, "same", "Identity", [value])


def reshape(model, value, shape):
    return pick(model, f"reshaped_{len(model.nodes)}", "Reshape", [value, model.weight(np.array(shape), "i8")])


def main():
    folder = pathlib.Path(sys.argv[1])
    model, faults = Model(), []
    for add in (add_non_zero_cases, add_compress_cases, add_unique_cases, add_suppression_cases, add_chains):
        add(model)
    model.save(folder / "model.onnx", 18)
    arguments, bounds = model.save_inputs(folder), {"f4": (1e-5, 1e-6)}
    for options in (["--target=x86-64-v3"], ["--target=generic", "--threads=2", "--decompose=all"]):
        kiln("run", folder / "model.onnx", *arguments, "--output-dir", folder / "out", *options)
        faults += model.compare(folder / "out", bounds, f" {options}")
    finish(faults, 2 * len(model.expected))


if __name__ == "__main__":
    main()
