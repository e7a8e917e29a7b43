"""Writes models whose entries have so many launches that they are split, and concatenations of very many operands."""

import pathlib
import sys

import numpy
import onnx
from onnx import TensorProto, helper

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[3] / "benchmark"))
from growing_models import Graph, concat_operands, split_results  # noqa: E402

folder = pathlib.Path(sys.argv[1])


def steps(count, checks):
    """A chain with sizes that only the run knows, in which some kernels check indices and some run under a condition."""
    g = Graph()
    x = v = g.input(["n", 4])
    w = [g.weight(numpy.linspace(-1, 1, 16).reshape(4, 4) + numpy.eye(4) * i / 4) for i in range(3)]
    index = g.input(["n"], TensorProto.INT64)
    for i in range(count):
        v = g.Softmax(g.MatMul(v, w[i % 3]))
        if checks and i % 50 == 0:
            v = g.Gather(v, index, axis=0)
        if checks and i % 100 == 0:
            name = f"b{i}"
            bodies = []
            for operator in ("Sin", "Exp"):
                body = Graph()
                body.nodes.append(helper.make_node(operator, [v], [name + operator]))
                body.output(name + operator)
                bodies.append(body.body(name + operator))
            v = g.If(g.Greater(g.ReduceSum(x, keepdims=0), g.weight(float(i) / 100)), then_branch=bodies[0], else_branch=bodies[1])
    g.output(v)
    if not checks:
        g.output(g.Gather(x, index, axis=0))
    return g.model()


onnx.save(steps(540, True), folder / "steps.onnx")
onnx.save(concat_operands(100), folder / "concat.onnx")
onnx.save(split_results(300), folder / "split.onnx")
