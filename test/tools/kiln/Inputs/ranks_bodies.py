"""Writes models whose operations are composites, or pick and move elements, each with a dimension that their bodies compute place by place; products of bytes; and composites
that a target has functions for."""

import pathlib
import sys

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

FOLDER = pathlib.Path(sys.argv[1])
RANDOM = np.random.default_rng(22)
FLOAT, INT, BYTE = TensorProto.FLOAT, TensorProto.INT64, TensorProto.UINT8


def constant(name, value, type=np.float32):
    return numpy_helper.from_array(np.asarray(value, type), name)


def node(op, inputs, outputs, **attributes):
    return helper.make_node(op, inputs.split(), outputs.split(), outputs.split()[0], **attributes)


def save(name, nodes, inputs, outputs, weights=(), domains=()):
    infos = [[helper.make_tensor_value_info(key, *described) for key, described in tensors.items()] for tensors in (inputs, outputs)]
    graph = helper.make_graph(nodes, name, *infos, list(weights))
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17), *(helper.make_opsetid(*domain) for domain in domains)], ir_version=8)
    onnx.checker.check_model(model)
    onnx.save(model, FOLDER / f"{name}.onnx")


# Bodies: rows of images, places of labels, rows of a table, and slices.
indices = RANDOM.integers(0, 8, (4, 6, 8))
save("bodies", [
    node("MeanVarianceNormalization", "x", "mean", axes=[1, 3]),
    node("SoftmaxCrossEntropyLoss", "x labels weights", "loss logs", reduction="none"),
    node("NegativeLogLikelihoodLoss", "logs labels", "likelihood", reduction="none", ignore_index=2),
    node("GatherElements", "table picked", "elements", axis=2),
    node("GatherND", "table tuples", "slices", batch_dims=1),
    node("ScatterND", "table places updates", "scattered"),
    node("DFT", "signal", "spectrum", axis=1, onesided=1)],
     {"x": (FLOAT, [4, 8, 6, 10]), "table": (FLOAT, [4, 6, 8]), "signal": (FLOAT, [4, 12, 1])},
     {"mean": (FLOAT, [4, 8, 6, 10]), "loss": (FLOAT, [4, 6, 10]), "likelihood": (FLOAT, [4, 6, 10]), "elements": (FLOAT, [4, 6, 8]), "slices": (FLOAT, [4, 10, 8]),
      "scattered": (FLOAT, [4, 6, 8]), "spectrum": (FLOAT, [4, 7, 2])},
     [constant("labels", RANDOM.integers(0, 8, (4, 6, 10)), np.int64), constant("weights", RANDOM.random(8)), constant("picked", indices, np.int64),
      constant("tuples", RANDOM.integers(0, 6, (4, 10, 1)), np.int64), constant("places", [[0], [3]], np.int64), constant("updates", RANDOM.random((2, 6, 8)))])

# Trees of two levels: each row goes down three of them.
trees, nodes_of_tree = 3, 7
ids = [i for _ in range(trees) for i in range(nodes_of_tree)]
save("trees", [helper.make_node(
    "TreeEnsembleRegressor", ["x"], ["y"], "y", domain="ai.onnx.ml", n_targets=2, nodes_treeids=[t for t in range(trees) for _ in range(nodes_of_tree)],
    nodes_nodeids=ids, nodes_featureids=[i % 3 if i < 3 else 0 for i in ids], nodes_modes=["BRANCH_LEQ" if i < 3 else "LEAF" for i in ids],
    nodes_values=[float(v) if i < 3 else 0.0 for i, v in zip(ids, RANDOM.standard_normal(len(ids)))], nodes_truenodeids=[2 * i + 1 if i < 3 else 0 for i in ids],
    nodes_falsenodeids=[2 * i + 2 if i < 3 else 0 for i in ids], nodes_hitrates=[1.0] * len(ids), nodes_missing_value_tracks_true=[0] * len(ids),
    target_treeids=[t for t in range(trees) for _ in range(4)], target_nodeids=[3, 4, 5, 6] * trees, target_ids=[0, 1, 0, 1] * trees,
    target_weights=[float(v) for v in RANDOM.standard_normal(4 * trees)])],
     {"x": (FLOAT, [64, 3])}, {"y": (FLOAT, [64, 2])}, domains=[("ai.onnx.ml", 3)])


