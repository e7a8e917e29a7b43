#!/usr/bin/env python3
"""Operators where their text is easily misread, against numbers from it: operator_corners.py FOLDER TARGET..."""

import pathlib
import sys

import numpy as np

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[3]))
from onnx_cases import Model, run_on_targets

BOUNDS = {"f4": (1e-5, 1e-6), "f2": (2e-3, 1e-4)}
random = np.random.default_rng(3)


def array(*values):
    return np.array(values, "f4")


def add_windows(model):
    """What ceil_mode reads beyond the padding counts as nothing."""
    x = model.input(array(1, 2, 4).reshape(1, 1, 3))
    overhang = {"kernel_shape": [2], "strides": [2], "ceil_mode": 1}
    model.case("lp_pool_1", "LpPool", [x], array(3, 4).reshape(1, 1, 2), p=1, **overhang)
    model.case("lp_pool_2", "LpPool", [x], array(5**0.5, 4).reshape(1, 1, 2), **overhang)
    model.case("lp_pool_padded", "LpPool", [x], array(1, 6, 0)[:2].reshape(1, 1, 2), p=1, pads=[1, 0], **overhang)
    model.case("average", "AveragePool", [x], array(1.5, 4).reshape(1, 1, 2), **overhang)
    model.case("average_padded", "AveragePool", [x], array(0.5, 3, 0)[:2].reshape(1, 1, 2), count_include_pad=1, pads=[1, 0], **overhang)
    model.case("average_padded_end", "AveragePool", [x], array(1.5, 2).reshape(1, 1, 2), count_include_pad=1, pads=[0, 1], **overhang)
    # Numbers that are as low as what a window reads outside.
    low = model.input(np.array([[[0, 0, 0]]]), "u1")
    model.case("index_of_lowest", "MaxPool", [low], np.array([[[0, 0, 1, 2]]]), "i8", at=1, kernel_shape=[2], pads=[1, 1])
    # A third window would start in the padding.
    model.case("starts_in_padding", "MaxPool", [x], array(4).reshape(1, 1, 1), kernel_shape=[3], strides=[3], pads=[0, 2], ceil_mode=1)


def add_equations(model):
    """Without an output term, letters that occur twice are summed; sizes of 1 are broadcast."""
    square, cube = random.standard_normal((3, 3)).astype("f4"), random.standard_normal((3, 3, 4)).astype("f4")
    a, b, s, c = (model.input(value) for value in (random.standard_normal((1, 2, 3)), random.standard_normal((5, 4, 3)), square, cube))
    model.case("trace", "Einsum", [s], np.array(np.trace(square)), equation="ii")
    model.case("trace_of_first", "Einsum", [c], np.einsum("iij->j", cube), equation="iij")
    batch = np.stack([square, square.T * 2])
    model.case("trace_of_last", "Einsum", [model.input(batch)], np.einsum("bii->b", batch), equation="...ii")
    model.case("trace_by_vector", "Einsum", [s, model.input(array(1, 2, 3))], np.array(np.diag(square) @ array(1, 2, 3)), equation="ii,i")
    both = [model.arrays[name].astype("f8") for name in (a, b)]
    model.case("broadcast", "Einsum", [a, b], np.einsum("ijk,ilk->jl", np.broadcast_to(both[0], (5, 2, 3)), both[1]), equation="ijk,ilk->jl")
    model.case("diagonal_of_nothing", "Einsum", [model.input(np.zeros((0, 0)))], np.zeros(0), equation="ii->i")


