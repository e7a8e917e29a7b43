"""What a family of operators is written with: cases, and the generator that draws their parts.

A family is a module of families/. A function with @operator("Name", ...) draws one case of an operator:

    @operator("Neg", types=FLOATS + SIGNED)
    def negate(g):
        x = g.tensor(g.type, g.shape())
        return g.case([x], Expected(-x.array, g.type))

What it expects, the function computes from ONNX's text in a wide type. `g.opset` is the model's opset, `g.op` the operator's name, `g.type` one of its types.
"""

import zlib

import numpy as np
from elements import TYPES, round_to

NEWEST_OPSET = 28
OPERATORS = {}


class Operator:
    def __init__(self, name, make, family, types, since, until, domain, weight):
        self.name, self.make, self.family, self.types, self.since, self.until = name, make, family, types, since, until
        self.domain, self.weight = domain, weight


def operator(*names, types=("f32",), since=1, until=NEWEST_OPSET, domain="", weight=1):
    """Registers a maker of cases. `since` and `until` are opsets; `types` is a list, or a function from the opset to one. `weight` of 2 draws it twice as often."""

    def register(make):
        for name in names:
            label = f"{domain}.{name}" if domain else name
            OPERATORS.setdefault(label, []).append(Operator(name, make, make.__module__.split(".")[-1], types, since, until, domain, weight))
        return make

    return register


class Tensor:
    """An input. `array` holds numbers of the type; a constant is an initializer, None leaves that to chance."""

    def __init__(self, array, type, constant=None):
        self.array, self.type, self.constant = np.asarray(array), type, constant

    shape = property(lambda self: self.array.shape)
    # The numbers as wide as references want them.
    wide = property(lambda self: self.array.astype(np.longdouble) if TYPES[self.type].is_float else self.array)


class Map:
    """An input that is a map: its keys and their values, in any order."""

    def __init__(self, keys, values):
        self.keys, self.values = keys, values


class Expected:
    """An output: exact numbers in a wide type, and how far a result may be from them: `ulps` steps of its type (0: the number rounded to it), a number or a
    dictionary by type, plus `slack`, an array or a number. `free` marks elements that the text leaves open."""

    def __init__(self, array, type, ulps=0, slack=0, free=None):
        self.array, self.type = np.asarray(array), type
        self.ulps = ulps.get(type, ulps.get("other", 1)) if isinstance(ulps, dict) else ulps
        self.slack, self.free = slack, free


class Case:
    """One node, or `nodes`: tuples (operator, inputs, outputs, attributes) over names i0, i1, ... and o0, o1, ..., any others between. None is an absent
    input or output."""

    def __init__(self, op, opset, inputs, outputs, attributes, domain, nodes, origin):
        self.origin = origin  # the numbers that it is drawn from
        self.op, self.opset, self.inputs, self.attributes, self.domain = op, opset, inputs, attributes, domain
        self.outputs = outputs
        self.nodes = nodes


