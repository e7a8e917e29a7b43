#!/usr/bin/env python3
"""Runs kernels whose sums wait in memory for a long function, and compares with numpy, or bytes with another target's: waiting_sums.py FOLDER TARGET..."""
import pathlib
import sys

import numpy as np
import onnx
import strips
from contractions import Module, convolve, run, save_inputs, tensor
from onnx import TensorProto, helper, numpy_helper

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[3]))
import kiln_calls  # noqa: E402


def build():
    module = Module()
    # Blocks of 8 pixels and of 7, which leave one over; vectors of channels that are not whole; strides.
    strips.add(module, (1, 62, 65, 9), 72, 3, 1, (1, 1), 9, activation="swish")
    strips.add(module, (2, 61, 57, 8), 84, 5, 2, (1, 2), 40, activation="swish")
    strips.add(module, (1, 70, 71, 5), 60, 3, 2, (0, 1), 0, activation="swish")
    # Tiles within the image, and beyond its last line and pixel.
    for tile in (2, 4):
        for shape in ((1, 16, 16, 32), (1, 9, 11, 16)):
            image = module.array(*shape)
            weight = module.array(40, shape[3], 3, 3) / np.float32(np.sqrt(9 * shape[3]))
            exact = convolve(image, weight, (1, 1), (1, 1), 1)
            sums = module.op(f"nn.winograd_conv {module.input(image)}, {module.constant(weight)} tile {tile} : {tensor(image)}, {tensor(weight)}", tensor(exact))
            function, attributes = strips.ACTIVATIONS["swish"]
            module.finish(module.op(f"nn.swish {sums}{attributes} : {tensor(exact)}", None), function(exact))
    return module


def write_bytes(path, channels, width, stride):
    """A depthwise QLinearConv."""
    random = np.random.default_rng(7)
    constants = {"w": random.integers(-100, 100, (channels, 1, 3, 3)).astype(np.int8), "ws": random.uniform(0.001, 0.01, channels).astype(np.float32),
                 "wz": np.zeros(channels, np.int8), "xs": np.float32(0.02), "xz": np.uint8(120), "ys": np.float32(0.03), "yz": np.uint8(128),
                 "b": random.integers(-500, 500, channels).astype(np.int32)}
    node = helper.make_node("QLinearConv", ["x", "xs", "xz", "w", "ws", "wz", "ys", "yz", "b"], ["y"], group=channels, pads=[1] * 4, strides=[stride] * 2)
    shape = [1, channels, 9, width]
    graph = helper.make_graph([node], "bytes", [helper.make_tensor_value_info("x", TensorProto.UINT8, shape)],
                              [helper.make_tensor_value_info("y", TensorProto.UINT8, None)],
                              [numpy_helper.from_array(np.array(array), name) for name, array in constants.items()])
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 13)], ir_version=8), path)
    np.save(path.with_suffix(".npy"), random.integers(0, 256, shape).astype(np.uint8))


def main():
    folder, targets = pathlib.Path(sys.argv[1]), sys.argv[2:]
    module = build()
    (folder / "sums.mlir").write_text(module.text())
    inputs = save_inputs(module, folder)
    models = [folder / f"bytes{i}.onnx" for i in range(3)]
    for path, shape in zip(models, [(32, 13, 1), (37, 11, 2), (8, 3, 1)]):
        write_bytes(path, *shape)
    first = {}
    for target in targets:
        where = folder / pathlib.Path(target).name.split(".")[0]
        for i, ((_, exact), got) in enumerate(zip(module.expected, run(module, folder / "sums.mlir", target, where, inputs))):
            error = np.abs(got - exact).max() / np.abs(exact).max()
            if got.shape != exact.shape or not error < 2e-6:
                sys.exit(f"target {target}, case {i} of shape {exact.shape}: error {error} of the largest value")
        for path in models:
            kiln_calls.run("run", path, "--target", target, "--input", f"x={path.with_suffix('.npy')}", "--output-dir", where / path.stem)
            got = np.load(where / path.stem / "y.npy")
            if got.std() < 10 or not np.array_equal(got, first.setdefault(path, got)):
                sys.exit(f"target {target}, {path.name}: other bytes than for {targets[0]}")
    print(f"{len(module.expected) + len(models)} cases right on {len(targets)} targets")


if __name__ == "__main__":
    main()
