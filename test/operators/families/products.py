"""Products of matrices and what is made of them."""

import string

import numpy as np
from cases import Expected, operator
from elements import TYPES
from floats import accumulated, floats, rounded, unit


def wide(tensor):
    """For sums of products; integers wrap as those of their own width do."""
    return tensor.wide if TYPES[tensor.type].is_float else tensor.array.astype("u8" if TYPES[tensor.type].is_unsigned else "i8")


def expect(g, function, tensors, terms, more=0):
    """The value of a function that is linear in each operand, over numbers and over their magnitudes."""
    with np.errstate(over="ignore"):
        exact = function(*map(wide, tensors))
    if not TYPES[g.type].is_float:
        return Expected(exact.astype(TYPES[g.type].held), g.type)
    magnitude = function(*(abs(wide(tensor)) for tensor in tensors))
    return Expected(exact, g.type, 1, accumulated(g.type, magnitude, terms) * 2 + rounded(g.type, magnitude, more))


def product_types(opset):
    return floats(13)(opset) + (["i32", "i64", "u32", "u64"] if opset >= 9 else [])


def length(g):
    """Of a row, a column or a sum: lengths around vectors and tiles, at times 0 or 1."""
    return g.pick([0, 1, 1, 2, 3, 4, 5, 7, 8, 9, 15, 16, 17, 24, 31, 32, 33, 48, 63, 64, 65]) if g.chance(0.9) else g.integer(66, 130)


@operator("MatMul", types=product_types, weight=6)
def matmul(g):
    batch = [s for s in g.shapes_that_broadcast(2, 2)] if g.chance(0.5) else [(), ()]
    rows, depth, columns = length(g), length(g), length(g)
    while np.prod([s or 1 for s in np.broadcast_shapes(*batch)]) * rows * depth * columns > 60000:
        batch, rows, columns = [(), ()], min(rows, 20), min(columns, 20)
    a, b = (*batch[0], rows, depth), (*batch[1], depth, columns)
    if g.chance(0.1):
        a = (depth,)
    if g.chance(0.1):
        b = (depth,)
    tensors = [g.tensor(g.type, shape, g.pick(["normal", "small"])) for shape in (a, b)]
    return g.case(tensors, expect(g, np.matmul, tensors, depth))


@operator("Gemm", types=product_types, weight=4)
def gemm(g):
    rows, depth, columns = (min(length(g), 40) for _ in range(3))
    trans_a, trans_b = g.chance(0.4), g.chance(0.4)
    a = g.tensor(g.type, (depth, rows) if trans_a else (rows, depth), "small" if not TYPES[g.type].is_float else "normal")
    b = g.tensor(g.type, (columns, depth) if trans_b else (depth, columns), "normal")
    tensors, is_float = [a, b], TYPES[g.type].is_float
    # Of integers, factors that are no whole numbers have no meaning that the text gives.
    alpha, beta = (g.pick([1.0, 0.5, -2.0, 3.25, 0.0] if is_float else [1.0, 2.0, 3.0]) for _ in range(2))
    optional = g.opset >= 11
    if not optional or g.chance(0.7):
        shape = (rows, columns)
        if g.opset >= 7 or g.chance(0.5):
            shape = g.pick([(rows, columns), (1, columns), (columns,), (rows, 1), (1, 1), (1,), ()] if g.opset >= 7 else [(columns,), (1,), ()])
        tensors.append(g.tensor(g.type, shape, "normal"))
    cast = (lambda number: number) if is_float else (lambda number: np.dtype("u8" if TYPES[g.type].is_unsigned else "i8").type(number))

    def function(x, y, z=None):
        sign = abs if is_float and (np.asarray(x) >= 0).all() and (np.asarray(y) >= 0).all() else (lambda number: number)
        total = np.matmul(x.T if trans_a else x, y.T if trans_b else y) * cast(sign(alpha))
        return total if z is None else total + z * cast(sign(beta))

    attributes = {"transA": int(trans_a) if trans_a or g.chance(0.3) else None, "transB": int(trans_b) if trans_b or g.chance(0.3) else None}
    attributes.update({name: value for name, value in (("alpha", alpha), ("beta", beta)) if value != 1 or g.chance(0.3)})
    if g.opset < 7:
        attributes["broadcast"] = 1
    with np.errstate(over="ignore"):
        exact = np.asarray(wide(a).T if trans_a else wide(a)) @ (wide(b).T if trans_b else wide(b)) * cast(alpha)
        exact = exact + wide(tensors[2]) * cast(beta) if len(tensors) > 2 else exact
    if not is_float:
        return g.case(tensors, Expected(exact.astype(TYPES[g.type].held), g.type), **attributes)
    magnitude = (abs(a.wide).T if trans_a else abs(a.wide)) @ (abs(b.wide).T if trans_b else abs(b.wide)) * abs(alpha)
    magnitude = magnitude + abs(tensors[2].wide * beta) if len(tensors) > 2 else magnitude
    # Halves are rounded behind the product, alpha, beta and the sum.
    return g.case(tensors, Expected(exact, g.type, 1, accumulated(g.type, magnitude, depth + 2) * 2 + rounded(g.type, magnitude, 3)), **attributes)


