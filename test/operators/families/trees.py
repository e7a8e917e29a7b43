"""Ensembles of trees as ai.onnx.ml 1 and 3 list them, and what comes after scores."""

import numpy as np
from cases import Expected, Tensor, operator
from elements import TYPES

f32 = np.float32
ML = "ai.onnx.ml"
COMPARE = {"BRANCH_LEQ": np.less_equal, "BRANCH_LT": np.less, "BRANCH_GTE": np.greater_equal, "BRANCH_GT": np.greater, "BRANCH_EQ": np.equal, "BRANCH_NEQ": np.not_equal}


class ListedTrees:
    """Random trees as lists over nodes. `modes` are those that nodes have; leaves give numbers to `targets`, several each if `dense`."""

    def __init__(self, g, columns, targets, ids):
        self.g, self.columns, self.ids = g, columns, ids
        self.modes = [g.pick(list(COMPARE))] if g.chance(0.5) else ["BRANCH_LEQ", "BRANCH_GT"] if g.chance(0.3) else list(COMPARE)
        self.missing = g.pick(["none", "all", "some"])
        self.dense, self.positive = g.chance(0.3), g.chance(0.5)
        self.nodes, self.leaves = [], []
        self.count = g.pick([1, 3, 20, 70])
        for tree in range(self.count):
            self.next = g.integer(0, 5)
            # Few are deep, so that references are quick; a kernel has parts of a few levels below others.
            self.grow(tree, g.integer(0, 4) if self.count > 3 or g.chance(0.6) else g.integer(5, 9))

    def grow(self, tree, depth):
        g, node = self.g, self.next
        self.next += 1
        at = len(self.nodes)
        if not depth or g.chance(0.15):
            self.nodes.append([tree, node, 0, "LEAF", 0.0, 0, 0, 0])
            for target in self.ids if self.dense else [g.pick(self.ids)]:
                weight = g.integer(1, 16) / 8
                self.leaves.append((tree, node, target, weight if self.positive or g.chance(0.5) else -weight))
            return node
        missing = {"none": 0, "all": 1, "some": int(g.chance(0.5))}[self.missing]
        self.nodes.append([tree, node, g.integer(0, self.columns - 1), g.pick(self.modes), g.integer(-4, 4) / 2, 0, 0, missing])
        self.nodes[at][5] = self.grow(tree, depth - 1)
        self.nodes[at][6] = self.grow(tree, depth - 1)
        return node

    def walk(self, row):
        """The weights (target, weight) that a row's leaves give."""
        places = {(node[0], node[1]): node for node in self.nodes}
        roots = {}
        for node in self.nodes:
            roots.setdefault(node[0], node)
        given = {}
        for tree, node, target, weight in self.leaves:
            given.setdefault((tree, node), []).append((target, weight))
        for tree, node in roots.items():
            while node[3] != "LEAF":
                x = row[node[2]]
                holds = COMPARE[node[3]](x, node[4]) or (np.isnan(x) and node[7])
                node = places[tree, node[5 if holds else 6]]
            yield from given.get((tree, node[1]), [])

    def attributes(self, stem):
        names = ["nodes_treeids", "nodes_nodeids", "nodes_featureids", "nodes_modes", "nodes_values", "nodes_truenodeids", "nodes_falsenodeids", "nodes_missing_value_tracks_true"]
        lists = {name: [node[i] for node in self.nodes] for i, name in enumerate(names)}
        if self.missing == "none":
            del lists["nodes_missing_value_tracks_true"]
        order = self.g.random.permutation(len(self.leaves)) if self.g.chance(0.3) else range(len(self.leaves))
        for i, name in enumerate(["treeids", "nodeids", "ids", "weights"]):
            lists[f"{stem}_{name}"] = [self.leaves[at][i] for at in order]
        return lists


def rows_of(g, columns):
    array = np.rint(g.random.standard_normal((g.pick([1, 2, 5, 17, 40]), columns)) * 3) / 2
    if g.type in ("i32", "i64"):
        return Tensor(np.rint(array).astype(TYPES[g.type].held), g.type)
    return Tensor(np.where(g.random.random(array.shape) < 0.08, np.nan, array).astype(TYPES[g.type].held), g.type)


