#!/usr/bin/env python3
"""Runs concatenations and borders whose producers write in place, and compares with numpy: places.py FOLDER TARGET..."""
import pathlib
import re
import sys

import numpy as np

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[3]))
import kiln_calls  # noqa: E402

# BATCH is a number or ?, T(...) a type of that batch.
TEXT = """#border = affine_map<() -> (0, 1, 2, 0)>
#after = affine_map<() -> (0, 1, 1, 0)>
module attributes {nn.model = "places" SYMBOLS} {
  func.func @main(%x: T(6,9,19) {nn.name = "x"}, %y: T(6,9,19) {nn.name = "y"}) -> (T(9,12,55) {nn.name = "padded"}, T(1,9,19) {nn.name = "first"},
      T(6,9,38) {nn.name = "twice"}, T(6,9,17) {nn.name = "side"}, T(54,36) {nn.name = "flat"},
      T(6,9,5) {nn.name = "view"}, T(3,171,2) {nn.name = "weave2"}, T(3,171,4) {nn.name = "weave4"}) {
    %w = nn.constant dense<DATA> : tensor<19x17xf32>
    %product = nn.matmul %x, %w : T(6,9,19), tensor<19x17xf32> -> T(6,9,17)
    %pool = nn.max_pool %y kernel [1, 1] strides [1, 1] dilations [1, 1] pads [0, 0, 0, 0] layout channels_last : T(6,9,19) -> T(6,9,19)
    %exp = nn.exp %pool : T(6,9,19)
    // A padded concatenation: two parts that are computed in their places of the border's inside, one input that is copied there.
    %c = nn.concat %product, %exp, %y axis 3 : (T(6,9,17), T(6,9,19), T(6,9,19)) -> T(6,9,55)
    %v = nn.splat 2.5 : f32 -> tensor<f32>
    %pad = nn.pad %c, %v low #border high #after interior [0, 0, 0, 0] mode constant : T(6,9,55), tensor<f32> -> T(8,12,55)
    %sum = nn.reduce sum %pad [1] : T(8,12,55) -> T(1,12,55)
    %padded = nn.concat %pad, %sum axis 1 : (T(8,12,55), T(1,12,55)) -> T(9,12,55)
    // A part that others read where it lies: by element-wise operations, by a reduction.
    %side = nn.tanh %product : T(6,9,17)
    %first = nn.reduce max %exp [1] : T(6,9,19) -> T(1,9,19)
    // The same part twice: one place is computed, the other copied.
    %neg = nn.max_pool %x kernel [1, 1] strides [1, 1] dilations [1, 1] pads [0, 0, 0, 0] layout channels_last : T(6,9,19) -> T(6,9,19)
    %twice = nn.concat %neg, %neg axis 3 : (T(6,9,19), T(6,9,19)) -> T(6,9,38)
    // Shapes of one run of elements: under another shape the parts still lie in one piece.
    %squares = nn.matmul %x, %w : T(6,9,19), tensor<19x17xf32> -> T(6,9,17)
    %low = nn.slice %squares starts affine_map<() -> (0, 0, 0, 0)> steps [1, 1, 1, 1] : T(6,9,17) -> T(6,9,8)
    %half = nn.reshape %low : T(6,9,8) -> T(54,8)
    %rows = nn.reshape %product : T(6,9,17) -> T(54,17)
    %cut = nn.slice %x starts affine_map<() -> (0, 0, 0, 8)> steps [1, 1, 1, 1] : T(6,9,19) -> T(6,9,11)
    %tail = nn.reshape %cut : T(6,9,11) -> T(54,11)
    %flat = nn.concat %half, %rows, %tail axis 2 : (T(54,8), T(54,17), T(54,11)) -> T(54,36)
    // A slice that a convolution reads in its source.
    %part = nn.slice %y starts affine_map<() -> (0, 0, 0, 3)> steps [1, 1, 1, 1] : T(6,9,19) -> T(6,9,11)
    %filter = nn.constant dense<FILTER> : tensor<5x11x1x1xf32>
    %view = nn.conv %part, %filter strides [1, 1] dilations [1, 1] pads [0, 0, 0, 0] groups 1 layout channels_last
      : T(6,9,11), tensor<5x11x1x1xf32> -> T(6,9,5)
    // Channel shuffles.
    %pairs = nn.reshape %x : T(6,9,19) -> T(3,2,171)
    %weave2 = nn.transpose %pairs [0, 1, 3, 2] : T(3,2,171) -> T(3,171,2)
    %fours = nn.reshape %twice : T(6,9,38) -> T(3,4,171)
    %weave4 = nn.transpose %fours [0, 1, 3, 2] : T(3,4,171) -> T(3,171,4)
    return %padded, %first, %twice, %side, %flat, %view, %weave2, %weave4
      : T(9,12,55), T(1,9,19), T(6,9,38), T(6,9,17), T(54,36), T(6,9,5), T(3,171,2), T(3,171,4)
  }
}
"""


