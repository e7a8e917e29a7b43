"""Resize and Upsample."""

import numpy as np
from cases import Expected, Tensor, operator
from elements import INTEGERS, TYPES
from floats import floats, rounded

f32 = np.float32


def resized_length(size, scale):
    """In float, as ONNX's shape inference computes it."""
    return int(np.floor(f32(size) * f32(scale)))


class Axis:
    """A dimension of `size` that becomes `out`; `wide_out` is size * scale, which need not be whole."""

    def __init__(self, size, out, scale, roi=(0.0, 1.0)):
        self.size, self.out, self.scale, self.roi = size, out, float(scale), roi
        self.wide_out = size * self.scale

    def coordinates(self, mode):
        x = np.arange(self.out, dtype=np.float64)
        half_pixel = (x + 0.5) / self.scale - 0.5
        if mode == "half_pixel":
            return half_pixel
        if mode == "half_pixel_symmetric":
            return self.size / 2 * (1 - self.out / self.wide_out) + half_pixel
        if mode == "pytorch_half_pixel":
            return half_pixel if self.out > 1 else 0 * x
        if mode == "align_corners":
            return x * (self.size - 1) / (self.wide_out - 1) if self.out > 1 else 0 * x
        if mode == "tf_half_pixel_for_nn":
            # Axes that are not resized are left as they are, as in ONNX Runtime.
            return x if self.scale == 1 else (x + 0.5) / self.scale
        if mode == "asymmetric":
            return x / self.scale
        start, end = self.roi
        if self.out == 1:
            return np.full(1, 0.5 * (start + end) * (self.size - 1))
        return start * (self.size - 1) + x * (end - start) * (self.size - 1) / (self.out - 1)


def keys(distance, a):
    """Keys' cubic kernel."""
    x = abs(distance)
    return np.where(x <= 1, ((a + 2) * x - (a + 3)) * x * x + 1, np.where(x < 2, ((a * x - 5 * a) * x + 8 * a) * x - 4 * a, 0))


def nearest(x, mode):
    if mode == "floor":
        return np.floor(x)
    if mode == "ceil":
        return np.ceil(x)
    return np.ceil(x - 0.5) if mode == "round_prefer_floor" else np.floor(x + 0.5)


def weights(axis, g):
    """[out, size]: what each element counts for each result, with the border's element for those outside; and where results are outside of the region."""
    x = axis.coordinates(g["coordinates"])
    matrix = np.zeros((axis.out, axis.size))
    width = min(axis.scale, 1.0) if g["antialias"] else 1.0
    support = (1 if g["mode"] == "linear" else 2) / width
    for o in range(axis.out):
        if g["mode"] == "nearest":
            matrix[o, int(np.clip(nearest(x[o], g["nearest"]), 0, axis.size - 1))] = 1
            continue
        places = np.arange(int(np.ceil(x[o] - support)), int(np.floor(x[o] + support)) + 1)
        counts = np.maximum(1 - abs(places - x[o]) * width, 0) if g["mode"] == "linear" else keys((places - x[o]) * width, g["a"])
        if g["exclude"]:
            counts = np.where((places >= 0) & (places < axis.size), counts, 0)
        if g["exclude"] or g["antialias"]:
            counts = counts / counts.sum()
        np.add.at(matrix[o], np.clip(places, 0, axis.size - 1), counts)
    return matrix, (x < 0) | (x > axis.size - 1)


def near_tie(axis, g):
    """Whether rounding of the coordinate may choose another element: x is within 1e-5 of where the choice changes, but not exactly a quarter there."""
    x = axis.coordinates(g["coordinates"])
    edge = x if g["nearest"] in ("floor", "ceil") else x - 0.5
    return abs(edge - np.rint(edge)) < 1e-5 * (1 + abs(x))


