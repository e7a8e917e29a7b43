#!/usr/bin/env python3
"""Runs products and convolutions of bf16 on targets with and without a step for them, and compares with numpy: steps_of_bf16.py FOLDER

Elements are whole numbers up to 8, so that sums are exact in f32 in any order. Writes NAME.why, the reasons of each target's kernels.
"""
import json
import pathlib
import sys

import numpy as np
from widths import Module, convolve, run, store, tensor

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[3]))
import kiln_calls  # noqa: E402


def add_product(module, rows, depth, columns, batch=(), is_constant=True):
    x = module.random.integers(-8, 8, (*batch, rows, depth)).astype("f4")
    weight = module.random.integers(-8, 8, (depth, columns)).astype("f4")
    words = store(weight, "bf16")
    right = module.constant(words, "bf16") if is_constant else module.input(words, "bf16")
    exact = x @ weight
    text = f"nn.matmul {module.input(store(x, 'bf16'), 'bf16')}, {right} : {tensor(x.shape, 'bf16')}, {tensor(weight.shape, 'bf16')} -> {tensor(exact.shape, 'bf16')}"
    result = module.op(text)
    # A bias, and a value of another width behind it.
    bias = module.random.integers(-8, 8, exact.shape).astype("f4")
    total = module.op(f"nn.add {result}, {module.constant(store(bias, 'bf16'), 'bf16')} : {tensor(exact.shape, 'bf16')}")
    rounded = (store(exact, "bf16").astype("u4") << 16).view("f4") + bias
    module.expect(total, exact.shape, "bf16", f"product of {exact.shape} and depth {depth}",
                  lambda got: np.array_equal(got, store(rounded, "bf16")) or np.array_equal(got, store(exact + bias, "bf16")))


def add_convolution(module, channels, size, filters, kernel, stride, pad):
    x = module.random.integers(-8, 8, (1, channels, size, size)).astype("f4")
    weight = module.random.integers(-8, 8, (filters, channels, kernel, kernel)).astype("f4")
    exact = convolve(x, weight, stride, pad, 1)
    result = module.op(f"nn.conv {module.input(store(x, 'bf16'), 'bf16')}, {module.constant(store(weight, 'bf16'), 'bf16')} strides [{stride}, {stride}] dilations [1, 1] "
                       f"pads [{pad}, {pad}, {pad}, {pad}] groups 1 layout channels_first : "
                       f"{tensor(x.shape, 'bf16')}, {tensor(weight.shape, 'bf16')} -> {tensor(exact.shape, 'bf16')}")
    module.exactly(result, store(exact, "bf16"), "bf16", f"convolution {channels, size, filters, kernel, stride, pad}")


def main():
    folder = pathlib.Path(sys.argv[1])
    module = Module()
    for rows, depth, columns in ((1, 64, 48), (5, 2, 3), (13, 130, 33), (40, 768, 70)):
        add_product(module, rows, depth, columns)
    add_product(module, 7, 34, 20, batch=(3,))
    add_product(module, 9, 15, 40)
    add_product(module, 33, 40, 40, is_constant=False)
    for shape in ((16, 9, 24, 1, 1, 0), (6, 11, 20, 3, 2, 1), (4, 8, 17, 5, 1, 2), (3, 12, 18, 3, 2, 1)):
        add_convolution(module, *shape)
    source = folder / "steps.mlir"
    source.write_text(module.text())
    step = {"lhs": "bf16", "rhs": "bf16", "sum": "f32", "shape": [1, 8, 2], "function": "dot_bf16"}
    (folder / "pairs.json").write_text(json.dumps({"name": "pairs", "base": "x86-64-v3", "steps": [step]}))
    for name, target in (("pairs", folder / "pairs.json"), ("x86-64-v3", "x86-64-v3"), ("native", "native")):
        if wrong := run(module, source, target, folder):
            sys.exit(f"on {name} {len(wrong)} of {len(module.outputs)} differ: {', '.join(wrong)}")
        why = kiln_calls.run(source, "--target", target, "--why", "--emit=cpp", "-o", folder / name)
        (folder / f"{name}.why").write_text(why.stdout + why.stderr)
    print(f"{len(module.outputs)} cases right on 3 targets")


if __name__ == "__main__":
    main()
