"""Arithmetic with one, two and more operands, and its corners: wrap-around, division by zero, negative exponents."""

import numpy as np
from cases import Expected, Tensor, operator
from elements import FLOATS, INTEGERS, SIGNED, TYPES, UNSIGNED, round_to


def floats_of(opset):
    """bf16 came with opset 13."""
    return FLOATS if opset >= 13 else [name for name in FLOATS if name != "bf16"]


def all_numbers(opset):
    return floats_of(opset) + INTEGERS


def arithmetic_types(opset):
    """Integers of 8 and 16 bits came with opset 14."""
    return all_numbers(opset) if opset >= 14 else floats_of(opset) + ["i32", "u32", "i64", "u64"]


def computed(tensor):
    """Numbers in the type that a reference computes with: of f64 itself, so that nothing is rounded twice."""
    return tensor.array if not TYPES[tensor.type].is_float or tensor.type == "f64" else tensor.wide


def divide_integers(a, b):
    """Towards zero; x / 0 is 0, the least number / -1 wraps around."""
    if a.dtype.kind == "u":
        return np.where(b == 0, a.dtype.type(0), a // np.where(b == 0, a.dtype.type(1), b))
    magnitude = np.abs(a).astype(np.uint64) & np.uint64(2 ** (8 * a.itemsize) - 1)
    divisor = np.abs(b).astype(np.uint64) & np.uint64(2 ** (8 * a.itemsize) - 1)
    quotient = magnitude // np.where(divisor == 0, np.uint64(1), divisor)
    signed = np.where((a < 0) != (b < 0), np.uint64(0) - quotient, quotient).astype(a.dtype)
    return np.where(b == 0, a.dtype.type(0), signed)


def divide(a, b):
    return divide_integers(*np.broadcast_arrays(a, b)) if a.dtype.kind in "iu" else a / b


ARITHMETIC = {"Add": np.add, "Sub": np.subtract, "Mul": np.multiply, "Div": divide}


@operator("Add", "Sub", "Mul", "Div", types=arithmetic_types, since=7, weight=2)
def combine_two(g):
    a, b = (g.tensor(g.type, shape) for shape in g.shapes_that_broadcast(2))
    with np.errstate(all="ignore"):
        return g.case([a, b], Expected(ARITHMETIC[g.op](computed(a), computed(b)), g.type))


@operator("Add", "Sub", "Mul", "Div", types=["f32", "f16", "f64"], until=6)
def combine_at_axis(g):
    """Up to opset 6 the second operand is broadcast only when an attribute says so, from an axis on."""
    a = g.tensor(g.type, g.shape(1, 4))
    rank = len(a.shape)
    start = g.integer(0, rank - 1)
    stop = g.integer(start + 1, rank) if g.chance(0.7) else rank
    spread = g.chance(0.7)
    b = g.tensor(g.type, a.shape[start:stop] if spread else a.shape)
    axis = start if spread and (stop < rank or g.chance(0.5)) else None
    aligned = computed(b).reshape(b.shape + (1,) * (rank - stop)) if spread else computed(b)
    with np.errstate(all="ignore"):
        return g.case([a, b], Expected(ARITHMETIC[g.op](computed(a), aligned), g.type), broadcast=1 if spread else None, axis=axis)


def modulo(a, b, fmod):
    """The sign is the divisor's, with fmod the dividend's. By zero the integer remainder is 0."""
    if a.dtype.kind not in "iu":
        return np.fmod(a, b)
    a, b = np.broadcast_arrays(a, b)
    remainder = a - divide_integers(a, b) * b
    remainder = np.where(b == 0, a.dtype.type(0), remainder)
    if fmod or a.dtype.kind == "u":
        return remainder
    return np.where((remainder != 0) & ((remainder < 0) != (b < 0)), remainder + b, remainder).astype(a.dtype)


@operator("Mod", types=all_numbers, since=10, weight=2)
def take_modulo(g):
    a, b = (g.tensor(g.type, shape) for shape in g.shapes_that_broadcast(2))
    fmod = 1 if TYPES[g.type].is_float else g.pick([None, 0, 1])
    with np.errstate(all="ignore"):
        return g.case([a, b], Expected(modulo(computed(a), computed(b), fmod), g.type), fmod=fmod)


def power_of_integers(base, exponent, type):
    """Wraps around; with a negative exponent what is no integer is 0."""
    bits = TYPES[type].bits
    results = []
    for x, y in zip(*(array.reshape(-1).tolist() for array in np.broadcast_arrays(base, exponent))):
        value = pow(x, y, 1 << bits) if y >= 0 else (1 if x == 1 else (-1) ** (y % 2) if x == -1 else 0)
        value &= (1 << bits) - 1
        results.append(value - (1 << bits) if not TYPES[type].is_unsigned and value >> (bits - 1) else value)
    return np.array(results, dtype=object).astype(TYPES[type].held).reshape(np.broadcast_shapes(base.shape, exponent.shape))


# The exponent may be bf16 from opset 15 on.
@operator("Pow", types=lambda opset: floats_of(min(opset, 12) if opset < 15 else opset) + (["i32", "i64"] if opset >= 12 else []), since=7)
def raise_to_power(g):
    shapes = g.shapes_that_broadcast(2)
    if TYPES[g.type].is_float:
        a = g.tensor(g.type, shapes[0], g.pick(["positive", "normal", "small", "special"]))
        b = g.tensor(g.type, shapes[1], g.pick(["normal", "small", "special"]))
        with np.errstate(all="ignore"):
            return g.case([a, b], Expected(np.power(a.wide, b.wide), g.type, {"f32": 2, "f64": 2.5, "other": 0.51}))
    a = g.tensor(g.type, shapes[0], g.pick(["small", "normal", "special"]))
    kind = g.pick(["i32", "i64"])
    b = g.tensor(kind, shapes[1], g.pick(["small", "normal"]))
    return g.case([a, b], Expected(power_of_integers(a.array, b.array, g.type), g.type))


@operator("Abs", types=lambda opset: ["f32", "f16", "f64"] if opset < 6 else all_numbers(opset))
def absolute(g):
    x = g.tensor(g.type, g.shape())
    return g.case([x], Expected(np.abs(x.array), g.type))


@operator("Neg", types=lambda opset: ["f32", "f16", "f64"] if opset < 6 else floats_of(opset) + SIGNED)
def negate(g):
    x = g.tensor(g.type, g.shape())
    with np.errstate(all="ignore"):
        return g.case([x], Expected(-x.array, g.type))


@operator("Sign", types=all_numbers, since=9)
def take_sign(g):
    x = g.tensor(g.type, g.shape())
    return g.case([x], Expected(np.sign(x.array), g.type))


def extreme_types(opset):
    return all_numbers(opset) if opset >= 12 else floats_of(opset)


def choose(least, a, b):
    """The lesser or the greater; NaN where either is NaN."""
    with np.errstate(all="ignore"):
        return (np.minimum if least else np.maximum)(a, b)


@operator("Min", "Max", types=extreme_types, since=8)
def take_extreme(g):
    tensors = [g.tensor(g.type, shape) for shape in g.shapes_that_broadcast(g.integer(1, 4))]
    result = tensors[0].array
    for tensor in tensors[1:]:
        result = choose(g.op == "Min", result, tensor.array)
    return g.case(tensors, Expected(result, g.type))


@operator("Sum", "Mean", types=floats_of, since=8)
def total(g):
    tensors = [g.tensor(g.type, shape, g.pick(["normal", "small", "wide"])) for shape in g.shapes_that_broadcast(g.integer(1, 4))]
    result, magnitude = tensors[0].wide, np.abs(tensors[0].wide)
    for tensor in tensors[1:]:
        result, magnitude = result + tensor.wide, magnitude + np.abs(tensor.wide)
    count = len(tensors) if g.op == "Mean" else 1
    digits = TYPES[g.type].digits
    return g.case(tensors, Expected(result / count, g.type, 1, magnitude / count * len(tensors) * 2.0**-digits))


def clip_bounds(g):
    """Bounds that are given or not, seldom the wrong way round."""
    low, high = (g.tensor(g.type, (), g.pick(["normal", "small", "special"])) for _ in range(2))
    if TYPES[g.type].is_float:
        low, high = (Tensor(np.where(np.isnan(bound.array), bound.array.dtype.type(1), bound.array), g.type) for bound in (low, high))
    if low.array > high.array and g.chance(0.9):
        low, high = high, low
    return low if g.chance(0.75) else None, high if g.chance(0.75) else None


@operator("Clip", types=lambda opset: all_numbers(opset) if opset >= 12 else ["f32", "f16", "f64"], since=11, weight=2)
def clip(g):
    """Without a bound it is the least or the greatest number of the type: infinities become that."""
    x = g.tensor(g.type, g.shape())
    low, high = clip_bounds(g)
    element = TYPES[g.type]
    ends = (-element.largest, element.largest) if element.is_float else (element.least, element.most)
    least, most = (np.array(end if bound is None else bound.array).astype(x.array.dtype) for bound, end in zip((low, high), ends))
    result = choose(True, most, choose(False, x.array, least))
    inputs = [x, low, high]
    while inputs[-1] is None:
        inputs.pop()
    return g.case(inputs, Expected(result, g.type))


@operator("Clip", types=["f32", "f16", "f64"], since=6, until=10)
def clip_by_attributes(g):
    """The defaults are the ends of f32."""
    x = g.tensor(g.type, g.shape())
    bounds = sorted(float(np.float32(value)) for value in g.random.standard_normal(2))
    low, high = bounds[0] if g.chance(0.7) else None, bounds[1] if g.chance(0.7) else None
    wide = x.wide
    limits = [-TYPES["f32"].largest if low is None else low, TYPES["f32"].largest if high is None else high]
    result = choose(True, limits[1], choose(False, wide, limits[0]))
    # Between the ends of f16 and those of f32 lie f16's infinities: the bound rounded to f16.
    return g.case([x], Expected(round_to(result, g.type), g.type), min=low, max=high)


@operator("PRelu", types=lambda opset: ["f32", "f16", "f64"] if opset < 9 else (FLOATS if opset >= 16 else ["f32", "f16", "f64"]) + ["i32", "u32", "i64", "u64"], since=7)
def slope(g):
    x = g.tensor(g.type, g.shape())
    own = [1 if g.chance(0.4) else dim for dim in x.shape]
    slopes = g.tensor(g.type, own[g.integer(0, len(own)) if own and g.chance(0.3) else 0:])
    with np.errstate(all="ignore"):
        return g.case([x, slopes], Expected(np.where(x.array < 0, computed(x) * computed(slopes), computed(x)), g.type))


@operator("BitShift", types=UNSIGNED, since=11)
def shift(g):
    """By the width and more all bits are gone."""
    shapes = g.shapes_that_broadcast(2)
    x = g.tensor(g.type, shapes[0], g.pick(["wide", "special"]))
    width = TYPES[g.type].bits
    y = Tensor(g.random.integers(0, width + 4, size=shapes[1]).astype(TYPES[g.type].held), g.type) if g.chance(0.7) else g.tensor(g.type, shapes[1])
    direction = g.pick(["LEFT", "RIGHT"])
    a, b = np.broadcast_arrays(x.array, y.array)
    distance = np.minimum(b, width - 1).astype(a.dtype)
    shifted = a << distance if direction == "LEFT" else a >> distance
    return g.case([x, y], Expected(np.where(b >= width, a.dtype.type(0), shifted), g.type), direction=direction)


@operator("BitwiseAnd", "BitwiseOr", "BitwiseXor", types=INTEGERS, since=18)
def combine_bits(g):
    x, y = (g.tensor(g.type, shape) for shape in g.shapes_that_broadcast(2))
    function = {"BitwiseAnd": np.bitwise_and, "BitwiseOr": np.bitwise_or, "BitwiseXor": np.bitwise_xor}[g.op]
    return g.case([x, y], Expected(function(x.array, y.array), g.type))


@operator("BitwiseNot", types=INTEGERS, since=18)
def invert_bits(g):
    x = g.tensor(g.type, g.shape())
    return g.case([x], Expected(~x.array, g.type))
