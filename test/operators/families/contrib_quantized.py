"""Quantised operators of com.microsoft, from the formulas of ONNX Runtime's ContribOperators.md."""

import numpy as np
import quantized
from activation import sigmoid
from attention import softmax
from cases import Expected, Tensor
from contrib import apart, attend, contrib, draw_mask, layer_norm
from convolution import convolve
from elements import TYPES
from floats import accumulated, unit
from normalization import small_number
from quantized import integer_convolution, limits, requantized, some_scale
from windows import Window, spatial_sizes

BYTES = ["u8", "i8"]


def zero(g, type, shape=()):
    return Tensor(g.values(type, shape, "normal"), type, g.chance(0.8) or None)


def operand(g, shape, type=None):
    """(tensor, scale, zero point, real numbers)"""
    type = type or g.type
    x, scale, point = g.tensor(type, shape, "wide"), some_scale(g, ()), zero(g, type)
    return x, scale, point, (x.array.astype("f8") - point.array.astype("f8")) * scale.wide


def result(g, real, type=None, room=0):
    """(scale, zero point, expected) of real numbers; what is within `room` of the middle between two may go to either."""
    type = type or g.type
    scale = Tensor(np.array(max(np.abs(real).max(initial=0), 1e-3) / g.pick([60, 150])).astype("f4"), "f32", g.chance(0.8) or None)
    point = zero(g, type)
    steps = real / scale.wide
    near = abs(steps - np.floor(steps) - 0.5) <= 1e-5 * (1 + abs(steps)) + room / scale.wide
    numbers = np.clip(np.rint(steps) + point.array.astype("f8"), *limits(type)).astype(TYPES[type].held)
    return scale, point, Expected(numbers, type, free=near)


@contrib("QLinearAdd", "QLinearMul", types=BYTES, weight=2)
def binary(g):
    shapes = g.shapes_that_broadcast(2)
    (a, *of_a, left), (b, *of_b, right) = operand(g, shapes[0]), operand(g, shapes[1])
    scale, point, expected = result(g, left + right if g.op == "QLinearAdd" else left * right)
    return g.case([a, *of_a, b, *of_b, scale, point], expected)


@contrib("QLinearSigmoid", "QLinearLeakyRelu", types=BYTES, weight=2)
def unary(g):
    x, scale, point, real = operand(g, g.shape(1, 4))
    if g.op == "QLinearSigmoid":
        return g.case([x, scale, point, *(made := result(g, sigmoid(real), room=2e-6))[:2]], made[2])
    alpha = g.pick([None, 0.01, 0.1, 0.5])
    slope = np.longdouble(np.float32(0.01 if alpha is None else alpha))
    made = result(g, np.where(real < 0, slope * real, real))
    return g.case([x, scale, point, *made[:2]], made[2], alpha=alpha)


@contrib("QLinearSoftmax", types=BYTES)
def quantized_softmax(g):
    x, scale, point, real = operand(g, g.shape(1, 3, zero=False))
    opset, rank = g.pick([11, 13, 17]), real.ndim
    axis = g.axis(rank)
    if opset < 13:
        front = int(np.prod(real.shape[: axis % rank], dtype=np.int64))
        exact = softmax(real.reshape(front, -1)).reshape(real.shape)
    else:
        exact = np.moveaxis(softmax(np.moveaxis(real, axis, -1)), -1, axis)
    # ONNX Runtime wants the scale and zero point that use the whole range.
    step, least = Tensor(np.float32(1 / 256), "f32", True), Tensor(np.array(limits(g.type)[0], TYPES[g.type].held), g.type, True)
    steps = exact * 256
    near = abs(steps - np.floor(steps) - 0.5) < 1e-3
    numbers = np.clip(np.rint(steps) + limits(g.type)[0], *limits(g.type)).astype(TYPES[g.type].held)
    return g.case([x, scale, point, step, least], Expected(numbers, g.type, free=near), axis=axis, opset=opset)


