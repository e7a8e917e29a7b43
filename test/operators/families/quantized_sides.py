"""Products, convolutions, rows and pairs of quantised tensors in forms that quantised_networks.py does not draw: two computed sides, any number of dimensions."""

import numpy as np
from cases import Expected, operator
from convolution import convolve
from quantized import limits
from quantized_networks import Graph
from windows import Window, spatial_sizes

f32 = np.float32
BYTES = ["u8", "i8"]


def close(g, graph, value, kind, tolerance=4e-7):
    """The case that ends with the bytes of a value. Numbers that two sides may round differently are free."""
    graph.free = np.zeros(value[1].shape, bool)
    _, _, (name, whole, kind) = graph.pair(value, kind, tolerance)
    graph.nodes.pop()
    op, inputs, _, attributes = graph.nodes[-1]
    graph.nodes[-1] = op, inputs, ["o0"], attributes
    return g.case(graph.inputs, Expected(whole, kind, free=graph.free), nodes=graph.nodes)


@operator("QuantizedSides", types=BYTES, since=13, weight=4)
def quantized_sides(g):
    """Two computed sides, with heads or without, read through transposes."""
    graph = Graph(g)
    batch = g.pick([(), (), (2,), (1, 3), (2, 2)])
    rows, depth, columns = g.size(40) or 1, g.pick([1, 3, 4, 16, 31, 64, 100, 257]), g.size(70) or 1
    sides = []
    for kind, shape in ((g.type, (*batch, rows, depth)), (g.pick(BYTES), (*(batch if g.chance(0.8) else ()), depth, columns))):
        axes = list(range(len(shape)))
        if g.chance(0.5):
            axes[-1], axes[-2] = axes[-2], axes[-1]
        elif len(shape) == 4 and g.chance(0.6):
            axes = [0, 2, 1, 3]
        name, _, (whole, scale) = graph.draw(kind, tuple(np.array(shape)[np.argsort(axes)]))
        if axes != sorted(axes):
            name = graph.node("Transpose", [name], perm=axes)
        sides.append((name, whole.transpose(axes).astype("i8"), scale))
    total = sides[0][1] @ sides[1][1]
    name, real = graph.node("MatMul", [sides[0][0], sides[1][0]]), (total.astype("f8") * sides[0][2] * sides[1][2]).astype("f4")
    if g.chance(0.3):
        name, real = graph.node("Mul", [name, graph.given(f32(0.125), "f32", True)]), real * f32(0.125)
    return close(g, graph, (name, real), g.pick(BYTES))


@operator("QuantizedEnd", types=BYTES, since=13, weight=2)
def quantized_end(g):
    """A product with constant weights and a bias in units of both scales, whose result stays real."""
    graph = Graph(g)
    rows, depth, columns = g.integer(1, 20), g.pick([1, 3, 16, 64, 257]), g.integer(1, 70)
    x, _, (whole, x_scale) = graph.draw(g.type, (rows, depth))
    weight, units = g.random.integers(-127, 127, (depth, columns), endpoint=True), g.random.integers(-90000, 90000, columns)
    scales = np.exp2(g.random.uniform(-9, -6, columns)).astype("f4")
    steps = (x_scale * scales).astype("f4")
    w = graph.node("DequantizeLinear", [graph.given(weight, "i8", True), *graph.parameters(scales, np.zeros(columns), "i8")], axis=1)
    bias = graph.node("DequantizeLinear", [graph.given(units, "i32", True), graph.given(steps, "f32", True), graph.given(np.zeros(columns), "i32", True)], axis=0)
    product = graph.node("MatMul", [x, w])
    graph.nodes.append(("Add", [product, bias], ["o0"], {}))
    return g.case(graph.inputs, Expected((whole.astype("i8") @ weight.astype("i8") + units) * steps.astype("f8"), "f32", 1), nodes=graph.nodes)


@operator("QuantizedWindow", types=BYTES, since=13, weight=4)
def quantized_window(g):
    """Convolutions in one to three dimensions, of groups of any size."""
    graph = Graph(g)
    groups, channels, filters = g.pick([(1, 5, 7), (2, 6, 8), (3, 6, 9), (4, 12, 4), (5, 5, 10), (7, 14, 28), (9, 9, 9), (17, 17, 51), (32, 32, 32), (66, 66, 66)])
    window = Window(g, spatial_sizes(g, elements=150), largest=g.pick([2, 3, 5]))
    x, _, (whole, x_scale) = graph.draw(g.type, (1, channels, *window.sizes))
    weight = g.random.integers(-127, 127, (filters, channels // groups, *window.kernel), endpoint=True)
    scales = np.exp2(g.random.integers(-9, -6, filters)).astype("f4")
    w = graph.node("DequantizeLinear", [graph.given(weight, "i8", True), *graph.parameters(scales, np.zeros(filters), "i8")], axis=0)
    total = convolve(whole.astype("i8"), weight.astype("i8"), window, groups)
    real = (total.astype("f8") * (x_scale * scales).astype("f8").reshape(-1, *[1] * len(window.sizes))).astype("f4")
    return close(g, graph, (graph.node("Conv", [x, w], **window.attributes(group=groups)), real), g.type)


@operator("QuantizedPair", types=BYTES, since=13, weight=3)
def quantized_pair(g):
    """What is element-wise of two quantised tensors."""
    graph = Graph(g)
    shape = g.shape(1, 4, zero=False, elements=600)
    (a, x, _), (b, y, _) = graph.draw(g.type, shape), graph.draw(g.pick(BYTES), shape)
    op = g.pick(["Mul", "Sub", "Add", "Div", "Max", "Min"])
    if op == "Div":
        b, y = graph.node("Add", [graph.node("Abs", [b]), graph.given(f32(1), "f32", True)]), abs(y) + f32(1)
    real = {"Mul": np.multiply, "Sub": np.subtract, "Add": np.add, "Div": np.divide, "Max": np.maximum, "Min": np.minimum}[op](x, y)
    return close(g, graph, (graph.node(op, [a, b]), real.astype("f4")), g.type)


@operator("QuantizedRows", types=BYTES, since=13, weight=3)
def quantized_rows(g):
    """Rows of a table of bytes, or of numbers of four bits in bytes, with parameters for all of it, for rows or for columns."""
    graph = Graph(g)
    words, width = g.integer(1, 40), g.integer(1, 70)
    low, high = (limits(g.type) if g.chance(0.5) else (0, 15) if g.type == "u8" else (-8, 7))
    way = g.pick(["all", "rows", "columns"])
    shape, line = {"all": ((), ()), "rows": ((words,), (words, 1)), "columns": ((width,), (width,))}[way]
    table, zeros = g.random.integers(low, high, (words, width), endpoint=True), g.random.integers(low, high, shape, endpoint=True)
    scales = np.exp2(g.random.uniform(-6, 1, shape)).astype("f4")
    attributes = {} if way == "all" else {"axis": 0 if way == "rows" else 1}
    name = graph.node("DequantizeLinear", [graph.given(table, g.type, True), *graph.parameters(scales, zeros, g.type)], **attributes)
    indices = g.random.integers(-words, words, g.shape(0, 2, zero=False, elements=20))
    real = ((table - zeros.reshape(line)).astype("f4") * scales.reshape(line))[indices]
    graph.nodes.append(("Gather", [name, graph.given(indices, "i64", False)], ["o0"], {"axis": 0}))
    return g.case(graph.inputs, Expected(real.astype("f4"), "f32"), nodes=graph.nodes)
