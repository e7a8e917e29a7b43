"""Losses, steps of optimizers, and operators of ai.onnx.ml."""

import numpy as np
from cases import Expected, Tensor, operator
from elements import TYPES
from floats import accumulated, rounded

f32 = np.float32
ML, TRAINING = "ai.onnx.ml", "ai.onnx.preview.training"


def log_softmax(x, axis):
    shifted = x - x.max(axis, keepdims=True)
    return shifted - np.log(np.exp(shifted).sum(axis, keepdims=True))


@operator("NegativeLogLikelihoodLoss", "SoftmaxCrossEntropyLoss", types=lambda opset: ["f32", "f64", "f16"], since=12, weight=2)
def loss(g):
    classes, rest = g.integer(1, 9), g.shape(0, 2, zero=False, elements=20, size=6)
    shape = (g.integer(1, 4), classes, *rest)
    x = g.tensor(g.type, shape, "normal")
    labels = g.random.integers(0, classes, (shape[0], *rest))
    ignored = g.pick([None, None, 0, -1, classes, -100])
    if ignored is not None:
        labels = np.where(g.random.random(labels.shape) < 0.3, ignored, labels)
        labels.flat[0] = ignored if classes == 1 and ignored == 0 else (0 if ignored else classes - 1)
    target = Tensor(labels.astype(TYPES[kind := g.pick(["i64", "i32"])].held), kind)
    weight = g.tensor(g.type, (classes,), "positive") if g.chance(0.5) else None
    logs = log_softmax(x.wide, 1) if g.op.startswith("Softmax") else x.wide
    skipped = labels == ignored if ignored is not None else np.zeros(labels.shape, bool)
    at = np.where(skipped, 0, labels)
    weights = np.where(skipped, 0, weight.wide[at] if weight else np.longdouble(1))
    each = -np.take_along_axis(logs, at[:, None], 1)[:, 0] * weights
    reduction = g.pick([None, "mean", "sum", "none"])
    size = (abs(np.take_along_axis(logs, at[:, None], 1)[:, 0]) + 3) * weights
    total = np.where(weights.sum() == 0, np.nan, 1)
    exact, size = {"none": (each, size), "sum": (each.sum(), size.sum())}.get(reduction, (each.sum() / (weights.sum() or np.nan), size.sum() / (weights.sum() or np.nan)))
    slack = np.nan_to_num(accumulated(g.type, size, each.size + 12) * 2 + rounded(g.type, size, 3))
    outputs = [Expected(exact, g.type, 2, slack)]
    if g.op.startswith("Softmax") and g.chance(0.4):
        outputs.append(Expected(logs, g.type, 2, accumulated(g.type, abs(logs) + 3, classes + 8) + rounded(g.type, abs(logs) + 3, 2)))
    return g.case([x, target] + ([weight] if weight else []), *outputs, reduction=reduction, ignore_index=ignored)


def numbers(g, **choices):
    return {name: float(f32(g.pick(values))) for name, values in choices.items()}


@operator("Adagrad", "Adam", "Momentum", types=["f32", "f64"], domain=TRAINING)
def optimizer(g):
    count, step = g.integer(1, 2), g.integer(0, 5)
    shapes = [g.shape(0, 3, zero=False, elements=100) for _ in range(count)]
    x, gradient, state = ([g.tensor(g.type, shape, "normal") for shape in shapes] for _ in range(3))
    second = [g.tensor(g.type, shape, "positive") for shape in shapes]
    rate = Tensor(np.array(0.1, TYPES[g.type].held), g.type)
    first = [rate, Tensor(np.array(step), "i64")]
    r, norm = rate.wide, numbers(g, norm_coefficient=[0.0, 0.1])
    decay = norm["norm_coefficient"]
    slope = [decay * a.wide + b.wide for a, b in zip(x, gradient)]
    if g.op == "Adagrad":
        given = {**norm, **numbers(g, decay_factor=[0.0, 0.1], epsilon=[1e-6, 1e-3])}
        squares = [h.wide + s * s for h, s in zip(second, slope)]
        moved = [a.wide - r / (1 + step * given["decay_factor"]) * s / (np.sqrt(q) + given["epsilon"]) for a, s, q in zip(x, slope, squares)]
        return finish(g, [*first, *x, *gradient, *second], [moved, squares], given)
    if g.op == "Momentum":
        given = {**norm, **numbers(g, alpha=[0.0, 0.5, 0.9], beta=[0.3, 1.0]), "mode": g.pick(["standard", "nesterov"])}
        speed = [given["alpha"] * v.wide + (given["beta"] if step else 1) * s for v, s in zip(state, slope)]
        move = speed if given["mode"] == "standard" else [s + given["alpha"] * v for s, v in zip(slope, speed)]
        return finish(g, [*first, *x, *gradient, *state], [[a.wide - r * m for a, m in zip(x, move)], speed], given)
    given = {**norm, **numbers(g, alpha=[0.5, 0.9], beta=[0.5, 0.999], epsilon=[1e-6, 1e-3], norm_coefficient_post=[0.0, 0.1])}
    a, b = given["alpha"], given["beta"]
    speed = [a * v.wide + (1 - a) * s for v, s in zip(state, slope)]
    squares = [b * h.wide + (1 - b) * s * s for h, s in zip(second, slope)]
    r = r * np.sqrt(1 - np.longdouble(b) ** step) / (1 - np.longdouble(a) ** step) if step else r
    moved = [(1 - given["norm_coefficient_post"]) * (t.wide - r * v / (np.sqrt(h) + given["epsilon"])) for t, v, h in zip(x, speed, squares)]
    return finish(g, [*first, *x, *gradient, *state, *second], [moved, speed, squares], given)


