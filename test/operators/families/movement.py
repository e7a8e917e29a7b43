"""Slices, joins, borders, permutations and shapes."""

import numpy as np
from cases import Expected, Tensor, operator
from elements import DATA, NUMBERS, TYPES


def data(bf16):
    """For `types` of an operator that takes all, bf16 from that opset on."""
    return lambda opset: [type for type in DATA if type != "bf16" or opset >= bf16] + ["string"]


def ints(values):
    return Tensor(np.array(values, np.int64).reshape(-1), "i64", True)


def given(g, opset, name, values):
    """Values that are an attribute before an opset, and an input from there on."""
    return ({}, [ints(values)]) if g.opset >= opset else ({name: [int(value) for value in values]}, [])


@operator("Transpose", types=data(13), weight=2)
def transpose(g):
    x = g.tensor(g.type, g.shape(0, 5))
    perm = [int(at) for at in g.random.permutation(len(x.shape))] if g.chance(0.8) else None
    return g.case([x], Expected(np.transpose(x.array, perm), g.type), perm=perm)


@operator("Identity", types=data(13))
def identity(g):
    x = g.tensor(g.type, g.shape(0, 4))
    return g.case([x], Expected(x.array, g.type))


@operator("Concat", types=data(13), since=4, weight=2)
def concat(g):
    shape = list(g.shape(1, 4, elements=800))
    axis, parts = g.axis(len(shape), g.opset >= 11), []
    for _ in range(g.integer(1, 5)):
        shape[axis] = g.size(20)
        parts.append(g.tensor(g.type, tuple(shape)))
    return g.case(parts, Expected(np.concatenate([part.array for part in parts], axis), g.type), axis=axis)


