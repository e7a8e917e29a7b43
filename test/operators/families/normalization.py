"""Normalizations."""

import numpy as np
from cases import Expected, Tensor, operator
from elements import round_to
from floats import accumulated, epsilon, floats, rounded, unit


def scaled(g, shape, zero=False):
    """Numbers around another mean than zero at times; for halves beyond where squares fit them, too."""
    x = g.tensor(g.type, shape, "normal")
    factor, offset = g.pick([1, 1, 0.01, 100, 300]), g.pick([0, 0, 1, -3])
    return Tensor(round_to(x.wide * factor + offset * factor, g.type), g.type, x.constant)


def moments(x, axes):
    mean = x.mean(axes, keepdims=True)
    return mean, ((x - mean) ** 2).mean(axes, keepdims=True)


def normalized(g, x, axes, epsilon_added):
    """((x - mean) / deviation, its error): the mean is off by a part of the largest numbers."""
    mean, variance = moments(x.wide, axes)
    deviation = np.sqrt(variance + epsilon_added)
    terms = np.prod([x.shape[axis] for axis in axes])
    off = accumulated(g.type, abs(x.wide).mean(axes, keepdims=True) + abs(x.wide), terms)
    exact = (x.wide - mean) / deviation
    # The error of the mean, relative to the deviation, and that of the deviation, which the first one's square is part of.
    error = off / deviation * (1 + abs(exact)) + abs(exact) * epsilon(g.type) * (terms + 8)
    return exact, error, mean, deviation


def small_number(g):
    return float(np.float32(g.pick([1e-5, 1e-5, 1e-3, 0.1, 1e-12])))


def per_channel(g, count, type=None, kind="normal"):
    return g.tensor(type or g.type, (count,), kind, g.chance(0.7))


def column(parameter, rank):
    return parameter.wide.reshape(-1, *[1] * (rank - 2))


@operator("BatchNormalization", types=floats(14), since=7, weight=3)
def batch_norm(g):
    shape = (0 if g.chance(0.04) else g.pick([1, 2, 3]), g.pick([1, 3, 8, 17]), *g.shape(0, 3, zero=False, elements=120))
    x = scaled(g, shape)
    # Opset 15 has types of their own for scale and bias, and for the statistics; opset 14 for these.
    parameter = g.pick([g.type, g.type, "f32"]) if g.opset >= 15 and g.type != "f64" else g.type
    statistic = g.pick([g.type, g.type, "f32"]) if g.opset >= 14 and g.type != "f64" else g.type
    scale, bias = per_channel(g, shape[1], parameter), per_channel(g, shape[1], parameter)
    mean, variance = per_channel(g, shape[1], statistic), per_channel(g, shape[1], statistic, "positive")
    if statistic == "f32" and g.chance(0.5):
        variance.array = variance.array * np.float32(1e6)
    small, rank = small_number(g), len(shape)
    factor = column(scale, rank) / np.sqrt(column(variance, rank) + small)
    exact = (x.wide - column(mean, rank)) * factor + column(bias, rank)
    size = (abs(x.wide) + abs(column(mean, rank))) * abs(factor) + abs(column(bias, rank))
    # As factor and offset, both rounded to the type; a small variance of a half is a coarse number with the epsilon.
    slack = size * unit(g.type) * (8 + (abs(small / (column(variance, rank) + small)) if g.type in ("f16", "bf16") else 0) * 2)
    return g.case([x, scale, bias, mean, variance], Expected(exact, g.type, 1, slack), epsilon=small)