def finish(g, inputs, lists, given):
    # 1 - beta ^ step cancels for beta = 0.999.
    room = 4e-4 if g.op == "Adam" and g.type == "f32" else 2.0**-18 if g.type == "f32" else 1e-12
    return g.case(inputs, *(Expected(value, g.type, 2, room * (1 + abs(value))) for values in lists for value in values), **given)


LEARNED = ["f32", "f64", "i32", "i64"]


@operator("ArrayFeatureExtractor", types=LEARNED, domain=ML)
def array_feature_extractor(g):
    x = g.tensor(g.type, g.shape(1, 3, zero=False, elements=100))
    at = Tensor(g.random.integers(0, x.shape[-1], g.integer(1, 5)), "i64")
    result = x.array[..., at.array]
    return g.case([x, at], Expected(result if len(x.shape) > 1 else result.reshape(1, -1), g.type))


@operator("Binarizer", types=LEARNED, domain=ML)
def binarizer(g):
    x, threshold = g.tensor(g.type, g.shape(1, 3), "small"), float(f32(g.pick([0, 1, -2.5, 0.5])))
    return g.case([x], Expected((x.array > threshold).astype(TYPES[g.type].held), g.type), threshold=threshold if threshold or g.chance(0.5) else None)


@operator("Scaler", types=LEARNED, domain=ML)
def scaler(g):
    x = g.tensor(g.type, g.shape(2, 2, zero=False, elements=200), "normal")
    offset, scale = ([float(f32(v)) for v in g.random.standard_normal(g.pick([1, x.shape[1]]))] for _ in range(2))
    value = x.array.astype("f8")
    exact = (value - offset) * scale
    size = (abs(value) + np.abs(offset)) * np.abs(scale)
    return g.case([x], Expected(exact, "f32", 1, size * 2.0**-22), offset=offset, scale=scale)


@operator("Normalizer", types=LEARNED, domain=ML)
def normalizer(g):
    x, norm = g.tensor(g.type, g.shape(1, 2, zero=False, elements=200), "positive"), g.pick(["MAX", "L1", "L2"])
    value = x.array.astype("f8")
    divisor = {"MAX": value.max, "L1": abs(value).sum, "L2": lambda axis, keepdims: np.sqrt((value**2).sum(axis, keepdims=keepdims))}[norm](axis=-1, keepdims=True)
    return g.case([x], Expected(value / divisor, "f32", 2, abs(value / divisor) * 2.0**-20), norm=norm)


@operator("LinearRegressor", types=LEARNED, domain=ML)
def linear_regressor(g):
    x, targets = g.tensor(g.type, g.shape(2, 2, zero=False, elements=200), "normal"), g.integer(1, 4)
    weights = [float(f32(v)) for v in g.random.standard_normal(targets * x.shape[1])]
    bias = [float(f32(v)) for v in g.random.standard_normal(targets)] if g.chance(0.6) else None
    matrix, value = np.array(weights).reshape(targets, -1), x.array.astype("f8")
    exact = value @ matrix.T + (bias or 0)
    size = abs(value) @ abs(matrix.T) + np.abs(bias or 0)
    return g.case([x], Expected(exact, "f32", 1, size * 2.0**-22 * (x.shape[1] + 3)), coefficients=weights, intercepts=bias, targets=targets if targets > 1 or g.chance(0.5) else None)


KEYS = {"i64": ("int64s", lambda g, n: [int(v) for v in g.random.permutation(50)[:n]]), "f32": ("floats", lambda g, n: [float(f32(v)) / 4 for v in g.random.permutation(50)[:n]]),
        "string": ("strings", lambda g, n: [f"w{v}" for v in g.random.permutation(50)[:n]])}


