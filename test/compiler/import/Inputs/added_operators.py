#!/usr/bin/env python3
"""Runs pools with indices, regions, determinants, n-grams, optimizers and learned models against numpy: added_operators.py FOLDER."""
import pathlib
import sys

import numpy as np
from onnx import helper, numpy_helper

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[3]))
from onnx_cases import Model, finish, kiln

BOUNDS = {"f2": (0, 0), "f4": (1e-4, 2e-5), "f8": (1e-11, 1e-12)}
random = np.random.default_rng(5)


def normal(*shape):
    return random.standard_normal(shape).astype("f4").astype("f8")


def add_bit_cases(model):
    x = normal(3, 5).astype("f4")
    model.case("BitCast", "BitCast", [model.input(x)], x.view("i4"), "i4", to=6)
    model.case("BitCast back", "BitCast", [model.input(x.view("i4"), "i4")], x.astype("f8"), to=1)
    powers = np.array([0.3, 1.0, 1.1, 3e38, 2.0, -5.0])
    model.nodes.append(helper.make_node("Cast", [model.input(powers)], ["exponents"], "exponents", to=24, round_mode="down"))
    model.case("Cast float8e8m0", "Cast", ["exponents"], 2.0 ** np.floor(np.log2(np.abs(powers))), to=1)


def add_matrix_cases(model):
    x = normal(2, 3, 5, 5)
    x[0, 1, :, 2] = 0  # no inverse
    x[1, 0, 0, 0] = 0  # no pivot in the first place
    for dims in (None, ["N", 3, 5, 5]):
        model.case("Det", "Det", [model.input(x, dims=dims)], np.linalg.det(x), dims=dims and ["N", 3])
    x, y = normal(4, 3, 4), normal(3, 2)
    model.case("Einsum diagonal", "Einsum", [model.input(x), model.input(y)], np.einsum("iji,jk->ik", x, y), equation="iji,jk->ik")
    model.case("Einsum trace", "Einsum", [model.input(normal(3, 3) * 0 + np.eye(3))], np.array(3.0), equation="ii->")


def add_pool_cases(model):
    x = normal(2, 3, 7, 6)
    for order in (0, 1):
        exact = np.zeros((2, 3, 3, 3), int)
        for n, c, i, j in np.ndindex(exact.shape):
            rows, columns = [r for r in (2 * i - 1, 2 * i + 1) if 0 <= r < 7], [q for q in (2 * j - 1, 2 * j, 2 * j + 1) if 0 <= q < 6]
            _, r, q = max((x[n, c, r, q], r, q) for r in rows for q in columns)
            exact[n, c, i, j] = (n * 3 + c) * 42 + (r + q * 7 if order else r * 6 + q)
        for dims in (None, ["N", 3, 7, 6]):
            model.case("MaxPool indices", "MaxPool", [model.input(x, dims=dims)], exact, "i8", dims=dims and ["N", 3, 3, 3], at=1,
                       kernel_shape=[2, 3], strides=[2, 2], dilations=[2, 1], pads=[1, 1, 0, 1], storage_order=order)
    small, places = normal(1, 2, 2, 2), np.array([[[[0, 6], [8, 13]], [[17, 22], [24, 29]]]])
    exact = np.zeros(2 * 16)
    exact[places.ravel()] = small.ravel()
    model.case("MaxUnpool", "MaxUnpool", [model.input(small), model.input(places, "i8")], exact.reshape(1, 2, 4, 4), kernel_shape=[2, 2], strides=[2, 2])


def bilinear(image, y, x):
    """Of an image [channels, rows, columns], zeros outside."""
    total = np.zeros(image.shape[0])
    for row in (int(np.floor(y)), int(np.floor(y)) + 1):
        for column in (int(np.floor(x)), int(np.floor(x)) + 1):
            if 0 <= row < image.shape[1] and 0 <= column < image.shape[2]:
                total += (1 - abs(y - row)) * (1 - abs(x - column)) * image[:, row, column]
    return total


