#!/usr/bin/env python3
"""Forms that exporters write and others seldom do, against numpy: exporter_forms.py FOLDER TARGET..."""

import pathlib
import sys

import numpy as np
from onnx import helper

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[3]))
from onnx_cases import Model, run_on_targets

BOUNDS = {"f4": (1e-5, 1e-6)}
RANDOM = np.random.default_rng(3)


def old_opset():
    """Statistics for each element of an image."""
    model = Model()
    x, (scale, bias, mean) = RANDOM.standard_normal((2, 3, 4, 5)), RANDOM.standard_normal((3, 3, 4, 5))
    variance = RANDOM.uniform(0.5, 2, (3, 4, 5))
    parameters = [model.weight(array) for array in (scale, bias, mean, variance)]
    model.case("elements", "BatchNormalization", [model.input(x), *parameters], (x - mean) / np.sqrt(variance + 1e-5) * scale + bias, spatial=0)
    return model, 7, [], []


def softmax(x):
    grown = np.exp(x - x.max(-1, keepdims=True))
    return grown / grown.sum(-1, keepdims=True)


def count_residents(total, capacity, window):
    step = capacity - window + 1
    return total if total <= capacity else total - step * -(-(total - capacity) // step)


def add_window_cache(model, totals, length, capacity, window):
    """GroupQueryAttention with a cache that drops what lies before the window: each entry has `totals` tokens with the `length` new ones."""
    batch, heads, shared, size = len(totals), 4, 2, 8
    tokens = [RANDOM.standard_normal((2, total, shared, size)) for total in totals]
    q = RANDOM.standard_normal((batch, length, heads, size))
    past, present, new = np.full((2, batch, shared, capacity, size), 9.0), [], np.zeros((2, batch, length, shared, size))
    out = np.zeros((batch, length, heads, size))
    for entry, total in enumerate(totals):
        before = total - length
        had = count_residents(before, capacity, window)
        past[:, entry, :, :had] = tokens[entry][:, before - had:before].swapaxes(1, 2)
        new[:, entry] = tokens[entry][:, before:]
        present.append(tokens[entry][:, total - count_residents(total, capacity, window):])
        for row in range(length):
            seen = tokens[entry][:, max(before + row + 1 - window, 0):before + row + 1].repeat(heads // shared, 2)
            weights = softmax(np.einsum("hd,khd->hk", q[entry, row], seen[0]) / np.sqrt(size))
            out[entry, row] = np.einsum("hk,khd->hd", weights, seen[1])
    given = [model.input(q.reshape(batch, length, -1)), *(model.input(part.reshape(batch, length, -1)) for part in new), *map(model.input, past),
             model.input(np.array(totals) - 1, "i4"), model.input(np.array(max(totals)), "i4")]
    how = dict(domain="com.microsoft", num_heads=heads, kv_num_heads=shared, local_window_size=window, sliding_window_cache=1)
    model.case(f"window {totals} {length}", "GroupQueryAttention", given, out.reshape(batch, length, -1), **how)
    model.nodes[-1].output.extend([""] * (3 - len(model.nodes[-1].output)))
    # The rows of the cache that are left unspecified are not compared.
    rows = min(len(part[0]) for part in present)
    model.case(f"cache {totals} {length}", "GroupQueryAttention", given, np.zeros(1), at=1, **how)
    whole = model.nodes[-1].output[1]
    model.nodes[-1].output.append("")
    del model.expected[whole]
    model.outputs.pop()
    model.case(f"rows {totals} {length}", "Slice", [whole, *(model.weight(np.array([number]), "i8") for number in (0, rows, 2))],
               np.stack([part[0, :rows].swapaxes(0, 1) for part in present]))


def add_scores(model):
    """Output 3 of GroupQueryAttention before and after the softmax, with a bound for the scores and with a window."""
    batch, length, before, heads, size = 1, 3, 4, 2, 8
    q, k, v = RANDOM.standard_normal((3, batch, length, heads, size))
    past = RANDOM.standard_normal((2, batch, heads, before, size))
    bias = RANDOM.standard_normal((1, 1, length, before + length))
    raw = np.einsum("bqhd,bhkd->bhqk", q, np.concatenate([past[0], k.swapaxes(1, 2)], 2)) / np.sqrt(size)
    places, columns = np.arange(before, before + length)[:, None], np.arange(before + length)
    given = [model.input(part.reshape(batch, length, -1)) for part in (q, k, v)]
    given += [*map(model.input, past), model.input(np.array([before + length - 1]), "i4"), model.weight(np.array(before + length), "i4"), "", "", "", model.input(bias)]
    for window in (-1, 3):
        isHidden = (columns > places) | ((columns <= places - window) & (window > 0))
        counted = 2 * np.tanh(raw / 2) + bias
        shown, weights = np.where(isHidden, 0, counted), softmax(np.where(isHidden, -np.inf, counted))
        for kind, want in ((1, shown), (2, weights)):
            model.case(f"scores {kind} {window}", "GroupQueryAttention", given, want, at=3, domain="com.microsoft", num_heads=heads, kv_num_heads=heads,
                       local_window_size=window, qk_output=kind, softcap=2.0)
            model.nodes[-1].output[0] = f"unused{len(model.nodes)}"


def add_statistics(model):
    """The mean and the deviation of SkipLayerNormalization."""
    (x, skip), gamma = RANDOM.standard_normal((2, 2, 3, 8)), RANDOM.standard_normal(8)
    total = x + skip
    given = [model.input(x), model.input(skip), model.weight(gamma)]
    for at, want in ((1, total.mean(-1, keepdims=True)), (2, 1 / np.sqrt(total.var(-1, keepdims=True) + 1e-3))):
        model.case(f"statistic {at}", "SkipLayerNormalization", given, want, at=at, domain="com.microsoft", epsilon=1e-3)
        model.nodes[-1].output[0] = f"unused{len(model.nodes)}"


def new_opset():
    model = Model()
    for totals, length, capacity, window in (([3, 2], 1, 6, 4), ([11, 8], 1, 6, 4), ([5], 5, 6, 4), ([13], 5, 4, 4), ([9], 9, 6, 4)):
        add_window_cache(model, totals, length, capacity, window)
    add_scores(model)
    add_statistics(model)
    # A call that leaves out inputs of its function, which hands them on to an operator and to another function.
    x = RANDOM.standard_normal((2, 6))
    low, high = np.array(-0.5), np.array(0.25)
    for label, bounds, want in (("both", (low, high), np.clip(x, low, high)), ("no low", (None, high), np.minimum(x, high)), ("no high", (low,), np.maximum(x, low)),
                                ("none", (), x)):
        given = [model.input(x), *("" if bound is None else model.weight(bound) for bound in bounds)]
        model.case(label, "Bounded", given, want, domain="local")
    opset = [helper.make_opsetid("", 18), helper.make_opsetid("local", 1)]
    inner = helper.make_function("local", "Inner", ["x", "low", "high"], ["y"], [helper.make_node("Clip", ["x", "low", "high"], ["y"])], opset)
    outer = helper.make_function("local", "Bounded", ["x", "low", "high"], ["y"], [helper.make_node("Inner", ["x", "low", "high"], ["y"], domain="local")], opset)
    # Four spatial dimensions.
    small, whole = np.arange(1.0, 17).reshape(1, 1, 2, 2, 2, 2), np.zeros(256)
    places = RANDOM.permutation(256)[:16]
    whole[places] = small.ravel()
    model.case("unpool", "MaxUnpool", [model.input(small), model.weight(places.reshape(small.shape), "i8")], whole.reshape(1, 1, 4, 4, 4, 4),
               kernel_shape=[2] * 4, strides=[2] * 4)
    # A value for what lies outside of the image means nothing where nothing does.
    image = RANDOM.standard_normal((1, 1, 4, 8))
    sizes = model.weight(np.array([1, 1, 2, 4]), "i8")
    weights = np.array([1, 3, 3, 1])
    rows = lambda array: np.stack([(array[..., max(2 * i - 1, 0):2 * i + 3] * part).sum(-1) / part.sum() for i, part in
                                   enumerate([weights[1:], *[weights] * (array.shape[-1] // 2 - 2), weights[:3]])], -1)
    model.case("antialias", "Resize", [model.input(image), "", "", sizes], np.swapaxes(rows(np.swapaxes(rows(image), 2, 3)), 2, 3), antialias=1, exclude_outside=1, mode="linear",
               extrapolation_value=-7.0)
    # Four numbers of two bits in a byte, the first in the lowest bits.
    numbers, scale, zero = RANDOM.integers(0, 4, (5, 64)), RANDOM.uniform(0.5, 1, (5, 4)), RANDOM.integers(0, 4, (5, 4))
    pack = lambda array: (array.reshape(5, -1, 4) << np.array([0, 2, 4, 6])).sum(-1)
    table = ((numbers - zero.repeat(16, 1)) * scale.repeat(16, 1))
    rows_taken = np.array([4, 0, 2])
    model.case("two bits", "GatherBlockQuantized", [model.weight(pack(numbers), "u1"), model.input(rows_taken, "i8"), model.weight(scale), model.weight(pack(zero), "u1")],
               table[rows_taken], domain="com.microsoft", bits=2, block_size=16, gather_axis=0, quantize_axis=1)
    return model, 18, [("local", 1), ("com.microsoft", 1)], [inner, outer]


def main():
    run_on_targets(sys.argv[1], sys.argv[2:], {"old": old_opset(), "new": new_opset()}, BOUNDS)


main()