# Products of bytes: by columns, by the sum, by strips of an image and by groups.
def quantized_conv(x, w, y, zero="z", **attributes):
    return node("QLinearConv", f"{x} s {zero} {w} s w_zero s z", y, **attributes)


def byte_weight(name, *shape):
    return constant(name, RANDOM.integers(-100, 100, shape), np.int8)


save("bytes", [
    node("QuantizeLinear", "x s z", "q"), quantized_conv("q", "c1", "wide", pads=[2, 1, 2, 1]), node("MaxPool", "wide", "pool", kernel_shape=[2, 2], strides=[2, 2]),
    quantized_conv("pool", "c2", "depthwise", pads=[1, 1, 1, 1], group=8), quantized_conv("depthwise", "c3", "narrow"), node("DequantizeLinear", "narrow s z", "image"),
    node("QLinearMatMul", "r s z m1 s w_zero s z", "columns"), node("QLinearMatMul", "columns s z m2 s w_zero s z", "sum"), node("DequantizeLinear", "sum s z", "rows")],
     {"x": (FLOAT, [1, 3, 16, 12]), "r": (BYTE, [6, 32])}, {"image": (FLOAT, [1, 4, 8, 6]), "rows": (FLOAT, [6, 16])},
     [constant("s", 0.05), constant("z", 120, np.uint8), constant("w_zero", 0, np.int8), byte_weight("c1", 8, 3, 5, 3), byte_weight("c2", 8, 1, 3, 3),
      byte_weight("c3", 4, 8, 1, 1), byte_weight("m1", 32, 64), byte_weight("m2", 64, 16)])


# What a target has a function for: of rows with a constant, and one that joins rows.
def function(name, inputs, outputs, nodes):
    return helper.make_function("com.acme", name, inputs, outputs, nodes, [helper.make_opsetid("", 17)])


graph = helper.make_graph([helper.make_node("Gate", ["x", "w"], ["gate"], "gate", domain="com.acme"), helper.make_node("Share", ["gate"], ["share"], "share", domain="com.acme")],
                          "acme", [helper.make_tensor_value_info("x", FLOAT, [8, 6])], [helper.make_tensor_value_info("share", FLOAT, [8, 6])],
                          [constant("w", [1, 2, 3, 4, 5, 6])])
model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17), helper.make_opsetid("com.acme", 1)], ir_version=8, functions=[
    function("Gate", ["a", "b"], ["c"], [helper.make_node("Sigmoid", ["a"], ["g"]), helper.make_node("Mul", ["a", "g"], ["h"]), helper.make_node("Add", ["h", "b"], ["c"])]),
    function("Share", ["a"], ["c"], [helper.make_node("Softmax", ["a"], ["c"], axis=1)])])
onnx.checker.check_model(model)
onnx.save(model, FOLDER / "acme.onnx")
(FOLDER / "acme.target.json").write_text("""{ "name": "acme", "base": "generic", "composites": [
  { "name": "com.acme.Gate", "function": "acme_gate" }, { "name": "com.acme.Share", "function": "acme_share" } ] }
""")
(FOLDER / "acme.c").write_text("""
#include <math.h>
#include <stdint.h>
/* The dimensions of x and w, and then of y. w is broadcast along the first one. */
void acme_gate(const float *x, const float *w, float *y, const int64_t *dims) {
  for (int64_t i = 0; i < dims[0]; ++i)
    for (int64_t j = 0; j < dims[1]; ++j)
      y[i * dims[1] + j] = x[i * dims[1] + j] / (1 + expf(-x[i * dims[1] + j])) + w[j % dims[2]];
}
void acme_share(const float *x, float *y, const int64_t *dims) {
  for (int64_t i = 0; i < dims[0]; ++i) {
    float sum = 0;
    for (int64_t j = 0; j < dims[1]; ++j)
      sum += expf(x[i * dims[1] + j]);
    for (int64_t j = 0; j < dims[1]; ++j)
      y[i * dims[1] + j] = expf(x[i * dims[1] + j]) / sum;
  }
}
""")
