#!/usr/bin/env python3
"""Runs matrix products and convolutions of many shapes with `kiln run` and compares with numpy: contractions.py FOLDER TARGET..."""
import pathlib
import sys

import numpy as np

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[3]))
import kiln_calls  # noqa: E402


class Module:
    """One function with an output for each case, so that a target costs one compile."""

    def __init__(self):
        self.random = np.random.default_rng(7)
        self.inputs, self.lines, self.expected = {}, [], []
        # What the errors of these cases may be as a part of the largest value: the root of the mean of their squares.
        self.long_sums = {}

    def array(self, *shape):
        return self.random.standard_normal(shape).astype(np.float32)

    def positive(self, *shape):
        return self.random.uniform(0, 1, shape).astype(np.float32)

    def input(self, array):
        name = f"x{len(self.inputs)}"
        self.inputs[name] = array
        return f"%{name}"

    def op(self, text, type_):
        self.lines.append(f"    %v{len(self.lines)} = {text} -> {type_}" if type_ else f"    %v{len(self.lines)} = {text}")
        return f"%v{len(self.lines) - 1}"

    def constant(self, array):
        return self.op(f'nn.constant dense<"0x{array.tobytes().hex().upper()}"> : {tensor(array)}', None)

    def finish(self, value, exact):
        """Bias, residual and relu, so that the epilogue runs on every tail."""
        bias, residual = self.array(exact.shape[-1]), self.array(*exact.shape)
        form = tensor(exact)
        spread = self.op(f"nn.broadcast_to {self.constant(bias)} : {tensor(bias)}", form)
        biased = self.op(f"nn.add {value}, {spread} : {form}", None)
        total = self.op(f"nn.add {biased}, {self.input(residual)} : {form}", None)
        self.expected.append((self.op(f"nn.relu {total} : {form}", None), np.maximum(exact + bias + residual, 0)))

    def text(self):
        arguments = ", ".join(f'%{name}: {tensor(array)} {{nn.name = "{name}"}}' for name, array in self.inputs.items())
        results = ", ".join(f'{tensor(array)} {{nn.name = "y{i}"}}' for i, (_, array) in enumerate(self.expected))
        names = ", ".join(value for value, _ in self.expected)
        types = ", ".join(tensor(array) for _, array in self.expected)
        body = "\n".join(self.lines)
        return (f'module attributes {{nn.model = "contractions"}} {{\n  func.func @main({arguments}) -> ({results}) {{\n{body}\n'
                f"    return {names} : {types}\n  }}\n}}\n")


def tensor(array):
    return f"tensor<{''.join(f'{size}x' for size in array.shape)}f32>"


def add_product(module, rows, columns, depth, constant, batch=(), shared=True):
    """A constant right side is one for the whole batch if it is shared."""
    left = module.array(*batch, rows, depth)
    right = module.array(*(() if constant and shared else batch), columns, depth)
    turned = np.swapaxes(right, -1, -2)
    order = [*range(right.ndim - 2), right.ndim - 1, right.ndim - 2]
    source = module.constant(right) if constant else module.input(right)
    view = module.op(f"nn.transpose {source} {order} : {tensor(right)}", tensor(turned))
    exact = left.astype(np.float64) @ turned
    module.finish(module.op(f"nn.matmul {module.input(left)}, {view} : {tensor(left)}, {tensor(turned)}", tensor(exact)), exact)


def add_long_sum(module, rows, depth, kernel):
    """All terms are positive: a single chain of additions would be off by several times what is allowed."""
    if kernel:
        image, weight = module.positive(1, kernel, kernel + rows - 1, depth), module.positive(40, depth, kernel, kernel)
        exact = convolve(image, weight, (1, 1), (1, 1), 1)
        text = f"nn.conv {module.input(image)}, {module.constant(weight)} strides [1, 1] dilations [1, 1] pads [0, 0, 0, 0] groups 1 layout channels_last"
    else:
        image, weight = module.positive(rows, depth), module.positive(depth, 40)
        exact = image.astype(np.float64) @ weight
        text = f"nn.matmul {module.input(image)}, {module.constant(weight)}"
    module.long_sums[len(module.expected)] = 1.2e-7 if kernel else 2e-7
    module.expected.append((module.op(f"{text} : {tensor(image)}, {tensor(weight)}", tensor(exact)), exact))