def add_transposed(model, opset):
    """With output_shape, an odd border has one more at the beginning, but not for SAME_UPPER, nor before opset 11 without auto_pad."""
    x, w = array(1, 10, 100), array(1, 2, 3)
    full = np.zeros(7, "f4")
    for at, value in enumerate(x):
        full[2 * at : 2 * at + 3] += value * w
    for automatic, begin in (None, 1 if opset >= 11 else 0), ("SAME_LOWER", 1), ("SAME_UPPER", 0):
        given = {"auto_pad": automatic} if automatic else {}
        model.case(f"shape_{automatic}", "ConvTranspose", [model.input(x.reshape(1, 1, 3)), model.weight(w.reshape(1, 1, 3))],
                   full[begin : begin + 6].reshape(1, 1, 6), strides=[2], output_shape=[6], **given)
    # A larger output_shape has a border of zeros on both sides.
    for kernel, stride, dilation in (2, 2, 1), (3, 2, 1), (5, 3, 1), (2, 3, 1), (3, 2, 2), (7, 4, 1):
        w = random.standard_normal((2, 2, kernel)).astype("f4")
        x = random.standard_normal((1, 2, 4)).astype("f4")
        full = np.zeros((1, 2, 3 * stride + (kernel - 1) * dilation + 1))
        for at in range(4):
            for tap in range(kernel):
                full[0, :, at * stride + tap * dilation] += x[0, :, at] @ w[:, :, tap]
        for border in 1, 2, 5:
            model.case(f"border_{kernel}_{stride}_{dilation}_{border}", "ConvTranspose", [model.input(x), model.weight(w)], np.pad(full, ((0, 0), (0, 0), (border, border))),
                       strides=[stride], dilations=[dilation], output_shape=[full.shape[2] + 2 * border])


def add_borders(model):
    """Negative pads take away first: what they take beyond the input, they take from the other side's border, and the modes repeat what is left."""
    x, fill = np.arange(1, 5, dtype="f4"), 9

    def pad(name, value, low, high, mode, expected, axis=0):
        amounts = np.zeros((2, value.ndim), "i8")
        amounts[:, axis] = low, high
        model.case(name, "Pad", [model.input(value), model.weight(amounts.reshape(-1), "i8"), model.weight(np.array(fill, "f4")) if mode == "constant" else ""], expected, mode=mode)

    for low, high in (5, -6), (5, -4), (5, -9), (-6, 5), (-9, 5), (3, -1), (-1, 3), (-2, -2):
        places = np.arange(4 + low + high) - low
        expected = np.where((places >= 0) & (places < 4), x[np.clip(places, 0, 3)], fill)
        pad(f"constant_{low}_{high}", x, low, high, "constant", expected)
        # Rows and columns are padded as their elements are.
        rows = x[:, None] * np.ones(19, "f4")
        pad(f"rows_{low}_{high}", rows, low, high, "constant", expected[:, None] * np.ones(19, "f4"))
        pad(f"columns_{low}_{high}", np.ascontiguousarray(rows.T), low, high, "constant", expected * np.ones((19, 1), "f4"), axis=1)
    for mode in "edge", "reflect", "wrap":
        for low, high in (3, -1), (-1, 3), (1, -2), (-2, 1), (2, -1), (-3, -1):
            kept = x[max(-low, 0) : 4 - max(-high, 0)]
            if mode == "reflect" and max(low, high) >= len(kept):
                continue
            border = max(low, 0), max(high, 0)
            pad(f"{mode}_{low}_{high}", x, low, high, mode, np.pad(kept, border, mode=mode) if len(kept) else kept)


