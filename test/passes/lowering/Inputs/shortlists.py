#!/usr/bin/env python3
"""Products with the columns that a gather picks, and rows of quantised tables, against numpy in f64: shortlists.py FOLDER TARGET..."""
import pathlib
import sys

import numpy as np
from onnx import TensorProto, helper

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[3]))
from onnx_cases import Model, finish, kiln

random = np.random.default_rng(5)
#: Data types that older versions of the package have no names for.
UINT4, INT4 = 21, 22


def pick(model, count, columns, dims=None):
    indices = random.integers(-columns, columns, count)
    indices[0], indices[-1] = -columns, columns - 1
    return indices, model.input(indices, "i8", dims)


def add(model, op, inputs, **attributes):
    name = f"n{len(model.nodes)}"
    model.nodes.append(helper.make_node(op, inputs, [name], **attributes))
    return name


def multiply(model, label, x, right, weights, axis, x_dims=None, dims=None):
    """`weights` are the picked columns, [count, depth]; `right` has them along `axis`."""
    if axis == 0:
        right = add(model, "Transpose", [right], perm=[1, 0])
    model.case(label, "MatMul", [model.input(x, dims=x_dims), right], x.astype("f4").astype("f8") @ weights.T, dims=dims)


def real(model, rows, depth, columns, count, axis, is_dynamic):
    weights, x = random.standard_normal((columns, depth)).astype("f4"), random.standard_normal((*rows, depth))
    n = f"picked{len(model.nodes)}" if is_dynamic else count
    indices, name = pick(model, count, columns, [n])
    right = add(model, "Gather", [model.weight(weights if axis == 0 else weights.T), name], axis=axis)
    multiply(model, f"real {rows} {axis}", x, right, weights[indices].astype("f8"), axis, dims=[*rows, n])


def bytes_of(model, rows, depth, columns, count, axis, is_first, per, is_unsigned):
    """DequantizeLinear in front of the gather, or behind it with scales that are picked as well."""
    numbers = random.integers(0, 256, (columns, depth)) - (0 if is_unsigned else 128)
    per_column = per == "column"
    scales = random.uniform(0.01, 0.02, columns if per_column else 1).astype("f4")
    zeros = random.integers(100, 156, scales.shape) - (0 if is_unsigned else 128)
    weights = (numbers - zeros[:, None]) * scales.astype("f8")[:, None]
    element = "u1" if is_unsigned else "i1"
    table = model.weight(numbers if axis == 0 else numbers.T, element)
    if not per_column:
        scales, zeros = scales[0], zeros[0]
    parameters = [model.weight(np.asarray(scales)), model.weight(np.asarray(zeros), element)]
    indices, name = pick(model, count, columns)
    attributes = {"axis": axis} if per_column else {}
    if is_first:
        right = add(model, "Gather", [add(model, "DequantizeLinear", [table, *parameters], **attributes), name], axis=axis)
    else:
        if per_column:
            parameters = [add(model, "Gather", [parameter, name], axis=0) for parameter in parameters]
        right = add(model, "DequantizeLinear", [add(model, "Gather", [table, name], axis=axis), *parameters], **attributes)
    x = random.standard_normal((*rows, depth))
    multiply(model, f"bytes {rows} {axis} {is_first} {per}", x, right, weights[indices], axis)


def blocks_of(model, rows, depth, columns, count, axis, is_first, block, bits, has_zeros, is_dynamic):
    blocks, low = depth // block, 2 ** (bits - 1)
    numbers = random.integers(0, 2**bits, (columns, depth)) - low
    scales = random.uniform(0.01, 0.02, (columns, blocks)).astype("f4")
    zeros = random.integers(0, 2**bits, (columns, blocks)) - low if has_zeros else np.zeros((columns, blocks), int)
    at = np.arange(depth) // block
    weights = (numbers - zeros[:, at]) * scales.astype("f8")[:, at]
    turn = (lambda array: array) if axis == 0 else (lambda array: array.T)
    table, parameters = model.weight(turn(numbers), "i1"), [model.weight(turn(scales))] + ([model.weight(turn(zeros), "i1")] if has_zeros else [])
    n = f"picked{len(model.nodes)}" if is_dynamic else count
    indices, name = pick(model, count, columns, [n])
    dequantize = {"axis": 1 - axis, "block_size": block}
    if is_first:
        right = add(model, "Gather", [add(model, "DequantizeLinear", [table, *parameters], **dequantize), name], axis=axis)
    else:
        picked = [add(model, "Gather", [value, name], axis=axis) for value in (table, *parameters)]
        right = add(model, "DequantizeLinear", picked, **dequantize)
    x = random.standard_normal((*rows, depth))
    multiply(model, f"blocks {rows} {axis} {is_first} {bits}", x, right, weights[indices], axis, dims=[*rows, n])


