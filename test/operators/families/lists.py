"""Sequences, optionals and strings."""

import re

import numpy as np
from cases import Expected, Tensor, operator
from elements import DATA, TYPES
from movement import ints

LISTED = [type for type in DATA if type != "bf16"] + ["string"]


def number(value):
    return Tensor(np.array(value), "i64", True)


@operator("SequenceConstruct", "SequenceAt", "SequenceInsert", "SequenceErase", "SequenceLength", types=LISTED, since=11)
def sequence(g):
    """A list that is changed, and one of its elements."""
    count = g.integer(1, 4)
    parts = [g.tensor(g.type, g.shape(0, 3, elements=60)) for _ in range(count)]
    names, arrays = [f"i{at}" for at in range(count)], [part.array for part in parts]
    nodes, inputs, current = [("SequenceConstruct", names, ["s"], {})], list(parts), "s"

    def position(low, high):
        inputs.append(number(g.integer(low, high)))
        return f"i{len(inputs) - 1}", int(inputs[-1].array)

    for at in range(g.integer(0, 2)):
        if g.chance(0.5) and len(arrays) > 1:
            name, where = position(-len(arrays), len(arrays) - 1)
            last = g.chance(0.3)
            del arrays[-1 if last else where]
            nodes.append(("SequenceErase", [current] if last else [current, name], [f"t{at}"], {}))
        else:
            name, where = position(-len(arrays), len(arrays))
            last, source = g.chance(0.3), g.integer(0, count - 1)
            arrays.insert(len(arrays) if last else where + len(arrays) if where < 0 else where, parts[source].array)
            nodes.append(("SequenceInsert", [current, f"i{source}"] + ([] if last else [name]), [f"t{at}"], {}))
        current = f"t{at}"
    name, where = position(-len(arrays), len(arrays) - 1)
    nodes += [("SequenceAt", [current, name], ["o0"], {}), ("SequenceLength", [current], ["o1"], {})]
    # What no node reads is no input.
    used = {name for _, names, _, _ in nodes for name in names}
    inputs = [tensor if f"i{at}" in used else None for at, tensor in enumerate(inputs)]
    return g.case(inputs, Expected(arrays[where], g.type), Expected(np.array(len(arrays)), "i64"), nodes=nodes)


