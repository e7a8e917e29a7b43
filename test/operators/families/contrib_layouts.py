"""Layouts, norms of groups and moved elements of com.microsoft, from the text of ONNX Runtime's ContribOperators.md."""

import numpy as np
from activation import sigmoid
from attention import softmax
from cases import Expected, Tensor
from contrib import activated, activation, contrib
from contrib_quantized import last
from convolution import convolve, draw_channels
from floats import accumulated, rounded, unit
from normalization import small_number
from windows import Window, spatial_sizes


@contrib("NhwcConv", "NhwcFusedConv", types=["f32"], weight=2)
def nhwc_conv(g):
    groups, channels, filters = draw_channels(g)
    window = Window(g, spatial_sizes(g, elements=120))
    x = g.tensor(g.type, (g.pick([1, 1, 2]), channels, *window.sizes), "normal")
    weight = g.tensor(g.type, (filters, channels // groups, *window.kernel), "normal", g.chance(0.6))
    inputs, exact, magnitude = [x, weight, None, None], convolve(x.wide, weight.wide, window, groups), convolve(abs(x.wide), abs(weight.wide), window, groups)
    if g.chance(0.6):
        inputs[2] = bias = g.tensor(g.type, (filters,), "normal", g.chance(0.7))
        column = bias.wide.reshape(-1, *[1] * len(window.sizes))
        exact, magnitude = exact + column, magnitude + abs(column)
    if g.op == "NhwcFusedConv" and g.chance(0.5):
        more = g.tensor(g.type, exact.shape, "normal")
        exact, magnitude = exact + more.wide, magnitude + abs(more.wide)
        more.array, inputs[3] = last(more.array), more
    while inputs[-1] is None:
        inputs.pop()
    x.array = last(x.array)
    slack = accumulated(g.type, magnitude, channels // groups * np.prod(window.kernel)) * 16
    if g.op == "NhwcConv":
        return g.case(inputs, Expected(last(exact), g.type, 1, last(slack)), **window.attributes(group=groups))
    attributes, function = activation(g, params=True)
    return g.case(inputs, activated(g, last(exact), last(slack), function, None), **attributes, **window.attributes(group=groups))


@contrib("NhwcMaxPool", types=["u8", "i8"])
def nhwc_max_pool(g):
    window = Window(g, spatial_sizes(g, elements=120))
    x = g.tensor(g.type, (g.integer(1, 2), g.integer(1, 6), *window.sizes), "wide")
    low = -128 if g.type == "i8" else 0
    exact = np.full((*x.shape[:2], *window.out), low, "i4")
    for place in np.ndindex(*window.out):
        cells = [[at for at in window.places(axis)[place[axis]] if 0 <= at < window.sizes[axis]] for axis in range(len(window.sizes))]
        part = x.array[np.ix_(range(x.shape[0]), range(x.shape[1]), *cells)]
        exact[(slice(None), slice(None), *place)] = part.reshape(*x.shape[:2], -1).max(-1) if part.size else low
    x.array = last(x.array)
    return g.case([x], Expected(last(exact).astype(x.array.dtype), g.type), **window.attributes())


@contrib("MaxpoolWithMask", types=["f32"])
def max_pool_with_mask(g):
    """No text says what it does: these are the loops of ONNX Runtime's kernel, in which a hidden element ends its row of the window."""
    window = Window(g, spatial_sizes(g, elements=60), dilated=False)
    batch, channels, size = g.integer(1, 2), g.integer(1, 3), int(np.prod(window.sizes))
    x = g.tensor("f32", (batch, channels, *window.sizes), g.pick(["normal", "special"]))
    masks = g.pick([(1, 1), (1, 1), (batch, channels), (1, channels)])
    mask = Tensor((g.random.random((*masks, *window.sizes)) < g.pick([0.5, 0.9])).astype("i4") * g.pick([1, 3]), "i32")
    lowest, flat = -np.finfo("f4").max, mask.array.reshape(-1)
    exact = np.full((batch * channels, *window.out), lowest, "f4")
    for c, *place in np.ndindex(*exact.shape):
        at = [[cell for cell in window.places(axis)[place[axis]] if 0 <= cell < window.sizes[axis]] for axis in range(len(window.sizes))]
        for row in np.ndindex(*map(len, at[:-1])):
            for last_cell in at[-1]:
                cell = tuple(at[axis][step] for axis, step in enumerate(row)) + (last_cell,)
                number = int(np.ravel_multi_index(cell, window.sizes))
                if (number > 0 or len(window.sizes) == 1) and flat[c * size % (masks[0] * masks[1]) + number] == 0:
                    break
                value = x.array.reshape(-1, *window.sizes)[(c, *cell)]
                exact[(c, *place)] = value if value > exact[(c, *place)] else exact[(c, *place)]
    return g.case([x, mask], Expected(exact.reshape(batch, channels, *window.out), "f32"), **window.attributes(dilations=False))


@contrib("GroupNorm", "SkipGroupNorm", types=["f32", "f32", "f16"], weight=2)
def group_norm(g):
    groups, each = g.integer(1, 4), g.integer(1, 6)
    batch, channels, sizes = g.integer(1, 2), groups * each, (g.integer(1, 5), g.integer(1, 5))
    shape = (batch, channels, *sizes)
    x, gamma, beta = g.tensor(g.type, shape, "normal", False), *(g.tensor(g.pick(["f32", g.type]), (channels,), "normal", g.chance(0.7)) for _ in range(2))
    beta.array, beta.type = g.tensor(gamma.type, (channels,), "normal").array, gamma.type
    silu, small, is_last = g.chance(0.5), small_number(g), g.chance(0.6)
    column = (-1, 1, 1)
    inputs, total, room = [x, gamma, beta], x.wide, abs(x.wide)
    if g.op == "SkipGroupNorm":
        flat = g.chance(0.4)
        skip = g.tensor(g.type, (batch, channels) if flat else shape, "normal", False)
        wide = skip.wide.reshape(batch, channels, 1, 1) if flat else skip.wide
        total, room = total + wide, room + abs(wide)
        if not flat and is_last:
            skip.array = last(skip.array)
        inputs.append(skip)
        if g.chance(0.5):
            bias = g.tensor(g.type, (channels,), "normal", g.chance(0.7))
            total, room = total + bias.wide.reshape(column), room + abs(bias.wide.reshape(column))
            inputs.append(bias)
    rows = total.reshape(batch, groups, -1)
    deviation = np.sqrt(rows.var(-1, keepdims=True) + small)
    normal = ((rows - rows.mean(-1, keepdims=True)) / deviation).reshape(shape)
    exact = normal * gamma.wide.reshape(column) + beta.wide.reshape(column)
    # What sums round, relative to the deviation, and what the parts do. A sum of halves is rounded to them.
    off = (room + abs(rows.mean(-1, keepdims=True)).repeat(rows.shape[-1], -1).reshape(shape)) * (unit(g.type) * 3 if len(inputs) > 3 else 2.0**-22)
    spread = (off.reshape(rows.shape).max(-1, keepdims=True) / deviation).repeat(rows.shape[-1], -1).reshape(shape)
    slack = spread * abs(gamma.wide.reshape(column)) * (2 + 2 * abs(normal)) + (abs(normal * gamma.wide.reshape(column)) + abs(beta.wide.reshape(column))) * 2.0**-22
    if silu:
        exact, slack = exact * sigmoid(exact), slack * 1.2 + abs(exact) * 2.0**-21
    if is_last:
        x.array, exact, slack = last(x.array), last(exact), last(slack)
        total, room = last(total), last(room)
    outputs = [Expected(exact, g.type, 1, slack)]
    if g.op == "SkipGroupNorm" and g.chance(0.5):
        outputs.append(Expected(total, g.type, 1, room * unit(g.type) * 2))
    return g.case(inputs, *outputs, groups=groups, activation=int(silu), channels_last=int(is_last) if not is_last or g.chance(0.5) else None, epsilon=small)


@contrib("BiasSoftmax", types=["f32"])
def bias_softmax(g):
    shape = (g.integer(1, 3), g.integer(1, 3), g.integer(1, 5), g.integer(1, 9))
    inner, axis = g.chance(0.5), g.pick([3, 3, -1, 2])
    x = g.tensor(g.type, shape, "normal", False)
    bias = g.tensor(g.type, (shape[0], 1, 1, shape[3]) if inner else (1, 1, *shape[2:]), "normal", False)
    total = x.wide + bias.wide
    front = int(np.prod(shape[: axis % 4]))
    exact = softmax(total.reshape(front, -1)).reshape(shape)
    room = (abs(x.wide) + abs(bias.wide)).max() * 2.0**-22
    return g.case([x, bias], Expected(exact, g.type, 2, exact * (room + 2.0**-19)), axis=axis, is_inner_broadcast=int(inner))


def buckets(distance, count, most, both):
    """T5's buckets of relative positions (key minus query)."""
    bucket, n = np.zeros(distance.shape, int), -distance
    if both:
        count //= 2
        bucket, n = (n < 0) * count, abs(n)
    n = np.maximum(n, 0)
    exact = count // 2
    with np.errstate(divide="ignore"):
        large = exact + (np.log(np.maximum(n, 1).astype("f4") / np.float32(exact)) / np.float32(np.log(np.float32(most) / np.float32(exact))) * np.float32(count - exact)).astype(int)
    return bucket + np.where(n < exact, n, np.minimum(large, count - 1))


@contrib("RelativePositionBias", types=["f32"])
def relative_position_bias(g):
    heads, both = g.integer(1, 3), g.chance(0.5)
    count, most = g.pick([8, 16, 32]), g.pick([20, 50, 128])
    table = g.tensor(g.type, (count, heads), "normal")
    queries, keys = g.integer(1, 12), g.integer(1, 40)
    bucket = buckets(np.arange(keys) - np.arange(queries)[:, None], count, most, both)
    # The logarithm may put a distance on the edge of two buckets in either.
    exact = table.array.reshape(heads, count)[:, bucket][None]
    length = lambda n: Tensor(np.array([n]) if g.chance(0.5) else np.array(n), "i64", True)
    return g.case([table, length(queries), length(keys)], Expected(exact, g.type), is_bidirectional=int(both) if both or g.chance(0.5) else None, max_distance=most)


@contrib("GatedRelativePositionBias", types=["f32"])
def gated_relative_position_bias(g):
    batch, heads, length, size, half = g.integer(1, 2), g.integer(1, 3), g.integer(1, 6), g.pick([2, 4, 8]), g.integer(1, 4)
    draw = lambda *shape: g.tensor(g.type, shape, "normal")
    query, bias, positions = draw(batch, length, heads * size), draw(heads * size), draw(1, heads, length, length)
    weight, of_weight, factor = draw(size, 2 * half), draw(2 * half), draw(1, heads, 1, 1)
    rows = (query.wide + bias.wide).reshape(batch, length, heads, size).transpose(0, 2, 1, 3)
    sums = (rows @ weight.wide + of_weight.wide).reshape(batch, heads, length, 2, half).sum(-1)
    size_of = (abs(rows) @ abs(weight.wide) + abs(of_weight.wide)).reshape(batch, heads, length, 2, half).sum(-1)
    u, r = (sigmoid(sums[..., at : at + 1]) for at in (0, 1))
    exact = (u * (r * factor.wide - 1) + 2) * positions.wide
    slack = (size_of.max() * 2.0**-22 * (size + half) + 2.0**-20) * (abs(factor.wide) + 2) * abs(positions.wide)
    return g.case([query, bias, positions, weight, of_weight, factor], Expected(exact, g.type, 2, np.broadcast_to(slack, exact.shape)), num_heads=heads)


@contrib("ExpandDims", types=["f32", "i64", "u8", "f64"])
def expand_dims(g):
    x = g.tensor(g.type, g.shape(0, 3))
    axis = g.axis(len(x.shape) + 1)
    return g.case([x, Tensor(np.array(axis, "i4"), "i32", True)], Expected(np.expand_dims(x.array, axis), g.type))


@contrib("UnfoldTensor", types=["f32", "i64", "u8", "f64"])
def unfold(g):
    x = g.tensor(g.type, g.shape(1, 3, zero=False), "normal")
    axis = g.axis(len(x.shape))
    size, step = g.integer(1, x.shape[axis]), g.integer(1, 4)
    windows = np.lib.stride_tricks.sliding_window_view(x.array, size, axis)
    exact = np.take(windows, np.arange(0, x.shape[axis] - size + 1, step), axis % len(x.shape))
    return g.case([x], Expected(exact, g.type), dim=axis, size=size, step=step)


@contrib("TorchEmbedding", types=["f32", "f16", "i64"])
def torch_embedding(g):
    rows, width = g.integer(1, 20), g.integer(1, 9)
    weight, at = g.tensor(g.type, (rows, width)), g.random.integers(0, rows, g.shape(0, 2, zero=False, size=9))
    return g.case([weight, Tensor(np.asarray(at, "i8"), "i64", False)], Expected(weight.array[at], g.type))


@contrib("Unique", types=["f32", "i64", "u8"])
def unique(g):
    x = g.tensor(g.type, (g.integer(1, 40),), "small")
    values, first, inverse, counts = np.unique(x.array, return_index=True, return_inverse=True, return_counts=True)
    order = np.argsort(first)
    rank = np.empty_like(order)
    rank[order] = np.arange(len(order))
    return g.case([x], Expected(values[order], g.type), Expected(rank[inverse.reshape(-1)].astype("i8"), "i64"), Expected(counts[order].astype("i8"), "i64"))


@contrib("Range", types=["f32", "f64", "i32", "i64"])
def number_range(g):
    start, step = g.integer(-10, 10), g.pick([None, 1, 2, 3, -1, -2])
    limit = start + (step or 1) * g.integer(0, 12) + (1 if (step or 1) > 0 else -1) * g.integer(0, 1)
    held = {"f32": "f4", "f64": "f8", "i32": "i4", "i64": "i8"}[g.type]
    number = lambda n: Tensor(np.array(n, held), g.type, True)
    inputs = [number(start), number(limit)] + ([number(step)] if step is not None else [])
    return g.case(inputs, Expected(np.arange(start, limit, step or 1).astype(held), g.type))


@contrib("Pad", types=["f32", "f64"])
def pad(g):
    x = g.tensor(g.type, g.shape(1, 3, zero=False), "normal")
    mode = g.pick([None, "constant", "reflect", "edge"])
    ends = [[g.integer(0, size - 1 if mode == "reflect" else 3) for size in x.shape] for _ in range(2)]
    value = g.tensor(g.type, (), "normal") if mode in (None, "constant") and g.chance(0.5) else None
    how = {"constant_values": value.array if value else 0} if mode in (None, "constant") else {}
    exact = np.pad(x.array, list(zip(*ends)), mode or "constant", **how)
    return g.case([x, Tensor(np.array(ends[0] + ends[1], "i8"), "i64", True)] + ([value] if value else []), Expected(exact, g.type), mode=mode)


@contrib("ConvTransposeWithDynamicPads", types=["f32"])
def conv_transpose(g):
    """One spatial dimension after the other is enough: two of them."""
    batch, channels, filters, sizes = g.integer(1, 2), g.integer(1, 4), g.integer(1, 4), (g.integer(1, 5), g.integer(1, 5))
    kernel, strides = [g.integer(1, 3) for _ in sizes], [g.integer(1, 3) for _ in sizes]
    x, weight = g.tensor(g.type, (batch, channels, *sizes), "normal"), g.tensor(g.type, (channels, filters, *kernel), "normal", True)
    full = [(size - 1) * stride + reach for size, stride, reach in zip(sizes, strides, kernel)]
    pads = [g.integer(0, (length - 1) // 2) for length in full]

    def spread(left, right):
        out = np.zeros((batch, filters, *full), np.longdouble)
        for i, j in np.ndindex(*sizes):
            out[:, :, i * strides[0] : i * strides[0] + kernel[0], j * strides[1] : j * strides[1] + kernel[1]] += np.einsum("bc,cfkl->bfkl", left[:, :, i, j], right)
        return out[:, :, pads[0] : full[0] - pads[0], pads[1] : full[1] - pads[1]]

    exact, magnitude = spread(x.wide, weight.wide), spread(abs(x.wide), abs(weight.wide))
    inputs = [x, weight, Tensor(np.array(pads * 2, "i8"), "i64", True)]
    if g.chance(0.5):
        bias = g.tensor(g.type, (filters,), "normal")
        exact, magnitude = exact + bias.wide.reshape(-1, 1, 1), magnitude + abs(bias.wide.reshape(-1, 1, 1))
        inputs.append(bias)
    return g.case(inputs, Expected(exact, g.type, 1, accumulated(g.type, magnitude, channels * 9) * 2 + rounded(g.type, magnitude)), kernel_shape=kernel, strides=strides)
