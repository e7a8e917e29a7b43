"""Reads and writes at indices, and results whose size the data tells."""

import numpy as np
from cases import Expected, Tensor, operator
from elements import DATA, TYPES
from floats import unit
from movement import data


def index_tensor(g, low, high, shape, negative=True, wide=False):
    kind = "i64" if wide else g.pick(["i64", "i64", "i32"])
    array = g.random.integers(-high if negative and g.chance(0.5) else low, high, shape) if high > 0 else np.zeros(shape)
    return Tensor(array.astype(TYPES[kind].held), kind)


def some_shape(g, least, most, elements=500):
    """Without an empty dimension, which no index is in."""
    return g.shape(least, most, zero=False, elements=elements, size=20)


@operator("Gather", types=data(13), weight=3)
def gather(g):
    shape = some_shape(g, 1, 4)
    axis = g.axis(len(shape), g.opset >= 11)
    x = g.tensor(g.type, shape)
    indices = index_tensor(g, 0, shape[axis], g.shape(0, 3, elements=40, size=8), g.opset >= 11)
    return g.case([x, indices], Expected(np.take(x.array, indices.array, axis), g.type), axis=axis if axis or g.chance(0.5) else None)


@operator("GatherElements", types=data(13), since=11, weight=2)
def gather_elements(g):
    shape = some_shape(g, 1, 4)
    axis = g.axis(len(shape))
    own = tuple(g.integer(1, 9) if at == axis % len(shape) else g.integer(max(size // 2, 1), size) for at, size in enumerate(shape))
    x, indices = g.tensor(g.type, shape), index_tensor(g, 0, shape[axis], own)
    index = list(np.indices(own))
    index[axis] = indices.array % shape[axis]
    return g.case([x, indices], Expected(x.array[tuple(index)], g.type), axis=axis if axis or g.chance(0.5) else None)


def tuples(g, shape, length, outer, batch=0):
    """Indices of dimensions batch and on."""
    arrays = [g.random.integers(-shape[batch + at] if g.chance(0.4) else 0, shape[batch + at], outer) for at in range(length)]
    return np.stack(arrays, -1) if arrays else np.zeros((*outer, 0), np.int64)


@operator("GatherND", types=data(13), since=11, weight=2)
def gather_nd(g):
    shape = some_shape(g, 1, 4)
    batch = g.integer(0, min(2, len(shape) - 1)) if g.opset >= 12 else 0
    length = g.integer(1, len(shape) - batch)
    outer = shape[:batch] + g.shape(0, 2, elements=12, zero=False, size=5)
    indices = Tensor(tuples(g, shape, length, outer, batch), "i64")
    x = g.tensor(g.type, shape)
    result = np.empty((*outer, *shape[batch + length:]), x.array.dtype)
    for at in np.ndindex(*outer):
        result[at] = x.array[(*at[:batch], *indices.array[at])]
    return g.case([x, indices], Expected(result, g.type), batch_dims=batch if batch or (g.opset >= 12 and g.chance(0.5)) else None)


def reductions(g, since_sums, since_extremes):
    """Of strings and truth values, none."""
    if g.type in ("string", "bool"):
        return "none"
    return g.pick(["none"] + ["add", "mul"] * (g.opset >= since_sums) + ["min", "max"] * (g.opset >= since_extremes))


FUNCTIONS = {"add": np.add, "mul": np.multiply, "min": np.minimum, "max": np.maximum}


def scattered(g, x, write, reduction, places):
    """Writes one by one; without a reduction each place is written once."""
    is_float = TYPES[g.type].is_float
    result = np.array(x.wide if is_float else x.array)
    size = np.array(abs(x.wide)) if is_float else None
    with np.errstate(all="ignore"):
        for at, value in places:
            result[at] = value if reduction == "none" else FUNCTIONS[reduction](result[at], value)
            if is_float and reduction in ("add", "mul"):
                size[at] = FUNCTIONS[reduction](size[at], abs(value))
    # Halves are rounded with each of the updates.
    slack = size * unit(g.type) * 12 if is_float and reduction in ("add", "mul") else 0
    return Expected(result, g.type, 0, slack)


@operator("ScatterElements", types=data(13), since=11, weight=4)
@operator("Scatter", types=data(13), since=9, until=10)
def scatter_elements(g):
    shape = some_shape(g, 1, 4)
    rank = len(shape)
    axis = g.axis(rank, g.opset >= 11)
    reduction = reductions(g, 16, 18)
    own = tuple(g.integer(1, size) for size in shape)
    indices = index_tensor(g, 0, shape[axis], own, g.opset >= 11)
    if reduction == "none":
        order = np.argsort(g.random.random(own[:axis % rank] + (shape[axis],) + own[axis % rank + 1:]), axis=axis)
        indices.array = np.take(order, np.arange(own[axis]), axis).astype(indices.array.dtype)
    x, updates = g.tensor(g.type, shape, "normal"), g.tensor(g.type, own, "normal")
    value = updates.wide if TYPES[g.type].is_float else updates.array
    places = []
    for at in np.ndindex(*own):
        target = list(at)
        target[axis] = int(indices.array[at])
        places.append((tuple(target), value[at]))
    return g.case([x, indices, updates], scattered(g, x, None, reduction, places), axis=axis if axis or g.chance(0.5) else None,
                  reduction=reduction if reduction != "none" or (g.opset >= 16 and g.chance(0.5)) else None)


@operator("ScatterND", types=data(13), since=11, weight=3)
def scatter_nd(g):
    shape = some_shape(g, 1, 4)
    length = g.integer(1, len(shape))
    reduction = reductions(g, 16, 18)
    cells = int(np.prod(shape[:length]))
    if reduction == "none":
        count = g.integer(1, min(cells, 12))
        chosen = np.stack(np.unravel_index(g.random.permutation(cells)[:count], shape[:length]), -1)
        chosen = np.where(g.random.random(chosen.shape) < 0.2, chosen - np.array(shape[:length]), chosen)
    else:
        chosen = tuples(g, shape, length, g.shape(1, 2, elements=12, zero=False, size=5))
    indices, x = Tensor(chosen, "i64"), g.tensor(g.type, shape, "normal")
    updates = g.tensor(g.type, (*chosen.shape[:-1], *shape[length:]), "normal")
    value = updates.wide if TYPES[g.type].is_float else updates.array
    places = [(tuple(int(i) for i in chosen[at]), value[at]) for at in np.ndindex(*chosen.shape[:-1])]
    return g.case([x, indices, updates], scattered(g, x, None, reduction, places),
                  reduction=reduction if reduction != "none" or (g.opset >= 16 and g.chance(0.5)) else None)


@operator("TensorScatter", types=[type for type in DATA], since=24)
def tensor_scatter(g):
    shape = some_shape(g, 2, 4)
    axis = g.pick([at for at in range(-len(shape) + 1, len(shape)) if at])
    mode, batch, size = g.pick(["linear", "circular", None]), shape[0], shape[axis]
    length = g.integer(1, size)
    own = tuple(length if at == axis % len(shape) else dim for at, dim in enumerate(shape))
    x, update = g.tensor(g.type, shape), g.tensor(g.type, own)
    starts = Tensor(g.random.integers(0, (size if mode == "circular" else size - length + 1), batch), "i64") if g.chance(0.7) else None
    result = np.array(x.array)
    for b in range(batch):
        first = int(starts.array[b]) if starts else 0
        for k in range(length):
            to, source = [slice(None)] * len(shape), [slice(None)] * len(shape)
            to[0] = source[0] = b
            to[axis], source[axis] = (first + k) % size if mode == "circular" else first + k, k
            result[tuple(to)] = update.array[tuple(source)]
    return g.case([x, update] + ([starts] if starts else []), Expected(result, g.type), mode=mode, axis=axis if axis != -2 or len(shape) < 3 or g.chance(0.5) else None)


@operator("Compress", types=data(99), since=9)
def compress(g):
    x = g.tensor(g.type, g.shape(1, 4, zero=False))
    axis = g.axis(len(x.shape), g.opset >= 11) if g.chance(0.7) else None
    length = x.array.size if axis is None else x.shape[axis]
    condition = Tensor(g.random.random(g.integer(1, length)) < 0.5, "bool")
    return g.case([x, condition], Expected(np.compress(condition.array, x.array, axis), g.type), axis=axis)


@operator("NonZero", types=lambda opset: [t for t in DATA if t != "bf16" or opset >= 13], since=9)
def non_zero(g):
    x = g.tensor(g.type, g.shape(1, 4), "small")
    return g.case([x], Expected(np.array(np.nonzero(x.array), np.int64).reshape(len(x.shape), -1), "i64"))


@operator("Unique", types=["f32", "f64", "f16", "i64", "i32", "u8", "i8", "string"], since=11, weight=2)
def unique(g):
    x = g.tensor(g.type, g.shape(1, 3, zero=False, elements=150), "small")
    if TYPES[g.type].is_float:
        x.array = x.array + np.zeros((), x.array.dtype)
    axis = g.axis(len(x.shape)) if g.chance(0.4) else None
    sorted_ = g.chance(0.6)
    values, first, inverse, counts = np.unique(x.array, True, True, True, axis=axis)
    if not sorted_:
        # In the order of the first occurrences.
        order = np.argsort(first, kind="stable")
        rank = np.argsort(order, kind="stable")
        values, first, inverse, counts = np.take(values, order, axis or 0 if axis is not None else 0), first[order], rank[inverse], counts[order]
    return g.case([x], Expected(values, g.type), *(Expected(part.reshape(-1), "i64") for part in (first, inverse, counts)),
                  axis=axis, sorted=None if sorted_ and g.chance(0.5) else int(sorted_))


@operator("NonMaxSuppression", types=["f32"], since=10, weight=2)
def non_max_suppression(g):
    batches, classes, count = g.integer(1, 2), g.integer(1, 3), g.integer(1, 20)
    center = g.chance(0.4)
    corners = g.random.integers(0, 40, (batches, count, 2)) / 8
    size = g.random.integers(1, 30, (batches, count, 2)) / 8
    if center:
        boxes = np.concatenate([corners, size], -1)
        low, high = (corners - size / 2)[..., ::-1], (corners + size / 2)[..., ::-1]
    else:
        low, high = corners, corners + size
        swap = g.random.random((batches, count, 1)) < 0.3
        boxes = np.concatenate([np.where(swap, high, low), np.where(swap, low, high)], -1)
    scores = g.random.permutation(batches * classes * count).reshape(batches, classes, count).astype("f4") / 16
    most = g.pick([None, 0, 1, 3, 100])
    overlap = g.pick([None, 0.0, 0.3, 0.51, 1.0])
    least = g.pick([None, 0.5, 3.0])
    chosen = []
    for b, c in np.ndindex(batches, classes):
        kept = []
        for i in sorted(range(count), key=lambda i: -scores[b, c, i]):
            if len(kept) >= (most or 0):
                break
            if least is not None and not scores[b, c, i] > least:
                continue
            if all(overlap_of(low[b, i], high[b, i], low[b, j], high[b, j]) <= (overlap or 0) for j in kept):
                kept.append(i)
        chosen += [(b, c, i) for i in kept]
    numbers = [Tensor(np.array(value).astype(TYPES[type].held).reshape(-1), type, True) if value is not None else None for value, type in ((most, "i64"), (overlap, "f32"), (least, "f32"))]
    while numbers and numbers[-1] is None:
        numbers.pop()
    inputs = [Tensor(boxes.astype("f4"), "f32"), Tensor(scores, "f32"), *numbers]
    return g.case(inputs, Expected(np.array(chosen, np.int64).reshape(-1, 3), "i64"), center_point_box=1 if center else None)


def overlap_of(low_a, high_a, low_b, high_b):
    both = np.prod(np.maximum(np.minimum(high_a, high_b) - np.maximum(low_a, low_b), 0))
    either = np.prod(high_a - low_a) + np.prod(high_b - low_b) - both
    return np.float32(both) / np.float32(either)