@operator("SplitToSequence", "ConcatFromSequence", types=LISTED, since=11, weight=2)
def split_to_sequence(g):
    x = g.tensor(g.type, g.shape(1, 3, zero=False, elements=200, size=12))
    axis = g.axis(len(x.shape))
    size, inputs, attributes = x.shape[axis], [x], {"axis": axis} if axis or g.chance(0.5) else {}
    way = g.pick(["ones", "chunk", "parts"])
    lengths, keeps = [1] * size, True
    if way == "chunk":
        each = g.integer(1, size)
        lengths = [each] * (size // each) + ([size % each] if size % each else [])
        inputs.append(number(each))
    elif way == "parts":
        cuts = sorted({0, size, *(int(v) for v in g.random.integers(0, size + 1, 2))})
        lengths = [int(v) for v in np.diff(cuts)]
        inputs.append(ints(lengths))
    elif g.chance(0.5):
        keeps = g.chance(0.4)
        attributes["keepdims"] = int(keeps)
    parts = np.split(x.array, np.cumsum(lengths)[:-1], axis)
    parts = parts if keeps else [part.squeeze(axis) for part in parts]
    new = len({part.shape for part in parts}) == 1 and g.chance(0.4) or not parts[0].ndim
    rank = parts[0].ndim
    to = g.integer(-rank - 1, rank) if new else g.axis(rank)
    shapes = {part.shape[:to % rank] + part.shape[to % rank + 1:] for part in parts} if not new else set()
    if len(shapes) > 1:
        to = axis
    result = np.stack(parts, to) if new else np.concatenate(parts, to)
    names = [f"i{at}" for at in range(len(inputs))]
    inputs.append(number(g.integer(-len(parts), len(parts) - 1)))
    nodes = [("SplitToSequence", names, ["s"], attributes), ("ConcatFromSequence", ["s"], ["o0"], {"axis": to, **({"new_axis": int(new)} if new or g.chance(0.5) else {})}),
             ("SequenceAt", ["s", f"i{len(inputs) - 1}"], ["o1"], {})]
    return g.case(inputs, Expected(result, g.type), Expected(parts[int(inputs[-1].array)], g.type), nodes=nodes)


@operator("SequenceEmpty", types=["f32", "i64", "u8", "bool"], since=11)
def sequence_empty(g):
    x = g.tensor(g.type, g.shape(0, 2))
    nodes = [("SequenceEmpty", [], ["e"], {"dtype": TYPES[g.type].number} if g.type != "f32" or g.chance(0.5) else {}), ("SequenceLength", ["e"], ["o0"], {}),
             ("SequenceInsert", ["e", "i0"], ["s"], {}), ("SequenceAt", ["s", "i1"], ["o1"], {})]
    return g.case([x, number(g.pick([0, -1]))], Expected(np.array(0), "i64"), Expected(x.array, g.type), nodes=nodes)


@operator("Optional", "OptionalGetElement", "OptionalHasElement", types=LISTED, since=18)
def optional(g):
    x = g.tensor(g.type, g.shape(0, 3))
    nodes = [("Optional", ["i0"], ["p"], {}), ("OptionalHasElement", ["p"], ["o0"], {}), ("OptionalGetElement", ["p"], ["o1"], {})]
    return g.case([x], Expected(np.array(True), "bool"), Expected(x.array, g.type), nodes=nodes)


WORDS = ["", "a", "b", "Kiln", "kiln", "A b", "x  y", "1,2,3", "-1.5", "ÄÖ", "ß", "abc abc", " lead", "tail ", "aXbXc", "2024-01-31", "foo@bar.org"]


def words(g, shape):
    return Tensor(np.array([g.pick(WORDS) for _ in range(int(np.prod(shape)))], "U").reshape(shape), "string")


@operator("StringConcat", types=["string"], since=20)
def string_concat(g):
    a, b = (words(g, shape) for shape in g.shapes_that_broadcast(2, 3))
    return g.case([a, b], Expected(np.char.add(a.array, b.array), "string"))


@operator("StringSplit", types=["string"], since=20)
def string_split(g):
    x = words(g, g.shape(0, 2, zero=False, elements=30))
    delimiter, most = g.pick([None, "", ",", "X", "ab", " "]), g.pick([None, None, 1, 2])
    split = [text.split(delimiter or None, -1 if most is None else most) for text in x.array.reshape(-1).tolist()]
    width = max(map(len, split))
    result = np.array([parts + [""] * (width - len(parts)) for parts in split], "U").reshape(*x.shape, width)
    return g.case([x], Expected(result, "string"), Expected(np.array([len(parts) for parts in split]).reshape(x.shape), "i64"), delimiter=delimiter, maxsplit=most)


def tokens_of(text, separators, expression, least):
    """What com.microsoft Tokenizer finds in a text."""
    if separators == [""] or expression == ".":
        return list(text)
    if expression:
        return [token for token in re.findall(expression, text, re.A) if len(token) >= least]
    parts = [text]
    for separator in separators:
        parts = [part for whole in parts for part in re.split(separator, whole) if len(part) >= least]
    return parts


@operator("Tokenizer", types=["string"], since=7, domain="com.microsoft")
def tokenizer(g):
    """Patterns whose first match is the longest one, for Python takes the first alternative, and tokens that are long enough or stand alone."""
    x = words(g, g.shape(1, 2, zero=False, elements=30))
    separators, expression, least = g.pick([([""], None, 1), (None, ".", 1), ([" "], None, 1), ([","], None, 2), (["X", "b"], None, 1), ([r"[ ,@]+", "a"], None, 2), ([r"\s"], None, 1),
                                            (None, r"[a-z]+", 1), (None, r"\w+", 1), (None, "(Ä|Ö|ß)", 1), (None, r"\d+-?", 1)])
    marked, padding = int(g.chance(0.4)), g.pick(["", "#", "pad"])
    rows = [tokens_of(text, separators, expression, least) for text in x.array.reshape(-1).tolist()]
    longest = max(map(len, rows))
    rows = [(["\x02", *row, "\x03"] if marked else row) + [padding] * (longest - len(row)) for row in rows]
    result = np.array(rows if longest else [[] for _ in rows], "U").reshape(*x.shape, longest + 2 * marked if longest else 0)
    return g.case([x], Expected(result, "string"), mark=marked, mincharnum=least, pad_value=padding, separators=separators, tokenexp=expression)


@operator("RegexFullMatch", types=["string"], since=20)
def regex_full_match(g):
    x = words(g, g.shape(0, 3, zero=False, elements=40))
    pattern = g.pick([r"[a-z]+", r"\d{4}-\d{2}-\d{2}", r".*", r"(a|b)?", r"[A-Z][a-z]*", r"\w+@\w+\.(org|com)", r"-?\d+(\.\d+)?", r"[^ ]*", r"a.*c", r""])
    return g.case([x], Expected(np.vectorize(lambda text: re.fullmatch(pattern, text, re.A) is not None, otypes=[bool])(x.array), "bool"), pattern=pattern)


@operator("StringNormalizer", types=["string"], since=10)
def string_normalizer(g):
    count = g.integer(1, 6)
    x = Tensor(np.array([g.pick(["a", "B", "b", "Kiln", "kiln", "XY", "1"]) for _ in range(count)], "U").reshape(g.pick([(count,), (1, count)])), "string")
    stop = [str(word) for word in g.random.permutation(["a", "b", "KILN", "kiln", "xy"])[: g.integer(1, 3)]] if g.chance(0.7) else None
    sensitive, case = g.chance(0.5), g.pick([None, "NONE", "LOWER", "UPPER"])
    same = (lambda word: word) if sensitive else str.lower
    kept = [word for word in x.array.reshape(-1).tolist() if not stop or same(word) not in [same(other) for other in stop]]
    change = {"LOWER": str.lower, "UPPER": str.upper}.get(case, str)
    result = np.array([change(word) for word in kept] or [""], "U").reshape(-1 if len(x.shape) == 1 else (1, -1))
    return g.case([x], Expected(result, "string"), stopwords=stop, is_case_sensitive=int(sensitive) if sensitive or g.chance(0.5) else None, case_change_action=case)
