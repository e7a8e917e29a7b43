#!/usr/bin/python3
"""Writes intent.onnx beside itself: a classifier of texts of any length with one layer of attention. Its weights are random, so its answers mean nothing."""

import pathlib

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

WORDS, WIDTH, CLASSES = 100, 16, 5
random = np.random.default_rng(1)


def weight(name, *shape):
    return numpy_helper.from_array(random.normal(size=shape).astype(np.float32), name)


nodes = [
    helper.make_node("Gather", ["table", "tokens"], ["words"], "words"),
    helper.make_node("MatMul", ["words", "query"], ["q"], "query"),
    helper.make_node("Transpose", ["words"], ["k"], "turned", perm=[0, 2, 1]),
    helper.make_node("MatMul", ["q", "k"], ["s"], "scores"),
    helper.make_node("Softmax", ["s"], ["p"], "attention", axis=-1),
    helper.make_node("MatMul", ["p", "words"], ["c"], "context"),
    helper.make_node("ReduceMean", ["c"], ["m"], "mean", axes=[1], keepdims=0),
    helper.make_node("Gemm", ["m", "out", "bias"], ["logits"], "classes"),
    helper.make_node("Softmax", ["logits"], ["probabilities"], "probabilities", axis=-1),
]
graph = helper.make_graph(nodes, "intent", [helper.make_tensor_value_info("tokens", TensorProto.INT64, ["batch", "length"])],
                          [helper.make_tensor_value_info("probabilities", TensorProto.FLOAT, ["batch", CLASSES])],
                          [weight("table", WORDS, WIDTH), weight("query", WIDTH, WIDTH), weight("out", WIDTH, CLASSES), weight("bias", CLASSES)])
onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8), pathlib.Path(__file__).parent / "intent.onnx")
