"""Small decoders, and models of one search over them. What ONNX Runtime 1.30 computes for the cases of a script is recorded beside it."""

import pathlib
import sys

import numpy as np
from onnx import TensorProto, helper, numpy_helper

VOCABULARY, HEADS, SIZE, PLACES, LAYERS = 24, 2, 4, 32, 2
HIDDEN = HEADS * SIZE
TYPES = {"i4": TensorProto.INT32, "f4": TensorProto.FLOAT}


def value(name, kind, shape):
    return helper.make_tensor_value_info(name, TYPES[kind], shape)


def gpt_decoder(seed=5, sharpness=0.7):
    """A GPT-2 of two layers as ONNX Runtime's converter writes it: embeddings, Attention with past and present, and a layer of four times the width."""
    random = np.random.RandomState(seed)
    weights, nodes = [], []

    def weight(*shape, scale=0.7):
        weights.append(numpy_helper.from_array((random.standard_normal(shape) * scale).astype("f4"), f"w{len(weights)}"))
        return weights[-1].name

    def node(op, inputs, count=1, **attributes):
        outputs = [f"{op}{len(nodes)}_{i}" for i in range(count)]
        domain = "com.microsoft" if op in ("Attention", "FastGelu", "SkipLayerNormalization") else ""
        nodes.append(helper.make_node(op, inputs, outputs, domain=domain, **attributes))
        return outputs[0] if count == 1 else outputs

    words = weight(VOCABULARY, HIDDEN, scale=1)
    x = node("Add", [node("Gather", [words, "input_ids"]), node("Gather", [weight(PLACES, HIDDEN, scale=1), "position_ids"])])
    for layer in range(LAYERS):
        normal = node("LayerNormalization", [x, weight(HIDDEN, scale=1), weight(HIDDEN)], axis=-1)
        attended, present = node("Attention", [normal, weight(HIDDEN, 3 * HIDDEN), weight(3 * HIDDEN), "attention_mask", f"past_{layer}"], 2, num_heads=HEADS, unidirectional=1)
        nodes[-1].output[1] = f"present_{layer}"
        x = node("Add", [x, node("MatMul", [attended, weight(HIDDEN, HIDDEN)])])
        wide = node("FastGelu", [node("MatMul", [x, weight(HIDDEN, 4 * HIDDEN)]), weight(4 * HIDDEN)])
        x = node("Add", [x, node("MatMul", [wide, weight(4 * HIDDEN, HIDDEN)])])
    nodes.append(helper.make_node("MatMul", [x, weight(HIDDEN, VOCABULARY, scale=sharpness)], ["logits"]))
    state = lambda name, length: value(name, "f4", [2, "rows", HEADS, length, SIZE])
    inputs = [value("input_ids", "i4", ["rows", "tokens"]), value("position_ids", "i4", ["rows", "tokens"]), value("attention_mask", "i4", ["rows", "all"])]
    return helper.make_graph(nodes, "decoder", inputs + [state(f"past_{layer}", "past") for layer in range(LAYERS)],
                             [value("logits", "f4", ["rows", "tokens", VOCABULARY]), *(state(f"present_{layer}", "all") for layer in range(LAYERS))], weights)


def search_model(op, order, inputs, outputs, known=(), dims=(), **attributes):
    """One node of `op`. `inputs` are arrays by name, `order` the operands' names; those of `known` are initializers, and `dims` gives inputs' shapes."""
    node = helper.make_node(op, [name if name in inputs else "" for name in order], list(outputs), "search", domain="com.microsoft", **attributes)
    while node.input and not node.input[-1]:
        del node.input[-1]
    given = [value(name, array.dtype.str[1:], dict(dims).get(name, array.shape)) for name, array in inputs.items() if name not in known]
    graph = helper.make_graph([node], "g", given, [value(name, *type) for name, type in outputs.items()],
                              [numpy_helper.from_array(inputs[name], name) for name in inputs if name in known])
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17), helper.make_opsetid("com.microsoft", 1)], ir_version=8)


def run_onnxruntime(library, model, inputs, outputs, folder):
    """What ONNX Runtime gives for the outputs of a model."""
    sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[3] / "operators"))
    import onnx
    from onnxruntime_library import OnnxRuntime
    onnx.save(model, str(folder / "model.onnx"))
    names = {"i4": "i32", "f4": "f32"}
    return OnnxRuntime(library).run(folder / "model.onnx", {name: (array, names[array.dtype.str[1:]]) for name, array in inputs.items()}, list(outputs))
