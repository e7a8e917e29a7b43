"""Comparison, logic and choice."""

import numpy as np
from arithmetic import all_numbers
from cases import Expected, operator
from elements import DATA, FLOATS

LOGIC = {"And": np.logical_and, "Or": np.logical_or, "Xor": np.logical_xor}
COMPARISONS = {"Equal": np.equal, "Less": np.less, "Greater": np.greater, "LessOrEqual": np.less_equal, "GreaterOrEqual": np.greater_equal}


@operator("And", "Or", "Xor", types=["bool"], since=7)
def combine(g):
    a, b = (g.tensor("bool", shape) for shape in g.shapes_that_broadcast(2))
    return g.case([a, b], Expected(LOGIC[g.op](a.array, b.array), "bool"))


@operator("And", "Or", "Xor", types=["bool"], until=6)
def combine_at_axis(g):
    a = g.tensor("bool", g.shape(1, 4))
    start = g.integer(0, len(a.shape) - 1)
    b = g.tensor("bool", a.shape[start : start + 1])
    aligned = b.array.reshape(b.shape + (1,) * (len(a.shape) - start - 1))
    return g.case([a, b], Expected(LOGIC[g.op](a.array, aligned), "bool"), broadcast=1, axis=start)


@operator("Not", types=["bool"])
def negate(g):
    x = g.tensor("bool", g.shape())
    return g.case([x], Expected(~x.array, "bool"))


def equal_types(opset):
    return ["bool", "i32", "i64"] if opset < 11 else all_numbers(opset) + ["bool"] + (["string"] if opset >= 19 else [])


def order_types(opset):
    return ["f32", "f16", "f64"] if opset < 9 else all_numbers(opset)


def compare(g):
    a, b = (g.tensor(g.type, shape) for shape in g.shapes_that_broadcast(2))
    if g.chance(0.5):
        # Equal numbers are rare otherwise.
        a.array, b.array = (g.values(g.type, tensor.shape, "small" if g.chance(0.5) else "special") for tensor in (a, b))
    return g.case([a, b], Expected(COMPARISONS[g.op](a.array, b.array), "bool"))


operator("Equal", types=equal_types, since=7)(compare)
operator("Less", "Greater", types=order_types, since=7)(compare)
operator("LessOrEqual", "GreaterOrEqual", types=lambda opset: [name for name in all_numbers(opset) if opset >= 16 or name != "bf16"], since=12)(compare)


@operator("Equal", types=["bool", "i32", "i64"], until=6)
@operator("Less", "Greater", types=["f32", "f16", "f64"], until=6)
def compare_at_axis(g):
    a = g.tensor(g.type, g.shape(1, 4), "small")
    start = g.integer(0, len(a.shape) - 1)
    b = g.tensor(g.type, a.shape[start : start + 1], "small")
    aligned = b.array.reshape(b.shape + (1,) * (len(a.shape) - start - 1))
    return g.case([a, b], Expected(COMPARISONS[g.op](a.array, aligned), "bool"), broadcast=1, axis=start)


@operator("IsNaN", types=lambda opset: FLOATS if opset >= 13 else ["f32", "f16", "f64"], since=9)
def is_nan(g):
    x = g.tensor(g.type, g.shape(), "special")
    return g.case([x], Expected(np.isnan(x.array), "bool"))


@operator("IsInf", types=lambda opset: FLOATS if opset >= 20 else ["f32", "f64"], since=10)
def is_infinite(g):
    x = g.tensor(g.type, g.shape(), "special")
    negative, positive = g.pick([None, 0, 1]), g.pick([None, 0, 1])
    found = (np.isneginf(x.array) & (negative != 0)) | (np.isposinf(x.array) & (positive != 0))
    return g.case([x], Expected(found, "bool"), detect_negative=negative, detect_positive=positive)


@operator("Where", types=lambda opset: [name for name in DATA + ["string"] if opset >= 16 or name != "bf16"], since=9)
def where(g):
    shapes = g.shapes_that_broadcast(3)
    condition = g.tensor("bool", shapes[0])
    x, y = (g.tensor(g.type, shape) for shape in shapes[1:])
    return g.case([condition, x, y], Expected(np.where(condition.array, x.array, y.array), g.type))
