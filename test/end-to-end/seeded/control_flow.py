"""Small models whose branches and steps only run time decides."""

import numpy as np

from .graph import Graph


def branches():
    """One branch looks again at the image, the other at once answers; inside of the first, an input decides between two more."""
    g = Graph(501)
    image, careful = g.input("image", np.float32, [1, 3, 20, 20]), g.input("careful", np.bool_, [])

    def conv(x, inputs, outputs, stride):
        return g.add("Relu", g.add("Conv", x, g.weight(outputs, inputs, 3, 3, scale=(2 / (9 * inputs)) ** 0.5), pads=[1] * 4, strides=[stride] * 2))

    first = conv(image, 3, 16, 2)
    energy = g.add("ReduceMean", g.add("Mul", image, image), keepdims=0)

    def answer(x, channels):
        pooled = g.add("ReduceMean", x, axes=[2, 3], keepdims=0)
        return g.add("MatMul", pooled, g.weight(channels, 10, scale=0.4))

    def look_again():
        second = conv(first, 16, 24, 1)
        third = g.add("If", careful, then_branch=g.branch(lambda: g.add("Softmax", g.add("Add", second, conv(second, 24, 24, 1)), axis=1)),
                      else_branch=g.branch(lambda: g.add("Tanh", second)))
        return answer(third, 24)

    scores = g.add("If", g.add("Greater", energy, g.scalar(0.5)), then_branch=g.branch(look_again), else_branch=g.branch(lambda: answer(first, 16)))
    g.output("scores", g.add("Add", scores, g.weight(10)), shape=[1, 10])
    g.output("energy", energy, shape=[])
    return g.model("branches", 13)


def iterations():
    """A state that is refined until it hardly moves or the steps have run out."""
    g = Graph(502)
    x, steps = g.input("x", np.float32, ["batch", 32]), g.input("steps", np.int64, [])
    weight, bias, hidden = g.weight(32, 32, scale=0.12), g.weight(32, scale=0.2), g.add("MatMul", x, g.weight(32, 32, scale=0.2))

    def step(index, state, speed):
        new = g.add("Tanh", g.add("Add", g.add("Add", g.add("MatMul", state, weight), hidden), bias))
        moved = g.add("ReduceMax", g.add("Abs", g.add("Sub", new, state)), keepdims=0)
        count = g.add("Add", speed, g.scalar(1))
        return g.add("Greater", moved, g.scalar(1e-3)), g.add("Identity", new), count

    body = g.body([["batch", 32], []], step)
    state, count = g.add("Loop", steps, g.constant(np.array(True)), g.add("Mul", hidden, g.scalar(0)), g.scalar(0), outputs=2, body=body)
    g.output("state", state, shape=["batch", 32])
    g.output("count", count, shape=[])
    return g.model("iterations", 13)


MODELS = [branches, iterations]
