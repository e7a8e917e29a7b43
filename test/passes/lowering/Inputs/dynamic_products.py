#!/usr/bin/env python3
"""Chains of DynamicQuantizeLinear, MatMulInteger, Cast, Mul, bias, residual and activation against numpy: dynamic_products.py FOLDER TARGET..."""
import pathlib
import sys

import numpy as np
from onnx import TensorProto, helper

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[3]))
from onnx_cases import Model, finish, kiln

random = np.random.default_rng(3)


def quantize(x):
    """ONNX's text, in f32."""
    least, most = np.minimum(x.min(), np.float32(0)), np.maximum(x.max(), np.float32(0))
    scale = (most - least) / np.float32(255)
    zero = np.clip(np.rint(-least / scale), 0, 255)
    return np.clip(np.rint(x / scale) + zero, 0, 255), scale, zero


def add_chain(model, rows, depth, columns, is_unsigned, is_offset, dims=None):
    """Several products of the same rounded numbers, as query, key and value have; the last one goes on."""
    x = (random.standard_normal((rows, depth)) * random.choice([0.01, 1, 50]) + random.choice([0, 3])).astype("f4")
    q, scale, zero = quantize(x)
    name = f"n{len(model.nodes)}"
    source = model.input(x, dims=dims)
    model.nodes.append(helper.make_node("DynamicQuantizeLinear", [source], [name + "q", name + "s", name + "z"]))
    kind = "u1" if is_unsigned else "i1"
    for part in range(2):
        w = random.integers(0, 256, (depth, columns)) if is_unsigned else random.integers(-128, 128, (depth, columns))
        w_zero = random.integers(100, 156, columns) - (0 if is_unsigned else 128) if is_offset else np.full(columns, 128 if is_unsigned else 0)
        w = np.clip(w, w_zero - 128, w_zero + 127)
        w_scale, bias = random.uniform(0.001, 0.02, columns).astype("f4"), random.standard_normal(columns).astype("f4")
        total = (q - zero).astype("i8") @ (w - w_zero)
        exact = total * (scale.astype("f8") * w_scale) + bias
        here = f"{name}p{part}"
        model.nodes += [
            helper.make_node("MatMulInteger", [name + "q", model.weight(w, kind), name + "z", model.weight(w_zero, kind)], [here + "i"]),
            helper.make_node("Cast", [here + "i"], [here + "f"], to=TensorProto.FLOAT),
            helper.make_node("Mul", [name + "s", model.weight(w_scale)], [here + "w"]),
            helper.make_node("Mul", [here + "f", here + "w"], [here + "m"])]
        shape = dims and [dims[0], columns]
        if part == 0:
            model.case(f"bias {rows} {depth}", "Add", [here + "m", model.weight(bias)], exact, dims=shape)
        else:
            model.nodes.append(helper.make_node("Add", [here + "m", model.weight(bias)], [here + "b"]))
            model.case(f"relu {rows} {depth}", "Relu", [here + "b"], np.maximum(exact, 0), dims=shape)


def main():
    folder, faults = pathlib.Path(sys.argv[1]), []
    model = Model()
    for rows in (1, 3, 14, 29):
        for depth, columns in ((64, 96), (50, 33), (7, 5)):
            for is_unsigned, is_offset in ((False, False), (False, True), (True, False), (True, True)):
                add_chain(model, rows, depth, columns, is_unsigned, is_offset)
    for rows in (1, 15, 40):
        add_chain(model, rows, 64, 70, False, True, [f"rows{rows}", 64])
    add_chain(model, 37, 576, 130, False, True, ["rows", 576])
    model.save(folder / "chains.onnx", 17)
    for target in sys.argv[2:]:
        kiln("run", folder / "chains.onnx", "--target", target, "--output-dir", folder / target, *model.save_inputs(folder))
        faults += model.compare(folder / target, {"f4": (2e-6, 2e-5)}, f", {target}")
    finish(faults, len(model.expected) * len(sys.argv[2:]))


if __name__ == "__main__":
    main()
