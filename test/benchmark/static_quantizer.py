"""A quantiser that does what ONNX Runtime's does for static quantisation by default, to compare `kiln quantize` with: ranges from the least to the largest value of
the samples, unsigned bytes for activations, signed bytes for weights with a scale for each channel, biases of 32 bits, on the graph after ONNX Runtime's basic
optimisation."""

import pathlib
import sys
import tempfile

import ending  # noqa: F401
import numpy as np
import onnx
from onnx import helper, numpy_helper, version_converter

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "end-to-end"))
import onnxruntime  # noqa: E402  the tree's own, in end-to-end/

#: Operators whose weights are quantised, and the others whose operands and results are.
PRODUCTS = ("Conv", "Gemm", "MatMul")
OTHERS = ("Relu", "Clip", "Add", "Mul", "MaxPool", "AveragePool", "GlobalAveragePool", "Concat", "Sigmoid", "LeakyRelu", "Resize", "Reshape", "Transpose", "Flatten")
#: Activations that the range of their result makes part of what is before them.
CLAMPS = ("Relu", "Clip")
PER_AXIS_OPSET = 13
SAMPLES_AT_ONCE = 8


def prepare(model, folder, sample):
    """The optimised model in an operator set whose DequantizeLinear has an axis. `sample`: inputs that it takes."""
    onnxruntime.optimize(pathlib.Path(model).resolve(), folder / "optimized.onnx")
    proto = onnx.load(str(folder / "optimized.onnx"))
    for index, node in enumerate(proto.graph.node):
        node.name = node.name or f"node{index}"
    # Up to version 3 of the format, weights are inputs, too, and onnxruntime-node wants a value for each input.
    weights = {weight.name for weight in proto.graph.initializer}
    inputs = [value for value in proto.graph.input if value.name not in weights]
    del proto.graph.input[:]
    proto.graph.input.extend(inputs)
    proto.ir_version = max(proto.ir_version, 7)
    own = [opset for opset in proto.opset_import if opset.domain in ("", "ai.onnx")]
    del proto.opset_import[:]
    proto.opset_import.extend(own)
    return proto if own[0].version >= PER_AXIS_OPSET else convert(proto, find_ranks(proto, folder, sample))


def observe(proto, names, path):
    """Writes the model with these values as further outputs."""
    observed = onnx.ModelProto()
    observed.CopyFrom(proto)
    outputs = {output.name for output in proto.graph.output}
    observed.graph.output.extend(helper.make_empty_tensor_value_info(value) for value in names if value not in outputs)
    onnx.save(observed, str(path))


def find_ranks(proto, folder, sample):
    """{value: rank} of what Softmax computes, which shape inference does not find for all dynamic sizes."""
    observe(proto, [node.output[0] for node in proto.graph.node if node.op_type == "Softmax"], folder / "softmax.onnx")
    return {value: array.ndim for value, array in onnxruntime.run_file(folder / "softmax.onnx", sample)}


def convert(proto, ranks):
    """In PER_AXIS_OPSET. Along the last axis Softmax means the same before 13, where the converter knows no way: it stands as a Relu meanwhile."""
    hidden = set()
    for node in proto.graph.node:
        axis = next((attribute.i for attribute in node.attribute if attribute.name == "axis"), 1)
        if node.op_type == "Softmax" and node.output[0] in ranks and axis in (-1, ranks[node.output[0]] - 1):
            hidden.add(node.output[0])
            node.op_type = "Relu"
            del node.attribute[:]
    converted = version_converter.convert_version(proto, PER_AXIS_OPSET)
    for node in converted.graph.node:
        if node.output[0] in hidden:
            node.op_type = "Softmax"
            node.attribute.append(helper.make_attribute("axis", -1))
    return converted


def calibrate(proto, names, name, samples, folder):
    """{value: (least, largest)} over all samples; values of other types than f32 are left out."""
    known = {value.name: value for value in onnx.shape_inference.infer_shapes(proto).graph.value_info}
    observe(proto, [value for value in names if value in known and known[value].type.tensor_type.elem_type == onnx.TensorProto.FLOAT], folder / "observed.onnx")
    ranges = {}
    # A few at a time: every value of each lies in a file.
    for first in range(0, len(samples), SAMPLES_AT_ONCE):
        some = samples[first:first + SAMPLES_AT_ONCE]
        for sample, results in zip(some, onnxruntime.run_samples(folder / "observed.onnx", [{name: sample} for sample in some])):
            for value, array in [*results, (name, sample)]:
                if array.dtype == np.float32 and array.size:
                    least, most = ranges.get(value, (0.0, 0.0))
                    ranges[value] = min(least, float(array.min())), max(most, float(array.max()))
    return ranges


