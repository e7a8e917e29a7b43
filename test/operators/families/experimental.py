"""Operators that ONNX never made standard, and those of onnxruntime-extensions: from ONNX's release 1.0 and the extensions' text."""

import numpy as np
from activation import softplus
from cases import OPERATORS, Expected, Tensor, operator
from floats import unit


def experimental(*names, types=("f32", "f16", "f64")):
    return operator(*names, types=types, since=7, until=9)


def number(g):
    return float(np.float32(g.random.uniform(-2, 2)))


@experimental("Affine", "Scale")
def affine(g):
    x = g.tensor(g.type, g.shape(), "normal")
    if g.op == "Scale":
        scale = number(g)
        return g.case([x], Expected(x.wide * np.longdouble(scale), g.type, 1, abs(x.wide) * unit(g.type) * 4), scale=scale)
    alpha, beta = number(g), number(g)
    exact = x.wide * np.longdouble(alpha) + np.longdouble(beta)
    return g.case([x], Expected(exact, g.type, 1, (abs(x.wide * alpha) + abs(beta)) * unit(g.type) * 4), alpha=alpha, beta=beta)


@experimental("ScaledTanh", "ParametricSoftplus")
def scaled(g):
    x, alpha, beta = g.tensor(g.type, g.shape(), "normal"), number(g), number(g)
    inner = x.wide * np.longdouble(beta)
    exact = np.longdouble(alpha) * (np.tanh(inner) if g.op == "ScaledTanh" else softplus(inner))
    return g.case([x], Expected(exact, g.type, 4, (abs(inner) + 1) * abs(alpha) * unit(g.type) * 8), alpha=alpha, beta=beta)


def image(g):
    return g.tensor(g.type, (g.integer(1, 2), g.integer(1, 4), g.integer(2, 9), g.integer(2, 9)), "normal")


@experimental("ImageScaler")
def image_scaler(g):
    x, scale = image(g), number(g)
    bias = [number(g) for _ in range(x.shape[1])]
    exact = x.wide * np.longdouble(scale) + np.array(bias, np.longdouble).reshape(-1, 1, 1)
    return g.case([x], Expected(exact, g.type, 1, (abs(x.wide * scale) + 2) * unit(g.type) * 4), scale=scale, bias=bias)


@experimental("Crop")
def crop(g):
    x = image(g)
    height, width = x.shape[2:]
    left, top = g.integer(0, width - 1), g.integer(0, height - 1)
    if g.chance(0.5):
        right, bottom = g.integer(0, width - 1 - left), g.integer(0, height - 1 - top)
        return g.case([x], Expected(x.array[:, :, top : height - bottom, left : width - right], g.type), border=[left, top, right, bottom])
    size = [g.integer(1, height - top), g.integer(1, width - left)]
    return g.case([x], Expected(x.array[:, :, top : top + size[0], left : left + size[1]], g.type), border=[left, top, 0, 0], scale=size)


@experimental("DynamicSlice", types=["f32", "i64"])
def dynamic_slice(g):
    x = g.tensor(g.type, g.shape(1, 3, zero=False), "normal")
    axes = sorted(g.axes(len(x.shape), 1, negative=False))
    starts = [g.integer(0, x.shape[axis] - 1) for axis in axes]
    ends = [g.integer(start + 1, x.shape[axis]) for start, axis in zip(starts, axes)]
    cut = [slice(None)] * len(x.shape)
    for axis, start, end in zip(axes, starts, ends):
        cut[axis] = slice(start, end)
    lists = [Tensor(np.array(numbers, "i8"), "i64", True) for numbers in (starts, ends, axes)]
    return g.case([x, *lists], Expected(x.array[tuple(cut)], g.type))


@operator("NegPos", types=["f32", "f64"], since=7, domain="ai.onnx.contrib")
def neg_pos(g):
    x = g.tensor(g.type, g.shape(), g.pick(["normal", "small"]))
    return g.case([x], Expected(np.minimum(x.array, 0) + 0, g.type), Expected(np.maximum(x.array, 0) + 0, g.type))


def draw_inverse(g):
    n, outer = g.pick([1, 2, 3, 4, 5, 8, 17]), g.shape(0, 2, zero=False, elements=6, size=3)
    x = g.tensor(g.type, (*outer, n, n), "normal")
    # Well conditioned, with the large elements in any column.
    order = g.random.permutation(n)
    x.array = (x.array + (3 * n * np.eye(n))[order]).astype(x.array.dtype)
    exact = np.linalg.inv(x.array.astype("f8"))
    rounding = max(unit(g.type if g.type != "f16" else "f32"), 2.0**-50)
    return g.case([x], Expected(exact, g.type, 2, abs(exact).max() * rounding * (n + 4) * 16))


@operator("Inverse", types=["f32", "f64", "f16"], since=7, domain="com.microsoft")
def inverse(g):
    return draw_inverse(g)


@operator("Inverse", types=["f32", "f64"], since=7, domain="ai.onnx.contrib")
def inverse_of_extensions(g):
    return draw_inverse(g)


@operator("WordConvEmbedding", types=["f32"], since=7, domain="com.microsoft", weight=2)
def word_conv_embedding(g):
    words, letters, window, width, filters = g.integer(1, 5), g.integer(3, 9), g.integer(1, 3), g.integer(1, 5), g.integer(1, 9)
    lengths = g.random.integers(1, letters + 1, words)
    ids = np.where(np.arange(letters) < lengths[:, None], g.random.integers(1, 7, (words, letters)), 0).astype("i4")
    weight, bias, table = g.tensor("f32", (filters, 1, window, width), "normal", True), g.tensor("f32", (filters,), "normal", True), g.tensor("f32", (7, width), "normal", True)
    exact = np.zeros((words, filters), np.longdouble)
    for word in range(words):
        places = max(lengths[word], window) - window + 1
        found = [np.tanh((table.wide[ids[word, at : at + window]][None] * weight.wide[:, 0]).sum((1, 2)) + bias.wide) for at in range(places)]
        exact[word] = np.max(found, 0)
    return g.case([Tensor(ids, "i32"), weight, bias, table], Expected(exact, "f32", 4, 2.0**-24 * 16 * (window * width + 4)))


@operator("AveragePool", "BatchNormalization", "Conv", "ConvTranspose", "DepthToSpace", "GlobalAveragePool", "GlobalMaxPool", "InstanceNormalization", "LRN", "MaxPool", "SpaceToDepth",
          types=["f32"], since=13, until=13, domain="com.ms.internal.nhwc")
def channels_last(g):
    """A case of the operator with its channels first, turned."""
    rows = [row for row in OPERATORS[g.op] if row.since <= 13 <= row.until]
    while True:
        case = g.pick(rows).make(g)
        if len(case.outputs) == 1:
            break
    turn = lambda x: np.ascontiguousarray(np.moveaxis(x, 1, -1))
    x, y = case.inputs[0], case.outputs[0]
    x.array = turn(x.array)
    if y.free is not None:
        y.free = turn(np.broadcast_to(y.free, y.array.shape))
    y.slack, y.array = turn(np.broadcast_to(y.slack, y.array.shape)), turn(y.array)
    return case
