#!/usr/bin/env python3
"""Products of two computed tensors of bytes, with heads, both signs and all sizes, are exact integers: products_of_computed_bytes.py FOLDER TARGET..."""
import pathlib
import re
import sys

import numpy as np
from onnx import helper

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[3]))
from onnx_cases import Model, run_on_targets

random = np.random.default_rng(23)
LIMITS = {"u1": (0, 255), "i1": (-128, 127)}
SIGNS = [(left, right) for left in LIMITS for right in LIMITS]


class Cases:
    def __init__(self):
        self.model, self.count = Model(), 0

    def side(self, kind, shape, is_turned, dims, zero):
        """(name, numbers without their zero point, name of the zero point); turned: the product reads it through a transpose."""
        numbers = random.integers(*LIMITS[kind], shape, endpoint=True)
        turned = (lambda a: np.swapaxes(a, -1, -2)) if is_turned else (lambda a: a)
        given = dims and (dims[:-2] + [dims[-1], dims[-2]] if is_turned else dims)
        name = self.model.input(turned(numbers), kind, given)
        if is_turned:
            axes = [*range(len(shape) - 2), len(shape) - 1, len(shape) - 2]
            self.model.nodes.append(helper.make_node("Transpose", [name], [name + "t"], perm=axes))
            name += "t"
        return name, numbers - zero, self.model.weight(np.array(zero), kind)

    def product(self, batch, rows, depth, columns, signs, zeros, is_turned=False, shared=False, dims=None):
        left = self.side(signs[0], (*batch, rows, depth), False, dims and [*batch, dims[0], dims[1]], zeros[0])
        right = self.side(signs[1], (depth, columns) if shared else (*batch, depth, columns), is_turned, dims and [*(() if shared else batch), dims[1], dims[2]], zeros[1])
        exact = left[1] @ right[1]
        given = dims and [*batch, dims[0], dims[2]]
        self.model.case(f"product {rows} {depth} {columns}", "MatMulInteger", [left[0], right[0], left[2], right[2]], exact, "i4", given)
        self.count += 1

    def node(self, op, inputs, **attributes):
        name = f"n{len(self.model.nodes)}"
        self.model.nodes.append(helper.make_node(op, inputs, [name], name, **attributes))
        return name

    def heads(self, heads, rows, width, keys, signs):
        """Queries and keys [1, length, heads, width] between Q and DQ, as in a quantised attention; scales are powers of two, so that results are exact."""
        sides = []
        for kind, length, order in ((signs[0], rows, (0, 2, 1, 3)), (signs[1], keys, (0, 2, 3, 1))):
            zero = int(random.integers(*LIMITS[kind]))
            numbers = random.integers(*LIMITS[kind], (1, length, heads, width), endpoint=True)
            parameters = [self.model.weight(np.array(2.0**-5)), self.model.weight(np.array(zero), kind)]
            real = self.node("DequantizeLinear", [self.model.input(numbers, kind), *parameters])
            sides.append((self.node("Transpose", [real], perm=list(order)), (numbers - zero).transpose(order)))
        product = self.node("MatMul", [sides[0][0], sides[1][0]])
        total = sides[0][1] @ sides[1][1]
        scale = np.float32(2.0 ** np.ceil(np.log2(np.abs(total).max() / 110)))
        exact = np.clip(np.rint(total.astype("f4") / scale) + 7, *LIMITS[signs[0]])
        parameters = [self.model.weight(scale * np.float32(2.0**-10)), self.model.weight(np.array(7), signs[0])]
        self.model.case(f"heads {heads} {rows} {keys}", "QuantizeLinear", [product, *parameters], exact, signs[0])
        self.count += 1


def build():
    cases = Cases()
    for signs in SIGNS:
        middles = tuple(128 if kind == "u1" else 0 for kind in signs)
        some = tuple(int(random.integers(*LIMITS[kind])) for kind in signs)
        for zeros in (some, middles, (0, 0), (some[0], middles[1])):
            cases.product((2, 3), 13, 64, 33, signs, zeros, is_turned=zeros == some)
        cases.product((), 1, 200, 40, signs, some)
        cases.heads(3, 17, 32, 21, signs)
    for rows, depth, columns in ((1, 3, 1), (1, 4, 16), (6, 7, 5), (29, 30, 64), (3, 130, 100), (50, 1500, 7), (2, 4100, 32), (40, 65, 96), (9, 1, 9)):
        for is_turned in (False, True):
            cases.product((2,), rows, depth, columns, SIGNS[1], (3, -7), is_turned)
    cases.product((3,), 5, 36, 20, SIGNS[0], (9, 250), shared=True)
    for at, (rows, depth, columns) in enumerate(((1, 5, 6), (14, 64, 33), (37, 131, 40), (70, 1027, 3))):
        for is_turned in (False, True):
            names = [f"{name}{at}{int(is_turned)}" for name in "mkn"]
            cases.product((2,), rows, depth, columns, SIGNS[at % 4], (9, 11), is_turned, dims=names)
    return cases


def main():
    cases = build()

    def list_faults(kernels):
        # Sums of rows are products with ones.
        found = re.findall(r'kernel = "((?:gemm|matmul)_\w+)"', kernels)
        is_right = found.count("gemm_packed_bytes") >= cases.count and set(found) <= {"gemm_packed_bytes", "gemm_bytes"}
        return [] if is_right else [f"kernels of {cases.count} products are {found}"]

    run_on_targets(sys.argv[1], sys.argv[2:], {"bytes": (cases.model, 13)}, {}, list_faults)


if __name__ == "__main__":
    main()
