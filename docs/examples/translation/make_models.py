#!/usr/bin/env python3
"""Three graphs in the shape of a translator, with drawn weights: make_models.py FOLDER [f32|int8].

encoder.onnx: source words -> keys and values that each layer of the decoder attends to; once for a sentence.
decoder.onnx: a word, its position, these keys and values, and the caches of the words before -> a hidden state and longer caches; once for a word.
output.onnx:  a hidden state and a shortlist of words -> the score of each.
All three use one table of words: the rows of its shortlist are the columns of the output layer. With int8 the table has bytes and a scale for each word.
"""
import pathlib
import sys

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

WORDS, WIDTH, HEADS, INNER, LAYERS, LONGEST, END = 4000, 64, 4, 128, 2, 32, 0


class Graph:
    """Nodes and weights; each method returns the name of a value."""

    def __init__(self, name):
        self.name, self.nodes, self.weights, self.inputs, self.outputs = name, [], {}, [], []

    def weight(self, name, array):
        self.weights[name] = numpy_helper.from_array(array, name)
        return name

    def add(self, op, *inputs, name=None, **attributes):
        name = name or f"{op}_{len(self.nodes)}"
        self.nodes.append(helper.make_node(op, inputs, [name], name, **attributes))
        return name

    def input(self, name, element, *dims):
        self.inputs.append(helper.make_tensor_value_info(name, element, dims))
        return name

    def output(self, name, *dims):
        self.outputs.append(helper.make_tensor_value_info(name, TensorProto.FLOAT, dims))

    def save(self, folder):
        graph = helper.make_graph(self.nodes, self.name, self.inputs, self.outputs, list(self.weights.values()))
        model = helper.make_model(graph, ir_version=8, opset_imports=[helper.make_opsetid("", 17)])
        onnx.checker.check_model(model)
        onnx.save(model, str(folder / f"{self.name}.onnx"))


class Weights:
    """The same numbers for each of the graphs, which are drawn when a name is first asked for."""

    def __init__(self, element):
        self.random, self.element, self.drawn = np.random.RandomState(20), element, {}

    def draw(self, name, shape, scale):
        if name not in self.drawn:
            self.drawn[name] = (self.random.standard_normal(shape) * scale).astype("f4")
        return self.drawn[name]

    def rows(self, graph, ids):
        """What the table of words has for these."""
        table = self.draw("table", (WORDS, WIDTH), 1)
        if self.element == "f32":
            return graph.add("Gather", graph.weight("table", table), ids, axis=0)
        scales = np.abs(table).max(axis=1) / np.float32(127)
        numbers = np.rint(table / scales[:, None]).astype("i1")
        real = graph.add("DequantizeLinear", graph.weight("table", numbers), graph.weight("scales", scales), axis=0)
        return graph.add("Gather", real, ids, axis=0)

    def linear(self, graph, name, x, rows=WIDTH, columns=WIDTH):
        product = graph.add("MatMul", x, graph.weight(f"{name}.weight", self.draw(f"{name}.weight", (rows, columns), rows**-0.5)))
        return graph.add("Add", product, graph.weight(f"{name}.bias", self.draw(f"{name}.bias", columns, 0.1)))

    def norm(self, graph, name, x):
        scale = graph.weight(f"{name}.scale", 1 + self.draw(f"{name}.scale", WIDTH, 0.1))
        return graph.add("LayerNormalization", x, scale, graph.weight(f"{name}.bias", self.draw(f"{name}.bias", WIDTH, 0.1)), axis=-1)

    def embed(self, graph, ids, positions):
        """The rows of words, and what says where they are."""
        table = graph.weight("positions", self.draw("positions", (LONGEST, WIDTH), 2))
        return graph.add("Add", self.linear(graph, "embed", self.rows(graph, ids)), graph.add("Gather", table, positions, axis=0))

    def feed_forward(self, graph, name, x):
        inner = graph.add("Relu", self.linear(graph, f"{name}.in", x, WIDTH, INNER))
        return self.norm(graph, f"{name}.norm", graph.add("Add", x, self.linear(graph, f"{name}.out", inner, INNER, WIDTH)))


