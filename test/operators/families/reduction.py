"""Reductions, running sums and products, and what orders elements."""

import numpy as np
from arithmetic import all_numbers, floats_of
from cases import Expected, Tensor, operator
from elements import FLOATS, TYPES, round_to

WIDE_INTEGERS = ["i32", "u32", "i64", "u64"]


def reduced_types(opset):
    return floats_of(opset) + WIDE_INTEGERS


def extreme_types(opset):
    return reduced_types(opset) + (["i8", "u8"] if opset >= 12 else []) + (["bool"] if opset >= 20 else [])


def inputs_and_axes(g, x, since):
    """The inputs and attributes that say over which axes, and these axes; None: nothing is reduced."""
    rank = len(x.shape)
    # Axes count from the end since opset 11.
    axes = g.axes(rank, least=1, negative=g.opset >= 11) if rank and g.chance(0.8) else None
    keep = g.pick([None, 0, 1])
    attributes = {"keepdims": keep}
    inputs = [x]
    nothing = False
    if g.opset < since:
        attributes["axes"] = axes
    else:
        if axes is not None or g.chance(0.3):
            inputs.append(Tensor(np.array(axes or [], np.int64), "i64", constant=True))
        if g.chance(0.3):
            attributes["noop_with_empty_axes"] = g.pick([0, 1])
        nothing = axes is None and attributes.get("noop_with_empty_axes") == 1
    over = tuple(sorted(axis % rank for axis in axes)) if axes is not None else tuple(range(rank))
    return inputs, attributes, None if nothing else over, keep != 0


def argument(g, kinds=("normal", "normal", "small", "wide")):
    return g.tensor(g.type, g.shape(0, 4, elements=6000, size=300), g.pick(kinds) if TYPES[g.type].is_float else None)


def count(x, axes):
    return int(np.prod([x.shape[axis] for axis in axes], dtype=np.int64))


def integer_sum(x, axes, keep):
    """Wraps around in its own type."""
    return np.sum(x, axis=axes, keepdims=keep, dtype=x.dtype)


def truncated(values, type):
    """A real number as an integer of a type, the nearest where it is beyond its range."""
    element = TYPES[type]
    wide = np.trunc(np.nan_to_num(np.asarray(values, np.longdouble), nan=0, posinf=np.inf, neginf=-np.inf))
    return np.array([min(max(int(value), element.least) if np.isfinite(value) else (element.most if value > 0 else element.least), element.most)
                     for value in wide.reshape(-1)], dtype=object).astype(element.held).reshape(wide.shape)


FLOAT_REDUCTIONS = {
    "ReduceSum": lambda x, a, k: np.sum(x, axis=a, keepdims=k),
    "ReduceMean": lambda x, a, k: np.sum(x, axis=a, keepdims=k) / count(x, a),
    "ReduceL1": lambda x, a, k: np.sum(np.abs(x), axis=a, keepdims=k),
    "ReduceL2": lambda x, a, k: np.sqrt(np.sum(x * x, axis=a, keepdims=k)),
    "ReduceSumSquare": lambda x, a, k: np.sum(x * x, axis=a, keepdims=k),
    "ReduceLogSum": lambda x, a, k: np.log(np.sum(x, axis=a, keepdims=k)),
    "ReduceProd": lambda x, a, k: np.prod(x, axis=a, keepdims=k),
}
WITHOUT_AXES = {  # what an operator computes of one element when it is told to reduce nothing
    "ReduceSum": lambda x: x, "ReduceMean": lambda x: x, "ReduceProd": lambda x: x, "ReduceMax": lambda x: x, "ReduceMin": lambda x: x, "ReduceL1": np.abs,
    "ReduceL2": np.abs, "ReduceSumSquare": np.square, "ReduceLogSum": np.log, "ReduceLogSumExp": lambda x: x,
}


def magnitude_of(op, x, axes, keep):
    """By what a sum's rounding is measured."""
    terms = x * x if op == "ReduceSumSquare" else np.abs(x)
    return np.sum(terms, axis=axes, keepdims=keep) / (count(x, axes) if op == "ReduceMean" else 1)


def rounding(g, x, axes):
    """Relative to the sum of magnitudes: halves are summed in f32, and a sum of n terms is off by few units in the last place."""
    return (np.log2(count(x, axes) + 1) + 8) * np.longdouble(2.0) ** -(53 if g.type == "f64" else 24) if x.size else 0


def expect_float(g, x, axes, keep):
    with np.errstate(all="ignore"):
        exact = FLOAT_REDUCTIONS[g.op](x, axes, keep)
        ulps = {"f32": 2, "f64": 2, "other": 0.51}
        if g.op == "ReduceProd":
            return Expected(exact, g.type, {"f32": count(x, axes) + 1, "f64": count(x, axes) + 1, "other": 0.6})
        slack = np.nan_to_num(magnitude_of(g.op, x, axes, keep) * rounding(g, x, axes), posinf=0)
        if g.op == "ReduceL2":
            slack = np.abs(np.nan_to_num(exact, posinf=0)) * rounding(g, x, axes)
        if g.op == "ReduceLogSum":
            slack = np.nan_to_num(slack / np.abs(np.sum(x, axis=axes, keepdims=keep)), posinf=0) + slack * 0
    return Expected(exact, g.type, ulps, slack)


