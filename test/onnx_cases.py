"""One ONNX model whose outputs are the cases of a test, so that many cases cost one compile: built, run through kiln, compared."""

import pathlib
import re
import sys

import kiln_calls
import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

DTYPES = {"f4": TensorProto.FLOAT, "f8": TensorProto.DOUBLE, "f2": TensorProto.FLOAT16, "i8": TensorProto.INT64, "i4": TensorProto.INT32,
          "u1": TensorProto.UINT8, "u2": TensorProto.UINT16, "u4": TensorProto.UINT32, "u8": TensorProto.UINT64, "i2": TensorProto.INT16, "i1": TensorProto.INT8, "?": TensorProto.BOOL}


#: Operators all of whose results a node must name; it may leave a name empty.
LEAST_OUTPUTS = {"TopK": 2, "DynamicQuantizeLinear": 3, "SVMClassifier": 2, "StringSplit": 2}


class Model:
    """One graph; every case is an output of it."""

    def __init__(self):
        self.nodes, self.inputs, self.weights, self.outputs, self.arrays, self.expected = [], [], [], [], {}, {}

    def input(self, array, dtype="f4", dims=None):
        name = f"x{len(self.arrays)}"
        self.arrays[name] = array.astype(dtype)
        self.inputs.append(helper.make_tensor_value_info(name, DTYPES[dtype], dims or array.shape))
        return name

    def weight(self, array, dtype="f4"):
        name = f"w{len(self.weights)}"
        self.weights.append(numpy_helper.from_array(array.astype(dtype), name))
        return name

    def case(self, label, op, inputs, exact, dtype="f4", dims=None, at=0, **attributes):
        """Output `at` of a node is `exact`; its outputs before that are not used."""
        name = f"{re.sub('[^a-z0-9]+', '_', label.lower())}_{len(self.nodes)}"
        outputs = [""] * at + [name]
        self.nodes.append(helper.make_node(op, inputs, outputs + [""] * (LEAST_OUTPUTS.get(op, 1) - len(outputs)), name, **attributes))
        self.outputs.append(helper.make_tensor_value_info(name, DTYPES[dtype], dims or exact.shape))
        self.expected[name] = exact, dtype

    def save(self, path, opset, domains=(), functions=()):
        graph = helper.make_graph(self.nodes, path.stem, self.inputs, self.outputs, self.weights)
        imports = [helper.make_opsetid("", opset), *(helper.make_opsetid(*domain) for domain in domains)]
        onnx.save(helper.make_model(graph, ir_version=10, opset_imports=imports, functions=functions), str(path))

    def save_inputs(self, folder):
        """The arguments with which `kiln run` reads them."""
        arguments = []
        for name, array in self.arrays.items():
            np.save(folder / f"{name}.npy", array)
            arguments += ["--input", f"{name}={folder / name}.npy"]
        return arguments

    def compare(self, folder, bounds, what=""):
        """A line for each output there that is not what its case says; `bounds` as in describe_difference."""
        faults = ((name, describe_difference(np.load(folder / f"{name}.npy"), exact, dtype, bounds)) for name, (exact, dtype) in self.expected.items())
        return [f"{name}{what}: {fault}" for name, fault in faults if fault]


def finish(faults, right):
    """Ends a test: with its faults, or with the number of what is right."""
    if faults:
        sys.exit("\n".join(faults))
    print(f"{right} cases right")


def run_on_targets(folder, targets, models, bounds, list_faults=None):
    """Runs models on targets, and ends the test. `models` has for each name a model and the arguments of its `save`, from the opset on. `list_faults` sees the text
    of the groups and their kernels on each target."""
    faults, right = [], 0
    for name, (model, *how) in models.items():
        at = pathlib.Path(folder) / name
        at.mkdir(parents=True)
        model.save(at / "m.onnx", *how)
        inputs = model.save_inputs(at)
        for target in targets:
            if list_faults:
                kernels = kiln(at / "m.onnx", "--target", target, "--stop-after=target", "-o", "-")
                faults += (f"{fault}, {name}, {target}" for fault in list_faults(kernels))
            kiln("run", at / "m.onnx", "--target", target, "--output-dir", at / target, *inputs)
            faults += model.compare(at / target, bounds, f", {name}, {target}")
            right += len(model.expected)
    finish(faults, right)


def kiln(*arguments):
    done = kiln_calls.call(*arguments)
    if done.returncode:
        sys.exit(f"kiln {' '.join(map(str, arguments[:3]))}: {done.stderr}")
    return done.stdout


def describe_difference(got, exact, dtype, bounds):
    """What is wrong with an output, or None; `bounds` has a relative and an absolute one for each element type, and integers are exact."""
    relative, absolute = bounds.get(dtype, (0, 0))
    exact = exact.astype(dtype)
    same = np.isclose(got.astype("f8"), exact.astype("f8"), relative, absolute, equal_nan=True) if got.shape == exact.shape else np.array([False])
    if got.dtype == np.dtype(dtype) and same.all():
        return None
    if got.shape != exact.shape:
        return f"its shape is {got.shape}, expected {exact.shape}"
    at = np.unravel_index(np.argmin(same), same.shape)
    return f"{got.dtype} {got.shape}: {np.sum(~same)} differ, first at {at}: {got[at]}, expected {exact[at]}"
