#!/usr/bin/env python3
"""Runs products, convolutions, softmaxes and layer norms by generated kernels and in oneDNN, on one and two threads: libraries.py FOLDER"""
import pathlib
import sys

import numpy as np

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[3]))
import kiln_calls  # noqa: E402
from onnx_cases import Model, describe_difference, finish, kiln  # noqa: E402

RANDOM = np.random.default_rng(5)
# Sums of up to 600 products in another order.
BOUNDS = {"f4": (2e-5, 2e-5), "f2": (2e-3, 2e-3)}


def array(*shape):
    return RANDOM.standard_normal(shape).astype("f4")


class Cases(Model):
    """Cases whose expected values are what the generated kernels give."""

    def node(self, op, *inputs, **attributes):
        name = f"v{len(self.nodes)}"
        self.nodes.append(__import__("onnx").helper.make_node(op, list(inputs), [name], f"{op.lower()}_{len(self.nodes)}", **attributes))
        return name

    def output(self, name, shape, dtype="f4"):
        self.case("out", "Identity", [name], np.zeros(shape), dtype)


def add_products(m):
    for batch, rows, depth, columns in [((), 7, 33, 19), ((), 1, 64, 50), ((3,), 5, 16, 9), ((2, 3), 4, 8, 6), ((), 5, 1, 3)]:
        left = m.input(array(*batch, rows, depth))
        # A constant for all batches with bias and relu, one for each batch that is computed, and one that is transposed.
        biased = m.node("Add", m.node("MatMul", left, m.weight(array(depth, columns))), m.weight(array(columns)))
        m.output(m.node("Relu", biased), (*batch, rows, columns))
        m.output(m.node("MatMul", left, m.input(array(*batch, depth, columns))), (*batch, rows, columns))
        turned = list(range(len(batch))) + [len(batch) + 1, len(batch)]
        m.output(m.node("MatMul", left, m.node("Transpose", m.input(array(*batch, columns, depth)), perm=turned)), (*batch, rows, columns))
    # Heads: the batch dimensions of both sides lie apart.
    heads, keys = (m.node("Transpose", m.input(array(2, 5, 3, 8)), perm=perm) for perm in ([0, 2, 1, 3], [0, 2, 3, 1]))
    m.output(m.node("MatMul", heads, keys), (2, 3, 5, 5))
    # One right side that is computed for all batches; a product without a bias; a bias that is no vector along the columns stays outside.
    left = m.input(array(2, 4, 12))
    m.output(m.node("MatMul", left, m.input(array(12, 5))), (2, 4, 5))
    m.output(m.node("Relu", m.node("Add", m.node("MatMul", left, m.weight(array(12, 5))), m.weight(array(4, 1)))), (2, 4, 5))
    m.output(m.node("Sigmoid", m.node("MatMul", left, m.weight(array(12, 7)))), (2, 4, 7))
    m.output(m.node("Gemm", m.input(array(6, 9)), m.weight(array(4, 9)), m.weight(array(4)), transB=1, alpha=0.5, beta=2.0), (6, 4))


def add_convolutions(m):
    def conv(inputs, filters, kernel, size, group=1, relu=False, **attributes):
        x = m.input(array(2, inputs, *size))
        y = m.node("Conv", x, m.weight(array(filters, inputs // group, *kernel)), m.weight(array(filters)), group=group, **attributes)
        pads = attributes.get("pads", [0] * (2 * len(size)))
        strides, dilations = attributes.get("strides", [1] * len(size)), attributes.get("dilations", [1] * len(size))
        out = [(size[i] + pads[i] + pads[i + len(size)] - (kernel[i] - 1) * dilations[i] - 1) // strides[i] + 1 for i in range(len(size))]
        m.output(m.node("Relu", y) if relu else y, (2, filters, *out))
        return y

    conv(3, 16, (3, 3), (9, 11), pads=[1, 1, 1, 1], relu=True)
    conv(16, 8, (1, 1), (5, 7))
    conv(8, 8, (3, 3), (12, 10), strides=[2, 2], pads=[0, 1, 2, 1])
    conv(8, 12, (3, 2), (11, 9), dilations=[2, 3], pads=[2, 0, 1, 3])
    conv(12, 24, (3, 3), (7, 7), group=3, relu=True)
    conv(16, 16, (3, 3), (8, 8), group=16, pads=[1, 1, 1, 1], strides=[2, 1])
    conv(4, 6, (5,), (17,), pads=[2, 2], strides=[2])
    conv(3, 5, (2, 3, 2), (5, 6, 7), pads=[1, 0, 0, 0, 1, 1], relu=True)
    # What follows besides bias and relu is a kernel of its own.
    x = m.input(array(1, 8, 6, 6))
    y = m.node("Conv", x, m.weight(array(8, 8, 3, 3)), m.weight(array(8)), pads=[1, 1, 1, 1])
    m.output(m.node("Relu", m.node("Add", y, x)), (1, 8, 6, 6))


def add_rows(m):
    for rows, length in [(3, 10), (5, 129), (1, 1)]:
        x = m.input(array(rows, length))
        m.output(m.node("Softmax", x, axis=-1), (rows, length))
        m.output(m.node("LogSoftmax", x, axis=-1), (rows, length))
        m.output(m.node("LayerNormalization", x, m.weight(array(length)), m.weight(array(length)), axis=-1, epsilon=0.01), (rows, length))
    x = m.input(array(2, 3, 4, 5))
    m.output(m.node("Softmax", x, axis=1), (2, 3, 4, 5))
    m.output(m.node("LayerNormalization", x, m.weight(array(4, 5)), axis=2), (2, 3, 4, 5))
    # Computed on the way, and used again behind.
    m.output(m.node("Mul", m.node("Softmax", m.node("Mul", x, m.weight(np.array(0.5, "f4"))), axis=-1), x), (2, 3, 4, 5))


def add_fallbacks(m):
    half = m.input(array(4, 6), "f2")
    m.output(m.node("MatMul", half, m.weight(array(6, 5), "f2")), (4, 5), "f2")
    m.output(m.node("Softmax", half, axis=-1), (4, 6), "f2")
    m.output(m.node("Conv", m.input(array(1, 2, 5, 5)), m.input(array(3, 2, 3, 3))), (1, 3, 3, 3))


def main():
    folder = pathlib.Path(sys.argv[1])
    m = Cases()
    for add in (add_products, add_convolutions, add_rows, add_fallbacks):
        add(m)
    path = folder / "cases.onnx"
    m.save(path, 17)
    arguments = [path, *m.save_inputs(folder)]
    kiln("run", *arguments, "--output-dir", folder / "generated")
    faults = []
    for threads in (1, 2):
        out = folder / f"threads{threads}"
        kiln("run", *arguments, "--library=onednn:all", f"--threads={threads}", "--output-dir", out)
        for name, (_, dtype) in m.expected.items():
            fault = describe_difference(np.load(out / f"{name}.npy"), np.load(folder / "generated" / f"{name}.npy"), dtype, BOUNDS)
            faults += [f"{name} with {threads} threads: {fault}"] if fault else []
    why = kiln_calls.call(path, "--library=onednn:all", "--why", "--stop-after=target").stderr
    for kind, count in (("matmul", 20), ("conv", 9), ("softmax", 7), ("layer_norm", 4)):
        taken = why.count(f"onednn_{kind}")
        faults += [f"{taken} of oneDNN's {kind}, expected {count}\n{why}"] if taken != count else []
    finish(faults, 2 * len(m.expected))


main()
