#!/usr/bin/env python3
"""Numbers at the ends of their types and functions where their digits are easily lost: number_corners.py FOLDER TARGET...

Every case is there twice: computed by a kernel, and of constants while the model is compiled.
"""

import math
import pathlib
import sys

import numpy as np

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[3]))
from onnx_cases import DTYPES, Model, run_on_targets

# Tails are judged by their digits alone, down to where numbers are subnormal.
BOUNDS = {"f4": (3e-5, 1e-37), "f8": (1e-12, 1e-300), "f2": (2e-3, 6e-8)}
INTEGERS = ["i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8"]
# One step in the other direction keeps digits that a step of 1 loses; ordinary numbers are there, too.
TAIL = np.array([-0.001, -1e-6, -0.3, -1, -3, -5, -7, -9, -11, -15, -20, -40, -80, 1e-6, 0.3, 2, 9, 30, 0, -0.7, -2, -4, -6, -8, -10, -12, 0.5])


def softplus(x):
    return np.maximum(x, 0) + np.log1p(np.exp(-abs(x)))


def add_tails(model, give):
    """1 is not added to what is small beside it, nor 1 subtracted from what is close to it."""
    for dtype in "f4", "f8", "f2":
        x = TAIL.astype(dtype).astype("f8")
        given = give(x, dtype)
        below = np.array([math.erfc(-v / 2**0.5) / 2 for v in x])
        exact = {"Mish": (x * np.tanh(softplus(x)), {}), "Softplus": (softplus(x), {}), "Elu": (np.where(x < 0, np.expm1(x), x), {}),
                 "Selu": (1.05070102214813232421875 * np.where(x > 0, x, 1.67326319217681884765625 * np.expm1(x)), {}), "Gelu": (x * below, {}),
                 "Gelu_tanh": (x / (1 + np.exp(np.minimum(-2 * 0.7978845608028654 * (x + 0.044715 * x**3), 700))), {"approximate": "tanh"}),
                 "Celu": (np.maximum(x, 0) + np.minimum(0, 0.5 * np.expm1(x / 0.5)), {"alpha": 0.5})}
        for name, (want, attributes) in exact.items():
            if name != "Celu" or dtype == "f4":
                model.case(f"{name} {dtype}", name.split("_")[0], [given], want, dtype, **attributes)


def add_unsigned(model, give):
    """The largest of unsigned numbers is not the largest of signed ones with their bits."""
    for dtype in "u4", "u8", "u1":
        half = np.iinfo(dtype).max // 2
        # Whatever the vectors, some lanes have nothing but small numbers, and some large ones alone.
        x = np.array([half + 5 + i % 64 if i % 4 == 1 else 1 + i % 64 for i in range(128)], dtype).reshape(2, 64)
        for op in "ReduceMax", "ReduceMin":
            for axis in 0, 1:
                want = (np.max if op == "ReduceMax" else np.min)(x, axis=axis, keepdims=True)
                model.case(f"{op} {dtype} {axis}", op, [give(x, dtype), model.weight(np.array([axis]), "i8")], want, dtype)


