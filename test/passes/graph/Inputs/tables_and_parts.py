#!/usr/bin/env python3
"""Tables of bytes and the same chains in parts differ by one step at most, and only where the function is next to a tie: tables_and_parts.py FOLDER"""
import pathlib
import sys

import numpy as np
from onnx import helper

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[3]))
from onnx_cases import Model, kiln

random = np.random.default_rng(41)
FUNCTIONS = {"Sigmoid": (0, 1), "Tanh": (-1, 1), "Erf": (-1, 1), "Softplus": (0, 9), "Exp": (0, 3000), "HardSwish": (-1, 8), "Sqrt": (0, 3), "Gelu": (-1, 8), "Elu": (-1, 8), "Sin": (-1, 1)}


def main():
    folder = pathlib.Path(sys.argv[1])
    model, count = Model(), 0
    x = model.input(np.arange(256), "u1")
    for op, (low, high) in FUNCTIONS.items():
        for _ in range(8):
            scale, zero = np.float32(random.uniform(0.02, 0.06)), 0 if op == "Sqrt" else 128
            step = np.float32((high - low) / 255 * random.uniform(0.7, 1.2))
            offset = int(np.clip(np.rint(-low / step), 0, 255))
            names = [f"n{count}d", f"n{count}f"]
            model.nodes.append(helper.make_node("DequantizeLinear", [x, model.weight(scale), model.weight(np.array(zero), "u1")], names[:1]))
            model.nodes.append(helper.make_node(op, names[:1], names[1:]))
            model.case(f"{op} {count}", "QuantizeLinear", [names[1], model.weight(step), model.weight(np.array(offset), "u1")], np.zeros(256), "u1")
            count += 1
    model.save(folder / "tables.onnx", 20)
    inputs = model.save_inputs(folder)
    text = kiln(folder / "tables.onnx", "--stop-after=graph", "-o", "-")
    if (tables := text.count("= nn.lookup ")) != count:
        sys.exit(f"{tables} of {count} tables")
    for way, options in (("tables", []), ("parts", ["--decompose=all"])):
        kiln("run", folder / "tables.onnx", "--output-dir", folder / way, *inputs, *options)
    differ = 0
    for name in model.expected:
        apart = abs(np.load(folder / "tables" / f"{name}.npy").astype("i4") - np.load(folder / "parts" / f"{name}.npy").astype("i4"))
        if apart.max() > 1:
            sys.exit(f"{name}: {apart.max()} steps at {apart.argmax()}")
        differ += int(apart.sum())
    if differ > count * 256 // 1000:
        sys.exit(f"{differ} of {count * 256} differ")
    print(f"{count} tables within a step")


if __name__ == "__main__":
    main()
