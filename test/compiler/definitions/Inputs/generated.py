"""Random definitions beside NumPy, which evaluates them index by index.

Usage: generated.py FOLDER SEED [COUNT]
"""

import sys

import numpy as np
from definitions import compare_all

UNARY = {"abs": np.abs, "tanh": np.tanh, "sin": np.sin, "sigmoid": lambda x: 1 / (1 + np.exp(-x)), "floor": np.floor, "atan": np.arctan, "neg": np.negative}
BINARY = {"+": np.add, "-": np.subtract, "*": np.multiply}


class Generator:
    """Draws one definition: its text, and a function of its operands that NumPy evaluates over all values of all indices."""

    def __init__(self, rng, name, dtype):
        self.rng, self.name, self.dtype = rng, name, dtype
        self.rank = int(rng.integers(1, 4))
        self.reduces = rng.random() < 0.35
        self.indices = ["i", "j", "k"][: self.rank] + (["r"] if self.reduces else [])
        self.sizes = {index: int(rng.integers(2, 7)) for index in self.indices}
        # The first parameter has all indices, so that each has a size.
        self.shapes = {"a": [self.sizes[index] for index in self.indices], "b": [int(rng.integers(2, 6)) for _ in range(int(rng.integers(1, 4)))]}

    def pick(self, *options):
        return options[int(self.rng.integers(len(options)))]

    def number(self):
        return str(int(self.rng.integers(-3, 4))) if self.dtype != np.float32 or self.rng.random() < 0.3 else f"{self.rng.uniform(-2, 2):.3f}"

    def place(self, size):
        """An index that lies in [0, size), or anywhere: its text, its value, and whether it may be outside."""
        index = self.pick(*self.indices)
        kind = self.pick("number", "plain", "shift", "stride", "quotient", "rest", "turned", "clamped", "sum")
        c, other = int(self.rng.integers(-2, 3)), self.pick(*self.indices)
        if kind == "number":
            c = int(self.rng.integers(size))
            return str(c), lambda at: np.full_like(at[index], c), False
        if kind == "quotient":
            return f"{index} // 2", lambda at: at[index] // 2, (self.sizes[index] - 1) // 2 >= size
        if kind == "rest":
            return f"({index} + {abs(c)}) % {size}", lambda at: (at[index] + abs(c)) % size, False
        if kind == "turned":
            return f"{size - 1} - {index}", lambda at: size - 1 - at[index], self.sizes[index] > size
        if kind == "clamped":
            return f"min(max({index} + {c}, 0), {size - 1})".replace("+ -", "- "), lambda at: np.clip(at[index] + c, 0, size - 1), False
        if kind == "sum":
            return f"{index} + {other}", lambda at: at[index] + at[other], True
        if kind == "stride":
            return f"2 * {index} + {abs(c)}", lambda at: 2 * at[index] + abs(c), True
        c = 0 if kind == "plain" else c
        # Dimensions that an index reads as it is have to be equal.
        if c == 0 and self.sizes[index] != size:
            return f"{index} % {size}", lambda at: at[index] % size, False
        text = index if c == 0 else f"{index} + {c}".replace("+ -", "- ")
        return text, lambda at: at[index] + c, c < 0 or self.sizes[index] - 1 + c >= size

    def read(self):
        name = self.pick("a", "b")
        shape = self.shapes[name]
        places = [self.place(size) for size in shape]
        otherwise = self.number() if any(place[2] for place in places) or self.rng.random() < 0.2 else None
        text = f"{name}[{', '.join(place[0] for place in places)}]" + (f" else {otherwise}" if otherwise else "")

        def evaluate(at, operands):
            indices = [place[1](at) for place in places]
            inside = np.logical_and.reduce([(index >= 0) & (index < size) for index, size in zip(indices, shape)])
            values = operands[name][tuple(np.clip(index, 0, size - 1) for index, size in zip(indices, shape))]
            return np.where(inside, values, values.dtype.type(float(otherwise or 0)))

        return f"({text})", evaluate

    def expr(self, depth):
        if depth == 0:
            return self.read()
        kind = self.pick("unary", "binary", "binary", "min", "select", "number", "index")
        x = self.expr(depth - 1)
        if kind == "unary" and self.dtype == np.float32:
            name = self.pick(*UNARY)
            text = f"-{x[0]}" if name == "neg" else f"{name}({x[0]})"
            return f"({text})", lambda at, operands: UNARY[name](x[1](at, operands))
        if kind == "number":
            c, sign = self.number(), self.pick(*BINARY)
            return f"({x[0]} {sign} ({c}))", lambda at, operands: (lambda v: BINARY[sign](v, v.dtype.type(float(c))))(x[1](at, operands))
        if kind == "index":
            index = self.pick(*self.indices)
            return f"({x[0]} + {index})", lambda at, operands: (lambda v: v + at[index].astype(v.dtype))(x[1](at, operands))
        y = self.expr(depth - 1)
        if kind == "min":
            name, function = self.pick(("min", np.minimum), ("max", np.maximum))
            return f"{name}({x[0]}, {y[0]})", lambda at, operands: function(x[1](at, operands), y[1](at, operands))
        if kind == "select":
            index, c = self.pick(*self.indices), int(self.rng.integers(4))
            return f"select({index} < {c}, {x[0]}, {y[0]})", lambda at, operands: np.where(at[index] < c, x[1](at, operands), y[1](at, operands))
        sign = self.pick(*BINARY)
        return f"({x[0]} {sign} {y[0]})", lambda at, operands: BINARY[sign](x[1](at, operands), y[1](at, operands))

    def case(self):
        text, evaluate = self.expr(int(self.rng.integers(0, 4)))
        plain, used = f"a[{', '.join(self.indices)}]", "b[" in text
        # ONNX has only sums of narrow integers.
        ways = [("+=", np.add), ("max=", np.maximum), ("min=", np.minimum)][: 1 if self.dtype == np.int8 else 3]
        sign, reduce = self.pick(*ways) if self.reduces else ("=", None)
        shape, dtype = self.shapes["a"], self.dtype

        def formula(a, b=None):
            at = dict(zip(self.indices, np.indices(shape)))
            value = a + evaluate(at, {"a": a, "b": b})
            return reduce.reduce(value, axis=-1, dtype=value.dtype) if reduce else value

        head = f"{self.name}({'a, b' if used else 'a'})[{', '.join(self.indices[: self.rank])}]"
        draw = lambda size: self.rng.uniform(-3, 3, size).astype(dtype) if dtype == np.float32 else self.rng.integers(-5, 6, size).astype(dtype)
        return f"{head} {sign} {plain} + {text}", [draw(shape)] + ([draw(self.shapes["b"])] if used else []), {}, formula


if __name__ == "__main__":
    rng, count = np.random.default_rng(int(sys.argv[2])), int(sys.argv[3]) if len(sys.argv) > 3 else 40
    cases = [Generator(rng, f"op{i}", [np.float32, np.float32, np.int32, np.int8, np.int64][i % 5]).case() for i in range(count)]
    with np.errstate(over="ignore"):
        compare_all(sys.argv[1], "domain \"acme\" version 1\n" + "".join(case[0] + "\n" for case in cases), cases, ["--target=generic"])
    print(count, "definitions agree")
