#!/usr/bin/python3
"""Tensors of more than 2^31 bytes through kernels that count elements and bytes in different ways.

Usage: huge.py DIR
DIR takes 4.4 GB, and a run 7 GB of memory, so the suite leaves this out unless KILN_TEST_HUGE is set.
"""

import os
import pathlib
import sys

import numpy as np
import onnx
from onnx import TensorProto, helper

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
import kiln_calls  # noqa: E402

ROWS, COLUMNS = 23171, 23173  # 2^29 + 70671 elements
CASES = {  # operator, attributes, shape of the result, what some rows of the result are by the rows of the input
    "Neg": ({}, (ROWS, COLUMNS), lambda x, rows: -x[rows]),
    "ReduceSum": ({"axes": [1]}, (ROWS, 1), lambda x, rows: np.sum(x[rows], axis=1, keepdims=True, dtype="f8")),
    "ReduceMax": ({"axes": [0]}, (1, COLUMNS), lambda x, rows: np.max(x, axis=0, keepdims=True)),
    "Transpose": ({"perm": [1, 0]}, (COLUMNS, ROWS), lambda x, rows: np.ascontiguousarray(x[:, rows].T)),
    "Softmax": ({"axis": 1}, (ROWS, COLUMNS), lambda x, rows: softmax(x[rows].astype("f8"))),
}


def softmax(x):
    e = np.exp(x - x.max(1, keepdims=True))
    return e / e.sum(1, keepdims=True)


def save_model(path, op, attributes, shape):
    """Of opset 11, where axes are an attribute."""
    value = lambda name, dims: helper.make_tensor_value_info(name, TensorProto.FLOAT, dims)
    graph = helper.make_graph([helper.make_node(op, ["x"], ["y"], **attributes)], "huge", [value("x", [ROWS, COLUMNS])], [value("y", shape)])
    onnx.save(helper.make_model(graph, ir_version=8, opset_imports=[helper.make_opsetid("", 11)]), str(path))


def main():
    folder = pathlib.Path(sys.argv[1])
    folder.mkdir(parents=True, exist_ok=True)
    x = np.lib.format.open_memmap(folder / "x.npy", "w+", "f4", (ROWS, COLUMNS))
    for row in range(ROWS):
        x[row] = (np.arange(COLUMNS) * 7 + row * 13) % 1009 / np.float32(64)
    x.flush()
    assert x.nbytes > 2**31
    for op, (attributes, shape, expect) in CASES.items():
        save_model(folder / "model.onnx", op, attributes, shape)
        kiln_calls.run("run", folder / "model.onnx", "--input", f"x={folder}/x.npy", "--output-dir", folder)
        y = np.load(folder / "y.npy", mmap_mode="r")
        assert y.shape == shape and y.dtype == np.float32, (op, y.shape)
        # The first rows, those around 2^31 bytes and the last.
        middle = 2**31 // (4 * shape[1]) if shape[0] > 1 else 0
        for start in sorted({0, min(middle, shape[0] - 3), shape[0] - 3} if shape[0] > 1 else {0}):
            rows = slice(start, start + 3)
            want = expect(x, rows)
            assert np.allclose(y[rows], want, rtol=1e-5, atol=0), (op, start)
        os.remove(folder / "y.npy")
    os.remove(folder / "x.npy")
    print(f"{len(CASES)} operators right")


if __name__ == "__main__":
    main()
