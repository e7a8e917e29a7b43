"""Graphs of quantised networks between QuantizeLinear and DequantizeLinear, as converters write them: a convolution, what is element-wise, movement."""

import numpy as np
from cases import Expected, Tensor, operator
from convolution import convolve
from elements import TYPES
from quantized import limits
from windows import Window, spatial_sizes

f32 = np.float32


class Graph:
    """Nodes with their exact results. A value is (name, numbers of f32, or integers with scale, zero point and type)."""

    def __init__(self, g):
        self.g, self.inputs, self.nodes, self.free = g, [], [], False

    def given(self, array, type, constant):
        self.inputs.append(Tensor(np.asarray(array).astype(TYPES[type].held), type, constant))
        return f"i{len(self.inputs) - 1}"

    def node(self, op, inputs, **attributes):
        name = f"n{len(self.nodes)}"
        self.nodes.append((op, inputs, [name], attributes))
        return name

    def parameters(self, scale, zero, type):
        return [self.given(scale, "f32", True), self.given(zero, type, True)]

    def draw(self, type, shape):
        """Bytes that are an input of the graph, dequantised."""
        scale, zero = f32(np.exp2(self.g.integer(-7, -3))), self.g.integer(*limits(type))
        array = self.g.random.integers(*limits(type), shape, endpoint=True)
        name = self.node("DequantizeLinear", [self.given(array, type, False), *self.parameters(scale, zero, type)])
        return name, (array - zero).astype("f4") * scale, (array - zero, scale)

    def pair(self, value, type, tolerance=4e-7):
        """Quantised and dequantised again: (name, numbers, what is between the two)."""
        name, real = value
        low, high = limits(type)
        most = max(float(abs(real).max(initial=0)), 1e-3)
        scale = f32(most / self.g.pick([70, 120, 200]))
        zero = self.g.integer(low, high) if self.g.chance(0.5) else int(np.clip(low if real.min(initial=0) >= 0 else (low + high + 1) // 2, low, high))
        quotient = (real / scale).astype("f4").astype("f8")
        # A product's factors may be multiplied in another order, and a function be off by an ulp: what is nearly in the middle may go to either side.
        self.free = self.free | (abs(quotient - np.floor(quotient) - 0.5) < tolerance * (1 + abs(quotient)))
        whole = np.clip(np.rint(quotient) + zero, low, high)
        parameters = self.parameters(scale, zero, type)
        name = self.node("QuantizeLinear", [name, *parameters])
        last = name, whole.astype(TYPES[type].held), type
        return self.node("DequantizeLinear", [name, *parameters]), (whole - zero).astype("f4") * scale, last


def draw_convolution(g, graph, type):
    groups, channels, filters = g.pick([(1, 3, 8), (1, 8, 5), (1, 4, 33), (1, 17, 16), (2, 8, 12), (8, 8, 8), (24, 24, 24), (40, 40, 40), (67, 67, 67), (6, 6, 12)])
    sizes = spatial_sizes(g, elements=80)
    while len(sizes) != 2:
        sizes = spatial_sizes(g, elements=80)
    window = Window(g, sizes, largest=g.pick([1, 3, 5]))
    x, _, (whole, x_scale) = graph.draw(type, (1, channels, *window.sizes))
    weight = g.random.integers(-127, 127, (filters, channels // groups, *window.kernel), endpoint=True)
    kind, offset = g.pick([("i8", 0), ("i8", 0), ("u8", 128)])
    # Powers of two: sums are exact in f32, too, where the convolution is no product of bytes.
    scales = np.exp2(g.random.integers(-9, -6, filters if g.chance(0.7) else ())).astype("f4")
    line = (-1, *[1] * 3) if scales.shape else ()
    attributes = {"axis": 0} if scales.shape else {}
    parameters = graph.parameters(scales, np.full(scales.shape, offset), kind)
    w = graph.node("DequantizeLinear", [graph.given(weight + offset, kind, True), *parameters], **attributes)
    total = convolve(whole.astype("i8"), weight.astype("i8"), window, groups)
    steps = (x_scale * scales).astype("f4")
    operands = [x, w]
    if g.chance(0.7):
        units = g.random.integers(-5000, 5000, filters)
        zero = np.zeros(scales.shape)
        bias = [graph.given(units, "i32", True), graph.given(steps, "f32", True), graph.given(zero, "i32", True)]
        operands.append(graph.node("DequantizeLinear", bias, **attributes))
        total = total + units.reshape(-1, 1, 1)
    real = (total.astype("f8") * steps.astype("f8").reshape(line[:1] + (1, 1) if line else ())).astype("f4")
    return graph.node("Conv", operands, **window.attributes(group=groups)), real


def activate(g, graph, value, type):
    """What follows a convolution before and behind its first pair."""
    name, real = value
    if g.chance(0.4):
        if g.chance(0.5):
            name, real = graph.node("Relu", [name]), np.maximum(real, 0)
        else:
            bounds = [graph.given(b, "f32", True) for b in (0, 6)]
            name, real = graph.node("Clip", [name, *bounds]), np.clip(real, 0, 6).astype("f4")
    name, real, last = graph.pair((name, real), type)
    form = g.pick(["none", "sigmoid", "swish", "pairs", "hard", "leaky"])
    wide = real.astype("f8")
    with np.errstate(over="ignore"):
        sigmoid = (1 / (1 + np.exp(-wide))).astype("f4")
    if form == "none":
        return (name, real), last
    if form == "sigmoid":
        name, real = graph.node("Sigmoid", [name]), sigmoid
    elif form == "swish":
        name, real = graph.node("Mul", [name, graph.node("Sigmoid", [name])]), real * sigmoid
    elif form == "pairs":
        inner, gate, _ = graph.pair((graph.node("Sigmoid", [name]), sigmoid), type)
        name, real = graph.node("Mul", [name, inner]), real * gate
    elif form == "hard":
        name, real = graph.node("HardSigmoid", [name], alpha=0.25, beta=0.5), np.clip(f32(0.25) * real + f32(0.5), 0, 1).astype("f4")
    else:
        name, real = graph.node("LeakyRelu", [name], alpha=0.125), np.where(real < 0, f32(0.125) * real, real).astype("f4")
    name, real, last = graph.pair((name, real), type)
    return (name, real), last


def finish(g, graph, value, last, type):
    """Another operand, movement, or nothing, with a pair behind it."""
    name, real = value
    form = g.pick(["none", "add", "mul", "concat", "pool", "mean", "resize", "transpose"])
    if form == "none":
        return last
    if form in ("add", "mul", "concat"):
        other, numbers, _ = graph.draw(type, real.shape)
        if form == "concat":
            name, real = graph.node("Concat", [name, other], axis=1), np.concatenate([real, numbers], 1)
        elif form == "add":
            name, real = graph.node("Add", [name, other]), real + numbers
        else:
            name, real = graph.node("Mul", [name, other]), real * numbers
    elif form == "pool":
        window = Window(g, list(real.shape[2:]), dilated=False, largest=min(3, *real.shape[2:]))
        most = np.full((*real.shape[:2], *window.out), -np.inf, "f4")
        for _, index, inside, _ in window.taps():
            most = np.maximum(most, np.where(inside, real[(slice(None), slice(None), *index)], -np.inf))
        name, real = graph.node("MaxPool", [name], **window.attributes(dilations=False)), most
    elif form == "mean":
        name, real = graph.node("GlobalAveragePool", [name]), real.astype("f8").mean((2, 3), keepdims=True).astype("f4")
    elif form == "resize":
        scales = graph.given([1, 1, 2, 2], "f32", True)
        attributes = {"mode": "nearest", "coordinate_transformation_mode": "asymmetric", "nearest_mode": "floor"}
        name, real = graph.node("Resize", [name, None, scales], **attributes), real.repeat(2, 2).repeat(2, 3)
    else:
        name, real = graph.node("Transpose", [name], perm=[0, 2, 3, 1]), real.transpose(0, 2, 3, 1)
    graph.free = np.zeros(real.shape, bool)
    return graph.pair((name, real), type, 5e-6 if form == "mean" else 4e-7)[2]


@operator("QuantizedNetwork", types=["u8", "i8"], since=13, weight=4)
def quantized_network(g):
    while True:
        graph = Graph(g)
        activated, last = activate(g, graph, draw_convolution(g, graph, g.type), g.type)
        # What follows must not depend on a number that two sides may round differently.
        if not np.any(graph.free):
            name, whole, kind = finish(g, graph, activated, last, g.type)
            break
    op, inputs, _, attributes = next(node for node in graph.nodes if node[2] == [name])
    graph.nodes[[node[2] for node in graph.nodes].index([name])] = (op, inputs, ["o0"], attributes)
    nodes = [(o, ["o0" if i == name else i for i in ins], outs, attrs) for o, ins, outs, attrs in graph.nodes]
    free = graph.free if np.shape(graph.free) == whole.shape else None
    return g.case(graph.inputs, Expected(whole, kind, free=free), nodes=nodes)
