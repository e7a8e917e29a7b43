"""Scan of opset 8, whose states and inputs have a batch in front: sums and running sums with and without lengths, forwards and backwards, of fixed and of
symbolic numbers of steps, beside what the text says. ONNX Runtime 1.30 gives the same numbers.

Usage: batched_scan.py DIR
"""

import pathlib
import sys

import model_run
import numpy as np
from onnx import TensorProto, helper

BATCH, STEPS, SIZE = 3, 4, 2


def model(has_lengths, direction, steps):
    """state' = state + x * y; row = state' - y, where y is scanned forwards."""
    value = lambda name, shape: helper.make_tensor_value_info(name, TensorProto.FLOAT, shape)
    nodes = [helper.make_node("Mul", ["u", "v"], ["product"]), helper.make_node("Add", ["s", "product"], ["next"]), helper.make_node("Sub", ["next", "v"], ["row"])]
    body = helper.make_graph(nodes, "body", [value("s", [SIZE]), value("u", [SIZE]), value("v", [SIZE])], [value("next", [SIZE]), value("row", [SIZE])])
    node = helper.make_node("Scan", ["lengths" if has_lengths else "", "state", "x", "y"], ["final", "rows"], "scan", body=body, num_scan_inputs=2,
                            directions=[direction, 0])
    inputs = [value("state", [BATCH, SIZE]), value("x", [BATCH, steps, SIZE]), value("y", [BATCH, steps, SIZE])]
    inputs += [helper.make_tensor_value_info("lengths", TensorProto.INT64, [BATCH])] if has_lengths else []
    graph = helper.make_graph([node], "g", inputs, [value("final", [BATCH, SIZE]), value("rows", [BATCH, steps, SIZE])])
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 8)], ir_version=8)


def given(has_lengths):
    random = np.random.RandomState(3)
    arrays = {name: random.randint(-4, 5, shape).astype("f4") for name, shape in (("state", (BATCH, SIZE)), ("x", (BATCH, STEPS, SIZE)), ("y", (BATCH, STEPS, SIZE)))}
    return {**arrays, "lengths": np.array([4, 1, 3])} if has_lengths else arrays


def expected(state, x, y, lengths, direction):
    final, rows = state.copy(), np.zeros(x.shape, "f4")
    for b in range(BATCH):
        length = STEPS if lengths is None else lengths[b]
        for t in range(length):
            final[b] += x[b, length - 1 - t if direction else t] * y[b, t]
            rows[b, t] = final[b] - y[b, t]
    return final, rows


def main():
    folder = pathlib.Path(sys.argv[1])
    folder.mkdir(parents=True, exist_ok=True)
    for has_lengths in (False, True):
        for direction in (0, 1):
            for steps in (STEPS, "steps"):
                arrays = given(has_lengths)
                want = expected(arrays["state"], arrays["x"], arrays["y"], arrays.get("lengths"), direction)
                got = model_run.run(folder, model(has_lengths, direction, steps), arrays, ("final", "rows"))
                same = all(np.array_equal(a, b) for a, b in zip(got, want))
                print(f"lengths {has_lengths}, direction {direction}, steps {steps}: {'equal' if same else (got, want)}")


if __name__ == "__main__":
    main()
