#!/usr/bin/env python3
"""Runs TopK and compares with numpy: top_k.py FOLDER TARGET..."""
import pathlib
import sys

import numpy as np
from onnx import helper

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[3]))
from onnx_cases import DTYPES, Model, run_on_targets  # noqa: E402

random = np.random.default_rng(5)
TYPES = ["f2", "f4", "f8", "i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8"]


def make(kind, dtype, shape):
    """Numbers in random order, with many ties, that go up, that go down, or that are special."""
    size = int(np.prod(shape))
    if kind == "up" or kind == "down":
        flat = np.arange(size)[:: 1 if kind == "up" else -1] % 30000
    elif kind == "special" and dtype.startswith("f"):
        flat = random.choice([0.0, -0.0, 1, -1, np.nan, np.inf, -np.inf, 1e-7], size)
    elif kind == "special":
        limits = np.iinfo(dtype)
        flat = random.choice(np.array([limits.min, limits.max, limits.max - 1, 1, 0], dtype), size)
    else:
        flat = random.integers(0, 5 if kind == "ties" else 30000, size)
        flat = flat - (2 if kind == "ties" else 15000) if not dtype.startswith("u") else flat
        flat = flat / 64 if dtype.startswith("f") else flat
    with np.errstate(invalid="ignore"):
        return np.asarray(flat).astype(dtype).reshape(shape)


def places_of(x, axis, largest):
    """The places of all numbers of each line, best first: by what numbers are worth, then by place."""
    worth = np.where(np.isnan(x), -1, np.unique(np.where(np.isnan(x), 0, x), return_inverse=True)[1].reshape(x.shape) * (-1 if largest else 1) + 10**6)
    return np.argsort(worth, axis=axis, kind="stable")


def add(model, x, dtype, k, axis, largest, is_sorted=1):
    places = np.take(places_of(x, axis, largest), range(k), axis)
    names = [f"{part}{len(model.nodes)}" for part in ("values", "indices")]
    model.nodes.append(helper.make_node("TopK", [model.input(x, dtype), model.weight(np.array([k]), "i8")], names, axis=axis, largest=largest, sorted=is_sorted))
    for name, exact, kind in zip(names, (np.take_along_axis(x, places, axis), places), (dtype, "i8")):
        model.outputs.append(helper.make_tensor_value_info(name, DTYPES[kind], exact.shape))
        model.expected[name] = exact, kind


def build():
    model = Model()
    for at, dtype in enumerate(TYPES):
        for i, kind in enumerate(["random", "ties", "up", "down", "special"]):
            largest = (at + i) % 2
            add(model, make(kind, dtype, (3, 700)), dtype, [1, 8, 9, 100, 700][(at + i) % 5], 1, largest)
            add(model, make(kind, dtype, (2, 150, 3)), dtype, [70, 150, 2, 30, 0][(at + i) % 5], 1, 1 - largest)
    # Longer than what is cut when the room for the best is full, for few, some and most of them.
    line = make("up", "f4", (5000,)) + 0.0
    for k in (3, 40, 1000):
        add(model, line, "f4", k, 0, 1)
    return model


def main():
    softmax = Model()
    x = random.standard_normal((6, 90)).astype("f4") * 3
    exact = np.exp(x - x.max(-1, keepdims=True))
    exact /= exact.sum(-1, keepdims=True)
    softmax.nodes.append(helper.make_node("Softmax", [softmax.input(x)], ["s"], axis=-1))
    for k in (4, 30):
        softmax.case(f"best {k}", "TopK", ["s", softmax.weight(np.array([k]), "i8")], -np.sort(-exact, -1)[:, :k])
    run_on_targets(sys.argv[1], sys.argv[2:], {"lines": (build(), 17), "softmax": (softmax, 17)}, {"f4": (1e-6, 0)})


if __name__ == "__main__":
    main()