@contrib("QLinearConcat", types=BYTES)
def concat(g):
    shape = list(g.shape(1, 4, zero=False, elements=600))
    axis = g.axis(len(shape))
    parts = []
    for _ in range(g.integer(1, 4)):
        shape[axis] = g.size(12)
        parts.append(operand(g, tuple(shape)))
    for part in parts:
        # As initializers: ONNX Runtime takes others, too, but says what they are only then.
        part[1].constant = part[2].constant = True
    scale, point, expected = result(g, np.concatenate([real for *_, real in parts], axis))
    scale.constant = point.constant = True
    return g.case([scale, point, *(tensor for *tensors, _ in parts for tensor in tensors)], expected, axis=axis)


@contrib("QLinearWhere", types=BYTES)
def where(g):
    shapes = g.shapes_that_broadcast(3)
    condition = g.tensor("bool", shapes[0])
    (x, *of_x, left), (y, *of_y, right) = operand(g, shapes[1]), operand(g, shapes[2])
    for tensor in (*of_x, *of_y):
        tensor.constant = True
    scale, point, expected = result(g, np.where(condition.array, left, right))
    scale.constant = point.constant = True
    return g.case([condition, x, *of_x, y, *of_y, scale, point], expected)


@contrib("QLinearReduceMean", types=BYTES)
def reduce_mean(g):
    x, scale, point, real = operand(g, g.shape(1, 4, zero=False))
    axes, keep = g.axes(real.ndim, 1), int(g.chance(0.5))
    made = result(g, real.mean(tuple(axes), keepdims=bool(keep)), room=abs(real).max() * 2e-6)
    return g.case([x, scale, point, *made[:2]], made[2], axes=axes, keepdims=keep)


def last(array):
    """Channels last."""
    return np.ascontiguousarray(np.moveaxis(array, 1, -1))


@contrib("QLinearGlobalAveragePool", types=BYTES)
def global_average_pool(g):
    shape = (g.integer(1, 2), g.integer(1, 9), *(g.integer(1, 7) for _ in range(g.integer(1, 2))))
    x, scale, point, real = operand(g, shape)
    mean = real.mean(tuple(range(2, len(shape))), keepdims=True)
    channels_last = g.chance(0.5)
    if channels_last:
        x.array, mean = last(x.array), last(mean)
    made = result(g, mean, room=abs(real).max() * 2e-6)
    return g.case([x, scale, point, *made[:2]], made[2], channels_last=int(channels_last) if channels_last or g.chance(0.5) else None)


@contrib("QLinearAveragePool", types=BYTES, weight=2)
def average_pool(g):
    window = Window(g, spatial_sizes(g, elements=80), dilated=False)
    x, scale, point, real = operand(g, (g.integer(1, 2), g.integer(1, 5), *window.sizes))
    include = g.chance(0.4)
    ones = np.ones((1, 1, *window.kernel))
    flat = real.reshape(-1, 1, *window.sizes)
    sums, counts = convolve(flat, ones, window, 1), convolve(np.ones_like(flat), ones, window, 1)
    mean = (sums / (np.prod(window.kernel) if include else counts)).reshape(*real.shape[:2], *sums.shape[2:])
    channels_last = g.chance(0.4)
    if channels_last:
        x.array, mean = last(x.array), last(mean)
    made = result(g, mean, room=abs(real).max() * 2e-6)
    attributes = window.attributes(dilations=False)
    return g.case([x, scale, point, *made[:2]], made[2], count_include_pad=int(include), channels_last=int(channels_last) if channels_last else None, **attributes)


@contrib("QLinearConv", types=BYTES, weight=2)
def qlinear_conv(g):
    """That of ONNX, and with its channels last."""
    case = quantized.qlinear_conv(g)
    if g.chance(0.6):
        case.inputs[0].array = last(case.inputs[0].array)
        case.outputs[0] = Expected(last(case.outputs[0].array), g.type, free=last(case.outputs[0].free))
        case.attributes["channels_last"] = 1
    return case


@contrib("QuantizeLinear", types=["u8", "i8", "u16", "i16"])
def quantize(g):
    shape = g.shape(1, 4, zero=False, elements=600)
    axis = g.axis(len(shape)) if g.chance(0.4) else None
    form = () if axis is None else (shape[axis],)
    x, scale, point = g.tensor("f32", shape, "normal"), some_scale(g, form), zero(g, g.type, form)
    line = [1] * len(shape)
    if axis is not None:
        line[axis] = shape[axis]
    quotient = (x.array / scale.array.reshape(line)).astype("f8")
    exact = np.clip(np.rint(quotient) + point.array.reshape(line).astype("f8"), *limits(g.type)).astype(TYPES[g.type].held)
    return g.case([x, scale, point], Expected(exact, g.type), axis=axis)