def spell(batch, weight, kernel):
    """TEXT for a batch of 2, or a symbolic one."""
    if batch:
        symbols = ""
        typed = lambda dims: "tensor<%d%s>" % (batch, "".join(f"x{d}" for d in dims) + "xf32")
    else:
        symbols = ', nn.symbols = ["batch"]'
        typed = lambda dims: "tensor<?%sxf32, #nn.dims<()[s0] -> (s0, %s)>>" % ("".join(f"x{d}" for d in dims), ", ".join(map(str, dims)))
    data = str(weight.tolist())
    text = TEXT.replace(" SYMBOLS", symbols).replace("DATA", data).replace("FILTER", str(kernel.reshape(5, 11, 1, 1).tolist()))
    return re.sub(r"\bT\(([0-9,]*)\)", lambda match: typed(match[1].split(",")), text)


def expect(x, y, weight, kernel):
    product = x @ weight
    c = np.concatenate([product, np.exp(y), y], 3)
    pad = np.pad(c, [(0, 0), (1, 1), (2, 1), (0, 0)], constant_values=2.5)
    flat = np.concatenate([(x @ weight)[..., :8].reshape(-1, 54, 8), product.reshape(-1, 54, 17), x[..., 8:].reshape(-1, 54, 11)], 2)
    return {"padded": np.concatenate([pad, pad.sum(1, keepdims=True)], 1), "first": np.exp(y).max(1, keepdims=True),
            "twice": np.concatenate([x, x], 3), "side": np.tanh(product), "flat": flat, "view": y[..., 3:14] @ kernel.T,
            "weave2": x.reshape(-1, 3, 2, 171).swapaxes(2, 3), "weave4": np.concatenate([x, x], 3).reshape(-1, 3, 4, 171).swapaxes(2, 3)}




def check(folder, targets, name, batch):
    random = np.random.default_rng(5)
    x, y = (random.standard_normal((2, 6, 9, 19)).astype(np.float32) for _ in range(2))
    weight, kernel = (random.standard_normal(shape).astype(np.float32) for shape in ((19, 17), (5, 11)))
    path = folder / f"{name}.mlir"
    path.write_text(spell(batch, weight, kernel))
    inputs = []
    for label, array in {"x": x, "y": y}.items():
        np.save(folder / f"{label}.npy", array)
        inputs += ["--input", f"{label}={folder / label}.npy"]
    for target in targets:
        out = folder / name / target
        done = kiln_calls.call("run", path, "--target", target, "--output-dir", out, *inputs)
        if done.returncode:
            sys.exit(f"{name}, target {target}: {done.stderr}")
        for label, exact in expect(x, y, weight, kernel).items():
            got = np.load(out / f"{label}.npy")
            if got.shape != exact.shape or not np.allclose(got, exact, rtol=1e-5, atol=1e-5):
                sys.exit(f"{name}, target {target}: '{label}' is wrong")
    header = kiln_calls.call(path, "--stop-after=kernel", "--target", targets[0], "-o", folder / "ir")
    launches = re.findall(r"kernel\.launch @(concat_copy|pad_copy|interleave_loops|loops)_", header.stdout)
    copies = ", ".join(f"{kind} {launches.count(kind)}" for kind in ("concat_copy", "pad_copy", "interleave_loops", "loops"))
    print(f"{name}: {len(expect(x, y, weight, kernel))} results right on {len(targets)} targets; launches: {copies}")


def main():
    folder, targets = pathlib.Path(sys.argv[1]), sys.argv[2:]
    check(folder, targets, "static", 2)
    check(folder, targets, "symbolic", None)


if __name__ == "__main__":
    main()