def expect_integer(g, x, axes, keep):
    """Sums and products wrap around; the quotient of a mean and real functions are truncated."""
    with np.errstate(all="ignore"):
        if g.op == "ReduceSum":
            return Expected(integer_sum(x, axes, keep), g.type)
        if g.op == "ReduceProd":
            return Expected(np.prod(x, axis=axes, keepdims=keep, dtype=x.dtype), g.type)
        if g.op == "ReduceL1":
            return Expected(integer_sum(np.abs(x), axes, keep), g.type)
        if g.op == "ReduceSumSquare":
            return Expected(integer_sum(x * x, axes, keep), g.type)
        if g.op == "ReduceMean":
            total = integer_sum(x, axes, keep)
            size = count(x, axes)
            return Expected(np.array([int(value) // size if value >= 0 else -(-int(value) // size) for value in np.asarray(total).reshape(-1)],
                                     dtype=object).astype(x.dtype).reshape(np.shape(total)), g.type)
        if g.op == "ReduceL2":
            return Expected(truncated(np.sqrt(np.sum(x.astype("f8") ** 2, axis=axes, keepdims=keep)), g.type), g.type)
    return Expected(truncated(np.log(integer_sum(x, axes, keep).astype("f8")), g.type), g.type)


@operator("ReduceSum", "ReduceProd", "ReduceL1", "ReduceL2", "ReduceSumSquare", "ReduceMean", types=reduced_types, weight=2)
@operator("ReduceLogSum", types=floats_of)
def reduce(g):
    kinds = ("positive", "positive", "normal") if g.op == "ReduceLogSum" else ("normal", "small", "positive") if g.op == "ReduceProd" else ("normal", "normal", "small", "wide")
    x = argument(g, kinds)
    if not TYPES[g.type].is_float and g.op in ("ReduceL2", "ReduceMean"):
        x = g.tensor(g.type, x.shape, "normal")  # the text does not say in which type they overflow
    if g.op == "ReduceMean" and not x.array.size:
        x = g.tensor(g.type, tuple(max(dim, 1) for dim in x.shape), "normal")
    if g.op in ("ReduceL2", "ReduceSumSquare") and g.type in ("f16", "bf16") and g.chance(0.5):
        x = Tensor(round_to(g.random.standard_normal(x.shape) * 300, g.type), g.type)  # squares that f16 does not hold
    inputs, attributes, axes, keep = inputs_and_axes(g, x, 13 if g.op == "ReduceSum" else 18)
    wide = x.wide
    if axes is None:
        with np.errstate(all="ignore"):
            return g.case(inputs, Expected(WITHOUT_AXES[g.op](wide), g.type, 1 if TYPES[g.type].is_float else 0), **attributes)
    expect = expect_float if TYPES[g.type].is_float else expect_integer
    return g.case(inputs, expect(g, wide, axes, keep), **attributes)


@operator("ReduceMax", "ReduceMin", types=extreme_types, weight=4)
def reduce_extreme(g):
    """Of an empty set the least or the greatest number of the type, of floats an infinity."""
    x = argument(g, ("normal", "small", "wide", "special"))
    if g.opset < 18:
        x = g.tensor(g.type, tuple(max(dim, 1) for dim in x.shape)) if not x.array.size else x
    inputs, attributes, axes, keep = inputs_and_axes(g, x, 18)
    if axes is None:
        return g.case(inputs, Expected(x.array, g.type), **attributes)
    element = TYPES[g.type]
    most = g.op == "ReduceMax"
    ends = (-np.inf, np.inf) if element.is_float else (False, True) if element.is_bool else (element.least, element.most)
    with np.errstate(all="ignore"):
        result = (np.maximum if most else np.minimum).reduce(x.array, axis=axes, keepdims=keep, initial=x.array.dtype.type(ends[0 if most else 1]))
    return g.case(inputs, Expected(result, g.type), **attributes)


@operator("ReduceLogSumExp", types=floats_of, weight=2)
def log_sum_exp(g):
    x = argument(g, ("normal", "small"))
    if g.chance(0.4):
        x = Tensor(round_to(x.wide * g.pick([30, 200, 2000]), g.type), g.type)
    inputs, attributes, axes, keep = inputs_and_axes(g, x, 18)
    wide = x.wide
    if axes is None:
        return g.case(inputs, Expected(wide, g.type, 1), **attributes)
    if not x.array.size:
        with np.errstate(all="ignore"):
            return g.case(inputs, Expected(np.log(np.sum(wide, axis=axes, keepdims=keep)), g.type), **attributes)
    most = np.max(wide, axis=axes, keepdims=True)
    with np.errstate(all="ignore"):
        exact = np.log(np.sum(np.exp(wide - most), axis=axes, keepdims=True)) + most
    exact = exact if keep else np.squeeze(exact, axes)
    # The shift, and a sum of powers in one chain.
    slack = (np.max(np.abs(wide)) + 8 + 4 * np.sqrt(count(wide, axes))) * np.longdouble(2.0) ** -(53 if g.type == "f64" else 24)
    return g.case(inputs, Expected(exact, g.type, {"f32": 2, "f64": 2, "other": 0.51}, slack), **attributes)


@operator("ArgMax", "ArgMin", types=all_numbers, weight=3)
def find_extreme(g):
    shape = g.shape(1, 4, zero=False, elements=6000, size=300)
    x = g.tensor(g.type, shape, g.pick(["small", "normal", "wide", "special"]))
    axis = g.axis(len(shape), negative=g.opset >= 11)
    last = g.pick([None, 0, 1]) if g.opset >= 12 else None
    keep = g.pick([None, 0, 1])
    find = np.argmax if g.op == "ArgMax" else np.argmin
    if last:
        places = shape[axis] - 1 - find(np.flip(x.array, axis), axis=axis)
        # The text says nothing of NaN: the first one counts.
        nan = x.array != x.array
        places = np.where(np.any(nan, axis=axis), np.argmax(nan, axis=axis), places)
    else:
        places = find(x.array, axis=axis)
    places = np.asarray(places, np.int64)
    places = places if keep == 0 else np.expand_dims(places, axis)
    return g.case([x], Expected(places, "i64"), axis=None if axis == 0 and g.chance(0.5) else axis, keepdims=keep, select_last_index=last)


def running_types(opset):
    return WIDE_INTEGERS + (FLOATS if opset >= 14 else ["f32", "f64"])


@operator("CumSum", types=running_types, since=11, weight=2)
@operator("CumProd", types=running_types, since=26, weight=2)
def run_along(g):
    x = g.tensor(g.type, g.shape(1, 4), g.pick(["normal", "small"]) if TYPES[g.type].is_float else None)
    axis = g.axis(len(x.shape))
    exclusive, reverse = g.pick([None, 0, 1]), g.pick([None, 0, 1])
    wide = np.flip(x.wide, axis) if reverse else x.wide
    product = g.op == "CumProd"
    with np.errstate(all="ignore"):
        run = (lambda a: np.cumprod(a, axis, dtype=a.dtype)) if product else (lambda a: np.cumsum(a, axis, dtype=a.dtype))
        result, magnitude = run(wide), np.cumsum(np.abs(wide), axis) if TYPES[g.type].is_float else 0
    if exclusive and wide.size:
        first = np.full_like(np.take(result, [0], axis), 1 if product else 0)
        result = np.concatenate([first, np.delete(result, -1, axis)], axis)
    result = np.flip(result, axis) if reverse else result
    if not TYPES[g.type].is_float:
        return g.case([x, axis_of(g, axis)], Expected(result, g.type), exclusive=exclusive, reverse=reverse)
    magnitude = np.flip(magnitude, axis) if reverse else magnitude
    unit = np.longdouble(2.0) ** -(53 if g.type == "f64" else 24)
    slack = np.abs(result) * unit * wide.shape[axis] if product else magnitude * unit * wide.shape[axis]
    return g.case([x, axis_of(g, axis)], Expected(result, g.type, {"f32": 1, "f64": 1, "other": 0.6}, slack), exclusive=exclusive, reverse=reverse)


def axis_of(g, axis):
    """An axis as an input, a scalar of either type."""
    type = g.pick(["i32", "i64"])
    return Tensor(np.array(axis, TYPES[type].held), type, constant=True)


@operator("TopK", types=lambda opset: floats_of(opset) if opset < 11 else [name for name in all_numbers(opset) if name != "bf16" or opset >= 24], weight=3)
def top(g):
    """Of equal elements those with the lower index come first."""
    shape = g.shape(1, 3, zero=False)
    x = g.tensor(g.type, shape, g.pick(["small", "normal", "wide"]))
    axis = g.axis(len(shape), negative=g.opset >= 11)
    size = shape[axis]
    k = g.pick([0, 1, size, g.integer(1, size)]) if g.opset >= 10 else g.pick([1, size, g.integer(1, size)])
    largest = g.pick([None, 0, 1]) if g.opset >= 11 else None
    order = np.argsort(x.array, axis=axis, kind="stable") if largest == 0 else \
        size - 1 - np.flip(np.argsort(np.flip(x.array, axis), axis=axis, kind="stable"), axis)
    places = np.take(order, range(k), axis)
    outputs = Expected(np.take_along_axis(x.array, places, axis), g.type), Expected(places.astype(np.int64), "i64")
    attributes = {"axis": None if axis % len(shape) == len(shape) - 1 and g.chance(0.5) else axis, "largest": largest}
    if g.opset < 10:
        return g.case([x], *outputs, k=k, **attributes)
    return g.case([x, Tensor(np.array([k], np.int64), "i64", constant=True)], *outputs, **attributes)