@contrib("DequantizeLinear", types=["u8", "i8", "u16", "i16", "i32"])
def dequantize(g):
    shape = g.shape(1, 4, zero=False, elements=600)
    axis = g.axis(len(shape)) if g.chance(0.4) else None
    form = () if axis is None else (shape[axis],)
    x, scale = g.tensor(g.type, shape, "normal"), some_scale(g, form)
    point = zero(g, g.type, form) if g.type != "i32" and g.chance(0.7) else None
    line = [1] * len(shape)
    if axis is not None:
        line[axis] = shape[axis]
    exact = (x.array.astype("f8") - (point.array.reshape(line).astype("f8") if point else 0)) * scale.wide.reshape(line)
    return g.case([x, scale] + ([point] if point else []), Expected(exact, "f32", 1), axis=axis)


#  Integers without scales ###################################################


@contrib("MulInteger", types=BYTES)
def mul_integer(g):
    shapes = g.shapes_that_broadcast(2)
    a, b = g.tensor(g.type, shapes[0], "wide"), g.tensor(g.type, shapes[1], "wide")
    of_a, of_b = zero(g, g.type) if g.chance(0.7) else None, zero(g, g.type) if g.chance(0.7) else None
    centred = lambda x, point: x.array.astype("i4") - (point.array.astype("i4") if point else 0)
    inputs = [a, of_a, b, of_b] if of_b else [a, of_a, b]
    return g.case(inputs, Expected(centred(a, of_a) * centred(b, of_b), "i32"))


@contrib("ReduceSumInteger", types=BYTES)
def reduce_sum_integer(g):
    x = g.tensor(g.type, g.shape(1, 4, zero=False), "wide")
    axes, keep, wide = g.axes(len(x.shape), 1), int(g.chance(0.5)), "u32" if g.type == "u8" else "i32"
    exact = x.array.astype("i8").sum(tuple(axes), keepdims=bool(keep))
    return g.case([x], Expected(exact.astype(TYPES[wide].held), wide), axes=axes, keepdims=keep)


@contrib("MatMulInteger16", types=["i16", "u16"])
def matmul_integer16(g):
    rows, depth, columns = (g.pick([1, 2, 3, 7, 16, 17]) for _ in range(3))
    # Products must fit in 32 bits, ONNX Runtime has one kernel only.
    other = g.type
    a, b = g.tensor(g.type, (rows, depth), "normal"), g.tensor(other, (depth, columns), "normal")
    wide = "u32" if g.type == other == "u16" else "i32"
    exact = a.array.astype("i8") @ b.array.astype("i8")
    return g.case([a, b], Expected(exact.astype(TYPES[wide].held), wide))


#  Products ##################################################################


def sides(g, shared=False):
    """Bytes with batch dimensions on the left: (a, b, its scale and zero point by column or for all)."""
    rows, depth, columns = (g.pick([1, 2, 3, 4, 7, 8, 9, 16, 17, 24]) for _ in range(3))
    a = g.tensor(g.pick(BYTES), (*(g.integer(1, 3),) * g.integer(0, 1 if not shared else 0), rows, depth), "wide")
    b = g.tensor(g.pick(BYTES), (depth, columns), "wide", g.chance(0.7))
    form = (columns,) if g.chance(0.4) else ()
    return a, b, some_scale(g, form), zero(g, b.type, form)


def sums(a, a_zero, b, b_zero):
    point = lambda z: z.array.astype("i8") if z is not None else 0
    return (a.array.astype("i8") - point(a_zero)) @ (b.array.astype("i8") - point(b_zero))


