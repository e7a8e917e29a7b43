"""Operators as opsets 1 to 6 define them: one model with a result for each, run by kiln and compared with NumPy. Usage: old_opsets.py FOLDER"""

import pathlib
import sys

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2]))
import kiln_calls  # noqa: E402

RANDOM = np.random.RandomState(5)
X = RANDOM.uniform(0.5, 1.5, (2, 3, 4, 4)).astype(np.float32)
ROW = RANDOM.uniform(0.5, 1.5, (3,)).astype(np.float32)
IMAGE = X.reshape(2, 3, 16)


class Model:
    """Nodes of one opset on input x, and what each must give."""

    def __init__(self, opset):
        self.opset, self.nodes, self.weights, self.expected = opset, [], [], []

    def weight(self, array):
        self.weights.append(numpy_helper.from_array(np.asarray(array), f"w{len(self.weights)}"))
        return self.weights[-1].name

    def add(self, operator, expected, *inputs, **attributes):
        names = ["x", *(self.weight(array) for array in inputs)]
        expected = expected if isinstance(expected, list) else [expected]
        outputs = [f"y{len(self.expected) + i}" for i in range(len(expected))]
        self.nodes.append(helper.make_node(operator, names, outputs, name=f"{operator}_{len(self.nodes)}", **attributes))
        self.expected += [np.asarray(array) for array in expected]

    def check(self, folder):
        outputs = [helper.make_tensor_value_info(f"y{i}", helper.np_dtype_to_tensor_dtype(array.dtype) if hasattr(helper, "np_dtype_to_tensor_dtype")
                                                 else onnx.mapping.NP_TYPE_TO_TENSOR_TYPE[array.dtype], array.shape)
                   for i, array in enumerate(self.expected)]
        graph = helper.make_graph(self.nodes, f"opset{self.opset}", [helper.make_tensor_value_info("x", TensorProto.FLOAT, X.shape)], outputs, self.weights)
        model, results = folder / f"opset{self.opset}.onnx", folder / f"results{self.opset}"
        onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", self.opset)]), str(model))
        np.save(folder / "x.npy", X)
        kiln_calls.run("run", model, "--input", f"x={folder / 'x.npy'}", "--output-dir", results)
        for i, want in enumerate(self.expected):
            np.testing.assert_allclose(np.load(results / f"y{i}.npy"), want, rtol=1e-5, atol=1e-6, err_msg=f"opset {self.opset}, y{i}")
        print(f"opset {self.opset}: {len(self.expected)} results agree")


def at_axis(model, inplace):
    """Arithmetic and comparison with `broadcast` and `axis`; opset 6 dropped `consumed_inputs`."""
    row = ROW.reshape(1, 3, 1, 1)
    options = dict(broadcast=1, axis=1)
    for operator, expected in {"Add": X + row, "Sub": X - row, "Mul": X * row, "Div": X / row}.items():
        model.add(operator, expected, ROW, **options, **inplace)
    model.add("Add", X + X[0, 0], X[0, 0], broadcast=1, **inplace)
    for operator, expected in {"Pow": X**row, "Less": X < row, "Greater": X > row}.items():
        model.add(operator, expected, ROW, **options)


def unary(model, inplace):
    for operator, expected in {"Abs": abs(X), "Ceil": np.ceil(X), "Exp": np.exp(X), "Floor": np.floor(X), "Log": np.log(X), "Neg": -X, "Sqrt": np.sqrt(X),
                               "Reciprocal": 1 / X, "Relu": X, "Sigmoid": 1 / (1 + np.exp(-X)), "Tanh": np.tanh(X), "LeakyRelu": X, "Elu": X,
                               "HardSigmoid": np.clip(0.2 * X + 0.5, 0, 1)}.items():
        model.add(operator, expected, **inplace)
    model.add("Clip", np.clip(X, 0.75, 1), min=0.75, max=1.0, **inplace)
    model.add("PRelu", X, ROW, **inplace)
    model.add("Max", np.maximum(X, 2 - X), 2 - X, **inplace)
    model.add("Mean", np.full_like(X, 1), 2 - X, **inplace)


def main():
    folder = pathlib.Path(sys.argv[1])
    folder.mkdir(parents=True, exist_ok=True)
    first, sixth = Model(1), Model(6)
    inplace = dict(consumed_inputs=[0])
    at_axis(first, inplace), at_axis(sixth, {})
    unary(first, inplace), unary(sixth, {})
    first.add("Selu", 1.0507 * X, **inplace)
    first.add("Cast", X.astype(np.int32), to="INT32")
    sixth.add("Cast", X.astype(np.int32), to=TensorProto.INT32)
    first.add("Concat", np.concatenate([X, X], 1), X)
    first.add("Pad", np.pad(X, [(0, 0), (0, 0), (1, 0), (0, 2)], constant_values=3), paddings=[0, 0, 1, 0, 0, 0, 0, 2], value=3.0)
    first.add("Reshape", IMAGE, shape=[0, 3, -1], **inplace)
    first.add("Split", [X[:, :1], X[:, 1:]], np.array([1, 2], np.float32), axis=1)
    first.add("Tile", np.concatenate([X, X, X], 2), np.float32([3]), np.float32([2]))
    first.add("Upsample", X.repeat(2, 2).repeat(3, 3), height_scale=2.0, width_scale=3.0, mode="nearest")
    first.add("GlobalLpPool", np.sqrt((X * X).sum((2, 3), keepdims=True)), p=2.0)
    first.add("Dropout", X, is_test=1, **inplace)
    mean, variance = np.float32([1, 2, 3]), np.float32([1, 4, 9])
    shape = (1, 3, 1, 1)
    normal = (X - mean.reshape(shape)) / np.sqrt(variance.reshape(shape) + 1e-5)
    first.add("BatchNormalization", normal, np.ones(3, np.float32), np.zeros(3, np.float32), mean, variance, is_test=1, consumed_inputs=[0, 0, 0, 1, 1])
    first.check(folder)
    sixth.check(folder)


main()
