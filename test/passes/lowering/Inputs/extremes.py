#!/usr/bin/env python3
"""Maxima and minima of one tensor, and what is computed from both, against numpy: extremes.py FOLDER TARGET..."""
import pathlib
import sys

import numpy as np
from onnx import helper

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[3]))
from onnx_cases import Model, finish, kiln

random = np.random.default_rng(8)


def add_pair(model, shape, axes, kind, special=None, dims=None):
    """Both, their difference and their sum; the difference is a result, too."""
    x = random.standard_normal(shape).astype(kind)
    if special is not None:
        x.reshape(-1)[random.integers(x.size)] = special
    name, given, over = f"n{len(model.nodes)}", model.input(x, kind, dims), model.weight(np.array(axes), "i8")
    least, most = x.min(axes, keepdims=True), x.max(axes, keepdims=True)
    what, out = f"{kind} {shape} {axes} {special}", dims and [dims[0], *most.shape[1:]]
    model.case("max " + what, "ReduceMax", [given, over], most, kind, out)
    first = model.nodes[-1].output[0]
    model.nodes.append(helper.make_node("ReduceMin", [given, over], [name + "least"]))
    with np.errstate(invalid="ignore"):
        model.case("range " + what, "Sub", [first, name + "least"], most - least, kind, out)
        model.case("double " + what, "Add", [model.nodes[-1].output[0], model.nodes[-1].output[0]], (most - least) * 2, kind, out)


def main():
    folder, faults = pathlib.Path(sys.argv[1]), []
    model = Model()
    for kind in ("f4", "f2"):
        for shape, axes in (((3, 5, 70), (0, 1, 2)), ((3, 5, 70), (2,)), ((3, 5, 70), (1,)), ((2, 300), (0,)), ((1, 1), (1,)), ((2, 3, 9), (0, 2))):
            add_pair(model, shape, axes, kind)
        for special in (np.nan, np.inf, -np.inf):
            add_pair(model, (2, 130), (0, 1), kind, special)
        add_pair(model, (4, 40), (1,), kind, dims=[f"rows{kind}", 40])
    model.save(folder / "extremes.onnx", 18)
    for target in sys.argv[2:]:
        kiln("run", folder / "extremes.onnx", "--target", target, "--output-dir", folder / target, *model.save_inputs(folder))
        for name, (exact, _) in model.expected.items():
            got = np.load(folder / target / f"{name}.npy")
            if got.dtype != exact.dtype or not np.array_equal(got, exact, equal_nan=True):
                faults.append(f"{name}, {target}: {got}, expected {exact}")
    finish(faults, len(model.expected) * len(sys.argv[2:]))


if __name__ == "__main__":
    main()
