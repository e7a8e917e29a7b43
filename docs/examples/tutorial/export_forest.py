#!/usr/bin/python3
"""Trains a random forest on the same wines with scikit-learn, and writes forest.onnx and forest_samples/ beside itself or into --output. Debian has no skl2onnx,
so this script writes the ONNX operator from the forest's arrays itself.

Debian 12: apt-get install python3-sklearn python3-onnx.
"""

import argparse
import pathlib

import numpy as np
import onnx
import sklearn.datasets
import sklearn.ensemble
from onnx import TensorProto, helper, numpy_helper


def round_down(thresholds):
    """The largest f32 that is not greater: x <= threshold is then the same for every x of f32."""
    rounded = thresholds.astype(np.float32)
    return np.where(rounded > thresholds, np.nextafter(rounded, np.float32(-np.inf)), rounded)


def write_forest(forest):
    """TreeEnsembleClassifier: the nodes of all trees one after the other, and for each leaf a weight of each class."""
    nodes = {name: [] for name in ("treeids", "nodeids", "featureids", "modes", "values", "truenodeids", "falsenodeids")}
    leaves = {name: [] for name in ("treeids", "nodeids", "ids", "weights")}
    for number, estimator in enumerate(forest.estimators_):
        tree = estimator.tree_
        is_leaf = tree.children_left < 0
        nodes["treeids"] += [number] * tree.node_count
        nodes["nodeids"] += range(tree.node_count)
        nodes["featureids"] += np.where(is_leaf, 0, tree.feature).tolist()
        nodes["modes"] += np.where(is_leaf, "LEAF", "BRANCH_LEQ").tolist()
        nodes["values"] += np.where(is_leaf, 0, round_down(tree.threshold)).tolist()
        nodes["truenodeids"] += np.where(is_leaf, 0, tree.children_left).tolist()
        nodes["falsenodeids"] += np.where(is_leaf, 0, tree.children_right).tolist()
        for node in np.flatnonzero(is_leaf):
            shares = tree.value[node, 0] / tree.value[node, 0].sum() / len(forest.estimators_)
            for kind, share in enumerate(shares):
                leaves["treeids"].append(number)
                leaves["nodeids"].append(int(node))
                leaves["ids"].append(kind)
                leaves["weights"].append(float(share))
    attributes = {f"nodes_{name}": values for name, values in nodes.items()} | {f"class_{name}": values for name, values in leaves.items()}
    node = helper.make_node("TreeEnsembleClassifier", ["measurements"], ["kind", "probabilities"], "forest", domain="ai.onnx.ml",
                            classlabels_int64s=[int(kind) for kind in forest.classes_], post_transform="NONE", **attributes)
    graph = helper.make_graph([node], "forest", [helper.make_tensor_value_info("measurements", TensorProto.FLOAT, ["wines", 13])],
                              [helper.make_tensor_value_info("kind", TensorProto.INT64, ["wines"]),
                               helper.make_tensor_value_info("probabilities", TensorProto.FLOAT, ["wines", len(forest.classes_)])])
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17), helper.make_opsetid("ai.onnx.ml", 3)], ir_version=8)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--output", type=pathlib.Path, default=pathlib.Path(__file__).parent)
    out = parser.parse_args().output
    data = sklearn.datasets.load_wine()
    measurements, kinds = data.data.astype(np.float32), data.target
    held_out = np.arange(len(kinds)) % 5 == 0
    forest = sklearn.ensemble.RandomForestClassifier(n_estimators=20, max_depth=4, random_state=1).fit(measurements[~held_out], kinds[~held_out])
    unknown = measurements[held_out]
    predicted = forest.predict(unknown)
    print(f"{int((predicted == kinds[held_out]).sum())} of {len(unknown)} held-out wines are right")
    onnx.save(write_forest(forest), out / "forest.onnx")
    samples = out / "forest_samples"
    samples.mkdir(exist_ok=True)
    arrays = {"input_0": unknown, "output_0": predicted.astype(np.int64), "output_1": forest.predict_proba(unknown).astype(np.float32)}
    for name, array in arrays.items():
        (samples / f"{name}.pb").write_bytes(numpy_helper.from_array(array).SerializeToString())


if __name__ == "__main__":
    main()
