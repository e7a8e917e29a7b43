"""Gradient gives what differences of the function give, in double precision.

Usage: gradient.py OUT
"""

import pathlib
import sys

import numpy as np
import onnx
from onnx import TensorProto, helper

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[3]))
import kiln_calls  # noqa: E402

RANDOM = np.random.RandomState(2)
INPUTS = {"x": RANDOM.uniform(0.5, 1.5, (3, 4)), "w": RANDOM.uniform(-1, 1, (4, 2)), "b": RANDOM.uniform(-1, 1, 2), "e": np.array([2.0, 3.0])}
NODES = [("MatMul", "x w", "p"), ("Add", "p b", "q"), ("Tanh", "q", "t"), ("Sigmoid", "q", "s"), ("Mul", "t s", "m"), ("Exp", "m", "g"),
         ("Sub", "g t", "d"), ("Abs", "d", "a"), ("Sqrt", "a", "r"), ("Transpose", "r", "u"), ("Sin", "u", "i"), ("Cos", "q", "c"),
         ("Relu", "q", "l"), ("Transpose", "i", "o"), ("Add", "o c", "f"), ("Add", "f l", "h"), ("Pow", "a e", "z"), ("Div", "h g", "v"),
         ("Log", "g", "n"), ("Neg", "n", "k"), ("Add", "v z", "j"), ("Add", "j k", "y")]


def evaluate(x, w, b, e):
    q = x @ w + b
    t = np.tanh(q)
    g = np.exp(t / (1 + np.exp(-q)))
    a = np.abs(g - t)
    return np.sum((np.sin(np.sqrt(a)) + np.cos(q) + np.maximum(q, 0)) / g + a**e - np.log(g))


def difference(name, step=1e-6):
    result = np.zeros_like(INPUTS[name])
    for at in np.ndindex(result.shape):
        values = [np.array(INPUTS[key]) for key in INPUTS for _ in range(2)]
        place = 2 * list(INPUTS).index(name)
        values[place][at] += step
        values[place + 1][at] -= step
        result[at] = (evaluate(*values[0::2]) - evaluate(*values[1::2])) / (2 * step)
    return result


def main():
    out = pathlib.Path(sys.argv[1])
    nodes = [helper.make_node(op, inputs.split(), [name], name) for op, inputs, name in NODES]
    nodes.append(helper.make_node("Gradient", list(INPUTS), [f"d{name}" for name in INPUTS], "dy", domain="ai.onnx.preview.training", xs=list(INPUTS), y="y"))
    info = [helper.make_tensor_value_info(name, TensorProto.DOUBLE, array.shape) for name, array in INPUTS.items()]
    graph = helper.make_graph(nodes, "g", info, [helper.make_tensor_value_info(f"d{name}", TensorProto.DOUBLE, array.shape) for name, array in INPUTS.items()])
    opsets = [helper.make_opsetid("", 13), helper.make_opsetid("ai.onnx.preview.training", 1)]
    onnx.save(helper.make_model(graph, opset_imports=opsets, ir_version=8), str(out / "m.onnx"))
    given = []
    for name, array in INPUTS.items():
        np.save(out / f"{name}.npy", array)
        given.append(f"--input={name}={out}/{name}.npy")
    kiln_calls.run("run", out / "m.onnx", "--target=generic", f"--output-dir={out}", *given)
    for name in INPUTS:
        got, expected = np.load(out / f"d{name}.npy"), difference(name)
        assert np.allclose(got, expected, rtol=1e-6, atol=1e-7), (name, got, expected)
    print("derivatives agree with differences")


if __name__ == "__main__":
    main()
