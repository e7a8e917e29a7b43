"""Reads of images between their elements."""

import numpy as np
from cases import Expected, Tensor, operator
from floats import floats, rounded, unit
from resizing import keys


def reflect(x, low, high):
    """Folds x back and forth between low and high."""
    span = high - low
    if span <= 0:
        return np.zeros_like(x)
    turns, rest = np.divmod(abs(x - low), span)
    return np.where(turns % 2 == 0, rest, span - rest) + low


def tap_value(image, index, padding, align):
    """Elements [C, ...] at whole places of any size, one array for each dimension."""
    inside, kept = np.ones(index[0].shape, bool), []
    for at, size in zip(index, image.shape[1:]):
        if padding == "zeros":
            inside &= (at >= 0) & (at < size)
        elif padding == "reflection":
            at = reflect(at, 0.0 if align else -0.5, size - 1.0 if align else size - 0.5)
        kept.append(np.clip(np.rint(at), 0, size - 1).astype(int))
    return np.where(inside, image[(slice(None), *kept)], 0)


def sample(image, places, mode, padding, align):
    """(values [C, places...], magnitudes) of one image at real places."""
    if mode == "nearest":
        value = tap_value(image, [np.rint(place) for place in places], padding, align)
        return value, abs(value)
    reach = range(2) if mode == "linear" else range(-1, 3)
    lows = [np.floor(place) for place in places]
    value, size = 0, 0
    for step in np.ndindex(*[len(reach)] * len(places)):
        index = [low + reach[s] for low, s in zip(lows, step)]
        share = 1
        for at, place in zip(index, places):
            share = share * (np.maximum(1 - abs(place - at), 0) if mode == "linear" else keys(place - at, -0.75))
        term = tap_value(image, index, padding, align) * share
        value, size = value + term, size + abs(term)
    return value, size


@operator("GridSample", types=floats(22), since=16, weight=5)
def grid_sample(g):
    rank = 2 if g.opset < 20 else g.pick([1, 2, 2, 3])
    n, channels = g.pick([1, 2]), g.pick([1, 2, 3, 8])
    sizes, out = ([g.integer(1, 8 if rank < 3 else 4) for _ in range(rank)] for _ in range(2))
    # Cubic in three dimensions reads 64 elements for each place, which takes minutes to compile.
    mode, padding, align = g.pick(["linear", "nearest"] + ["cubic"] * (rank < 3)), g.pick(["zeros", "border", "reflection"]), g.chance(0.5)
    x = g.tensor(g.type, (n, channels, *sizes), "normal")
    span = g.pick([1.0, 1.5, 4.0])
    # The grid has a type of its own; numbers on a raster, so that it is exact.
    grid = Tensor((g.random.integers(-256, 257, (n, *out, rank)) * (span / 256)).astype("f4").astype(x.array.dtype), g.type)
    if g.type in ("f16", "bf16"):
        grid.array = (np.rint(grid.array.astype("f8") * 32) / 32).astype(x.array.dtype)
    results, free = [], np.zeros((n, 1, *out), bool)
    for b in range(n):
        places = []
        for axis in range(rank):
            at = grid.array[b, ..., rank - 1 - axis].astype("f8") + 1
            place = at / 2 * (sizes[axis] - 1) if align else (at * sizes[axis] - 1) / 2
            # Rounded in float, a place that is nearly in the middle may go to either side.
            if mode == "nearest":
                half = place - 0.5
                near = abs(half - np.rint(half)) < 1e-5 * (1 + abs(place))
                free[b, 0] |= near & (half != np.rint(half))
                free[b, 0] |= near & (np.log2(sizes[axis] - align or 1) % 1 != 0)
                if padding == "reflection":
                    free[b, 0] |= near
            places.append(place)
        if padding != "zeros" and mode != "cubic":
            places = [keep(place, size, padding, align) for place, size in zip(places, sizes)]
        results.append(sample(x.wide[b], places, mode, padding, align))
    exact, magnitude = (np.stack(part) for part in zip(*results))
    # A place is off by some steps of its size in float, and what is read changes with it by no more than the largest differences.
    largest = abs(x.wide).max(initial=0) * (2.0**-22 * (max(sizes) + 4) * span * 4 if mode != "nearest" else 0)
    slack = magnitude * 2.0**-20 * (mode != "nearest") + largest + rounded(g.type, magnitude, 3 * (mode != "nearest"))
    spelled = {"linear": "bilinear", "cubic": "bicubic"}.get(mode, mode) if g.opset < 20 else mode
    attributes = {"mode": spelled if mode != "linear" or g.chance(0.7) else None, "padding_mode": padding if padding != "zeros" or g.chance(0.5) else None,
                  "align_corners": int(align) if align or g.chance(0.5) else None}
    return g.case([x, grid], Expected(exact, g.type, 0 if mode == "nearest" else 1, slack, np.broadcast_to(free, exact.shape)), **attributes)