def add_region_cases(model):
    x, rois, images = normal(2, 3, 9, 8), np.array([[0.5, 1, 14, 17], [3, 2, 9, 8.25], [-6, -4, 30, 25]]), np.array([1, 0, 1])
    exact = np.zeros((3, 3, 2, 4))
    for r, i, j in np.ndindex(3, 2, 4):
        left, top, right, bottom = rois[r] * 0.5 - 0.5
        for sy, sx in np.ndindex(3, 3):
            y, q = top + (bottom - top) / 2 * (i + (sy + 0.5) / 3), left + (right - left) / 4 * (j + (sx + 0.5) / 3)
            if -1 <= y <= 9 and -1 <= q <= 8:
                exact[r, :, i, j] += bilinear(x[images[r]], np.clip(y, 0, 8), np.clip(q, 0, 7)) / 9
    for dims in (None, ["N", 3, "H", "W"]):
        model.case("RoiAlign", "RoiAlign", [model.input(x, dims=dims), model.input(rois, dims=dims and ["R", 4]), model.input(images, "i8", dims and ["R"])],
                   exact, dims=dims and ["R", 3, 2, 4], output_height=2, output_width=4, sampling_ratio=3, spatial_scale=0.5)
    x, weight, offset, mask, bias = normal(2, 4, 6, 5), normal(6, 2, 2, 3), normal(2, 24, 3, 4), normal(2, 12, 3, 4), normal(6)
    exact = np.zeros((2, 6, 3, 4)) + bias[:, None, None]
    for n, i, j, a, b in np.ndindex(2, 3, 4, 2, 3):
        for g in range(2):  # of offsets and of channels
            at = offset[n, (g * 6 + a * 3 + b) * 2:][:2, i, j]
            read = bilinear(x[n, 2 * g:2 * g + 2], 2 * i - 1 + 2 * a + at[0], j - 1 + b + at[1]) * mask[n, g * 6 + a * 3 + b, i, j]
            exact[n, 3 * g:3 * g + 3, i, j] += weight[3 * g:3 * g + 3, :, a, b] @ read
    model.case("DeformConv", "DeformConv", [model.input(v) for v in (x, weight, offset, bias, mask)], exact, group=2, offset_group=2, strides=[2, 1],
               dilations=[2, 1], pads=[1, 1, 1, 0])


def add_gram_cases(model):
    x = random.integers(1, 5, (3, 9))
    grams, columns = [(2,), (4,), (1, 2), (3, 3), (2, 4, 1)], [4, 0, 2, 6, 3]
    weights, factors = normal(5), np.zeros(7)
    factors[columns] = weights
    exact = np.zeros((3, 7))
    for row, (gram, column) in [(row, gram) for row in range(3) for gram in zip(grams, columns)]:
        for distance in range(1, 2 if len(gram) == 1 else 4):
            for start in range(9 - distance * (len(gram) - 1)):
                exact[row, column] += all(x[row, start + i * distance] == item for i, item in enumerate(gram))
    attributes = dict(min_gram_length=1, max_gram_length=3, max_skip_count=2, ngram_counts=[0, 2, 6], ngram_indexes=columns,
                      pool_int64s=[item for gram in grams for item in gram])
    for dims in (None, ["B", 9]):
        model.case("TfIdfVectorizer", "TfIdfVectorizer", [model.input(x, "i8", dims)], exact * factors, dims=dims and ["B", 7], mode="TFIDF",
                   weights=weights.tolist(), **attributes)
    model.case("TfIdfVectorizer IDF", "TfIdfVectorizer", [model.input(x, "i8")], (exact > 0) * 1.0, mode="IDF", **attributes)


def add_training_cases(model):
    domain = "ai.onnx.preview.training"
    x, g, v, h = normal(2, 3), normal(2, 3), normal(2, 3), np.abs(normal(2, 3))
    rate, count = model.weight(np.array(0.1)), model.input(np.array(3), "i8")
    state = [model.input(a) for a in (x, g, v, h)]
    gradient = 0.5 * x + g
    first, second = 0.75 * v + 0.25 * gradient, 0.5 * h + 0.5 * gradient**2
    moved = x - 0.1 * np.sqrt(1 - 0.5**3) / (1 - 0.75**3) * first / (np.sqrt(second) + 0.125)
    adam = dict(domain=domain, alpha=0.75, beta=0.5, epsilon=0.125, norm_coefficient=0.5, norm_coefficient_post=0.25)
    for at, exact in enumerate((0.75 * moved, first, second)):
        model.case("Adam", "Adam", [rate, count, *state], exact, at=at, **adam)
    squares = h + gradient**2
    model.case("Adagrad", "Adagrad", [rate, count, state[0], state[1], state[3]], x - 0.1 / 1.75 * gradient / (np.sqrt(squares) + 0.125), domain=domain,
               decay_factor=0.25, epsilon=0.125, norm_coefficient=0.5)
    speed = 0.75 * v + 0.5 * gradient
    for mode, step in (("standard", speed), ("nesterov", gradient + 0.75 * speed)):
        model.case("Momentum", "Momentum", [rate, count, *state[:3]], x - 0.1 * step, domain=domain, alpha=0.75, beta=0.5, mode=mode, norm_coefficient=0.5)
    x, scale, bias, mean, variance = normal(3, 4, 5), normal(4), normal(4), normal(4), np.abs(normal(4))
    inputs = [model.input(a) for a in (x, scale, bias, mean, variance)]
    now, spread = x.mean((0, 2)), x.var((0, 2))
    column = lambda a: a[:, None]
    exact = (x - column(now)) / np.sqrt(column(spread) + 0.125) * column(scale) + column(bias)
    for at, result in enumerate((exact, mean * 0.75 + now * 0.25, variance * 0.75 + spread * 0.25)):
        model.case("BatchNormalization", "BatchNormalization", inputs, result, at=at, training_mode=1, epsilon=0.125, momentum=0.75)