@operator("Split", types=data(13), since=2, weight=2)
def split(g):
    shape = g.shape(1, 4, elements=1500)
    axis, count = g.axis(len(shape), g.opset >= 11), g.integer(1, 4)
    size = shape[axis]
    if g.chance(0.5):
        cuts = sorted(int(cut) for cut in g.random.integers(0, size + 1, count - 1))
        extents = [int(extent) for extent in np.diff([0, *cuts, size])]
        attributes, more = given(g, 13, "split", extents)
    elif g.opset >= 18:
        # Equal parts, of which the last one may be smaller, but not negative.
        each = -(-size // count)
        while each * (count - 1) > size:
            count -= 1
            each = -(-size // count)
        extents, attributes, more = [each] * (count - 1) + [size - each * (count - 1)], {"num_outputs": count}, []
    else:
        count = g.pick([n for n in (1, 2, 3, 4, 5) if size % n == 0])
        extents, attributes, more = [size // count] * count, {}, []
    x = g.tensor(g.type, shape)
    parts = np.split(x.array, np.cumsum(extents)[:-1], axis)
    return g.case([x, *more], *(Expected(part, g.type) for part in parts), axis=axis if axis or g.chance(0.5) else None, **attributes)


def bound(g, size):
    """Within the dimension, or far outside."""
    return g.pick([g.integer(-size - 3, size + 3), g.integer(-size, size), 2**31 - 1, -(2**31) + 1, 2**63 - 1, -(2**63)]) if g.chance(0.3) else g.integer(-size, size)


@operator("Slice", types=data(13), weight=4)
def slice_(g):
    x = g.tensor(g.type, g.shape(1, 4))
    rank = len(x.shape)
    axes = g.axes(rank, 1, g.opset >= 10)
    if g.opset >= 10 and g.chance(0.2):
        axes = list(range(g.integer(1, rank)))
    starts, ends = [bound(g, x.shape[axis]) for axis in axes], [bound(g, x.shape[axis]) for axis in axes]
    if g.opset < 10:
        # Bounds of int64 that are no int32 came later.
        starts, ends = ([max(min(value, 2**31 - 1), -(2**31) + 1) for value in values] for values in (starts, ends))
    steps = [g.pick([1, 1, 2, 3, -1, -1, -2, -3, 100, -100]) if g.opset >= 10 and g.chance(0.6) else 1 for _ in axes]
    index = [slice(None)] * rank
    for axis, start, end, step in zip(axes, starts, ends, steps):
        size = x.shape[axis]
        low, high = (0, size) if step > 0 else (-1, size - 1)
        first, last = (value + size if value < 0 else value for value in (start, end))
        first, last = min(max(first, 0), high), min(max(last, low), high)
        index[axis] = np.arange(first, last, step)
    result = x.array
    for axis, places in enumerate(index):
        if not isinstance(places, slice):
            result = np.take(result, places, axis)
    default = axes == list(range(len(axes)))
    if g.opset < 10:
        return g.case([x], Expected(result, g.type), starts=starts, ends=ends, axes=None if default and g.chance(0.5) else axes)
    has_steps = any(step != 1 for step in steps) or g.chance(0.5)
    given_axes = None if default and g.chance(0.5) else ints(axes)
    inputs = [x, ints(starts), ints(ends), given_axes, ints(steps) if has_steps else None]
    while inputs[-1] is None:
        inputs.pop()
    return g.case(inputs, Expected(result, g.type))


@operator("Pad", types=lambda opset: (data(13)(opset) if opset >= 13 else NUMBERS[:2] + ["f64"] + (["i32", "u8", "i64"] if opset >= 11 else [])), since=2, weight=5)
def pad(g):
    if g.type == "string":
        g.type = "f32"
    mode = g.pick(["constant", "constant", "reflect", "edge"] + ["wrap"] * (g.opset >= 19))
    x = g.tensor(g.type, g.shape(1, 4, zero=mode == "constant", elements=400))
    rank = len(x.shape)
    some = g.opset >= 18 and g.chance(0.5)
    axes = sorted({axis % rank for axis in g.axes(rank, 1)}) if some else list(range(rank))
    low, high = [0] * rank, [0] * rank
    for axis in axes:
        size = x.shape[axis]
        most = size - 1 if mode == "reflect" else g.pick([3, 3, 9]) if mode == "edge" else size if mode == "wrap" else 4
        low[axis], high[axis] = (g.integer(0, max(min(most, 9), 0)) if g.chance(0.7) else 0 for _ in range(2))
        if mode == "constant" and g.chance(0.25):
            # A negative border cuts.
            low[axis] = -g.integer(0, size // 2)
            high[axis] = high[axis] if g.chance(0.5) else -g.integer(0, size - size // 2)
    fill, result = g.values(g.type, (), "normal"), x.array
    for axis in range(rank):
        keep = [slice(None)] * rank
        keep[axis] = slice(max(-low[axis], 0), result.shape[axis] - max(-high[axis], 0))
        width = [(0, 0)] * rank
        width[axis] = (max(low[axis], 0), max(high[axis], 0))
        constant = {}
        if mode == "constant":
            constant = {"constant_values": fill if g.opset >= 11 or g.type not in ("f16", "f64") else fill}
        result = np.pad(result[tuple(keep)], width, mode=mode, **constant)
    attributes = {"mode": mode if mode != "constant" or g.chance(0.5) else None}
    pads = [low[axis] for axis in axes] + [high[axis] for axis in axes]
    if g.opset < 11:
        fill32 = np.float32(fill)
        if mode == "constant" and fill32 != fill:
            return pad_zero(g, x, low, high, pads, attributes)
        return g.case([x], Expected(result, g.type), pads=pads, value=float(fill32) if mode == "constant" else None, **attributes)
    inputs = [x, ints(pads), Tensor(np.asarray(fill), g.type, True) if mode == "constant" else None]
    if some:
        inputs.append(ints([axis - rank if g.chance(0.3) else axis for axis in axes]))
    while inputs[-1] is None:
        inputs.pop()
    return g.case(inputs, Expected(result, g.type), **attributes)


def pad_zero(g, x, low, high, pads, attributes):
    """Without a value: zeros."""
    keep = tuple(slice(max(-a, 0), size - max(-b, 0)) for a, b, size in zip(low, high, x.shape))
    result = np.pad(x.array[keep], [(max(a, 0), max(b, 0)) for a, b in zip(low, high)])
    return g.case([x], Expected(result, g.type), pads=pads, **attributes)


@operator("Reshape", types=data(13), since=5, weight=2)
def reshape(g):
    shape = g.shape(0, 4)
    x = g.tensor(g.type, shape)
    rest, dims = int(np.prod(shape)), []
    while rest > 1 and len(dims) < 4:
        divisor = g.pick([d for d in range(1, rest + 1) if rest % d == 0])
        dims.append(divisor)
        rest //= divisor
    dims += [rest] if rest > 1 else []
    if 0 in shape:
        dims = [int(d) for d in g.random.permutation(shape)]
    target, result = list(dims), np.reshape(x.array, dims)
    allow_zero = g.opset >= 14 and 0 in dims
    for at, dim in enumerate(dims):
        if not allow_zero and 0 not in dims and at < len(shape) and shape[at] == dim and g.chance(0.3):
            target[at] = 0
    if 0 not in shape and target and g.chance(0.4):
        target[g.integer(0, len(target) - 1)] = -1
    if 0 in dims and not allow_zero:
        # A zero copies the input's dimension.
        result, target = x.array, [0 if dim == 0 else dim for dim in shape]
    return g.case([x, ints(target)], Expected(result, g.type), allowzero=1 if allow_zero else None)


@operator("Flatten", types=lambda opset: data(13)(opset) if opset >= 9 else ["f32", "f16", "f64"])
def flatten(g):
    x = g.tensor(g.type, g.shape(1, 4))
    axis = g.integer(-len(x.shape) if g.opset >= 11 else 0, len(x.shape))
    at = axis if axis >= 0 else axis + len(x.shape)
    result = x.array.reshape(int(np.prod(x.shape[:at])), int(np.prod(x.shape[at:])))
    return g.case([x], Expected(result, g.type), axis=axis if axis != 1 or g.chance(0.5) else None)


@operator("Squeeze", "Unsqueeze", types=data(13))
def squeeze(g):
    shape = list(g.shape(0, 3))
    count = g.integer(1, 2)
    rank = len(shape) + count
    axes = sorted(int(at) for at in g.random.permutation(rank)[:count])
    wide = list(shape)
    for axis in axes:
        wide.insert(axis, 1)
    spelled = [axis - rank if g.opset >= 11 and g.chance(0.4) else axis for axis in axes]
    from_shape, to_shape = (wide, shape) if g.op == "Squeeze" else (shape, wide)
    attributes, more = given(g, 13, "axes", spelled)
    if g.op == "Squeeze" and g.chance(0.3):
        attributes, more, to_shape = {}, [], [dim for dim in wide if dim != 1]
    x = g.tensor(g.type, tuple(from_shape))
    return g.case([x, *more], Expected(x.array.reshape(to_shape), g.type), **attributes)


@operator("Shape", "Size", types=data(13))
def shape_of(g):
    x = g.tensor(g.type, g.shape(0, 4))
    if g.op == "Size":
        return g.case([x], Expected(np.array(x.array.size), "i64"))
    bounds = {name: g.integer(-6, 6) for name in ("start", "end") if g.opset >= 15 and g.chance(0.4)}
    return g.case([x], Expected(np.array(x.shape, np.int64)[slice(bounds.get("start"), bounds.get("end"))], "i64"), **bounds)


@operator("DepthToSpace", types=data(13))
def depth_to_space(g):
    block, channels, n, h, w = g.integer(1, 3), g.integer(1, 4), g.integer(1, 2), g.integer(1, 5), g.integer(1, 5)
    x = g.tensor(g.type, (n, channels * block**2, h, w))
    mode = g.pick(["DCR", "CRD", None]) if g.opset >= 11 else None
    if mode == "CRD":
        result = x.array.reshape(n, channels, block, block, h, w).transpose(0, 1, 4, 2, 5, 3)
    else:
        result = x.array.reshape(n, block, block, channels, h, w).transpose(0, 3, 4, 1, 5, 2)
    return g.case([x], Expected(result.reshape(n, channels, h * block, w * block), g.type), blocksize=block, mode=mode)


@operator("SpaceToDepth", types=data(13))
def space_to_depth(g):
    block, channels, n, h, w = g.integer(1, 3), g.integer(1, 4), g.integer(1, 2), g.integer(1, 5), g.integer(1, 5)
    x = g.tensor(g.type, (n, channels, h * block, w * block))
    result = x.array.reshape(n, channels, h, block, w, block).transpose(0, 3, 5, 1, 2, 4).reshape(n, channels * block**2, h, w)
    return g.case([x], Expected(result, g.type), blocksize=block)


@operator("Tile", types=data(13), since=6)
def tile(g):
    x = g.tensor(g.type, g.shape(1, 4, elements=300))
    repeats = [g.pick([0, 1, 1, 2, 3]) if g.chance(0.9) else 7 for _ in x.shape]
    while np.prod(repeats) * x.array.size > 20000:
        repeats = [1] * len(repeats)
    return g.case([x, ints(repeats)], Expected(np.tile(x.array, repeats), g.type))


@operator("Expand", types=data(13), since=8)
def expand(g):
    a, b = g.shapes_that_broadcast(2)
    x = g.tensor(g.type, a)
    return g.case([x, ints(list(b))], Expected(np.broadcast_to(x.array, np.broadcast_shapes(a, b)), g.type))


@operator("CenterCropPad", types=data(18), since=18)
def center_crop_pad(g):
    x = g.tensor(g.type, g.shape(1, 4, elements=500))
    rank = len(x.shape)
    axes = list(range(rank)) if g.chance(0.5) else [axis % rank for axis in g.axes(rank, 1)]
    result, sizes = x.array, []
    for axis in axes:
        have, want = result.shape[axis], g.integer(0, 9)
        sizes.append(want)
        if want < have:
            result = np.take(result, np.arange(want) + (have - want) // 2, axis)
        else:
            width = [(0, 0)] * rank
            width[axis] = ((want - have) // 2, want - have - (want - have) // 2)
            result = np.pad(result, width, constant_values="") if g.type == "string" else np.pad(result, width)
    spelled = None if axes == list(range(rank)) and g.chance(0.7) else [axis - rank if g.chance(0.4) else axis for axis in axes]
    return g.case([x, ints(sizes)], Expected(result, g.type), axes=spelled)


@operator("Trilu", types=lambda opset: [type for type in data(14)(opset) if type != "string"], since=14)
def trilu(g):
    x = g.tensor(g.type, g.shape(2, 4))
    k, upper = g.integer(-5, 5) if g.chance(0.7) else None, g.chance(0.5)
    result = (np.triu if upper else np.tril)(x.array, k or 0)
    # Trilu's k is an input that need not be constant.
    inputs = [x] + ([Tensor(np.array(k), "i64")] if k is not None else [])
    return g.case(inputs, Expected(result.astype(x.array.dtype), g.type), upper=int(upper) if not upper or g.chance(0.5) else None)


@operator("EyeLike", types=["f32", "f16", "f64", "i32", "i64", "u8", "u64", "bool"], since=9)
def eye_like(g):
    x, k = g.tensor(g.type, g.shape(2, 2)), g.integer(-4, 4)
    result = g.pick([None, "f32", "i64", "f64", "i8", "bool"])
    return g.case([x], Expected(np.eye(*x.shape, k).astype(TYPES[result or g.type].held), result or g.type),
                  k=k if k or g.chance(0.5) else None, dtype=TYPES[result].number if result else None)


@operator("OneHot", types=lambda opset: ["f32", "f64", "f16", "i32", "i64", "u8", "bool", "i8", "u64"], since=9)
def one_hot(g):
    shape, depth = g.shape(1, 3, elements=200), g.integer(1, 9)
    axis = g.pick([-1, g.axis(len(shape) + 1)])
    kind = g.pick(["i64", "i32", "f32", "u8"])
    indices = Tensor(g.random.integers(0 if kind == "u8" or g.opset < 11 else -depth - 2, depth + 2, shape).astype(TYPES[kind].held), kind)
    values = g.tensor(g.type, (2,), "normal")
    at = indices.array.astype(np.int64)
    wrapped = np.where(at < 0, at + depth, at)
    hit = np.expand_dims(wrapped, axis) == np.arange(depth).reshape([-1 if i == axis % (len(shape) + 1) else 1 for i in range(len(shape) + 1)])
    size = Tensor(np.array(depth if g.chance(0.5) else [depth]).astype(np.int64), "i64", True)
    return g.case([indices, size, values], Expected(np.where(hit, values.array[1], values.array[0]), g.type), axis=axis if axis != -1 or g.chance(0.5) else None)


@operator("ConstantOfShape", types=["f32", "f64", "f16", "i32", "i64", "u8", "bool", "i8", "u64"], since=9)
def constant_of_shape(g):
    shape, value = g.shape(0, 4), g.values(g.type, (1,))
    result = np.full(shape, value[0])
    if g.chance(0.2):
        return g.case([ints(shape)], Expected(np.zeros(shape, "f4"), "f32"))
    return g.case([ints(shape)], Expected(result, g.type), value=value)


@operator("Range", types=["f32", "f64", "i16", "i32", "i64"], since=11)
def range_(g):
    is_float = TYPES[g.type].is_float
    held = TYPES[g.type].held
    start, delta = (g.integer(-50, 50) / (4 if is_float else 1) for _ in range(2))
    delta = delta or 1
    limit = start + delta * g.integer(-3, 80) + (0 if g.chance(0.5) else g.integer(0, 3) / (8 if is_float else 1) * np.sign(delta))
    count = max(int(np.ceil((limit - start) / delta)), 0)
    result = start + np.arange(count) * delta
    inputs = [Tensor(np.array(number).astype(held), g.type, True) for number in (start, limit, delta)]
    return g.case(inputs, Expected(result if is_float else result.astype(np.int64).astype(held), g.type))


@operator("ReverseSequence", types=data(99), since=10)
def reverse_sequence(g):
    x = g.tensor(g.type, g.shape(2, 4, zero=False))
    time = g.integer(0, 1)
    lengths = Tensor(g.random.integers(1, x.shape[time] + 1, x.shape[1 - time]), "i64")
    result = np.array(x.array)
    for b, length in enumerate(lengths.array):
        row = (slice(0, length), b) if time == 0 else (b, slice(0, length))
        back = (slice(length - 1, None, -1), b) if time == 0 else (b, slice(length - 1, None, -1))
        result[row] = x.array[back]
    return g.case([x, lengths], Expected(result, g.type), time_axis=time, batch_axis=1 - time)


@operator("Constant", types=["f32", "f64", "i32", "i64", "u8", "bool", "f16"])
def constant(g):
    way = g.pick(["value", "value_int", "value_ints", "value_float", "value_floats"]) if g.opset >= 12 else "value"
    if way == "value":
        value = g.values(g.type, g.shape(0, 3, elements=50))
        return g.case([], Expected(value, g.type), value=np.asarray(value))
    if "int" in way:
        value = [g.integer(-(2**62), 2**62) for _ in range(g.integer(1, 4))]
        return g.case([], Expected(np.array(value if way[-1] == "s" else value[0]), "i64"), **{way: value if way[-1] == "s" else value[0]})
    value = [float(np.float32(g.random.standard_normal())) for _ in range(g.integer(1, 4))]
    return g.case([], Expected(np.array(value if way[-1] == "s" else value[0], "f4"), "f32"), **{way: value if way[-1] == "s" else value[0]})
