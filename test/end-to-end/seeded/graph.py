"""What the seeded models are built with: a graph that names its values itself and draws its weights from a seed."""

import numpy as np
from onnx import TensorProto, helper, numpy_helper

TYPES = {np.dtype(np.float32): TensorProto.FLOAT, np.dtype(np.float16): TensorProto.FLOAT16, np.dtype(np.int64): TensorProto.INT64,
         np.dtype(np.bool_): TensorProto.BOOL}


class Graph:
    """Values are names. `dtype` is the type of the weights that `weight` draws."""

    def __init__(self, seed, dtype=np.float32):
        self.random, self.dtype = np.random.RandomState(seed), dtype
        self.nodes, self.weights, self.inputs, self.outputs, self.count = [], [], [], [], 0

    def name(self, stem):
        self.count += 1
        return f"{stem}_{self.count}"

    def add(self, kind, *inputs, outputs=1, **attributes):
        """The node's result, or the list of its results. `outputs` is their number, or says of each whether it is there."""
        names = [self.name(kind) if there else "" for there in (outputs if isinstance(outputs, tuple) else [True] * outputs)]
        self.nodes.append(helper.make_node(kind, inputs, names, name=names[0], **attributes))
        results = [name for name in names if name]
        return results[0] if len(results) == 1 else results

    def constant(self, array):
        name = self.name("const")
        self.weights.append(numpy_helper.from_array(np.asarray(array), name))
        return name

    def integers(self, *values):
        return self.constant(np.array(values, np.int64))

    def scalar(self, value):
        return self.constant(np.array(value, self.dtype))

    def draw(self, *shape, scale=1.0, offset=0.0):
        return (offset + scale * self.random.standard_normal(shape)).astype(self.dtype)

    def weight(self, *shape, scale=1.0, offset=0.0):
        return self.constant(self.draw(*shape, scale=scale, offset=offset))

    def input(self, name, dtype, shape):
        self.inputs.append(helper.make_tensor_value_info(name, TYPES[np.dtype(dtype)], shape))
        return name

    def output(self, name, value, dtype=np.float32, shape=None):
        """`shape` is left out where the graph does not say it."""
        self.nodes.append(helper.make_node("Identity", [value], [name], name=name))
        self.outputs.append(helper.make_tensor_value_info(name, TYPES[np.dtype(dtype)], shape))

    def give(self, name, value, shape):
        """Makes a node's own result, of floats, an output of that name. No other node may read it yet."""
        for node in self.nodes:
            if value in node.output:
                node.output[list(node.output).index(value)] = name
        self.outputs.append(helper.make_tensor_value_info(name, TensorProto.FLOAT, shape))

    def branch(self, build):
        """A graph for an If: `build` adds to this graph's names and weights and returns the result's name. Outer values are visible in it."""
        outer, self.nodes = self.nodes, []
        value = build()
        result = helper.make_tensor_value_info(value, TensorProto.FLOAT, None)
        body, self.nodes = helper.make_graph(self.nodes, self.name("branch"), [], [result]), outer
        return body

    def body(self, carried, build):
        """A graph for a Loop that carries floats of these shapes: `build` gets the step and the carried values, and returns the condition and their next values."""
        outer, self.nodes = self.nodes, []
        step, condition = self.name("step"), self.name("condition")
        names = [self.name("carried") for _ in carried]
        proceed, *results = build(step, *names)
        inputs = [helper.make_tensor_value_info(step, TensorProto.INT64, []), helper.make_tensor_value_info(condition, TensorProto.BOOL, [])]
        inputs += [helper.make_tensor_value_info(name, TensorProto.FLOAT, shape) for name, shape in zip(names, carried)]
        outputs = [helper.make_tensor_value_info(proceed, TensorProto.BOOL, None)]
        outputs += [helper.make_tensor_value_info(result, TensorProto.FLOAT, None) for result in results]
        body, self.nodes = helper.make_graph(self.nodes, self.name("body"), inputs, outputs), outer
        return body

    def model(self, name, opset, domains=()):
        """`domains` are others than that of ONNX, in version 1."""
        graph = helper.make_graph(self.nodes, name, self.inputs, self.outputs, self.weights)
        # A fixed version, so that the file does not depend on the package that writes it.
        return helper.make_model(graph, opset_imports=[helper.make_opsetid("", opset), *(helper.make_opsetid(domain, 1) for domain in domains)], ir_version=8)