def transformed(scores, name):
    """post_transform, row by row."""
    with np.errstate(all="ignore"):
        if name == "LOGISTIC":
            return 1 / (1 + np.exp(-scores))
        if name == "PROBIT":
            y = 2 * scores - 1
            log = np.log((1 - y) * (1 + y))
            v = 2 / (np.pi * 0.147) + log / 2
            return np.sqrt(2) * np.sign(y) * np.sqrt(np.sqrt(v * v - log / 0.147) - v)
        if name == "NONE":
            return scores
        grown = np.exp(scores - scores.max(1, keepdims=True))
        if name == "SOFTMAX":
            return grown / grown.sum(1, keepdims=True)
        counts = abs(scores) > 1e-7
        total = (grown * counts).sum(1, keepdims=True)
        return np.where(counts, grown, 0) / np.where(total == 0, 1, total)


TRANSFORMS = ["NONE", "SOFTMAX", "LOGISTIC", "SOFTMAX_ZERO", "PROBIT"]


def expected_scores(scores, name):
    """Scores after the transform; a probit is defined between 0 and 1 alone, and a difference of almost equal numbers around 0."""
    exact = transformed(scores, name)
    size = abs(np.nan_to_num(exact))
    room, free = 2e-6 * (1 + size), None
    if name == "PROBIT":
        room, free = room + 1e-6 / (size + 1e-3), ~((scores > 1e-3) & (scores < 1 - 1e-3))
    return Expected(exact, "f32", 4, room, free)


def summed(trees, rows, targets):
    result, hit = np.zeros((len(rows), targets)), np.zeros((len(rows), targets), bool)
    least, most = np.full(result.shape, np.inf), np.full(result.shape, -np.inf)
    for r, row in enumerate(rows):
        for target, weight in trees.walk(row):
            result[r, target] += weight
            hit[r, target] = True
            least[r, target], most[r, target] = min(least[r, target], weight), max(most[r, target], weight)
    return result, np.where(hit, least, 0), np.where(hit, most, 0)


@operator("TreeEnsembleRegressor", types=["f32", "f64", "i32", "i64"], domain=ML, weight=2)
def tree_regressor(g):
    columns, targets = g.integer(1, 5), g.pick([1, 1, 2, 7])
    trees, x = ListedTrees(g, columns, targets, list(range(targets))), rows_of(g, columns)
    total, least, most = summed(trees, x.array, targets)
    how = g.pick(["SUM", "AVERAGE", "MIN", "MAX"])
    result = {"SUM": total, "AVERAGE": total / trees.count, "MIN": least, "MAX": most}[how]
    base = [g.integer(-4, 4) / 4 for _ in range(targets)] if g.chance(0.4) else None
    after = g.pick(["NONE", "NONE", *TRANSFORMS])
    return g.case([x], expected_scores(result + (base or 0), after), **trees.attributes("target"), n_targets=targets, aggregate_function=how, base_values=base, post_transform=after)


@operator("TreeEnsembleClassifier", types=["f32", "f64", "i32", "i64"], domain=ML, weight=3)
def tree_classifier(g):
    columns, classes = g.integer(1, 5), g.pick([2, 2, 2, 3, 6])
    one = classes == 2 and g.chance(0.6)
    trees, x = ListedTrees(g, columns, classes, [g.integer(0, 1)] if one else list(range(classes))), rows_of(g, columns)
    ids = {leaf[2] for leaf in trees.leaves}
    one, second = classes == 2 and ids == {0}, classes == 2 and ids == {1}
    total, _, _ = summed(trees, x.array, classes)
    base = [g.integer(-4, 4) / 4 for _ in range(1 if one else classes)] if g.chance(0.3) and not second else None
    after = g.pick(["NONE", "NONE", *TRANSFORMS])
    positive = all(leaf[3] >= 0 for leaf in trees.leaves)
    if one:
        score = total.sum(1, keepdims=True) + (base or 0)
        both = np.concatenate([1 - score if positive and after != "LOGISTIC" else -score, score], 1)
        labels = (score[:, 0] > (0.5 if positive else 0)).astype(int)
        scores = expected_scores(both, after if after in ("PROBIT", "LOGISTIC") else "NONE")
    else:
        total = total + (base or 0)
        labels, scores = total.argmax(1), expected_scores(total, after)
        labels = (total[:, 1] > (0.5 if positive else 0)).astype(int) if second else labels
    attributes = trees.attributes("class")
    if g.chance(0.5):
        names = [int(v) for v in g.random.permutation(40)[:classes]]
        return g.case([x], Expected(np.array(names, np.int64)[labels], "i64"), scores, **attributes, classlabels_int64s=names, base_values=base, post_transform=after)
    names = [f"c{v}" for v in g.random.permutation(40)[:classes]]
    return g.case([x], Expected(np.array(names, object)[labels], "string"), scores, **attributes, classlabels_strings=names, base_values=base, post_transform=after)
