#!/usr/bin/env python3
"""Runs every composite whole and split, and compares the two with each other and with numpy: composite_forms.py FOLDER TARGET...

All cases are outputs of one ONNX model. The composites that must be among them are those that kiln itself lists as registered.
"""
import json
import math
import pathlib
import re
import sys

import numpy as np
from onnx import AttributeProto, helper

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[3]))
import kiln_calls  # noqa: E402
from onnx_cases import Model, describe_difference, kiln

INF, NAN = np.inf, np.nan
# Both forms differ in the order of a sum and in 1 / s against / s; halves are rounded between the parts.
BOUNDS = {"f4": (2e-5, 2e-6), "f8": (1e-12, 1e-13), "f2": (6e-3, 4e-3)}
random = np.random.default_rng(7)


def special_rows(length):
    """Rows that hold what breaks careless formulas."""
    rows = random.standard_normal((10, length))
    rows[1, length // 2] = NAN
    rows[2, length // 3] = INF
    rows[3, length // 3] = -INF
    rows[4] *= 1e4
    rows[5] = 0.125
    rows[6] = -INF
    rows[7] = 1e4
    rows[8, 0], rows[8, -1] = INF, -INF
    rows[9] = -1e4
    return rows


def along(axis, outer, length, inner):
    """[outer, ..., inner] with the special rows along `axis` of three."""
    rows = special_rows(length)[np.arange(outer * inner) % 10].reshape(outer, inner, length)
    return np.ascontiguousarray(np.moveaxis(rows, 2, axis))


# Several blocks of columns, and rows too long for registers.
LARGE = {1: along(1, 1, 19, 1300), 2: along(2, 2, 700, 5)}
ROWS = {0: along(0, 4, 33, 5), 1: along(1, 4, 19, 13), 2: along(2, 2, 37, 10)}
POINTS = np.concatenate([[NAN, INF, -INF, 0.0, -0.0, 1e4, -1e4, 88.5, -88.5, 104, -104, 1e-30, -1e-30, 3e-5, 0.5, -0.5, 1.5, -1.5, 3, -3],
                         np.linspace(-12, 12, 180)])
IMAGE = along(2, 6, 35, 1).reshape(1, 6, 5, 7)


def softmax(x, axis):
    e = np.exp(x - np.max(x, axis, keepdims=True))
    return e / np.sum(e, axis, keepdims=True)


def log_softmax(x, axis):
    y = x - np.max(x, axis, keepdims=True)
    return y - np.log(np.sum(np.exp(y), axis, keepdims=True))


def hardmax(x, axis):
    return np.moveaxis(np.eye(x.shape[axis])[np.argmax(x, axis)], -1, axis)


def layer_norm(x, scale, bias, axis=-1):
    axes = tuple(range(axis % x.ndim, x.ndim))
    centred = x - np.mean(x, axes, keepdims=True)
    return centred / np.sqrt(np.mean(centred * centred, axes, keepdims=True) + 1e-5) * scale + bias


def group_norm(x, scale, bias, groups):
    rows = x.reshape(x.shape[0], groups, -1)
    wide = (1, -1) + (1,) * (x.ndim - 2)
    return layer_norm(rows, 1, 0).reshape(x.shape) * scale.reshape(wide) + bias.reshape(wide)


def lp_norm(x, axis, p):
    norm = np.sum(np.abs(x) ** p, axis, keepdims=True) ** (1 / p)
    return x / np.where(norm == 0, 1, norm)


def mean_variance_norm(x, axes):
    centred = x - np.mean(x, axes, keepdims=True)
    return centred / (np.sqrt(np.mean(centred * centred, axes, keepdims=True)) + 1e-9)


def add_split_norm_cases(model):
    """Those that no target has a kernel for, with zeros among their rows."""
    x = ROWS[1].astype("f4").astype("f8")
    x[0, :, 0] = 0
    x[np.isfinite(x) & (np.abs(x) > 1e3)] /= 100
    for dims in (None, ["L", "M", "N"]):
        for p in (1, 2):
            model.case("LpNorm", "LpNormalization", [model.input(x, dims=dims)], lp_norm(x, 1, p), dims=dims, axis=1, p=p)
    x = IMAGE.astype("f4").astype("f8")
    x = np.where(np.isfinite(x), x, 0.25) % 7
    for dims in (None, ["I", 6, "H", "W"]):
        for axes in ((0, 2, 3), (1, 2)):
            model.case("MeanVarianceNorm", "MeanVarianceNormalization", [model.input(x, dims=dims)], mean_variance_norm(x, axes), dims=dims, axes=axes)
    parameters = [random.uniform(0.5, 2, 6).astype("f4").astype("f8") for _ in range(4)]
    scale, bias, mean, variance = (parameter.reshape(6, 1, 1) for parameter in parameters)
    x = IMAGE.astype("f4").astype("f8")
    exact = (x - mean) / np.sqrt(variance + 1e-5) * scale + bias
    # Given as inputs: constants would be folded into a factor and an addend before there is a choice.
    for dims in (None, ["I", 6, "H", "W"]):
        model.case("BatchNorm", "BatchNormalization", [model.input(x, dims=dims), *map(model.input, parameters)], exact, dims=dims)


def conv_transpose(x, w):
    """Stride 2, kernel 2: the blocks do not overlap."""
    n, _, h, width = x.shape
    return np.einsum("nchw,cokl->nohkwl", x, w).reshape(n, w.shape[1], 2 * h, 2 * width)


erf = np.vectorize(lambda v: math.erf(v) if v == v else NAN)
softplus = lambda x: np.maximum(x, 0) + np.log1p(np.exp(-np.abs(x)))
sigmoid = lambda x: 1 / (1 + np.exp(-x))
f32 = lambda value: float(np.float32(value))

# ONNX operator: (attributes, what it computes)
ELEMENTWISE = {
    "LeakyRelu": ({"alpha": 0.25}, lambda x: np.where(x < 0, 0.25 * x, x)),
    "ThresholdedRelu": ({"alpha": 1.5}, lambda x: np.where(x > 1.5, x, 0.0)),
    "Elu": ({"alpha": 0.5}, lambda x: np.where(x < 0, 0.5 * np.expm1(x), x)),
    "Celu": ({"alpha": 2.0}, lambda x: np.maximum(x, 0) + np.minimum(2 * np.expm1(x / 2), 0)),
    "Selu": ({"alpha": 1.5, "gamma": 1.25}, lambda x: 1.25 * np.where(x > 0, x, 1.5 * np.expm1(x))),
    "Softplus": ({}, softplus),
    "Softsign": ({}, lambda x: x / (1 + np.abs(x))),
    "Mish": ({}, lambda x: x * np.tanh(softplus(x))),
    "Swish": ({"alpha": 1.5}, lambda x: x * sigmoid(1.5 * x)),
    "HardSigmoid": ({"alpha": 0.25, "beta": 0.5}, lambda x: np.maximum(0, np.minimum(1, 0.25 * x + 0.5))),
    "HardSwish": ({}, lambda x: x * np.maximum(0, np.minimum(1, x / 6 + 0.5))),
    "Gelu": ({}, lambda x: x * 0.5 * (1 + erf(x * math.sqrt(0.5)))),
    "Gelu tanh": ({"approximate": "tanh"}, lambda x: x * 0.5 * (1 + np.tanh(math.sqrt(2 / math.pi) * (x + 0.044715 * x ** 3)))),
    "Shrink": ({"lambd": 0.75, "bias": 0.5}, lambda x: np.where(x < -0.75, x + 0.5, np.where(x > 0.75, x - 0.5, np.where(x == x, 0, 0.0)))),
}
ROW_WISE = {"Softmax": softmax, "LogSoftmax": log_softmax, "Hardmax": hardmax}


def nll(x, classes, weight, ignored, reduction):
    counts = classes != ignored
    at = np.where(counts, classes, 0)
    weights = (np.ones(19) if weight is None else weight)[at] * counts
    losses = -np.where(counts, np.take_along_axis(x, at[:, None], 1)[:, 0], 0) * weights
    return losses if reduction == "none" else np.asarray(np.sum(losses) / (np.sum(weights) if reduction == "mean" else 1))


def add_row_cases(model, op, formula):
    rounded = {axis: ROWS[axis].astype("f4").astype("f8") for axis in ROWS}
    for axis, array in rounded.items():
        dims = [f"{letter}{axis}" for letter in "ABC"]
        model.case(op, op, [model.input(array)], formula(array, axis), axis=axis)
        model.case(f"{op} dynamic", op, [model.input(array, dims=dims)], formula(array, axis), dims=dims, axis=axis - 3)
    for axis, array in LARGE.items():
        model.case(f"{op} large", op, [model.input(array)], formula(array.astype("f4").astype("f8"), axis), axis=axis)
    one = rounded[0][:1]
    model.case(f"{op} one element", op, [model.input(one[:, :, :1])], formula(one[:, :, :1], 2), axis=-1)
    for shape in ((2, 0, 5), (2, 5, 0), (0, 5, 2)):
        model.case(f"{op} empty", op, [model.input(np.zeros(shape))], np.zeros(shape), axis=shape.index(0))
    for dtype in ("f8", "f2"):
        array = special_rows(21).astype(dtype).astype("f8")
        model.case(f"{op} {dtype}", op, [model.input(array, dtype)], formula(array, 1), dtype, axis=-1)


def add_elementwise_cases(model, op, attributes, formula):
    points = POINTS.astype("f4").astype("f8")
    model.case(op, op.split()[0], [model.input(points)], formula(points), **attributes)
    model.case(f"{op} dynamic", op.split()[0], [model.input(points[:103], dims=["P"])], formula(points[:103]), dims=["P"], **attributes)
    halves = POINTS.astype("f2").astype("f8")
    model.case(f"{op} half", op.split()[0], [model.input(halves, "f2")], formula(halves), "f2", **attributes)


def add_norm_cases(model):
    for axis, shape in ((-1, (37,)), (1, (10, 37))):
        x, scale, bias = ROWS[2].astype("f4").astype("f8"), random.uniform(0.5, 2, shape).astype("f4"), random.standard_normal(shape).astype("f4")
        weights = [model.weight(scale), model.weight(bias)]
        rms = x / np.sqrt(np.mean(x * x, tuple(range(axis % 3, 3)), keepdims=True) + 1e-5) * scale
        for dims in (None, ["R", 10, 37]):
            model.case("LayerNorm", "LayerNormalization", [model.input(x, dims=dims), *weights], layer_norm(x, scale, bias, axis), dims=dims, axis=axis)
            model.case("RMSNorm", "RMSNormalization", [model.input(x, dims=dims), weights[0]], rms, dims=dims, axis=axis)
    # Squares of these rows are larger than any f16.
    x, (scale, bias) = ROWS[2].astype("f2").astype("f8"), (random.uniform(0.5, 2, 37).astype("f2").astype("f8") for _ in range(2))
    inputs = [model.input(x, "f2"), model.weight(scale, "f2"), model.weight(bias, "f2")]
    model.case("LayerNorm half", "LayerNormalization", inputs, layer_norm(x, scale, bias), "f2")
    model.case("RMSNorm half", "RMSNormalization", inputs[:2], x / np.sqrt(np.mean(x * x, 2, keepdims=True) + 1e-5) * scale, "f2")
    single = ROWS[2][:, :, :1].astype("f4").astype("f8")
    one = [model.weight(np.full(1, 2.0)), model.weight(np.full(1, 0.5))]
    model.case("LayerNorm one element", "LayerNormalization", [model.input(single), *one], layer_norm(single, 2.0, 0.5))
    x, scale, bias = IMAGE.astype("f4").astype("f8"), random.uniform(0.5, 2, 6).astype("f4"), random.standard_normal(6).astype("f4")
    weights = [model.weight(scale), model.weight(bias)]
    for dims in (None, ["I", 6, "H", "W"]):
        model.case("GroupNorm", "GroupNormalization", [model.input(x, dims=dims), *weights], group_norm(x, scale, bias, 3), dims=dims, num_groups=3)
        model.case("InstanceNorm", "InstanceNormalization", [model.input(x, dims=dims), *weights], group_norm(x, scale, bias, 6), dims=dims)


def add_attention_cases(model):
    """Queries with special values: each spoils its own row, and no other."""
    query, key, value = (random.standard_normal((2, 3, length, 16)).astype("f4").astype("f8") for length in (10, 19, 19))
    query[0, 1] = special_rows(16)
    for dtype in ("f4", "f2"):
        small = [array.astype(dtype).astype("f8") for array in (query, key, value)]
        exact = softmax(small[0] @ np.swapaxes(small[1], 2, 3) * 0.25, 3) @ small[2]
        for dims in (None, ["Q", 3, 10, 16]) if dtype == "f4" else (None,):
            others = [["Q", 3, 19, 16] if dims else None] * 2
            inputs = [model.input(array, dtype, shape) for array, shape in zip(small, [dims, *others])]
            model.case("Attention", "Attention", inputs, exact, dtype, dims=dims)


def add_loss_cases(model):
    """Places with special values alone, and all of them reduced; classes that are ignored lie outside of the others."""
    for x, where in ((ROWS[1], "special"), (random.standard_normal((4, 19, 13)), "plain")):
        x = x.astype("f4").astype("f8")
        classes = random.integers(0, 19, (4, 13))
        classes[1, 2:7] = -100
        w = random.uniform(0.5, 2, 19).astype("f4").astype("f8")
        for dims in (None, ["L", "M", "N"]):
            for reduction in ("none",) if where == "special" else ("none", "sum", "mean"):
                for given, weight in (([model.weight(w)], w), ([], None)):
                    shape = dims and ([dims[0], dims[2]] if reduction == "none" else [])
                    inputs = [model.input(x, dims=dims), model.input(classes, "i8", dims and [dims[0], dims[2]]), *given]
                    options = {"reduction": reduction, "ignore_index": -100}
                    model.case(f"NLL {where}", "NegativeLogLikelihoodLoss", inputs, nll(x, classes, weight, -100, reduction), dims=shape, **options)
                    logs = log_softmax(x, 1)
                    model.case(f"SCE {where}", "SoftmaxCrossEntropyLoss", inputs, nll(logs, classes, weight, -100, reduction), dims=shape, **options)
            model.case(f"SCE logs {where}", "SoftmaxCrossEntropyLoss", inputs[:2], log_softmax(x, 1), dims=dims, at=1, ignore_index=-100)


def add_quantized_cases(model):
    """Integers, so both forms are exact."""
    x, scale, zero = random.uniform(-40, 40, (3, 21)).astype("f4"), np.float32(0.3), np.array(7)
    parameters = [model.weight(scale), model.weight(zero, "u1")]
    model.case("Quantize", "QuantizeLinear", [model.input(x), *parameters], np.clip(np.rint(x / scale) + zero, 0, 255), "u1")
    q = random.integers(0, 256, (3, 20))
    model.case("Dequantize", "DequantizeLinear", [model.input(q, "u1"), *parameters], (q - zero).astype("f4") * scale)
    for kind, low in (("u1", 0), ("i1", -128)):
        a, w = random.integers(low, low + 256, (3, 20)), random.integers(-128, 128, (20, 7))
        model.case("Integers", "MatMulInteger", [model.input(a, kind), model.weight(w, "i1"), model.weight(zero, kind)], (a - zero) @ w, "i4")
        image, filters = random.integers(low, low + 256, (1, 8, 4, 5)), random.integers(-128, 128, (6, 8, 1, 1))
        exact = np.einsum("nchw,fc->nfhw", image - zero, filters[:, :, 0, 0])
        model.case("Integers conv", "ConvInteger", [model.input(image, kind), model.weight(filters, "i1"), model.weight(zero, kind)], exact, "i4")


OWN = helper.make_function("forms", "Own", ["x", "row"], ["y"], [
    helper.make_node("Constant", [], ["scale"], "scale"), helper.make_node("Mul", ["x", "scale"], ["scaled"], "scaled"),
    helper.make_node("Tanh", ["scaled"], ["bent"], "bent"), helper.make_node("Add", ["bent", "row"], ["y"], "sum")],
    [helper.make_opsetid("", 28)], ["scale"])
OWN.node[0].attribute.append(AttributeProto(name="value_float", type=AttributeProto.FLOAT, ref_attr_name="scale"))


def add_own_cases(model):
    """A function of the model's own, which the target calls in C."""
    x, row = ROWS[2].astype("f4").astype("f8"), random.standard_normal(37).astype("f4").astype("f8")
    for dims in (None, ["R", 10, 37]):
        model.case("Own", "Own", [model.input(x, dims=dims), model.weight(row)], np.tanh(0.5 * x) + row, dims=dims, domain="forms", scale=0.5)


def write_target(folder, base):
    path = folder / f"{base}.target.json"
    own = {"name": "forms.Own", "version": 1, "function": "forms_own", "parameters": ["scale"]}
    path.write_text(json.dumps({"name": f"{base}-forms", "base": base, "composites": [own]}))
    return path


def build():
    model = Model()
    for op, formula in ROW_WISE.items():
        add_row_cases(model, op, formula)
    for op, (attributes, formula) in ELEMENTWISE.items():
        add_elementwise_cases(model, op, attributes, formula)
    add_norm_cases(model)
    gate, up = POINTS.astype("f4").astype("f8"), POINTS[::-1].astype("f4").astype("f8")
    model.case("SwiGLU", "SwiGLU", [model.input(gate), model.input(up)], gate * sigmoid(1.5 * gate) * up, alpha=1.5)
    add_attention_cases(model)
    add_split_norm_cases(model)
    add_own_cases(model)
    add_loss_cases(model)
    add_quantized_cases(model)
    x, w = random.standard_normal((1, 3, 5, 4)).astype("f4"), random.standard_normal((3, 4, 2, 2)).astype("f4")
    model.case("ConvTranspose", "ConvTranspose", [model.input(x), model.weight(w)], conv_transpose(x, w), strides=[2, 2])
    return model


def check_all_are_there(path, target):
    """kiln names what it can split when it is asked for something that it cannot."""
    refused = kiln_calls.call(path, "--decompose=nothing", "--stop-after=target", "-o", "-")
    listed = re.search(r"names among (.*)", refused.stderr)
    registered = set(listed[1].split(", ")) if listed else set()
    present = set(re.findall(r"= nn\.(\w+) ", kiln(path, "--target", target, "--stop-after=graph", "-o", "-")))
    if not registered or registered - present:
        sys.exit(f"composites without a case: {sorted(registered - present)} of {sorted(registered)}")
    return len(registered)


def main():
    folder, targets = pathlib.Path(sys.argv[1]), sys.argv[2:]
    with np.errstate(all="ignore"):
        model = build()
    model.save(folder / "forms.onnx", opset=28, domains=[("forms", 1)], functions=[OWN])
    inputs = model.save_inputs(folder)
    composites, faults = check_all_are_there(folder / "forms.onnx", write_target(folder, targets[0])), []
    for target in targets:
        for form in ("none", "all"):
            kiln("run", folder / "forms.onnx", "--target", write_target(folder, target), f"--decompose={form}", "--load", folder / "libforms.so",
                 "--output-dir", folder / target / form, *inputs)
        for name, (exact, dtype) in model.expected.items():
            whole, parts = (np.load(folder / target / form / f"{name}.npy") for form in ("none", "all"))
            with np.errstate(all="ignore"):
                faults += [f"{target}: {name}: {what}: {text}" for what, text in (
                    ("whole", describe_difference(whole, exact, dtype, BOUNDS)), ("split", describe_difference(parts, exact, dtype, BOUNDS)),
                    ("split against whole", describe_difference(parts, whole, dtype, BOUNDS))) if text]
    print(*faults, sep="\n", end="\n" if faults else "")
    if faults:
        sys.exit(1)
    print(f"{len(model.expected)} cases of {composites} composites right in both forms on {len(targets)} targets")


if __name__ == "__main__":
    main()
