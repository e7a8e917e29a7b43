#!/usr/bin/env python3
"""Edits the numbers of plans by hand, runs the result and compares it with numpy: edited_plans.py FOLDER TARGET..."""
import pathlib
import re
import subprocess
import sys

import numpy as np
from contractions import Module, add_convolution, add_padded_convolution, add_product, save_inputs, tensor

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[3]))
import kiln_calls  # noqa: E402

# What is edited, and "" when the kernel can follow it, or why it cannot. Text behind `>` is of the group's types, which tell two of a kind apart.
EDITS = [
    (r'(kernel = "gemm_tiled", tile = \[1, .*?streams = )\d+', r"\g<1>2", ""),
    (r'(kernel = "gemm_tiled", tile = \[1, .*?streams = )\d+', r"\g<1>1", ""),
    (r'(kernel = "gemm_tiled", tile = \[1, [^>]*?), piece = \d+, near = \d+, ahead = .*?>', r"\g<1>>", ""),
    (r'(kernel = "gemm_tiled", tile = \[[^1][^>]*?), piece = \d+, near = \d+, ahead = .*?>', r"\g<1>, piece = 64, ahead = [3, 70], coming = [1, 9, 1]>", ""),
    (r'(kernel = "gemm_packed".*?blocks = )\d+, depth = \d+', r"\g<1>2, depth = 96", ""),
    (r'(kernel = "gemm_dots", tile = \[)\d+, 1, \d+(\], blocks = )\d+', r"\g<1>3, 1, 4\g<2>2", ""),
    (r'(kernel = "conv_depthwise", lines = )\d+, pixels = \d+[^>]*(>.*x20xf32)', r"\g<1>1, pixels = 3\g<2>", ""),
    (r'(kernel = "conv_depthwise", lines = )\d+, pixels = \d+[^>]*(>.*x20xf32)', r"\g<1>2, pixels = 5, inside = true\g<2>", ""),
    (r'(kernel = "conv_depthwise", lines = )\d+(, pixels = \d+[^>]*>.*x8xf32)', r"\g<1>2\g<2>", "neighbouring lines share no input lines"),
    (r'(kernel = "product_softmax", tile = \[)\d+, \d+, (\d+)(\].*?strip = )\d+', r"\g<1>3, 2, \g<2>\g<3>64", ""),
    (r'(kernel = "softmax_rows")[^>]*(>.*7x60xf32)', r"\g<1>, in_registers = true\g<2>", ""),
    (r'(kernel = "softmax_rows")[^>]*(>.*7x24xf32)', r"\g<1>\g<2>", ""),
    (r'(kernel = "softmax_rows")[^>]*(>.*20x43xf32)', r"\g<1>, columns = 16\g<2>", ""),
    (r'(kernel = "softmax_rows")[^>]*(>.*21x43xf32)', r"\g<1>\g<2>", ""),
    (r'(kernel = "softmax_rows")[^>]*(>.*20x43xf32)', r"\g<1>, columns = 6\g<2>", "'columns' is 6, expected a multiple of the "),
    (r'(kernel = "softmax_rows")[^>]*(>.*20x43xf32)', r"\g<1>, columns = 1024\g<2>", "'columns' would have 20480 elements, expected at most 16384"),
    (r'(kernel = "softmax_rows")[^>]*(>.*20x43xf32)', r"\g<1>, in_registers = true\g<2>", "it is across rows, so no row is in registers"),
    (r'(kernel = "softmax_rows")[^>]*(>.*7x60xf32)', r"\g<1>, columns = 16\g<2>", "it is along rows, so there are no 'columns'"),
    (r'(kernel = "softmax_rows")[^>]*(>.*2x600xf32)', r"\g<1>, in_registers = true\g<2>", "vectors, expected at most 64"),
    (r'(kernel = "attention_rows", tile = \[)\d+(, .*?rows = )\d+, keys = \d+', r"\g<1>5\g<2>17, keys = 64", ""),
    (r'(kernel = "attention_rows".*?keys = )\d+', r"\g<1>60", "'keys' is 60, expected a multiple of the tile's "),
    (r'(kernel = "attention_rows".*?keys = )\d+', r"\g<1>65536", "'keys' is 65536, the arrays of a task have room for "),
    (r'(kernel = "attention_rows", tile = \[\d+, )\d+', r"\g<1>1", " columns, expected "),
    (r'(kernel = "attention_rows".*?dots = )\d+', r"\g<1>51", ""),
    (r'(kernel = "lstm_steps", tile = \[)\d+, 1, \d+', r"\g<1>3, 1, 4", ""),
    (r'(kernel = "lstm_steps".*?streams = )\d+', r"\g<1>1", ""),
    (r'(kernel = "transpose_tiled".*?squares = )\[\d+, \d+\]', r"\g<1>[1, 3]", ""),
    (r'(kernel = "transpose_tiled", tile = \[)\d+, 1, \d+', r"\g<1>4, 1, 4", ""),
    (r'(kernel = "transpose_tiled", tile = \[)\d+, 1, \d+', r"\g<1>4, 1, 8", "a tile is a square of one vector in each row"),
    (r'(kernel = "conv_dots", tile = \[)\d+, 1, \d+', r"\g<1>3, 1, 4", ""),
    (r'(kernel = "conv_dots", tile = \[)\d+, 1, \d+', r"\g<1>5, 1, 4", "with at least as many lanes as there are pixels"),
    (r'(kernel = "conv_tiled"[^>]*), border = \[[^>]*\]>', r"\g<1>>", ""),
    (r'(kernel = "conv_tiled".*?border = \[)\d+', r"\g<1>5", "the zeros around the input are others"),
    (r'(kernel = "pad_squares", tile = \[)\d+, 1, \d+', r"\g<1>4, 1, 4", ""),
    (r'(kernel = "pad_squares", tile = \[)\d+, 1, \d+', r"\g<1>4, 1, 8", "a tile is a square of one vector in each row"),
]