def add_sizes(model):
    """5 * 2.6 is 13 in float, as ONNX's shape inference computes it, and less in double."""
    x = array(0, 1, 2, 3, 4)
    given, scale = model.input(x), model.weight(array(2.6))
    model.case("whole_in_float", "Resize", [given, "", scale], x[np.arange(13) * 5 // 13], coordinate_transformation_mode="asymmetric", nearest_mode="floor")
    # 7 / 6 * 27 is 31.5 in double and rounded up, but less in float.
    grid = random.standard_normal((6, 27)).astype("f4")
    model.case("ratio_in_float", "Resize", [model.input(grid), "", "", model.weight(np.array([7, 100]), "i8")], grid[np.arange(7) * 6 // 7][:, np.arange(31) * 6 // 7],
               keep_aspect_ratio_policy="not_larger", coordinate_transformation_mode="asymmetric", nearest_mode="floor")
    # 7 / 6 is the scale of both dimensions: (3 + 0.5) / (7 / 6) - 0.5 is 2.5, and more if the scale is rounded to float.
    grid = random.standard_normal((4, 6)).astype("f4")
    for policy, sizes, rows, columns in ("not_larger", [7, 7], [0, 1, 2, 2, 3], [0, 1, 2, 2, 3, 4, 5]), ("not_smaller", [1, 7], [0, 1, 2, 2, 3], [0, 1, 2, 2, 3, 4, 5]):
        model.case(f"tie_{policy}", "Resize", [model.input(grid), "", "", model.weight(np.array(sizes), "i8")], grid[rows][:, columns], keep_aspect_ratio_policy=policy)
    model.case("nothing_not_larger", "Resize", [model.input(grid), "", "", model.weight(np.array([0, 9]), "i8")], np.zeros((0, 0)), keep_aspect_ratio_policy="not_larger")
    # A vector through the filter: each result is the mean of the two around it, weighted 1 3 3 1 and renormalized at the borders.
    vector = array(8, 16, 24, 32, 40, 48)
    places = np.arange(3) * 2 + 0.5
    counts = np.maximum(1 - abs(np.arange(-2, 8)[None, :] - places[:, None]) / 2, 0)
    padded = np.pad(vector, 2, mode="edge")
    model.case("antialiased_vector", "Resize", [model.input(vector), "", model.weight(array(0.5))], (counts * padded).sum(1) / counts.sum(1), mode="linear", antialias=1)


def add_halves(model):
    """Squares of numbers above 256 do not fit f16, nor does a variance of 1e6."""
    x = np.array([300, -400, 250, 600], "f2")
    wide = x.astype("f8")
    given = model.input(x.reshape(1, 4, 1), "f2")
    model.case("lrn", "LRN", [given], (wide / (1 + 0.5 * wide**2) ** 0.25).reshape(1, 4, 1), "f2", size=1, alpha=0.5, beta=0.25)
    model.case("lp_norm", "LpNormalization", [given], (wide / np.sqrt((wide**2).sum())).reshape(1, 4, 1), "f2", axis=1)
    model.case("lp_norm_1", "LpNormalization", [model.input(x.repeat(100).reshape(1, -1), "f2")], (wide / (abs(wide).sum() * 100)).repeat(100).reshape(1, -1), "f2", p=1)
    line = model.input(x.reshape(1, 1, 4), "f2")
    model.case("lp_pool", "LpPool", [line], np.sqrt(np.array([wide[:2] @ wide[:2], wide[2:] @ wide[2:]])).reshape(1, 1, 2), "f2", kernel_shape=[2], strides=[2])
    model.case("global_lp_pool", "GlobalLpPool", [line], np.sqrt(wide @ wide).reshape(1, 1, 1), "f2")
    model.case("mean_variance", "MeanVarianceNormalization", [line], ((wide - wide.mean()) / wide.std()).reshape(1, 1, 4), "f2", axes=[0, 2])
    model.case("constant_row", "MeanVarianceNormalization", [model.input(np.full((1, 1, 4), 7), "f2")], np.zeros((1, 1, 4)), "f2", axes=[2])
    one, zero = model.weight(np.array([1]), "f2"), model.weight(np.array([0]), "f2")
    model.case("wide_variance", "BatchNormalization", [line, one, zero, model.weight(array(0)), model.weight(array(1e6))], (wide / 1e3).reshape(1, 1, 4), "f2")
    moved = 0.9 * 100 + 0.1 * wide.var()
    model.case("running_variance", "BatchNormalization", [line, one, zero, zero, model.weight(np.array([100]), "f2")], np.array([moved]), "f2", at=2, training_mode=1)


def add_long_halves(model):
    """f16 counts to 2048, and sums of many losses do not fit it."""
    stripes = (np.arange(3000) % 2).astype("f8")
    image = model.input(stripes.reshape(1, 1, 1, -1), "f2")
    between = stripes * 0.75 + np.append(stripes[1:], 0) * 0.25
    offset = np.zeros((1, 2, 1, 3000))
    offset[:, 1] = 0.25
    model.case("deform", "DeformConv", [image, model.weight(np.ones((1, 1, 1, 1)), "f2"), model.input(offset, "f2")], between.reshape(1, 1, 1, -1), "f2")
    at = 1199.5 + np.arange(8)[:, None] + np.array([0.25, 0.75])
    low = np.floor(at).astype(int)
    read = (stripes[low] * (1 - at + low) + stripes[low + 1] * (at - low)).mean(1)
    rois = [model.input(np.array([[1200, 0, 1208, 1]]), "f2"), model.input(np.array([0]), "i8")]
    model.case("roi", "RoiAlign", [image, *rois], read.reshape(1, 1, 1, -1), "f2", output_width=8, output_height=1, sampling_ratio=2)
    theta, size = model.input(np.array([[[1, 0, 0], [0, 1, 0]]]), "f2"), model.weight(np.array([1, 1, 1, 40000]), "i8")
    line = (2 * np.arange(40000) + 1) / 40000 - 1
    model.case("affine", "AffineGrid", [theta, size], np.stack([line, 0 * line], -1).reshape(1, 1, -1, 2), "f2")
    x, target = model.input(np.full((20000, 2), -10), "f2"), model.input(np.zeros(20000), "i8")
    model.case("loss", "NegativeLogLikelihoodLoss", [x, target, model.weight(np.array([5, 1]), "f2")], np.array(10.0), "f2")
    model.case("loss_without_ignored", "SoftmaxCrossEntropyLoss", [x, target], np.array(np.log(2)), "f2", ignore_index=1)


def add_others(model):
    """Division of halves in the scale's type; kernels over empty dimensions."""
    model.case("quantize_in_scales_type", "QuantizeLinear", [model.input(array(0.25, 1.25, 2.25)), model.weight(np.array(0.1), "f2")], np.array([2, 12, 22]), "u1")
    model.case("between_integers", "Binarizer", [model.input(np.array([-3, -2, 0]), "i8")], np.array([0, 1, 1]), "i8", threshold=-2.5, domain="ai.onnx.ml")
    truths, last = np.array([[1, 0, 1], [0, 0, 0], [1, 1, 1]]), model.weight(np.array([1]), "i8")
    for operator, empty, expected in ("ReduceMax", False, truths.any(1)), ("ReduceMin", True, truths.all(1)):
        model.case(f"{operator}_of_none", operator, [model.input(np.zeros((2, 0)), "?"), last], np.array([empty] * 2), "?", keepdims=0)
        model.case(f"{operator}_of_some", operator, [model.input(truths, "?"), last], expected, "?", keepdims=0)
    model.case("no_tiles", "Tile", [model.input(np.ones((5, 5, 1))), model.weight(np.array([3, 0, 1]), "i8")], np.zeros((15, 0, 1)))
    model.case("no_rows", "Slice", [model.input(np.ones((4, 3, 2))), *(model.weight(np.array(v), "i8") for v in ([2, 1], [2, -4], [1, 2], [1, -1]))], np.ones((4, 0, 2)))


def main():
    models = {}
    for opset in 10, 23:
        model = Model()
        add_transposed(model, opset)
        if opset > 10:
            for add in add_windows, add_equations, add_borders, add_sizes, add_halves, add_long_halves, add_others:
                add(model)
        models[f"opset{opset}"] = model, opset, [("ai.onnx.ml", 3)]
    run_on_targets(sys.argv[1], sys.argv[2:], models, BOUNDS)


main()
