#!/usr/bin/env python3
"""Runs products of computed operands with `kiln run` and compares with numpy: products.py FOLDER TARGET..."""
import pathlib
import sys

import numpy as np
from contractions import Module, tensor

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[3]))
import kiln_calls  # noqa: E402

# Orders of the operands' last two dimensions, and the dimensions of the right side that are broadcast.
ORDERS = [(left, right) for left in (False, True) for right in (False, True)]
SIZES = [(16, 1, 5), (17, 3, 64), (29, 16, 1), (100, 20, 300), (16, 33, 700), (45, 48, 16), (31, 100, 37), (150, 65, 20), (2, 70, 33)]
# Batch, rows, depth and columns at run time, all of one compiled module.
DYNAMIC = [(1, 1, 1, 1), (2, 3, 5, 7), (1, 14, 64, 32), (3, 100, 77, 45), (2, 15, 300, 16), (1, 227, 513, 33), (2, 13, 256, 100)]

DYNAMIC_TEXT = """
module attributes {nn.model = "products", nn.symbols = ["b", "m", "k", "n"]} {
  func.func @main(%a: tensor<?x?x?xf32, #nn.dims<()[s0, s1, s2] -> (s0, s1, s2)>> {nn.name = "a"},
                  %r: tensor<?x?x?xf32, #nn.dims<()[s0, s1, s2, s3] -> (s0, s3, s2)>> {nn.name = "r"},
                  %s: tensor<?x?xf32, #nn.dims<()[s0, s1, s2, s3] -> (s2, s3)>> {nn.name = "s"})
      -> (tensor<?x?x?xf32, #nn.dims<()[s0, s1, s2, s3] -> (s0, s1, s3)>> {nn.name = "y"},
          tensor<?x?x?xf32, #nn.dims<()[s0, s1, s2, s3] -> (s0, s1, s3)>> {nn.name = "z"}) {
    %t = nn.transpose %r [0, 2, 1] : tensor<?x?x?xf32, #nn.dims<()[s0, s1, s2, s3] -> (s0, s3, s2)>>
      -> tensor<?x?x?xf32, #nn.dims<()[s0, s1, s2, s3] -> (s0, s2, s3)>>
    %0 = nn.matmul %a, %t : tensor<?x?x?xf32, #nn.dims<()[s0, s1, s2] -> (s0, s1, s2)>>,
      tensor<?x?x?xf32, #nn.dims<()[s0, s1, s2, s3] -> (s0, s2, s3)>> -> tensor<?x?x?xf32, #nn.dims<()[s0, s1, s2, s3] -> (s0, s1, s3)>>
    %1 = nn.matmul %a, %s : tensor<?x?x?xf32, #nn.dims<()[s0, s1, s2] -> (s0, s1, s2)>>,
      tensor<?x?xf32, #nn.dims<()[s0, s1, s2, s3] -> (s2, s3)>> -> tensor<?x?x?xf32, #nn.dims<()[s0, s1, s2, s3] -> (s0, s1, s3)>>
    %2 = nn.relu %1 : tensor<?x?x?xf32, #nn.dims<()[s0, s1, s2, s3] -> (s0, s1, s3)>>
    return %0, %2 : tensor<?x?x?xf32, #nn.dims<()[s0, s1, s2, s3] -> (s0, s1, s3)>>,
                    tensor<?x?x?xf32, #nn.dims<()[s0, s1, s2, s3] -> (s0, s1, s3)>>
  }
}
"""


def operand(module, array, turned):
    """The array as an input, or as the transpose of one."""
    if not turned:
        return module.input(array)
    source = np.ascontiguousarray(np.swapaxes(array, -1, -2))
    order = [*range(array.ndim - 2), array.ndim - 1, array.ndim - 2]
    return module.op(f"nn.transpose {module.input(source)} {order} : {tensor(source)}", tensor(array))


def add_product(module, left_shape, right_shape, turned):
    left, right = module.array(*left_shape), module.array(*right_shape)
    exact = left.astype(np.float64) @ right
    a, b = operand(module, left, turned[0]), operand(module, right, turned[1])
    if right.ndim == left.ndim and right.shape[:-2] != left.shape[:-2]:
        spread = np.broadcast_to(right, (*left.shape[:-2], *right.shape[-2:]))
        b, right = module.op(f"nn.broadcast_to {b} : {tensor(right)}", tensor(spread)), spread
    module.finish(module.op(f"nn.matmul {a}, {b} : {tensor(left)}, {tensor(right)}", tensor(exact)), exact)


def build():
    module = Module()
    for i, (rows, columns, depth) in enumerate(SIZES):
        for j in range(2):
            add_product(module, (rows, depth), (depth, columns), ORDERS[(i + 2 * j + i // 4) % 4])
    for turned in ORDERS:
        add_product(module, (2, 3, 18, 20), (2, 3, 20, 34), turned)
        add_product(module, (2, 3, 18, 20), (1, 3, 20, 34), turned)
        add_product(module, (3, 10, 20), (20, 17), turned)  # a shared right side: the rows are merged
    # Contiguous along the sum: one column, or few rows.
    for left, right, turned in [((130, 70), (70, 1), False), ((2, 3, 5, 33), (2, 3, 33, 1), True), ((1, 100), (100, 66), True), ((3, 37), (37, 9), True),
                                ((2, 3, 7, 16), (2, 3, 16, 130), True), ((2, 3, 1, 3), (1, 3, 3, 5), True)]:
        add_product(module, left, right, (False, turned))
    return module


def run(source, inputs, target, folder):
    arguments = []
    for name, array in inputs.items():
        np.save(folder / f"{name}.npy", array)
        arguments += ["--input", f"{name}={folder / name}.npy"]
    kiln_calls.run("run", source, "--target", target, "--output-dir", folder, *arguments)


def check(got, exact, what):
    error = np.abs(got - exact).max() / max(1.0, np.abs(exact).max())
    if got.shape != exact.shape or not error < 2e-6:
        sys.exit(f"{what}, shape {exact.shape}: relative error {error}")


def main():
    folder, targets = pathlib.Path(sys.argv[1]), sys.argv[2:]
    module = build()
    (folder / "products.mlir").write_text(module.text())
    (folder / "dynamic.mlir").write_text(DYNAMIC_TEXT)
    dynamic = 0
    for i, target in enumerate(targets):
        run(folder / "products.mlir", module.inputs, target, folder)
        for j, (_, exact) in enumerate(module.expected):
            check(np.load(folder / f"y{j}.npy"), exact, f"target {target}, case {j}")
        # Each compile takes time: the targets share the sizes.
        for b, m, k, n in DYNAMIC[i::len(targets)]:
            inputs = {"a": module.array(b, m, k), "r": module.array(b, n, k), "s": module.array(k, n)}
            run(folder / "dynamic.mlir", inputs, target, folder)
            exact = inputs["a"].astype(np.float64)
            check(np.load(folder / "y.npy"), exact @ np.swapaxes(inputs["r"], 1, 2), f"target {target}, sizes {b, m, k, n}, transposed")
            check(np.load(folder / "z.npy"), np.maximum(exact @ inputs["s"], 0), f"target {target}, sizes {b, m, k, n}, shared")
            dynamic += 1
    print(f"{len(module.expected)} static and {dynamic} dynamic cases right on {len(targets)} targets")


if __name__ == "__main__":
    main()
