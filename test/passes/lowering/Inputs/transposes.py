#!/usr/bin/env python3
"""Runs transposes of many shapes, alone and fused, with `kiln run` and compares with numpy: transposes.py FOLDER TARGET..."""
import pathlib
import sys

import numpy as np
from contractions import Module, tensor

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[3]))
import kiln_calls  # noqa: E402

CASES = [((16, 16), (1, 0)), ((33, 70), (1, 0)), ((64, 300), (1, 0)), ((5, 4), (1, 0)), ((3, 40), (1, 0)), ((1, 40), (1, 0)),
         ((2, 19, 7, 31), (0, 2, 3, 1)), ((2, 7, 31, 19), (0, 3, 1, 2)), ((1, 3, 9, 21), (0, 2, 3, 1)), ((3, 17, 1, 20), (3, 2, 1, 0)),
         ((4, 6, 5, 18), (0, 2, 1, 3)), ((2, 9, 3, 11, 5), (0, 3, 1, 4, 2)), ((7, 13, 37), (2, 0, 1))]
DYNAMIC = [(1, 1, 1), (2, 3, 40), (3, 16, 16), (1, 33, 70), (2, 67, 131)]

DYNAMIC_TEXT = """
module attributes {nn.model = "transposes", nn.symbols = ["a", "b", "c"]} {
  func.func @main(%x: tensor<?x?x?xf32, #nn.dims<()[s0, s1, s2] -> (s0, s1, s2)>> {nn.name = "x"},
                  %z: tensor<?x?x?xf32, #nn.dims<()[s0, s1, s2] -> (s0, s2, s1)>> {nn.name = "z"})
      -> (tensor<?x?x?xf32, #nn.dims<()[s0, s1, s2] -> (s0, s2, s1)>> {nn.name = "y"}) {
    %t = nn.transpose %x [0, 2, 1] : tensor<?x?x?xf32, #nn.dims<()[s0, s1, s2] -> (s0, s1, s2)>>
      -> tensor<?x?x?xf32, #nn.dims<()[s0, s1, s2] -> (s0, s2, s1)>>
    %y = nn.sub %t, %z : tensor<?x?x?xf32, #nn.dims<()[s0, s1, s2] -> (s0, s2, s1)>>
    return %y : tensor<?x?x?xf32, #nn.dims<()[s0, s1, s2] -> (s0, s2, s1)>>
  }
}
"""


def build():
    module = Module()
    for shape, order in CASES:
        x = module.array(*shape)
        exact = np.ascontiguousarray(np.transpose(x, order))
        view = module.op(f"nn.transpose {module.input(x)} {list(order)} : {tensor(x)}", tensor(exact))
        module.expected.append((view, exact))
        # With operands that are read along, and a spread one.
        module.finish(module.op(f"nn.transpose {module.input(x)} {list(order)} : {tensor(x)}", tensor(exact)), exact)
        # What is transposed is computed, with an operand that is spread along the rows that are read.
        bias = module.array(shape[-1])
        spread = module.op(f"nn.broadcast_to {module.input(bias)} : {tensor(bias)}", tensor(x))
        total = module.op(f"nn.add {module.input(x)}, {spread} : {tensor(x)}", None)
        computed = module.op(f"nn.relu {total} : {tensor(x)}", None)
        module.expected.append((module.op(f"nn.transpose {computed} {list(order)} : {tensor(x)}", tensor(exact)),
                                np.ascontiguousarray(np.transpose(np.maximum(x + bias, 0), order))))
    return module


def run(source, inputs, target, folder):
    arguments = []
    for name, array in inputs.items():
        np.save(folder / f"{name}.npy", array)
        arguments += ["--input", f"{name}={folder / name}.npy"]
    kiln_calls.run("run", source, "--target", target, "--output-dir", folder, *arguments)


def check(got, exact, what, bound=1e-6):
    if got.shape != exact.shape or not np.allclose(got, exact, rtol=bound, atol=bound):
        sys.exit(f"{what}, shape {exact.shape}: differs")


def main():
    folder, targets = pathlib.Path(sys.argv[1]), sys.argv[2:]
    module = build()
    (folder / "transposes.mlir").write_text(module.text())
    (folder / "dynamic.mlir").write_text(DYNAMIC_TEXT)
    dynamic = 0
    for i, target in enumerate(targets):
        run(folder / "transposes.mlir", module.inputs, target, folder)
        for j, (_, exact) in enumerate(module.expected):
            check(np.load(folder / f"y{j}.npy"), exact, f"target {target}, case {j}")
        for a, b, c in DYNAMIC[i::len(targets)]:
            x, z = module.array(a, b, c), module.array(a, c, b)
            run(folder / "dynamic.mlir", {"x": x, "z": z}, target, folder)
            check(np.load(folder / "y.npy"), np.swapaxes(x, 1, 2) - z, f"target {target}, sizes {a, b, c}")
            dynamic += 1
    print(f"{len(module.expected)} static and {dynamic} dynamic cases right on {len(targets)} targets")


if __name__ == "__main__":
    main()
