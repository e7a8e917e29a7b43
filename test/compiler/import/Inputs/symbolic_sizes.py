"""Slices, ranges, crops and the like of symbolic dimensions, whose bounds are cut to what there is, for sizes from 0 on. Compared with NumPy.
Usage: symbolic_sizes.py FOLDER OPTION..."""

import itertools
import os
import pathlib
import random
import sys

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper, parser

sys.path.insert(0, os.path.join(os.path.dirname(__file__), *[".."] * 3, "end-to-end"))
import library

FOLDER = pathlib.Path(sys.argv[1])
ENDS = [2**31 - 1, 2**63 - 1, -(2**31), -(2**63)]


def clamp(bound, size, low, high):
    return min(max(bound + size if bound < 0 else bound, low), high)


def cut(x, start, end, step=1):
    """As ONNX says, which for a negative step differs from NumPy in where a start before the first element is."""
    size = len(x)
    if step > 0:
        return x[[*range(clamp(start, size, 0, size), clamp(end, size, 0, size), step)]]
    return x[[*range(clamp(start, size, 0, size - 1), clamp(end, size, -1, size - 1), step)]]


def slices(count, seed):
    """A model with so many slices of one input."""
    dice, nodes, weights, wanted = random.Random(seed), [], [numpy_helper.from_array(np.array([0]), "axis")], {}
    for i in range(count):
        start, end = (dice.choice([*range(-6, 7)] * 4 + ENDS) for _ in range(2))
        bounds = start, end, dice.choice([1, 1, 1, 2, 3, -1, -2, -3])
        weights += [numpy_helper.from_array(np.array([number]), f"{name}{i}") for name, number in zip("abc", bounds)]
        nodes.append(helper.make_node("Slice", ["x", f"a{i}", f"b{i}", "axis", f"c{i}"], [f"y{i}"]))
        wanted[f"y{i}"] = bounds
    outputs = [helper.make_tensor_value_info(name, TensorProto.FLOAT, [None, 2]) for name in wanted]
    graph = helper.make_graph(nodes, "g", [helper.make_tensor_value_info("x", TensorProto.FLOAT, ["n", 2])], outputs, weights)
    return helper.make_model(graph, ir_version=8, opset_imports=[helper.make_opsetid("", 17)]), lambda x: {name: cut(x, *bounds) for name, bounds in wanted.items()}


MODELS = {
    # What is cut and put together again has the size it had; a single row broadcasts; rows of others must be as many.
    "joined": ("""g (float[n,2] x) => (float[a,2] turned, float[b,2] centred, float[c,2] steps, float[d,2] place, float[e,2] two) {
        head = Slice(x, zero, three) tail = Slice(x, three, end) turned = Concat<axis = 0>(tail, head)
        row = Slice(x, last, end) centred = Sub(x, row)
        late = Slice(x, one, end) early = Slice(x, zero, last) steps = Sub(late, early)
        shape = Shape(x) size = Slice(shape, zero, one) known = Slice(table, zero, size) place = Add(x, known)
        one_row = Slice(x, zero, one) two = Concat<axis = 0>(one_row, row) }""",
        {"three": [3], "last": [-1], "table": np.arange(12, dtype="f4").reshape(6, 2)},
        lambda x: {"turned": np.concatenate([x[3:], x[:3]]), "centred": x - x[-1:], "steps": np.diff(x, axis=0), "place": x + np.arange(12).reshape(6, 2)[:len(x)],
                   "two": np.concatenate([x[:1], x[-1:]])}, range(1, 7), [7]),
    # The only index of a dimension that may have none.
    "picked": ("""g (float[n,2] x) => (float[2] first, float[2] final) { first = Gather<axis = 0>(x, zero0) final = Gather<axis = 0>(x, last) }""",
        {"zero0": 0, "last": -1}, lambda x: {"first": x[0], "final": x[-1]}, range(1, 4), [0]),
    # Bounds that are computed: of either sign, the smaller and the larger of two sizes.
    "computed": ("""g (float[n,2] x, float[m,2] z) => (float[a,2] behind, float[b,2] before, float[c,2] both, float[d] filled, float[e,2] few, int64[f] up, int64[g] down) {
        shape = Shape(x) n = Slice(shape, zero, one) other = Shape(z) m = Slice(other, zero, one)
        k = Sub(n, five) behind = Slice(x, k, end) before = Slice(x, zero, k)
        less = Min(n, m) p = Slice(x, zero, less) q = Slice(z, zero, less) both = Add(p, q)
        more = Max(n, m) filled = ConstantOfShape(more) least = Min(n, three) few = Slice(x, zero, least)
        scalar = Squeeze(n, zero) from_five = Sub(scalar, five0) up = Range(zero0, from_five, one0) down = Range(scalar, two0, minus0) }""",
        {"three": [3], "five": [5], "five0": 5, "zero0": 0, "one0": 1, "two0": 2, "minus0": -2},
        lambda x, z: {"behind": x[len(x) - 5:], "before": x[:len(x) - 5], "both": x[:len(z)] + z[:len(x)], "filled": np.zeros(max(len(x), len(z))), "few": x[:3],
                      "up": np.arange(0, len(x) - 5), "down": np.arange(len(x), 2, -2)}, itertools.product(range(0, 9, 2), range(0, 9, 3)), []),
    "cropped": ("""g (float[n,m] x, int64[r,w] t) => (float[4,3] y, float[r,4] counts) {
        y = CenterCropPad(x, sizes)
        counts = TfIdfVectorizer<max_gram_length = 2, min_gram_length = 1, max_skip_count = 1, mode = "TF", ngram_counts = [0, 2], ngram_indexes = [0, 1, 2, 3],
          pool_int64s = [1, 2, 1, 2, 2, 2]>(t) }""",
        {"sizes": [4, 3]}, lambda x, t: {"y": crop(crop(x, 4).T, 3).T, "counts": np.array([grams(row) for row in t]).reshape(len(t), 4)},
        itertools.product(range(0, 8), range(0, 6), [2], range(0, 6)), []),
}


