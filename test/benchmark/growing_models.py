"""Models of one kind and of any size, for measuring how the time of a compile grows with the size."""

import ending  # noqa: F401
import numpy
from onnx import TensorProto, helper, numpy_helper

FLOAT, INT64, BOOL = TensorProto.FLOAT, TensorProto.INT64, TensorProto.BOOL


class Graph:
    """A graph under construction; every operator call adds a node and returns the name of its first result."""

    def __init__(self):
        self.nodes, self.inputs, self.outputs, self.weights, self.functions, self.count = [], [], [], [], [], 0

    def fresh(self):
        self.count += 1
        return f"v{self.count}"

    def input(self, shape, kind=FLOAT):
        name = f"x{len(self.inputs)}"
        self.inputs.append(helper.make_tensor_value_info(name, kind, shape))
        return name

    def output(self, name, kind=FLOAT):
        self.outputs.append(helper.make_tensor_value_info(name, kind, None))

    def weight(self, values, dtype=numpy.float32):
        name = f"w{len(self.weights)}"
        self.weights.append(numpy_helper.from_array(numpy.asarray(values, dtype), name))
        return name

    def several(self, operator, operands, results, **attributes):
        names = [self.fresh() for _ in range(results)]
        self.nodes.append(helper.make_node(operator, operands, names, **attributes))
        return names

    def __getattr__(self, operator):
        if not operator[0].isupper():
            raise AttributeError(operator)
        return lambda *operands, **attributes: self.several(operator, operands, 1, **attributes)[0]

    def body(self, name):
        """The graph as the body of an If or a Loop."""
        return helper.make_graph(self.nodes, name, self.inputs, self.outputs, self.weights)

    def model(self):
        opsets = [helper.make_opsetid("", 17)] + ([helper.make_opsetid("own", 1)] if self.functions else [])
        return helper.make_model(self.body("grown"), opset_imports=opsets, functions=self.functions, ir_version=8)


def elementwise_chain(n):
    g = Graph()
    v, w = g.input([64]), g.input([64])
    for i in range(n):
        v = g.Add(v, w) if i % 3 else g.Tanh(v)
    g.output(v)
    return g.model()


def sharing_chain(n):
    """v = v + v: n nodes, 2^n ways from the result to the input."""
    g = Graph()
    v = g.input([64])
    for _ in range(n):
        v = g.Add(v, v)
    g.output(v)
    return g.model()


def split_results(n):
    g = Graph()
    parts = g.several("Split", [g.input([n])], n, axis=0)
    for part in parts:
        g.output(g.Identity(part))
    return g.model()


def concat_operands(n):
    g = Graph()
    g.output(g.Concat(*[g.input([2, 3]) for _ in range(n)], axis=1))
    return g.model()


def matmuls(n):
    g = Graph()
    v = g.input([4, 4])
    w = [g.weight(numpy.eye(4) * (i + 1)) for i in range(4)]
    for i in range(n):
        v = g.Relu(g.MatMul(v, w[i % 4]))
    g.output(v)
    return g.model()


def convolutions(n):
    g = Graph()
    v = g.input([1, 4, 6, 6])
    w = g.weight(numpy.ones([4, 4, 3, 3]))
    for _ in range(n):
        v = g.Relu(g.Conv(v, w, pads=[1, 1, 1, 1]))
    g.output(v)
    return g.model()


def symbols(n):
    g = Graph()
    for i in range(n):
        g.output(g.Relu(g.input([f"d{i}", 4])))
    return g.model()


def initializers(n):
    g = Graph()
    v = g.input([4])
    for i in range(n):
        v = g.Add(v, g.weight([i, 1, 2, 3]))
        if i % 16 == 15:
            v = g.Softmax(v)
    g.output(v)
    return g.model()


def consumers(n):
    """One value that n nodes read."""
    g = Graph()
    shared, total = g.Exp(g.input([8])), None
    for i in range(n):
        part = g.Mul(shared, g.weight([float(i + 2)]))
        total = part if total is None else g.Add(total, part)
    g.output(total)
    return g.model()