def compute(x, axes, g, fill):
    """(result, magnitude, what is free)"""
    result, magnitude, free, outside = x, abs(x), np.zeros((1,) * x.ndim, bool), np.zeros((1,) * x.ndim, bool)
    for at, axis in enumerate(axes):
        if axis is None:
            continue
        matrix, beyond = weights(axis, g)
        result, magnitude = (np.moveaxis(np.tensordot(np.asarray(m, np.longdouble), v, (1, at)), 0, at) for m, v in ((matrix, result), (abs(matrix), magnitude)))
        line = [1] * x.ndim
        line[at] = axis.out
        outside = outside | beyond.reshape(line)
        if g["mode"] == "nearest":
            # Ties are exact only where the scale is a power of two, or the coordinates are whole otherwise.
            exact = np.log2(axis.scale) % 1 == 0 and g["coordinates"] not in ("align_corners", "tf_crop_and_resize")
            free = free | (near_tie(axis, g) & (not exact)).reshape(line)
    if g["coordinates"] == "tf_crop_and_resize":
        result = np.where(outside, fill, result)
        magnitude = np.maximum(magnitude, np.where(outside, abs(fill), 0))
    return result, magnitude, np.broadcast_to(free, result.shape)


def draw_scale(g):
    return float(f32(g.pick([0.5, 2.0, 3.0, 1.5, 2.6, 0.6, 0.7, 1.3, 0.8, 1.0, 1 / 3, 2.5, 0.3, g.random.uniform(0.3, 3.5)])))


def expect(g, x, axes, given, fill=0.0):
    is_float = TYPES[g.type].is_float
    # Numbers of 64 bits fit long doubles.
    exact, magnitude, free = compute(x.array.astype(np.longdouble), axes, given, fill)
    if given["mode"] == "nearest":
        value = exact if is_float else exact.astype(TYPES[g.type].held)
        return Expected(value, g.type, 1 if given["coordinates"] == "tf_crop_and_resize" else 0, 0, free)
    # The shares are computed from coordinates in float, which are off by some steps of the dimension's size.
    size = max(max(axis.size, axis.out) for axis in axes if axis is not None) if any(axis is not None for axis in axes) else 1
    slack = magnitude * (2.0**-22 * (size + 8)) + rounded(g.type, magnitude, len(axes))
    return Expected(exact, g.type, 1, slack, free)


def resize_types(opset):
    return floats(13)(opset) + INTEGERS


@operator("Resize", types=resize_types, since=11, weight=8)
def resize(g):
    rank = g.pick([1, 2, 3, 4, 4])
    # Of integers, only what needs no rounding has a meaning that the text gives.
    mode = g.pick(["nearest", "nearest", "linear", "cubic"]) if TYPES[g.type].is_float else "nearest"
    # Linear and cubic: the last dimensions, of which ONNX Runtime takes two or three at most.
    moved = sorted(int(at) for at in g.random.permutation(rank)[: g.integer(1, min(rank, 3 if mode == "nearest" else 2))])
    shape = tuple(g.integer(1, 11) if at in moved else g.integer(1, 4) for at in range(rank))
    coordinates = ["half_pixel", "half_pixel", "align_corners", "asymmetric", "pytorch_half_pixel", "tf_crop_and_resize"]
    coordinates += ["half_pixel_symmetric"] if g.opset >= 19 else []
    coordinates += ["tf_half_pixel_for_nn"] if g.opset < 13 and mode == "nearest" else []
    given = {"mode": mode, "coordinates": g.pick(coordinates), "a": float(f32(g.pick([-0.75, -0.5]))), "exclude": False, "antialias": False,
             "nearest": g.pick(["round_prefer_floor", "round_prefer_ceil", "floor", "ceil"])}
    given["exclude"] = mode == "cubic" and given["coordinates"] != "tf_crop_and_resize" and g.chance(0.3)
    given["antialias"] = g.opset >= 18 and mode != "nearest" and given["coordinates"] != "tf_crop_and_resize" and g.chance(0.3)
    listed = moved if g.opset >= 18 and g.chance(0.5) else list(range(rank))
    rois = {at: tuple(float(f32(v)) for v in sorted(g.random.uniform(-0.3, 1.3, 2))) if at in moved and given["coordinates"] == "tf_crop_and_resize" else (0.0, 1.0)
            for at in range(rank)}
    attributes = {"mode": mode, "coordinate_transformation_mode": given["coordinates"]}
    attributes["nearest_mode"] = given["nearest"] if mode == "nearest" else None
    if mode == "cubic":
        attributes.update(cubic_coeff_a=given["a"], exclude_outside=int(given["exclude"]))
    if given["antialias"]:
        attributes["antialias"] = 1
    if listed != list(range(rank)) or (g.opset >= 18 and g.chance(0.3)):
        listed = [int(at) for at in g.random.permutation(listed)]
        attributes["axes"] = [at - rank if g.chance(0.3) else at for at in listed]
    axes, scales, sizes = draw_target(g, shape, moved, listed, rois, attributes)
    fill = float(f32(g.pick([0.0, 7.5 if TYPES[g.type].is_float else 7.0])))
    if given["coordinates"] == "tf_crop_and_resize" and fill:
        attributes["extrapolation_value"] = fill
    x = g.tensor(g.type, shape, "normal")
    roi = Tensor(np.array([rois[at][side] for side in (0, 1) for at in listed], f32), "f32", True) if given["coordinates"] == "tf_crop_and_resize" else None
    if g.opset < 13 and roi is None:
        roi = Tensor(np.zeros(0, f32), "f32", True)
    if g.opset < 13 and scales is None:
        scales = Tensor(np.zeros(0, f32), "f32", True)
    return g.case([x, roi, scales] + ([sizes] if sizes else []), expect(g, x, axes, given, fill), **attributes)


