#!/usr/bin/env python3
"""Runs data movement with `kiln run` and compares with numpy: movement.py FOLDER TARGET..."""
import pathlib
import sys

import numpy as np

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[3]))
import kiln_calls  # noqa: E402

TEXT = """module attributes {nn.model = "movement"} {
  func.func @main(%x: tensor<2x9x7x19xf32> {nn.name = "x"}, %y: tensor<2x3x7x19xf32> {nn.name = "y"}, %i: tensor<4xi64> {nn.name = "i"})
    -> (tensor<2x12x7x19xf32> {nn.name = "concat"}, tensor<2x11x10x19xf32> {nn.name = "border"}, tensor<2x9x7x24xf32> {nn.name = "inner"},
        tensor<2x9x9x23xf32> {nn.name = "reflect"}, tensor<2x8x7x20xf32> {nn.name = "cut"}, tensor<2x4x7x19xf32> {nn.name = "gather"},
        tensor<9x133xf32> {nn.name = "scatter"}) {
    %n = nn.neg %x : tensor<2x9x7x19xf32>
    %c = nn.concat %n, %y axis 1 : (tensor<2x9x7x19xf32>, tensor<2x3x7x19xf32>) -> tensor<2x12x7x19xf32>
    %r = nn.relu %c : tensor<2x12x7x19xf32>
    %v = nn.splat 2.5 : f32 -> tensor<f32>
    %border = nn.pad %x, %v low affine_map<() -> (0, 1, 2, 0)> high affine_map<() -> (0, 1, 1, 0)> interior [0, 0, 0, 0] mode constant
      : tensor<2x9x7x19xf32>, tensor<f32> -> tensor<2x11x10x19xf32>
    %inner = nn.pad %x, %v low affine_map<() -> (0, 0, 0, 3)> high affine_map<() -> (0, 0, 0, 2)> interior [0, 0, 0, 0] mode constant
      : tensor<2x9x7x19xf32>, tensor<f32> -> tensor<2x9x7x24xf32>
    %reflect = nn.pad %x, %v low affine_map<() -> (0, 0, 1, 2)> high affine_map<() -> (0, 0, 1, 2)> interior [0, 0, 0, 0] mode reflect
      : tensor<2x9x7x19xf32>, tensor<f32> -> tensor<2x9x9x23xf32>
    %cut = nn.pad %x, %v low affine_map<() -> (0, -1, 0, -2)> high affine_map<() -> (0, 0, 0, 3)> interior [0, 0, 0, 0] mode constant
      : tensor<2x9x7x19xf32>, tensor<f32> -> tensor<2x8x7x20xf32>
    %g = nn.gather %x, %i axis 1 : tensor<2x9x7x19xf32>, tensor<4xi64> -> tensor<2x4x7x19xf32>
    %first = nn.slice %x starts affine_map<() -> (0, 0, 0, 0)> steps [1, 1, 1, 1] : tensor<2x9x7x19xf32> -> tensor<1x9x7x19xf32>
    %base = nn.reshape %first : tensor<1x9x7x19xf32> -> tensor<9x133xf32>
    %some = nn.slice %y starts affine_map<() -> (0, 0, 0, 0)> steps [1, 1, 1, 1] : tensor<2x3x7x19xf32> -> tensor<2x2x7x19xf32>
    %updates = nn.reshape %some : tensor<2x2x7x19xf32> -> tensor<4x133xf32>
    %places = nn.reshape %i : tensor<4xi64> -> tensor<4x1xi64>
    %s = nn.scatter_nd %base, %places, %updates reduction add : tensor<9x133xf32>, tensor<4x1xi64>, tensor<4x133xf32>
    return %r, %border, %inner, %reflect, %cut, %g, %s : tensor<2x12x7x19xf32>, tensor<2x11x10x19xf32>, tensor<2x9x7x24xf32>,
      tensor<2x9x9x23xf32>, tensor<2x8x7x20xf32>, tensor<2x4x7x19xf32>, tensor<9x133xf32>
  }
}
"""


def expect(x, y, i):
    scattered = x[0].reshape(9, 133).copy()
    np.add.at(scattered, i, y[:, :2].reshape(4, 133))
    fill = {"constant_values": 2.5}
    return {
        "concat": np.maximum(np.concatenate([-x, y], 1), 0),
        "border": np.pad(x, [(0, 0), (1, 1), (2, 1), (0, 0)], **fill),
        "inner": np.pad(x, [(0, 0), (0, 0), (0, 0), (3, 2)], **fill),
        "reflect": np.pad(x, [(0, 0), (0, 0), (1, 1), (2, 2)], mode="reflect"),
        "cut": np.pad(x[:, 1:, :, 2:], [(0, 0), (0, 0), (0, 0), (0, 3)], **fill),
        "gather": x[:, i],
        "scatter": scattered,
    }


def run(folder, target, arrays):
    inputs = []
    for name, array in arrays.items():
        np.save(folder / f"{name}.npy", array)
        inputs += ["--input", f"{name}={folder / name}.npy"]
    arguments = ["run", folder / "movement.mlir", "--target", target, "--output-dir", folder / target, *inputs]
    return kiln_calls.call(*arguments)


def main():
    folder, targets = pathlib.Path(sys.argv[1]), sys.argv[2:]
    (folder / "movement.mlir").write_text(TEXT)
    random = np.random.default_rng(5)
    arrays = {"x": random.standard_normal((2, 9, 7, 19)).astype(np.float32), "y": random.standard_normal((2, 3, 7, 19)).astype(np.float32),
              "i": np.array([3, -1, 3, 0])}
    expected = expect(**arrays)
    for target in targets:
        done = run(folder, target, arrays)
        if done.returncode:
            sys.exit(f"target {target}: {done.stderr}")
        for name, exact in expected.items():
            got = np.load(folder / target / f"{name}.npy")
            if got.shape != exact.shape or not np.allclose(got, exact, rtol=1e-6, atol=1e-6):
                sys.exit(f"target {target}: '{name}' is wrong")
    refused = run(folder, targets[0], {**arrays, "i": np.array([3, 9, 0, 0])})
    if not refused.returncode or "out of" not in refused.stderr.replace("_", " ").lower():
        sys.exit(f"index 9 of 9: status {refused.returncode}: {refused.stderr}")
    print(f"{len(expected)} cases right on {len(targets)} targets; index 9 of 9 refused")


if __name__ == "__main__":
    main()
