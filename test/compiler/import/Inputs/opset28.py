#!/usr/bin/env python3
"""Additions of opsets 25 to 28 to operators, against numpy: opset28.py FOLDER TARGET...

Every case is there twice: computed by a kernel, and of constants while the model is compiled.
"""

import pathlib
import sys

import numpy as np
from onnx import TensorProto, helper

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[3]))
from onnx_cases import Model, run_on_targets

BOUNDS = {"f4": (1e-5, 1e-6), "f8": (1e-12, 1e-300), "f2": (1e-3, 1e-7)}
FLOAT6E2M3, FLOAT6E3M2 = 27, 28
#: The numbers of the two types of six bits from zero up: 0.125 apart below 2, and 2^-4 apart below 0.5.
E2M3 = np.concatenate([np.arange(16) / 8, 2 + np.arange(8) / 4, 4 + np.arange(8) / 2])
E3M2 = np.concatenate([np.arange(4) / 16, *([2.0**e * (1 + np.arange(4) / 4) for e in range(-2, 5)])])


def add_shifts(model, give):
    """The arithmetic shift keeps the sign; distances below zero, or of the width and more, leave the sign alone."""
    for dtype in "i1", "i2", "i4", "i8":
        width = np.iinfo(dtype).bits
        distances = [0, 1, width // 2, width - 1, width, width + 3, -1, np.iinfo(dtype).min]
        x, y = np.meshgrid(np.array([1, -1, 93, -93, np.iinfo(dtype).min, np.iinfo(dtype).max]), np.array(distances))
        pairs = [(int(a), int(b)) for a, b in zip(x.ravel(), y.ravel())]
        right = [a >> min(b if b >= 0 else width, width) for a, b in pairs]
        left = [((a << b) + 2 ** (width - 1)) % 2**width - 2 ** (width - 1) if 0 <= b < width else 0 for a, b in pairs]
        for direction, want in ("RIGHT", right), ("LEFT", left):
            given = [give(x.ravel(), dtype), give(y.ravel(), dtype)]
            model.case(f"shift {direction} {dtype}", "BitShift", given, np.array(want, dtype), dtype, direction=direction)


def add_mod(model, give):
    """Of floats with fmod = 0: the sign is the divisor's, that of a zero, too."""
    numbers = np.array([0.0, -0.0, 1.5, -1.5, 5.25, -5.25, np.inf, -np.inf, np.nan, 1e-3])
    x, y = (part.ravel() for part in np.meshgrid(numbers, numbers))
    for dtype in "f4", "f8", "f2":
        a, b = x.astype(dtype).astype("f8"), y.astype(dtype).astype("f8")
        with np.errstate(all="ignore"):
            rest = np.fmod(a, b)
            moved = np.where((rest != 0) & ((rest < 0) != (b < 0)), rest + b, rest)
        want = np.where(rest == 0, np.copysign(0, b), moved)
        given = [give(x, dtype), give(y, dtype)]
        model.case(f"mod {dtype}", "Mod", given, want, dtype)
        # The reciprocal shows the sign of a zero.
        with np.errstate(all="ignore"):
            model.case(f"mod signs {dtype}", "Reciprocal", [node(model, "Mod", given)], 1 / want.astype(dtype), dtype)


def to_bf16(model, name):
    return node(model, "Cast", [name], to=TensorProto.BFLOAT16)


def node(model, op, inputs, outputs=1, **attributes):
    """The first output of a node that is no case."""
    names = [f"{op.lower()}_{len(model.nodes)}_{i}" for i in range(outputs)]
    model.nodes.append(helper.make_node(op, inputs, names, names[0], **attributes))
    return names[0]


def add_bf16(model, give):
    """Operators that had every type but bf16."""
    x = np.array([[3.0, 1, 3], [2, 2, 5]])
    wide = lambda label, value, want: model.case(label, "Cast", [value], np.array(want), "f4", to=TensorProto.FLOAT)
    half = to_bf16(model, give(x))
    wide("einsum product", node(model, "Einsum", [half, to_bf16(model, give(x.T.copy()))], equation="ij,jk->ik"), x @ x.T)
    wide("einsum sum", node(model, "Einsum", [half], equation="ij->j"), x.sum(0))
    wide("one hot", node(model, "OneHot", [give(np.array([1, 0]), "i8"), model.weight(np.array(3), "i8"), to_bf16(model, give(np.array([-1.0, 7])))]),
         [[-1, 7, -1], [7, -1, -1]])
    wide("reverse", node(model, "ReverseSequence", [half, model.weight(np.array([2, 3]), "i8")], batch_axis=0, time_axis=1), [[1, 3, 3], [5, 2, 2]])


def add_blocks(model, give):
    x = np.arange(2 * 2 * 4 * 6.0).reshape(2, 2, 4, 6)
    blocks = x.reshape(2, 2, 2, 2, 3, 2)
    for mode, order in ("DCR", (0, 3, 5, 1, 2, 4)), ("CRD", (0, 1, 3, 5, 2, 4)):
        model.case(f"blocks {mode}", "SpaceToDepth", [give(x)], blocks.transpose(order).reshape(2, 8, 2, 3), blocksize=2, mode=mode)


def add_range(model, give):
    """A step of f16 that is rounded once alone stays right."""
    delta = np.array(0.1).astype("f2")
    want = (np.arange(np.ceil(30 / float(delta)), dtype="f4") * np.float32(delta)).astype("f2")
    model.case("range", "Range", [model.weight(number, "f2") for number in (np.array(0.0), np.array(30.0), delta)], want, "f2")


def attend(q, k, v, allowed, scale):
    scores = np.where(allowed, q @ np.swapaxes(k, -1, -2) * scale, -np.inf)
    most = scores.max(-1, keepdims=True)
    weights = np.exp(scores - np.where(np.isinf(most), 0, most))
    total = weights.sum(-1, keepdims=True)
    return (weights / np.where(total == 0, 1, total)) @ v


def add_windows(model, give):
    """Keys beside a query's own place, with a past, with more queries than keys, and with a cache of which a part is used."""
    random = np.random.default_rng(28)
    for label, queries, keys, past, used in ("plain", 5, 5, 0, None), ("past", 3, 3, 4, None), ("long", 7, 3, 0, None), ("cache", 2, 6, 0, [5, 3]):
        q, k, v = (random.standard_normal((2, 2, length, 4)) for length in (queries, keys, keys))
        before = [random.standard_normal((2, 2, past, 4)) for _ in range(2)] if past else []
        whole = [np.concatenate([old, new], 2) for old, new in zip(before, (k, v))] if past else [k, v]
        offset = np.array(used).reshape(2, 1, 1, 1) - queries if used else past
        row, column = np.arange(queries)[:, None] + offset, np.arange(whole[0].shape[2])
        for left, right, causal in (1, 0, 0), (1, 1, 0), (-1, 1, 0), (2, -1, 0), (1, -1, 1), (0, 2, 1):
            allowed = np.ones_like(row - column, bool)
            if left >= 0:
                allowed &= column >= row - left
            if right >= 0 or causal:
                allowed &= column <= row + (0 if causal else right)
            if used:
                allowed = allowed & (column < np.array(used).reshape(2, 1, 1, 1))
            inputs = [give(q), give(k), give(v), ""] + ([give(old) for old in before] if past else ["", ""]) + ([give(np.array(used), "i8")] if used else [])
            model.case(f"window {label} {left} {right} {causal}", "Attention", inputs, attend(q, *whole, allowed, 0.5), left_window_size=left,
                       right_window_size=right, is_causal=causal)


def add_float6(model, give):
    """Round trips; a tie goes to the even code, and what is too large to the largest number."""
    for dtype, numbers in (FLOAT6E2M3, E2M3), (FLOAT6E3M2, E3M2):
        middles = (numbers[1:] + numbers[:-1]) / 2
        x = np.concatenate([numbers, -numbers[1:], middles, numbers[:-1] + 0.49 * np.diff(numbers), [1e9, -1e9, np.inf]])
        even = np.where(np.arange(31) % 2 == 0, numbers[:-1], numbers[1:])
        want = np.concatenate([numbers, -numbers[1:], even, numbers[:-1], [numbers[-1], -numbers[-1], numbers[-1]]])
        model.case(f"float6 {dtype}", "Cast", [node(model, "Cast", [give(x)], to=dtype)], want, to=TensorProto.FLOAT)
        # As a constant of the model: four in three bytes, and one in each value of the field.
        codes = np.arange(64)
        values = np.concatenate([numbers, -numbers])
        word = sum(int(code) << (6 * i) for i, code in enumerate(codes))
        raw = TensorProto(name=f"raw_{dtype}", data_type=dtype, dims=[64], raw_data=word.to_bytes(48, "little"))
        single = TensorProto(name=f"single_{dtype}", data_type=dtype, dims=[64], int32_data=codes.tolist())
        model.weights += [raw, single]
        for tensor in raw, single:
            model.case(f"stored {tensor.name}", "Cast", [tensor.name], values, to=TensorProto.FLOAT)
        quantized = node(model, "QuantizeLinear", [give(x[:63] * 0.5), model.weight(np.array(0.5))], output_dtype=dtype)
        model.case(f"dequantized {dtype}", "DequantizeLinear", [quantized, model.weight(np.array(0.25))], want[:63] * 0.25)


def main():
    models = {}
    for kind in "input", "constant":
        model = Model()
        for add in add_shifts, add_mod, add_bf16, add_blocks, add_range, add_windows, add_float6:
            add(model, model.input if kind == "input" else model.weight)
        models[kind] = model, 28
    run_on_targets(sys.argv[1], sys.argv[2:], models, BOUNDS)


main()