def add_learned_cases(model):
    domain = "ai.onnx.ml"
    x = normal(5, 3)
    x[3] = 0
    name = model.input(x)
    model.case("ArrayFeatureExtractor", "ArrayFeatureExtractor", [name, model.weight(np.array([2, 0]), "i8")], x[:, [2, 0]], domain=domain)
    model.case("Binarizer", "Binarizer", [name], (x > 0.25) * 1.0, domain=domain, threshold=0.25)
    model.case("Scaler", "Scaler", [name], (x - [1, 2, 3]) * 0.5, domain=domain, offset=[1.0, 2.0, 3.0], scale=[0.5])
    sizes = {"MAX": np.abs(x).max(1), "L1": np.abs(x).sum(1), "L2": np.sqrt((x * x).sum(1))}
    for norm, size in sizes.items():
        model.case("Normalizer", "Normalizer", [name], x / np.where(size == 0, 1, size)[:, None], domain=domain, norm=norm)
    weights, intercepts = normal(2, 3), normal(2)
    model.case("LinearRegressor", "LinearRegressor", [name], x @ weights.T + intercepts, domain=domain, targets=2, coefficients=weights.ravel().tolist(),
               intercepts=intercepts.tolist())


def add_tree_cases(model):
    """Two trees: by comparison, members and a missing value; and one whose root leads to one leaf only."""
    x = np.array([[0.5, 3.0], [2.0, 3.0], [2.0, 5.0], [2.0, np.nan], [np.nan, 1.0], [1.0, 7.0]])
    tensor = lambda values, dtype: numpy_helper.from_array(np.array(values, dtype), "")
    attributes = dict(domain="ai.onnx.ml", n_targets=2, tree_roots=[0, 2], nodes_splits=tensor([1, 0, 9], "f4"), nodes_modes=tensor([0, 6, 4], "u1"),
                      membership_values=tensor([3, 7, np.nan], "f4"), nodes_featureids=[0, 1, 1], nodes_missing_value_tracks_true=[0, 1, 0],
                      nodes_truenodeids=[0, 1, 3], nodes_trueleafs=[1, 1, 1], nodes_falsenodeids=[1, 2, 3], nodes_falseleafs=[0, 1, 1],
                      leaf_targetids=[0, 1, 0, 1], leaf_weights=tensor([10, 20, 30, 4], "f4"))
    leaf = lambda row: 0 if row[0] <= 1 else 1 if row[1] in (3, 7) or np.isnan(row[1]) else 2
    for function, join, start in ((0, lambda a, b: a + b / 2, 0.0), (1, lambda a, b: a + b, 0.0), (3, max, float(np.finfo("f4").min))):
        exact = np.full((6, 2), start)
        for row, result in zip(x, exact):
            for at in (leaf(row), 3):
                target = [0, 1, 0, 1][at]
                result[target] = join(result[target], [10, 20, 30, 4][at])
        # What no leaf names is 0, as in ONNX Runtime; the text says nothing of it.
        exact[exact == np.finfo("f4").min] = 0
        model.case("TreeEnsemble", "TreeEnsemble", [model.input(x, dims=["M", 2])], exact, dims=["M", 2], aggregate_function=function, **attributes)


def main():
    folder, model = pathlib.Path(sys.argv[1]), Model()
    for add in (add_bit_cases, add_matrix_cases, add_pool_cases, add_region_cases, add_gram_cases, add_training_cases, add_learned_cases, add_tree_cases):
        add(model)
    model.save(folder / "numbers.onnx", opset=28, domains=[("ai.onnx.ml", 5), ("ai.onnx.preview.training", 1)])
    kiln("run", folder / "numbers.onnx", "--target", "x86-64-v3", "--output-dir", folder / "out", *model.save_inputs(folder))
    finish(model.compare(folder / "out", BOUNDS), len(model.expected))


if __name__ == "__main__":
    main()
