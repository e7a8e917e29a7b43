"""Pools over windows and over everything."""

import numpy as np
from cases import Expected, Tensor, operator
from elements import TYPES, round_to
from floats import accumulated, floats
from windows import Window, spatial_sizes


def batch(g):
    return 0 if g.chance(0.03) else g.pick([1, 1, 2, 3]), g.pick([1, 2, 3, 5, 8, 16, 17])


def draw_window(g, since_ceil, since_dilations):
    sizes = spatial_sizes(g)
    ceil = g.opset >= since_ceil and g.chance(0.5)
    window = Window(g, sizes, g.opset >= since_dilations, ceil)
    # For VALID with ceil_mode ONNX's text has ceil((size - reach + 1) / stride), its shape inference, which models are declared by, what is without
    # auto_pad. Kiln does as the inference does.
    attributes = window.attributes(g.opset >= since_dilations, ceil_mode=int(ceil) if g.opset >= since_ceil else None)
    return window, attributes


def read(x, index):
    return x[(slice(None), slice(None), *index)]


@operator("MaxPool", types=lambda opset: floats(22)(opset) + (["i8", "u8"] if opset >= 12 else []), weight=3)
def max_pool(g):
    window, attributes = draw_window(g, 10, 10)
    x = g.tensor(g.type, (*batch(g), *window.sizes), g.pick(["normal", "small", "wide"]))
    has_indices = g.opset >= 8 and g.chance(0.4)
    column_major = has_indices and g.chance(0.4)
    least = TYPES[g.type].least if TYPES[g.type].is_integer else -np.inf
    best = np.full((*x.shape[:2], *window.out), least, x.array.dtype)
    where = np.zeros(best.shape, np.int64)
    none = np.ones(window.out, bool)
    order = np.arange(np.prod(window.sizes)).reshape(window.sizes, order="F" if column_major else "C")
    for _, index, inside, _ in window.taps():
        value = read(x.array, index)
        better = inside & ((value > best) | (none & (value == best)))
        best, where = np.where(better, value, best), np.where(better, order[index], where)
        none &= ~inside
    where += np.arange(x.shape[0] * x.shape[1]).reshape(*x.shape[:2], *[1] * len(window.sizes)) * int(np.prod(window.sizes))
    free = np.broadcast_to(none, best.shape)
    outputs = [Expected(best, g.type, free=free)] + ([Expected(where, "i64", free=free)] if has_indices else [])
    return g.case([x], *outputs, **attributes, storage_order=1 if column_major else None)


@operator("AveragePool", types=floats(22), weight=3)
def average_pool(g):
    window, attributes = draw_window(g, 10, 19)
    x = g.tensor(g.type, (*batch(g), *window.sizes), g.pick(["normal", "small"]))
    with_pads = g.opset >= 7 and g.chance(0.5)
    total, magnitude = (np.zeros((*x.shape[:2], *window.out), np.longdouble) for _ in range(2))
    count = np.zeros(window.out)
    for _, index, inside, padded in window.taps():
        value = np.where(inside, read(x.wide, index), 0)
        total, magnitude = total + value, magnitude + abs(value)
        count += padded if with_pads else inside
    free = np.broadcast_to(count == 0, total.shape)
    count = np.maximum(count, 1)
    slack = accumulated(g.type, magnitude / count, np.prod(window.kernel))
    return g.case([x], Expected(total / count, g.type, 1, slack, free), **attributes, count_include_pad=int(with_pads) if g.opset >= 7 else None)


def exponent(g):
    p = g.pick([1, 2, 2, 3, 4])
    return p, {"p": float(p) if g.opset < 2 else p} if p != 2 or g.chance(0.5) else {}


def large_or_small(g, x):
    """Numbers whose squares do not fit f16, half of the time."""
    return x if g.chance(0.5) else Tensor(round_to(x.array * 100.0, x.type), x.type, x.constant)


@operator("LpPool", types=floats(22), weight=2)
def lp_pool(g):
    window, attributes = draw_window(g, 18, 18)
    p, given = exponent(g)
    x = large_or_small(g, g.tensor(g.type, (*batch(g), *window.sizes), "normal"))
    total = np.zeros((*x.shape[:2], *window.out), np.longdouble)
    for _, index, inside, _ in window.taps():
        total += np.where(inside, abs(read(x.wide, index)) ** p, 0)
    result = total ** (np.longdouble(1) / p)
    return g.case([x], Expected(result, g.type, 1, accumulated(g.type, result, np.prod(window.kernel) + (8 if p != 2 else 0))), **attributes, **given)


@operator("GlobalAveragePool", "GlobalMaxPool", "GlobalLpPool", types=floats(22))
def global_pool(g):
    x = large_or_small(g, g.tensor(g.type, (*batch(g), *spatial_sizes(g)), "normal"))
    axes = tuple(range(2, len(x.shape)))
    terms = np.prod(x.shape[2:])
    if g.op == "GlobalMaxPool":
        return g.case([x], Expected(x.array.max(axes, keepdims=True), g.type))
    if g.op == "GlobalAveragePool":
        return g.case([x], Expected(x.wide.mean(axes, keepdims=True), g.type, 1, accumulated(g.type, abs(x.wide).mean(axes, keepdims=True), terms)))
    p, given = exponent(g)
    result = (abs(x.wide) ** p).sum(axes, keepdims=True) ** (np.longdouble(1) / p)
    return g.case([x], Expected(result, g.type, 1, accumulated(g.type, result, terms + (8 if p != 2 else 0))), **given)


@operator("MaxUnpool", types=floats(22), since=9)
def max_unpool(g):
    """Elements of a pool without overlap at places of their own windows."""
    rank = g.pick([1, 2, 2, 3])
    sizes, kernel = [g.integer(1, 5) for _ in range(rank)], [g.integer(1, 3) for _ in range(rank)]
    whole = [size * k for size, k in zip(sizes, kernel)]
    x = g.tensor(g.type, (*batch(g), *sizes), "normal")
    places = [np.arange(size)[(None,) * at + (slice(None),) + (None,) * (rank - 1 - at)] * k + g.random.integers(k, size=x.shape)
              for at, (size, k) in enumerate(zip(sizes, kernel))]
    flat = np.arange(x.shape[0] * x.shape[1]).reshape(*x.shape[:2], *[1] * rank) * int(np.prod(whole)) + np.ravel_multi_index(places, whole)
    result = np.zeros((*x.shape[:2], *whole), x.array.dtype)
    result.reshape(-1)[flat.reshape(-1)] = x.array.reshape(-1)
    inputs, attributes = [x, Tensor(flat, "i64")], {"kernel_shape": kernel, "strides": kernel}
    if g.chance(0.3):
        more = [0, 0] + [g.integer(0, 2) for _ in range(rank)]
        inputs.append(Tensor(np.array([*x.shape[:2], *whole]) + more, "i64", True))
        result = np.pad(result, [(0, after) for after in more])
    return g.case(inputs, Expected(result, g.type), **attributes)
