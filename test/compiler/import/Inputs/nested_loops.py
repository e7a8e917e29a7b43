"""Loops in loops, whose steps together are more than a model may have nodes: each is rolled. Beside the numbers of NumPy.

Usage: nested_loops.py DIR
"""

import pathlib
import sys

import model_run
import numpy as np
from onnx import TensorProto, helper, numpy_helper

STEPS = (70, 60, 50)


def value(name, element=TensorProto.FLOAT, shape=(4,)):
    return helper.make_tensor_value_info(name, element, list(shape))


def loop(depth, kind, x, y):
    """A Loop or Scan around `depth` - 1 others, which multiplies by 0.999 and adds 1 in each of the innermost steps."""
    if depth == 0:
        return [helper.make_node("Mul", [x, "factor"], [f"{y}_scaled"]), helper.make_node("Add", [f"{y}_scaled", "one"], [y])]
    inner = loop(depth - 1, kind, f"a{depth}", f"r{depth}")
    if kind == "Scan":
        body = helper.make_graph(inner, f"b{depth}", [value(f"a{depth}"), value(f"s{depth}", shape=())], [value(f"r{depth}")])
        return [helper.make_node("Scan", [x, f"steps{depth}"], [y], body=body, num_scan_inputs=1)]
    inner.append(helper.make_node("Identity", [f"c{depth}"], [f"d{depth}"]))
    inputs = [value(f"i{depth}", TensorProto.INT64, ()), value(f"c{depth}", TensorProto.BOOL, ()), value(f"a{depth}")]
    body = helper.make_graph(inner, f"b{depth}", inputs, [value(f"d{depth}", TensorProto.BOOL, ()), value(f"r{depth}")])
    return [helper.make_node("Loop", [f"steps{depth}", "", x], [y], body=body)]


def model(kind):
    weights = {"factor": np.float32(0.999), "one": np.float32(1)}
    for depth, steps in enumerate(STEPS, 1):
        weights[f"steps{depth}"] = np.zeros(steps, np.float32) if kind == "Scan" else np.array(steps)
    tensors = [numpy_helper.from_array(np.asarray(array), name) for name, array in weights.items()]
    graph = helper.make_graph(loop(len(STEPS), kind, "x", "y"), "g", [value("x")], [value("y")], tensors)
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 18)], ir_version=8)


def main():
    folder = pathlib.Path(sys.argv[1])
    folder.mkdir(parents=True, exist_ok=True)
    x = np.array([-1, 0, 5, 4000], np.float32)
    want = x
    for _ in range(int(np.prod(STEPS))):
        want = want * np.float32(0.999) + np.float32(1)
    for kind in ("Loop", "Scan"):
        (got,) = model_run.run(folder, model(kind), {"x": x}, ("y",))
        print(f"{kind}: {'close' if np.allclose(got, want, rtol=1e-4) else (got, want)}")


if __name__ == "__main__":
    main()
