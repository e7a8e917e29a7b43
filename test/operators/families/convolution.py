"""Convolutions of all kinds."""

import numpy as np
from cases import Expected, Tensor, operator
from floats import accumulated, floats, rounded
from windows import Window, spatial_sizes


def convolve(x, weight, window, groups):
    """[N, C, ...] with [M, C / groups, ...] in the type of x, whatever that is."""
    n, m = x.shape[0], weight.shape[0]
    apart = x.reshape(n, groups, x.shape[1] // groups, *x.shape[2:])
    filters = weight.reshape(groups, m // groups, *weight.shape[1:])
    result = np.zeros((n, groups, m // groups, *window.out), x.dtype)
    for element, index, inside, _ in window.taps():
        value = np.where(inside, apart[(slice(None), slice(None), slice(None), *index)], 0)
        result += np.einsum("ngc...,gmc->ngm...", value, filters[(slice(None), slice(None), slice(None), *element)])
    return result.reshape(n, m, *window.out)


def draw_channels(g, most=20):
    """(groups, channels of the input, of the result)"""
    groups = g.pick([1, 1, 1, 2, 3, 4, 8, 16])
    if groups == 1:
        return 1, g.integer(1, most), g.integer(1, most)
    inner = g.pick([1, 1, 2, 3])
    return groups, groups * inner, groups * g.pick([1, 1, 2])


@operator("Conv", types=floats(22), weight=5)
def conv(g):
    groups, channels, filters = draw_channels(g)
    window = Window(g, spatial_sizes(g, elements=200))
    x = g.tensor(g.type, (0 if g.chance(0.03) else g.pick([1, 1, 2, 3]), channels, *window.sizes), g.pick(["normal", "small"]))
    weight = g.tensor(g.type, (filters, channels // groups, *window.kernel), "normal", g.chance(0.6))
    inputs, exact, magnitude = [x, weight], convolve(x.wide, weight.wide, window, groups), convolve(abs(x.wide), abs(weight.wide), window, groups)
    if g.chance(0.5):
        bias = g.tensor(g.type, (filters,), "normal", g.chance(0.7))
        inputs.append(bias)
        column = bias.wide.reshape(-1, *[1] * len(window.sizes))
        exact, magnitude = exact + column, magnitude + abs(column)
    terms = channels // groups * np.prod(window.kernel)
    attributes = window.attributes(group=groups if groups > 1 or g.chance(0.5) else None)
    if g.chance(0.3):
        del attributes["kernel_shape"]
    # Ways to compute a convolution in fewer products round more: transformed elements are a few times as large. Halves round before the bias.
    slack = accumulated(g.type, magnitude, terms) * 16 + rounded(g.type, magnitude)
    return g.case(inputs, Expected(exact, g.type, 1, slack), **attributes)


@operator("ConvTranspose", types=floats(22), weight=4)
def conv_transpose(g):
    groups, channels, filters = draw_channels(g, 9)
    sizes = spatial_sizes(g, elements=60)
    rank = len(sizes)
    kernel, strides = [g.integer(1, 4) for _ in sizes], [g.integer(1, 3) for _ in sizes]
    dilations = [g.integer(1, 3) if g.chance(0.3) else 1 for _ in sizes]
    extra = [g.integer(0, max(s, d) - 1) if g.chance(0.3) else 0 for s, d in zip(strides, dilations)]
    full = [(size - 1) * s + e + (k - 1) * d + 1 for size, s, e, k, d in zip(sizes, strides, extra, kernel, dilations)]
    attributes = {"strides": strides, "dilations": dilations, "group": groups if groups > 1 else None}
    if any(extra):
        attributes["output_padding"] = extra
    if g.chance(0.5):
        attributes["kernel_shape"] = kernel
    way = g.pick(["pads", "pads", "same", "shape", "shape", "valid"])
    auto = "NOTSET"
    begins, ends = [0] * rank, [0] * rank
    if way == "pads":
        begins = [g.integer(0, min(2, size - 1)) for size in full]
        ends = [g.integer(0, min(2, size - 1 - b)) for size, b in zip(full, begins)]
        attributes["pads"] = begins + ends
    elif way == "valid":
        attributes["auto_pad"] = "VALID"
    else:
        out = [size * s for size, s in zip(sizes, strides)] if way == "same" else [size - g.integer(0, min(3, size - 1)) for size in full]
        # A result that is larger than what the window reaches is not defined.
        if way == "same" and any(f < o for f, o in zip(full, out)):
            way, out = "shape", full
        auto = g.pick(["SAME_UPPER", "SAME_LOWER"]) if way == "same" else g.pick(["NOTSET", "NOTSET", "SAME_UPPER", "SAME_LOWER"])
        total = [f - o for f, o in zip(full, out)]
        # Before opset 11 the text has more at the end without auto_pad.
        upper = auto == "SAME_UPPER" or (auto == "NOTSET" and g.opset < 11)
        begins = [t // 2 if upper else t - t // 2 for t in total]
        ends = [t - b for t, b in zip(total, begins)]
        if way == "shape":
            attributes["output_shape"] = out
        if auto != "NOTSET":
            attributes["auto_pad"] = auto
    x = g.tensor(g.type, (g.pick([1, 1, 2]), channels, *sizes), g.pick(["normal", "small"]))
    weight = g.tensor(g.type, (channels, filters // groups, *kernel), "normal", g.chance(0.6))
    spread = lambda a, b: spread_out(a, b, groups, strides, dilations, full)
    cut = (slice(None), slice(None), *(slice(b, f - e) for b, f, e in zip(begins, full, ends)))
    inputs, exact, magnitude = [x, weight], spread(x.wide, weight.wide)[cut], spread(abs(x.wide), abs(weight.wide))[cut]
    if g.chance(0.5):
        bias = g.tensor(g.type, (filters,), "normal", g.chance(0.7))
        inputs.append(bias)
        column = bias.wide.reshape(-1, *[1] * rank)
        exact, magnitude = exact + column, magnitude + abs(column)
    slack = accumulated(g.type, magnitude, channels // groups * np.prod(kernel)) * 4 + rounded(g.type, magnitude)
    return g.case(inputs, Expected(exact, g.type, 1, slack), **attributes)


def spread_out(x, weight, groups, strides, dilations, full):
    """The transpose of a convolution without borders: each element is added at the places of its window."""
    n, each = x.shape[0], weight.shape[1]
    apart, filters = x.reshape(n, groups, x.shape[1] // groups, *x.shape[2:]), weight.reshape(groups, -1, *weight.shape[1:])
    result = np.zeros((n, groups, each, *full), x.dtype)
    for element in np.ndindex(*weight.shape[2:]):
        part = np.einsum("ngc...,gcm->ngm...", apart, filters[(slice(None), slice(None), slice(None), *element)])
        at = tuple(slice(e * d, e * d + (size - 1) * s + 1, s) for e, d, s, size in zip(element, dilations, strides, x.shape[2:]))
        result[(slice(None), slice(None), slice(None), *at)] += part
    return result.reshape(n, groups * each, *full)


@operator("Col2Im", types=floats(22), since=18)
def col2im(g):
    rank = g.pick([1, 2, 2, 3])
    # Lines of more blocks than a vector has lanes, too.
    sizes = [g.integer(1, 7) for _ in range(rank - 1)] + [g.pick([g.integer(1, 7), g.integer(30, 90)])]
    window = Window(g, sizes, largest=3)
    while window.auto_pad != "NOTSET":
        window = Window(g, window.sizes, largest=3)
    n, channels = g.pick([1, 2]), g.pick([1, 2, 3])
    x = g.tensor(g.type, (n, channels * int(np.prod(window.kernel)), int(np.prod(window.out))), "normal")
    blocks = x.wide.reshape(n, channels, *window.kernel, *window.out)
    exact, magnitude = (np.zeros((n, channels, *window.sizes), np.longdouble) for _ in range(2))
    for element, index, inside, _ in window.taps():
        value = np.where(inside, blocks[(slice(None), slice(None), *element)], 0)
        np.add.at(exact, (slice(None), slice(None), *index), value)
        np.add.at(magnitude, (slice(None), slice(None), *index), abs(value))
    sizes = [Tensor(np.array(window.sizes), "i64", True), Tensor(np.array(window.kernel), "i64", True)]
    attributes = {"strides": window.strides, "dilations": window.dilations, "pads": window.begins + window.ends}
    return g.case([x, *sizes], Expected(exact, g.type, 1, accumulated(g.type, magnitude, np.prod(window.kernel))), **attributes)


@operator("DeformConv", types=floats(22), since=19, weight=2)
def deform_conv(g):
    groups, channels, filters = draw_channels(g, 4)
    window = Window(g, [g.integer(1, 6), g.integer(1, 6)], largest=3)
    while window.auto_pad != "NOTSET":
        window = Window(g, window.sizes, largest=3)
    offset_groups = g.pick([d for d in (1, 2, channels) if channels % d == 0])
    n, points = g.pick([1, 2]), int(np.prod(window.kernel))
    x = g.tensor(g.type, (n, channels, *window.sizes), "normal")
    weight = g.tensor(g.type, (filters, channels // groups, *window.kernel), "normal")
    # Quarters: what is between elements is exact in each type.
    offset = Tensor(g.random.integers(-8, 9, (n, offset_groups * points * 2, *window.out)).astype(x.array.dtype) / np.array(4, x.array.dtype), g.type)
    mask = g.tensor(g.type, (n, offset_groups * points, *window.out), "normal") if g.chance(0.5) else None
    bias = g.tensor(g.type, (filters,), "normal") if g.chance(0.5) else None
    shifts = offset.wide.reshape(n, offset_groups, *window.kernel, 2, *window.out)
    weights = mask.wide.reshape(n, offset_groups, *window.kernel, *window.out) if mask else np.ones((n, offset_groups, *window.kernel, *window.out), np.longdouble)
    rows, columns = window.places(0), window.places(1)
    exact, magnitude = (np.zeros((n, filters, *window.out), np.longdouble) for _ in range(2))
    for b, c, i, j in np.ndindex(n, channels, *window.kernel):
        own = c // (channels // offset_groups)
        y = rows[:, i][:, None] + shifts[b, own, i, j, 0]
        z = columns[:, j][None, :] + shifts[b, own, i, j, 1]
        value, size = interpolate(x.wide[b, c], y, z)
        group, inner = divmod(c, channels // groups)
        for m in range(group * filters // groups, (group + 1) * filters // groups):
            exact[b, m] += weight.wide[m, inner, i, j] * value * weights[b, own, i, j]
            magnitude[b, m] += abs(weight.wide[m, inner, i, j] * weights[b, own, i, j]) * size
    if bias:
        exact, magnitude = exact + bias.wide[:, None, None], magnitude + abs(bias.wide[:, None, None])
    # What is read is rounded to the type: four products, their sum, and the mask.
    slack = accumulated(g.type, magnitude, channels // groups * points + 8) + rounded(g.type, magnitude, 5)
    attributes = {"pads": window.begins + window.ends, "strides": window.strides, "dilations": window.dilations, "group": groups, "offset_group": offset_groups}
    inputs = [x, weight, offset] + ([bias, mask] if mask else [bias] if bias else [])
    return g.case(inputs, Expected(exact, g.type, 1, slack), **attributes)


def interpolate(image, y, x):
    """(value, sum of absolute terms) between the four neighbours of places; neighbours outside are zeros."""
    low_y, low_x = np.floor(y).astype(int), np.floor(x).astype(int)
    value, size = np.zeros(y.shape, np.longdouble), np.zeros(y.shape, np.longdouble)
    for i in (0, 1):
        for j in (0, 1):
            at_y, at_x = low_y + i, low_x + j
            share = (1 - abs(y - at_y)) * (1 - abs(x - at_x))
            inside = (at_y >= 0) & (at_y < image.shape[0]) & (at_x >= 0) & (at_x < image.shape[1])
            term = np.where(inside, image[np.clip(at_y, 0, image.shape[0] - 1), np.clip(at_x, 0, image.shape[1] - 1)] * share, 0)
            value, size = value + term, size + abs(term)
    return value, size


@operator("CausalConvWithState", types=["f32", "f16", "bf16"], since=27)
def causal_conv(g):
    n, channels, length, kernel = g.pick([1, 2]), g.pick([1, 3, 8, 17]), g.integer(1, 20), g.integer(1, 5)
    x, weight = g.tensor(g.type, (n, channels, length), "normal"), g.tensor(g.type, (channels, 1, kernel), "normal")
    bias = g.tensor(g.type, (channels,), "normal") if g.chance(0.5) else None
    past = g.tensor(g.type, (n, channels, kernel - 1), "normal") if g.chance(0.6) and kernel > 1 else None
    whole = np.concatenate([past.wide if past else np.zeros((n, channels, kernel - 1), np.longdouble), x.wide], axis=2)
    exact, magnitude = (sum(f(whole[:, :, k : k + length]) * f(weight.wide[None, :, :, k]) for k in range(kernel)) for f in (np.asarray, abs))
    if bias:
        exact, magnitude = exact + bias.wide[:, None], magnitude + abs(bias.wide[:, None])
    slack = accumulated(g.type, magnitude, kernel) + rounded(g.type, magnitude)
    activation = g.pick([None, "none", "silu", "swish"])
    if activation in ("silu", "swish"):
        # Its slope is at most 1.1.
        exact, slack = exact / (1 + np.exp(-exact)), slack * 1.1 + rounded(g.type, magnitude, 2)
    state = whole[:, :, length:]
    ulps = 4 if activation in ("silu", "swish") else 1
    outputs = [Expected(exact, g.type, ulps, slack), Expected(state, g.type)] if kernel > 1 else [Expected(exact, g.type, ulps, slack)]
    return g.case([x, weight, bias, past][: 4 if past else 3 if bias else 2], *outputs, activation=activation)