def split_heads(graph, x, name=None):
    """[words, width] -> [heads, words, width of a head]"""
    shape = graph.weight("by_head", np.array([-1, HEADS, WIDTH // HEADS], "i8"))
    return graph.add("Transpose", graph.add("Reshape", x, shape), name=name, perm=[1, 0, 2])


def attend(graph, weights, name, x, keys, values):
    """`x` and what it attends to, normalised."""
    query = split_heads(graph, weights.linear(graph, f"{name}.query", x))
    scores = graph.add("MatMul", query, graph.add("Transpose", keys, perm=[0, 2, 1]))
    scaled = graph.add("Mul", scores, graph.weight("scale", np.float32(2)))
    heads = graph.add("MatMul", graph.add("Softmax", scaled, axis=-1), values)
    joined = graph.add("Reshape", graph.add("Transpose", heads, perm=[1, 0, 2]), graph.weight("by_word", np.array([-1, WIDTH], "i8")))
    return weights.norm(graph, f"{name}.norm", graph.add("Add", x, weights.linear(graph, f"{name}.out", joined)))


def make_encoder(weights):
    graph = Graph("encoder")
    source, positions = graph.input("source", TensorProto.INT64, "words"), graph.input("positions_of_source", TensorProto.INT64, "words")
    x = weights.embed(graph, source, positions)
    for i in range(LAYERS):
        name = f"encoder.{i}"
        keys, values = (split_heads(graph, weights.linear(graph, f"{name}.{kind}", x)) for kind in ("key", "value"))
        x = weights.feed_forward(graph, f"{name}.ffn", attend(graph, weights, name, x, keys, values))
    for i in range(LAYERS):
        for kind in ("key", "value"):
            split_heads(graph, weights.linear(graph, f"cross.{i}.{kind}", x), name=f"source_{kind}_{i}")
            graph.output(f"source_{kind}_{i}", HEADS, "words", WIDTH // HEADS)
    return graph


def make_decoder(weights):
    graph = Graph("decoder")
    x = weights.embed(graph, graph.input("word", TensorProto.INT64, 1), graph.input("position", TensorProto.INT64, 1))
    graph.output("hidden", 1, WIDTH)
    for i in range(LAYERS):
        name = f"decoder.{i}"
        cached = []
        for kind in ("key", "value"):
            past = graph.input(f"past_{kind}_{i}", TensorProto.FLOAT, HEADS, "past", WIDTH // HEADS)
            own = split_heads(graph, weights.linear(graph, f"{name}.{kind}", x))
            cached.append(graph.add("Concat", past, own, name=f"present_{kind}_{i}", axis=1))
            graph.output(f"present_{kind}_{i}", HEADS, "past_and_this", WIDTH // HEADS)
        x = attend(graph, weights, name, x, *cached)
        source = [graph.input(f"source_{kind}_{i}", TensorProto.FLOAT, HEADS, "words", WIDTH // HEADS) for kind in ("key", "value")]
        x = weights.feed_forward(graph, f"{name}.ffn", attend(graph, weights, f"cross.{i}", x, *source))
    weights.linear(graph, "last", x)
    graph.nodes[-1].output[0] = "hidden"
    return graph


def make_output(weights):
    graph = Graph("output")
    hidden, shortlist = graph.input("hidden", TensorProto.FLOAT, 1, WIDTH), graph.input("shortlist", TensorProto.INT64, "candidates")
    columns = graph.add("Transpose", weights.rows(graph, shortlist), perm=[1, 0])
    bias = weights.draw("output.bias", WORDS, 0.1).copy()
    bias[END] += 6  # so that sentences end
    picked = graph.add("Gather", graph.weight("output.bias", bias), shortlist, axis=0)
    graph.add("Add", graph.add("MatMul", hidden, columns), picked, name="scores")
    graph.output("scores", 1, "candidates")
    return graph


def main():
    folder, element = pathlib.Path(sys.argv[1]), sys.argv[2] if len(sys.argv) > 2 else "f32"
    folder.mkdir(parents=True, exist_ok=True)
    weights = Weights(element)
    for make in (make_encoder, make_decoder, make_output):
        make(weights).save(folder)


if __name__ == "__main__":
    main()
