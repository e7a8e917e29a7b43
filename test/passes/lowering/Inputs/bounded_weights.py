#!/usr/bin/env python3
"""Products of bytes by weights around the bounds beyond which sums of two products leave 16 bits, against numpy: bounded_weights.py FOLDER TARGET...

Activations are all 255, which makes the sums of two products as large as the weights allow, or of any size. Writes TARGET.why, the reasons of the kernels.
"""
import pathlib
import sys

import numpy as np
from steps_of_tiles import store_sums
from widths import Module, convolve, run, tensor

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[3]))
import kiln_calls  # noqa: E402

# Pairs of neighbours along the sums: the largest safe ones, and the smallest that are not.
SAFE = [(127, 1), (1, 127), (64, 64), (-128, 0), (0, -128), (-64, -64), (-127, -1), (127, -128), (-128, 127), (100, 28)]
UNSAFE = [(127, 2), (2, 127), (65, 64), (-128, -1), (-1, -128), (-64, -65), (127, 127), (-128, -128)]


def weights_of(random, depth, columns, pairs):
    """[depth, columns], whose pairs of rows are drawn from the list."""
    picked = np.array(pairs, "i1")[random.integers(0, len(pairs), (depth // 2, columns))]
    return np.moveaxis(picked, 2, 1).reshape(depth, columns)


def add_product(module, rows, weights, what):
    depth, columns = weights.shape
    x = module.numbers("ui8", rows, depth)
    x[: rows // 2] = 255
    exact = x.astype("i8") @ weights.astype("i8")
    sums = module.op(f"nn.matmul {module.input(x, 'ui8')}, {module.constant(weights, 'i8')} : {tensor(x.shape, 'ui8')}, {tensor(weights.shape, 'i8')} -> {tensor(exact.shape, 'i32')}")
    store_sums(module, sums, exact, f"product {what} {rows} {weights.shape}")


def add_convolution(module, weights, kernel, what):
    """The rows of `weights` are channels, its columns filters and taps."""
    channels, filters = weights.shape[0], weights.shape[1] // kernel**2
    w = np.ascontiguousarray(np.moveaxis(weights.reshape(channels, filters, kernel, kernel), 0, 1))
    x = module.numbers("ui8", 1, channels, 9, 11)
    x[:, :, :5] = 255
    exact = convolve(x, w, 1, 0, 1)
    sums = module.op(f"nn.conv {module.input(x, 'ui8')}, {module.constant(w, 'i8')} strides [1, 1] dilations [1, 1] pads [0, 0, 0, 0] groups 1 layout channels_first : "
                     f"{tensor(x.shape, 'ui8')}, {tensor(w.shape, 'i8')} -> {tensor(exact.shape, 'i32')}")
    store_sums(module, sums, exact, f"convolution {what} {w.shape}")


def main():
    folder, targets = pathlib.Path(sys.argv[1]), sys.argv[2:]
    module = Module()
    for what, pairs in (("bounded", SAFE), ("unbounded", UNSAFE)):
        for rows, depth, columns in ((12, 16, 48), (1, 64, 40), (7, 60, 21)):
            add_product(module, rows, weights_of(module.random, depth, columns, pairs), what)
        add_convolution(module, weights_of(module.random, 8, 20 * 9, pairs), 3, what)
    # Weights of 7 bits, and one pair in 1200 that is not safe.
    add_product(module, 9, module.random.integers(-64, 65, (48, 50)).astype("i1"), "of 7 bits")
    one = module.random.integers(-64, 65, (48, 50)).astype("i1")
    one[46:48, 49] = 127, 127
    add_product(module, 9, one, "with one pair")
    source = folder / "weights.mlir"
    source.write_text(module.text())
    for target in targets:
        if wrong := run(module, source, target, folder):
            sys.exit(f"on {target} {len(wrong)} of {len(module.outputs)} differ: {', '.join(wrong)}")
        why = kiln_calls.run(source, "--target", target, "--why", "--emit=cpp", "-o", folder / target)
        (folder / f"{target}.why").write_text(why.stdout + why.stderr)
    print(f"{len(module.outputs)} cases right on {len(targets)} targets")


if __name__ == "__main__":
    main()