def sigmoid(x):
    return 1 / (1 + np.exp(-x))


def softmax(x):
    e = np.exp(x - x.max(-1, keepdims=True))
    return e / e.sum(-1, keepdims=True)


def add_lstm(module, steps, batch, hidden):
    gates, recurrence = module.array(steps, batch, 4 * hidden), module.array(1, hidden, 4 * hidden) / np.float32(np.sqrt(hidden))
    zero = np.zeros((1, batch, hidden), np.float32)
    state = cell = np.zeros((batch, hidden))
    for step in gates:
        i, o, f, c = np.split(step + state @ recurrence[0].astype(np.float64), 4, axis=1)
        cell = sigmoid(f) * cell + sigmoid(i) * np.tanh(c)
        state = sigmoid(o) * np.tanh(cell)
    zeros, types = module.constant(zero), ", ".join(map(tensor, (gates, recurrence, zero, zero)))
    all_states, last = tensor(np.empty((steps, 1, batch, hidden))), tensor(zero)
    line = (f'nn.lstm gates({module.input(gates)}) recurrence({module.constant(recurrence)}) hidden({zeros}) cell({zeros}) '
            f'activations ["Sigmoid", "Tanh", "Tanh"] : ({types}) -> ({all_states}, {last}, {last})')
    module.lines.append(f"    %l:3 = {line}")
    module.expected.append(("%l#1", state[None]))


def add_attention(module, rows, keys, depth):
    q, k, v = module.array(2, rows, depth), module.array(2, keys, depth), module.array(2, keys, depth)
    exact = softmax(q.astype(np.float64) @ np.swapaxes(k, 1, 2) / 8) @ v
    types = ", ".join(map(tensor, (q, k, v)))
    operands = f"query({module.input(q)}) key({module.input(k)}) value({module.input(v)})"
    module.expected.append((module.op(f"nn.attention {operands} scale 0.125 : ({types})", tensor(exact)), exact))


