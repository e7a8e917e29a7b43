"""Integers that stand for real numbers, and products of them."""

import numpy as np
from cases import Expected, Tensor, operator
from convolution import convolve, draw_channels
from elements import TYPES, round_to
from windows import Window, spatial_sizes

f32 = np.float32


def some_scale(g, shape, type="f32"):
    return Tensor(round_to(np.exp2(g.random.uniform(-6, 1, shape)), type), type, g.chance(0.7) or None)


def limits(type):
    return TYPES[type].least, TYPES[type].most


def layout(g, shape, since_block):
    """(shape of the parameters, attributes, function that spreads them): for all, for a slice each, or for a block each."""
    ways = ["all", "all"] + ["axis"] * (g.opset >= 13) * 2 + ["block"] * (g.opset >= since_block)
    way = g.pick(ways)
    axis = g.axis(len(shape)) if shape else 0
    if way == "all" or not shape:
        return g.pick([(), (1,)]) if g.opset >= 13 else (), {}, lambda p: p.reshape(())
    attributes = {} if axis == 1 and g.chance(0.5) else {"axis": axis}
    line = [1] * len(shape)
    line[axis] = shape[axis]
    if way == "axis":
        return (shape[axis],), attributes, lambda p: p.reshape(line)
    block = g.integer(1, shape[axis])
    own = list(shape)
    own[axis] = -(-shape[axis] // block)
    return tuple(own), {**attributes, "block_size": block}, lambda p: np.take(p.repeat(block, axis), np.arange(shape[axis]), axis)


def quantized_types(opset):
    return ["u8", "i8"] + (["u16", "i16", "u4", "i4"] if opset >= 21 else [])


def sizes(g, least=1):
    return g.shape(least, 4, zero=False, elements=600)


@operator("QuantizeLinear", types=quantized_types, since=10, weight=4)
def quantize(g):
    shape = sizes(g, 0 if g.opset >= 13 else 1)
    form, attributes, spread = layout(g, shape, 21)
    # From opset 19 to 22 the scale has the input's type, and an int32 scale means nothing.
    kinds = ["f32", "f32", "f32" if 19 <= g.opset < 23 else "i32"] + ["f16", "bf16"] * (g.opset >= 19)
    x = g.tensor(g.pick(kinds), shape, "normal")
    scale = some_scale(g, form, g.pick(["f32", "f16", "bf16"]) if g.opset >= 23 else "f32" if x.type == "i32" else x.type)
    # Before opset 23 the text does not say in which type halves are divided: scales are powers of two, which divide exactly.
    if g.opset < 23 and x.type in ("f16", "bf16"):
        scale.array = np.exp2(np.rint(np.log2(scale.array.astype("f8")))).astype(scale.array.dtype)
    if x.type != "i32":
        x.array = round_to(x.array * f32(g.pick([1, 10, 100, 1e4])), x.type)
    low, high = limits(g.type)
    zero = Tensor(g.random.integers(low, high, form, endpoint=True).astype(TYPES[g.type].held), g.type, g.chance(0.7) or None)
    if g.type == "u8" and g.chance(0.3):
        zero = None
    precision = g.pick([None, None, "f32", "f16"]) if g.opset >= 23 else None
    divided = precision or scale.type
    with np.errstate(over="ignore"):
        quotient = round_to(f32(round_to(x.array, divided)) / spread(f32(round_to(scale.array, divided))), divided)
    attributes["precision"] = TYPES[precision].number if precision else None
    result = np.clip(np.rint(quotient.astype("f8")) + (spread(zero.array).astype("f8") if zero else 0), low, high)
    return g.case([x, scale] + ([zero] if zero else []), Expected(result.astype(TYPES[g.type].held), g.type), **attributes)


@operator("DequantizeLinear", types=lambda opset: quantized_types(opset) + ["i32"], since=10, weight=3)
def dequantize(g):
    shape = sizes(g, 0 if g.opset >= 13 else 1)
    form, attributes, spread = layout(g, shape, 21)
    to = g.pick(["f32", "f32"] + ["f16", "bf16"] * (g.opset >= 19))
    scale = some_scale(g, form, to)
    x = g.tensor(g.type, shape, "normal")
    zero = Tensor(g.values(g.type, form, "normal"), g.type, g.chance(0.7) or None) if g.type != "i32" and g.chance(0.7) else None
    result = (x.array.astype("f8") - (spread(zero.array).astype("f8") if zero else 0)) * spread(scale.array).astype("f8")
    return g.case([x, scale] + ([zero] if zero else []), Expected(result, to, 1 if to == "f32" else 0.51), **attributes)


@operator("DynamicQuantizeLinear", types=["f32"], since=11)
def dynamic_quantize(g):
    x = g.tensor("f32", sizes(g), "normal")
    x.array = x.array * f32(g.pick([0.01, 1, 100])) + f32(g.pick([0, 0, 5, -5]))
    least, most = min(x.array.min(), f32(0)), max(x.array.max(), f32(0))
    if least == most:
        x.array, most = x.array + f32(1), f32(1)
        least = f32(0)
        most = x.array.max()
    scale = (most - least) / f32(255)
    zero = np.clip(np.rint(-least / scale), 0, 255)
    result = np.clip(np.rint(x.array / scale) + zero, 0, 255)
    return g.case([x], Expected(result.astype("u1"), "u8"), Expected(scale, "f32"), Expected(zero.astype("u1"), "u8"))


def zero_point(g, type, shape):
    return Tensor(g.values(type, shape, "normal"), type, g.chance(0.7) or None)


def operands(g, most=24):
    """Of an integer product: tensors and their numbers without zero points, with a form of the parameters for each row and column."""
    rows, depth, columns = (g.pick([1, 2, 3, 4, 7, 8, 9, 16, 17, most]) for _ in range(3))
    batch = g.shapes_that_broadcast(2, 1) if g.chance(0.3) else [(), ()]
    while np.prod([*np.broadcast_shapes(*batch), rows, depth, columns]) > 60000:
        batch = [(), ()]
    kinds = g.pick(["u8", "i8"]), g.pick(["u8", "i8"])
    a, b = g.tensor(kinds[0], (*batch[0], rows, depth), "wide"), g.tensor(kinds[1], (*batch[1], depth, columns), "wide")
    if not g.chance(0.3):
        return a, b, (), ()
    # A vector, or a parameter with the rank of its side.
    if not batch[0] and not batch[1] and g.chance(0.5):
        return a, b, (rows,), (columns,)
    return a, b, (*batch[0], rows, 1), (*batch[1], 1, columns)


def of_rows_of(array):
    return array if array.ndim > 1 else array.reshape(-1, 1)


def of_columns_of(array):
    return array if array.ndim > 1 else array.reshape(1, -1)


@operator("MatMulInteger", types=["i32"], since=10, weight=2)
def matmul_integer(g):
    a, b, of_rows, of_columns = operands(g)
    a_zero, b_zero = zero_point(g, a.type, of_rows), zero_point(g, b.type, of_columns)
    chosen = g.pick([0, 1, 2, 2])
    left = a.array.astype("i8") - (of_rows_of(a_zero.array.astype("i8")) if chosen else 0)
    right = b.array.astype("i8") - (of_columns_of(b_zero.array.astype("i8")) if chosen == 2 else 0)
    return g.case([a, b, a_zero, b_zero][: 2 + chosen], Expected((left @ right).astype("i4"), "i32"))


@operator("MatMulInteger", types=["i32"], since=10)
def matmul_integer_vectors(g):
    depth, rows, form = g.integer(1, 20), g.integer(1, 6), g.pick(["left", "right", "both"])
    a = g.tensor(g.pick(["u8", "i8"]), (depth,) if form != "right" else (*g.shape(0, 1, zero=False, size=3), rows, depth))
    b = g.tensor(g.pick(["u8", "i8"]), (depth,) if form != "left" else (*g.shape(0, 1, zero=False, size=3), depth, rows))
    zeros = [g.tensor(x.type, g.pick([(), (1,)])) for x in (a, b)][: g.integer(0, 2)]
    left, right = (x.array.astype("i8") - (zeros[at].array.astype("i8") if at < len(zeros) else 0) for at, x in enumerate((a, b)))
    return g.case([a, b, *zeros], Expected((left @ right).astype("i4"), "i32"))


def requantized(total, factor, zero, type):
    """(number, free): what is nearly in the middle between two numbers may go to either."""
    real = total.astype("f8") * factor
    near = abs(real - np.floor(real) - 0.5) < 1e-5 * (1 + abs(real))
    return np.clip(np.rint(real) + zero, *limits(type)).astype(TYPES[type].held), near


@operator("QLinearMatMul", types=["u8", "i8"], since=10, weight=3)
def qlinear_matmul(g):
    a, b, of_rows, of_columns = operands(g)
    of_result = ()
    # Scales of halves came with opset 21.
    a_scale, b_scale = some_scale(g, of_rows), some_scale(g, of_columns)
    a_zero, b_zero = zero_point(g, a.type, of_rows), zero_point(g, b.type, of_columns)
    total = (a.array.astype("i8") - of_rows_of(a_zero.array.astype("i8"))) @ (b.array.astype("i8") - of_columns_of(b_zero.array.astype("i8")))
    product = of_rows_of(a_scale.wide) * of_columns_of(b_scale.wide)
    scale = Tensor(np.array(max(abs(total * product).max(initial=0), 1e-3) / g.pick([60, 150])).astype("f4"), "f32")
    zero = zero_point(g, g.type, of_result)
    result, free = requantized(total, product / scale.wide, zero.array.astype("f8"), g.type)
    return g.case([a, a_scale, a_zero, b, b_scale, b_zero, scale, zero], Expected(result, g.type, free=free))


def integer_convolution(g):
    groups, channels, filters = draw_channels(g, 9)
    window = Window(g, spatial_sizes(g, elements=80))
    kinds = g.pick(["u8", "i8"]), g.pick(["u8", "i8"])
    x, weight = g.tensor(kinds[0], (g.pick([1, 2]), channels, *window.sizes), "wide"), g.tensor(kinds[1], (filters, channels // groups, *window.kernel), "wide", g.chance(0.6))
    return groups, window, x, weight


@operator("ConvInteger", types=["i32"], since=10, weight=2)
def conv_integer(g):
    groups, window, x, weight = integer_convolution(g)
    x_zero = zero_point(g, x.type, ())
    w_zero = zero_point(g, weight.type, (weight.shape[0],) if g.chance(0.3) else ())
    chosen = g.pick([0, 1, 2])
    left = x.array.astype("i8") - (x_zero.array.astype("i8") if chosen else 0)
    right = weight.array.astype("i8") - (w_zero.array.astype("i8").reshape(-1, *[1] * (len(weight.shape) - 1)) if chosen == 2 else 0)
    result = convolve(left, right, window, groups).astype("i4")
    return g.case([x, weight, x_zero, w_zero][: 2 + chosen], Expected(result, "i32"), **window.attributes(group=groups))


@operator("QLinearConv", types=["u8", "i8"], since=10, weight=2)
def qlinear_conv(g):
    groups, window, x, weight = integer_convolution(g)
    apart = (weight.shape[0],) if g.chance(0.5) else ()
    x_scale, x_zero, w_scale, w_zero = some_scale(g, ()), zero_point(g, x.type, ()), some_scale(g, apart), zero_point(g, weight.type, apart)
    line = (-1, *[1] * (len(weight.shape) - 1))
    total = convolve(x.array.astype("i8") - x_zero.array.astype("i8"), weight.array.astype("i8") - w_zero.array.astype("i8").reshape(line), window, groups)
    inputs = [x, x_scale, x_zero, weight, w_scale, w_zero]
    column = (-1, *[1] * len(window.sizes))
    bias = Tensor(g.random.integers(-5000, 5000, weight.shape[0]).astype("i4"), "i32", True) if g.chance(0.5) else None
    total = total + (bias.array.astype("i8").reshape(column) if bias else 0)
    product = x_scale.wide * w_scale.wide.reshape(column if apart else ())
    scale = Tensor(np.array(max(abs(total * product).max(initial=0), 1e-3) / g.pick([60, 150])).astype("f4"), "f32")
    zero = zero_point(g, g.type, ())
    result, free = requantized(total, product / scale.wide, zero.array.astype("f8"), g.type)
    return g.case([*inputs, scale, zero] + ([bias] if bias else []), Expected(result, g.type, free=free), **window.attributes(group=groups))
