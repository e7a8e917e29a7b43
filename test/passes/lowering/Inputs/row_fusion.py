#!/usr/bin/env python3
"""Runs softmaxes that products and scans take into their kernels, against numpy in double precision: row_fusion.py FOLDER TARGET...

Rows hold equal values, one large value in each place where a tile begins or ends, infinities, NaN and nothing but minus infinity. --why must name the
kernel for every case that asks for one; the same model with --decompose=all gives the same numbers within the bounds, two threads the same bits.
"""
import pathlib
import sys

import numpy as np
from onnx import helper

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[3]))
from onnx_cases import Model, finish, kiln

INF = np.inf
BOUNDS = {"f4": (2e-5, 5e-7)}
random = np.random.default_rng(5)


def softmax(x, axis=-1, log=False):
    with np.errstate(invalid="ignore", over="ignore", divide="ignore"):
        shifted = x - np.max(x, axis, keepdims=True)
        total = np.sum(np.exp(shifted), axis, keepdims=True)
        return shifted - np.log(total) if log else np.exp(shifted) / total


def node(model, op, inputs, **attributes):
    """A node whose value is no output."""
    name = f"v{len(model.nodes)}"
    model.nodes.append(helper.make_node(op, inputs, [name], **attributes))
    return name


def special_bias(rows, columns):
    """What makes rows of logits difficult: added to the product."""
    bias = np.zeros((rows, columns))
    for row in range(rows):
        kind = row % 8
        if kind == 1:
            bias[row, row * 7 % columns] = 200
        if kind == 2:
            bias[row, ::2] = -INF
        if kind == 3:
            bias[row] = -INF
        if kind == 4:
            bias[row, -1] = INF
        if kind == 5:
            bias[row, columns // 2] = np.nan
        if kind == 6:
            bias[row] = np.linspace(-300, 300, columns)
        if kind == 7:
            bias[row, 0] = -1e38
    return bias


def single(array):
    """The numbers that f32 holds."""
    return array.astype("f4").astype("f8")


def add_product(model, rows, depth, columns, log=False, dims=None, scale=None, after=False):
    x, w, bias = single(random.normal(size=(rows, depth))), single(random.normal(size=(depth, columns))), single(special_bias(rows, columns))
    logits = x @ w
    value = node(model, "MatMul", [model.input(x, dims=dims), model.weight(w)])
    if scale:
        value, logits = node(model, "Mul", [value, model.weight(np.array(scale))]), logits * single(np.array(scale))
    value, logits = node(model, "Add", [value, model.input(bias, dims=dims and [dims[0], columns])]), logits + bias
    label = f"product {rows} {depth} {columns}{' log' * log}{' dynamic' * bool(dims)}"
    result = softmax(logits, log=log)
    op = "LogSoftmax" if log else "Softmax"
    if not after:
        return model.case(label, op, [value], result, dims=dims and [dims[0], columns], axis=-1)
    gain = single(random.normal(size=columns))
    model.case(label, "Mul", [node(model, op, [value], axis=-1), model.weight(gain)], result * gain)


def add_conv(model, channels, size, out, kernel, stride, log=False):
    x, w, b = single(random.normal(size=(2, channels, size, size))), single(random.normal(size=(out, channels, kernel, kernel))), random.normal(size=out)
    places = range(0, size - kernel + 1, stride)
    logits = np.stack([np.stack([np.tensordot(x[:, :, i:i + kernel, j:j + kernel], w, ([1, 2, 3], [1, 2, 3])) for j in places], 1) for i in places], 1)
    logits = np.moveaxis(logits + single(b), -1, 1)
    value = node(model, "Conv", [model.input(x), model.weight(w), model.weight(b)], strides=[stride, stride])
    model.case(f"conv {channels} {size} {out}{' log' * log}", "LogSoftmax" if log else "Softmax", [value], softmax(logits, 1, log), axis=1)


def add_scan(model, shape, op, element="f4", **attributes):
    """Few different logits far apart, so that the probabilities have ties and their order is certain."""
    x = random.integers(-6, 6, shape).astype("f8")
    x[0] = 0
    probabilities = softmax(x)
    value = model.input(x, element)
    if element.startswith("i"):
        value = node(model, "Cast", [value], to=1)
    value = node(model, "Softmax", [value], axis=-1)
    if op == "TopK":
        order = np.argsort(-x if attributes["largest"] else x, axis=-1, kind="stable")[..., :5]
        model.case(f"top {shape}", op, [value, model.weight(np.array([5]), "i8")], order, "i8", at=1, **attributes)
        return
    last = attributes.get("select_last_index", 0)
    exact = shape[-1] - 1 - np.argmax(x[..., ::-1], -1) if last else np.argmax(x, -1)
    model.case(f"best {shape}", op, [value], exact, "i8", axis=-1, keepdims=0, **attributes)


def build():
    model = Model()
    for columns in (1, 2, 7, 16, 21, 32, 33, 47, 64, 100, 250, 513):
        add_product(model, 41, 19, columns)
        add_product(model, 41, 19, columns, log=True)
    add_product(model, 3, 8, 600)
    add_product(model, 64, 300, 200, scale=0.125)
    add_product(model, 64, 30, 90, after=True)
    add_product(model, 45, 19, 75, dims=["batch", 19])
    add_product(model, 45, 19, 75, dims=["batch", 19], log=True)
    for channels, size, out, kernel, stride in ((8, 7, 21, 1, 1), (16, 9, 70, 1, 1), (5, 11, 6, 3, 2)):
        add_conv(model, channels, size, out, kernel, stride)
    add_conv(model, 8, 5, 40, 1, 1, log=True)
    products = len(model.outputs)
    for shape in ((4, 10), (3, 5, 1000), (2, 17)):
        add_scan(model, shape, "ArgMax")
        add_scan(model, shape, "ArgMax", select_last_index=1)
        add_scan(model, shape, "TopK", largest=1)
        add_scan(model, shape, "TopK", largest=0)
    # Vectors of the widest elements on the way.
    for element in ("f8", "i4", "i8", "i1"):
        add_scan(model, (3, 5, 37), "ArgMax", element)
    add_scan(model, (4, 100), "TopK", "f8", largest=1)
    return model, products


def run(model, path, target, folder, *options):
    folder.mkdir()
    kiln("run", path, "--target", target, *model.save_inputs(path.parent), "--output-dir", folder, "--dim", "batch=1..64", *options)
    return folder


def main():
    folder, targets = pathlib.Path(sys.argv[1]), sys.argv[2:]
    model, products = build()
    path = folder / "row_fusion.onnx"
    model.save(path, 18)
    faults = []
    for target in targets:
        whole = run(model, path, target, folder / target)
        shared = run(model, path, target, folder / f"{target}-2", "--threads", "2")
        split = run(model, path, target, folder / f"{target}-split", "--decompose=all")
        faults += model.compare(whole, BOUNDS, f" on {target}") + model.compare(split, BOUNDS, f" split on {target}")
        faults += [f"{name}: two threads differ on {target}" for name in model.expected
                   if (shared / f"{name}.npy").read_bytes() != (whole / f"{name}.npy").read_bytes()]
    finish(faults, f"{products} products and {len(model.outputs) - products} scans: {3 * len(targets) * len(model.outputs)}")


if __name__ == "__main__":
    main()