def rows_of(model, shape, indices_shape, block, kind, has_zeros, gather_axis=0, quantize_axis=None, type="f4"):
    """com.microsoft GatherBlockQuantized; int4 data has any axes, uint8 data the last one for its blocks."""
    quantize_axis = len(shape) - 1 if quantize_axis is None else quantize_axis
    bits, is_signed = (8 if kind == "u8" else 4), kind == "i4"
    per_block = list(shape)
    per_block[quantize_axis] = -(-shape[quantize_axis] // block)
    numbers = random.integers(0, 2**bits, shape) - (8 if is_signed else 0)
    scales = random.uniform(0.01, 0.02, per_block).astype(type)
    default = 0 if kind in ("i4", "n4") else 2 ** (bits - 1)
    zeros = random.integers(0, 2**bits, per_block) - (8 if is_signed else 0) if has_zeros else np.full(per_block, default)
    spread = lambda array: np.take(array, np.arange(shape[quantize_axis]) // block, quantize_axis)
    table = (numbers - spread(zeros)) * spread(scales.astype("f8"))
    indices = random.integers(-shape[gather_axis], shape[gather_axis], indices_shape)

    def store(array):
        if kind == "p4":
            padded = np.pad(array, [(0, 0)] * (array.ndim - 1) + [(0, array.shape[-1] % 2)])
            return model.weight(padded[..., ::2] | padded[..., 1::2] << 4, "u1")
        if kind == "u8":
            return model.weight(array, "u1")
        name = f"w{len(model.weights)}"
        flat = np.append(array.reshape(-1), 0)[: -(-array.size // 2) * 2] & 15
        model.weights.append(TensorProto(name=name, data_type=INT4 if is_signed else UINT4, dims=array.shape, raw_data=(flat[::2] | flat[1::2] << 4).astype("u1").tobytes()))
        return name

    inputs = [store(numbers), model.input(indices, "i8"), model.weight(scales, type)] + ([store(zeros)] if has_zeros else [])
    attributes = {"bits": 8} if kind == "u8" else {}
    model.case(f"rows {kind} {len(shape)}", "GatherBlockQuantized", inputs, np.take(table, indices, gather_axis), type, domain="com.microsoft",
               gather_axis=gather_axis, quantize_axis=quantize_axis, block_size=block, **attributes)


def main():
    folder, faults = pathlib.Path(sys.argv[1]), []
    model = Model()
    for axis in (0, 1):
        for rows, depth, count in (((1,), 64, 9), ((3,), 37, 6), ((2, 2), 16, 1), ((40,), 24, 7)):
            real(model, rows, depth, 50, count, axis, depth == 37)
            for is_first in (False, True):
                for per in ("tensor", "column"):
                    bytes_of(model, rows, depth, 50, count, axis, is_first, per, per == "column")
        for rows, depth, block, bits in (((1,), 64, 32, 4), ((3,), 128, 16, 8), ((2, 2), 32, 32, 8), ((20,), 96, 16, 4)):
            for is_first in (False, True):
                if not (is_first and axis == 1):
                    blocks_of(model, rows, depth, 50, 9, axis, is_first, block, bits, bits == 8 or depth == 96, depth == 64)
    rows_of(model, (40, 64), (3, 2), 32, "p4", False)
    rows_of(model, (40, 96), (7,), 32, "p4", True)
    rows_of(model, (40, 96), (), 32, "p4", True, type="f2")
    rows_of(model, (40, 64), (5,), 16, "u8", False)
    rows_of(model, (40, 40), (5,), 16, "u8", True)
    rows_of(model, (10, 3, 32), (2,), 16, "u8", True)
    rows_of(model, (40, 64), (5,), 32, "i4", False)
    rows_of(model, (40, 64), (5,), 32, "n4", True)
    rows_of(model, (40, 8, 10), (2, 2), 16, "i4", True, gather_axis=1, quantize_axis=0)
    rows_of(model, (40, 6), (5,), 16, "n4", True, gather_axis=0, quantize_axis=0)
    model.save(folder / "shortlists.onnx", 21, [("com.microsoft", 1)])
    for target in sys.argv[2:]:
        kiln("run", folder / "shortlists.onnx", "--target", target, "--output-dir", folder / target, *model.save_inputs(folder))
        faults += model.compare(folder / target, {"f4": (2e-5, 2e-4), "f2": (2e-3, 1e-3)}, f", {target}")
    finish(faults, len(model.expected) * len(sys.argv[2:]))


if __name__ == "__main__":
    main()