def keep(place, size, padding, align):
    """Places outside, moved to the border or reflected before they are read."""
    if padding == "reflection":
        place = reflect(place, 0.0 if align else -0.5, size - 1.0 if align else size - 0.5)
    return np.clip(place, 0, size - 1)


@operator("AffineGrid", types=floats(20), since=20)
def affine_grid(g):
    rank, n, align = g.pick([2, 2, 3]), g.pick([1, 2, 3]), g.chance(0.5)
    sizes = [g.integer(1, 8) for _ in range(rank)]
    theta = g.tensor(g.type, (n, rank, rank + 1), "normal")
    lines = []
    for size in sizes:
        at = np.arange(size, dtype=np.longdouble)
        lines.append(-1 + at * 2 / max(size - 1, 1) if align else -1 + (2 * at + 1) / size)
    points = np.stack([*reversed(np.meshgrid(*lines, indexing="ij")), np.ones(sizes, np.longdouble)], -1)
    exact, magnitude = (np.einsum("...k,nck->n...c", f(points), f(theta.wide)) for f in (np.asarray, abs))
    # The text gives nothing for the one element of a dimension with align_corners but that it lies at -1.
    size = Tensor(np.array([n, g.pick([1, 3]), *sizes]), "i64", True)
    return g.case([theta, size], Expected(exact, g.type, 1, magnitude * unit(g.type) * 8), align_corners=int(align) if align or g.chance(0.5) else None)


@operator("RoiAlign", types=floats(22), since=10, weight=3)
def roi_align(g):
    n, channels, height, width, count = g.pick([1, 2]), g.pick([1, 2, 8]), g.integer(1, 9), g.integer(1, 9), g.integer(1, 4)
    out, samples = (g.integer(1, 4), g.integer(1, 4)), g.integer(0, 3)
    is_max, scale = g.chance(0.3), float(np.float32(g.pick([1.0, 0.5, 0.25, 2.0])))
    half = g.opset >= 16 and g.chance(0.6)
    # With 0, as many samples as a bin has elements.
    adaptive, is_max = samples == 0, is_max and samples > 0
    x = g.tensor(g.type, (n, channels, height, width), "positive" if is_max else "normal")
    corners = np.rint(g.random.uniform(-2, 11, (count, 2)) / scale * 4) / 4
    rois = Tensor(np.concatenate([corners, corners + np.rint(g.random.uniform(0, 8, (count, 2)) / scale * 4) / 4], 1).astype(x.array.dtype), g.type)
    if g.type == "bf16":
        rois.array = np.rint(rois.array)
    images = Tensor(g.random.integers(n, size=count), "i64")
    exact, magnitude = np.zeros((count, channels, *out), np.longdouble), np.zeros((count, channels, *out), np.longdouble)
    for r in range(count):
        x1, y1, x2, y2 = rois.array[r].astype("f8") * scale - (0.5 if half else 0)
        size = np.array([y2 - y1, x2 - x1])
        size = size if half else np.maximum(size, 1)
        each = [int(np.ceil(size[axis] / out[axis])) if adaptive else samples for axis in range(2)]
        for i, j in np.ndindex(*out):
            values, sizes = [], []
            for a, b in np.ndindex(*each):
                y = y1 + (i + (a + 0.5) / each[0]) * size[0] / out[0]
                z = x1 + (j + (b + 0.5) / each[1]) * size[1] / out[1]
                terms = bilinear(x.wide[images.array[r]], y, z)
                # The largest of the weighted neighbours, as the operator's first implementation has it.
                values.append(np.max(terms, 0) if is_max else np.sum(terms, 0))
                sizes.append(np.sum(abs(terms), 0))
            if not values:
                continue
            exact[r, :, i, j] = np.max(values, 0) if is_max else np.mean(values, 0)
            magnitude[r, :, i, j] = np.max(sizes, 0)
    # Places are computed in the type itself, like all of the operator.
    slack = abs(x.wide).max() * unit(g.type) * (64 if g.type in ("f16", "bf16") else 256) * max(height, width) / 2
    attributes = {"output_height": out[0], "output_width": out[1], "sampling_ratio": samples, "spatial_scale": scale, "mode": "max" if is_max else g.pick([None, "avg"])}
    if g.opset >= 16:
        attributes["coordinate_transformation_mode"] = ("half_pixel" if g.chance(0.5) else None) if half else "output_half_pixel"
    return g.case([x, rois, images], Expected(exact, g.type, 2, slack), **attributes)