class Equation:
    """Terms over letters with sizes, of which operands may have 1 instead."""

    def __init__(self, g):
        letters = [str(letter) for letter in g.random.permutation(list(string.ascii_lowercase))[: g.integer(1, 5)]]
        self.sizes = {letter: g.pick([1, 2, 3, 4, 5, 8]) for letter in letters}
        self.hidden = tuple(g.pick([1, 2, 3]) for _ in range(g.integer(0, 2))) if g.chance(0.35) else None
        stretch = g.chance(0.25)
        self.terms, self.shapes = [], []
        for _ in range(g.pick([1, 1, 2, 2, 2, 3])):
            term = [g.pick(letters) for _ in range(g.integer(0 if self.hidden is not None else 1, 4))] if g.chance(0.25) else letters[: g.integer(1, len(letters))]
            term = [str(letter) for letter in g.random.permutation(term)]
            if not (len(set(term)) < len(term)) and g.chance(0.5):
                term = term[: max(1, len(term) - 1)]
            # A letter that is there twice has one size.
            shape = [1 if stretch and term.count(letter) == 1 and g.chance(0.3) else self.sizes[letter] for letter in term]
            if self.hidden is not None and g.chance(0.8):
                at = g.integer(0, len(term))
                # Each operand has all dimensions of the ellipsis.
                shape[at:at] = [1 if g.chance(0.3) else size for size in self.hidden]
                term[at:at] = ["..."]
            self.terms.append(term)
            self.shapes.append(tuple(shape))
        used = sorted({letter for term in self.terms for letter in term} - {"..."})
        self.output = None
        if g.chance(0.65):
            self.output = [str(letter) for letter in g.random.permutation(used)[: g.integer(0, len(used))]]
            if any("..." in term for term in self.terms):
                self.output.insert(g.integer(0, len(self.output)), "...")
        self.spaced = g.chance(0.3)

    def text(self):
        space = " " if self.spaced else ""
        text = f"{space},{space}".join("".join(term) for term in self.terms)
        return text if self.output is None else f"{text}{space}->{space}{''.join(self.output)}"

    def full(self, array, term):
        """With the sizes that other operands give."""
        known = {}
        for own, shape in zip(self.terms, self.shapes):
            gap = len(shape) - len(own) + 1
            sizes = list(shape)
            if "..." in own:
                sizes[own.index("...") : own.index("...") + gap] = [None]
            for letter, size in zip(own, sizes):
                known[letter] = size if letter not in known or known[letter] in (None, 1) else known[letter]
        sizes = [known[letter] for letter in term]
        if "..." in term:
            at = term.index("...")
            sizes[at : at + 1] = array.shape[at : at + array.ndim - len(term) + 1]
        return np.broadcast_to(array, sizes)

    def value(self, *arrays):
        output = self.output
        if output is None:
            every = [letter for term in self.terms for letter in term if letter != "..."]
            output = (["..."] if any("..." in term for term in self.terms) else []) + sorted(letter for letter in set(every) if every.count(letter) == 1)
        text = ",".join("".join(term) for term in self.terms) + "->" + "".join(output)
        return np.einsum(text, *(self.full(array, term) for array, term in zip(arrays, self.terms)), optimize=False)


@operator("Einsum", types=["f32", "f32", "f16", "f64", "i32", "i64", "u8", "i8", "i16", "u16", "u32", "u64"], since=12, weight=6)
def einsum(g):
    equation = Equation(g)
    while sum(np.prod(shape) for shape in equation.shapes) > 3000:
        equation = Equation(g)
    tensors = [g.tensor(g.type, shape, "small") for shape in equation.shapes]
    # Products of three operands are rounded between them.
    return g.case(tensors, expect(g, equation.value, tensors, 512, len(tensors)), equation=equation.text())


@operator("Det", types=floats(22), since=11)
def det(g):
    size, batch = g.integer(1, 7), g.shape(0, 2, elements=30, zero=False)
    x = g.tensor(g.type, (*batch, size, size), g.pick(["normal", "small"]))
    exact = np.vectorize(determinant, signature="(n,n)->()")(x.wide)
    # Hadamard's bound, times what a pivoted elimination may let elements grow.
    bound = np.prod(np.sqrt((x.wide**2).sum(-1)), axis=-1)
    return g.case([x], Expected(exact, g.type, 1, bound * unit(g.type) * 4 * size**2))


def determinant(matrix):
    matrix, result = np.array(matrix, np.longdouble), np.longdouble(1)
    while len(matrix):
        pivot = int(np.argmax(abs(matrix[:, 0])))
        if matrix[pivot, 0] == 0:
            return np.longdouble(0)
        result *= matrix[pivot, 0] * (1 if pivot == 0 else -1)
        matrix[[0, pivot]] = matrix[[pivot, 0]]
        matrix = matrix[1:, 1:] - matrix[1:, :1] / matrix[0, 0] * matrix[0, 1:]
    return result