def build():
    module = Module()
    add_product(module, 1, 40, 700, True)
    add_product(module, 30, 40, 70, True)
    add_product(module, 50, 60, 300, False)
    add_product(module, 90, 1, 70, False)
    add_convolution(module, (1, 12, 15, 20), (20, 1, 3, 3), (1, 1), (1, 1), 20)
    add_convolution(module, (1, 12, 15, 8), (8, 1, 3, 3), (3, 3), (1, 1), 8)
    for shape, axis in [((7, 60), 1), ((7, 24), 1), ((2, 600), 1), ((20, 43), 0), ((21, 43), 0)]:
        rows = module.array(*shape)
        exact = np.swapaxes(softmax(np.swapaxes(rows, 0, 1).astype(np.float64)), 0, 1) if axis == 0 else softmax(rows.astype(np.float64))
        module.expected.append((module.op(f"nn.softmax {module.input(rows)} axis {axis} : {tensor(rows)}", None), exact))
    left, right = module.array(30, 40), module.array(40, 200) / np.float32(6)
    exact = softmax(left.astype(np.float64) @ right)
    product = module.op(f"nn.matmul {module.input(left)}, {module.constant(right)} : {tensor(left)}, {tensor(right)}", tensor(exact))
    module.expected.append((module.op(f"nn.softmax {product} axis 1 : {tensor(exact)}", None), exact))
    add_attention(module, 50, 90, 32)
    add_lstm(module, 4, 7, 24)
    image = module.array(40, 56)
    turned = module.op(f"nn.transpose {module.input(image)} [1, 0] : {tensor(image)}", tensor(image.T))
    module.expected.append((module.op(f"nn.relu {turned} : {tensor(image.T)}", None), np.maximum(image.T, 0)))
    add_convolution(module, (1, 9, 15, 32), (1, 32, 3, 3), (1, 1), (1, 1), 1)
    add_padded_convolution(module, (1, 9, 9, 8), (20, 8, 3, 3), (1, 1), (6, 6), [(6, 6), (6, 6)], 1)
    planes = module.array(1, 16, 9, 20)
    moved = np.transpose(planes, (0, 2, 3, 1))
    padded = np.pad(moved, [(0, 0), (1, 1), (1, 1), (0, 0)])
    view = module.op(f"nn.transpose {module.input(planes)} [0, 2, 3, 1] : {tensor(planes)}", tensor(moved))
    zero = module.op("nn.splat 0.0 : f32", "tensor<f32>")
    border = "affine_map<() -> (0, 1, 1, 0)>"
    pad = f"nn.pad {view}, {zero} low {border} high {border} interior [0, 0, 0, 0] mode constant : {tensor(moved)}, tensor<f32>"
    module.expected.append((module.op(pad, tensor(padded)), padded))
    return module


def main():
    folder = pathlib.Path(sys.argv[1])
    module = build()
    (folder / "model.mlir").write_text(module.text())
    inputs = save_inputs(module, folder)
    for target in sys.argv[2:]:
        planned = folder / "planned.mlir"
        stages = [f"--kiln-set-target=name={target}", "--kiln-graph", "--kiln-target"]
        subprocess.run(["kiln-opt", folder / "model.mlir", *stages, "-o", planned], check=True)
        text, whole = planned.read_text(), planned.read_text()
        for pattern, number, fault in EDITS:
            edited, count = re.subn(pattern, number, text)
            assert count == 1, (target, pattern, count)
            if not fault:
                whole = re.sub(pattern, number, whole)
                continue
            (folder / "wrong.mlir").write_text(edited)
            refused = kiln_calls.call(folder / "wrong.mlir", "-o", folder / "wrong")
            kernel = re.search(r'"(\w+)"', pattern)[1]
            assert refused.returncode and f"kernel '{kernel}' cannot follow it: " in refused.stderr and fault in refused.stderr, (pattern, refused.stderr)
        assert whole != text
        (folder / "edited.mlir").write_text(whole)
        kiln_calls.run("run", folder / "edited.mlir", "--output-dir", folder / target, *inputs)
        results = [np.load(folder / target / f"y{i}.npy") for i in range(len(module.expected))]
        error = max(np.abs(result - exact).max() for result, (_, exact) in zip(results, module.expected))
        assert error < 1e-4, (target, error)
    print(f"{len(EDITS)} edits on {len(sys.argv) - 2} targets")


main()