def add_integers(model, give):
    """By zero, by -1, shifts by the width, what wraps around."""
    for dtype in INTEGERS:
        low, high = np.iinfo(dtype).min, np.iinfo(dtype).max
        x, y = np.array([low, high, 7, low, 0, 5], dtype), np.array([0, 0, 2, -1 if low else 1, 0, 3], dtype)
        quotient = [0, 0, 3, low, 0, 1]
        model.case(f"div {dtype}", "Div", [give(x, dtype), give(y, dtype)], np.array(quotient, dtype), dtype)
        for fmod in 0, 1:
            model.case(f"mod {dtype} {fmod}", "Mod", [give(x, dtype), give(y, dtype)], np.array([0, 0, 1, 0, 0, 2], dtype), dtype, fmod=fmod)
        model.case(f"abs {dtype}", "Abs", [give(x, dtype)], np.array([low, high, 7, low, 0, 5], dtype), dtype)
        model.case(f"erf {dtype}", "Erf", [give(x, dtype)], np.array([-1 if low else 0, 1, 1, -1 if low else 0, 0, 0], dtype), dtype)
        if low:
            model.case(f"neg {dtype}", "Neg", [give(x, dtype)], np.array([low, -high, -7, low, 0, -5], dtype), dtype)
        else:
            width = np.iinfo(dtype).bits
            by = give(np.array([0, 1, width - 1, width, width + 1, high], dtype), dtype)
            ones = give(np.full(6, high, dtype), dtype)
            model.case(f"left {dtype}", "BitShift", [ones, by], np.array([high, high - 1, high // 2 + 1, 0, 0, 0], dtype), dtype, direction="LEFT")
            model.case(f"right {dtype}", "BitShift", [ones, by], np.array([high, high // 2, 1, 0, 0, 0], dtype), dtype, direction="RIGHT")
    powers = give(np.array([2, 2, -1, -1, 1, 0, 3]), "i4"), give(np.array([-1, 33, -3, -2, -5, -1, 2]), "i4")
    model.case("pow", "Pow", powers, np.array([0, 0, -1, 1, 1, 0, 9]), "i4")


def add_conversions(model, give):
    """What does not fit becomes the nearest end of the type."""
    x = np.array([np.nan, np.inf, -np.inf, 1e30, -1e30, 300.7, -300.7, 40000.5, -0.9, 2.0**31, 2.0**32, 2.0**63, 2.0**64])
    for source in "f4", "f8":
        for dtype in INTEGERS:
            low, high = int(np.iinfo(dtype).min), int(np.iinfo(dtype).max)
            want = [0 if np.isnan(v) else high if v == np.inf else low if v == -np.inf else min(max(int(v), low), high) for v in x.astype(source)]
            model.case(f"cast {source} {dtype}", "Cast", [give(x, source)], np.array(want, object).astype(dtype), dtype, to=DTYPES[dtype])


def add_bounds(model, give):
    """A bound that is not given is the end of the type."""
    for dtype in "f4", "f8", "f2":
        x, most = np.array([-np.inf, np.inf, np.nan, 1, -1]), float(np.finfo(dtype).max)
        model.case(f"clip {dtype}", "Clip", [give(x, dtype)], np.array([-most, most, np.nan, 1, -1]), dtype)
        model.case(f"clip below {dtype}", "Clip", [give(x, dtype), model.weight(np.array(0.5), dtype)], np.array([0.5, most, np.nan, 1, 0.5]), dtype)
        model.case(f"clip above {dtype}", "Clip", [give(x, dtype), "", give(np.array(0.5), dtype)], np.array([-most, 0.5, np.nan, 0.5, -1]), dtype)


def add_halves(model, give):
    """Squares, powers and sums that f16 does not hold."""
    x = np.array([[300, -400, 250, 600] * 10, [1, 2, -2, 4] * 10], "f2").astype("f8")
    axes = model.weight(np.array([1]), "i8")
    exact = {"ReduceL2": np.sqrt((x * x).sum(1)), "ReduceLogSumExp": 600 + np.log(10 * np.exp(x[:1] - 600).sum(1) / 10), "ReduceLogSum": np.log(abs(x).sum(1) * 10)}
    model.case("l2", "ReduceL2", [give(x, "f2"), axes], exact["ReduceL2"], "f2", keepdims=0)
    model.case("log sum exp", "ReduceLogSumExp", [give(x[:1], "f2"), axes], exact["ReduceLogSumExp"], "f2", keepdims=0)
    model.case("log sum", "ReduceLogSum", [give(np.tile(abs(x), 10), "f2"), axes], exact["ReduceLogSum"], "f2", keepdims=0)
    # Rounded to f16 behind the root alone: the sum of squares would be infinite.
    squared = model.input(x, "f2")
    model.case("square", "ReduceSumSquare", [squared, axes], np.array([np.inf, (x[1] ** 2).sum()]), "f2", keepdims=0)


def main():
    models = {}
    for kind in "input", "constant":
        model = Model()
        give = model.input if kind == "input" else model.weight
        for add in add_tails, add_unsigned, add_integers, add_conversions, add_bounds, add_halves:
            add(model, give)
        models[kind] = model, 20
    run_on_targets(sys.argv[1], sys.argv[2:], models, BOUNDS)


main()