@operator("MaxRoiPool", types=["f32"], since=1)
def max_roi_pool(g):
    n, channels, height, width, count = g.pick([1, 2]), g.pick([1, 2, 8]), g.integer(1, 9), g.integer(1, 9), g.integer(1, 4)
    out, scale = (g.integer(1, 4), g.integer(1, 4)), g.pick([1.0, 0.5, 0.25, 2.0])
    x = g.tensor("f32", (n, channels, height, width), "normal")
    corners = g.random.integers(-2, 12, (count, 2))
    rois = np.concatenate([g.random.integers(n, size=(count, 1)), corners, corners + g.random.integers(0, 9, (count, 2))], 1).astype("f4")
    rois[:, 1:] = np.rint(rois[:, 1:] / scale)
    nearest = lambda v: np.sign(v) * np.floor(abs(v) + 0.5)
    exact = np.zeros((count, channels, *out), "f4")
    for r in range(count):
        x1, y1, x2, y2 = nearest(rois[r, 1:].astype("f8") * scale)
        for i, j in np.ndindex(*out):
            bins = [np.float32(max(last - first + 1, 1)) / np.float32(parts) for first, last, parts in ((y1, y2, out[0]), (x1, x2, out[1]))]
            begin = [int(np.clip(np.floor(np.float32(at) * size) + first, 0, dim)) for at, size, first, dim in ((i, bins[0], y1, height), (j, bins[1], x1, width))]
            end = [int(np.clip(np.ceil(np.float32(at + 1) * size) + first, 0, dim)) for at, size, first, dim in ((i, bins[0], y1, height), (j, bins[1], x1, width))]
            part = x.array[int(rois[r, 0]), :, begin[0] : end[0], begin[1] : end[1]]
            exact[r, :, i, j] = part.max((1, 2)) if part.size else 0
    return g.case([x, Tensor(rois, "f32")], Expected(exact, "f32"), pooled_shape=list(out), spatial_scale=scale)


@operator("CropAndResize", types=["f32"], since=7, domain="com.microsoft", weight=2)
def crop_and_resize(g):
    n, channels, height, width, count = g.pick([1, 2]), g.pick([1, 2, 8]), g.integer(1, 9), g.integer(1, 9), g.integer(1, 4)
    size, mode, outside = (g.integer(1, 5), g.integer(1, 5)), g.pick(["bilinear", "nearest"]), float(g.pick([0.0, -1.0, 3.5]))
    x = g.tensor("f32", (n, channels, height, width), "normal")
    boxes = g.random.uniform(-0.2, 1.2, (count, 4)).astype("f4")
    images = Tensor(g.random.integers(n, size=count).astype("i4"), "i32")
    exact, free = np.zeros((count, channels, *size), np.longdouble), np.zeros((count, channels, *size), bool)

    def places(first, last, parts, dim):
        if parts == 1:
            return [(first + last) / 2 * (dim - 1)]
        return [(first + (last - first) * at / (parts - 1)) * (dim - 1) for at in range(parts)]

    for r in range(count):
        y1, x1, y2, x2 = boxes[r].astype("f8")
        for i, y in enumerate(places(y1, y2, size[0], height)):
            for j, z in enumerate(places(x1, x2, size[1], width)):
                # Roundings decide at the border, and between two neighbours.
                near = lambda v, dim: min(abs(v), abs(v - (dim - 1))) < 1e-4 and dim > 1 or (mode == "nearest" and abs(v % 1 - 0.5) < 1e-4)
                free[r, :, i, j] = near(y, height) or near(z, width)
                if not (0 <= y <= height - 1 and 0 <= z <= width - 1):
                    exact[r, :, i, j] = outside
                    continue
                picture = x.wide[images.array[r]]
                exact[r, :, i, j] = np.sum(bilinear(picture, y, z), 0) if mode == "bilinear" else picture[:, int(y + 0.5), int(z + 0.5)]
    slack = abs(x.wide).max() * 2.0**-24 * 256 * max(height, width)
    return g.case([x, Tensor(boxes, "f32"), images, Tensor(np.array(size, "i4"), "i32", True)], Expected(exact, "f32", 2, slack, free), mode=mode, extrapolation_value=outside)


def bilinear(image, y, x):
    """The four weighted neighbours of a place; none that lies more than one element outside."""
    height, width = image.shape[1:]
    if y < -1 or y > height or x < -1 or x > width:
        return np.zeros((4, image.shape[0]), np.longdouble)
    y, x = min(max(y, 0), height - 1), min(max(x, 0), width - 1)
    low_y, low_x = int(np.floor(y)), int(np.floor(x))
    return np.stack([image[:, min(low_y + i, height - 1), min(low_x + j, width - 1)] * (abs(1 - i - (y - low_y)) * abs(1 - j - (x - low_x)))
                     for i in (0, 1) for j in (0, 1)])
