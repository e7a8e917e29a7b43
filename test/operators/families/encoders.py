"""What prepares features, and classifiers by products (ai.onnx.ml)."""

import numpy as np
from cases import Expected, Map, Tensor, operator
from elements import TYPES
from trees import TRANSFORMS, expected_scores, transformed

f32 = np.float32
ML = "ai.onnx.ml"
NUMBERS = ["f32", "f64", "i32", "i64"]


def numbers(g, *shape):
    """Small multiples of a quarter, so that products are exact."""
    return [float(v) / 4 for v in g.random.integers(-6, 7, int(np.prod(shape)))]


def features(g, rows, columns, type=None):
    type = type or g.type
    return Tensor(np.array(g.random.integers(-6, 7, (rows, columns)) / (1 if type[0] == "i" else 4), TYPES[type].held), type)


def labels_of(g, classes):
    """(attributes, array) of labels."""
    if g.chance(0.5):
        names = [int(v) for v in g.random.permutation(40)[:classes]]
        return "i64", names, np.array(names, np.int64)
    names = [f"c{v}" for v in g.random.permutation(40)[:classes]]
    return "string", names, np.array(names, object)


@operator("Imputer", types=NUMBERS, domain=ML)
def imputer(g):
    x = features(g, g.integer(1, 6), g.integer(1, 5))
    is_real, count = g.type[0] == "f", g.pick([1, x.shape[1]])
    values = numbers(g, count) if is_real else [int(v) for v in g.random.integers(-9, 9, count)]
    replaced = g.pick([0.0, float("nan"), 0.5]) if is_real else g.integer(-3, 3)
    if is_real and np.isnan(replaced):
        x.array = np.where(g.random.random(x.shape) < 0.3, np.nan, x.array).astype(x.array.dtype)
    hit = np.isnan(x.array) if is_real and np.isnan(replaced) else x.array == replaced
    kind = "float" if is_real else "int64"
    return g.case([x], Expected(np.where(hit, np.array(values), x.array).astype(x.array.dtype), g.type), **{f"imputed_value_{kind}s": values, f"replaced_value_{kind}": replaced})


@operator("OneHotEncoder", types=[*NUMBERS, "string"], domain=ML)
def one_hot_encoder(g):
    count, shape = g.integer(1, 6), g.shape(1, 2, zero=False, elements=30)
    if g.type == "string":
        cats = [f"w{v}" for v in g.random.permutation(9)[:count]]
        x = Tensor(np.array([f"w{g.integer(0, 9)}" for _ in range(int(np.prod(shape)))], TYPES["string"].held).reshape(shape), "string")
        return g.case([x], Expected((x.array[..., None] == np.array(cats)).astype(f32), "f32"), cats_strings=cats)
    cats = [int(v) for v in g.random.permutation(9)[:count]]
    x = Tensor(g.random.integers(0, 9, shape).astype(TYPES[g.type].held), g.type)
    return g.case([x], Expected((x.array[..., None] == np.array(cats)).astype(f32), "f32"), cats_int64s=cats)


def drawn_map(g, key_type, value_type):
    """(the map, {key: value}); some keys are no places of a small vector."""
    count = g.integer(1, 9)
    keys = [int(v) for v in g.random.permutation(14)[:count]]
    keys = np.array([f"w{v}" for v in keys] if key_type == "string" else keys, TYPES[key_type].held)
    values = np.array([str(g.integer(-99, 99)) for _ in keys], "U") if value_type == "string" else features(g, 1, count, value_type).array[0]
    return Map(Tensor(keys, key_type), Tensor(values, value_type)), dict(zip(keys.tolist(), values.tolist()))


@operator("DictVectorizer", types=["string", "i64"], domain=ML)
def dict_vectorizer(g):
    given = ["f32", "f64", "i64"] if g.type == "string" else ["f32", "f64", "string"]
    kind = g.pick(given)
    x, entries = drawn_map(g, g.type, kind)
    wanted = [int(v) for v in g.random.permutation(14)[: g.integer(1, 9)]]
    if g.type == "string":
        wanted = [f"w{v}" for v in wanted]
    elif g.chance(0.2):
        wanted.append(wanted[0])
    array = np.array([[entries.get(key, "" if kind == "string" else 0) for key in wanted]], object if kind == "string" else TYPES[kind].held)
    return g.case([x], Expected(array, kind), **{"string_vocabulary" if g.type == "string" else "int64_vocabulary": wanted})


