#!/usr/bin/env python3
"""Runs softmaxes that need no maximum and ones that do, against numpy in double precision: softmax_shortcuts.py FOLDER TARGET...

Clipped inputs are drawn at the proven bounds: all at one end, all at the other, one among the others, at random, NaN, infinities (which a clip
makes finite). --why must give the proof for the first kind, and none for the second.
"""
import json
import math
import pathlib
import sys

import numpy as np
from onnx import helper

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[3]))
from onnx_cases import Model, describe_difference, kiln

INF, NAN = np.inf, np.nan
# What a few roundings cost, and a hundredfold exponent that is rounded when the maximum is subtracted from far away.
PROVEN = {"f4": (1e-6, 1e-37), "f8": (2e-15, 1e-300), "f2": (2e-3, 6e-8)}
REFUSED = {"f4": (1e-5, 1e-37), "f8": (1e-13, 1e-300), "f2": (4e-3, 6e-8)}
# Each addition of a sum of equal numbers may round the same way.
ROUNDING = {"f4": 2.0 ** -24, "f8": 2.0 ** -53, "f2": 2.0 ** -24}
LIMITS = {"f4": 126 * math.log(2) - 2 ** -6, "f8": 1022 * math.log(2) - 2 ** -6, "f2": 14 * math.log(2) - 2 ** -6}
random = np.random.default_rng(11)


def node(model, op, inputs):
    """A node whose value is no output."""
    name = f"v{len(model.nodes)}"
    model.nodes.append(helper.make_node(op, inputs, [name]))
    return name


def softmax(x, axis):
    e = np.exp(x - np.max(x, axis, keepdims=True))
    return e / np.sum(e, axis, keepdims=True)


def extreme_rows(low, high, length):
    """Rows whose elements lie at the ends of [low, high], inside, or beyond, where a clip must bring them back."""
    rows = random.uniform(low, high, (12, length))
    rows[0], rows[1], rows[2], rows[3] = low, high, low, high
    rows[2, length // 2], rows[3, length // 2] = high, low
    rows[4] = random.choice([low, high], length)
    rows[5, length // 3] = NAN
    rows[6, length // 3], rows[7, length // 3] = INF, -INF
    rows[8], rows[9] = INF, -INF
    rows[10] *= 1e3
    return rows


def representable(number, dtype, up):
    """The number of the type next to `number`, not below (above) it."""
    value = np.dtype(dtype).type(number)
    toward = np.dtype(dtype).type(INF if up else -INF)
    return float(np.nextafter(value, toward) if (value < number if up else value > number) else value)


def add_clipped(model, dtype, shape, axis, low=None, high=None):
    """A clip to [low, high], by default the widest interval that is proven, before a softmax."""
    length = shape[axis]
    low = representable(-LIMITS[dtype], dtype, up=True) if low is None else low
    high = representable(LIMITS[dtype] - math.log(length) - length * 2.0 ** (-53 if dtype == "f8" else -24), dtype, up=False) if high is None else high
    rows = extreme_rows(low, high, length)[np.arange(np.prod(shape) // length) % 12]
    moved = [extent for i, extent in enumerate(shape) if i != axis] + [length]
    x = np.ascontiguousarray(np.moveaxis(rows.reshape(moved), -1, axis)).astype(dtype).astype("f8")
    clipped = node(model, "Clip", [model.input(x, dtype), model.weight(np.array(low), dtype), model.weight(np.array(high), dtype)])
    model.case(f"{dtype} {length} axis {axis}", "Softmax", [clipped], softmax(np.clip(x, low, high), axis), dtype, axis=axis)


def build_proven():
    model = Model()
    for dtype in LIMITS:
        for length in (1, 7, 33, 1000):
            add_clipped(model, dtype, (24, length), 1)
        add_clipped(model, dtype, (1, 19, 48), 1)
    add_clipped(model, "f4", (2, 3000, 12), 1)
    # All differences from 100 are exact.
    add_clipped(model, "f4", (24, 500), 1, 90.0, 110.0)
    add_clipped(model, "f4", (24, 500), 1, -110.0, -90.0)
    tanh = extreme_rows(-20, 20, 77).astype("f4").astype("f8")
    model.case("tanh", "Softmax", [node(model, "Tanh", [model.input(tanh)])], softmax(np.tanh(tanh), 1), axis=1)
    return model


def build_refused():
    """What has no bound, or none that is close enough; each must give what the standard says, NaN where it says so and nowhere else."""
    model = Model()
    plain = extreme_rows(-1e4, 1e4, 70).astype("f4").astype("f8")
    model.case("unbounded", "Softmax", [model.input(plain)], softmax(plain, 1), axis=1)
    large = np.array([[0, 1, 2, 3], [10000, 10001, 10002, 10003]], "f8")
    model.case("large", "Softmax", [model.input(large)], softmax(large, 1), axis=1)
    add_clipped(model, "f4", (24, 70), 1, 0.0, 100.0)
    add_clipped(model, "f4", (24, 70), 1, -88.0, 0.0)
    add_clipped(model, "f4", (24, 70), 1, -80.0, 84.0)
    add_clipped(model, "f2", (24, 70), 1, -9.0, 7.0)
    small = random.uniform(-1, 1, (12, 70))
    mask = np.where(random.random((12, 70)) < 0.5, -INF, 0.0)
    mask[3] = -INF
    total = node(model, "Add", [node(model, "Tanh", [model.input(small)]), model.weight(mask)])
    model.case("masked", "Softmax", [total], softmax(np.tanh(small.astype("f4").astype("f8")) + mask, 1), axis=1)
    return model


def check(model, name, folder, targets, proven):
    path = folder / f"{name}.onnx"
    model.save(path, opset=18)
    folder = folder / name
    folder.mkdir(exist_ok=True)
    inputs, faults = model.save_inputs(folder), []
    for target in targets:
        for form in ("auto", "all"):
            out = folder / f"{target}-{form}"
            kiln("run", path, "--target", target, f"--decompose={form}", "--output-dir", out, *inputs)
            for case, (exact, dtype) in model.expected.items():
                relative, absolute = (PROVEN if proven else REFUSED)[dtype]
                bounds = {dtype: (relative + max(exact.shape) * ROUNDING[dtype], absolute)}
                fault = describe_difference(np.load(out / f"{case}.npy"), exact, dtype, bounds)
                if fault:
                    faults.append(f"{case}, {target}, --decompose={form}: {fault}")
    kernels = json.loads(kiln("compile", path, "--target", targets[0], "--json", "--emit=cpp", "-o", folder / "cpp"))["kernels"]
    reasons = [entry["reason"] for entry in kernels if entry["algorithm"] == "softmax_rows"]
    if not reasons or not all(("no maximum: x in [" in reason) == proven for reason in reasons):
        faults.append(f"{name}: {json.dumps(reasons, indent=1)}")
    return faults


def main():
    folder, targets = pathlib.Path(sys.argv[1]), sys.argv[2:]
    with np.errstate(all="ignore"):
        models = {"proven": build_proven(), "refused": build_refused()}
    faults = [fault for name, model in models.items() for fault in check(model, name, folder, targets, name == "proven")]
    if faults:
        sys.exit("\n".join(faults))
    print(f"{len(models['proven'].expected)} softmaxes without a maximum and {len(models['refused'].expected)} with one right on {len(targets)} targets")


if __name__ == "__main__":
    main()