@operator("BatchNormalization", types=floats(14), since=14)
@operator("BatchNormalization", types=["f32", "f64"], since=7, until=13)
def batch_norm_training(g):
    shape = (g.pick([2, 3, 5]), g.pick([1, 3, 8]), *g.shape(0, 2, zero=False, elements=60))
    x = scaled(g, shape)
    statistic = g.pick([g.type, g.type, "f32"]) if g.type != "f64" and g.opset >= 14 else g.type
    parameter = g.pick([g.type, statistic]) if g.opset >= 15 else g.type
    scale, bias = per_channel(g, shape[1], parameter), per_channel(g, shape[1], parameter)
    mean, variance = per_channel(g, shape[1], statistic), per_channel(g, shape[1], statistic, "positive")
    small, momentum, rank = small_number(g), float(np.float32(g.pick([0.9, 0.5, 0.0]))), len(shape)
    axes = (0, *range(2, rank))
    own, error, own_mean, deviation = normalized(g, x, axes, small)
    own_variance = moments(x.wide, axes)[1].reshape(-1)
    exact = own * column(scale, rank) + column(bias, rank)
    slack = error * abs(column(scale, rank)) + (abs(own * column(scale, rank)) + abs(column(bias, rank))) * unit(g.type) * 3
    terms, magnitude = x.array.size // shape[1], abs(x.wide).max(axes)
    moved = [mean.wide * momentum + own_mean.reshape(-1) * (1 - momentum), variance.wide * momentum + own_variance * (1 - momentum)]
    slacks = [rounding_of(statistic, mean.wide, own_mean.reshape(-1)) + accumulated(g.type, magnitude, terms),
              rounding_of(statistic, variance.wide, own_variance) + accumulated(g.type, magnitude**2, terms)]
    outputs = [Expected(exact, g.type, 1, slack)] + [Expected(value, statistic, 1, room) for value, room in zip(moved, slacks)]
    if g.opset >= 14:
        return g.case([x, scale, bias, mean, variance], *outputs, epsilon=small, momentum=momentum, training_mode=1)
    # Those of the input are results, too, and their number says that it is training.
    own = [Expected(value, statistic, 1, accumulated(g.type, size, terms)) for value, size in ((own_mean.reshape(-1), magnitude), (own_variance, magnitude**2))]
    return g.case([x, scale, bias, mean, variance], *outputs, *own, epsilon=small, momentum=momentum)


def rounding_of(type, *values):
    """The terms of a running statistic, each rounded."""
    return sum(abs(value) for value in values) * unit(type) * 3


@operator("InstanceNormalization", types=floats(22), since=6, weight=2)
def instance_norm(g):
    shape = (0 if g.chance(0.04) else g.pick([1, 2]), g.pick([1, 3, 8, 17]), *g.shape(1, 3, zero=False, elements=200))
    x, scale, bias = scaled(g, shape), per_channel(g, shape[1]), per_channel(g, shape[1])
    small = small_number(g)
    exact, error, _, _ = normalized(g, x, tuple(range(2, len(shape))), small)
    return g.case([x, scale, bias], affine(g, exact, error, column(scale, len(shape)), column(bias, len(shape))), epsilon=small)


def affine(g, exact, error, scale, bias, times=3):
    """Behind a normalization: a scale and a bias, with the halves rounded in between."""
    size = abs(exact * scale) + abs(bias)
    return Expected(exact * scale + bias, g.type, 1, error * abs(scale) + size * epsilon(g.type) * 3 + rounded(g.type, size, times))