@contrib("MatMulIntegerToFloat", types=["f32"], weight=2)
def matmul_integer_to_float(g):
    a, b, b_scale, b_zero = sides(g)
    a_scale, a_zero = some_scale(g, ()), zero(g, a.type) if g.chance(0.7) else None
    b_zero = b_zero if g.chance(0.7) else None
    bias = g.tensor("f32", b.shape[-1:], "normal") if g.chance(0.5) else None
    exact = sums(a, a_zero, b, b_zero) * (a_scale.wide * b_scale.wide)
    slack = abs(exact) * 2.0**-22
    if bias:
        exact, slack = exact + bias.wide, slack + abs(bias.wide) * 2.0**-23
    inputs = [a, b, a_scale, b_scale, a_zero, b_zero, bias]
    while inputs[-1] is None:
        inputs.pop()
    return g.case(inputs, Expected(exact, "f32", 1, slack))


@contrib("DynamicQuantizeMatMul", types=["f32"], weight=2)
def dynamic_quantize_matmul(g):
    _, b, b_scale, b_zero = sides(g)
    a = g.tensor("f32", (*(g.integer(1, 3),) * g.integer(0, 1), g.pick([1, 2, 5, 8]), b.shape[0]), "normal", False)
    low, high = min(a.array.min(), np.float32(0)), max(a.array.max(), np.float32(0))
    scale = np.float32(high - low) / np.float32(255)
    point = np.clip(np.rint(np.float32(0) - low / scale), 0, 255)
    numbers = np.clip(np.rint(a.array / scale) + point, 0, 255) - point
    b_zero = b_zero if g.chance(0.7) else None
    weights = b.array.astype("f8") - (b_zero.array.astype("f8") if b_zero else 0)
    exact = numbers.astype("f8") @ weights * (scale.astype("f8") * b_scale.wide)
    # A quotient in the middle may be rounded to either side.
    quotient = a.array.astype("f8") / scale
    near = abs(quotient - np.floor(quotient) - 0.5) < 1e-4
    slack = (near @ abs(weights)) * scale * b_scale.wide + abs(exact) * 2.0**-21
    bias = g.tensor("f32", b.shape[-1:], "normal") if g.chance(0.5) else None
    if bias:
        exact, slack = exact + bias.wide, slack + abs(bias.wide) * 2.0**-23
    inputs = [a, b, b_scale, b_zero, bias]
    while inputs[-1] is None:
        inputs.pop()
    return g.case(inputs, Expected(exact, "f32", 1, slack))


@contrib("QGemm", types=BYTES, weight=2)
def qgemm(g):
    a, b, b_scale, b_zero = sides(g, shared=True)
    a_scale, a_zero, alpha = some_scale(g, ()), zero(g, a.type), g.pick([None, 1.0, 0.5, 2.0])
    total = sums(a, a_zero, b, b_zero)
    c = None
    if g.chance(0.5):
        c = Tensor(g.random.integers(-3000, 3000, g.pick([total.shape[1:], (1, total.shape[1]), (total.shape[0], 1), total.shape])).astype("i4"), "i32", g.chance(0.7))
        total = total + c.array
    factor = a_scale.wide * b_scale.wide * (1 if alpha is None else alpha)
    trans_a, trans_b = g.chance(0.4), g.chance(0.4)
    a.array, b.array = (np.ascontiguousarray(x.array.T) if flag else x.array for x, flag in ((a, trans_a), (b, trans_b)))
    inputs, flags = [a, a_scale, a_zero, b, b_scale, b_zero, c], {"alpha": alpha, "transA": int(trans_a), "transB": int(trans_b)}
    if g.chance(0.4):
        inputs = inputs if c else inputs[:-1]
        return g.case(inputs, Expected(total * factor, "f32", 1, abs(total * factor) * 2.0**-22), **flags)
    scale = Tensor(np.array(max(abs(total * factor).max(initial=0), 1e-3) / g.pick([60, 150])).astype("f4"), "f32", True)
    point = Tensor(g.values(g.type, (), "normal"), g.type, True)
    numbers, free = requantized(total, factor / scale.wide, point.array.astype("f8"), g.type)
    return g.case([*inputs, scale, point], Expected(numbers, g.type, free=free), **flags)


