"""Pipelines over columns of a table, as skl2onnx and onnxmltools write those of scikit-learn, XGBoost and LightGBM."""

import numpy as np

from .graph import Graph

ML = "ai.onnx.ml"


class Trees:
    """Random trees as lists over nodes. Splits have three decimals, so that no row comes close to one by rounding."""

    def __init__(self, g, columns, mode, missing):
        self.g, self.columns, self.mode, self.missing = g, columns, mode, missing
        self.nodes, self.leaves, self.trees = [], [], 0

    def grow(self, build):
        self.tree, self.next = self.trees, 0
        self.trees += 1
        build()

    def node(self):
        self.nodes.append(None)
        self.next += 1
        return self.next - 1, len(self.nodes) - 1

    def leaf(self):
        own, at = self.node()
        self.nodes[at] = (self.tree, own, "LEAF", 0, 0.0, 0, 0, 0)
        self.leaves.append((self.tree, own))
        return own

    def split(self, yes, no):
        own, at = self.node()
        random = self.g.random
        column, value, tracks = random.randint(self.columns), round(float(random.standard_normal()), 3) + 0.0005, int(self.missing and random.randint(2))
        branches = yes(), no()
        self.nodes[at] = (self.tree, own, self.mode, column, value, *branches, tracks)
        return own

    def level_wise(self, depth):
        """As scikit-learn and XGBoost grow: to a depth, with a few leaves above it."""
        if depth == 0 or (self.next > 4 and self.g.random.rand() < 0.05):
            return self.leaf()
        return self.split(lambda: self.level_wise(depth - 1), lambda: self.level_wise(depth - 1))

    def leaf_wise(self, leaves):
        """As LightGBM grows: so many leaves, wherever they are."""
        if leaves == 1:
            return self.leaf()
        left = self.g.random.randint(1, leaves) if self.g.random.rand() < 0.5 else 1
        return self.split(lambda: self.leaf_wise(left), lambda: self.leaf_wise(leaves - left))

    def attributes(self, stem, given):
        """`given` lists (leaf, target, weight)."""
        names = ("treeids", "nodeids", "modes", "featureids", "values", "truenodeids", "falsenodeids", "missing_value_tracks_true")
        lists = {f"nodes_{name}": list(values) for name, values in zip(names, zip(*self.nodes))}
        rows = [(*self.leaves[leaf], target, float(weight)) for leaf, target, weight in given]
        return {**lists, **{f"{stem}_{name}": list(values) for name, values in zip(("treeids", "nodeids", "ids", "weights"), zip(*rows))}}


def scikit_forest():
    """Missing numbers imputed and scaled, a category in columns of its own, a forest whose leaves have a probability for each of three classes."""
    g = Graph(301)
    # A square root leaves out half of the numbers.
    numbers = g.add("Sqrt", g.input("numbers", np.float32, ["rows", 6]))
    category = g.input("category", np.int64, ["rows", 1])
    numbers = g.add("Imputer", numbers, domain=ML, imputed_value_floats=[0.5, 0.75, 1.0, 0.25, 0.5, 0.5], replaced_value_float=float("nan"))
    numbers = g.add("Scaler", numbers, domain=ML, offset=[0.7, 0.8, 0.6, 0.9, 0.7, 0.75], scale=[2.0, 1.5, 1.75, 2.5, 1.25, 2.0])
    columns = g.add("OneHotEncoder", category, domain=ML, cats_int64s=[0, 2, 3, 7], zeros=1)
    columns = g.add("Reshape", columns, g.integers(-1, 4))
    table = g.add("FeatureVectorizer", numbers, columns, domain=ML, inputdimensions=[6, 4])
    trees = Trees(g, 10, "BRANCH_LEQ", False)
    for _ in range(100):
        trees.grow(lambda: trees.level_wise(6))
    shares = g.random.dirichlet([1, 1, 1], len(trees.leaves)) / 100
    given = [(leaf, target, np.float32(shares[leaf][target])) for leaf in range(len(trees.leaves)) for target in range(3)]
    label, scores = g.add("TreeEnsembleClassifier", table, outputs=2, domain=ML, classlabels_int64s=[0, 1, 2], post_transform="NONE",
                          **trees.attributes("class", given))
    g.output("label", label, np.int64, ["rows"])
    g.output("probabilities", g.add("Normalizer", scores, domain=ML, norm="L1"), shape=["rows", 3])
    return g.model("scikit_forest", 17, [ML])


def xgboost_regressor():
    """Trees of depth 7 that compare with <, send what is missing either way, and are added to the base score."""
    g = Graph(302)
    table = g.add("Sqrt", g.input("numbers", np.float32, ["rows", 12]))
    trees = Trees(g, 12, "BRANCH_LT", True)
    for _ in range(60):
        trees.grow(lambda: trees.level_wise(7))
    given = [(leaf, 0, np.float32(0.1 * g.random.standard_normal())) for leaf in range(len(trees.leaves))]
    g.output("variable", g.add("TreeEnsembleRegressor", table, domain=ML, n_targets=1, base_values=[0.5], **trees.attributes("target", given)), shape=["rows", 1])
    return g.model("xgboost_regressor", 17, [ML])


def lightgbm_classifier():
    """Trees of 31 leaves that are grown leaf by leaf, one score that becomes the probability of the second class."""
    g = Graph(303)
    table = g.add("Sqrt", g.input("numbers", np.float32, ["rows", 8]))
    trees = Trees(g, 8, "BRANCH_LEQ", True)
    for _ in range(80):
        trees.grow(lambda: trees.leaf_wise(31))
    given = [(leaf, 0, np.float32(0.1 * g.random.standard_normal())) for leaf in range(len(trees.leaves))]
    label, scores = g.add("TreeEnsembleClassifier", table, outputs=2, domain=ML, classlabels_int64s=[0, 1], post_transform="LOGISTIC",
                          **trees.attributes("class", given))
    g.output("label", label, np.int64, ["rows"])
    g.output("probabilities", scores, shape=["rows", 2])
    return g.model("lightgbm_classifier", 17, [ML])


MODELS = [scikit_forest, xgboost_regressor, lightgbm_classifier]