@operator("LabelEncoder", types=["i64", "f32", "string"], domain=ML, weight=2)
def label_encoder(g):
    count, to = g.integer(1, 6), g.pick(["i64", "f32", "string"])
    keys, values = KEYS[g.type][1](g, count), KEYS[to][1](g, count)
    others = KEYS[g.type][1](g, 4)
    shape = g.shape(1, 2, zero=False, elements=40)
    drawn = [g.pick(keys + others) for _ in range(int(np.prod(shape)))]
    default = {"i64": -1, "f32": -0.0, "string": "_Unused"}[to]
    given = {}
    if g.chance(0.5):
        default = KEYS[to][1](g, 1)[0]
        given["default_" + {"i64": "int64", "f32": "float", "string": "string"}[to]] = default
    held = lambda type, values: np.array(values, TYPES[type].held).reshape(shape)
    result = [dict(zip(keys, values)).get(key, default) for key in drawn]
    return g.case([Tensor(held(g.type, drawn), g.type)], Expected(held(to, result), to), **{"keys_" + KEYS[g.type][0]: keys, "values_" + KEYS[to][0]: values}, **given)


@operator("TfIdfVectorizer", types=["i64", "i32", "string"], since=9, weight=2)
def tfidf(g):
    least = g.integer(1, 2)
    most = g.integer(least, 3)
    grams = []
    starts = []
    for length in range(1, most + 1):
        starts.append(sum(len(gram) for gram in grams))
        seen = {tuple(int(v) for v in g.random.integers(0, 5, length)) for _ in range(g.integer(1, 4))}
        grams += sorted(seen)
    indexes = [int(v) for v in g.random.permutation(len(grams))]
    mode, skip = g.pick(["TF", "IDF", "TFIDF"]), g.integer(0, 2)
    weights = [float(f32(v)) for v in g.random.standard_normal(len(grams))] if mode != "TF" or g.chance(0.3) else None
    items = g.random.integers(0, 5, g.shape(1, 2, zero=False, elements=60, size=12))
    words = np.array(["", "a", "ab", "Kiln", "ä"])
    x = Tensor(words[items] if g.type == "string" else items.astype(TYPES[g.type].held), g.type)
    rows = items.reshape(-1, x.shape[-1])
    counts = np.zeros((len(rows), len(grams)))
    for row, sequence in zip(counts, rows):
        for number, gram in enumerate(grams):
            if least <= len(gram) <= most:
                # Of single items there is nothing to skip.
                for step in range(1, skip + 2 if len(gram) > 1 else 2):
                    for start in range(len(sequence) - (len(gram) - 1) * step):
                        row[indexes[number]] += tuple(sequence[start + step * k] for k in range(len(gram))) == gram
    # The text and ONNX Runtime 1.30 give the i-th weight to the i-th n-gram of the pool; ONNX's reference implementation gives it to the i-th result.
    factor = np.array(weights)[np.argsort(indexes)] if weights and mode != "TF" else np.ones(len(grams))
    result = (np.minimum(counts, 1) if mode == "IDF" else counts) * factor
    pool = [v for gram in grams for v in gram]
    pool = {"pool_strings": [str(words[v]) for v in pool]} if g.type == "string" else {"pool_int64s": pool}
    return g.case([x], Expected(result.reshape(*x.shape[:-1], -1), "f32"), max_gram_length=most, min_gram_length=least, max_skip_count=skip, mode=mode, ngram_counts=starts,
                  ngram_indexes=indexes, weights=weights, **pool)


@operator("LinearAttention", types=["f32", "f16", "bf16"], since=27, weight=2)
def linear_attention(g):
    batch, kv, group, steps, d, dv = g.integer(1, 2), g.integer(1, 3), g.integer(1, 2), g.integer(1, 5), g.pick([1, 2, 4, 8]), g.pick([1, 3, 8])
    heads, rule = kv * group, g.pick(["linear", "gated", "delta", "gated_delta"])
    small = lambda *shape: Tensor((g.values(g.type, shape, "normal") * np.array(0.5, TYPES[g.type].held)), g.type)
    q, k, v = small(batch, steps, heads * d), small(batch, steps, kv * d), small(batch, steps, kv * dv)
    past = small(batch, kv, d, dv) if g.chance(0.5) else None
    decay = small(batch, steps, kv * d if g.chance(0.5) else kv) if "gated" in rule else None
    if decay:
        decay.array = -abs(decay.array)
    beta = small(batch, steps, kv if g.chance(0.7) else 1) if "delta" in rule else None
    scale = float(f32(g.pick([0.0, 0.5])))
    state = past.wide.copy() if past else np.zeros((batch, kv, d, dv), np.longdouble)
    result = np.zeros((batch, steps, heads, dv), np.longdouble)
    apart = lambda t, count: t.wide.reshape(batch, steps, count, -1)
    for t in range(steps):
        if decay:
            state = state * np.exp(apart(decay, kv)[:, t, :, :, None])
        key, value = apart(k, kv)[:, t], apart(v, kv)[:, t]
        if beta:
            value = (value - np.einsum("bhd,bhde->bhe", key, state)) * beta.wide[:, t].reshape(batch, -1, 1)
        state = state + key[..., None] * value[..., None, :]
        result[:, t] = np.einsum("bhd,bhde->bhe", apart(q, heads)[:, t], state.repeat(group, 1)) * (scale or 1 / np.sqrt(np.longdouble(d)))
    room = {"f32": 2.0**-17, "f16": 2.0**-9, "bf16": 2.0**-6}[g.type]
    outputs = [Expected(result.reshape(batch, steps, -1), g.type, 2, room), Expected(state, g.type, 2, room)]
    inputs = [q, k, v, past, decay, beta]
    while inputs[-1] is None:
        inputs.pop()
    return g.case(inputs, *outputs, q_num_heads=heads, kv_num_heads=kv, update_rule=rule if rule != "gated_delta" or g.chance(0.5) else None, scale=scale or None)