class Generator:
    """Draws the parts of one case; the same for the same operator, opset, seed and number."""

    def __init__(self, operator, opset, seed, number):
        self.origin = [zlib.crc32(operator.name.encode()), opset, seed, number]
        self.random = np.random.default_rng(self.origin)
        self.operator, self.op, self.opset, self.number = operator, operator.name, opset, number
        types = operator.types(opset) if callable(operator.types) else operator.types
        self.type = self.pick(list(types))

    def case(self, inputs, *outputs, nodes=None, **attributes):
        given = {name: value for name, value in attributes.items() if value is not None}
        return Case(self.op, self.opset, inputs, list(outputs), given, self.operator.domain, nodes, self.origin)

    def pick(self, choices):
        return choices[int(self.random.integers(len(choices)))]

    def chance(self, probability):
        return bool(self.random.random() < probability)

    def integer(self, low, high):
        """low <= result <= high"""
        return int(self.random.integers(low, high + 1))

    def size(self, most=70):
        """The extent of a dimension: often odd, around multiples of vectors, sometimes 1 and seldom 0."""
        kind = self.random.random()
        if kind < 0.02:
            return 0
        if kind < 0.15:
            return 1
        if kind < 0.6:
            return self.integer(2, min(9, most))
        return min(most, max(1, self.pick([8, 16, 32, 64]) + self.integer(-2, 3)))

    def shape(self, least=0, most=4, zero=True, elements=3000, size=70):
        """A shape of rank least to most with a bounded number of elements."""
        rank = self.integer(least, most)
        while True:
            shape = tuple(self.size(size) for _ in range(rank))
            if np.prod(shape, dtype=np.int64) <= elements and (zero or 0 not in shape):
                return shape

    def axis(self, rank, negative=True):
        """An axis, counted from the end at times."""
        at = self.integer(0, rank - 1)
        return at - rank if negative and self.chance(0.4) else at

    def axes(self, rank, least=0, negative=True):
        """Distinct axes in any order."""
        chosen = self.random.permutation(rank)[: self.integer(min(least, rank), rank)]
        return [int(at) - rank if negative and self.chance(0.4) else int(at) for at in chosen]

    def shapes_that_broadcast(self, count, most=4):
        """Shapes that broadcast with each other, NumPy's way."""
        full = self.shape(0, most)
        shapes = []
        for _ in range(count):
            shape = [1 if self.chance(0.25) else dim for dim in full]
            shapes.append(tuple(shape[self.integer(0, len(shape)) if self.chance(0.25) else 0:]))
        if self.chance(0.8):
            shapes[self.integer(0, count - 1)] = full
        return shapes

    def values(self, type, shape, kind=None):
        """Numbers of a type. Kinds: normal, wide (all magnitudes), special (the type's corners among others), small (integers from -4 to 4), positive."""
        element = TYPES[type]
        if element.is_bool:
            return self.random.random(shape) < 0.5
        if element.is_string:
            words = np.array(["", "a", "b", "abc", "Kiln", "ä", "12", "-1.5", "x y"])
            return words[self.random.integers(len(words), size=shape)]
        kind = kind or self.pick(["normal", "normal", "wide", "special"])
        return self.integers(element, shape, kind) if element.is_integer else self.floats(element, shape, kind)

    def integers(self, element, shape, kind):
        low, high = element.least, element.most
        if kind == "small":
            return self.random.integers(max(low, -4), min(high, 4), size=shape, endpoint=True).astype(element.held)
        if kind in ("normal", "positive"):
            low = 1 if kind == "positive" else max(low, -100)
            return self.random.integers(low, min(high, 100), size=shape, endpoint=True).astype(element.held)
        array = self.random.integers(low, high, size=shape, endpoint=True, dtype=element.held)
        if kind == "special":
            corners = np.array([low, low + 1, 0, 1, 2, high - 1, high, high // 2, high // 2 + 1, max(low, -1)], dtype=object).astype(element.held)
            array = np.where(self.random.random(shape) < 0.6, corners[self.random.integers(len(corners), size=shape)], array)
        return array

    def floats(self, element, shape, kind):
        array = np.asarray(self.random.standard_normal(shape))
        if kind == "small":
            array = np.asarray(self.random.integers(-4, 5, size=shape)).astype("f8")
        elif kind == "positive":
            array = np.abs(array) + 0.01
        elif kind in ("wide", "special"):
            array = array * 2.0 ** self.random.uniform(element.lowest / 8, -element.lowest / 8, shape)
        array = round_to(array, element.name)
        if kind == "special":
            tiny = 2.0 ** (element.lowest - element.digits + 1)
            corners = [0.0, -0.0, np.inf, -np.inf, np.nan, 1.0, -1.0, element.largest, -element.largest, tiny, -tiny, 2.0**element.lowest, 0.5, 1.5, 2.5, -0.5, -1.5]
            corners = round_to(np.array(corners), element.name)
            array = np.where(self.random.random(shape) < 0.3, corners[self.random.integers(len(corners), size=shape)], array)
        return array

    def tensor(self, type, shape, kind=None, constant=None):
        return Tensor(self.values(type, shape, kind), type, constant)