@contrib("QAttention", types=BYTES, weight=3)
def q_attention(g):
    batch, heads, size, queries, hidden = g.integer(1, 3), g.integer(1, 3), g.pick([1, 4, 8, 9]), g.integer(1, 7), g.integer(1, 20)
    columns = 3 * heads * size
    x, weights = g.tensor(g.type, (batch, queries, hidden), "wide", False), g.tensor("i8" if g.type == "i8" else g.pick(BYTES), (hidden, columns), "wide", True)
    form = (columns,) if g.chance(0.3) else ()
    number = lambda low, high, shape=(): Tensor(np.exp2(g.random.uniform(low, high, shape)).astype("f4"), "f32", True)
    x_scale, w_scale = number(-9, -7), number(-8, -6, form)
    x_zero, w_zero = (Tensor(g.values(g.type, (), "normal"), g.type, True), Tensor(g.values(weights.type, form, "normal"), weights.type, True)) if g.chance(0.7) else (None, None)
    bias = g.tensor("f32", (columns,), "normal", True)
    projected = sums(x, x_zero, weights, w_zero) * (x_scale.wide * w_scale.wide) + bias.wide
    query, key, value = (apart(part, heads) for part in np.split(projected, 3, -1))
    cache = None
    past = g.integer(1, 4) if g.chance(0.4) else 0
    if past:
        cache = g.tensor("f32", (2, batch, heads, past, size), "normal", False)
        key, value = np.concatenate([cache.wide[0], key], 2), np.concatenate([cache.wide[1], value], 2)
    keys, causal = key.shape[2], g.chance(0.4)
    mask, added = draw_mask(g, batch, queries, keys, -10000.0) if g.chance(0.4) else (None, np.zeros((1, 1, 1, 1)))
    exact, slack = attend(g, query, key, value, added, 1 / np.sqrt(np.longdouble(size)), past, causal, 64)
    slack = slack * 4 + abs(projected).max() * 2.0**-20
    inputs = [x, weights, bias, x_scale, w_scale, mask, x_zero, w_zero, cache]
    while inputs[-1] is None:
        inputs.pop()
    outputs = [Expected(exact, "f32", 2, slack)]
    if past:
        outputs.append(Expected(np.stack([key, value]), "f32", 1, abs(projected).max() * 2.0**-21))
    return g.case(inputs, *outputs, num_heads=heads, unidirectional=int(causal) if causal or g.chance(0.5) else None)


@contrib("QEmbedLayerNormalization", types=["u8"])
def q_embed_norm(g):
    batch, length, width, words, places = g.integer(1, 3), g.integer(1, 6), g.pick([1, 4, 17, 32]), g.integer(1, 20), g.integer(6, 10)
    ids = lambda most: Tensor(g.random.integers(0, most, (batch, length)).astype("i4"), "i32", False)
    scale = lambda: Tensor(np.exp2(g.random.uniform(-6, -3)).astype("f4"), "f32", True)
    shapes = [(words, width), (places, width), (2, width), (width,), (width,)]
    tables = [g.tensor(g.type, shape, "wide", True) for shape in shapes]
    scales, points = [scale() for _ in shapes], [Tensor(g.values(g.type, (), "normal"), g.type, True) for _ in shapes]
    word, place, segment, gamma, beta = ((t.array.astype("f8") - z.array.astype("f8")) * s.wide for t, s, z in zip(tables, scales, points))
    has_segments, at, segments, small = g.chance(0.6), ids(words), ids(2), small_number(g)
    mask = ids(2) if g.chance(0.5) else None
    parts = [word[at.array], np.broadcast_to(place[:length], (batch, length, width))] + ([segment[segments.array]] if has_segments else [])
    total, room = sum(parts), sum(map(abs, parts))
    g.type = "f32"
    exact, slack = layer_norm(g, Tensor(total, "f32"), Tensor(gamma, "f32"), Tensor(beta, "f32"), small, False)
    deviation = np.sqrt(total.var(-1, keepdims=True) + small)
    slack = slack + (room + room.mean(-1, keepdims=True)) * unit("f32") * 6 / deviation * abs(gamma) * (1 + abs(total - total.mean(-1, keepdims=True)) / deviation)
    if not has_segments:
        segments = tables[2] = scales[2] = points[2] = None
    inputs = [at, segments, *tables[:3], *tables[3:], mask, *scales, *points]
    counts = mask.array.sum(1) if mask else np.zeros(batch)
    return g.case(inputs, Expected(exact, "f32", 1, slack), Expected(counts.astype("i4"), "i32"), epsilon=small)
