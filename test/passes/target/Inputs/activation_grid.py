#!/usr/bin/env python3
"""A convolution before every activation, on a target that holds composites whole and on one without any: activation_grid.py FOLDER

Neither compile may fail; each must say what became of every composite; both must compute what numpy does.
"""
import json
import pathlib
import re
import sys

import numpy as np

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
from composite_forms import BOUNDS, ELEMENTWISE, ROW_WISE, sigmoid
from onnx_cases import Model, describe_difference, kiln
from onnx import helper

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[3]))
import kiln_calls  # noqa: E402

SIMPLE = {
    "Relu": ({}, lambda x: np.maximum(x, 0)),
    "Sigmoid": ({}, sigmoid),
    "Tanh": ({}, np.tanh),
}
LEVELS = ("fused", "split")


def convolve(image, weight):
    windows = np.lib.stride_tricks.sliding_window_view(image, weight.shape[2:], axis=(2, 3))
    return np.einsum("nchwkl,ockl->nohw", windows, weight)


def build():
    random, model = np.random.default_rng(11), Model()
    image, weight = random.standard_normal((1, 3, 6, 7)).astype("f4"), random.standard_normal((5, 3, 3, 3)).astype("f4")
    convolved = convolve(image.astype("f8"), weight.astype("f8"))
    columns = {op: ({"axis": 1}, lambda x, row_wise=row_wise: row_wise(x, 1)) for op, row_wise in ROW_WISE.items()}
    for name, (attributes, formula) in {**SIMPLE, **ELEMENTWISE, **columns}.items():
        middle = f"convolved_{len(model.nodes)}"
        model.nodes.append(helper.make_node("Conv", [model.input(image), model.weight(weight)], [middle], middle))
        model.case(name, name.split()[0], [middle], formula(convolved), **attributes)
    return model


def list_composites(path):
    refused = kiln_calls.call(path, "--decompose=nothing", "--stop-after=target")
    return [f"nn.{name}" for name in re.search(r"names among (.*)", refused.stderr)[1].split(", ")]


def check_level(folder, level, model, inputs):
    target, faults = folder / f"{level}.target.json", []
    without = list_composites(folder / "grid.onnx") if level == "split" else []
    target.write_text(json.dumps({"name": level, "base": "x86-64-v3", "without": without}))
    told = json.loads(kiln(folder / "grid.onnx", "--target", target, "--emit=cpp", "-o", folder / f"{level}-text", "--json"))["composites"]
    for composite in told:
        whole = composite["form"] == "fused"
        # A hardmax has no kernel of its own on any target.
        if whole != (level == "fused" and composite["composite"] != "nn.hardmax") or not composite["reason"] or composite["fused_bytes"] <= 0:
            faults.append(f"{level}: {composite}")
    kiln("run", folder / "grid.onnx", "--target", target, "--output-dir", folder / level, *inputs)
    for name, (exact, dtype) in model.expected.items():
        if text := describe_difference(np.load(folder / level / f"{name}.npy"), exact, dtype, BOUNDS):
            faults.append(f"{level}: {name}: {text}")
    return len(told), faults


def main():
    folder = pathlib.Path(sys.argv[1])
    model = build()
    model.save(folder / "grid.onnx", opset=28)
    inputs = model.save_inputs(folder)
    told, faults = zip(*(check_level(folder, level, model, inputs) for level in LEVELS))
    faults = sum(faults, [])
    # A composite whose parts are composites says so for each; no activation may be missing.
    if faults or min(told) < len(ELEMENTWISE) + len(ROW_WISE):
        sys.exit("\n".join([*faults, f"composites told of: {told}"]))
    print(f"{len(model.expected)} activations behind a convolution right on {len(LEVELS)} levels")


if __name__ == "__main__":
    main()