def shape_arithmetic(n):
    g = Graph()
    x = g.input(["batch", 6])
    one = g.weight([1], numpy.int64)
    size = g.Gather(g.Shape(x), g.weight([0], numpy.int64))
    for _ in range(n):
        size = g.Sub(g.Add(size, one), one)
    g.output(g.Reshape(x, g.Concat(size, g.weight([-1], numpy.int64), axis=0)))
    return g.model()


def inlined_functions(n):
    """n calls of a function of two nodes."""
    opsets = [helper.make_opsetid("", 17)]
    nodes = [helper.make_node("Tanh", ["x"], ["t"]), helper.make_node("Add", ["t", "x"], ["y"])]
    g = Graph()
    g.functions.append(helper.make_function("own", "Step", ["x"], ["y"], nodes, opsets))
    v = g.input([16])
    for _ in range(n):
        v = g.Step(v, domain="own")
    g.output(v)
    return g.model()


def branches(n):
    g = Graph()
    v, condition = g.input([8]), g.input([], BOOL)
    for _ in range(n):
        bodies = []
        for operator in ("Sin", "Cos"):
            body = Graph()
            body.count = g.count + 100000
            g.count += 2
            name = f"b{g.count}"
            body.nodes.append(helper.make_node(operator, [v], [name]))
            body.outputs.append(helper.make_tensor_value_info(name, FLOAT, [8]))
            bodies.append(body.body(name))
        v = g.If(condition, then_branch=bodies[0], else_branch=bodies[1])
    g.output(v)
    return g.model()


def unrolled_loop(n):
    body = Graph()
    body.inputs = [helper.make_tensor_value_info("i", INT64, []), helper.make_tensor_value_info("c", BOOL, []),
                   helper.make_tensor_value_info("s", FLOAT, [4])]
    body.nodes = [helper.make_node("Identity", ["c"], ["c1"]), helper.make_node("Softmax", ["s"], ["s1"])]
    body.outputs = [helper.make_tensor_value_info("c1", BOOL, []), helper.make_tensor_value_info("s1", FLOAT, [4])]
    g = Graph()
    g.output(g.Loop(g.weight(n, numpy.int64), g.weight(True, numpy.bool_), g.input([4]), body=body.body("step")))
    return g.model()


def inputs_and_outputs(n):
    g = Graph()
    for _ in range(n):
        g.output(g.Exp(g.input([4])))
    return g.model()


def folded_constants(n):
    g = Graph()
    total = g.input([4])
    for i in range(n):
        total = g.Add(total, g.Exp(g.Mul(g.weight([i, 0, 1, 2]), g.weight([2, 1, 0, i % 3]))))
    g.output(total)
    return g.model()


def transposes_of_slices(n):
    """Diamonds of views: each half of a value is turned round and both are put together again."""
    g = Graph()
    v = g.input([4, 4])
    for _ in range(n):
        left = g.Slice(v, g.weight([0], numpy.int64), g.weight([2], numpy.int64), g.weight([0], numpy.int64))
        right = g.Slice(v, g.weight([2], numpy.int64), g.weight([4], numpy.int64), g.weight([0], numpy.int64))
        v = g.Transpose(g.Concat(right, left, axis=0), perm=[1, 0])
    g.output(v)
    return g.model()


# How many there are of what a family is named for: sizes for measuring, and the largest for a quick look.
FAMILIES = {
    "elementwise-chain": (elementwise_chain, 16000),
    "sharing-chain": (sharing_chain, 16000),
    "split-results": (split_results, 4000),
    "concat-operands": (concat_operands, 4000),
    "matmuls": (matmuls, 4000),
    "convolutions": (convolutions, 2000),
    "symbols": (symbols, 64),
    "initializers": (initializers, 8000),
    "consumers": (consumers, 8000),
    "shape-arithmetic": (shape_arithmetic, 8000),
    "inlined-functions": (inlined_functions, 8000),
    "branches": (branches, 1000),
    "unrolled-loop": (unrolled_loop, 1000),
    "inputs-and-outputs": (inputs_and_outputs, 2000),
    "folded-constants": (folded_constants, 8000),
    "transposes-of-slices": (transposes_of_slices, 1000),
}