@operator("CastMap", types=["f32", "string"], domain=ML)
def cast_map(g):
    x, entries = drawn_map(g, "i64", g.type)
    to = g.pick([None, "TO_FLOAT", "TO_INT64", *(["TO_STRING"] if g.type == "string" else [])])
    kind = {"TO_INT64": "i64", "TO_STRING": "string"}.get(to, "f32")
    cast = {"i64": lambda v: int(float(v)), "string": str, "f32": float}[kind]
    held = object if kind == "string" else TYPES[kind].held
    if g.chance(0.5):
        return g.case([x], Expected(np.array([[cast(entries[key]) for key in sorted(entries)]], held), kind), cast_to=to, map_form=g.pick([None, "DENSE"]))
    places = g.integer(1, 12)
    array = np.array([[cast(entries[at]) if at in entries else "0.f" if kind == "string" else 0 for at in range(places)]], held)
    return g.case([x], Expected(array, kind), cast_to=to, map_form="SPARSE", max_map=places if places > 1 or g.chance(0.5) else None)


@operator("FeatureVectorizer", types=NUMBERS, domain=ML)
def feature_vectorizer(g):
    rows = g.integer(1, 5)
    parts = [features(g, rows, g.integer(1, 5)) for _ in range(g.integer(1, 4))]
    widths = [max(1, part.shape[1] + g.pick([0, 0, 2, -1])) for part in parts]
    cut = [np.pad(part.array, ((0, 0), (0, max(0, width - part.shape[1]))))[:, :width] for part, width in zip(parts, widths)]
    return g.case(parts, Expected(np.concatenate(cut, 1).astype(f32), "f32"), inputdimensions=widths)


@operator("CategoryMapper", types=["i64", "string"], domain=ML)
def category_mapper(g):
    count, shape = g.integer(1, 6), g.shape(1, 2, zero=False, elements=30)
    words, integers = [f"w{v}" for v in g.random.permutation(9)[:count]], [int(v) for v in g.random.permutation(9)[:count]]
    if g.type == "string":
        x = [f"w{g.integer(0, 9)}" for _ in range(int(np.prod(shape)))]
        default = g.pick([-1, 7])
        result = Expected(np.array([dict(zip(words, integers)).get(v, default) for v in x], np.int64).reshape(shape), "i64")
        return g.case([Tensor(np.array(x, TYPES["string"].held).reshape(shape), "string")], result, cats_strings=words, cats_int64s=integers, default_int64=default if default != -1 else None)
    x = [g.integer(0, 9) for _ in range(int(np.prod(shape)))]
    result = Expected(np.array([dict(zip(integers, words)).get(v, "_Unused") for v in x], TYPES["string"].held).reshape(shape), "string")
    return g.case([Tensor(np.array(x, np.int64).reshape(shape), "i64")], result, cats_strings=words, cats_int64s=integers)


@operator("LinearClassifier", types=NUMBERS, domain=ML, weight=2)
def linear_classifier(g):
    classes, x = g.integer(2, 5), features(g, g.integer(1, 6), g.integer(1, 5))
    rows = 1 if classes == 2 and g.chance(0.6) else classes
    weights, bias, after = numbers(g, rows, x.shape[1]), numbers(g, rows), g.pick(["NONE", *TRANSFORMS])
    score = x.array.astype("f8") @ np.array(weights).reshape(rows, -1).T + bias
    if rows == 1:
        both = np.concatenate([-score if after == "LOGISTIC" else 1 - score, score], 1)
        at, scores = (score[:, 0] > 0).astype(int), expected_scores(both, after if after in ("PROBIT", "LOGISTIC") else "NONE")
    else:
        at, scores = score.argmax(1), expected_scores(score, after)
    type, names, table = labels_of(g, classes)
    name = "classlabels_ints" if type == "i64" else "classlabels_strings"
    return g.case([x], Expected(table[at], type), scores, coefficients=weights, intercepts=bias, post_transform=after, **{name: names})