@operator("GroupNormalization", types=floats(18), since=18, weight=2)
def group_norm(g):
    groups, each = g.pick([1, 2, 3, 4]), g.pick([1, 2, 3, 8])
    shape = (g.pick([1, 2]), groups * each, *g.shape(0, 3, zero=False, elements=100))
    x, small, rank = scaled(g, shape), small_number(g), len(shape)
    count = groups if g.opset < 21 else groups * each
    scale, bias = per_channel(g, count), per_channel(g, count)
    apart = Tensor(x.array.reshape(shape[0], groups, int(np.prod(shape[1:])) // groups), g.type)
    exact, error, _, _ = (part.reshape(shape) if part.ndim and part.size == x.array.size else part for part in normalized(g, apart, (2,), small))
    parameters = (parameter.wide.repeat(each if g.opset < 21 else 1).reshape(-1, *[1] * (rank - 2)) for parameter in (scale, bias))
    return g.case([x, scale, bias], affine(g, exact, error, *parameters), num_groups=groups, epsilon=small)


def trailing(g, rank):
    """An axis, or None for its default."""
    axis = g.axis(rank)
    return (-1, None) if axis % rank == rank - 1 and g.chance(0.5) else (axis, axis)


@operator("LayerNormalization", types=floats(17), since=17, weight=4)
def layer_norm(g):
    shape = g.shape(1, 4, zero=False, elements=1500)
    axis, given = trailing(g, len(shape))
    normal = shape[axis % len(shape):]
    x, small = scaled(g, shape), small_number(g)
    parameters = []
    for _ in range(1 + g.chance(0.6)):
        # It may be broadcast to the dimensions that are normalized.
        own = tuple(1 if g.chance(0.1) else size for size in normal)
        parameters.append(g.tensor(g.type, own, "normal", g.chance(0.7)))
    axes = tuple(range(axis % len(shape), len(shape)))
    exact, error, mean, deviation = normalized(g, x, axes, small)
    bias = parameters[1].wide if len(parameters) > 1 else np.zeros(1)
    outputs = [affine(g, exact, error, parameters[0].wide, bias)]
    statistic = "f32" if g.type in ("f16", "bf16") else g.type
    if g.chance(0.3):
        terms = np.prod(normal)
        off = accumulated(g.type, abs(x.wide).max(axes, keepdims=True), terms)
        outputs += [Expected(mean, statistic, 1, off), Expected(1 / deviation, statistic, 1, (off / deviation + epsilon(g.type) * (terms + 4)) / deviation)]
    return g.case([x, *parameters], *outputs, axis=given, epsilon=small)


@operator("RMSNormalization", types=floats(23), since=23, weight=2)
def rms_norm(g):
    shape = g.shape(1, 4, zero=False, elements=1500)
    axis, given = trailing(g, len(shape))
    normal = shape[axis % len(shape):]
    x, small = scaled(g, shape), small_number(g)
    scale = g.tensor(g.type, tuple(1 if g.chance(0.1) else size for size in normal), "normal", g.chance(0.7))
    axes = tuple(range(axis % len(shape), len(shape)))
    exact = x.wide / np.sqrt((x.wide**2).mean(axes, keepdims=True) + small)
    error = abs(exact) * epsilon(g.type) * (np.prod(normal) + 6)
    return g.case([x, scale], affine(g, exact, error, scale.wide, np.zeros(1)), axis=given, epsilon=small)


@operator("LRN", types=floats(13), weight=2)
def lrn(g):
    shape = (g.pick([1, 2]), g.pick([1, 2, 3, 5, 8, 17]), *g.shape(1, 2, zero=False, elements=60))
    x, size = scaled(g, shape), g.integer(1, 7)
    alpha, beta, bias = (float(np.float32(g.pick(choice))) for choice in ([1e-4, 0.5, 2.0], [0.75, 0.5, 1.0, 0.0], [1.0, 2.0, 0.5]))
    before, after = (size - 1) // 2, size - 1 - (size - 1) // 2
    squares = np.stack([(x.wide[:, max(0, c - before): c + after + 1] ** 2).sum(1) for c in range(shape[1])], 1)
    exact = x.wide / (bias + alpha / size * squares) ** beta
    attributes = {name: value for name, value, default in (("alpha", alpha, 1e-4), ("beta", beta, 0.75), ("bias", bias, 1.0)) if np.float32(default) != value or g.chance(0.5)}
    return g.case([x], Expected(exact, g.type, 2, abs(exact) * epsilon(g.type) * (size + 16)), size=size, **attributes)


@operator("LpNormalization", types=floats(22), weight=2)
def lp_norm(g):
    shape = g.shape(1, 4, zero=False, elements=1000)
    x, p, axis = scaled(g, shape), g.pick([1, 2, 2]), g.axis(len(shape))
    if g.chance(0.2):
        x.array = np.where(np.arange(shape[0]).reshape(-1, *[1] * (len(shape) - 1)) == 0, np.zeros((), x.array.dtype), x.array)
    norm = (abs(x.wide) ** p).sum(axis, keepdims=True) ** (1 / np.longdouble(p))
    exact = np.divide(x.wide, norm, out=np.zeros(shape, np.longdouble), where=norm != 0)
    attributes = {"p": p if p != 2 or g.chance(0.5) else None, "axis": axis if axis % len(shape) != len(shape) - 1 or g.chance(0.5) else None}
    return g.case([x], Expected(exact, g.type, 1, abs(exact) * epsilon(g.type) * (shape[axis] + 4)), **attributes)


@operator("MeanVarianceNormalization", types=floats(13), since=9)
def mean_variance_norm(g):
    shape = g.shape(4, 4, zero=False, elements=800, size=12)
    rank, given = 4, None
    if g.chance(0.6):
        rank = g.integer(1, 4)
        shape = shape[:rank]
        given = sorted(set(axis % rank for axis in g.axes(rank, 1)))
        given = given or [0]
    axes = tuple(given or (0, 2, 3))
    x = scaled(g, shape)
    mean, variance = moments(x.wide, axes)
    exact = (x.wide - mean) / (np.sqrt(variance) + 1e-9)
    terms = np.prod([shape[axis] for axis in axes])
    off = accumulated(g.type, abs(x.wide).mean(axes, keepdims=True) + abs(x.wide), terms)
    with np.errstate(all="ignore"):
        deviation = np.sqrt(variance) + 1e-9
        slack = off / deviation * (1 + abs(exact)) + abs(exact) * epsilon(g.type) * (terms + 8)
    return g.case([x], Expected(exact, g.type, 1, slack), axes=given)