class Forest:
    """Random trees, as lists over nodes and leaves."""

    def __init__(self, g, columns, targets):
        self.nodes, self.leaves, self.roots, self.members = [], [], [], []
        self.g, self.columns, self.targets = g, columns, targets
        for _ in range(g.integer(1, 4)):
            self.roots.append(self.grow(g.integer(0, 3)))

    def grow(self, depth):
        """The number of a new node, whose branches are (is leaf, number)."""
        g, at = self.g, len(self.nodes)
        self.nodes.append(None)
        branches = []
        for _ in range(2):
            if depth and g.chance(0.7):
                branches.append((False, self.grow(depth - 1)))
            else:
                branches.append((True, len(self.leaves)))
                self.leaves.append((g.integer(0, self.targets - 1), g.integer(-8, 8) / 4))
        self.nodes[at] = (g.integer(0, self.columns - 1), g.integer(0, 6), g.integer(-4, 4) / 2, g.chance(0.3), branches, [v / 2 for v in range(-2, g.integer(0, 3))])
        return at

    def walk(self, row, at):
        """The leaf of a row."""
        column, mode, split, missing_is_true, branches, members = self.nodes[at]
        x = row[column]
        holds = [x <= split, x < split, x >= split, x > split, x == split, x != split, x in members][mode] or (np.isnan(x) and missing_is_true)
        leaf, to = branches[0 if holds else 1]
        return to if leaf else self.walk(row, to)


@operator("TreeEnsemble", types=["f32", "f64"], domain=ML, since=22, weight=2)
def tree_ensemble(g):
    rows, columns, targets = g.integer(1, 6), g.integer(1, 4), g.integer(1, 3)
    forest = Forest(g, columns, targets)
    held = TYPES[g.type].held
    array = np.rint(g.random.standard_normal((rows, columns)) * 3) / 2
    x = Tensor(np.where(g.random.random(array.shape) < 0.05, np.nan, array).astype(held), g.type)
    aggregate = g.integer(0, 3)
    result, hit = np.zeros((rows, targets)), np.zeros((rows, targets), bool)
    for r, root in np.ndindex(rows, len(forest.roots)):
        target, weight = forest.leaves[forest.walk(x.array[r], forest.roots[root])]
        old = result[r, target]
        result[r, target] = old + weight if aggregate < 2 else weight if not hit[r, target] else min(old, weight) if aggregate == 2 else max(old, weight)
        hit[r, target] = True
    result = result / len(forest.roots) if aggregate == 0 else result
    order = sorted(range(len(forest.nodes)))
    branch = lambda side: [forest.nodes[at][4][side] for at in order]
    members = [value for at in order if forest.nodes[at][1] == 6 for value in [*forest.nodes[at][5], np.nan]]
    attributes = {"tree_roots": forest.roots, "nodes_featureids": [node[0] for node in forest.nodes], "nodes_modes": np.array([node[1] for node in forest.nodes], "u1"),
                  "nodes_splits": np.array([node[2] for node in forest.nodes], held), "nodes_missing_value_tracks_true": [int(node[3]) for node in forest.nodes],
                  "nodes_truenodeids": [to for _, to in branch(0)], "nodes_trueleafs": [int(leaf) for leaf, _ in branch(0)],
                  "nodes_falsenodeids": [to for _, to in branch(1)], "nodes_falseleafs": [int(leaf) for leaf, _ in branch(1)],
                  "leaf_targetids": [target for target, _ in forest.leaves], "leaf_weights": np.array([weight for _, weight in forest.leaves], held),
                  "membership_values": np.array(members, held) if members else None, "n_targets": targets, "aggregate_function": aggregate}
    # The text does not say what the least or largest of no leaves is.
    free = ~hit if aggregate >= 2 else None
    return g.case([x], Expected(result, g.type, 1, 1e-6 if g.type == "f32" else 1e-14, free), **attributes)
