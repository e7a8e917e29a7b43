#!/usr/bin/env python3
"""Products with weights in blocks: MatMulNBits and MatMul of a blocked DequantizeLinear against numpy in f64: products_in_blocks.py FOLDER TARGET..."""
import pathlib
import sys

import numpy as np
from onnx import helper

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[3]))
from onnx_cases import Model, finish, kiln

random = np.random.default_rng(11)


def pack(numbers, bits):
    """The last dimension in bytes, from the lowest bits on."""
    per = 8 // bits
    return (numbers.reshape(*numbers.shape[:-1], -1, per) << (np.arange(per) * bits)).sum(-1).astype("u1")


def draw(columns, depth, block, bits, has_zeros):
    blocks = -(-depth // block)
    numbers = random.integers(0, 2**bits, (columns, blocks * block))
    scales = random.uniform(0.01, 0.02, (columns, blocks)).astype("f4")
    zeros = random.integers(0, 2**bits, (columns, blocks)) if has_zeros else np.full((columns, blocks), 2 ** (bits - 1))
    at = np.arange(depth) // block
    return numbers, scales, zeros, (numbers[:, :depth] - zeros[:, at]) * scales.astype("f8")[:, at]


def n_bits(model, rows, columns, depth, block, bits, has_zeros, level, dims=None):
    """At level 4 the left side consists of whole steps of its blocks' scales, so that rounding it changes nothing."""
    numbers, scales, zeros, weights = draw(columns, depth, block, bits, has_zeros)
    x = random.integers(-127, 128, (rows, depth)).astype("f8")
    x[:, ::block] = 127
    x /= 64
    inputs = [model.input(x, dims=dims), model.weight(pack(numbers.reshape(columns, -1, block), bits), "u1"), model.weight(scales)]
    if has_zeros:
        padded = np.pad(zeros, ((0, 0), (0, -zeros.shape[1] % (8 // bits))))
        inputs.append(model.weight(pack(padded, bits), "u1"))
    model.case(f"nbits {rows} {columns} {depth}", "MatMulNBits", inputs, x @ weights.T, dims=dims and [dims[0], columns], domain="com.microsoft", K=depth, N=columns,
               bits=bits, block_size=block, accuracy_level=level)


def dequantized(model, rows, columns, depth, block, bits, has_zeros, is_transposed):
    """Standard operators; numbers of four bits stand in bytes."""
    numbers, scales, zeros, weights = draw(columns, depth, block, bits, has_zeros)
    offset = 2 ** (bits - 1)
    turned = (lambda array: array) if is_transposed else (lambda array: array.T)
    x, name = random.standard_normal((rows, depth)), f"d{len(model.nodes)}"
    parameters = [model.weight(turned(numbers - offset), "i1"), model.weight(turned(scales))] + ([model.weight(turned(zeros - offset), "i1")] if has_zeros else [])
    model.nodes.append(helper.make_node("DequantizeLinear", parameters, [name], axis=1 if is_transposed else 0, block_size=block))
    if is_transposed:
        model.nodes.append(helper.make_node("Transpose", [name], [name + "t"], perm=[1, 0]))
    model.case(f"dq {rows} {columns} {depth}", "MatMul", [model.input(x), name + "t" * is_transposed], x.astype("f4").astype("f8") @ weights.T)


def dequantize(model, numbers, kind, scales, zeros, **attributes):
    name = f"d{len(model.nodes)}"
    model.nodes.append(helper.make_node("DequantizeLinear", [model.weight(numbers, kind), model.weight(scales), model.weight(zeros, kind)], [name], **attributes))
    return name


def per_column(model, rows, columns, depth, bits, is_signed, has_zeros, is_transposed, apart=True):
    """MatMul and Gemm of real numbers with weights that have a scale for each column, or one for all."""
    offset = 2 ** (bits - 1) if is_signed else 0
    numbers = random.integers(0, 2**bits, (depth, columns)) - offset
    size = columns if apart else ()
    scales = random.uniform(0.01, 0.02, size).astype("f4")
    zeros = random.integers(0, 2**bits, size) - offset if has_zeros else np.full(size, 2 ** (bits - 1) - offset)
    x, weights = random.standard_normal((rows, depth)), (numbers - zeros) * scales.astype("f8")
    name = dequantize(model, numbers.T if is_transposed else numbers, "i1" if is_signed else "u1", scales, zeros, axis=0 if is_transposed else 1)
    bias = random.standard_normal(columns)
    operands = [model.input(x), name] + [model.weight(bias)] * is_transposed
    exact = x.astype("f4").astype("f8") @ weights + (bias.astype("f4") if is_transposed else 0)
    model.case(f"column {rows} {columns} {depth}", "Gemm" if is_transposed else "MatMul", operands, exact, **({"transB": 1} if is_transposed else {}))


def gathered(model, words, width, bits, is_signed, of):
    """Rows of a table with scales and zero points for all of it, for rows, columns or blocks of 16."""
    offset = 2 ** (bits - 1) if is_signed else 0
    shape = {"all": (), "rows": (words,), "columns": (width,), "blocks": (words, width // 16)}[of]
    numbers = random.integers(0, 2**bits, (words, width)) - offset
    scales, zeros = random.uniform(0.01, 0.02, shape).astype("f4"), random.integers(0, 2**bits, shape) - offset
    spread = {"all": lambda a: a, "rows": lambda a: a[:, None], "columns": lambda a: a, "blocks": lambda a: a.repeat(16, 1)}[of]
    attributes = {"all": {}, "rows": {"axis": 0}, "columns": {"axis": 1}, "blocks": {"axis": 1, "block_size": 16}}[of]
    table = dequantize(model, numbers, "i1" if is_signed else "u1", scales, zeros, **attributes)
    indices = random.integers(-words, words, (2, 3))
    exact = ((numbers - spread(zeros)).astype("f4") * spread(scales))[indices]
    model.case(f"rows {words} {of}", "Gather", [table, model.input(indices, "i8")], exact, axis=0)


def main():
    folder, faults = pathlib.Path(sys.argv[1]), []
    model = Model()
    for rows, columns, depth, block in ((1, 200, 96, 32), (1, 5, 64, 16), (7, 33, 70, 32), (13, 96, 256, 128), (50, 17, 128, 64)):
        for bits, has_zeros in ((4, False), (4, True), (8, False), (8, True)):
            for level in (0, 4):
                n_bits(model, rows, columns, depth, block, bits, has_zeros, level)
            if depth % block == 0:
                dequantized(model, rows, columns, depth, block, bits, has_zeros, rows == 13)
    for rows, columns, depth in ((1, 70, 96), (9, 33, 160), (40, 20, 48)):
        for bits, is_signed, has_zeros, is_transposed, apart in ((8, True, False, False, True), (8, False, True, True, True), (4, True, True, False, True),
                                                                 (8, True, False, True, False)):
            per_column(model, rows, columns, depth, bits, is_signed, has_zeros, is_transposed, apart)
    # Tiles of all rows, panels for more; parts of a sum that have whole blocks, the last one fewer; parts of a block.
    for rows, columns, depth, block in ((11, 50, 96, 32), (16, 40, 160, 32), (17, 64, 480, 32), (28, 33, 288, 16), (61, 100, 320, 64), (250, 40, 272, 16),
                                        (40, 70, 768, 128), (33, 48, 2048, 512), (19, 32, 1024, 1024)):
        for bits in (4, 8):
            n_bits(model, rows, columns, depth, block, bits, rows % 2 == 1, 0)
    for rows, columns, depth in ((30, 45, 640), (50, 64, 1536)):
        for bits in (4, 8):
            per_column(model, rows, columns, depth, bits, True, False, False)
    for of in ("all", "rows", "columns", "blocks"):
        for bits, is_signed in ((8, True), (8, False), (4, True), (4, False)):
            gathered(model, 50, 64, bits, is_signed, of)
    gathered(model, 7, 9, 4, True, "rows")
    for rows in (1, 6, 29, 210, 300):
        for level in (0, 4):
            n_bits(model, rows, 70, 64, 32, 4, True, level, [f"rows{rows}", 64])
        n_bits(model, rows, 40, 1024, 512, 4, False, 0, [f"long{rows}", 1024])
    model.save(folder / "blocks.onnx", 21, [("com.microsoft", 1)])
    for target in sys.argv[2:]:
        kiln("run", folder / "blocks.onnx", "--target", target, "--output-dir", folder / target, *model.save_inputs(folder))
        faults += model.compare(folder / target, {"f4": (2e-5, 2e-4)}, f", {target}")
    finish(faults, len(model.expected) * len(sys.argv[2:]))


if __name__ == "__main__":
    main()
