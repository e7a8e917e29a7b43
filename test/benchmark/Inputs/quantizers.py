#!/usr/bin/env python3
"""The static quantiser that `kiln quantize` is compared with, on a small model, and the numbers of the comparison: quantizers.py FOLDER"""
import importlib.machinery
import importlib.util
import pathlib
import subprocess
import sys

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

BENCHMARK = pathlib.Path(__file__).resolve().parents[1]
sys.path.insert(0, str(BENCHMARK))
sys.dont_write_bytecode = True
import static_quantizer  # noqa: E402

random = np.random.default_rng(11)


def make_model():
    """Two layers with a Relu between them, and a sum."""
    weights = {"w": random.standard_normal((8, 16)), "b": random.standard_normal(16), "v": random.standard_normal((4, 16)), "c": random.standard_normal(4)}
    nodes = [helper.make_node("Gemm", ["x", "w", "b"], ["h"], "first"), helper.make_node("Relu", ["h"], ["r"], "relu"),
             helper.make_node("Gemm", ["r", "v", "c"], ["g"], "second", transB=1), helper.make_node("Add", ["g", "g"], ["y"], "add")]
    values = [helper.make_tensor_value_info(name, TensorProto.FLOAT, shape) for name, shape in (("x", [5, 8]), ("y", [5, 4]))]
    initializers = [numpy_helper.from_array(array.astype("f4"), name) for name, array in weights.items()]
    return helper.make_model(helper.make_graph(nodes, "layers", values[:1], values[1:], initializers), ir_version=8, opset_imports=[helper.make_opsetid("", 13)]), weights


def run(path, x, folder):
    np.save(folder / "x.npy", x)
    subprocess.run(["kiln", "run", str(path), "--input", f"x={folder}/x.npy", "--output-dir", str(folder)], check=True)
    return np.load(folder / "y.npy")


def check_quantizer(folder):
    model, weights = make_model()
    x = random.standard_normal((5, 8)).astype("f4")
    h = x @ weights["w"] + weights["b"]
    g = np.maximum(h, 0) @ weights["v"].T + weights["c"]
    ranges = {name: (min(0, float(array.min())), max(0, float(array.max()))) for name, array in {"x": x, "h": h, "r": np.maximum(h, 0), "g": g, "y": 2 * g}.items()}
    static_quantizer.Quantizer(model, ranges).run()
    onnx.save(model, str(folder / "q.onnx"))
    onnx.checker.check_model(model, full_check=True)
    got, count = run(folder / "q.onnx", x, folder), lambda op: sum(node.op_type == op for node in model.graph.node)
    error = np.sqrt(((got - 2 * g) ** 2).sum() / ((2 * g) ** 2).sum())
    # x, r and g; two weights and two biases. What is behind the Relu has no pair in front of it.
    assert (count("QuantizeLinear"), count("DequantizeLinear")) == (3, 7), (count("QuantizeLinear"), count("DequantizeLinear"))
    assert 0 < error < 0.02, error
    kinds = {weight.name: weight.data_type for weight in model.graph.initializer}
    assert kinds["w_q"] == TensorProto.INT8 and kinds["b_q"] == TensorProto.INT32 and "w" not in kinds
    return error


def check_comparison():
    loader = importlib.machinery.SourceFileLoader("quantization", str(BENCHMARK / "quantization"))
    quantization = importlib.util.module_from_spec(importlib.util.spec_from_loader("quantization", loader))
    loader.exec_module(quantization)
    # The second output is the worse one in both: off by a tenth of its norm, and with one of its two rows elsewhere.
    exact = [[("a", np.array([[1.0, 0.0]])), ("b", np.array([[3.0, 0.0], [0.0, 4.0]]))]]
    actual = [[("a", np.array([[1.0, 0.0]])), ("b", np.array([[3.0, 0.0], [0.5, 4.0]]))]]
    error, agreement = quantization.compare(exact, actual)
    assert abs(error - 0.1) < 1e-9 and agreement == 1, (error, agreement)
    actual[0][1] = ("b", np.array([[3.0, 3.5], [0.0, 4.0]]))
    assert quantization.compare(exact, actual)[1] == 0.5


folder = pathlib.Path(sys.argv[1])
print(f"error {check_quantizer(folder):.4f}")
check_comparison()