# What bounds of a dimension make static; a size that a division by another one gives.
BOUNDED = """g (float[n,2] x) => (float[a,2] y, float[b,2] squeezed) {
    head = Slice(x, zero, three) tail = Slice(x, minus, end) y = Add(head, tail) wide = Unsqueeze(x, one) squeezed = Squeeze(wide) }"""
DIVIDED = "g (float[n,m] x, float[k] z) => (float[a,b] y) { size = Shape(z) sizes = Concat<axis = 0>(size, rest) y = Reshape(x, sizes) }"


def crop(x, size):
    """Cuts or pads alike on both sides."""
    over, under = max(len(x) - size, 0), max(size - len(x), 0)
    x = x[over // 2:len(x) - over + over // 2]
    return np.pad(x, [(under // 2, under - under // 2), (0, 0)])


def grams(row):
    pairs = [*zip(row, row[1:]), *zip(row, row[2:])]
    return [np.sum(row == 1), np.sum(row == 2), pairs.count((1, 2)), pairs.count((2, 2))]


def fill(value, sizes):
    """An input in its model's element type; sizes by name."""
    shape = [sizes[dim.dim_param] if dim.dim_param else dim.dim_value for dim in value.type.tensor_type.shape.dim]
    numbers = np.random.default_rng(sum(shape)).integers(1, 4, shape)
    return numbers.astype({TensorProto.FLOAT: "f4", TensorProto.INT64: "i8"}[value.type.tensor_type.elem_type])


def load(text, weights):
    proto = parser.parse_model(f'<ir_version: 8, opset_import: ["" : 18]>\n{text}')
    weights = {"zero": [0], "one": [1], "end": [2**62], **weights}
    used = {value for node in proto.graph.node for value in node.input}
    proto.graph.initializer.extend(numpy_helper.from_array(np.asarray(array), key) for key, array in weights.items() if key in used)
    return proto


def compile_model(name, proto, options):
    path = FOLDER / f"{name}.onnx"
    onnx.save(proto, str(path))
    (FOLDER / name).mkdir()
    return library.Library(path, [*sys.argv[2:], *options], FOLDER / name)


def check(name, proto, exact, sizes, refused, options=()):
    model, right, wrong = compile_model(name, proto, options), 0, 0
    for numbers in sizes:
        given = dict(zip(list(dict.fromkeys(dim.dim_param for value in proto.graph.input for dim in value.type.tensor_type.shape.dim if dim.dim_param)), np.atleast_1d(numbers)))
        inputs = {value.name: fill(value, given) for value in proto.graph.input}
        try:
            got = dict(model.run(inputs, 2))
        except RuntimeError:
            assert numbers in refused, (name, numbers)
            wrong += 1
            continue
        assert numbers not in refused, (name, numbers)
        for output, want in exact(*inputs.values()).items():
            assert got[output].shape == want.shape, (name, numbers, output, got[output].shape, want.shape)
            np.testing.assert_allclose(got[output], want, 1e-6, err_msg=f"{name} {numbers} {output}")
        right += 1
    print(f"{name}: {right} right, {wrong} refused")
    return model


def check_bounded():
    exact = lambda x: {"y": x[:3] + x[-3:], "squeezed": x}
    model = check("bounded", load(BOUNDED, {"three": [3], "minus": [-3]}), exact, range(2, 10), [2, 9], ["--dim=n=3..8"])
    print(f"bounded: static {model.info.outputs[0].dims[0]}")


def check_divided():
    """A 0 copies the dimension. A run whose sizes do not divide the elements ends with a status."""
    model, right = compile_model("divided", load(DIVIDED, {"rest": [-1]}), []), 0
    for n, m, k in itertools.product(range(4), repeat=3):
        x, y = np.arange(n * m, dtype="f4").reshape(n, m), np.full(16, -1, "f4")
        try:
            model.call(np.array([n, m, k]), [x, np.zeros(k, "f4")], [y], 1)
        except RuntimeError as fault:
            assert k and n * m % k and "status 4" in str(fault), (n, m, k, fault)
            continue
        assert n * m == 0 or np.array_equal(y[:n * m], x.ravel()), (n, m, k)
        right += 1
    print(f"divided: {right} right")


def main():
    for seed in range(2):
        proto, exact = slices(30, seed)
        check(f"slices{seed}", proto, exact, range(0, 9), [])
    for name, (text, weights, exact, sizes, refused) in MODELS.items():
        check(name, load(text, weights), exact, [*sizes, *refused], refused)
    check_bounded()
    check_divided()


main()
