#!/usr/bin/env python3
"""Runs Winograd's convolution on images with outliers and compares with sums in f64: winograd_outliers.py FOLDER ROUNDS TARGET...

Each image has an outlier of 1e2 to 1e30, an infinity or a NaN at a place of a tile, or its pixels differ much in magnitude. A result may be off by the bound
of a direct sum, which is less than docs/CostModel.md states. Says how many images were right, and how much of the bound the worst result took."""
import pathlib
import sys

import numpy as np
from contractions import Module, convolve, kiln_calls, run, save_inputs, tensor
from winograd import call

outliers = [*(sign * 10.0 ** e for e in (2, 3, 4, 5, 6, 8, 9, 12, 18, 19, 20, 25, 30) for sign in (1, -1)), np.inf, -np.inf, np.nan]


def spoil(random, image, at):
    """An outlier at one place and channel, or in all channels as a mask has them; sometimes a second one, and sometimes beside zeros."""
    kind = random.integers(8)
    if kind == 0:
        image[:] = np.maximum(image, 0)
    if kind == 1:
        image *= 10.0 ** random.integers(-12, 13, image.shape[:2])[..., None]
    if kind == 2:
        image *= random.choice([0, 1e-15, 1e-25, 1e-35])
    channels = slice(None) if kind == 3 else random.integers(image.shape[-1])
    image[at][channels] = random.choice(outliers)
    if kind == 4:
        image[tuple(random.integers(image.shape))] = random.choice(outliers)
    return image


def make_images(random, batch, height, width, channels):
    """As many images as there are places, or more: each place has an outlier."""
    images = random.standard_normal((batch, height, width, channels)).astype(np.float32)
    for i, image in enumerate(images):
        place = i % (height * width)
        spoil(random, image, (place // width, place % width))
    return images


def add(module, shape, out, tile, width):
    image = make_images(module.random, *shape)
    weight = module.array(out, shape[3], 3, 3)
    exact = np.empty((shape[0], shape[1] - 2, shape[2] - 2, out))
    text, form = call(module, module.input(image), image, module.constant(weight), weight, tile, width, exact)
    with np.errstate(all="ignore"):
        sums = convolve(image, weight, (1, 1), (1, 1), 1)
        # The window's norm of finite elements: others make the result infinite or NaN.
        squares = convolve(np.where(np.isfinite(image), image, 0).astype(np.float64) ** 2, np.ones((1, shape[3], 3, 3)), (1, 1), (1, 1), 1)
    bound = 9 * shape[3] * 2.0 ** -24 * np.sqrt(squares) * np.sqrt((weight.astype(np.float64) ** 2).sum((1, 2, 3)))
    module.expected.append((module.op(text, form), (sums, bound)))
    module.shapes.append(form)


class Images(Module):
    def __init__(self, seed):
        super().__init__()
        self.random = np.random.default_rng(seed)
        self.shapes = []

    def text(self):
        arguments = ", ".join(f'%{name}: {tensor(array)} {{nn.name = "{name}"}}' for name, array in self.inputs.items())
        results = ", ".join(f'{shape} {{nn.name = "y{i}"}}' for i, shape in enumerate(self.shapes))
        body = "\n".join(self.lines)
        return (f'module attributes {{nn.model = "outliers"}} {{\n  func.func @main({arguments}) -> ({results}) {{\n{body}\n'
                f"    return {', '.join(value for value, _ in self.expected)} : {', '.join(self.shapes)}\n  }}\n}}\n")


def build(seed):
    module = Images(seed)
    for tile in (2, 4):
        side = tile + 2
        add(module, (4 * side * side, side, side, 16), 24, tile, 32)  # a tile each
        add(module, (56, 7, 8, 21), 33, tile, 32)  # several tiles, some beyond the last line
        add(module, (side * side, side, side, 16), 40, tile, None)
        add(module, (5, 7, 9, 32), 70, tile, None)
    return module


def check(target, i, got, sums, bound):
    """The largest error as a part of the bound."""
    finite = np.isfinite(sums)
    if not np.array_equal(np.isfinite(got), finite) or not np.array_equal(got[~finite], sums[~finite].astype(np.float32), equal_nan=True):
        wrong = np.argwhere((np.isfinite(got) != finite) | (~finite & ~((got == sums) | (np.isnan(got) & np.isnan(sums)))))
        sys.exit(f"target {target}, case {i}: {len(wrong)} results, the first one at {wrong[0]}: {got[tuple(wrong[0])]} for {sums[tuple(wrong[0])]}")
    error = np.abs(got.astype(np.float64)[finite] - sums[finite]) / np.maximum(bound[finite], 1e-300)
    if not error.max() <= 1:
        at = np.argwhere(finite)[error.argmax()]
        sys.exit(f"target {target}, case {i}, at {at}: {got[tuple(at)]} for {sums[tuple(at)]}, {error.max():.3g} times the bound")
    return error.max()


def main():
    folder, rounds, targets = pathlib.Path(sys.argv[1]), int(sys.argv[2]), sys.argv[3:]
    worst, images = 0.0, 0
    for seed in range(rounds):
        module = build(seed)
        (folder / "outliers.mlir").write_text(module.text())
        inputs = save_inputs(module, folder)
        images += sum(len(array) for array in module.inputs.values())
        for target in targets:
            outputs = run(module, folder / "outliers.mlir", target, folder / pathlib.Path(target).stem, inputs)
            worst = max(worst, *(check(target, i, got, *exact) for i, ((_, exact), got) in enumerate(zip(module.expected, outputs))))
    print(f"{images} images right on {len(targets)} targets, at {worst:.2g} of the bound")


if __name__ == "__main__":
    main()
