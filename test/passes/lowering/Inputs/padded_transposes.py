#!/usr/bin/env python3
"""Pads transposes of many shapes with `kiln run` and compares with numpy: padded_transposes.py FOLDER TARGET..."""
import pathlib
import sys

import numpy as np
from contractions import Module, tensor
from transposes import check, run

LAST = (0, 2, 3, 1)
#: Shape, order of the dimensions, elements before and behind each dimension of the result, mode.
CASES = [((1, 32, 16, 16), LAST, [(0, 0), (1, 1), (1, 1), (0, 0)], "constant"),
         ((2, 20, 7, 31), LAST, [(0, 0), (2, 2), (3, 1), (0, 0)], "constant"),
         ((2, 9, 5, 13), LAST, [(0, 0), (0, 1), (2, 0), (0, 0)], "constant"),
         ((1, 16, 64, 64), LAST, [(1, 0), (1, 1), (1, 1), (0, 0)], "constant"),
         ((1, 12, 9, 11), LAST, [(0, 0), (1, 1), (0, 0), (0, 0)], "constant"),
         ((2, 17, 6, 9), LAST, [(0, 0), (-1, 2), (2, -1), (0, 0)], "constant"),
         ((1, 16, 8, 24), LAST, [(0, 0), (3, 3), (2, 5), (0, 0)], "reflect"),
         ((2, 8, 6, 9), LAST, [(0, 0), (1, 2), (3, 4), (0, 0)], "edge"),
         ((1, 10, 5, 40), LAST, [(0, 0), (2, 2), (1, 1), (0, 0)], "wrap"),
         ((3, 18, 23), (0, 2, 1), [(0, 0), (2, 1), (0, 0)], "constant"),
         # Nothing is transposed in squares here: few channels, and a border along them.
         ((2, 3, 6, 9), LAST, [(0, 0), (1, 1), (1, 1), (0, 0)], "constant"),
         ((1, 9, 6, 9), LAST, [(0, 0), (1, 1), (1, 1), (1, 2)], "constant")]
DYNAMIC = [(1, 1, 1), (2, 3, 40), (3, 16, 16), (1, 33, 70), (2, 17, 9)]

DYNAMIC_TEXT = """
module attributes {nn.model = "padded", nn.symbols = ["n", "h", "w"]} {
  func.func @main(%x: tensor<?x20x?x?xf32, #nn.dims<()[s0, s1, s2] -> (s0, 20, s1, s2)>> {nn.name = "x"})
      -> (tensor<?x?x?x20xf32, #nn.dims<()[s0, s1, s2] -> (s0, s1 + 2, s2 + 3, 20)>> {nn.name = "y"}) {
    %t = nn.transpose %x [0, 2, 3, 1] : tensor<?x20x?x?xf32, #nn.dims<()[s0, s1, s2] -> (s0, 20, s1, s2)>>
      -> tensor<?x?x?x20xf32, #nn.dims<()[s0, s1, s2] -> (s0, s1, s2, 20)>>
    %two = nn.splat 2.0 : f32 -> tensor<f32>
    %y = nn.pad %t, %two low affine_map<() -> (0, 1, 1, 0)> high affine_map<() -> (0, 1, 2, 0)> interior [0, 0, 0, 0] mode constant
      : tensor<?x?x?x20xf32, #nn.dims<()[s0, s1, s2] -> (s0, s1, s2, 20)>>, tensor<f32>
      -> tensor<?x?x?x20xf32, #nn.dims<()[s0, s1, s2] -> (s0, s1 + 2, s2 + 3, 20)>>
    return %y : tensor<?x?x?x20xf32, #nn.dims<()[s0, s1, s2] -> (s0, s1 + 2, s2 + 3, 20)>>
  }
}
"""


def pad(x, amounts, mode):
    """As nn.pad: negative amounts cut first."""
    x = x[tuple(slice(max(-low, 0), size - max(-high, 0)) for size, (low, high) in zip(x.shape, amounts))]
    widths = [(max(low, 0), max(high, 0)) for low, high in amounts]
    return np.pad(x, widths, mode, **({"constant_values": 2} if mode == "constant" else {}))


def build():
    module = Module()
    for shape, order, amounts, mode in CASES:
        x, bias = module.array(*shape), module.array(shape[-1])
        low, high = (", ".join(str(sides[side]) for sides in amounts) for side in (0, 1))
        two = module.op("nn.splat 2.0 : f32", "tensor<f32>")
        spread = module.op(f"nn.broadcast_to {module.input(bias)} : {tensor(bias)}", tensor(x))
        computed = module.op(f"nn.add {module.input(x)}, {spread} : {tensor(x)}", None)
        for source, value in ((module.input(x), x), (computed, x + bias)):
            moved = np.transpose(value, order)
            exact = np.ascontiguousarray(pad(moved, amounts, mode))
            view = module.op(f"nn.transpose {source} {list(order)} : {tensor(x)}", tensor(moved))
            maps = f"low affine_map<() -> ({low})> high affine_map<() -> ({high})> interior {[0] * len(shape)} mode {mode}"
            module.expected.append((module.op(f"nn.pad {view}, {two} {maps} : {tensor(moved)}, tensor<f32>", tensor(exact)), exact))
    return module


def main():
    folder, targets = pathlib.Path(sys.argv[1]), sys.argv[2:]
    module = build()
    (folder / "padded.mlir").write_text(module.text())
    (folder / "dynamic.mlir").write_text(DYNAMIC_TEXT)
    dynamic = 0
    for i, target in enumerate(targets):
        run(folder / "padded.mlir", module.inputs, target, folder)
        for j, (_, exact) in enumerate(module.expected):
            check(np.load(folder / f"y{j}.npy"), exact, f"target {target}, case {j}")
        for n, h, w in DYNAMIC[i::len(targets)]:
            x = module.array(n, 20, h, w)
            run(folder / "dynamic.mlir", {"x": x}, target, folder)
            check(np.load(folder / "y.npy"), pad(np.transpose(x, LAST), [(0, 0), (1, 1), (1, 2), (0, 0)], "constant"), f"target {target}, sizes {n, h, w}")
            dynamic += 1
    print(f"{len(module.expected)} static and {dynamic} dynamic cases right on {len(targets)} targets")


if __name__ == "__main__":
    main()
