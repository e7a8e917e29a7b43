#!/usr/bin/env python3
"""Factors of 1e-5 to 1e-20 behind products with small weights, in all operators that have some, give what sums in f64 give: small_factors.py FOLDER TARGET..."""
import pathlib
import sys

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[3]))
import kiln_calls  # noqa: E402

random = np.random.default_rng(3)


class Model:
    def __init__(self):
        self.nodes, self.weights, self.inputs, self.expected = [], [], {}, {}

    def given(self, *shape, size):
        self.inputs[f"x{len(self.inputs)}"] = array = (random.uniform(0.5, 2, shape) * size).astype(np.float32)
        return list(self.inputs)[-1], array.astype(np.float64)

    def weight(self, array):
        array = np.asarray(array, np.float32)
        self.weights.append(numpy_helper.from_array(array, f"w{len(self.weights)}"))
        return self.weights[-1].name, array.astype(np.float64)

    def node(self, op, inputs, **attributes):
        self.nodes.append(helper.make_node(op, inputs, [f"n{len(self.nodes)}"], **attributes))
        return self.nodes[-1].output[0]

    def expect(self, name, exact):
        self.expected[name] = exact

    def save(self, path):
        inputs = [helper.make_tensor_value_info(name, TensorProto.FLOAT, array.shape) for name, array in self.inputs.items()]
        outputs = [helper.make_tensor_value_info(name, TensorProto.FLOAT, exact.shape) for name, exact in self.expected.items()]
        graph = helper.make_graph(self.nodes, "factors", inputs, outputs, self.weights)
        onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8), path)


def mix(shape, axis, small):
    """Weights of which some are small, along one axis, and others are not."""
    sizes = np.where(np.arange(shape[axis]) % 2, small, 1e-5)
    return random.uniform(0.5, 2, shape) * sizes.reshape([-1 if i == axis else 1 for i in range(len(shape))])


def build():
    model = Model()
    for small, factor in ((1e-25, 1e-18), (1e-30, 1e-20), (1e-38, 3e-5), (1e-20, 1e-19)):
        # Small weights meet large numbers.
        large = 1e-5 / small
        x, xs = model.given(3, 8, size=1)
        xs[:, 1::2] *= large
        model.inputs[x][:, 1::2] *= np.float32(large)
        xs = model.inputs[x].astype(np.float64)
        w, ws = model.weight(mix((8, 5), 0, small))
        f, fs = model.weight(factor)
        c, cs = model.weight(1 / factor)
        model.expect(model.node("Mul", [model.node("MatMul", [x, w]), f]), xs @ ws * fs)
        w, ws = model.weight(mix((8, 5), 0, small))
        model.expect(model.node("Div", [model.node("MatMul", [x, w]), c]), xs @ ws / cs)
        w, ws = model.weight(mix((5, 8), 1, small))
        model.expect(model.node("Gemm", [x, w], alpha=factor, transB=1), xs @ ws.T * np.float64(np.float32(factor)))
        x, xs = model.given(2, 8, 5, 5, size=1)
        model.inputs[x][:, 1::2] *= np.float32(large)
        xs = model.inputs[x].astype(np.float64)
        w, ws = model.weight(mix((4, 8, 1, 1), 1, small))
        parameters = [model.weight(np.full(4, value)) for value in (factor, 0, 0, 1)]
        scale, bias, mean, variance = (numbers.reshape(4, 1, 1) for _, numbers in parameters)
        sums = np.einsum("nchw,ocij->nohw", xs, ws)
        model.expect(model.node("BatchNormalization", [model.node("Conv", [x, w]), *(name for name, _ in parameters)], epsilon=0.0),
                     (sums - mean) / np.sqrt(variance) * scale + bias)
    # A factor of a normalization that is no normal number, on large numbers.
    x, xs = model.given(2, 4, 5, 5, size=1e19)
    parameters = [model.weight(np.full(4, value)) for value in (1e-24, 0, 1e18, 1e38)]
    scale, bias, mean, variance = (numbers.reshape(4, 1, 1) for _, numbers in parameters)
    model.expect(model.node("BatchNormalization", [x, *(name for name, _ in parameters)], epsilon=0.0), (xs - mean) / np.sqrt(variance) * scale)
    return model


def main():
    folder, targets = pathlib.Path(sys.argv[1]), sys.argv[2:]
    model = build()
    model.save(folder / "factors.onnx")
    inputs = []
    for name, array in model.inputs.items():
        np.save(folder / f"{name}.npy", array)
        inputs += ["--input", f"{name}={folder / name}.npy"]
    for target in targets:
        kiln_calls.run("run", folder / "factors.onnx", "--target", target, "--output-dir", folder / target, *inputs)
        for name, exact in model.expected.items():
            got = np.load(folder / target / f"{name}.npy").astype(np.float64)
            if not (np.abs(got - exact) <= 1e-5 * np.abs(exact) + 1e-43).all():
                sys.exit(f"target {target}, {name}: {got.flat[0]} for {exact.flat[0]}")
    print(f"{len(model.expected)} results right on {len(targets)} targets")


if __name__ == "__main__":
    main()
