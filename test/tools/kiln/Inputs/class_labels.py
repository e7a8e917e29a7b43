#!/usr/bin/python3
"""Classifiers with labels of strings and of integers, of which some outputs keep the columns."""
import pathlib
import sys

from onnx import TensorProto, helper, save

ML = "ai.onnx.ml"


def write(path, nodes, outputs):
    graph = helper.make_graph(nodes, "labels", [helper.make_tensor_value_info("x", TensorProto.FLOAT, ["rows", 2])],
                              [helper.make_tensor_value_info(name, kind, shape) for name, kind, shape in outputs])
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17), helper.make_opsetid(ML, 1)])
    model.ir_version = 8
    save(model, path)


folder = pathlib.Path(sys.argv[1])
words = ["small", 'a "large" one', "ä"]
leaves = [(1, 0, 1.0), (3, 1, 1.0), (4, 2, 1.0)]  # x0 <= 0: small; else x1 <= 0: large; else ä
write(folder / "words.onnx", [
    helper.make_node("TreeEnsembleClassifier", ["x"], ["label", "raw"], domain=ML, classlabels_strings=words, nodes_treeids=[0] * 5, nodes_nodeids=list(range(5)),
                     nodes_modes=["BRANCH_LEQ", "LEAF", "BRANCH_LEQ", "LEAF", "LEAF"], nodes_featureids=[0, 0, 1, 0, 0], nodes_values=[0.0] * 5,
                     nodes_truenodeids=[1, 0, 3, 0, 0], nodes_falsenodeids=[2, 0, 4, 0, 0], class_treeids=[0] * 3, class_nodeids=[node for node, _, _ in leaves],
                     class_ids=[target for _, target, _ in leaves], class_weights=[weight for _, _, weight in leaves]),
    helper.make_node("Normalizer", ["raw"], ["normal"], domain=ML, norm="L1"),
    helper.make_node("ZipMap", ["normal"], ["probabilities"], domain=ML, classlabels_strings=words),
    helper.make_node("Add", ["raw", "raw"], ["other"]),
], [("label", TensorProto.STRING, ["rows"]), ("probabilities", TensorProto.FLOAT, ["rows", 3]), ("other", TensorProto.FLOAT, ["rows", 3])])
write(folder / "numbers.onnx", [
    helper.make_node("LinearClassifier", ["x"], ["label", "raw"], domain=ML, classlabels_ints=[3, -2**63, *range(12, 20)], coefficients=[float(i) for i in range(20)],
                     intercepts=[float(-i) for i in range(10)]),
    helper.make_node("Identity", ["raw"], ["scores"]),
], [("label", TensorProto.INT64, ["rows"]), ("scores", TensorProto.FLOAT, ["rows", 10])])
