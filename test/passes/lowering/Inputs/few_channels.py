#!/usr/bin/env python3
"""Runs convolutions with few output channels with `kiln run` and compares with numpy: few_channels.py FOLDER TARGET..."""
import pathlib
import sys

import numpy as np
from contractions import Module, add_convolution, compare_on_threads, convolve
from transposes import check, run

#: Image, weight, strides, dilations.
CASES = [((1, 30, 30, 32), (1, 32, 3, 3), (1, 1), (1, 1)),
         ((2, 9, 19, 10), (1, 10, 5, 5), (1, 1), (1, 1)),  # lines of 50 elements, and blocks of 15 pixels
         ((1, 12, 35, 48), (3, 48, 3, 3), (1, 1), (1, 1)),  # blocks of 11 pixels
         ((1, 9, 9, 64), (2, 64, 3, 3), (1, 1), (1, 1)),  # lines that are shorter than a vector
         ((2, 20, 20, 64), (1, 64, 1, 1), (1, 1), (1, 1)),  # all pixels are one line, for several tasks
         ((1, 17, 19, 64), (1, 64, 1, 1), (1, 1), (1, 1)),  # the last task has more pixels than the others
         ((1, 21, 40, 24), (2, 24, 4, 3), (2, 2), (1, 1)),
         ((1, 20, 30, 20), (1, 20, 3, 3), (1, 1), (2, 3)),  # channels of a tap alone lie side by side
         ((1, 9, 9, 9), (1, 9, 2, 2), (1, 1), (1, 1)),
         ((3, 50, 24), (1, 24, 7), (1,), (1,)),
         ((2, 300, 40), (1, 40, 3), (2,), (1,)),
         ((1, 5, 6, 20, 16), (1, 16, 2, 3, 3), (1, 1, 1), (1, 1, 1))]
DYNAMIC = [(1, 3, 3), (2, 7, 18), (3, 5, 4), (1, 6, 39), (2, 4, 160)]

DYNAMIC_TEXT = """
module attributes {{nn.model = "few", nn.symbols = ["n", "h", "w"]}} {{
  func.func @main(%x: tensor<?x?x?x20xf32, #nn.dims<()[s0, s1, s2] -> (s0, s1, s2, 20)>> {{nn.name = "x"}})
      -> (tensor<?x?x?x2xf32, #nn.dims<()[s0, s1, s2] -> (s0, s1 - 2, s2 - 2, 2)>> {{nn.name = "y"}}) {{
    {weight}
    %y = nn.conv %x, %v0 strides [1, 1] dilations [1, 1] pads [0, 0, 0, 0] groups 1 layout channels_last
      : tensor<?x?x?x20xf32, #nn.dims<()[s0, s1, s2] -> (s0, s1, s2, 20)>>, tensor<2x20x3x3xf32>
      -> tensor<?x?x?x2xf32, #nn.dims<()[s0, s1, s2] -> (s0, s1 - 2, s2 - 2, 2)>>
    return %y : tensor<?x?x?x2xf32, #nn.dims<()[s0, s1, s2] -> (s0, s1 - 2, s2 - 2, 2)>>
  }}
}}
"""


def main():
    folder, targets = pathlib.Path(sys.argv[1]), sys.argv[2:]
    module, open_sizes = Module(), Module()
    for image, weight, strides, dilations in CASES:
        add_convolution(module, image, weight, strides, dilations, 1)
    compare_on_threads(module, "few", folder, targets, 3)
    weight = open_sizes.array(2, 20, 3, 3)
    open_sizes.constant(weight)
    (folder / "dynamic.mlir").write_text(DYNAMIC_TEXT.format(weight=open_sizes.lines[0].strip()))
    for i, (n, h, w) in enumerate(DYNAMIC):
        x, target = open_sizes.array(n, h, w, 20), targets[i % len(targets)]
        run(folder / "dynamic.mlir", {"x": x}, target, folder)
        check(np.load(folder / "y.npy"), convolve(x, weight, (1, 1), (1, 1), 1).astype(np.float32), f"target {target}, sizes {n, h, w}", 2e-5)
    print(f"{len(DYNAMIC)} dynamic cases right")


if __name__ == "__main__":
    main()
