"""Small recurrent networks."""

import numpy as np

from .graph import Graph


def bidirectional_lstm():
    """A tagger of words: two layers in both directions, with sequences of different lengths in one batch."""
    g = Graph(301)
    size = 24
    ids, lengths = g.input("ids", np.int64, ["seq", "batch"]), g.input("lengths", np.int64, ["batch"])
    steps = g.add("Cast", lengths, to=6)
    x, wide = g.add("Gather", g.weight(120, 32), ids), 32
    for _ in range(2):
        weights = [g.weight(2, 4 * size, wide, scale=0.2), g.weight(2, 4 * size, size, scale=0.2), g.weight(2, 8 * size, scale=0.1)]
        y, last, cell = g.add("LSTM", x, *weights, steps, outputs=3, hidden_size=size, direction="bidirectional")
        x, wide = g.add("Reshape", g.add("Transpose", y, perm=[0, 2, 1, 3]), g.integers(0, 0, 2 * size)), 2 * size
    tags = g.add("Add", g.add("MatMul", x, g.weight(wide, 11, scale=0.3)), g.weight(11))
    g.output("tags", g.add("LogSoftmax", tags, axis=-1), shape=["seq", "batch", 11])
    g.output("last", last, shape=[2, "batch", size])
    g.output("cell", cell, shape=[2, "batch", size])
    return g.model("bidirectional_lstm", 14)


MODELS = [bidirectional_lstm]