class Quantizer:
    def __init__(self, proto, ranges):
        self.graph, self.ranges = proto.graph, ranges
        self.constants = {weight.name: numpy_helper.to_array(weight) for weight in proto.graph.initializer}
        for node in proto.graph.node:
            if node.op_type == "Constant" and node.attribute[0].name == "value":
                self.constants[node.output[0]] = numpy_helper.to_array(node.attribute[0].t)
        self.nodes, self.added, self.pairs = [], [], {}
        users = {}
        for node in proto.graph.node:
            for value in node.input:
                users.setdefault(value, []).append(node)
        # What only a clamp reads has no pair of its own. Every operand and every result of these operators has one, whoever reads it.
        clamped = {value for value, nodes in users.items() if len(nodes) == 1 and nodes[0].op_type in CLAMPS}
        touched = {value for node in proto.graph.node for value in [*node.input, *node.output] if node.op_type in OTHERS or self.is_product(node)}
        self.paired = {value for value in touched if value in ranges and value not in clamped and value not in self.constants}

    def is_product(self, node):
        return node.op_type in PRODUCTS and len(node.input) > 1 and node.input[1] in self.constants and self.constants[node.input[1]].ndim > 1 and node.input[0] in self.ranges

    def constant(self, name, array):
        self.added.append(numpy_helper.from_array(np.asarray(array), name))
        return name

    def scale(self, value):
        least, most = self.ranges[value]
        scale = np.float32(max(most - least, 1e-8) / 255)
        return scale, np.uint8(np.clip(np.rint(-least / scale), 0, 255))

    def pair(self, value):
        """The value behind QuantizeLinear and DequantizeLinear."""
        if value not in self.pairs:
            scale, zero = self.scale(value)
            parameters = [self.constant(f"{value}_scale", scale), self.constant(f"{value}_zero", zero)]
            self.nodes += [helper.make_node("QuantizeLinear", [value, *parameters], [f"{value}_q"], f"{value}_q"),
                           helper.make_node("DequantizeLinear", [f"{value}_q", *parameters], [f"{value}_dq"], f"{value}_dq")]
            self.pairs[value] = f"{value}_dq"
        return self.pairs[value]

    def stored(self, name, whole, scales, axis):
        """A constant behind DequantizeLinear."""
        if f"{name}_dq" not in self.pairs.values():
            parts = [self.constant(f"{name}_{part}", array) for part, array in (("q", whole), ("scale", scales), ("zero", np.zeros(scales.shape, whole.dtype)))]
            self.nodes.append(helper.make_node("DequantizeLinear", parts, [f"{name}_dq"], f"{name}_dq", axis=axis))
            self.pairs[f"{name} stored"] = f"{name}_dq"
        return f"{name}_dq"

    def quantize_product(self, node):
        weight = self.constants[node.input[1]]
        transposed = any(attribute.name == "transB" and attribute.i for attribute in node.attribute)
        axis = 0 if node.op_type == "Conv" or transposed else weight.ndim - 1
        others = tuple(i for i in range(weight.ndim) if i != axis)
        scales = (np.maximum(np.abs(weight).max(axis=others), 1e-8) / 127).astype(np.float32)
        bias = self.constants[node.input[2]].reshape(-1).astype(np.float64) if len(node.input) > 2 and node.input[2] in self.constants else None
        if bias is not None:
            # Weights are less exact where their bias would not fit into 32 bits otherwise.
            scales = np.maximum(scales, np.abs(bias) / (float(self.scale(node.input[0])[0]) * 2.0**30)).astype(np.float32)
        line = [-1 if i == axis else 1 for i in range(weight.ndim)]
        whole = np.clip(np.rint(weight / scales.reshape(line)), -127, 127).astype(np.int8)
        inputs = [self.pair(node.input[0]), self.stored(node.input[1], whole, scales, axis), *node.input[2:]]
        if bias is not None:
            steps = (scales * self.scale(node.input[0])[0]).astype(np.float32)
            bias = np.clip(np.rint(bias / steps), -2.0**31, 2.0**31 - 1).astype(np.int32)
            inputs[2] = self.stored(node.input[2], bias, steps, 0)
        node.input[:] = inputs

    def run(self):
        for node in list(self.graph.node):
            if self.is_product(node):
                self.quantize_product(node)
            else:
                node.input[:] = [self.pair(value) if value in self.paired else value for value in node.input]
            self.nodes.append(node)
        del self.graph.node[:], self.graph.value_info[:]
        self.graph.node.extend(self.nodes)
        used = {value for node in self.graph.node for value in node.input}
        kept = [weight for weight in [*self.graph.initializer, *self.added] if weight.name in used]
        del self.graph.initializer[:]
        self.graph.initializer.extend(kept)


def quantize(model, name, samples, out):
    """Writes the quantised model."""
    with tempfile.TemporaryDirectory() as temporary:
        folder = pathlib.Path(temporary)
        proto = prepare(model, folder, {name: samples[0]})
        values = {value for node in proto.graph.node for value in [*node.input, *node.output] if value}
        Quantizer(proto, calibrate(proto, values, name, samples, folder)).run()
    onnx.save(proto, str(out))