def draw_target(g, shape, moved, listed, rois, attributes):
    """Scales or sizes, and the axes that they make."""
    axes, rank = [None] * len(shape), len(shape)
    if g.chance(0.5):
        scale = {at: draw_scale(g) if at in moved else 1.0 for at in range(rank)}
        for at in moved:
            while resized_length(shape[at], scale[at]) < 1:
                scale[at] = draw_scale(g)
            axes[at] = Axis(shape[at], resized_length(shape[at], scale[at]), scale[at], rois[at])
        return axes, Tensor(np.array([scale[at] for at in listed], f32), "f32", True), None
    out = {at: g.integer(1, 20) if at in moved else shape[at] for at in range(rank)}
    sizes = Tensor(np.array([out[at] for at in listed]), "i64", True)
    if g.opset >= 18 and g.chance(0.3):
        attributes["keep_aspect_ratio_policy"] = policy = g.pick(["not_larger", "not_smaller", "stretch"])
        if policy != "stretch":
            common = (min if policy == "not_larger" else max)(out[at] / shape[at] for at in listed)
            length = {at: max(int(np.floor(f32(f32(common) * f32(shape[at])) + f32(0.5))), 0) for at in listed}
            if min(length.values()) >= 1:
                for at in listed:
                    axes[at] = Axis(shape[at], length[at], common, rois[at])
                return axes, None, sizes
            attributes["keep_aspect_ratio_policy"] = "stretch"
    for at in moved:
        axes[at] = Axis(shape[at], out[at], out[at] / shape[at], rois[at])
        axes[at].wide_out = out[at]
    return axes, None, sizes


@operator("Upsample", types=floats(99), until=9, weight=2)
def upsample(g):
    rank, mode = 4, g.pick(["nearest", "linear" if g.opset >= 7 else "bilinear"])
    shape = tuple(g.integer(1, 3) if at < 2 else g.integer(1, 9) for at in range(rank))
    # Upwards only; the dimensions of batch and channels stay.
    scale = [1.0, 1.0] + [float(f32(g.pick([1.0, 2.0, 3.0, 1.5, 2.6]))) for _ in range(2)]
    return upsampled(g, shape, scale, mode)


@operator("Resize", types=floats(99), since=10, until=10)
def resize_10(g):
    shape, mode = (g.integer(1, 3), g.integer(1, 3), g.integer(1, 9), g.integer(1, 9)), g.pick(["nearest", "linear"])
    scale = [1.0, 1.0] + [draw_scale(g) for _ in range(2)]
    while any(resized_length(size, s) < 1 for size, s in zip(shape, scale)):
        scale = [1.0, 1.0] + [draw_scale(g) for _ in range(2)]
    return upsampled(g, shape, scale, mode)


def upsampled(g, shape, scale, mode):
    given = {"mode": "nearest" if mode == "nearest" else "linear", "coordinates": "asymmetric", "nearest": "floor", "a": -0.75, "exclude": False, "antialias": False}
    axes = [None if s == 1 else Axis(size, resized_length(size, s), s) for size, s in zip(shape, scale)]
    x = g.tensor(g.type, shape, "normal")
    expected = expect(g, x, axes, given)
    if g.opset >= 9:
        return g.case([x, Tensor(np.array(scale, f32), "f32", True)], expected, mode=mode)
    if g.opset >= 7:
        return g.case([x], expected, mode=mode, scales=scale)
    return g.case([x], expected, mode=mode, height_scale=scale[2], width_scale=scale[3])