def kernel_of(g, kind, x, vectors):
    """(the kernel of rows and vectors, kernel_params)"""
    gamma, coef0, degree = g.pick([0.125, 0.5]), g.pick([0.0, 0.5]), float(g.integer(1, 3))
    dot = x @ vectors.T
    if kind == "RBF":
        return np.exp(-gamma * ((x[:, None] - vectors) ** 2).sum(2)), [gamma, coef0, degree]
    return {"LINEAR": dot, "POLY": (gamma * dot + coef0) ** degree, "SIGMOID": np.tanh(gamma * dot + coef0)}[kind], [gamma, coef0, degree]


@operator("SVMRegressor", types=NUMBERS, domain=ML)
def svm_regressor(g):
    x, count = features(g, g.integer(1, 6), g.integer(1, 5)), g.pick([0, 1, 4, 9])
    value, one_class, kind = x.array.astype("f8"), g.chance(0.2), g.pick(["LINEAR", "POLY", "RBF", "SIGMOID"])
    rho, given = numbers(g, 1), {}
    if count:
        vectors, weights = numbers(g, count, x.shape[1]), numbers(g, count)
        kernel, params = kernel_of(g, kind, value, np.array(vectors).reshape(count, -1))
        terms, given = kernel * weights, {"support_vectors": vectors, "kernel_params": params, "n_supports": count}
    else:
        weights = numbers(g, x.shape[1])
        terms = value * weights
    score = terms.sum(1, keepdims=True) + rho
    room = 1e-5 * (1 + abs(terms).sum(1, keepdims=True))
    result = Expected(np.where(score > 0, 1.0, -1.0), "f32", 0, 0, abs(score) <= room) if one_class else Expected(score, "f32", 4, room)
    return g.case([x], result, coefficients=weights, rho=rho, kernel_type=kind, one_class=int(one_class) if one_class else None, **given)


@operator("SVMClassifier", types=NUMBERS, domain=ML, weight=2)
def svm_classifier(g):
    classes, x = g.integer(2, 4), features(g, g.integer(1, 6), g.integer(1, 5))
    sizes = [g.integer(1, 4) for _ in range(classes)]
    count, pairs, kind = sum(sizes), classes * (classes - 1) // 2, g.pick(["LINEAR", "POLY", "RBF", "SIGMOID"])
    vectors, weights, rho = numbers(g, count, x.shape[1]), numbers(g, classes - 1, count), numbers(g, pairs)
    kernel, params = kernel_of(g, kind, x.array.astype("f8"), np.array(vectors).reshape(count, -1))
    table, begins = np.array(weights).reshape(classes - 1, count), np.cumsum([0, *sizes])
    sums, votes, unsure = [], np.zeros((len(x.array), classes)), np.zeros(len(x.array), bool)
    for i in range(classes):
        for j in range(i + 1, classes):
            own, other = slice(begins[i], begins[i + 1]), slice(begins[j], begins[j + 1])
            sums.append(kernel[:, own] @ table[j - 1, own] + kernel[:, other] @ table[i, other] + rho[len(sums)])
            votes[:, i] += sums[-1] > 0
            votes[:, j] += sums[-1] <= 0
            unsure |= abs(sums[-1]) < 1e-4
    score, after = np.stack(sums, 1), g.pick(["NONE", "NONE", "LOGISTIC", "SOFTMAX"])
    room = 1e-5 * (1 + (abs(kernel) @ abs(table).T).sum(1, keepdims=True))
    both = np.concatenate([1 - score if after == "SOFTMAX" else -score, score], 1) if classes == 2 else score
    exact = both if classes == 2 and after == "SOFTMAX" else transformed(both, after)
    type, names, labels = labels_of(g, classes)
    name = "classlabels_ints" if type == "i64" else "classlabels_strings"
    return g.case([x], Expected(labels[votes.argmax(1)], type, free=unsure), Expected(exact, "f32", 4, room), coefficients=weights, rho=rho, support_vectors=vectors, kernel_type=kind,
                  kernel_params=params, vectors_per_class=sizes, post_transform=after, **{name: names})


@operator("ZipMap", types=["f32"], domain=ML)
def zip_map(g):
    """A list of maps is the tensor itself."""
    classes = g.integer(1, 5)
    x = features(g, g.integer(1, 5), classes)
    return g.case([x], Expected(x.array, "f32"), classlabels_int64s=[int(v) for v in g.random.permutation(9)[:classes]])