def add_long_reduction(module, shape, axis):
    array = module.positive(*shape)
    exact = array.astype(np.float64).sum(axis, keepdims=True)
    module.long_sums[len(module.expected)] = 2e-7
    module.expected.append((module.op(f"nn.reduce sum {module.input(array)} [{axis}] : {tensor(array)}", tensor(exact)), exact))


def convolve(image, weight, strides, dilations, groups):
    """channels_last without padding, in double precision."""
    kernel, outer = weight.shape[2:], weight.shape[0] // groups
    sizes = [(size - (k - 1) * d - 1) // s + 1 for size, k, d, s in zip(image.shape[1:-1], kernel, dilations, strides)]
    result = np.zeros((image.shape[0], *sizes, weight.shape[0]))
    for group in range(groups):
        channels = slice(group * weight.shape[1], (group + 1) * weight.shape[1])
        out = slice(group * outer, (group + 1) * outer)
        for tap in np.ndindex(*kernel):
            window = tuple(slice(t * d, t * d + (o - 1) * s + 1, s) for t, d, o, s in zip(tap, dilations, sizes, strides))
            pixels = image[(slice(None), *window, channels)].astype(np.float64)
            result[..., out] += pixels @ weight[(out, slice(None), *tap)].T
    return result


def add_convolution(module, image, weight, strides, dilations, groups):
    image, weight = module.array(*image), module.array(*weight)
    exact = convolve(image, weight, strides, dilations, groups)
    pads = [0] * (2 * len(strides))
    attributes = f"strides {list(strides)} dilations {list(dilations)} pads {pads} groups {groups} layout channels_last"
    text = f"nn.conv {module.input(image)}, {module.constant(weight)} {attributes} : {tensor(image)}, {tensor(weight)}"
    module.finish(module.op(text, tensor(exact)), exact)


def add_padded_convolution(module, image, weight, strides, dilations, padding, groups):
    """`padding`: elements before and after each spatial dimension."""
    image, weight = module.array(*image), module.array(*weight)
    exact = convolve(np.pad(image, [(0, 0), *padding, (0, 0)]), weight, strides, dilations, groups)
    pads = [low for low, _ in padding] + [high for _, high in padding]
    attributes = f"strides {list(strides)} dilations {list(dilations)} pads {pads} groups {groups} layout channels_last"
    text = f"nn.conv {module.input(image)}, {module.constant(weight)} {attributes} : {tensor(image)}, {tensor(weight)}"
    module.finish(module.op(text, tensor(exact)), exact)


def build():
    module = Module()
    columns = [1, 7, 16, 17, 33, 100]
    for i, rows in enumerate([1, 3, 4, 7, 8, 13, 14, 15, 49]):
        for j in range(2):
            add_product(module, rows, columns[(i + 3 * j) % 6], 37, True)
            add_product(module, rows, columns[(i + 3 * j + 1) % 6], 37, False)
    add_product(module, 1, 40, 700, True)  # several streams along the reduction
    add_product(module, 15, 33, 1030, True)  # a long reduction, in blocks
    add_product(module, 20, 70, 1024, True)  # rows that would share a set of the cache
    add_product(module, 15, 33, 5, False, (2, 3))
    add_product(module, 15, 33, 5, True, (2, 3))
    add_product(module, 15, 36, 5, True, (2, 3), shared=False)  # a last panel of one vector ends each right side
    add_product(module, 300, 8, 1, True)  # nothing is summed: the address that is asked for stands alone
    add_product(module, 100, 130, 90, True)  # each block asks for a part of the next chunk
    for case in [((1, 9, 9, 5), (33, 5, 3, 3), (1, 1), (1, 1), 1),  # lines of the image share a tile
                 ((2, 7, 7, 40), (64, 40, 1, 1), (1, 1), (1, 1), 1),  # a plain product
                 ((1, 20, 20, 3), (20, 3, 7, 7), (2, 2), (1, 1), 1),
                 ((1, 11, 30, 8), (17, 8, 3, 3), (2, 1), (1, 2), 1),
                 ((1, 9, 9, 24), (36, 6, 3, 3), (1, 1), (1, 1), 4),
                 ((1, 9, 9, 24), (72, 12, 3, 3), (1, 1), (1, 1), 2),  # a last panel of one vector ends each group
                 ((1, 9, 9, 24), (24, 1, 3, 3), (1, 1), (1, 1), 24),
                 ((2, 9, 12, 37), (37, 1, 3, 3), (2, 2), (1, 2), 37),
                 ((1, 30, 6), (6, 1, 11), (1,), (1,), 6),
                 ((1, 9, 9, 6), (12, 1, 3, 3), (1, 1), (1, 1), 6),
                 ((2, 30, 6), (20, 6, 3), (2,), (1,), 1),
                 ((1, 5, 6, 7, 4), (9, 4, 3, 2, 3), (1, 1, 2), (1, 2, 1), 1)]:
        add_convolution(module, *case)
    for case in [(15, 4096, 0), (1, 4096, 0), (14, 4099, 0), (7, 450, 3), (7, 128, 3), (7, 320, 3), (15, 3, 7)]:
        add_long_sum(module, *case)
    add_long_reduction(module, (20001, 18), 0)
    return module


def save_inputs(module, folder):
    """Writes the inputs and returns what `kiln run` is told of them."""
    arguments = []
    for name, array in module.inputs.items():
        np.save(folder / f"{name}.npy", array)
        arguments += ["--input", f"{name}={folder / name}.npy"]
    return arguments


def run(module, path, target, output, arguments):
    """The outputs that the module at `path` computes."""
    kiln_calls.run("run", path, "--target", target, "--output-dir", output, *arguments)
    return [np.load(output / f"y{i}.npy") for i in range(len(module.expected))]


def check_long_sum(module, i, got, target):
    """Errors of sums that are made of short ones grow less than those of a single chain of additions."""
    if i not in module.long_sums:
        return
    exact = module.expected[i][1]
    error = np.sqrt(np.mean((got - exact) ** 2)) / np.abs(exact).max()
    if not error < module.long_sums[i]:
        sys.exit(f"target {target}, case {i}, a long sum: the errors add up to {error} of the largest value")


def compare_on_threads(module, name, folder, targets, threads):
    """Runs FOLDER/NAME.mlir on one and on so many threads: the results are right and the same bytes."""
    (folder / f"{name}.mlir").write_text(module.text())
    inputs = save_inputs(module, folder)
    for target in targets:
        single, several = (run(module, folder / f"{name}.mlir", target, folder / pathlib.Path(target).stem / count, ["--threads", count, *inputs]) for count in ("1", str(threads)))
        for i, (_, exact) in enumerate(module.expected):
            error = np.abs(single[i] - exact).max() / np.abs(exact).max()
            if single[i].shape != exact.shape or not error < 2e-6:
                sys.exit(f"target {target}, case {i} of shape {exact.shape}: error {error} of the largest value")
            check_long_sum(module, i, single[i], target)
            if single[i].tobytes() != several[i].tobytes():
                sys.exit(f"target {target}, case {i}: {threads} threads compute something else")
    print(f"{len(module.expected)} cases right on {len(targets)} targets")


def main():
    folder, targets = pathlib.Path(sys.argv[1]), sys.argv[2:]
    module, worst = build(), 0.0
    (folder / "contractions.mlir").write_text(module.text())
    inputs = save_inputs(module, folder)
    for target in targets:
        outputs = run(module, folder / "contractions.mlir", target, folder / target, inputs)
        for i, ((_, exact), got) in enumerate(zip(module.expected, outputs)):
            error = np.abs(got - exact).max() / max(1.0, np.abs(exact).max())
            if got.shape != exact.shape or not error < 2e-6:
                sys.exit(f"target {target}, case {i} of shape {exact.shape}: relative error {error}")
            check_long_sum(module, i, got, target)
            worst = max(worst, error)
    print(f"{len(module.expected)} cases right on {len(targets)} targets")


if __name__ == "__main__":
    main()
